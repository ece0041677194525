//! Compiles the preloaded library and the guest's QEMU plugin, so that the crate can carry them. They need nothing but the compiler
//! that compiles this crate.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rustc-check-cfg=cfg(embedded)");
    let is_x86 = env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64");
    compile("preload", "preload.so", is_x86);
    // The guest is an x86-64 wherever QEMU runs.
    compile("plugin", "plugin.so", true);
}

/// Compiles the library in a folder of this crate; leaves it empty where it is of no use.
fn compile(folder: &str, image: &str, is_of_use: bool) {
    let crate_folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let source = Path::new(&crate_folder).join(folder);
    println!("cargo::rerun-if-changed={}", source.display());
    let image = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join(image);
    if !is_of_use {
        fs::write(image, "").expect("OUT_DIR is writable");
        return;
    }
    let mut compiler = Command::new(env::var_os("RUSTC").expect("cargo sets it"));
    let name = format!("pericore_{folder}");
    compiler.args(["--crate-name", &name, "--crate-type", "cdylib", "--edition", "2024"]);
    compiler.args(["--target", &target_of_programs()]);
    // Cargo does not pass its flags on: without this the library would have the path of this checkout in it.
    compiler.arg(format!("--remap-path-prefix={crate_folder}=/pericore/crates/doors"));
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
    assert!(status.is_ok_and(|status| status.success()), "{} does not compile", source.display());
}

/// They are loaded into programs that are linked with glibc: also where we are linked statically with musl.
fn target_of_programs() -> String {
    env::var("TARGET").expect("cargo sets it").replace("-musl", "-gnu")
}
