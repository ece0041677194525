//! The trace reader on arbitrary bytes: an access, the end or an error, and never a panic, a hang or much memory.

/// Any bytes.
pub fn run(data: &[u8]) {
    pericore_tracer::fuzz_reader(data);
}
