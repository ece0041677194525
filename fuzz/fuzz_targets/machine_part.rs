#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| pericore_fuzz_targets::software::machine_part::run(data));
