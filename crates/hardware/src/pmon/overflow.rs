//! What a wrap does beyond wrapping: status bits, socket-wide freeze, interrupts.
//!
//! E5-2600 has none of it. Nehalem: SDM 18.8.2. Emerald Rapids: 1.3.2.1, 1.4.0.2: the unit's status bit is set; with freeze on overflow
//! the unit tells the UBox, which sets the block's bit of the global status, freezes the socket and interrupts a core. A
//! second freeze needs both bits cleared first.
//!
//! Counters are accounted for lazily, so a wrap that freezes must be foreseen: `deadline` is the earliest tick at which an
//! armed counter wraps if no input changes.

use std::sync::Arc;

use super::bank::Bank;
use super::instance::{Instance, each};
use super::layout::Layout;
use crate::signal::{Tick, Wiring};

/// Bits of a global status register.
const STATUS_BITS: u16 = 64;

/// An interrupt that the PMON hardware asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupt {
    /// Socket.
    pub socket: u16,
    /// Cores that it goes to, as a bit mask.
    pub cores: u64,
    /// When.
    pub tick: Tick,
}

/// Which counters are watched, and what has happened.
#[derive(Debug)]
pub struct Overflows {
    per_socket: u16,
    /// Number within a socket of the instance that freezes all.
    global: Option<u16>,
    /// Bit of the global status of each block of a socket.
    positions: Vec<u16>,
    /// Armed counters: instance and counter.
    armed: Vec<(u16, u8)>,
    deadline: Tick,
    /// An armed counter's input may have changed since `deadline` was worked out.
    pub(super) stale: bool,
    pub(super) interrupts: Vec<Interrupt>,
    /// The core that Emerald Rapids interrupts: the field that selects it is in no table.
    pub(super) interrupted_core: u8,
}

impl Overflows {
    /// Nothing armed.
    pub fn new(layouts: &[Arc<Layout>], wiring: &Wiring) -> Self {
        let freezes = |layout: &&Arc<Layout>| layout.global_control.as_ref().is_some_and(|control| control.freeze != 0);
        let global = layouts.iter().position(|layout| freezes(&layout));
        let per_socket = wiring.instances() / wiring.sockets();
        Self {
            per_socket,
            global: global.map(|unit| wiring.instance(0, unit, 0)),
            positions: (0..per_socket).collect(),
            armed: Vec::new(),
            deadline: Tick::MAX,
            stale: false,
            interrupts: Vec::new(),
            interrupted_core: 0,
        }
    }

    /// True if an armed counter may wrap by a tick.
    #[inline]
    pub(super) const fn is_due(&self, tick: Tick) -> bool {
        self.stale || self.deadline <= tick
    }
}

impl Instance {
    /// Sets bits of a status register; true if they were clear.
    fn raise(&mut self, slot: u16, bits: u64) -> bool {
        let status = &mut self.values[usize::from(slot)];
        let clear = *status & bits == 0;
        *status |= bits;
        clear
    }
}

impl Bank {
    /// Brings armed counters to `tick`, so that what freezes does so in its cycle.
    #[inline]
    pub(super) fn reach(&mut self, tick: Tick) {
        if self.overflows.is_due(tick) {
            self.reach_deadlines(tick);
        }
    }

    fn reach_deadlines(&mut self, tick: Tick) {
        loop {
            if self.overflows.stale {
                self.foresee();
            }
            let at = self.overflows.deadline;
            if at > tick {
                return;
            }
            let armed = std::mem::take(&mut self.overflows.armed);
            for &(number, _) in &armed {
                self.collect_overflows(number, at);
            }
            self.overflows.armed = armed;
            self.overflows.stale = true;
        }
    }

    fn foresee(&mut self) {
        self.overflows.stale = false;
        let ticks = self.overflows.armed.iter().filter_map(|&(number, counter)| {
            let instance = &self.instances[usize::from(number)];
            Some(instance.counters[usize::from(counter)].wraps_at()?.saturating_mul(instance.clock.period()))
        });
        self.overflows.deadline = ticks.min().unwrap_or(Tick::MAX);
    }

    /// True if the overflow of any counter freezes or interrupts.
    pub(super) const fn has_armed(&self) -> bool {
        !self.overflows.armed.is_empty()
    }

    /// Notes which counters of an instance are armed, after a write to it.
    pub(super) fn rearm(&mut self, number: u16) {
        let instance = &mut self.instances[usize::from(number)];
        let armed = (0..instance.layout.controlled).filter(|&counter| instance.is_armed(counter));
        let armed: Vec<(u16, u8)> = armed.map(|counter| (number, counter as u8)).collect();
        instance.watched = !armed.is_empty();
        instance.sort_counters();
        self.overflows.armed.retain(|&(other, _)| other != number);
        self.overflows.armed.extend(armed);
        self.overflows.stale = true;
    }

    /// Acts on wraps of an instance's counters up to `tick`. Free-running counters wrap without a word.
    pub(super) fn collect_overflows(&mut self, number: u16, tick: Tick) {
        let instance = &mut self.instances[usize::from(number)];
        let cycle = instance.cycle(tick);
        let controlled = instance.layout.controlled;
        let mut wrapped = 0u32;
        for (index, counter) in instance.counters[..controlled].iter_mut().enumerate() {
            counter.advance(cycle);
            wrapped |= u32::from(counter.take_overflow()) << index;
        }
        for counter in each(wrapped) {
            self.overflowed(number, counter, tick);
        }
    }

    fn overflowed(&mut self, number: u16, counter: usize, tick: Tick) {
        let instance = &mut self.instances[usize::from(number)];
        let place = instance.layout.counters[counter];
        if let Some(control) = place.control.filter(|_| instance.layout.overflow_control.is_some()) {
            let interrupts = instance.stored(control) & place.bits.interrupt != 0;
            self.overflowed_nehalem(number, place.overflow, interrupts, tick);
        } else if let (Some(status), Some(control)) = (instance.layout.unit_status, place.control) {
            // The fixed counter has no bit of its own; it reports straight to the UBox.
            let first = place.overflow == 0 || instance.raise(status, place.overflow);
            let tells = instance.stored(control) & (place.bits.freeze_on_overflow | place.bits.interrupt) != 0;
            if first && tells && !instance.isolated {
                self.tell_ubox(number, tick);
            }
        }
    }

    /// A block reports an overflow that must freeze.
    fn tell_ubox(&mut self, number: u16, tick: Tick) {
        let (socket, within) = (number / self.overflows.per_socket, number % self.overflows.per_socket);
        let Some(global) = self.overflows.global else { return };
        let position = self.overflows.positions[usize::from(within)];
        let ubox = &mut self.instances[usize::from(socket * self.overflows.per_socket + global)];
        let (Some((status, count)), Some(control)) = (ubox.layout.global_status, ubox.layout.global_control.clone())
        else {
            return;
        };
        let member = (position / STATUS_BITS).min(count - 1);
        if !ubox.raise(status + member, 1 << (position % STATUS_BITS)) {
            return;
        }
        ubox.values[usize::from(control.slot)] |= control.freeze;
        self.freeze_socket(number, true, tick);
        self.overflows.interrupts.push(Interrupt { socket, cores: 1 << self.overflows.interrupted_core, tick });
    }

    /// Starts or ends the socket-wide freeze of the socket that an instance belongs to.
    pub(super) fn freeze_socket(&mut self, number: u16, frozen: bool, tick: Tick) {
        let first = number - number % self.overflows.per_socket;
        for instance in &mut self.instances[usize::from(first)..usize::from(first + self.overflows.per_socket)] {
            let cycle = instance.cycle(tick);
            instance.set_hold(super::instance::Hold { frozen, ..instance.hold }, cycle);
        }
        self.overflows.stale = true;
    }

    fn overflowed_nehalem(&mut self, number: u16, overflow: u64, interrupts: bool, tick: Tick) {
        let socket = number / self.overflows.per_socket;
        let instance = &mut self.instances[usize::from(number)];
        let cycle = instance.cycle(tick);
        let layout = Arc::clone(&instance.layout);
        let (Some(overflows), Some((status, _)), Some(global)) =
            (&layout.overflow_control, layout.global_status, &layout.global_control)
        else {
            return;
        };
        instance.raise(status, overflow | overflows.changed);
        if !interrupts {
            return;
        }
        instance.raise(status, overflows.interrupted);
        let enables = instance.stored(global.slot);
        let cores = (0u64..).zip(&global.interrupted).filter(|(_, bit)| enables & **bit != 0);
        let cores = cores.fold(0, |mask, (core, _)| mask | 1 << core);
        if enables & global.freeze_on_interrupt != 0 {
            instance.disable_globally(cycle);
        }
        if cores != 0 {
            self.overflows.interrupts.push(Interrupt { socket, cores, tick });
        }
        self.overflows.stale = true;
    }

    /// The interrupts since the last call.
    pub fn take_interrupts(&mut self) -> Vec<Interrupt> {
        std::mem::take(&mut self.overflows.interrupts)
    }

    /// The core that Emerald Rapids interrupts on overflow.
    pub fn set_interrupted_core(&mut self, core: u8) {
        self.overflows.interrupted_core = core.min(63);
    }

    /// Gives each block of a socket its bit of the global status registers.
    pub fn set_status_positions(&mut self, positions: Vec<u16>) {
        self.overflows.positions = positions;
    }
}
