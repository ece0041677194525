//! Builds the QEMU plugin, a shared library without dependencies, so that the crate can embed it.

#[path = "build/effects.rs"]
mod effects;

use std::path::PathBuf;
use std::process::{Command, exit};

/// Where the plugin's sources are.
const SOURCES: [&str; 4] = ["plugin", "build", "src/layout.rs", "src/program.rs"];

fn main() {
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let variable = |name| std::env::var_os(name).unwrap_or_else(|| stop(&format!("cargo did not set {name}")));
    let folder = PathBuf::from(variable("OUT_DIR"));
    let table = folder.join("effects.rs");
    if let Err(error) = std::fs::write(&table, effects::table()) {
        stop(&format!("{} cannot be written: {error}", table.display()));
    }
    let output = folder.join("libpericore_plugin.so");
    let status = Command::new(variable("RUSTC"))
        .args(["plugin/plugin.rs", "--crate-name", "pericore_plugin", "--crate-type", "cdylib", "--edition", "2024"])
        .args([
            "-C",
            "opt-level=3",
            "-C",
            "panic=abort",
            "-C",
            "codegen-units=1",
            "-C",
            "strip=symbols",
            "-C",
            "lto=fat",
        ])
        // Cargo does not pass its flags on: without this the plugin could have the path of this checkout in it.
        .arg(format!("--remap-path-prefix={}=/pericore/crates/tracer", variable("CARGO_MANIFEST_DIR").display()))
        .arg("--target")
        .arg(target_of_qemu())
        .arg("-o")
        .arg(&output)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => stop(&format!("rustc ended with {status} on the plugin")),
        Err(error) => stop(&format!("rustc did not start: {error}")),
    }
}

/// QEMU loads it, which is linked with glibc: also where we are linked statically with musl.
fn target_of_qemu() -> String {
    std::env::var("TARGET").unwrap_or_else(|_| stop("cargo did not set TARGET")).replace("-musl", "-gnu")
}

fn stop(reason: &str) -> ! {
    println!("cargo::error={reason}");
    exit(1)
}
