//! The inputs that are kept for the fuzzers, and inputs like them, without a fuzzer: `fuzz/run` looks for more.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use pericore_fuzz_targets::TARGETS;

/// Changed inputs that are made of each kept one.
const CHANGED: u64 = 8;

#[test]
fn kept_inputs_and_changed_ones_hold_what_the_fuzzers_check() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mut refused = Vec::new();
    for (name, run) in TARGETS {
        let folder = fs::read_dir(seeds.join(name)).unwrap_or_else(|error| panic!("fuzz/seeds/{name}: {error}"));
        let mut files: Vec<_> = folder.map(|entry| entry.expect("an entry").path()).collect();
        files.sort();
        assert!(!files.is_empty(), "fuzz/seeds/{name} has no input");
        for file in files {
            let kept = fs::read(&file).expect("a kept input");
            for number in 0..=CHANGED {
                let input = changed(&kept, number);
                if catch_unwind(AssertUnwindSafe(|| run(&input))).is_err() {
                    refused.push(format!("{name}: {} with change {number}", file.display()));
                }
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// An input with a few bytes turned, repeated or cut; number 0 leaves it as it is.
fn changed(kept: &[u8], number: u64) -> Vec<u8> {
    let mut bytes = kept.to_vec();
    // The generator of Numerical Recipes: any will do that is the same in each run.
    let mut state = number ^ (kept.len() as u64) << 32;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit.max(1)
    };
    for _ in 0..number.min(4) {
        let place = below(bytes.len());
        match below(4) {
            0 => bytes.truncate(place),
            1 if !bytes.is_empty() => bytes[place] ^= 1 << below(8),
            2 => bytes.insert(place, b"\0-:=,/#9{\x1b"[below(10)]),
            _ => bytes.extend_from_within(place.min(bytes.len())..),
        }
    }
    bytes
}
