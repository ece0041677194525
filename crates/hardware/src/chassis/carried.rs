//! A machine that begins with the registers of another.

use super::Chassis;

impl Chassis {
    /// The same machine, after reset, with the registers of another one of its family and its number of sockets: what
    /// software has written, what counters have counted, rules, and what is broken or denied. It begins a life of its
    /// own at tick 0: nothing of the other's traffic stands in its queues, and interrupts that were under way there are
    /// not here. A CPU has the registers of the one with its socket, core and thread, where there is one.
    #[must_use]
    pub fn with_registers_of(mut self, mut other: Self) -> Self {
        debug_assert_eq!(self.wiring.instances(), other.wiring.instances(), "one family, and as many sockets");
        self.set_rules(other.rules);
        self.take_broken(&other);
        for number in 0..self.wiring.instances() {
            let state = other.bank.save(number, other.now);
            if !state.is_reset() {
                self.bank.restore_registers(number, &state, self.now);
            }
        }
        let (_, interrupted_core) = other.bank.save_interrupts();
        self.bank.set_interrupted_core(interrupted_core);
        let (here, there) = (&self.shape, &other.shape);
        let socket_of = |cpu| there.socket_of_cpu(cpu);
        let stands_for = |cpu| {
            let (socket, core, thread) = there.place_of_cpu(cpu)?;
            here.cpu_at(socket, core, thread)
        };
        self.core.take_over(&other.core, other.now, socket_of, stands_for);
        self
    }
}

#[cfg(test)]
mod tests {
    use pericore_registers::{Address, RegisterSpace, Width};

    use crate::chassis::{Chassis, Shape};
    use crate::signal::Wiring;

    fn machine(cores: u16, threads: u16) -> Chassis {
        let family = pericore_catalog::family("e5-2600").unwrap();
        Chassis::new(Shape::new(family, 2, cores, threads).unwrap(), Wiring::new(family, 2), |_| 8)
    }

    /// On two sockets of four cores, CPU 5 is core 1 of socket 1, CPU 3 core 3 of socket 0, and CPU 13 the second
    /// thread of CPU 5's core. With eight cores of one thread these are CPUs 9 and 3, and none.
    #[test]
    fn registers_of_a_cpu_go_to_the_one_in_its_place() {
        let misc = |cpu| Address::Msr { cpu, msr: 0x1A4 };
        let mut saved = machine(4, 2);
        for (cpu, value) in [(5, 1), (3, 2), (13, 4)] {
            saved.write(misc(cpu), Width::B8, value).unwrap();
        }
        // One that the CPUs of socket 1 share.
        saved.write(Address::Msr { cpu: 4, msr: 0x63A }, Width::B8, 7).unwrap();
        let mut begun = machine(8, 1).with_registers_of(saved);
        let set: Vec<(u32, u64)> = (0..16)
            .map(|cpu| (cpu, begun.read(misc(cpu), Width::B8).unwrap()))
            .filter(|&(_, value)| value != 0)
            .collect();
        assert_eq!(set, [(3, 2), (9, 1)]);
        let policies = [0, 8].map(|cpu| begun.read(Address::Msr { cpu, msr: 0x63A }, Width::B8).unwrap());
        assert_eq!(policies, [0, 7]);
    }
}
