//! The totals of links between sockets.

use pericore_engine::{Clocks, NEVER, Period, Tick};
use pericore_facts::e5_2600::{Class, Credit, IoClass, LinkStall, LinkState, PacketKind, PacketRecord, PacketStation};

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
    /// Adds the flits of a packet that begins at a slot, up to `now`, and says how many those are.
    fn add(&mut self, record: &PacketRecord, first: u64, now: Tick, clocks: &Clocks) -> u64 {
        let clock = clocks.qclk;
        let each = if record.half_width { 2 } else { 1 };
        let sent = |slots: u64| slots.saturating_sub(first).div_ceil(each).min(record.kind.flits());
        // `now` is NEVER for packets that have ended.
        let (started, complete) =
            if now == NEVER { (NEVER, NEVER) } else { (2 * clock.next_cycle(now), 2 * clock.cycles(now)) };
        // A line has eight flits of 8 bytes, with their enables or without (Table 2-92); the others are headers.
        let headers = if record.kind.flits() == 11 { 3 } else { 1 };
        let split = |flits: u64| [flits.min(headers), flits.saturating_sub(headers)];
        let by_kind = &mut self.by_kind[record.kind as usize][usize::from(record.passes_through)];
        for (part, flits) in split(sent(started)).into_iter().enumerate() {
            by_kind[part] += flits;
        }
        for (part, flits) in split(sent(complete)).into_iter().enumerate() {
            self.complete[part] += flits;
        }
        sent(started)
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
    /// Packets in the buffer, and their flits.
    pub transmit: Census,
    pub transmit_flits: Stay,
    /// Flits that went past it.
    pub transmit_bypassed: u64,
    // Receiving.
    pub received: FlitCells,
    /// Packets in the buffer, and their flits by class.
    pub receive: Census,
    pub receive_flits: [Stay; Class::COUNT],
    /// Flits that went past it.
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
    /// By [`LinkStall::index`].
    pub stalls: [Census; LinkStall::COUNT],
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
            transmit_flits: Stay::default(),
            transmit_bypassed: 0,
            received: FlitCells::default(),
            receive: Census::default(),
            receive_flits: Default::default(),
            receive_bypassed: 0,
            packets: vec![[[[0; 2]; NODES]; NODES]; PacketKind::COUNT],
            errors: 0,
            direct: [0; 2],
            returning: Stay::default(),
            returned: 0,
            power: Default::default(),
            stalls: Default::default(),
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
            PacketStation::NoShared => self.shared_refused[record.kind.class() as usize] += 1,
            PacketStation::NoReserved => self.reserved_refused[record.kind.class() as usize] += 1,
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
    pub(super) fn receives(&mut self, at: Tick, station: PacketStation, clocks: &Clocks) {
        if matches!(station, PacketStation::EntersReceive | PacketStation::LeavesReceive) {
            let (cycle, comes) = (clocks.qclk.cycles(at), station == PacketStation::EntersReceive);
            self.receive.change(comes, cycle, NO_LIMIT);
        }
    }

    fn queues(&self) -> impl Iterator<Item = &Census> {
        self.ring.iter().chain([&self.transmit, &self.receive])
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
        let buffers = [&mut self.transmit, &mut self.receive].into_iter();
        buffers.chain(&mut self.power).chain(&mut self.stalls).for_each(|census| census.settle(qclk, NO_LIMIT));
    }

    /// Adds what a packet has done before `now` at the link that sends it.
    pub(super) fn fold_sender(&mut self, record: &PacketRecord, now: Tick, clocks: &Clocks) {
        let class = record.kind.class() as usize;
        let happened = |tick: Tick| u64::from(tick != NEVER);
        stay(&mut self.ring[class], record.ring_in, record.ring_out, now, clocks.uclk);
        self.ring_bypassed += happened(record.ring_bypass);
        if record.credit_at != NEVER {
            match record.credit {
                Credit::Shared(count) => self.shared_taken += u64::from(count),
                Credit::Reserved => self.reserved_taken[class] += 1,
            }
        }
        stay(&mut self.transmit, record.transmit_in, record.transmit_out, now, clocks.qclk);
        // A packet's flits come from the ring stop together.
        if record.transmit_in != NEVER {
            let cycles = clocks.qclk.cycles_between(record.transmit_in, record.transmit_out.min(now));
            self.transmit_flits.entries += record.kind.flits();
            self.transmit_flits.cycles += record.kind.flits() * cycles;
        }
        if record.first_slot != NEVER {
            let sent = self.sent.add(record, record.first_slot, now, clocks);
            self.transmit_bypassed += if record.transmit_in == NEVER { sent } else { 0 };
        }
    }

    /// Adds what a packet has done before `now` at the link that receives it; `flight` is the way in link clocks.
    pub(super) fn fold_receiver(&mut self, record: &PacketRecord, now: Tick, clocks: &Clocks, flight: u64) {
        if record.first_slot == NEVER {
            return;
        }
        let first = record.first_slot + 2 * flight;
        let received = self.received.add(record, first, now, clocks);
        let buffered = self.buffer_flits(record, first, now, clocks.qclk);
        self.receive_bypassed += received - buffered;
        if first / 2 * clocks.qclk.ticks() < now {
            let reserved = usize::from(record.credit == Credit::Reserved);
            let (to, requester) = (usize::from(record.to) % NODES, usize::from(record.requester) % NODES);
            self.packets[record.kind as usize][to][requester][reserved] += 1;
            self.errors += u64::from(record.damaged);
        }
        stay(&mut self.receive, record.receive_in, record.receive_out, now, clocks.qclk);
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

    /// Adds the flits of a packet to those in the receive buffer that arrive, from a slot on, while it waits there, and
    /// says how many have arrived before `now`. They stay until it begins to be handed on.
    fn buffer_flits(&mut self, record: &PacketRecord, first: u64, now: Tick, clock: Period) -> u64 {
        if record.receive_in == NEVER {
            return 0;
        }
        let each = if record.half_width { 2 } else { 1 };
        let until = record.receive_out.min(now);
        let arrivals = (0..record.kind.flits()).map(|flit| (first + each * flit) / 2 * clock.ticks());
        let stays = &mut self.receive_flits[record.kind.class() as usize];
        let before = stays.entries;
        arrivals.take_while(|&at| at < until).for_each(|at| stays.add_ticks(at, record.receive_out, now, clock));
        stays.entries - before
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

#[cfg(test)]
mod tests {
    use super::{Clocks, LinkCells};
    use pericore_engine::{NEVER, Period};
    use pericore_facts::e5_2600::{Class, PacketKind, PacketRecord};

    const FLIGHT: u64 = 10;
    const TICKS: u64 = 7;

    /// Lines that follow each other on the link and go on at two flits a clock, five clocks a line: line `number` comes
    /// from slot 9 n on, two slots a clock, and goes on from clock 5 n.
    fn line(number: u64) -> PacketRecord {
        let mut record = PacketRecord::new(PacketKind::DataE, 0, 1, 1, 1);
        record.first_slot = 9 * number;
        if number > 0 {
            record.receive_in = (9 * number / 2 + FLIGHT) * TICKS;
            record.receive_out = (5 * number + FLIGHT) * TICKS;
        }
        record
    }

    fn received(now: u64) -> LinkCells {
        let period = Period::new(TICKS);
        let clocks = Clocks { ticks_per_second: 1, uclk: period, dclk: period, qclk: period };
        let mut cells = LinkCells::new();
        (0..4).for_each(|number| cells.fold_receiver(&line(number), now, &clocks, FLIGHT));
        cells
    }

    /// 2.7.7: allocations into the flit buffer, flits that went past it, and elements of it added up over cycles.
    #[test]
    fn the_receive_buffer_holds_flits() {
        let cells = received(NEVER);
        let stay = cells.receive_flits[Class::Data as usize];
        // Of line 1 the header comes in clock 4 and waits for 5. Of line 2 two flits come in clock 9 and wait for 10;
        // of line 3 one in clock 13 and two in 14, which wait for 15.
        assert_eq!((stay.entries, stay.cycles), (1 + 2 + 3, 1 + 2 + (2 + 1 + 1)));
        assert_eq!(cells.receive_bypassed, 4 * 9 - 6);
    }

    #[test]
    fn flits_that_have_not_come_yet_are_not_in_the_buffer() {
        // At the beginning of clock 14 one flit of line 3 is there, since a clock; lines 0 to 2 have sent 27 flits.
        let cells = received((14 + FLIGHT) * TICKS);
        let stay = cells.receive_flits[Class::Data as usize];
        assert_eq!((stay.entries, stay.cycles), (1 + 2 + 1, 1 + 2 + 1));
        assert_eq!(cells.receive_bypassed, 27 - 3);
    }
}
