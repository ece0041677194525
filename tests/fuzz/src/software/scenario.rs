//! Scenario texts: on every machine any of them is a scenario within the machine's limits, or a clear
//! error that points into the text.

use pericore_machine::MachineSpec;
use pericore_machine::workload::{Limits, Scenario};
use std::sync::LazyLock;

static MACHINES: LazyLock<Vec<Limits>> = LazyLock::new(|| {
    let machines = ["e5-2600:sockets=2", "nehalem:sockets=2", "emerald-rapids:sockets=2", "emerald-rapids"];
    machines.map(|name| MachineSpec::parse(name).expect("a machine").limits().expect("a model")).to_vec()
});

/// Any bytes.
pub fn run(data: &[u8]) {
    let text = crate::text(data);
    for limits in MACHINES.iter() {
        match Scenario::parse(text, limits) {
            Err(error) => {
                assert!(error.line <= text.lines().count().max(1));
                assert!(error.column <= error.text.chars().count() + 1);
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
    }
}
