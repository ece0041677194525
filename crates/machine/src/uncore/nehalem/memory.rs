//! The memory controller: credits before the channels, and what the channels say.

use std::collections::VecDeque;

use pericore_dram::{Arrival, MajorMode, MemoryState, Observer, Outcome, Pending, Sent};
use pericore_engine::Period;
use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::event::Event;
use super::request::{RequestId, Waiting};
use super::wires::SocketWires;
use crate::ledger::nehalem::{CHANNELS, Kind, Ledger, Level, Priority};

/// The entrance of one channel.
#[derive(Debug)]
pub struct Entrance {
    /// Free entries of the reads' and writes' queues.
    credits: [u8; 2],
    waiting: [Waiting; 2],
    /// The last DRAM cycle in which a request arrives; they come one in a cycle.
    last: u64,
}

impl Entrance {
    /// An idle channel with so many entries for reads and writes.
    pub fn new(reads: u8, writes: u8) -> Self {
        Self { credits: [reads, writes], waiting: [VecDeque::new(), VecDeque::new()], last: 0 }
    }
}

/// Hears a socket's channel, and passes on what this family has events for: commands. The queues are counted where requests come and
/// go, by priority, which a channel does not know.
struct ChannelWitness<'a, S> {
    socket: usize,
    channel: usize,
    clock: Period,
    sink: &'a mut S,
    wires: &'a SocketWires,
    ledger: &'a mut Ledger,
}

impl<S: SignalSink> Observer for ChannelWitness<'_, S> {
    fn command(&mut self, sent: &Sent) {
        let record = sent.record;
        if let Some((wire, tag)) = self.wires.commands[self.channel][record.command as usize] {
            self.sink.pulse(wire, tag, record.cycle * self.clock.ticks(), 1);
        }
        self.ledger.command(self.socket, self.channel, record);
    }

    fn forwards(&mut self, _: u64) {
        self.ledger.forwarded(self.socket, self.channel);
    }

    fn merges(&mut self, _: u64) {
        self.ledger.merged(self.socket, self.channel);
    }

    fn enters(&mut self, _: Pending, _: bool, _: u64) {}
    fn leaves(&mut self, _: Pending, _: bool, _: u64, _: u64) {}
    fn begins(&mut self, _: u8) {}
    fn changes_mode(&mut self, _: MajorMode, _: MajorMode, _: u64) {}
    fn preempts(&mut self, _: Pending, _: u64) {}
    fn state(&mut self, _: MemoryState, _: bool, _: u64) {}
    fn corrects(&mut self, _: u64) {}
}

const fn queue(kind: Kind) -> Pending {
    if kind.reads() { Pending::Reads } else { Pending::Writes }
}

/// The level that an entry of a channel belongs to.
const fn level(kind: Kind, channel: usize) -> Level {
    match kind {
        Kind::DeviceRead(Priority::High | Priority::Critical) => Level::isochronous(channel),
        Kind::Read | Kind::Own | Kind::DeviceRead(Priority::Normal) => Level::reads(channel),
        _ => Level::writes(channel),
    }
}

impl Model {
    /// Sends a request to its channel when there is room, at the earliest after `latency` ticks.
    pub(super) fn ask_memory(&mut self, request: RequestId, latency: Tick) {
        let record = &self.requests[request].record;
        let (index, queue) = (self.channel_of(record.home, record.channel), queue(record.kind));
        let entrance = &mut self.entrances[index];
        if entrance.credits[queue as usize] == 0 {
            entrance.waiting[queue as usize].push_back(request);
            return;
        }
        entrance.credits[queue as usize] -= 1;
        self.plan_memory(request, index, latency);
    }

    fn plan_memory(&mut self, request: RequestId, index: usize, latency: Tick) {
        let dclk = self.clocks.dclk;
        let entrance = &mut self.entrances[index];
        // At a DRAM clock's edge after now.
        let cycle = (dclk.cycles(self.now + latency) + 1).max(entrance.last + 1);
        entrance.last = cycle;
        self.wheel.schedule(cycle * dclk.ticks(), Event::Memory.of(request));
    }

    /// A request reaches its channel.
    pub(super) fn at_memory<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.requests[request];
        entry.record.at_memory = self.now;
        let (kind, home, channel) = (entry.record.kind, entry.record.home, entry.record.channel);
        let (socket, line) = (usize::from(home), entry.line);
        let place = self.place(line);
        let wires = &self.wires.sockets[socket];
        let at = usize::from(channel);
        let pulse = match kind {
            Kind::DeviceRead(Priority::High) => Some(wires.high[at]),
            Kind::DeviceRead(Priority::Critical) => Some(wires.critical[at]),
            Kind::DeviceWrite { partial: true } => Some(wires.writes[1][at]),
            _ if kind.reads() => None,
            _ => Some(wires.writes[0][at]),
        };
        if let Some((wire, tag)) = pulse {
            sink.pulse(wire, tag, self.now, 1);
        }
        self.raise(socket, level(kind, at), sink);
        if kind == Kind::DeviceRead(Priority::High) {
            self.wheel.schedule(self.now + self.times.deadline, Event::Deadline.of(request));
        }
        let cycle = self.clocks.dclk.cycles(self.now);
        let index = self.channel_of(home, channel);
        let (bank, row) = (place.bank, place.row);
        // Partial writes take no read of the rest of their line here: the documents name none.
        let partial = false;
        self.channels[index].announce(Arrival { cycle, owner: request, line, bank, row, queue: queue(kind), partial });
        self.channel_next[index] = self.channel_next[index].min(self.now);
        self.memory_next = self.memory_next.min(self.now);
    }

    /// An isochronous read whose deadline is near becomes critical, if it still waits. The channel serves it in its turn all the same.
    pub(super) fn deadline<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.requests[request];
        if entry.served {
            return;
        }
        entry.record.raised = true;
        let (home, channel) = (usize::from(entry.record.home), usize::from(entry.record.channel));
        let (wire, tag) = self.wires.sockets[home].raised[channel];
        sink.pulse(wire, tag, self.now, 1);
    }

    /// Lets the channels do what is due now.
    pub(super) fn step_channels<S: SignalSink>(&mut self, sink: &mut S) {
        for index in 0..self.channels.len() {
            if self.channel_next[index] != self.now {
                continue;
            }
            let socket = index / CHANNELS;
            let mut witness = ChannelWitness {
                socket,
                channel: index % CHANNELS,
                clock: self.clocks.dclk,
                sink: &mut *sink,
                wires: &self.wires.sockets[socket],
                ledger: &mut self.ledger,
            };
            self.channels[index].step(&mut witness, &mut self.outcomes);
            self.channel_next[index] = self.channels[index].next_tick();
            if !self.outcomes.is_empty() {
                self.take_outcomes(index, sink);
            }
        }
        self.memory_next = self.channel_next.iter().fold(Tick::MAX, |least, &next| least.min(next));
    }

    fn take_outcomes<S: SignalSink>(&mut self, index: usize, sink: &mut S) {
        let (socket, channel) = (index / CHANNELS, index % CHANNELS);
        for outcome in 0..self.outcomes.len() {
            match self.outcomes[outcome] {
                Outcome::Data { owner, cycle } => {
                    self.requests[owner].served = true;
                    let kind = self.requests[owner].record.kind;
                    self.lower(socket, level(kind, channel), sink);
                    self.give_back(index, Pending::Reads);
                    let ready = cycle * self.clocks.dclk.ticks() + self.times.memory_to_home;
                    self.wheel.schedule(ready, Event::Read.of(owner));
                }
                Outcome::Posted { owner } => {
                    self.wheel.schedule(self.now + self.times.memory_to_home, Event::Posted.of(owner));
                }
                Outcome::WriteCredit => {
                    self.lower(socket, Level::writes(channel), sink);
                    self.give_back(index, Pending::Writes);
                }
            }
        }
        self.outcomes.clear();
    }

    /// An entry of a channel's queue is free: the next request may come.
    fn give_back(&mut self, index: usize, queue: Pending) {
        let entrance = &mut self.entrances[index];
        match entrance.waiting[queue as usize].pop_front() {
            Some(next) => self.plan_memory(next, index, self.times.home_to_memory),
            None => entrance.credits[queue as usize] += 1,
        }
    }

    /// Number of a socket's channel over the machine.
    const fn channel_of(&self, socket: u8, channel: u8) -> usize {
        socket as usize * CHANNELS + channel as usize
    }
}
