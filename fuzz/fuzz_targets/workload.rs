//! Workload texts: any of them is a workload within the machine's limits, or a clear error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pericore_machine::workload::{Generator, Limits, Workload};

fuzz_target!(|text: &str| {
    let limits = Limits { memory: 1 << 30, threads: 16, sockets: 1 };
    match Workload::parse(text, &limits) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(workload) => {
            assert!((1..=limits.threads).contains(&workload.threads));
            for thread in 0..workload.threads {
                let mut generator = Generator::new(&workload, thread);
                for access in std::iter::from_fn(|| generator.next_access()).take(100) {
                    assert!(access.address < limits.memory);
                }
            }
        }
    }
});
