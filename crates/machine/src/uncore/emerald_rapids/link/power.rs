//! Power states of the links: some lanes rest (L0p), or the whole link is shut down (L1) and trains anew when it is needed.

use pericore_hardware::signal::{SignalSink, Tick};

use super::{LINKS, peer, place};
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::uncore::emerald_rapids::Model;
use crate::uncore::emerald_rapids::event::Event;

/// Uncore cycles without a message after which a direction rests some of its lanes, and after which its sender asks for a shut-down
/// (assumptions: 1 us, 4 us).
const REST: Tick = 2_500;
const SHUT_DOWN: Tick = 10_000;
/// Uncore cycles to come back from either (assumptions).
const WIDEN: Tick = 50;
const TRAINING: Tick = 500;
/// Link cycles in which a direction goes over to fewer lanes, and back (assumptions: half of the way back, which locks lanes anew).
const ENTER_CYCLES: u32 = 10;
const EXIT_CYCLES: u32 = 20;

const FULL_RECEIVER: u16 = level!("upi/RxL0_POWER_CYCLES");
const FULL_SENDER: u16 = level!("upi/TxL0_POWER_CYCLES");
const HALF_RECEIVER: u16 = level!("upi/RxL0P_POWER_CYCLES");
const HALF_SENDER: u16 = level!("upi/TxL0P_POWER_CYCLES");
const OFF: u16 = level!("upi/L1_POWER_CYCLES");
const TRAINS: u16 = level!("upi/PHY_INIT_CYCLES");

/// Lanes that a direction uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    Full,
    Half,
    /// The link is shut down.
    Off,
}

/// States of all links, by the number of the sender.
#[derive(Debug)]
pub struct PowerStates {
    width: Vec<Width>,
    /// When the last message was sent.
    used: Vec<Tick>,
    /// The tick of the look that counts; others are stale.
    watched: Vec<Tick>,
}

impl PowerStates {
    /// All at full width.
    pub fn new(links: usize) -> Self {
        Self { width: vec![Width::Full; links], used: vec![0; links], watched: vec![0; links] }
    }
}

impl Model {
    fn width(&self, number: u16) -> Width {
        self.links.power.width[usize::from(number)]
    }

    /// Changes how wide a direction is. What its sender does, its peer's receiver sees.
    fn set_width<S: SignalSink>(&mut self, number: u16, to: Width, sink: &mut S) {
        let from = std::mem::replace(&mut self.links.power.width[usize::from(number)], to);
        let (sender, link) = place(number);
        let (receiver, _) = place(peer(number));
        let levels = |width| match width {
            Width::Full => [Some((FULL_RECEIVER, receiver)), Some((FULL_SENDER, sender))],
            Width::Half => [Some((HALF_RECEIVER, receiver)), Some((HALF_SENDER, sender))],
            Width::Off => [Some((OFF, sender)), None],
        };
        for (level, side) in levels(from).into_iter().flatten() {
            self.account.leave(level, side, link, self.now, sink);
        }
        for (level, side) in levels(to).into_iter().flatten() {
            self.account.enter(level, side, link, self.now, sink);
        }
    }

    /// A message is to go out: how long the link needs until it can.
    pub(super) fn wake_link<S: SignalSink>(&mut self, number: u16, sink: &mut S) -> Tick {
        let ((socket, link), now) = (place(number), self.now);
        self.links.power.used[usize::from(number)] = now;
        match self.width(number) {
            Width::Full => 0,
            Width::Half => {
                let exits = deed!("upi/TxL0P_POWER_CYCLES_M3_EXIT");
                self.account.deeds(exits, socket, link, now, EXIT_CYCLES, sink);
                self.set_width(number, Width::Full, sink);
                self.watch_link(number, REST);
                WIDEN * self.times.uclk
            }
            Width::Off => {
                let wait = TRAINING * self.times.uclk;
                for end in [number, peer(number)] {
                    self.set_width(end, Width::Full, sink);
                    self.account.enter(TRAINS, place(end).0, link, now, sink);
                    self.watch_link(end, REST);
                    self.links.gates[usize::from(end)].hold_until(now + wait);
                    self.wheel.schedule(now + wait, Event::Trained.of(end));
                }
                0
            }
        }
    }

    /// A link's physical layer has trained.
    pub(in super::super) fn trained<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        let (socket, link) = place(number);
        self.account.leave(TRAINS, socket, link, self.now, sink);
    }

    /// A flit comes in, into the receive queue or past it, while the own direction rests: it keeps the clock running.
    pub(super) fn note_wakeful<S: SignalSink>(&mut self, number: u16, bypasses: bool, sink: &mut S) {
        if self.width(number) == Width::Half {
            let (socket, link) = place(number);
            let by = deed!("upi/TxL0P_CLK_ACTIVE.RXQ") + u16::from(bypasses);
            self.account.deed(by, socket, link, self.now, sink);
        }
    }

    fn watch_link(&mut self, number: u16, cycles: Tick) {
        let at = self.now + cycles * self.times.uclk;
        self.links.power.watched[usize::from(number)] = at;
        self.wheel.schedule(at, Event::LinkIdle.of(number));
    }

    fn idle_cycles(&self, number: u16) -> Tick {
        (self.now - self.links.power.used[usize::from(number)]) / self.times.uclk
    }

    /// A direction may have been idle for long enough to rest. A link that is off is not looked at any more.
    pub(in super::super) fn link_idle<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        if self.links.power.watched[usize::from(number)] != self.now {
            return;
        }
        let ((socket, link), now) = (place(number), self.now);
        let idle = self.idle_cycles(number);
        match self.width(number) {
            Width::Full if idle >= REST => {
                let enters = deed!("upi/TxL0P_POWER_CYCLES_LL_ENTER");
                self.account.deeds(enters, socket, link, now, ENTER_CYCLES, sink);
                self.set_width(number, Width::Half, sink);
                self.watch_link(number, SHUT_DOWN - REST);
            }
            Width::Full => self.watch_link(number, REST - idle),
            Width::Half if idle >= SHUT_DOWN => {
                if self.width(peer(number)) == Width::Half {
                    self.account.deed(deed!("upi/POWER_L1_REQ"), socket, link, now, sink);
                    self.set_width(number, Width::Off, sink);
                    self.set_width(peer(number), Width::Off, sink);
                } else {
                    // The other end still has something to send.
                    self.account.deed(deed!("upi/POWER_L1_NACK"), socket, link, now, sink);
                    self.watch_link(number, SHUT_DOWN);
                }
            }
            Width::Half | Width::Off => {}
        }
    }

    /// Emits what holds of the links from the start: all at full power.
    pub(in super::super) fn start_links<S: SignalSink>(&mut self, sink: &mut S) {
        if self.sockets < 2 {
            return;
        }
        for number in 0..2 * u16::from(LINKS) {
            let (socket, link) = place(number);
            self.account.enter(FULL_RECEIVER, socket, link, 0, sink);
            self.account.enter(FULL_SENDER, socket, link, 0, sink);
            self.watch_link(number, REST);
        }
    }
}
