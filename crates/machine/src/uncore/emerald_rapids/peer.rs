//! Traffic between devices of different stacks, of one socket or of two.
//!
//! A device writes or reads a kilobyte of another one, line by line. Each line needs a credit for the other stack, or for the link to
//! the other socket: one of a pool that all destinations share, or else the one that is kept for the destination. Without either it
//! waits in the coherent port (IRP) of its stack. The credit comes back when the line, or the answer to a read, has been taken.

use std::collections::VecDeque;

use pericore_engine::Pool;
use pericore_hardware::signal::SignalSink;

use super::Model;
use super::device::{DEVICE, LINE_DWS, PORTS, THROUGH};
use super::event::Event;
use super::link::{Packet, Taker};
use crate::ledger::emerald_rapids::LinkMessage;
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::workload::MessageKind;

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
    reads: bool,
    socket: u8,
    stack: u8,
    /// The link to the other socket, if it goes there.
    link: Option<u8>,
    to: u8,
    port: u16,
    /// Its credit is a shared one.
    shared: bool,
    /// It has waited for one.
    waits: bool,
}

impl Peer {
    /// Its message class: bypass or standard.
    const fn class(&self) -> u16 {
        self.reads as u16
    }

    /// Its place among the rows of local and remote, bypass and standard.
    const fn row(&self) -> u16 {
        self.link.is_some() as u16 * 2 + self.class()
    }

    /// Its place among the rows of destinations: stacks, or links.
    fn destination(&self) -> u16 {
        u16::from(self.link.unwrap_or(self.to)) * 2 + self.class()
    }

    const fn to_socket(self) -> u8 {
        if self.link.is_some() { 1 - self.socket } else { self.socket }
    }

    const fn port_of(&self) -> u16 {
        // Writes first, then reads.
        self.class() * PORTS + self.port
    }
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
        Self { lines: Pool::new(0), sources: (0..sockets * STACKS).map(source).collect() }
    }

    fn source(&mut self, peer: &Peer) -> &mut Source {
        &mut self.sources[usize::from(peer.socket * STACKS + peer.stack)]
    }

    /// Takes a credit for a line: shared or kept.
    fn take(&mut self, peer: &Peer) -> Option<bool> {
        let (far, class, destination) =
            (usize::from(peer.link.is_some()), usize::from(peer.class()), usize::from(peer.destination()));
        let source = self.source(peer);
        for (shared, left) in [(true, &mut source.shared[far][class]), (false, &mut source.kept[far][destination])] {
            if *left > 0 {
                *left -= 1;
                return Some(shared);
            }
        }
        None
    }

    fn give_back(&mut self, peer: &Peer) {
        let (far, class, destination) =
            (usize::from(peer.link.is_some()), usize::from(peer.class()), usize::from(peer.destination()));
        let source = self.source(peer);
        *(if peer.shared { &mut source.shared[far][class] } else { &mut source.kept[far][destination] }) += 1;
    }
}

impl Model {
    /// A device begins a transfer to or from another one, unless too much of its own still waits. Stacks, links and sockets take turns.
    pub(super) fn start_peers<S: SignalSink>(&mut self, socket: u16, kind: MessageKind, turn: u32, sink: &mut S) {
        let reads = kind == MessageKind::PeerRead;
        let stack = (turn % u32::from(STACKS)) as u8;
        let further = 1 + (turn / u32::from(STACKS) % u32::from(STACKS - 1)) as u8;
        let far = self.sockets == 2 && turn / 2 % 2 == 1;
        if self.peers.sources[usize::from(socket as u8 * STACKS + stack)].waiting.len() >= WAITING {
            return;
        }
        let link = far.then_some((turn % u32::from(LINKS)) as u8);
        let (to, now) = ((stack + further) % STACKS, self.now);
        for line in 0..LINES {
            let port = (turn as u16 % PORTS + line / 4) % PORTS;
            let peer = Peer { reads, socket: socket as u8, stack, link, to, port, shared: true, waits: false };
            let (index, account) = (u16::from(stack), &mut self.account);
            let dws = deed!("iio/DATA_REQ_OF_CPU.PEER_WRITE.PART0") + peer.port_of();
            account.deeds(dws, socket, index, now, LINE_DWS, sink);
            let txns = deed!("iio/TXN_REQ_OF_CPU.PEER_WRITE.PART0") + peer.port_of();
            account.deed(txns, socket, index, now, sink);
            account.deed(deed!("iio/NUM_REQ_OF_CPU_BY_TGT.REM_P2P"), socket, index, now, sink);
            account.deed(deed!("irp/IRP_ALL.INBOUND_INSERTS"), socket, index, now, sink);
            account.enter(level!("irp/P2P_INSERTS"), socket, index, now, sink);
            let what = deed!("irp/P2P_TRANSACTIONS.WR") + peer.class();
            account.deed(what, socket, index, now, sink);
            let place = deed!("irp/P2P_TRANSACTIONS.LOC") + u16::from(far);
            account.deed(place, socket, index, now, sink);
            let id = self.peers.lines.add(peer);
            self.peers.source(&peer).waiting.push_back(id);
        }
        self.send_peers(socket as u8, stack, sink);
    }

    /// Sends what waits in a stack, in order, as long as there are credits.
    pub(super) fn send_peers<S: SignalSink>(&mut self, socket: u8, stack: u8, sink: &mut S) {
        let (at, index, now) = (u16::from(socket), u16::from(stack), self.now);
        let number = usize::from(socket * STACKS + stack);
        while let Some(&id) = self.peers.sources[number].waiting.front() {
            let peer = self.peers.lines[id];
            let wait = match peer.link {
                None => level!("m2pcie/LOCAL_SHAR_P2P_CRD_WAIT_0.M2IOSF0_NCB"),
                Some(_) => level!("m2pcie/REMOTE_SHAR_P2P_CRD_WAIT_0.UPI0_NCB"),
            } + peer.destination();
            if !peer.waits && !self.line_may_leave(socket, index, sink) {
                return;
            }
            let Some(shared) = self.peers.take(&peer) else {
                // The first in line waits for a credit, the others for it.
                if !std::mem::replace(&mut self.peers.lines[id].waits, true) {
                    self.account.enter(wait, at, index, now, sink);
                }
                return;
            };
            self.peers.sources[number].waiting.pop_front();
            self.peers.lines[id].shared = shared;
            let account = &mut self.account;
            if peer.waits {
                account.leave(wait, at, index, now, sink);
            }
            account.leave(level!("irp/P2P_INSERTS"), at, index, now, sink);
            account.deed(deed!("irp/IRP_ALL.EVICTS"), at, index, now, sink);
            let taken = match (peer.link, shared) {
                (None, true) => deed!("m2pcie/LOCAL_SHAR_P2P_CRD_TAKEN_0.M2IOSF0_NCB"),
                (None, false) => deed!("m2pcie/LOCAL_DED_P2P_CRD_TAKEN_0.M2IOSF0_NCB"),
                (Some(_), true) => deed!("m2pcie/REMOTE_SHAR_P2P_CRD_TAKEN_0.UPI0_NCB"),
                (Some(_), false) => deed!("m2pcie/REMOTE_DED_P2P_CRD_TAKEN_0.UPI0_NCB"),
            };
            account.deed(taken + peer.destination(), at, index, now, sink);
            let sent = deed!("m2pcie/TxC_INSERTS_BL.AGT_1") + peer.class();
            account.deed(sent, at, index, now, sink);
            let message = if peer.reads { LinkMessage::PeerRead } else { LinkMessage::PeerWrite };
            let packet = Packet::new(message).taken_by(Taker::Stack(peer.to));
            self.between_stacks(socket, stack, &peer, packet, Event::PeerArrive.of(id), sink);
        }
    }

    /// A message goes from a stack of a socket to the other end of a line's way.
    fn between_stacks<S: SignalSink>(
        &mut self,
        socket: u8,
        stack: u8,
        peer: &Peer,
        packet: Packet,
        then: u32,
        sink: &mut S,
    ) {
        let other = if (socket, stack) == (peer.socket, peer.stack) { peer.to } else { peer.stack };
        let (from, to) = (self.places.m2pcie[usize::from(stack)], self.places.m2pcie[usize::from(other)]);
        match peer.link {
            Some(link) => self.send_packet(socket, link, packet, from, to, 0, then, sink),
            None => {
                let arrives = self.mesh_send(socket, packet.far_ring(), 0, from, to, sink);
                self.wheel.schedule(arrives, then);
            }
        }
    }

    /// A line, or the request for one, has come to the other stack.
    pub(super) fn peer_arrives<S: SignalSink>(&mut self, id: u16, sink: &mut S) {
        let peer = self.peers.lines[id];
        let (at, index, now) = (u16::from(peer.to_socket()), u16::from(peer.to), self.now);
        let account = &mut self.account;
        account.enter(level!("m2pcie/RxC_INSERTS.IIO_NCB") + peer.row(), at, index, now, sink);
        account.enter(level!("m2pcie/P2P_CRD_OCCUPANCY.LOCAL_NCB") + peer.row(), at, index, now, sink);
        let dws = deed!("iio/DATA_REQ_BY_CPU.PEER_WRITE.PART0") + peer.port_of();
        account.deeds(dws, at, index, now, LINE_DWS, sink);
        if !peer.reads {
            // Transactions that read have no row here.
            account.deed(deed!("iio/TXN_REQ_BY_CPU.PEER_WRITE.PART0") + peer.port, at, index, now, sink);
        }
        let takes = if peer.reads { DEVICE } else { THROUGH };
        self.wheel.schedule(now + takes * self.times.uclk, Event::PeerTaken.of(id));
    }

    /// The other stack has taken a line, or has the data that was asked for.
    pub(super) fn peer_taken<S: SignalSink>(&mut self, id: u16, sink: &mut S) {
        let peer = self.peers.lines[id];
        let (at, index, now) = (u16::from(peer.to_socket()), u16::from(peer.to), self.now);
        let account = &mut self.account;
        account.leave(level!("m2pcie/RxC_INSERTS.IIO_NCB") + peer.row(), at, index, now, sink);
        account.leave(level!("m2pcie/P2P_CRD_OCCUPANCY.LOCAL_NCB") + peer.row(), at, index, now, sink);
        let stack = u16::from(peer.stack);
        let returned = match (peer.link, peer.shared) {
            // Three agents share the pool.
            (None, true) => stack % 3 + deed!("m2pcie/LOCAL_P2P_SHAR_RETURNED.AGENT_0"),
            (None, false) => stack * 2 + peer.class() + deed!("m2pcie/LOCAL_P2P_DED_RETURNED_0.MS2IOSF0_NCB"),
            (Some(link), true) => u16::from(link) + deed!("m2pcie/REMOTE_P2P_SHAR_RETURNED.AGENT_0"),
            (Some(_), false) => peer.destination() + deed!("m2pcie/REMOTE_P2P_DED_RETURNED.UPI0_NCB"),
        };
        account.deed(returned, at, index, now, sink);
        let message = if peer.reads { LinkMessage::SharedDone } else { LinkMessage::Completion };
        if peer.reads {
            account.deed(deed!("irp/P2P_TRANSACTIONS.CMPL"), at, index, now, sink);
            account.deed(deed!("m2pcie/TxC_INSERTS_BL.AGT_0"), at, index, now, sink);
        } else {
            account.deed(deed!("m2pcie/TxC_INSERTS_AK.AGT_0"), at, index, now, sink);
        }
        let packet = Packet::new(message).taken_by(Taker::Stack(peer.stack));
        self.between_stacks(at as u8, peer.to, &peer, packet, Event::PeerBack.of(id), sink);
    }

    /// A line's credit is back where it came from.
    pub(super) fn peer_back<S: SignalSink>(&mut self, id: u16, sink: &mut S) {
        let peer = self.peers.lines[id];
        let (at, index, now) = (u16::from(peer.socket), u16::from(peer.stack), self.now);
        self.peers.give_back(&peer);
        self.peers.lines.remove(id);
        let received = if peer.shared {
            deed!("m2pcie/P2P_SHAR_RECEIVED.LOCAL_NCB")
        } else {
            deed!("m2pcie/P2P_DED_RECEIVED.LOCAL_NCB")
        };
        self.account.deed(received + peer.row(), at, index, now, sink);
        if peer.shared {
            let pool = match peer.link {
                None => u16::from(peer.to) + deed!("m2pcie/LOCAL_SHAR_P2P_CRD_RETURNED.AGENT_0"),
                Some(link) => u16::from(link) + deed!("m2pcie/REMOTE_SHAR_P2P_CRD_RETURNED.AGENT_0"),
            };
            self.account.deed(pool, at, index, now, sink);
        }
        self.send_peers(peer.socket, peer.stack, sink);
    }
}
