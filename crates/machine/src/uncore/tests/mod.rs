//! What the tests of several models use.

pub mod labels;
pub mod reasons;
pub mod recorder;
pub mod rules;

use pericore_parts::cache::Right;
use pericore_parts::core::Core;
use std::collections::HashMap;

/// How many lines some core may write: no other core holds them.
pub fn owned(cores: &[Core]) -> usize {
    // By line, who holds it, and who of them may write.
    let mut holders = HashMap::<u32, (u64, u64)>::new();
    for (number, core) in cores.iter().enumerate() {
        for (line, right) in core.lines() {
            let (holds, writes) = holders.entry(line).or_default();
            *holds |= 1 << number;
            *writes |= u64::from(right != Right::Shared) << number;
        }
    }
    holders.retain(|_, (_, writes)| *writes != 0);
    for (line, (holds, writes)) in &holders {
        assert!(
            holds == writes && writes.is_power_of_two(),
            "line {line}: held by cores {holds:#b}, written by {writes:#b}"
        );
    }
    holders.len()
}
