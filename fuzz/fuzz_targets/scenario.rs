//! Scenario texts: any of them is a scenario within the machine's limits, or a clear error that points into the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pericore_machine::workload::{Limits, Scenario};

fuzz_target!(|text: &str| {
    let limits = Limits { memory: 1 << 30, threads: 16, sockets: 2 };
    match Scenario::parse(text, &limits) {
        Err(error) => {
            assert!(error.line <= text.lines().count().max(1));
            let message = error.to_string();
            assert!(message.lines().count() >= 2 && message.contains('^'));
        }
        Ok(scenario) => {
            assert!(!scenario.phases.is_empty());
            for phase in &scenario.phases {
                assert!(phase.idle != phase.workload.is_some());
                assert!(!phase.idle || phase.nanoseconds.is_some());
            }
        }
    }
});
