//! Power states of links: L0, L0p, in which a direction has half of its lanes, and L1, in which the whole link is off.
//!
//! A direction that has carried nothing for a while goes to L0p, where it goes on to carry packets, a flit a clock, until several of them
//! wait. A link whose both directions rest for longer goes to L1, and takes its time to come back for the next packet. Both only happen
//! where a scenario allows them.

use pericore_engine::NEVER;
use pericore_hardware::signal::{SignalSink, Tick};

use super::port::{Levels, Port};
use crate::ledger::e5_2600::LinkState;
use crate::uncore::e5_2600::Model;

/// Packets that may wait for a direction at half width; with more it goes back to its full width (assumption).
const FEW: usize = 2;
/// Nanoseconds that a link takes to come back from L1 (assumption: the training of a link that keeps its settings).
const WAKE: u64 = 1000;

/// Ticks of rest after which links save power; [`NEVER`] if they may not.
#[derive(Debug, Clone, Copy)]
pub struct Savings {
    pub half: Tick,
    pub off: Tick,
}

impl Default for Savings {
    fn default() -> Self {
        Self { half: NEVER, off: NEVER }
    }
}

/// The power state of one end of a link.
#[derive(Debug, Clone)]
pub struct Power {
    /// The direction that this end sends has half of its lanes.
    pub half: bool,
    /// The direction that it receives has; it hears of changes as late as of flits.
    receives_half: bool,
    /// The link is off, both its directions.
    pub off: bool,
    /// When it is on again, if that has begun.
    on_at: Tick,
    /// Since when it has had nothing to send; [`NEVER`] while it has.
    pub idle_since: Tick,
    /// When to look next whether it may save power.
    pub next: Tick,
    /// When the received direction changes its width, at most once each way under way.
    changes: [Tick; 2],
}

impl Power {
    /// At full power, with nothing to send.
    pub const fn new() -> Self {
        Self {
            half: false,
            receives_half: false,
            off: false,
            on_at: NEVER,
            idle_since: 0,
            next: NEVER,
            changes: [NEVER; 2],
        }
    }

    /// Flits of a clock that this end sends.
    pub const fn slots(&self) -> usize {
        if self.off {
            0
        } else if self.half {
            1
        } else {
            2
        }
    }

    /// What this end sends, and what it receives, when there is nothing to carry.
    pub const fn idle(&self) -> Levels {
        [self.slots() as u8, 0, 0]
    }

    /// What it receives when there is nothing to carry.
    pub const fn idle_received(&self) -> Levels {
        let slots = if self.off { 0 } else { 2 - self.receives_half as u8 };
        [slots, 0, 0]
    }

    /// The next tick at which the width of the received direction changes.
    pub fn next_change(&self) -> Tick {
        self.changes[0].min(self.changes[1])
    }
}

impl Port {
    /// Nothing is on its way from this end, or in its buffers.
    fn rests(&self) -> bool {
        self.sending.is_none()
            && self.waiting.is_empty()
            && self.incoming.is_empty()
            && self.flying.is_empty()
            && self.received.is_empty()
            && self.handing.is_none()
            && self.returning.is_empty()
            && self.power.next_change() == NEVER
    }
}

impl Model {
    /// From now on links save power so.
    pub(in crate::uncore::e5_2600) fn set_savings(&mut self, savings: Savings) {
        self.links.savings = savings;
        let at = self.clocks.qclk.align_up(self.now + 1);
        for port in &mut self.links.ports {
            port.power.next = at;
            self.links.next = self.links.next.min(at);
        }
    }

    /// An end has sent its last flit.
    pub(super) fn begin_rest(&mut self, index: usize) {
        let Savings { half, off } = self.links.savings;
        let power = &mut self.links.ports[index].power;
        power.idle_since = self.now;
        let first = match (power.half, half) {
            (true, NEVER) => self.clocks.qclk.ticks(),
            (true, _) => off,
            (false, _) => half.min(off),
        };
        if first != NEVER {
            power.next = self.clocks.qclk.align_up(self.now + first);
        }
    }

    /// Looks whether an end may save power, or must no longer.
    pub(super) fn step_link_power<S: SignalSink>(&mut self, index: usize, sink: &mut S) {
        let Savings { half, off } = self.links.savings;
        let peer = usize::from(self.links.ports[index].peer);
        let port = &mut self.links.ports[index];
        port.power.next = NEVER;
        if port.power.off {
            if off == NEVER {
                self.wake_link(index);
            }
            return;
        }
        if port.power.half && half == NEVER && port.sending.is_none() {
            self.set_width(index, false, sink);
        }
        let since = self.links.ports[index].power.idle_since;
        let due = Tick::saturating_add;
        if !self.links.ports[index].power.half && due(since, half) <= self.now {
            self.set_width(index, true, sink);
        }
        let last = since.max(self.links.ports[peer].power.idle_since);
        let rests = self.links.ports[index].rests() && self.links.ports[peer].rests();
        if due(last, off) <= self.now && rests {
            self.switch_off(index, sink);
            return;
        }
        let port = &mut self.links.ports[index];
        if port.power.idle_since != NEVER && port.send_next != self.now {
            let idle = port.power.idle();
            super::layer::show(&mut port.sent, idle, self.links.wires[index].sent.all, self.now, sink);
        }
        let waits_for_half = if self.links.ports[index].power.half { NEVER } else { due(since, half) };
        let next = waits_for_half.min(due(last, off).max(self.now + self.clocks.qclk.ticks()));
        if next != NEVER {
            self.links.ports[index].power.next = self.clocks.qclk.align_up(next);
        }
    }

    /// A direction that has half of its lanes and much to send gets the others back.
    pub(super) fn widen_if_needed<S: SignalSink>(&mut self, index: usize, sink: &mut S) {
        let port = &self.links.ports[index];
        if port.power.half && port.sending.is_none() && port.waiting.len() > FEW {
            self.set_width(index, false, sink);
        }
    }

    fn set_width<S: SignalSink>(&mut self, index: usize, half: bool, sink: &mut S) {
        let port = &mut self.links.ports[index];
        port.power.half = half;
        let arrives = self.now + self.links.flight * self.clocks.qclk.ticks();
        self.show_power(index, [LinkState::SendFull, LinkState::SendHalf], half, sink);
        let peer = usize::from(self.links.ports[index].peer);
        let peer = &mut self.links.ports[peer];
        peer.power.changes[usize::from(half)] = arrives;
        peer.receive_next = peer.receive_next.min(arrives);
    }

    /// A change of the received direction's width is heard.
    pub(super) fn hear_width<S: SignalSink>(&mut self, index: usize, sink: &mut S) {
        for half in [false, true] {
            let power = &mut self.links.ports[index].power;
            if power.changes[usize::from(half)] == self.now {
                power.changes[usize::from(half)] = NEVER;
                power.receives_half = half;
                self.show_power(index, [LinkState::ReceiveFull, LinkState::ReceiveHalf], half, sink);
            }
        }
    }

    /// Of two states, one ends and the other begins.
    fn show_power<S: SignalSink>(&mut self, index: usize, [full, half]: [LinkState; 2], to_half: bool, sink: &mut S) {
        self.switch_power(index, full, !to_half, sink);
        self.switch_power(index, half, to_half, sink);
    }

    fn switch_power<S: SignalSink>(&mut self, index: usize, state: LinkState, on: bool, sink: &mut S) {
        let wire = self.links.wires[index].power[state as usize];
        if on {
            sink.enter(wire, 0, self.now);
        } else {
            sink.leave(wire, 0, self.now);
        }
        self.ledger.link_power(index as u16, state, on, self.now);
    }

    fn switch_off<S: SignalSink>(&mut self, index: usize, sink: &mut S) {
        for end in [index, usize::from(self.links.ports[index].peer)] {
            let power = &self.links.ports[end].power;
            let sends = if power.half { LinkState::SendHalf } else { LinkState::SendFull };
            let receives = if power.receives_half { LinkState::ReceiveHalf } else { LinkState::ReceiveFull };
            self.switch_power(end, sends, false, sink);
            self.switch_power(end, receives, false, sink);
            self.switch_power(end, LinkState::Off, true, sink);
            let power = &mut self.links.ports[end].power;
            (power.off, power.half, power.receives_half) = (true, false, false);
            (power.on_at, power.next) = (NEVER, NEVER);
            let (port, wires) = (&mut self.links.ports[end], &self.links.wires[end]);
            super::layer::show(&mut port.sent, [0; 3], wires.sent.all, self.now, sink);
            super::layer::show(&mut port.receiving, [0; 3], wires.received.all, self.now, sink);
        }
    }

    /// A link that is off is wanted: it begins to come back, unless it has.
    fn wake_link(&mut self, index: usize) {
        if self.links.ports[index].power.on_at != NEVER {
            return;
        }
        let at = self.clocks.qclk.align_up(self.now + WAKE * self.clocks.ticks_per_second / 1_000_000_000);
        for end in [index, usize::from(self.links.ports[index].peer)] {
            let port = &mut self.links.ports[end];
            port.power.on_at = at;
            port.send_next = at;
        }
    }

    /// An end of a link that is off has something to send, or it is time to be on again. False if it is still off.
    pub(super) fn link_comes_back<S: SignalSink>(&mut self, index: usize, sink: &mut S) -> bool {
        self.wake_link(index);
        let at = self.links.ports[index].power.on_at;
        if at > self.now {
            self.links.ports[index].send_next = at;
            return false;
        }
        for end in [index, usize::from(self.links.ports[index].peer)] {
            self.switch_power(end, LinkState::Off, false, sink);
            self.switch_power(end, LinkState::SendFull, true, sink);
            self.switch_power(end, LinkState::ReceiveFull, true, sink);
            let port = &mut self.links.ports[end];
            (port.power.off, port.power.on_at) = (false, NEVER);
            // What the ends send, they show themselves, now.
            let idle = port.power.idle_received();
            super::layer::show(&mut port.receiving, idle, self.links.wires[end].received.all, self.now, sink);
        }
        true
    }
}
