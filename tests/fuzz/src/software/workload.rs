//! Workload texts: on every machine any of them is a workload within the machine's limits, or a clear error.

use pericore_machine::MachineSpec;
use pericore_machine::workload::{Generator, Limits, Workload};
use std::sync::LazyLock;

static MACHINES: LazyLock<Vec<Limits>> = LazyLock::new(|| {
    let machines = ["e5-2600", "nehalem", "emerald-rapids"];
    machines.map(|name| MachineSpec::parse(name).expect("a machine").limits().expect("a model")).to_vec()
});

/// Any bytes.
pub fn run(data: &[u8]) {
    let text = crate::text(data);
    for limits in MACHINES.iter() {
        match Workload::parse(text, limits) {
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
    }
}
