//! Traffic between devices of different stacks, of one socket or of two.
//!
//! A device writes or reads a kilobyte of another one, line by line. Each line needs a credit for the other stack, or for the link to
//! the other socket: one of a pool that all destinations share, or else the one that is kept for the destination. Without either it
//! waits in the coherent port (IRP) of its stack. The credit comes back when the line, or the answer to a read, has been taken.

use std::collections::VecDeque;

use pericore_engine::Pool;

use super::Model;
use super::address::{PORTS, port};
use super::device::{DEVICE, THROUGH};
use super::event::Event;
use super::layout::LINKS as BUILT_LINKS;
use super::link::Packet;
use pericore_facts::emerald_rapids::{Fact, LinkMessage, PeerLine, PeerStation, Readers, Taker, stop_port};
use pericore_workload::MessageKind;

/// Stacks and links that the events have rows for; others do not talk to each other here.
const STACKS: u8 = 6;
const LINKS: u8 = 3;
/// Lines of a transfer.
const LINES: u16 = 16;
/// Lines that wait in a stack from which on its device begins no other transfer: far more than one that keeps up ever has.
const WAITING: usize = 1024;
/// Shared credits of a stack for its own socket and for the other one, by class, and those kept for each destination (assumptions).
const SHARED: [u8; 2] = [4, 2];
const KEPT: u8 = 1;

/// A line between two devices.
#[derive(Debug, Clone, Copy)]
struct Peer {
    line: PeerLine,
    /// It has waited for a credit.
    waits: bool,
    /// It has gone through the other stack's mesh stop.
    passed: bool,
    /// The device of a workload whose access it is, or a number that none has.
    device: u16,
}

/// Where its credits are, among those of local and remote destinations: of the pool, and of its destination.
fn credits(line: &PeerLine) -> (usize, usize, usize) {
    (usize::from(line.is_remote()), line.class(), usize::from(line.destination()) * 2 + line.class())
}

/// What a stack has for its devices.
#[derive(Debug)]
struct Source {
    waiting: VecDeque<u16>,
    /// By local or remote, and class.
    shared: [[u8; 2]; 2],
    /// By destination, local and remote.
    kept: [[u8; 2 * STACKS as usize]; 2],
}

/// Lines under way between devices.
#[derive(Debug)]
pub struct Peers {
    lines: Pool<Peer>,
    /// Of these, accesses of a workload's devices.
    accesses: u32,
    /// By socket and stack.
    sources: Vec<Source>,
}

impl Peers {
    /// Nothing under way.
    pub fn new(sockets: u8) -> Self {
        let source = |_| Source {
            waiting: VecDeque::new(),
            shared: SHARED.map(|count| [count; 2]),
            kept: [[KEPT; 2 * STACKS as usize]; 2],
        };
        Self { lines: Pool::new(0), accesses: 0, sources: (0..sockets * STACKS).map(source).collect() }
    }

    /// True if no access of a workload's device is under way.
    pub const fn is_workload_done(&self) -> bool {
        self.accesses == 0
    }

    fn source(&mut self, line: &PeerLine) -> &mut Source {
        &mut self.sources[usize::from(line.socket * STACKS + line.stack)]
    }

    /// Takes a credit for a line: shared or kept.
    fn take(&mut self, line: &PeerLine) -> Option<bool> {
        let (far, class, destination) = credits(line);
        let source = self.source(line);
        for (shared, left) in [(true, &mut source.shared[far][class]), (false, &mut source.kept[far][destination])] {
            if *left > 0 {
                *left -= 1;
                return Some(shared);
            }
        }
        None
    }

    fn give_back(&mut self, line: &PeerLine) {
        let (far, class, destination) = credits(line);
        let source = self.source(line);
        *(if line.shared { &mut source.shared[far][class] } else { &mut source.kept[far][destination] }) += 1;
    }
}

impl Model {
    /// A device begins a transfer to or from another one, unless too much of its own still waits. Stacks, links and sockets take turns.
    pub(super) fn start_peers<R: Readers>(&mut self, socket: u16, kind: MessageKind, turn: u32, reader: &mut R) {
        let reads = kind == MessageKind::PeerRead;
        let stack = (turn % u32::from(STACKS)) as u8;
        let further = 1 + (turn / u32::from(STACKS) % u32::from(STACKS - 1)) as u8;
        let far = self.sockets == 2 && turn / 2 % 2 == 1;
        if self.peers.sources[usize::from(socket as u8 * STACKS + stack)].waiting.len() >= WAITING {
            return;
        }
        let link = far.then_some((turn % u32::from(LINKS)) as u8);
        let (socket, to) = (socket as u8, (stack + further) % STACKS);
        for number in 0..LINES {
            let port = ((turn as u16 % PORTS + number / 4) % PORTS) as u8;
            let line = PeerLine { reads, socket, stack, link, to, port, shared: true };
            self.peer_enters(line, u16::MAX, reader);
        }
        self.send_peers(socket, stack, reader);
    }

    /// A device of a workload writes a line to another one, or reads it there: of its own socket, or of the other where
    /// the line's memory is the other's.
    pub(super) fn peer_access<R: Readers>(
        &mut self,
        (socket, stack): (u8, u16),
        device: u16,
        (line, writes): (u32, bool),
        reader: &mut R,
    ) {
        let stack = (stack % u16::from(STACKS)) as u8;
        let further = 1 + (line / u32::from(PORTS) % u32::from(STACKS - 1)) as u8;
        let far = self.target(line).1 != socket;
        let link = far.then_some((line % u32::from(LINKS)) as u8);
        let to = (stack + further) % STACKS;
        let line = PeerLine { reads: !writes, socket, stack, link, to, port: port(line), shared: true };
        self.peers.accesses += 1;
        self.peer_enters(line, device, reader);
        self.send_peers(socket, stack, reader);
    }

    /// A line comes into its stack.
    fn peer_enters<R: Readers>(&mut self, line: PeerLine, device: u16, reader: &mut R) {
        self.devices_request(line.socket, reader);
        reader.read(self.now, Fact::Peer(PeerStation::Enters, line));
        let id = self.peers.lines.add(Peer { line, waits: false, passed: false, device });
        self.peers.source(&line).waiting.push_back(id);
    }

    /// Sends what waits in a stack, in order, as long as there are credits.
    pub(super) fn send_peers<R: Readers>(&mut self, socket: u8, stack: u8, reader: &mut R) {
        let number = usize::from(socket * STACKS + stack);
        while let Some(&id) = self.peers.sources[number].waiting.front() {
            let Peer { mut line, waits, .. } = self.peers.lines[id];
            if !waits && !self.line_may_leave(socket, stack.into(), reader) {
                return;
            }
            let Some(shared) = self.peers.take(&line) else {
                // The first in line waits for a credit, the others for it.
                if !std::mem::replace(&mut self.peers.lines[id].waits, true) {
                    reader.read(self.now, Fact::Peer(PeerStation::Waits, line));
                }
                return;
            };
            self.peers.sources[number].waiting.pop_front();
            line.shared = shared;
            self.peers.lines[id].line = line;
            reader.read(self.now, Fact::Peer(PeerStation::Leaves(waits), line));
            let message = if line.reads { LinkMessage::PeerRead } else { LinkMessage::PeerWrite };
            let packet = Packet::new(message).for_taker(Some(Taker::Stack(line.to)));
            self.between_stacks(socket, stack, &line, packet, Event::PeerArrive.of(id), reader);
        }
    }

    /// A message goes from a stack of a socket to the other end of a line's way.
    fn between_stacks<R: Readers>(
        &mut self,
        socket: u8,
        stack: u8,
        line: &PeerLine,
        packet: Packet,
        then: u32,
        reader: &mut R,
    ) {
        let other = if (socket, stack) == (line.socket, line.stack) { line.to } else { line.stack };
        let (from, to) = (self.places.m2pcie[usize::from(stack)], self.places.m2pcie[usize::from(other)]);
        let port = stop_port(line.port);
        match line.link {
            Some(link) => {
                // As agents of such numbers do, stacks take turns with the virtual networks.
                let number = link + BUILT_LINKS * (stack % 2);
                self.send_packet(socket, number, packet.through(port), from, to, 0, then, reader);
            }
            None => {
                let arrives = self.mesh_send(socket, packet.far_ring(), port, from, to, reader);
                self.wheel.schedule(arrives, then);
            }
        }
    }

    /// A line, or the request for one, has come to the other stack.
    pub(super) fn peer_arrives<R: Readers>(&mut self, id: u16, reader: &mut R) {
        let line = self.peers.lines[id].line;
        reader.read(self.now, Fact::Peer(PeerStation::Arrives, line));
        self.wheel.schedule(self.now + THROUGH * self.times.uclk, Event::PeerTaken.of(id));
    }

    /// A line has gone through the other stack, which has taken it then, or has the data that was asked for.
    pub(super) fn peer_taken<R: Readers>(&mut self, id: u16, reader: &mut R) {
        let Peer { line, passed, .. } = self.peers.lines[id];
        if !passed {
            self.peers.lines[id].passed = true;
            reader.read(self.now, Fact::Peer(PeerStation::Passes, line));
            if line.reads {
                self.wheel.schedule(self.now + (DEVICE - THROUGH) * self.times.uclk, Event::PeerTaken.of(id));
                return;
            }
        }
        reader.read(self.now, Fact::Peer(PeerStation::Taken, line));
        let message = if line.reads { LinkMessage::SharedDone } else { LinkMessage::Completion };
        let packet = Packet::new(message).for_taker(Some(Taker::Stack(line.stack)));
        let (socket, stack) = line.goal();
        self.between_stacks(socket as u8, stack as u8, &line, packet, Event::PeerBack.of(id), reader);
    }

    /// A line's credit is back where it came from.
    pub(super) fn peer_back<R: Readers>(&mut self, id: u16, reader: &mut R) {
        let Peer { line, device, .. } = self.peers.lines[id];
        self.peers.give_back(&line);
        self.peers.lines.remove(id);
        reader.read(self.now, Fact::Peer(PeerStation::Back, line));
        self.send_peers(line.socket, line.stack, reader);
        if device != u16::MAX {
            self.peers.accesses -= 1;
            self.device_done(device, reader);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack keeps one credit for each destination and class: no two of them share it.
    #[test]
    fn each_destination_and_class_has_a_credit_of_its_own() {
        let line = PeerLine { reads: false, socket: 0, stack: 0, link: None, to: 0, port: 0, shared: false };
        let mut kept: Vec<_> = (0..STACKS)
            .flat_map(|to| [false, true].map(|reads| credits(&PeerLine { to, reads, ..line })))
            .chain(
                (0..LINKS)
                    .flat_map(|link| [false, true].map(|reads| credits(&PeerLine { link: Some(link), reads, ..line }))),
            )
            .map(|(side, _, kept)| (side, kept))
            .collect();
        let all = kept.len();
        kept.sort_unstable();
        kept.dedup();
        assert_eq!(kept.len(), all, "{kept:?}");
        assert!(kept.iter().all(|&(_, kept)| kept < 2 * STACKS as usize));
    }
}
