//! What PMON hardware sees of a machine of the Xeon 5500 series: facts become pulses and levels on wires.

pub mod level;
mod wires;

use level::Level;
use pericore_engine::Tick;
use pericore_facts::FactReader;
use pericore_facts::nehalem::{
    Kind, NehalemFact, ProbeRecord, Record, Reply, SnoopStation, Source, Station, Tracker, Use,
};
use pericore_hardware::signal::{SignalSink, Wiring, WiringError};
use pericore_models::nehalem::Parameters;
use wires::{Tagged, Wires};

use crate::signals::levels::Occupancies;

/// The wires of a machine, and how many entries each level has.
#[derive(Debug)]
pub struct NehalemSignals {
    wires: Wires,
    /// By socket.
    live: Vec<[u32; Level::COUNT]>,
}

impl NehalemSignals {
    /// Binds the wires of an idle machine.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue lacks a name.
    pub fn bind(wiring: &mut Wiring, parameters: &Parameters) -> Result<Self, WiringError> {
        let live = vec![[0; Level::COUNT]; parameters.sockets.into()];
        Ok(Self { wires: Wires::bind(wiring, parameters)?, live })
    }

    /// A reader of facts that emits to a sink.
    pub const fn reader<'a, S>(&'a mut self, sink: &'a mut S) -> Emitter<'a, S> {
        Emitter { signals: self, sink }
    }

    /// Updates which levels some counter observes; to be done whenever counters may have been programmed.
    pub fn listen<S: SignalSink>(&mut self, now: Tick, sink: &mut S) {
        for socket in 0..self.live.len() {
            let mut new = false;
            for wires in &mut self.wires.sockets[socket].levels {
                let all = [&mut wires.entries, &mut wires.among, &mut wires.nonempty, &mut wires.full];
                for (wire, _) in all.into_iter().flatten() {
                    new |= wire.listen(sink);
                }
            }
            if new {
                self.emit_levels(socket, now, sink);
            }
        }
    }

    /// Emits the levels of a PMON instance, whose counters may begin to observe them.
    pub fn emit_instance<S: SignalSink>(&self, instance: u16, now: Tick, sink: &mut S) {
        // A socket's uncore is one instance.
        if let Some(socket) = self.wires.sockets.iter().position(|wires| wires.missed.0.instance == instance) {
            self.emit_levels(socket, now, sink);
        }
    }

    #[cold]
    fn emit_levels<S: SignalSink>(&self, socket: usize, now: Tick, sink: &mut S) {
        let mut levels = Occupancies::default();
        for (wires, &live) in self.wires.sockets[socket].levels.iter().zip(&self.live[socket]) {
            let first = u32::from(live > 0);
            let last = u32::from(live >= wires.capacity);
            let counts = [(wires.entries, live), (wires.among, live), (wires.nonempty, first), (wires.full, last)];
            for (wire, count) in counts {
                if let Some((wire, tag)) = wire {
                    levels.add(wire, tag, count);
                }
            }
        }
        levels.emit(now, sink);
    }

    /// Entries of each level of a socket.
    #[cfg(test)]
    pub fn live(&self, socket: usize) -> &[u32; Level::COUNT] {
        &self.live[socket]
    }
}

/// Emits what facts mean to a sink.
#[derive(Debug)]
pub struct Emitter<'a, S> {
    signals: &'a mut NehalemSignals,
    sink: &'a mut S,
}

impl<S: SignalSink> Emitter<'_, S> {
    fn pulse(&mut self, at: Tick, (wire, tag): Tagged) {
        self.sink.pulse(wire, tag, at, 1);
    }

    /// An entry arrives at a level.
    fn raise(&mut self, at: Tick, socket: u8, level: Level) {
        let (socket, index) = (usize::from(socket), usize::from(level.0));
        let wires = &self.signals.wires.sockets[socket].levels[index];
        let live = &mut self.signals.live[socket][index];
        *live += 1;
        let first = wires.nonempty.filter(|_| *live == 1);
        let last = wires.full.filter(|_| *live == wires.capacity);
        for (wire, tag) in [wires.entries, wires.among, first, last].into_iter().flatten() {
            wire.enter(tag, at, self.sink);
        }
    }

    /// An entry leaves a level.
    fn lower(&mut self, at: Tick, socket: u8, level: Level) {
        let (socket, index) = (usize::from(socket), usize::from(level.0));
        let wires = &self.signals.wires.sockets[socket].levels[index];
        let live = &mut self.signals.live[socket][index];
        let last = wires.full.filter(|_| *live == wires.capacity);
        *live = live.saturating_sub(1);
        let first = wires.nonempty.filter(|_| *live == 0);
        for (wire, tag) in [wires.entries, wires.among, first, last].into_iter().flatten() {
            wire.leave(tag, at, self.sink);
        }
    }

    #[inline(always)]
    fn request(&mut self, at: Tick, station: Station, record: &Record) {
        let (socket, home) = (record.socket, record.home);
        let (kind, source) = (record.kind, record.source);
        let own = &self.signals.wires.sockets[usize::from(socket)];
        let at_home = &self.signals.wires.sockets[usize::from(home)];
        let channel = usize::from(record.channel);
        match station {
            Station::Queued => {
                let Some(tracker) = kind.tracker() else { return };
                let entered = own.entered[tracker as usize];
                self.raise(at, socket, Level::tracker(tracker));
                // Of writes those count that miss, when that is known.
                if tracker == Tracker::Read {
                    self.pulse(at, entered);
                }
            }
            Station::LookedUp => {
                let Some(tracker) = kind.tracker() else { return };
                let (looked_up, entered) =
                    (own.looked_up[usize::from(record.hit)][tracker as usize], own.entered[tracker as usize]);
                // Of writes the LLC's events count those that cores write back.
                if !matches!(kind, Kind::Around { .. }) {
                    self.pulse(at, looked_up);
                }
                if tracker == Tracker::Write && !record.hit {
                    self.pulse(at, entered);
                }
            }
            Station::Replied => {
                let missed = own.missed;
                self.pulse(at, own.replied);
                if !record.hit {
                    self.pulse(at, missed);
                }
            }
            Station::Numbered => {
                let Some(tracker) = kind.tracker() else { return };
                self.pulse(at, own.numbered[usize::from(tracker != Tracker::Read)]);
            }
            Station::AtHome => {
                self.pulse(at, at_home.requests[source as usize][usize::from(!kind.reads())]);
                self.raise(at, home, Level::home(source));
                if kind.reads() {
                    self.raise(at, home, Level::home_reads(source));
                }
            }
            Station::Bypassed => self.pulse(at, at_home.bypassed),
            Station::AtMemory => {
                if let Some(wire) = at_home.at_memory(kind, channel) {
                    self.pulse(at, wire);
                }
                self.raise(at, home, Level::queue(kind, record.channel));
                if record.isochronous_write {
                    self.raise(at, home, Level::isochronous_writes(channel));
                }
            }
            Station::Cancelled => self.pulse(at, at_home.cancelled[channel]),
            Station::Hurried => self.pulse(at, at_home.hurried[channel]),
            Station::Served => self.lower(at, home, Level::queue(kind, record.channel)),
            Station::LeftHome => {
                self.lower(at, home, Level::home(source));
                if kind.reads() {
                    self.lower(at, home, Level::home_reads(source));
                }
            }
            Station::Filled => {
                let Some((into, out)) = record.filled else { return };
                let out = own.lines_out[out as usize];
                if let Some(into) = own.lines_in[into as usize] {
                    self.pulse(at, into);
                }
                self.pulse(at, out);
            }
            Station::Acknowledged => self.pulse(at, at_home.acknowledged),
            Station::Left => {
                let Some(tracker) = kind.tracker() else { return };
                self.lower(at, socket, Level::tracker(tracker));
            }
            Station::Ended => {}
        }
    }

    #[inline(always)]
    fn snoop(&mut self, at: Tick, station: SnoopStation, record: &ProbeRecord) {
        let socket = record.socket;
        let own = &self.signals.wires.sockets[usize::from(socket)];
        match station {
            SnoopStation::Waits => {
                if let Some(link) = record.link {
                    self.raise(at, socket, Level::no_peer(link.into()));
                }
            }
            SnoopStation::Queued => {
                if let Some(link) = record.link.filter(|_| record.has_waited()) {
                    self.lower(at, socket, Level::no_peer(link.into()));
                }
                self.raise(at, socket, Level::tracker(Tracker::Peer));
            }
            SnoopStation::LookedUp => {
                let (looked_up, entered) = (
                    own.looked_up[usize::from(record.hit)][Tracker::Peer as usize],
                    own.entered[Tracker::Peer as usize],
                );
                self.pulse(at, looked_up);
                // Of the peer probe tracker the event counts those that miss.
                if !record.hit {
                    self.pulse(at, entered);
                }
            }
            SnoopStation::Replied => {
                let Some(reply) = record.reply else { return };
                self.pulse(at, own.replies[usize::from(record.local)][reply as usize]);
            }
            SnoopStation::Left => self.lower(at, socket, Level::tracker(Tracker::Peer)),
            SnoopStation::Ended => {}
        }
    }

    fn reply(&mut self, at: Tick, home: u8, source: Source, reply: Reply, line: u32) {
        if let Some(matched) = self.signals.wires.matched(reply, line) {
            let (wire, tag) = self.signals.wires.sockets[usize::from(home)].matched[source as usize];
            self.pulse(at, (wire, tag | matched));
        }
    }
}

const fn level(what: Use) -> Level {
    match what {
        Use::Contest(source) => Level::contest(source),
        Use::Port(port) => Level::port(port),
        Use::Link(link) => Level::header(link as usize),
        Use::NoCredit(link, class) => Level::stall(link as usize, class),
    }
}

impl<S: SignalSink> FactReader<NehalemFact<'_>> for Emitter<'_, S> {
    #[inline(always)]
    fn read(&mut self, at: Tick, fact: NehalemFact<'_>) {
        match fact {
            NehalemFact::Request(station, record) => self.request(at, station, record),
            NehalemFact::Snoop(station, record) => self.snoop(at, station, record),
            NehalemFact::Begins(socket, what) => self.raise(at, socket, level(what)),
            NehalemFact::Ends(socket, what, _) => self.lower(at, socket, level(what)),
            NehalemFact::Reply { home, source, reply, line } => self.reply(at, home, source, reply, line),
            NehalemFact::Met { home, requests } => {
                self.pulse(at, self.signals.wires.sockets[usize::from(home)].met[usize::from(requests > 2)]);
            }
            NehalemFact::Written { home, channel, isochronous, .. } => {
                self.lower(at, home, Level::writes(channel.into()));
                if isochronous {
                    self.lower(at, home, Level::isochronous_writes(channel.into()));
                }
            }
            NehalemFact::Command { home, channel, record } => {
                let wires = &self.signals.wires.sockets[usize::from(home)];
                let (channel, command) = (usize::from(channel), record.command as usize);
                if let Some((wire, tag)) = wires.commands[channel][command] {
                    let closing = if record.closes { wires.closing[channel][command] } else { 0 };
                    self.pulse(at, (wire, tag | closing));
                }
            }
            NehalemFact::Forwarded { .. } | NehalemFact::Merged { .. } => {}
        }
    }
}
