//! `include/pericore.h` is what cbindgen makes of the sources; with `PERICORE_BLESS=1` it is written.

use std::path::Path;
use std::{env, fs};

#[test]
fn the_header_is_that_of_the_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let settings = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml is valid");
    let made = cbindgen::Builder::new().with_crate(folder).with_config(settings).generate().expect("a header");
    let mut text = Vec::new();
    made.write(&mut text);
    let text = String::from_utf8(text).expect("UTF-8");
    let path = folder.join("include/pericore.h");
    if env::var_os("PERICORE_BLESS").is_some() {
        fs::write(&path, &text).expect("the header is writable");
    }
    let checked_in = fs::read_to_string(&path).unwrap_or_default();
    assert!(checked_in == text, "include/pericore.h is older than the sources: run this test with PERICORE_BLESS=1");
}
