//! Credits of an agent for messages to the other socket, and requests that are turned away for want of one.
//!
//! A credit stands for room at the link's mesh side, and is free when the message has left it. Links never wait for agents, so whoever
//! waits for a credit gets one.

use super::Model;
use super::event::Event;
use super::request::{NO_REQUEST, Request, RequestId};
use crate::ledger::emerald_rapids::{Found, Kind, Queue, Reason};
use crate::signal::{SignalSink, Tick};
use std::collections::VecDeque;

/// Credits of an agent: for requests, responses, data, writebacks (assumption: unpublished; enough for a link's published bandwidth,
/// of which a sixteenth is an agent's).
const ALL: [i16; Reason::COUNT] = [0, 8, 16, 16, 16];
/// Requests for which a queue has room from the start: an agent's table of requests has no more entries.
const WAITERS: usize = 32;

/// An agent's credits for the other socket, and who waits for one.
#[derive(Debug)]
pub struct LinkCredits {
    free: [i16; Reason::COUNT],
    waiting: [VecDeque<RequestId>; Reason::COUNT],
    /// Data for the other socket that came to the agent for want of a credit, and when it is there.
    answers: VecDeque<(Tick, RequestId)>,
    /// Requests that wait, for all reasons.
    waiters: u16,
}

impl LinkCredits {
    /// All credits there.
    pub fn new() -> Self {
        Self {
            free: ALL,
            waiting: std::array::from_fn(|_| VecDeque::with_capacity(WAITERS)),
            answers: VecDeque::with_capacity(WAITERS),
            waiters: 0,
        }
    }

    /// True if all credits are there and nobody waits.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.free == ALL && self.waiters == 0 && self.answers.is_empty()
    }

    /// True if there is none of a kind.
    #[inline]
    pub const fn is_short(&self, of: Reason) -> bool {
        self.free[of as usize] <= 0
    }
}

impl Model {
    /// Spends a credit of an agent.
    pub(super) fn spend(&mut self, socket: u8, cha: u8, on: Reason) {
        self.agent(socket, cha).links.free[on as usize] -= 1;
    }

    /// The credit that a request would need and its agent does not have.
    pub(super) fn shortage(&mut self, request: RequestId) -> Option<Reason> {
        if self.sockets == 1 {
            return None;
        }
        let Request { socket, cha, home, line, class, .. } = self.pool[request];
        let kind = class.kind;
        let wanted = match kind.queue() {
            Queue::Core | Queue::Io if home == socket || kind.is_device() || kind.is_writeback() => return None,
            Queue::Core | Queue::Io => match kind {
                Kind::DmaWriteback => return None,
                Kind::StreamFull | Kind::StreamPart | Kind::Flush | Kind::FlushOpt => Reason::Writeback,
                _ => Reason::Request,
            },
            Queue::Remote if kind == Kind::RemoteClaim => Reason::Response,
            Queue::RemoteWriteback => Reason::Response,
            Queue::Snoop => Reason::Data,
            Queue::Remote | Queue::Evict => return None,
        };
        // What is here needs nothing from there; a snoop of what is not here is answered without data.
        let short = |model: &mut Self, of: Reason| model.agent(socket, cha).links.is_short(of).then_some(of);
        match wanted {
            Reason::Request => short(self, wanted).filter(|_| !self.is_served_here(socket, cha, line)),
            Reason::Data if self.look_up(socket, cha, line) == Found::Nothing => short(self, Reason::Response),
            _ => short(self, wanted),
        }
    }

    /// True if the slice or a core of this socket can give a line away.
    fn is_served_here(&mut self, socket: u8, cha: u8, line: u32) -> bool {
        match self.look_up(socket, cha, line) {
            Found::Nothing | Found::FilterShared | Found::FilterHitme => false,
            Found::FilterExclusive => self.owner_has(socket, cha, line),
            Found::Shared | Found::Exclusive | Found::Modified | Found::Forward => true,
        }
    }

    /// Turns a request away until its agent has a credit again.
    pub(super) fn wait_for_credit<S: SignalSink>(&mut self, request: RequestId, of: Reason, sink: &mut S) {
        let Request { socket, cha, .. } = self.pool[request];
        self.tell_reject(request, of, sink);
        let links = &mut self.agent(socket, cha).links;
        links.waiting[of as usize].push_back(request);
        links.waiters += 1;
    }

    /// A request is turned away.
    pub(super) fn tell_reject<S: SignalSink>(&mut self, request: RequestId, reason: Reason, sink: &mut S) {
        let Request { socket, cha, class, turned_away, .. } = self.pool[request];
        self.pool[request].turned_away = true;
        let queue = class.kind.queue();
        self.account.turn_away(socket.into(), cha.into(), queue, reason, turned_away, self.now, sink);
    }

    /// A message has left the link's mesh side: its credit is free.
    pub(super) fn give_credit<S: SignalSink>(&mut self, socket: u8, cha: u8, of: Reason, sink: &mut S) {
        self.agent(socket, cha).links.free[of as usize] += 1;
        match of {
            Reason::Writeback => self.next_victim(socket, cha, sink),
            Reason::Data => self.next_answer(socket, cha, sink),
            _ => {}
        }
        self.wake_waiters(socket, cha, sink);
    }

    /// Keeps data for the other socket at its agent, where it comes at `arrives`, until there is a credit.
    pub(super) fn hold_answer<S: SignalSink>(&mut self, request: RequestId, arrives: Tick, sink: &mut S) {
        let Request { socket, cha, .. } = self.pool[request];
        self.account.turn_away(socket.into(), cha.into(), Queue::Evict, Reason::Data, false, self.now, sink);
        self.agent(socket, cha).links.answers.push_back((arrives, request));
    }

    /// Sends the data that has waited longest.
    fn next_answer<S: SignalSink>(&mut self, socket: u8, cha: u8, sink: &mut S) {
        let Some((arrives, request)) = self.agent(socket, cha).links.answers.pop_front() else { return };
        self.account.retry(socket.into(), cha.into(), Queue::Evict, Reason::Data, self.now, sink);
        let from = self.places.cha[usize::from(cha)];
        let wait = arrives.saturating_sub(self.now);
        self.send_answer(request, from, wait, sink);
        self.wheel.schedule(self.now + wait, Event::Release.of(request));
    }

    /// Lets the first of those try again whose credit is there. Called again when that one has been looked at: it may not need the
    /// credit any more.
    pub(super) fn wake_waiters<S: SignalSink>(&mut self, socket: u8, cha: u8, sink: &mut S) {
        let links = &mut self.agent(socket, cha).links;
        if links.waiters == 0 {
            return;
        }
        let ready = |&&of: &&Reason| !links.is_short(of) && !links.waiting[of as usize].is_empty();
        let Some(&of) = Reason::ALL.iter().find(ready) else { return };
        let Some(request) = links.waiting[of as usize].pop_front() else { return };
        links.waiters -= 1;
        self.try_again(request, of, sink);
        self.wake_pipeline(socket, cha, self.now);
    }

    /// A request that was turned away goes back to the front of its queue.
    pub(super) fn try_again<S: SignalSink>(&mut self, request: RequestId, reason: Reason, sink: &mut S) {
        let Request { socket, cha, class, .. } = self.pool[request];
        debug_assert!(self.pool[request].next == NO_REQUEST);
        let queue = class.kind.queue();
        self.account.retry(socket.into(), cha.into(), queue, reason, self.now, sink);
        let agent = self.agent(socket, cha);
        let local = matches!(queue, Queue::Core | Queue::Io);
        if local { &mut agent.ingress } else { &mut agent.outside }.push_front((0, request));
    }

    /// Starts the next line that must go to memory, if there is an entry for it, and room on its way.
    pub(super) fn next_victim<S: SignalSink>(&mut self, socket: u8, cha: u8, sink: &mut S) {
        let Some(&victim) = self.agent(socket, cha).victims.front() else { return };
        let Request { line, home, turned_away, .. } = self.pool[victim];
        let agent = self.agent(socket, cha);
        if !agent.can_start(line) {
            return;
        }
        if home != socket && agent.links.is_short(Reason::Writeback) {
            if !turned_away {
                self.tell_reject(victim, Reason::Writeback, sink);
            }
            return;
        }
        agent.victims.pop_front();
        if turned_away {
            self.account.retry(socket.into(), cha.into(), Queue::Evict, Reason::Writeback, self.now, sink);
        }
        self.start_victim(victim, sink);
    }
}
