//! The trace reader on arbitrary bytes: an access, the end or an error, and never a panic, a hang or much memory.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| pericore_tracer::fuzz_reader(data));
