//! Data ports of the global queue and links between sockets: what can carry one thing at a time.

use std::collections::VecDeque;

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::event::{Event, NOTHING};
use crate::ledger::nehalem::{Class, LINKS, Level, Port};

/// Something that is carried for some time, and what happens then.
#[derive(Debug, Clone, Copy)]
struct Load {
    ticks: Tick,
    then: u32,
    class: Option<Class>,
}

/// Carries one load after the other.
#[derive(Debug, Default)]
pub struct Carrier {
    /// When the load under way ends, exactly; the model notices at the next edge.
    end: Tick,
    current: Option<Load>,
    queue: VecDeque<Load>,
}

impl Carrier {
    /// True if nothing is carried.
    pub const fn is_idle(&self) -> bool {
        self.current.is_none()
    }
}

/// A link in one direction: its sender.
#[derive(Debug, Default)]
pub struct Link {
    carrier: Carrier,
    credits: [u8; Class::COUNT],
    waiting: [VecDeque<u32>; Class::COUNT],
}

impl Link {
    /// An idle link with all its credits.
    pub fn new(credits: [u8; Class::COUNT]) -> Self {
        Self { credits, ..Self::default() }
    }

    /// True if nothing is carried or waits.
    pub fn is_idle(&self) -> bool {
        self.carrier.is_idle() && self.waiting.iter().all(VecDeque::is_empty)
    }
}

impl Model {
    /// Brings a line through a data port, behind those that came before; then `then` happens.
    pub(super) fn carry<S: SignalSink>(&mut self, socket: usize, port: Port, then: u32, sink: &mut S) {
        let load = Load { ticks: self.times.port, then, class: None };
        let carrier = &mut self.sockets[socket].ports[port as usize];
        if carrier.current.is_some() {
            carrier.queue.push_back(load);
            return;
        }
        carrier.current = Some(load);
        carrier.end = self.now + load.ticks;
        let subject = (socket * Port::COUNT + port as usize) as u16;
        self.wheel.schedule(carrier.end, Event::PortFree.of(subject));
        self.raise(socket, Level::port(port), sink);
    }

    /// A port has carried its load.
    pub(super) fn port_free<S: SignalSink>(&mut self, subject: u16, sink: &mut S) {
        let (socket, port) = (usize::from(subject) / Port::COUNT, usize::from(subject) % Port::COUNT);
        let carrier = &mut self.sockets[socket].ports[port];
        let done = carrier.current.take();
        if let Some(next) = carrier.queue.pop_front() {
            carrier.end += next.ticks;
            carrier.current = Some(next);
            self.wheel.schedule(carrier.end, Event::PortFree.of(subject));
        } else {
            self.lower(socket, Level::port(Port::ALL[port]), sink);
        }
        self.dispatch(done.map_or(NOTHING, |load| load.then), sink);
    }

    /// Sends a message over a link, once there is a credit for its class; `then` happens where it arrives.
    pub(super) fn send<S: SignalSink>(&mut self, socket: usize, link: usize, class: Class, then: u32, sink: &mut S) {
        let state = &mut self.sockets[socket].links[link];
        let waiting = &mut state.waiting[class as usize];
        if state.credits[class as usize] > 0 && waiting.is_empty() {
            state.credits[class as usize] -= 1;
            self.transmit(socket, link, class, then, sink);
            return;
        }
        waiting.push_back(then);
        if waiting.len() == 1 {
            self.raise(socket, Level::stall(link, class), sink);
        }
    }

    fn transmit<S: SignalSink>(&mut self, socket: usize, link: usize, class: Class, then: u32, sink: &mut S) {
        let load = Load { ticks: class.flits() * self.times.flit, then, class: Some(class) };
        let carrier = &mut self.sockets[socket].links[link].carrier;
        if carrier.current.is_some() {
            carrier.queue.push_back(load);
            return;
        }
        carrier.current = Some(load);
        carrier.end = self.now + load.ticks;
        self.wheel.schedule(carrier.end, Event::LinkFree.of((socket * LINKS + link) as u16));
        self.raise(socket, Level::header(link), sink);
    }

    /// A link has sent its message's last flit.
    pub(super) fn link_free<S: SignalSink>(&mut self, subject: u16, sink: &mut S) {
        let (socket, link) = (usize::from(subject) / LINKS, usize::from(subject) % LINKS);
        let carrier = &mut self.sockets[socket].links[link].carrier;
        let Some(done) = carrier.current.take() else { return };
        let sent = carrier.end;
        if let Some(next) = carrier.queue.pop_front() {
            // Flits do not wait for the uncore's edges.
            carrier.end += next.ticks;
            carrier.current = Some(next);
            let at = carrier.end.max(self.now);
            self.wheel.schedule(at, Event::LinkFree.of(subject));
        } else {
            self.lower(socket, Level::header(link), sink);
        }
        let arrives = (sent + self.times.link).max(self.now);
        self.wheel.schedule(arrives, done.then);
        // Snoops keep their credit until the peer probe tracker has taken them in.
        if let Some(class) = done.class.filter(|&class| class != Class::Snoop) {
            self.return_credit(socket, link, class, arrives);
        }
    }

    /// A receiver that has taken a message in gives its credit back.
    pub(super) fn return_credit(&mut self, socket: usize, link: usize, class: Class, taken: Tick) {
        let subject = (socket * LINKS + link) * Class::COUNT + class as usize;
        self.wheel.schedule(taken + self.times.link, Event::Credit.of(subject as u16));
    }

    /// A link has a credit again.
    pub(super) fn credit<S: SignalSink>(&mut self, subject: u16, sink: &mut S) {
        const CLASSES: [Class; Class::COUNT] =
            [Class::Home, Class::Snoop, Class::Response, Class::Data, Class::Bypass, Class::Standard];
        let (at, class) = (usize::from(subject) / Class::COUNT, CLASSES[usize::from(subject) % Class::COUNT]);
        let (socket, link) = (at / LINKS, at % LINKS);
        let state = &mut self.sockets[socket].links[link];
        let waiting = &mut state.waiting[class as usize];
        let Some(then) = waiting.pop_front() else {
            state.credits[class as usize] += 1;
            return;
        };
        if waiting.is_empty() {
            self.lower(socket, Level::stall(link, class), sink);
        }
        self.transmit(socket, link, class, then, sink);
    }
}
