//! What a sample and a change of rounds cost.

use std::fmt;

use pericore_registers::{AddressSpace, Operation, Width};

use super::{Plan, Step};

/// Register accesses of one sample, or of one change of rounds, at most.
///
/// Linux reaches an MSR or a PCI register with one system call each (8 bytes of PCI space are one call and two bus cycles), a memory-mapped
/// register with none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Reads.
    pub reads: usize,
    /// Writes.
    pub writes: usize,
    /// PCI configuration cycles of up to 4 bytes.
    pub pci_cycles: usize,
    /// System calls on Linux.
    pub system_calls: usize,
}

impl Cost {
    /// Reads and writes.
    pub const fn accesses(&self) -> usize {
        self.reads + self.writes
    }

    fn add(&mut self, step: &Step) {
        let (address, width) = match step.operation {
            Operation::Read { address, width } => {
                self.reads += 1;
                (address, width)
            }
            Operation::Write { address, width, .. } => {
                if step.keeps != 0 {
                    self.add(&Step { operation: Operation::Read { address, width }, keeps: 0, ..*step });
                }
                self.writes += 1;
                (address, width)
            }
        };
        let space = address.space();
        self.system_calls += usize::from(space != AddressSpace::Mmio);
        if space == AddressSpace::PciConfig {
            self.pci_cycles += if width == Width::B8 { 2 } else { 1 };
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reads, writes, system_calls, .. } = self;
        write!(f, "{reads} reads and {writes} writes, {system_calls} system calls")
    }
}

impl Plan {
    /// What one sample costs: of the rounds, the dearest of each instance.
    pub fn cost(&self) -> Cost {
        let mut cost = Cost::default();
        for socket in &self.sockets {
            socket.freeze.iter().chain(&socket.resume).for_each(|step| cost.add(step));
            for (index, instance) in socket.instances.iter().enumerate() {
                let running = |round: usize| {
                    let steps = socket.read.iter().filter(move |step| step.instance == index);
                    steps.filter(move |step| step.counter().is_some_and(|c| instance.counters[c].runs_in(round)))
                };
                let dearest = (0..instance.rounds).max_by_key(|&round| running(round).count()).unwrap_or(0);
                running(dearest).for_each(|step| cost.add(step));
            }
        }
        cost
    }

    /// What one change of rounds costs at most; nothing if there is one round.
    pub fn switch_cost(&self) -> Cost {
        let mut cost = Cost::default();
        for socket in &self.sockets {
            let turning = socket.instances.iter().any(|instance| instance.rounds > 1);
            let whole = socket.freeze.iter().chain(&socket.resume).filter(|step| Some(step.instance) == socket.gate);
            whole.filter(|_| turning).for_each(|step| cost.add(step));
            for (index, instance) in socket.instances.iter().enumerate().filter(|(_, instance)| instance.rounds > 1) {
                let own = |step: &&Step| step.instance == index && Some(index) != socket.gate;
                let gates = socket.freeze.iter().chain(&socket.resume).filter(own);
                gates.for_each(|step| cost.add(step));
                let turns = |round: usize| {
                    let reads = socket.read.iter().filter(move |step| {
                        step.instance == index
                            && step.counter().is_some_and(|c| instance.counters[c].round == Some(round))
                    });
                    reads.chain(instance.switch.get(round).into_iter().flatten())
                };
                let dearest = (0..instance.rounds).max_by_key(|&round| turns(round).count()).unwrap_or(0);
                turns(dearest).for_each(|step| cost.add(step));
            }
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use pericore_registers::{Address, Bdf};

    /// docs of Linux's msr and PCI files: a system call moves an MSR or up to 8 bytes of configuration space, which are
    /// two cycles on the bus; memory is mapped. What keeps bits of others is read before.
    #[test]
    fn accesses_cost_what_their_space_takes() {
        let register = crate::testing::e5_2600().unit("cbo").unwrap().registers.first().unwrap();
        let (msr, pci) = (Address::Msr { cpu: 0, msr: 1 }, Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset: 0 });
        let mmio = Address::Mmio { physical: 64 };
        for (address, width, writes, keeps, expected) in [
            (msr, Width::B8, false, 0, (1, 0, 0, 1)),
            (pci, Width::B8, false, 0, (1, 0, 2, 1)),
            (pci, Width::B4, false, 0, (1, 0, 1, 1)),
            (mmio, Width::B8, false, 0, (1, 0, 0, 0)),
            (msr, Width::B8, true, 0, (0, 1, 0, 1)),
            (msr, Width::B8, true, 1, (1, 1, 0, 2)),
            (pci, Width::B8, true, 1, (1, 1, 4, 2)),
            (pci, Width::B4, true, 0, (0, 1, 1, 1)),
            (mmio, Width::B4, true, 1, (1, 1, 0, 0)),
        ] {
            let operation = match writes {
                true => Operation::Write { address, width, value: 0 },
                false => Operation::Read { address, width },
            };
            let purpose = crate::plan::Purpose::Save;
            let mut cost = Cost::default();
            cost.add(&Step { operation, purpose, instance: 0, register, member: 0, keeps });
            let Cost { reads, writes, pci_cycles, system_calls } = cost;
            assert_eq!((reads, writes, pci_cycles, system_calls), expected, "{operation:?}, {keeps}");
            assert_eq!(cost.accesses(), reads + writes);
        }
        let cost = Cost { reads: 12, writes: 4, pci_cycles: 9, system_calls: 7 };
        assert_eq!((cost.accesses(), cost.to_string().as_str()), (16, "12 reads and 4 writes, 7 system calls"));
    }
}
