//! What memory and links do for the power units, and for a phase's settings.

use pericore_engine::{NEVER, Tick};
use pericore_parts::channel_conditions::channel_conditions;
use pericore_workload::{LinkConditions, MemoryConditions};

use crate::e5_2600::Model;
use crate::e5_2600::links::PowerSaving;
use crate::e5_2600::parameters::MOST_SOCKETS;
use crate::e5_2600::power::PowerUnit;

/// Nanoseconds of rest after which links give up half of their lanes, and are switched off, while the machine sleeps
/// (assumptions).
const HALF_AFTER: u64 = 500;
const OFF_AFTER: u64 = 3000;

impl Model {
    /// Memory and links follow the phase's settings and the power units.
    pub(in crate::e5_2600) fn follow_power(&mut self) {
        let rests = self.power.iter().all(PowerUnit::is_asleep);
        let mut links = self.phase.links;
        if rests {
            links.half_after = links.half_after.or(Some(HALF_AFTER));
            links.off_after = links.off_after.or(Some(OFF_AFTER));
        }
        let mut memory = [MemoryConditions::default(); MOST_SOCKETS as usize];
        for (wanted, unit) in memory.iter_mut().zip(&self.power) {
            *wanted = unit.memory(&self.phase.memory, rests);
        }
        let before = self.phase.in_force.take();
        if before.as_ref().is_none_or(|(_, before)| *before != links) {
            self.set_links(&links);
        }
        for (socket, memory) in memory.iter().enumerate().take(self.power.len()) {
            if before.as_ref().is_none_or(|(before, _)| before[socket] != *memory) {
                self.set_memory(socket, memory);
            }
        }
        self.phase.in_force = Some((memory, links));
        // Links may have something under way that is not a request any more.
        self.memory_next = self.channel_next.tick().min(self.links.next);
    }

    fn set_links(&mut self, links: &LinkConditions) {
        if !self.links.is_empty() {
            let ticks = |rest: Option<u64>| rest.map_or(NEVER, |rest| self.work.course.ticks(rest));
            let power_saving = PowerSaving { half: ticks(links.half_after), off: ticks(links.off_after) };
            self.set_power_saving(power_saving);
        }
    }

    fn set_memory(&mut self, socket: usize, memory: &MemoryConditions) {
        let clock = self.clocks.dclk;
        let idle: Option<Tick> = memory.self_refresh.map(|idle| self.work.course.ticks(idle) / clock.ticks());
        let (settings, cycle) = (channel_conditions(memory, idle), clock.cycles(self.now) + 1);
        let each = self.channels.len() / self.power.len();
        for index in socket * each..(socket + 1) * each {
            self.channels[index].set_conditions(settings, cycle);
            self.channel_next.set(index, self.channels[index].next_tick());
        }
    }
}
