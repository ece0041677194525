//! Counters that are not as documented: of another width, or behind a clock of half its rate.

use super::bank::Bank;
use super::clock::Clock;
use crate::signal::Tick;

impl Bank {
    /// The counters of an instance that have another number of bits than the documents give them, with that number.
    pub fn odd_widths(&self, number: u16) -> Vec<(u8, u8)> {
        let instance = &self.instances[usize::from(number)];
        let counters = instance.counters.iter().zip(&instance.layout.counters).zip(0..);
        counters
            .filter(|((counter, place), _)| counter.width() != place.width)
            .map(|((c, _), n)| (n, c.width()))
            .collect()
    }

    /// Gives a counter another number of bits, 1 to 64; false if the instance has no such counter.
    pub fn set_width(&mut self, number: u16, counter: u8, bits: u8) -> bool {
        let counter = self.instances[usize::from(number)].counters.get_mut(usize::from(counter));
        counter.is_some_and(|counter| {
            counter.set_width(bits);
            true
        })
    }

    /// True if the clock of an instance runs at half its rate.
    pub fn is_halved(&self, number: u16) -> bool {
        self.instances[usize::from(number)].is_halved
    }

    /// Halves the rate of an instance's clock from a tick on.
    pub fn halve_clock(&mut self, number: u16, tick: Tick) {
        let instance = &mut self.instances[usize::from(number)];
        if instance.is_halved {
            return;
        }
        let before = instance.cycle(tick);
        instance.clock = Clock::new(instance.clock.period().saturating_mul(2));
        instance.is_halved = true;
        let after = instance.cycle(tick);
        for counter in &mut instance.counters {
            let state = counter.save(before);
            counter.restore(&state, after);
        }
    }

    /// Keeps all counters of an instance that a control reaches from moving.
    pub fn stop_for_good(&mut self, number: u16, tick: Tick) {
        let controlled = self.instances[usize::from(number)].layout.controlled.min(31);
        self.update_hold(number, tick, |hold| hold.stuck |= (1 << controlled) - 1);
    }
}
