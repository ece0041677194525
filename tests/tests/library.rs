//! The program that the library's documentation shows.

use crate::memory_bandwidth::bandwidth;

/// Four channels of DDR3-1600 move 8 bytes 1.6e9 times a second: 51.2 GB/s. A stream that misses all caches with every core waits for nothing but
/// memory: less than half of that would be a count that is missing, more than all a count that was doubled.
#[test]
fn the_program_counts_what_a_stream_moves() {
    let stream = bandwidth("stream:requests=20000").unwrap();
    assert!((0.5 * 51.2e9..51.2e9).contains(&stream), "{stream}");
    let idle = bandwidth("idle").unwrap();
    assert!(idle < 0.01 * stream, "{idle}");
}

#[test]
fn the_documents_show_the_program_as_it_is() {
    let program = include_str!("../examples/memory_bandwidth.rs");
    let document = include_str!("../../docs/library.md");
    assert!(
        document.contains(&format!("```rust\n{program}```")),
        "docs/library.md shows another program than tests/examples/memory_bandwidth.rs"
    );
}
