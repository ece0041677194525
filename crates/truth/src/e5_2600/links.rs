//! The totals of links between sockets.

use pericore_engine::{Clocks, NEVER, Period, Tick};
use pericore_facts::e5_2600::{Class, Credit, IoClass, LinkState, PacketKind, PacketRecord, PacketStation};

use super::stay::Stay;
use crate::census::{Census, NO_LIMIT};

/// Nodes that cells tell apart.
pub const NODES: usize = 4;

/// FlitCells of one direction of a link.
#[derive(Debug, Clone, Copy, Default)]
pub struct FlitCells {
    /// Headers and payload by packet kind, passing through or not: for the classes' events, which count when a flit's
    /// clock starts.
    by_kind: [[[u64; 2]; 2]; PacketKind::COUNT],
    /// Headers and payload in complete clocks.
    pub complete: [u64; 2],
}

impl FlitCells {
    /// Adds the flits of a packet that begins at a slot, up to `now`.
    fn add(&mut self, record: &PacketRecord, first: u64, now: Tick, clocks: &Clocks) {
        let clock = clocks.qclk;
        let each = if record.half_width { 2 } else { 1 };
        let sent = |slots: u64| slots.saturating_sub(first).div_ceil(each).min(record.kind.flits());
        // `now` is NEVER for packets that have ended.
        let (started, complete) =
            if now == NEVER { (NEVER, NEVER) } else { (2 * clock.next_cycle(now), 2 * clock.cycles(now)) };
        let split = |flits: u64| [flits.min(1), flits.saturating_sub(1)];
        let by_kind = &mut self.by_kind[record.kind as usize][usize::from(record.passes_through)];
        for (part, flits) in split(sent(started)).into_iter().enumerate() {
            by_kind[part] += flits;
        }
        for (part, flits) in split(sent(complete)).into_iter().enumerate() {
            self.complete[part] += flits;
        }
    }

    /// FlitCells of the wanted packets: headers (0), payload (1).
    pub fn of(&self, wanted: impl Fn(PacketKind) -> bool, parts: &[usize]) -> u64 {
        let kinds = PacketKind::ALL.into_iter().filter(|&kind| wanted(kind));
        kinds
            .flat_map(|kind| self.by_kind[kind as usize])
            .flat_map(|ways| parts.iter().map(move |&part| ways[part]))
            .sum()
    }

    /// Completions that pass through the receiving socket, or that do not.
    pub fn no_data(&self, passes_through: bool) -> u64 {
        self.by_kind[PacketKind::Cmp as usize][usize::from(passes_through)][0]
    }
}

/// Totals of one link: its ring stop, and both directions of its link layer.
#[derive(Debug, Clone)]
pub struct LinkCells {
    // The ring stop, towards the link.
    pub ring: [Census; Class::COUNT],
    pub ring_bypassed: u64,
    pub shared_refused: [u64; Class::COUNT],
    pub reserved_refused: [u64; Class::COUNT],
    pub shared_taken: u64,
    pub reserved_taken: [u64; Class::COUNT],
    /// Shared credits in use.
    pub shared: Census,
    // Towards input-output.
    pub io: [Census; IoClass::COUNT],
    pub io_rejected: [u64; IoClass::COUNT],
    // Sending.
    pub sent: FlitCells,
    pub transmit: Census,
    pub transmit_bypassed: u64,
    // Receiving.
    pub received: FlitCells,
    pub receive: [Census; Class::COUNT],
    /// Of all classes.
    pub receive_all: Census,
    pub receive_bypassed: u64,
    /// Packets whose header has arrived, by kind, node that they are for, node of the request, and whether on a
    /// reserved credit.
    pub packets: Vec<[[[u64; 2]; NODES]; NODES]>,
    /// Those that arrived with a wrong checksum first.
    pub errors: u64,
    pub direct: [u64; 2],
    pub returning: Stay,
    pub returned: u64,
    /// By [`LinkState`].
    pub power: [Census; LinkState::COUNT],
}

impl LinkCells {
    pub(super) fn new() -> Self {
        Self {
            ring: Default::default(),
            ring_bypassed: 0,
            shared_refused: [0; Class::COUNT],
            reserved_refused: [0; Class::COUNT],
            shared_taken: 0,
            reserved_taken: [0; Class::COUNT],
            shared: Census::default(),
            io: Default::default(),
            io_rejected: [0; IoClass::COUNT],
            sent: FlitCells::default(),
            transmit: Census::default(),
            transmit_bypassed: 0,
            received: FlitCells::default(),
            receive: Default::default(),
            receive_all: Census::default(),
            receive_bypassed: 0,
            packets: vec![[[[0; 2]; NODES]; NODES]; PacketKind::COUNT],
            errors: 0,
            direct: [0; 2],
            returning: Stay::default(),
            returned: 0,
            power: Default::default(),
        }
    }

    /// What comes and goes where a packet is sent; `shared` are all shared credits.
    #[inline(always)]
    pub(super) fn sends(
        &mut self,
        at: Tick,
        station: PacketStation,
        record: &PacketRecord,
        clocks: &Clocks,
        shared: u64,
    ) {
        let ring = &mut self.ring[record.kind.class() as usize];
        match station {
            PacketStation::EntersRing => ring.enter(clocks.uclk.cycles(at), NO_LIMIT),
            PacketStation::LeavesRing => ring.leave(clocks.uclk.cycles(at), NO_LIMIT),
            PacketStation::EntersTransmit => self.transmit.enter(clocks.qclk.cycles(at), NO_LIMIT),
            PacketStation::LeavesTransmit => self.transmit.leave(clocks.qclk.cycles(at), NO_LIMIT),
            PacketStation::Credited | PacketStation::Ended => {
                let Credit::Shared(count) = record.credit else { return };
                let (comes, cycle) = (station == PacketStation::Credited, clocks.uclk.cycles(at));
                (0..count).for_each(|_| self.shared.change(comes, cycle, shared));
            }
            _ => {}
        }
    }

    /// What comes and goes where it is received.
    #[inline(always)]
    pub(super) fn receives(&mut self, at: Tick, station: PacketStation, record: &PacketRecord, clocks: &Clocks) {
        if matches!(station, PacketStation::EntersReceive | PacketStation::LeavesReceive) {
            let (cycle, comes) = (clocks.qclk.cycles(at), station == PacketStation::EntersReceive);
            self.receive[record.kind.class() as usize].change(comes, cycle, NO_LIMIT);
            self.receive_all.change(comes, cycle, NO_LIMIT);
        }
    }

    fn queues(&self) -> impl Iterator<Item = &Census> {
        self.ring.iter().chain(&self.receive).chain([&self.transmit, &self.receive_all])
    }

    /// True if no packet waits, and all credits are there.
    pub(super) fn is_empty(&self) -> bool {
        self.queues().chain(&self.io).chain([&self.shared]).all(|census| census.live == 0)
    }

    /// The laws of a moment: of queues, and that each direction is in one power state.
    pub(super) fn is_sound(&self) -> bool {
        let states = |[full, half]: [LinkState; 2]| {
            [full, half, LinkState::Off].iter().map(|&state| self.power[state as usize].live).sum::<u64>() <= 1
        };
        self.queues().all(Census::is_sound)
            && states([LinkState::SendFull, LinkState::SendHalf])
            && states([LinkState::ReceiveFull, LinkState::ReceiveHalf])
    }

    /// Brings the running sums up to cycles of the uncore's and of the link's clock.
    pub(super) fn settle(&mut self, uclk: u64, qclk: u64, shared: u64) {
        self.ring.iter_mut().chain(&mut self.io).for_each(|census| census.settle(uclk, NO_LIMIT));
        self.shared.settle(uclk, shared);
        let buffers = self.receive.iter_mut().chain([&mut self.transmit, &mut self.receive_all]);
        buffers.chain(&mut self.power).for_each(|census| census.settle(qclk, NO_LIMIT));
    }

    /// Adds what a packet has done before `now` at the link that sends it.
    pub(super) fn fold_sender(&mut self, record: &PacketRecord, now: Tick, clocks: &Clocks) {
        let class = record.kind.class() as usize;
        let happened = |tick: Tick| u64::from(tick != NEVER);
        stay(&mut self.ring[class], record.ring_in, record.ring_out, now, clocks.uclk);
        self.ring_bypassed += happened(record.ring_bypass);
        self.shared_refused[class] += happened(record.shared_refused);
        self.reserved_refused[class] += happened(record.reserved_refused);
        if record.credit_at != NEVER {
            match record.credit {
                Credit::Shared(count) => self.shared_taken += u64::from(count),
                Credit::Reserved => self.reserved_taken[class] += 1,
            }
        }
        stay(&mut self.transmit, record.transmit_in, record.transmit_out, now, clocks.qclk);
        if record.first_slot != NEVER {
            self.transmit_bypassed += u64::from(record.transmit_in == NEVER);
            self.sent.add(record, record.first_slot, now, clocks);
        }
    }

    /// Adds what a packet has done before `now` at the link that receives it; `flight` is the way in link clocks.
    pub(super) fn fold_receiver(&mut self, record: &PacketRecord, now: Tick, clocks: &Clocks, flight: u64) {
        if record.first_slot == NEVER {
            return;
        }
        let class = record.kind.class() as usize;
        let first = record.first_slot + 2 * flight;
        self.received.add(record, first, now, clocks);
        if first / 2 * clocks.qclk.ticks() < now {
            let reserved = usize::from(record.credit == Credit::Reserved);
            let (to, requester) = (usize::from(record.to) % NODES, usize::from(record.requester) % NODES);
            self.packets[record.kind as usize][to][requester][reserved] += 1;
            self.receive_bypassed += u64::from(record.receive_in == NEVER);
            self.errors += u64::from(record.damaged);
        }
        for census in [&mut self.receive[class], &mut self.receive_all] {
            stay(census, record.receive_in, record.receive_out, now, clocks.qclk);
        }
        if record.handed != NEVER {
            if let Some(direct) = record.direct {
                self.direct[usize::from(direct)] += 1;
            }
            if let Credit::Shared(count) = record.credit {
                for _ in 0..count {
                    self.returning.add_ticks(record.handed, record.returned, now, clocks.qclk);
                }
                self.returned += if record.returned == NEVER { 0 } else { count.into() };
            }
        }
    }

    /// Packets that came on shared credits, or on those of a class.
    pub fn consumed(&self, class: Option<Class>) -> u64 {
        let kinds = PacketKind::ALL.into_iter().filter(|kind| class.is_none_or(|class| kind.class() == class));
        let reserved = usize::from(class.is_some());
        kinds.flat_map(|kind| self.packets[kind as usize]).flatten().map(|credits| credits[reserved]).sum()
    }
}

/// Adds a packet's stay in a queue, up to `now`.
fn stay(census: &mut Census, from: Tick, to: Tick, now: Tick, clock: Period) {
    if from != NEVER {
        census.stayed(clock.cycles_between(from, to.min(now)));
    }
}
