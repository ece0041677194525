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
