#![no_main]

use std::sync::Once;

/// The parquet crate panics on some damaged files, which `pericore_table` catches: libFuzzer's hook would end the run
/// there. What is not caught ends it all the same.
static CAUGHT_PANICS_ARE_FINE: Once = Once::new();

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    CAUGHT_PANICS_ARE_FINE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    pericore_fuzz_targets::table::run(data);
});
