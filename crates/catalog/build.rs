//! Compiles `catalog/`; a defect anywhere in it fails the build with all defects listed.
//! `PERICORE_BUILD_CATALOG=DIR` builds with another catalogue.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use pericore_catalog_compiler::{Arena, Diagnostics, Files};

fn main() {
    println!("cargo::rerun-if-env-changed=PERICORE_BUILD_CATALOG");
    let shipped = || PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../catalog");
    let root = env::var_os("PERICORE_BUILD_CATALOG").map_or_else(shipped, PathBuf::from);
    watch(&root);
    let files = Files::of(&root);
    let catalogue = pericore_catalog_compiler::compile_files(&files).unwrap_or_else(|diagnostics| refuse(&diagnostics));
    let arena = Arena::default();
    let kernel = pericore_catalog_compiler::compile_kernel(&arena, &root);
    let kernel = kernel.unwrap_or_else(|diagnostics| refuse(&diagnostics));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    pericore_catalog_compiler::emit::write(&catalogue, &kernel, &files, &out).expect("OUT_DIR is writable");
}

fn refuse(diagnostics: &Diagnostics) -> ! {
    eprintln!("{diagnostics}");
    process::exit(1)
}

fn watch(folder: &Path) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            watch(&entry.path());
        } else {
            println!("cargo::rerun-if-changed={}", entry.path().display());
        }
    }
}
