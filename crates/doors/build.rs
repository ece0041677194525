//! Compiles the preloaded library, so that the crate can carry it. It needs nothing but the compiler that compiles this crate.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

fn main() {
    let source = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("preload");
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rustc-check-cfg=cfg(embedded)");
    let image = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("preload.so");
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("x86_64") {
        fs::write(image, "").expect("OUT_DIR is writable");
        return;
    }
    let mut compiler = Command::new(env::var_os("RUSTC").expect("cargo sets it"));
    compiler.args(["--crate-name", "pericore_preload", "--crate-type", "cdylib", "--edition", "2024"]);
    compiler.args(["--target", &target_of_programs()]);
    // Cargo does not pass its flags on: without this the library would have the path of this checkout in it.
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    compiler.arg(format!("--remap-path-prefix={folder}=/pericore/crates/doors"));
    compiler.args([
        "-C",
        "opt-level=2",
        "-C",
        "panic=abort",
        "-C",
        "strip=symbols",
        "-C",
        "codegen-units=1",
        "--cfg",
        "embedded",
    ]);
    let status = compiler.arg("-o").arg(&image).arg(source.join("lib.rs")).status();
    assert!(status.is_ok_and(|status| status.success()), "the preloaded library does not compile");
}

/// It is loaded into programs of the machine, which are linked with glibc: also where we are linked statically with
/// musl.
fn target_of_programs() -> String {
    env::var("TARGET").expect("cargo sets it").replace("-musl", "-gnu")
}
