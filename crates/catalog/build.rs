//! Compiles `catalog/`; a defect anywhere in it fails the build with all defects listed.
//! `PERICORE_BUILD_CATALOG=DIR` builds with another catalogue.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use pericore_catalog_compiler::{Arena, Diagnostics, Files};

fn main() {
    println!("cargo::rerun-if-env-changed=PERICORE_BUILD_CATALOG");
    // In the repository a link, in a published crate the data itself.
    let shipped = || PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("catalog");
    let root = env::var_os("PERICORE_BUILD_CATALOG").map_or_else(shipped, PathBuf::from);
    watch(&root);
    println!("cargo::rustc-env=PERICORE_CATALOG_REVISION={:012x}", revision(&root) >> 16);
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

/// A number of the names and bytes of all files with data: the 64-bit FNV-1a hash, of which 48 bits are shown.
fn revision(root: &Path) -> u64 {
    let mut files = Vec::new();
    list(root, &mut files);
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let name = file.strip_prefix(root).expect("a file below the root").display().to_string();
        let bytes = fs::read(&file).expect("the catalogue is readable");
        // A length before each part: no byte can move from one to the next unseen.
        for part in [name.as_bytes(), &bytes] {
            for byte in part.len().to_le_bytes().iter().chain(part) {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    hash
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => list(&path, files),
            // Words about the data, and what extracts it, are not the data.
            path if path.extension().is_some_and(|ending| ending == "md" || ending == "py" || ending == "pyc") => {}
            path => files.push(path),
        }
    }
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
