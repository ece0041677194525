//! Finds what lies around the faults that cargo-mutants lists: the operands of an operator, the pattern of a match
//! arm, the base of a struct expression.
//!
//! Reads `{"root": ..., "faults": [{"file", "genre", "line", "column"}]}`, with lines and columns as cargo-mutants
//! counts them, and prints a list with the parts of each fault, or null where nothing in the file is at that place.
//! Offsets are in bytes.

mod parts;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::{fs, io};

use serde::Deserialize;

use crate::parts::{Collector, Key, Parts};

#[derive(Deserialize)]
struct Request {
    root: PathBuf,
    faults: Vec<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    file: String,
    #[serde(flatten)]
    key: Key,
}

fn main() -> Result<(), Box<dyn Error>> {
    let request: Request = serde_json::from_reader(io::stdin())?;
    let mut files: BTreeMap<&str, BTreeMap<Key, Parts>> = BTreeMap::new();
    for fault in &request.faults {
        if !files.contains_key(fault.file.as_str()) {
            let text = fs::read_to_string(request.root.join(&fault.file))?;
            files.insert(&fault.file, Collector::collect(&syn::parse_file(&text)?));
        }
    }
    let found: Vec<_> = request.faults.iter().map(|fault| files[fault.file.as_str()].get(&fault.key)).collect();
    serde_json::to_writer(io::stdout(), &found)?;
    Ok(())
}
