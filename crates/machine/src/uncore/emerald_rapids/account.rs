//! What the model tells: each happening goes to the signals and, on another path, to the ledger.

use pericore_catalog::BitRange;
use pericore_hardware::signal::{SignalSink, Stride, Tick, Wiring, WiringError};

use super::binding::{Line, bind, bind_signal};
use super::command_lines::CommandLines;
use super::level_lines::LevelLines;
use super::link_lines::{CREDIT, DATA, HEADER, LinkLines};
use super::port::{HIT_EXCLUSIVE, SNOOPS};
use super::reject_lines::RejectLines;
use super::request::Pool;
use super::request_tags::RequestLines;
use super::standing::Hearing;
use crate::ledger::emerald_rapids::deeds::{DEEDS, Deed, LEVELS, LevelId, OfDeeds, table};
use crate::ledger::emerald_rapids::{
    Class, Found, INGRESS, Ledger, LevelSpot, LinkMessage, Queue, Reason, Snapshot, Spot, Victim,
};

/// Answers of the stacks' ports to snoops.
#[derive(Debug)]
struct AnswerLines {
    answers: Line,
    result: BitRange,
    snoop: BitRange,
}

impl AnswerLines {
    fn bind(wiring: &mut Wiring) -> Result<Self, WiringError> {
        let result = wiring.attribute("irp", "snoop_responses", "result")?;
        let snoop = wiring.attribute("irp", "snoop_responses", "snoop")?;
        let tags = SNOOPS.map(|of| snoop.set(result.set(0, HIT_EXCLUSIVE.into()), of.into()));
        Ok(Self { answers: bind_signal(wiring, "irp", "snoop_responses", tags)?, result, snoop })
    }
}

/// The lines of everything that an account tells.
#[derive(Debug)]
pub struct Lines {
    links: LinkLines,
    answers: AnswerLines,
    deeds: OfDeeds<Line>,
    levels: Vec<LevelLines>,
    requests: RequestLines,
    rejects: RejectLines,
    commands: CommandLines,
}

impl Lines {
    /// Binds them; needs no model, so that those who only ask what is modelled need not build one.
    pub fn bind(wiring: &mut Wiring, opcode: impl Fn(&str) -> Option<u64>) -> Result<Self, WiringError> {
        Ok(Self {
            deeds: table(DEEDS.iter().map(|entry| bind(wiring, entry)).collect::<Result<_, _>>()?),
            levels: LEVELS.iter().map(|entry| LevelLines::bind(wiring, entry)).collect::<Result<_, _>>()?,
            commands: CommandLines::bind(wiring)?,
            requests: RequestLines::bind(wiring, opcode)?,
            rejects: RejectLines::bind(wiring)?,
            links: LinkLines::bind(wiring)?,
            answers: AnswerLines::bind(wiring)?,
        })
    }
}

/// Everything that the model tells.
#[derive(Debug)]
pub struct Account {
    links: LinkLines,
    answers: AnswerLines,
    pub ledger: Ledger,
    pub(super) stride: Stride,
    deeds: OfDeeds<Line>,
    pub(super) levels: Vec<LevelLines>,
    pub(super) requests: RequestLines,
    rejects: RejectLines,
    commands: CommandLines,
    channels: u16,
    pub(super) hearing: Hearing,
}

impl Account {
    /// Binds everything that the model tells.
    pub fn new(wiring: &mut Wiring, ledger: Ledger, opcode: impl Fn(&str) -> Option<u64>) -> Result<Self, WiringError> {
        let Lines { links, answers, deeds, levels, requests, rejects, commands } = Lines::bind(wiring, opcode)?;
        let stride = wiring.stride();
        let channels = wiring.family().unit("imc").map_or(0, |unit| unit.instances);
        let hearing = Hearing::new(wiring, ledger.levels());
        Ok(Self { links, answers, ledger, stride, deeds, levels, requests, rejects, commands, channels, hearing })
    }

    /// True if pulses of an instance need be made.
    #[inline]
    fn hears(&self, line: Line, socket: u16, index: u16) -> bool {
        self.hearing.hears(line.wire(self.stride, socket, index).instance)
    }

    /// Says a pulse to those who hear it.
    #[inline]
    fn pulse<S: SignalSink>(
        &self,
        line: Line,
        tag: u64,
        (socket, index): (u16, u16),
        tick: Tick,
        count: u32,
        sink: &mut S,
    ) {
        if self.hears(line, socket, index) {
            sink.pulse(line.wire(self.stride, socket, index), tag, tick, count);
        }
    }

    /// Something happens.
    #[inline]
    pub fn deed<S: SignalSink>(&mut self, deed: Deed, socket: u16, index: u16, tick: Tick, sink: &mut S) {
        self.together([deed], socket, index, tick, sink);
    }

    /// Something happens `count` times.
    #[inline]
    pub fn deeds<S: SignalSink>(&mut self, deed: Deed, socket: u16, index: u16, tick: Tick, count: u32, sink: &mut S) {
        let line = self.deeds[usize::from(deed)];
        self.pulse(line, line.tag(), (socket, index), tick, count, sink);
        self.ledger.did(deed, socket, index, count.into());
    }

    /// Several things happen at once in one instance of a unit. Where it is known which, little is left to do.
    #[inline(always)]
    pub fn together<S: SignalSink, const N: usize>(
        &mut self,
        deeds: [Deed; N],
        socket: u16,
        index: u16,
        tick: Tick,
        sink: &mut S,
    ) {
        self.together_at(deeds, self.ledger.spot(deeds[0], socket, index), tick, sink);
    }

    /// Several things happen at once in an instance that has been found before.
    #[inline(always)]
    pub fn together_at<S: SignalSink, const N: usize>(
        &mut self,
        deeds: [Deed; N],
        spot: Spot,
        tick: Tick,
        sink: &mut S,
    ) {
        self.ledger.did_at(deeds, spot);
        if self.hears(self.deeds[usize::from(deeds[0])], spot.socket, spot.index) {
            self.tell_at(deeds, spot, tick, sink);
        }
    }

    /// Says what has happened in an instance that somebody hears: kept out of what is done for every request.
    #[inline(never)]
    fn tell_at<S: SignalSink, const N: usize>(&self, deeds: [Deed; N], spot: Spot, tick: Tick, sink: &mut S) {
        for &deed in &deeds {
            let line = self.deeds[usize::from(deed)];
            sink.pulse(line.wire(self.stride, spot.socket, spot.index), line.tag(), tick, 1);
        }
    }

    /// Something that lasts begins.
    pub fn enter<S: SignalSink>(&mut self, level: LevelId, socket: u16, index: u16, tick: Tick, sink: &mut S) {
        let spot = self.ledger.level(level, socket, index);
        let live = self.ledger.enter(spot, tick);
        if self.hearing.hears_level(spot) {
            self.tell::<true, S>(spot, live, tick, sink);
        }
    }

    /// Something that lasted ends.
    pub fn leave<S: SignalSink>(&mut self, level: LevelId, socket: u16, index: u16, tick: Tick, sink: &mut S) {
        let spot = self.ledger.level(level, socket, index);
        let live = self.ledger.leave(spot, tick);
        if self.hearing.hears_level(spot) {
            self.tell::<false, S>(spot, live + 1, tick, sink);
        }
    }

    /// True if it must be said at once that a core's request comes to its agent, not only when it leaves the ingress queue.
    #[inline]
    pub fn hears_ingress(&self, socket: u16, cha: u16) -> bool {
        self.hearing.hears_level(self.ledger.level(INGRESS, socket, cha)) || self.ledger.keeps_changes()
    }

    /// A core's request comes to its agent's ingress queue, of which somebody hears.
    pub fn enter_ingress<S: SignalSink>(&mut self, socket: u16, cha: u16, tick: Tick, sink: &mut S) {
        let spot = self.ledger.level(INGRESS, socket, cha);
        self.ledger.comes_to_ingress(spot, tick);
        if self.hearing.hears_level(spot) {
            self.tell::<true, S>(spot, 0, tick, sink);
        }
    }

    /// A core's request leaves the ingress queue, to which it `came`.
    #[inline]
    pub fn leave_ingress<S: SignalSink>(&mut self, socket: u16, cha: u16, came: Tick, tick: Tick, sink: &mut S) {
        let spot = self.ledger.level(INGRESS, socket, cha);
        self.ledger.left_ingress(spot, came, tick);
        if self.hearing.hears_level(spot) {
            self.tell::<false, S>(spot, 0, tick, sink);
        }
    }

    /// The ledger as of now.
    pub fn snapshot(&self, now: Tick, pool: &Pool) -> Snapshot {
        let waiting = pool.in_ingress(now).map(|request| (request.socket.into(), request.cha.into(), request.came));
        self.ledger.snapshot(now, waiting)
    }

    /// Says that a level has come to `most` entries, or goes down from there.
    #[inline(never)]
    fn tell<const COMES: bool, S: SignalSink>(&self, spot: LevelSpot, most: u64, tick: Tick, sink: &mut S) {
        let LevelLines { each, full, nonempty } = &self.levels[usize::from(spot.level)];
        let mut say = |line: &Line| {
            let wire = line.wire(self.stride, spot.socket, spot.index);
            if COMES { sink.enter(wire, line.tag(), tick) } else { sink.leave(wire, line.tag(), tick) }
        };
        each.iter().flatten().for_each(&mut say);
        full.iter().filter(|_| most == self.ledger.room(spot.level)).for_each(&mut say);
        nonempty.iter().filter(|_| most == 1).for_each(&mut say);
    }

    /// A request is looked up.
    pub fn look_up<S: SignalSink>(
        &mut self,
        socket: u16,
        cha: u16,
        class: Class,
        found: Found,
        tick: Tick,
        sink: &mut S,
    ) {
        if self.hears(self.requests.lookup, socket, cha) {
            let tag = self.requests.lookup_tag(class, found);
            sink.pulse(self.requests.lookup.wire(self.stride, socket, cha), tag, tick, 1);
        }
        self.ledger.looked_up(socket, cha, class, found);
    }

    /// A request takes an entry of the table of requests.
    pub fn tor_in<S: SignalSink>(&mut self, socket: u16, cha: u16, class: Class, tick: Tick, sink: &mut S) {
        if self.hearing.hears_table(socket, cha) {
            let tag = self.requests.tor_tag(class);
            sink.enter(self.requests.tor.wire(self.stride, socket, cha), tag, tick);
        }
        self.ledger.tor_in(socket, cha, class, tick);
    }

    /// A request gives its entry back.
    pub fn tor_out<S: SignalSink>(&mut self, socket: u16, cha: u16, class: Class, tick: Tick, sink: &mut S) {
        if self.hearing.hears_table(socket, cha) {
            let tag = self.requests.tor_tag(class);
            sink.leave(self.requests.tor.wire(self.stride, socket, cha), tag, tick);
        }
        self.ledger.tor_out(socket, cha, class, tick);
    }

    /// A request is turned away, for the first time or once more.
    #[expect(clippy::too_many_arguments, reason = "a reject is its parts")]
    pub fn turn_away<S: SignalSink>(
        &mut self,
        socket: u16,
        cha: u16,
        queue: Queue,
        reason: Reason,
        once_more: bool,
        tick: Tick,
        sink: &mut S,
    ) {
        let again = if once_more { self.rejects.once_more[reason as usize].as_slice() } else { &[] };
        for line in self.rejects.turned_away[queue as usize][reason as usize].iter().chain(again) {
            self.pulse(*line, line.tag(), (socket, cha), tick, 1, sink);
        }
        self.ledger.turned_away(socket, cha, queue, reason, once_more);
    }

    /// A request that was turned away tries again.
    pub fn retry<S: SignalSink>(
        &mut self,
        socket: u16,
        cha: u16,
        queue: Queue,
        reason: Reason,
        tick: Tick,
        sink: &mut S,
    ) {
        for line in &self.rejects.retries[usize::from(queue != Queue::Evict)][reason as usize] {
            self.pulse(*line, line.tag(), (socket, cha), tick, 1, sink);
        }
        self.ledger.tried_again(socket, cha, queue, reason);
    }

    /// A line gives way to a fill.
    pub fn give_way<S: SignalSink>(&mut self, socket: u16, cha: u16, victim: Victim, tick: Tick, sink: &mut S) {
        let lines = &self.requests;
        self.pulse(lines.victim, lines.victim_tag(victim), (socket, cha), tick, 1, sink);
        self.ledger.gave_way(socket, cha, victim);
    }

    /// A column command of a kind goes out on a half of a channel, and is these deeds.
    #[inline]
    pub fn column<S: SignalSink>(
        &mut self,
        spot: Spot,
        pseudo: u8,
        (kind, deeds): (u8, [Deed; 2]),
        tick: Tick,
        sink: &mut S,
    ) {
        self.ledger.column(spot.socket * self.channels + spot.index, pseudo, kind);
        self.ledger.did_at(deeds, spot);
        let lines = &self.commands;
        if self.hears(lines.columns, spot.socket, spot.index) {
            let tag = |kind: u8| lines.tag(kind, pseudo);
            self.tell_command(lines.columns, tag(kind), spot, tick, sink);
            // Lengths: read, underfill, write, each of a whole line.
            self.tell_command(lines.lengths, tag(kind / 2), spot, tick, sink);
            self.tell_at(deeds, spot, tick, sink);
        }
    }

    /// Says a command of a channel that somebody hears.
    #[inline(never)]
    fn tell_command<S: SignalSink>(&self, line: Line, tag: u64, spot: Spot, tick: Tick, sink: &mut S) {
        sink.pulse(line.wire(self.stride, spot.socket, spot.index), tag, tick, 1);
    }

    /// A message goes out on a link, or (`received`) comes in: its header, in a slot of a flit, and with data nine slots of a line.
    pub fn flits<S: SignalSink>(
        &mut self,
        socket: u16,
        link: u16,
        (message, slot): (LinkMessage, u8),
        received: bool,
        tick: Tick,
        sink: &mut S,
    ) {
        let lines = &self.links;
        let side = usize::from(received);
        let flits = lines.flits[side];
        self.pulse(flits, lines.slot_tag(slot.into(), HEADER), (socket, link), tick, 1, sink);
        if message.has_line() {
            (0..3).for_each(|slot| self.pulse(flits, lines.slot_tag(slot, DATA), (socket, link), tick, 3, sink));
        }
        self.pulse(lines.headers[side], lines.messages[message as usize], (socket, link), tick, 1, sink);
        self.ledger.link_message(socket * lines.links + link, message, slot, received);
    }

    /// Credits for the peer go out on a link, or (`received`) come in: slot 2 of a flit.
    pub fn credit_slot<S: SignalSink>(&mut self, socket: u16, link: u16, received: bool, tick: Tick, sink: &mut S) {
        let lines = &self.links;
        self.pulse(lines.flits[usize::from(received)], lines.slot_tag(2, CREDIT), (socket, link), tick, 1, sink);
        self.ledger.credit_slot(socket * lines.links + link, received);
    }

    /// A stack's port answers a snoop.
    pub fn port_answers<S: SignalSink>(
        &mut self,
        socket: u16,
        stack: u16,
        result: u8,
        snoop: u8,
        tick: Tick,
        sink: &mut S,
    ) {
        let lines = &self.answers;
        let tag = lines.snoop.set(lines.result.set(0, result.into()), snoop.into());
        self.pulse(lines.answers, tag, (socket, stack), tick, 1, sink);
        self.ledger.port_answered(socket, stack, result, snoop);
    }

    /// An activate of a kind goes out on a half of a channel, and is this deed.
    #[inline]
    pub fn activate<S: SignalSink>(
        &mut self,
        spot: Spot,
        pseudo: u8,
        (kind, deed): (u8, Deed),
        tick: Tick,
        sink: &mut S,
    ) {
        self.ledger.activate(spot.socket * self.channels + spot.index, pseudo, kind);
        self.ledger.did_at([deed], spot);
        let lines = &self.commands;
        if self.hears(lines.activates, spot.socket, spot.index) {
            self.tell_at([deed], spot, tick, sink);
            self.tell_command(lines.activates, lines.tag(kind, pseudo), spot, tick, sink);
        }
    }
}
