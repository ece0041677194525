//! Gives the shared library its name for the loader, which changes when programs have to be compiled anew.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libpericore.so.0");
}
