//! Power states of links: L0, L0p, in which a direction has half of its lanes, and L1, in which the whole link is off.
//!
//! A direction that has carried nothing for a while goes to L0p, where it goes on to carry packets, a flit a clock,
//! until several of them wait. A link whose both directions rest for longer goes to L1, and takes its time to come back
//! for the next packet. Both happen where a scenario allows them, or the whole machine
//! sleeps.

use pericore_engine::NEVER;
use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use super::power_state::PowerSaving;
use crate::e5_2600::Model;
use pericore_facts::e5_2600::{LinkState, UncoreUse};

/// Packets that may wait for a direction at half width; with more it goes back to its full width (assumption).
const FEW: usize = 2;
/// Nanoseconds that a link takes to come back from L1 (assumption: the training of a link that keeps its settings).
const WAKE: u64 = 1000;

impl Model {
    /// From now on links save power so.
    pub(in crate::e5_2600) fn set_power_saving(&mut self, power_saving: PowerSaving) {
        self.links.power_saving = power_saving;
        let at = self.clocks.qclk.align_up(self.now + 1);
        for port in &mut self.links.ports {
            port.power.next = at;
            self.links.next = self.links.next.min(at);
        }
    }

    /// An end has sent its last flit.
    pub(in crate::e5_2600) fn begin_rest(&mut self, index: usize) {
        let PowerSaving { half, off } = self.links.power_saving;
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
    pub(in crate::e5_2600) fn step_link_power<R: E5Reader>(&mut self, index: usize, reader: &mut R) {
        let PowerSaving { half, off } = self.links.power_saving;
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
            self.set_width(index, false, reader);
        }
        let since = self.links.ports[index].power.idle_since;
        let due = Tick::saturating_add;
        if !self.links.ports[index].power.half && due(since, half) <= self.now {
            self.set_width(index, true, reader);
        }
        let last = since.max(self.links.ports[peer].power.idle_since);
        let rests = self.links.ports[index].rests() && self.links.ports[peer].rests();
        if due(last, off) <= self.now && rests {
            self.switch_off(index, reader);
            return;
        }
        let port = &self.links.ports[index];
        if port.power.idle_since != NEVER && port.send_next != self.now {
            self.carries(index, true, [None; 2], reader);
        }
        let waits_for_half = if self.links.ports[index].power.half { NEVER } else { due(since, half) };
        let next = waits_for_half.min(due(last, off).max(self.now + self.clocks.qclk.ticks()));
        if next != NEVER {
            self.links.ports[index].power.next = self.clocks.qclk.align_up(next);
        }
    }

    /// A direction that has half of its lanes and much to send gets the others back.
    pub(in crate::e5_2600) fn widen_if_needed<R: E5Reader>(&mut self, index: usize, reader: &mut R) {
        let port = &self.links.ports[index];
        if port.power.half && port.sending.is_none() && port.waiting.len() > FEW {
            self.set_width(index, false, reader);
        }
    }

    fn set_width<R: E5Reader>(&mut self, index: usize, half: bool, reader: &mut R) {
        let port = &mut self.links.ports[index];
        port.power.half = half;
        let arrives = self.now + self.links.flight * self.clocks.qclk.ticks();
        self.show_power(index, [LinkState::SendFull, LinkState::SendHalf], half, reader);
        let peer = usize::from(self.links.ports[index].peer);
        let peer = &mut self.links.ports[peer];
        peer.power.changes[usize::from(half)] = arrives;
        peer.receive_next = peer.receive_next.min(arrives);
    }

    /// A change of the received direction's width is heard.
    pub(in crate::e5_2600) fn observe_width<R: E5Reader>(&mut self, index: usize, reader: &mut R) {
        for half in [false, true] {
            let power = &mut self.links.ports[index].power;
            if power.changes[usize::from(half)] == self.now {
                power.changes[usize::from(half)] = NEVER;
                power.receives_half = half;
                self.show_power(index, [LinkState::ReceiveFull, LinkState::ReceiveHalf], half, reader);
            }
        }
    }

    /// Of two states, one ends and the other begins.
    fn show_power<R: E5Reader>(&mut self, index: usize, [full, half]: [LinkState; 2], to_half: bool, reader: &mut R) {
        self.switch_power(index, full, !to_half, reader);
        self.switch_power(index, half, to_half, reader);
    }

    fn switch_power<R: E5Reader>(&mut self, index: usize, state: LinkState, on: bool, reader: &mut R) {
        self.switch(UncoreUse::Link(index as u16, state), on, reader);
    }

    fn switch_off<R: E5Reader>(&mut self, index: usize, reader: &mut R) {
        for end in [index, usize::from(self.links.ports[index].peer)] {
            let power = &self.links.ports[end].power;
            let sends = if power.half { LinkState::SendHalf } else { LinkState::SendFull };
            let receives = if power.receives_half { LinkState::ReceiveHalf } else { LinkState::ReceiveFull };
            self.switch_power(end, sends, false, reader);
            self.switch_power(end, receives, false, reader);
            self.switch_power(end, LinkState::Off, true, reader);
            let power = &mut self.links.ports[end].power;
            (power.off, power.half, power.receives_half) = (true, false, false);
            (power.on_at, power.next) = (NEVER, NEVER);
            self.carries_nothing(end, reader);
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
    pub(in crate::e5_2600) fn link_comes_back<R: E5Reader>(&mut self, index: usize, reader: &mut R) -> bool {
        self.wake_link(index);
        let at = self.links.ports[index].power.on_at;
        if at > self.now {
            self.links.ports[index].send_next = at;
            return false;
        }
        for end in [index, usize::from(self.links.ports[index].peer)] {
            self.switch_power(end, LinkState::Off, false, reader);
            self.switch_power(end, LinkState::SendFull, true, reader);
            self.switch_power(end, LinkState::ReceiveFull, true, reader);
            let port = &mut self.links.ports[end];
            (port.power.off, port.power.on_at) = (false, NEVER);
            // What the ends send, they show themselves, now.
            self.carries(end, false, [None; 2], reader);
        }
        true
    }
}
