//! Credits of an agent for messages to the other socket, and requests that are turned away for want of one.
//!
//! A credit stands for room at the link's mesh side, and is free when the message has left it. Links never wait for
//! agents, so who waits for a credit gets one. What goes to its home also takes entries there, until the home is done
//! with it: that waits for memory, and for nothing of the agent.

mod egress;

use std::collections::VecDeque;

use pericore_engine::Tick;

use super::Model;
use super::event::Event;
use super::request::{Request, RequestId, RequestQueue};
use pericore_facts::emerald_rapids::{Found, Kind, Queue, Readers, Reason};

/// Credits of an agent: for requests, responses, data, writebacks (assumption: unpublished; enough for a link's published bandwidth,
/// of which a sixteenth is an agent's).
const ALL: [i16; Reason::COUNT] = [0, 8, 16, 16, 16, 0, 0];
/// Entries at the other socket's home beyond those of requests that writes may take, and that they have while requests
/// wait: then at least one request gets through beside them (assumption).
const FOR_WRITES: i16 = 4;
/// Answers for which there is room from the start: an agent's table of requests has no more entries.
const ANSWERS: usize = 32;

/// An agent's credits for the other socket.
#[derive(Debug)]
pub struct LinkCredits {
    free: [i16; Reason::COUNT],
    /// Entries at the other socket's home for requests.
    entries: i16,
    /// Those that are taken, and of them those that writes have. What comes last may take up to two more than there are.
    taken: i16,
    written: i16,
    /// Requests that wait for one, for all reasons.
    waiters: u16,
}

/// What an agent keeps back for want of a credit.
#[derive(Debug)]
pub struct Unsent {
    waiting: [RequestQueue; Reason::COUNT],
    /// Data for the other socket that came to the agent, and when it is there.
    answers: VecDeque<(Tick, RequestId)>,
}

impl LinkCredits {
    /// All credits there, and so many entries at the other socket's home.
    pub fn new(home_entries: u8) -> Self {
        Self { free: ALL, entries: home_entries.into(), taken: 0, written: 0, waiters: 0 }
    }

    /// True if there is none of a kind, or no entry at the other socket's home for what would go there, while requests
    /// wait for one there or not.
    #[inline]
    pub const fn is_short(&self, of: Reason, requests_wait: bool) -> bool {
        let none_left = match of {
            Reason::Request => self.taken >= self.entries,
            Reason::Writeback if requests_wait => self.written >= FOR_WRITES,
            Reason::Writeback => self.taken >= self.entries + FOR_WRITES,
            _ => false,
        };
        none_left || self.free[of as usize] <= 0
    }
}

/// True if a request writes its line at the home.
const fn is_write(kind: Kind) -> bool {
    matches!(kind.queue(), Queue::RemoteWriteback)
}

/// Entries that a request takes at its home. One for ownership and a write take three (fitted to a mix of loads and
/// stores in the other socket's memory): of the first, memory writes the directory bits nearly always.
const fn home_entries(kind: Kind) -> i16 {
    if kind.owns() || is_write(kind) { 3 } else { 1 }
}

impl Unsent {
    /// Nothing.
    pub fn new() -> Self {
        Self { waiting: [RequestQueue::EMPTY; Reason::COUNT], answers: VecDeque::with_capacity(ANSWERS) }
    }

    /// True if requests wait for a credit of a kind.
    pub const fn wait_for(&self, of: Reason) -> bool {
        !self.waiting[of as usize].is_empty()
    }
}

#[cfg(test)]
impl super::agent::Agent {
    /// True if all credits are there and nobody waits for one.
    pub fn has_all_credits(&self) -> bool {
        self.links.free == ALL && self.links.taken == 0 && self.links.waiters == 0 && self.unsent.answers.is_empty()
    }
}

impl Model {
    /// Spends a credit of an agent.
    pub(super) fn spend(&mut self, socket: u8, cha: u8, on: Reason) {
        self.agent(socket, cha).links.free[on as usize] -= 1;
    }

    /// The credit that a request would need and its agent does not have.
    #[inline]
    pub(super) fn shortage(&mut self, request: RequestId) -> Option<Reason> {
        let Request { socket, home, class, .. } = self.pool[request];
        let stays = home == socket && matches!(class.kind.queue(), Queue::Core | Queue::Io);
        if self.sockets == 1 || stays { None } else { self.shortage_away(request) }
    }

    /// The same for a request that may have something to send to the other socket.
    #[inline(never)]
    fn shortage_away(&mut self, request: RequestId) -> Option<Reason> {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        let kind = class.kind;
        let wanted = match kind.queue() {
            Queue::Core | Queue::Io if kind.is_device() || kind.is_writeback() => return None,
            Queue::Core | Queue::Io => match kind {
                Kind::DmaWriteback => return None,
                Kind::StreamFull | Kind::StreamPart | Kind::DmaWriteAround => Reason::Writeback,
                Kind::Flush | Kind::FlushOpt | Kind::Clean => Reason::Writeback,
                _ => Reason::Request,
            },
            Queue::Remote if kind == Kind::RemoteClaim => Reason::Response,
            Queue::RemoteWriteback => Reason::Response,
            Queue::Snoop => Reason::Data,
            Queue::Remote | Queue::Evict => return None,
        };
        // What is here needs nothing from there; a snoop of what is not here is answered without data.
        let short = |model: &mut Self, of: Reason| model.agent(socket, cha).is_short(of).then_some(of);
        match wanted {
            Reason::Request => short(self, wanted).filter(|_| !self.is_served_here(socket, cha, line, kind.owns())),
            Reason::Data => match self.look_up(socket, cha, line).0 {
                Found::Nothing => short(self, Reason::Response),
                // It is given up without data, unless a core's store is on its way to it.
                Found::Shared | Found::FilterShared if kind.owns() => {
                    short(self, Reason::Response).or_else(|| short(self, Reason::Data))
                }
                _ => short(self, Reason::Data),
            },
            _ => short(self, wanted),
        }
    }

    /// True if the slice or a core of this socket can give a line away, with the right to write if one `owns` it then.
    fn is_served_here(&mut self, socket: u8, cha: u8, line: u32, owns: bool) -> bool {
        let (found, way) = self.look_up(socket, cha, line);
        match found {
            Found::Nothing | Found::FilterShared | Found::FilterHitme => false,
            Found::FilterExclusive => way.is_some_and(|way| self.owner_has(socket, cha, line, way)),
            Found::Shared | Found::Forward => !owns,
            Found::Exclusive | Found::Modified => true,
        }
    }

    /// Turns a request away until its agent has a credit again.
    pub(super) fn wait_for_credit<R: Readers>(&mut self, request: RequestId, of: Reason, reader: &mut R) {
        let Request { socket, cha, .. } = self.pool[request];
        self.report_reject(request, of, reader);
        let number = self.agent_number(socket, cha);
        let agent = &mut self.agents[usize::from(number)];
        agent.unsent.waiting[of as usize].push_back(request, &mut self.pool);
        agent.links.waiters += 1;
    }

    /// A request is turned away.
    pub(super) fn report_reject<R: Readers>(&mut self, request: RequestId, reason: Reason, reader: &mut R) {
        let Request { socket, cha, class, turned_away, .. } = self.pool[request];
        self.pool[request].turned_away = true;
        let queue = class.kind.queue();
        reader.turn_away(socket.into(), cha.into(), queue, reason, turned_away, self.now);
    }

    /// A request goes to its home in the other socket.
    pub(super) fn take_home_entries(&mut self, socket: u8, cha: u8, kind: Kind) {
        let (links, entries) = (&mut self.agent(socket, cha).links, home_entries(kind));
        links.taken += entries;
        links.written += if is_write(kind) { entries } else { 0 };
    }

    /// Its home is done with it.
    pub(super) fn give_home_entries<R: Readers>(&mut self, socket: u8, cha: u8, kind: Kind, reader: &mut R) {
        let (links, entries) = (&mut self.agent(socket, cha).links, home_entries(kind));
        links.taken -= entries;
        links.written -= if is_write(kind) { entries } else { 0 };
        self.next_victim(socket, cha, reader);
        self.wake_waiters(socket, cha, reader);
    }

    /// A message has left the link's mesh side: its credit is free.
    pub(super) fn give_credit<R: Readers>(&mut self, socket: u8, cha: u8, of: Reason, reader: &mut R) {
        self.agent(socket, cha).links.free[of as usize] += 1;
        match of {
            Reason::Writeback => self.next_victim(socket, cha, reader),
            Reason::Data => self.next_answer(socket, cha, reader),
            _ => {}
        }
        self.wake_waiters(socket, cha, reader);
    }

    /// Keeps data for the other socket at its agent, where it comes at `arrives`, until there is a credit.
    pub(super) fn hold_answer<R: Readers>(&mut self, request: RequestId, arrives: Tick, reader: &mut R) {
        let Request { socket, cha, .. } = self.pool[request];
        reader.turn_away(socket.into(), cha.into(), Queue::Evict, Reason::Data, false, self.now);
        self.agent(socket, cha).unsent.answers.push_back((arrives, request));
    }

    /// Sends the data that has waited longest.
    fn next_answer<R: Readers>(&mut self, socket: u8, cha: u8, reader: &mut R) {
        let Some((arrives, request)) = self.agent(socket, cha).unsent.answers.pop_front() else { return };
        reader.retry(socket.into(), cha.into(), Queue::Evict, Reason::Data, self.now);
        let from = self.places.cha[usize::from(cha)];
        let wait = arrives.saturating_sub(self.now);
        self.send_answer(request, (from, 0), wait, false, reader);
        self.wheel.schedule(self.now + wait, Event::Release.of(request));
    }

    /// Lets the first of those try again whose credit is there. Called again when that one has been looked at: it may not need the
    /// credit any more. Nearly always nobody waits.
    #[inline]
    pub(super) fn wake_waiters<R: Readers>(&mut self, socket: u8, cha: u8, reader: &mut R) {
        if self.agent(socket, cha).links.waiters > 0 {
            self.wake_waiter(socket, cha, reader);
        }
    }

    #[inline(never)]
    fn wake_waiter<R: Readers>(&mut self, socket: u8, cha: u8, reader: &mut R) {
        let number = self.agent_number(socket, cha);
        let agent = &mut self.agents[usize::from(number)];
        let ready = |&&of: &&Reason| !agent.is_short(of) && agent.unsent.wait_for(of);
        let Some(&of) = Reason::ALL.iter().find(ready) else { return };
        let Some(request) = agent.unsent.waiting[of as usize].pop_front(&mut self.pool) else { return };
        agent.links.waiters -= 1;
        self.try_again(request, of, reader);
        self.wake_pipeline(socket, cha, self.now);
    }

    /// A request that was turned away goes back to the front of its queue.
    pub(super) fn try_again<R: Readers>(&mut self, request: RequestId, reason: Reason, reader: &mut R) {
        let Request { socket, cha, class, .. } = self.pool[request];
        let queue = class.kind.queue();
        reader.retry(socket.into(), cha.into(), queue, reason, self.now);
        let number = self.agent_number(socket, cha);
        self.agents[usize::from(number)].queue(queue).push_front(request, &mut self.pool);
    }

    /// Starts the next line that must go to memory, if one waits, there is an entry for it, and room on its way.
    #[inline]
    pub(super) fn next_victim<R: Readers>(&mut self, socket: u8, cha: u8, reader: &mut R) {
        if let Some(victim) = self.agent(socket, cha).victims.front() {
            self.try_victim(victim, reader);
        }
    }

    #[inline(never)]
    fn try_victim<R: Readers>(&mut self, victim: RequestId, reader: &mut R) {
        let Request { socket, cha, line, home, turned_away, .. } = self.pool[victim];
        let agent = self.agent(socket, cha);
        if !agent.can_start(line) {
            return;
        }
        if home != socket && agent.is_short(Reason::Writeback) {
            if !turned_away {
                self.report_reject(victim, Reason::Writeback, reader);
            }
            return;
        }
        let number = self.agent_number(socket, cha);
        self.agents[usize::from(number)].victims.pop_front(&mut self.pool);
        if turned_away {
            reader.retry(socket.into(), cha.into(), Queue::Evict, Reason::Writeback, self.now);
        }
        self.start_victim(victim, reader);
    }
}
