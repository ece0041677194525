//! Lines go through the data ports of the global queue, messages over the links between sockets.

use pericore_engine::Tick;

use super::Model;
use super::carrier::Load;
use super::event::{Event, NOTHING};
use pericore_facts::nehalem::{Class, LINKS, NehalemFact, NehalemReader as Facts, Port, Use};

impl Model {
    /// Brings a line through a data port, behind those that came before; then `then` happens.
    pub(super) fn carry<R: Facts>(&mut self, socket: usize, port: Port, then: u32, reader: &mut R) {
        let from_outside = matches!(port, Port::FromLinks | Port::FromMemory);
        let ticks = if from_outside { self.times.outer_port } else { self.times.port };
        let load = Load { ticks, then, class: None };
        let carrier = &mut self.sockets[socket].ports[port as usize];
        if carrier.current.is_some() {
            carrier.queue.push_back(load);
            return;
        }
        carrier.begin(load, self.now);
        let subject = (socket * Port::COUNT + port as usize) as u16;
        self.wheel.schedule(carrier.end, Event::PortFree.of(subject));
        reader.read(self.now, NehalemFact::Begins(socket as u8, Use::Port(port)));
    }

    /// A port has carried its load.
    pub(super) fn port_free<R: Facts>(&mut self, subject: u16, reader: &mut R) {
        let (socket, port) = (usize::from(subject) / Port::COUNT, usize::from(subject) % Port::COUNT);
        let carrier = &mut self.sockets[socket].ports[port];
        let done = carrier.current.take();
        if let Some(next) = carrier.queue.pop_front() {
            carrier.end += next.ticks;
            carrier.current = Some(next);
            self.wheel.schedule(carrier.end, Event::PortFree.of(subject));
        } else {
            let since = carrier.since;
            reader.read(self.now, NehalemFact::Ends(socket as u8, Use::Port(Port::ALL[port]), since));
        }
        self.dispatch(done.map_or(NOTHING, |load| load.then), reader);
    }

    /// Sends a message over a link, once there is a credit for its class; `then` happens where it arrives.
    pub(super) fn send<R: Facts>(&mut self, socket: usize, link: usize, class: Class, then: u32, reader: &mut R) {
        let state = &mut self.sockets[socket].links[link];
        let waiting = &mut state.waiting[class as usize];
        if state.credits[class as usize] > 0 && waiting.is_empty() {
            state.credits[class as usize] -= 1;
            self.transmit(socket, link, class, then, reader);
            return;
        }
        waiting.push_back(then);
        if waiting.len() == 1 {
            state.stalled[class as usize] = self.now;
            reader.read(self.now, NehalemFact::Begins(socket as u8, Use::NoCredit(link as u8, class)));
        }
    }

    fn transmit<R: Facts>(&mut self, socket: usize, link: usize, class: Class, then: u32, reader: &mut R) {
        let load = Load { ticks: class.flits() * self.times.flit, then, class: Some(class) };
        let carrier = &mut self.sockets[socket].links[link].carrier;
        if carrier.current.is_some() {
            carrier.queue.push_back(load);
            return;
        }
        carrier.begin(load, self.now);
        self.wheel.schedule(carrier.end, Event::LinkFree.of((socket * LINKS + link) as u16));
        reader.read(self.now, NehalemFact::Begins(socket as u8, Use::Link(link as u8)));
    }

    /// A link has sent its message's last flit.
    pub(super) fn link_free<R: Facts>(&mut self, subject: u16, reader: &mut R) {
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
            let since = carrier.since;
            reader.read(self.now, NehalemFact::Ends(socket as u8, Use::Link(link as u8), since));
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
    pub(super) fn credit<R: Facts>(&mut self, subject: u16, reader: &mut R) {
        let (at, class) = (usize::from(subject) / Class::COUNT, Class::ALL[usize::from(subject) % Class::COUNT]);
        let (socket, link) = (at / LINKS, at % LINKS);
        let state = &mut self.sockets[socket].links[link];
        let waiting = &mut state.waiting[class as usize];
        let Some(then) = waiting.pop_front() else {
            state.credits[class as usize] += 1;
            return;
        };
        if waiting.is_empty() {
            let since = state.stalled[class as usize];
            reader.read(self.now, NehalemFact::Ends(socket as u8, Use::NoCredit(link as u8, class), since));
        }
        self.transmit(socket, link, class, then, reader);
    }
}
