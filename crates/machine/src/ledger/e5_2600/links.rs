//! The totals of links between sockets, and what the guide's names of their events mean: an independent reading of section 2.7.7 and
//! of the event texts of R3QPI, written without the catalogue's decode rows.

use pericore_engine::{Clocks, NEVER, Tick};

use super::busy::Busy;
use super::cells::Span;
use super::device::IoClass;
use super::packet::{Class, Credit, LinkState, PacketCodes, PacketKind, PacketRecord};
use super::slice::Stay;
use super::window::Snapshot;
use crate::ledger::Question;

/// Nodes that cells tell apart.
const NODES: usize = 4;

/// Flits of one direction of a link.
#[derive(Debug, Clone, Copy, Default)]
struct Flits {
    /// Headers and payload by packet kind, passing through or not: for the classes' events, which count when a flit's clock starts.
    by_kind: [[[u64; 2]; 2]; PacketKind::COUNT],
    /// Headers and payload in complete clocks.
    complete: [u64; 2],
}

impl Flits {
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

    fn of(&self, wanted: impl Fn(PacketKind) -> bool, parts: &[usize]) -> u64 {
        let kinds = PacketKind::ALL.into_iter().filter(|&kind| wanted(kind));
        kinds
            .flat_map(|kind| self.by_kind[kind as usize])
            .flat_map(|ways| parts.iter().map(move |&part| ways[part]))
            .sum()
    }

    fn no_data(&self, passes_through: bool) -> u64 {
        self.by_kind[PacketKind::Cmp as usize][usize::from(passes_through)][0]
    }
}

/// Totals of one link: its ring stop, and both directions of its link layer.
#[derive(Debug, Clone)]
pub struct LinkCells {
    // The ring stop, towards the link.
    ring: [Stay; Class::COUNT],
    pub(super) ring_busy: [Busy; Class::COUNT],
    ring_bypassed: u64,
    shared_refused: [u64; Class::COUNT],
    reserved_refused: [u64; Class::COUNT],
    shared_taken: u64,
    reserved_taken: [u64; Class::COUNT],
    pub(super) shared_busy: Busy,
    // Towards input-output.
    io_taken: [u64; IoClass::COUNT],
    pub(super) io_busy: [Busy; IoClass::COUNT],
    io_rejected: [u64; IoClass::COUNT],
    // Sending.
    sent: Flits,
    transmit: Stay,
    pub(super) transmit_busy: Busy,
    transmit_bypassed: u64,
    // Receiving.
    received: Flits,
    receive: [Stay; Class::COUNT],
    pub(super) receive_busy: Busy,
    receive_bypassed: u64,
    /// Packets whose header has arrived, by kind, node that they are for, node of the request, and whether on a reserved credit.
    packets: Vec<[[[u64; 2]; NODES]; NODES]>,
    /// Those that arrived with a wrong checksum first.
    errors: u64,
    direct: [u64; 2],
    returning: Stay,
    returned: u64,
    pub(super) power: [Span; LinkState::COUNT],
}

impl LinkCells {
    pub(super) fn new() -> Self {
        let mut power = [Span::new(); LinkState::COUNT];
        // Links begin at full power.
        for state in [LinkState::SendFull, LinkState::ReceiveFull] {
            power[state as usize].switch(true, 0);
        }
        Self {
            power,
            ring: Default::default(),
            ring_busy: Default::default(),
            ring_bypassed: 0,
            shared_refused: [0; Class::COUNT],
            reserved_refused: [0; Class::COUNT],
            shared_taken: 0,
            reserved_taken: [0; Class::COUNT],
            shared_busy: Busy::default(),
            io_taken: [0; IoClass::COUNT],
            io_busy: Default::default(),
            io_rejected: [0; IoClass::COUNT],
            sent: Flits::default(),
            transmit: Stay::default(),
            transmit_busy: Busy::default(),
            transmit_bypassed: 0,
            received: Flits::default(),
            receive: Default::default(),
            receive_busy: Busy::default(),
            receive_bypassed: 0,
            packets: vec![[[[0; 2]; NODES]; NODES]; PacketKind::COUNT],
            errors: 0,
            direct: [0; 2],
            returning: Stay::default(),
            returned: 0,
        }
    }

    /// A credit towards input-output is taken in a cycle, or comes back.
    pub(super) const fn io_credit(&mut self, class: IoClass, taken: bool, cycle: u64) {
        let busy = &mut self.io_busy[class as usize];
        if taken {
            self.io_taken[class as usize] += 1;
            busy.enter(cycle, 1, u64::MAX);
        } else {
            busy.leave(cycle, 1, u64::MAX);
        }
    }

    /// A packet for input-output found no credit.
    pub(super) const fn io_refused(&mut self, class: IoClass) {
        self.io_rejected[class as usize] += 1;
    }

    /// Adds what a packet has done before `now` at the link that sends it.
    pub(super) fn fold_sender(&mut self, record: &PacketRecord, now: Tick, clocks: &Clocks) {
        let class = record.kind.class() as usize;
        let happened = |tick: Tick| u64::from(tick != NEVER);
        self.ring[class].add_ticks(record.ring_in, record.ring_out, now, clocks.uclk);
        self.ring_bypassed += happened(record.ring_bypass);
        self.shared_refused[class] += happened(record.shared_refused);
        self.reserved_refused[class] += happened(record.reserved_refused);
        if record.credit_at != NEVER {
            match record.credit {
                Credit::Shared(count) => self.shared_taken += u64::from(count),
                Credit::Reserved => self.reserved_taken[class] += 1,
            }
        }
        self.transmit.add_ticks(record.transmit_in, record.transmit_out, now, clocks.qclk);
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
        self.receive[class].add_ticks(record.receive_in, record.receive_out, now, clocks.qclk);
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

    fn consumed(&self, class: Option<Class>) -> u64 {
        let kinds = PacketKind::ALL.into_iter().filter(|kind| class.is_none_or(|class| kind.class() == class));
        let reserved = usize::from(class.is_some());
        kinds.flat_map(|kind| self.packets[kind as usize]).flatten().map(|credits| credits[reserved]).sum()
    }
}

/// The class of messages for input-output of a subevent.
fn io_class(name: &str) -> Option<IoClass> {
    match name {
        "DRS" => Some(IoClass::Data),
        "NCB" => Some(IoClass::Write),
        "NCS" => Some(IoClass::Read),
        _ => None,
    }
}

/// The class that an event's or subevent's name ends with.
fn class(name: &str) -> Option<Class> {
    match name {
        "HOM" => Some(Class::Home),
        "SNP" => Some(Class::Snoop),
        "NDR" => Some(Class::NoData),
        "DRS" => Some(Class::Data),
        "NCB" => Some(Class::Bypass),
        "NCS" => Some(Class::Standard),
        _ => None,
    }
}

/// An event of a link layer.
pub(super) fn qpi(at: &Snapshot, index: usize, question: Question<'_>) -> Option<u64> {
    let Question { event, subevent, .. } = question;
    let cycles = at.clocks.qclk.cycles(at.now);
    if (event, subevent) == ("CLOCKTICKS", "") {
        return Some(cycles);
    }
    let cells = at.cells.links.get(index)?;
    let power = |state: LinkState| cells.power[state as usize].cycles;
    let all: u64 = cells.receive.iter().map(|stay| stay.entries).sum();
    let occupancy: u64 = cells.receive.iter().map(|stay| stay.cycles).sum();
    if let Some((event, of)) = event.rsplit_once('_')
        && let Some(class) = class(of)
    {
        return match event {
            "RxL_INSERTS" => Some(cells.receive[class as usize].entries),
            "RxL_OCCUPANCY" => Some(cells.receive[class as usize].cycles),
            _ => None,
        };
    }
    Some(match (event, subevent) {
        ("TxL_FLITS_G0" | "TxL_FLITS_G1" | "TxL_FLITS_G2", _) => {
            flits(&cells.sent, 2 * power(LinkState::SendFull) + power(LinkState::SendHalf), event, subevent)?
        }
        ("RxL_FLITS_G0" | "RxL_FLITS_G1" | "RxL_FLITS_G2", _) => {
            flits(&cells.received, 2 * power(LinkState::ReceiveFull) + power(LinkState::ReceiveHalf), event, subevent)?
        }
        ("TxL_INSERTS", "") => cells.transmit.entries,
        ("TxL_OCCUPANCY", "") => cells.transmit.cycles,
        ("TxL_CYCLES_NE", "") => cells.transmit_busy.some(),
        ("TxL_BYPASSED", "") => cells.transmit_bypassed,
        ("RxL_INSERTS", "") => all,
        ("RxL_OCCUPANCY", "") => occupancy,
        ("RxL_CYCLES_NE", "") => cells.receive_busy.some(),
        ("RxL_BYPASSED", "") => cells.receive_bypassed,
        ("TxL0_POWER_CYCLES", "") => power(LinkState::SendFull),
        ("TxL0P_POWER_CYCLES", "") => power(LinkState::SendHalf),
        ("RxL0_POWER_CYCLES", "") => power(LinkState::ReceiveFull),
        ("RxL0P_POWER_CYCLES", "") => power(LinkState::ReceiveHalf),
        ("L1_POWER_CYCLES", "") => power(LinkState::Off),
        ("RxL_CRC_ERRORS", "NORMAL_OP") => cells.errors,
        ("DIRECT2CORE", "SUCCESS") => cells.direct[1],
        ("DIRECT2CORE", "FAILURE_RBT") => cells.direct[0],
        // The way to a core always has credits.
        ("DIRECT2CORE", "FAILURE_CREDITS" | "FAILURE_CREDITS_RBT") => 0,
        ("RxL_CREDITS_CONSUMED_VNA", "") => cells.consumed(None),
        ("RxL_CREDITS_CONSUMED_VN0", _) => cells.consumed(Some(class(subevent)?)),
        ("VNA_CREDIT_RETURNS", "") => cells.returned,
        ("VNA_CREDIT_RETURN_OCCUPANCY", "") => cells.returning.cycles,
        ("CTO_COUNT", "") => matching(cells, &at.packet_codes, question),
        _ => return None,
    })
}

/// Flits of a direction that had room for so many.
fn flits(cells: &Flits, room: u64, event: &str, subevent: &str) -> Option<u64> {
    let of = |class: Class, parts: &[usize]| cells.of(|kind| kind.class() == class, parts);
    let home = |request: bool| cells.of(|kind| kind.class() == Class::Home && kind.is_request() == request, &[0]);
    Some(match (&event[event.len() - 2..], subevent) {
        ("G0", "IDLE") => room - cells.complete[0] - cells.complete[1],
        ("G0", "DATA") => cells.complete[1],
        ("G0", "NON_DATA") => cells.complete[0],
        ("G1", "SNP") => of(Class::Snoop, &[0]),
        ("G1", "HOM_REQ") => home(true),
        ("G1", "HOM_NONREQ") => home(false),
        ("G1", "HOM") => of(Class::Home, &[0]),
        ("G1", "DRS_DATA") => of(Class::Data, &[1]),
        ("G1", "DRS_NONDATA") => of(Class::Data, &[0]),
        ("G1", "DRS") => of(Class::Data, &[0, 1]),
        ("G2", "NDR_AD") => cells.no_data(true),
        ("G2", "NDR_AK") => cells.no_data(false),
        ("G2", "NCB_DATA") => of(Class::Bypass, &[1]),
        ("G2", "NCB_NONDATA") => of(Class::Bypass, &[0]),
        ("G2", "NCB") => of(Class::Bypass, &[0, 1]),
        ("G2", "NCS") => of(Class::Standard, &[0]),
        _ => return None,
    })
}

/// Packets whose header agrees with the match registers wherever the mask registers have a 1.
fn matching(cells: &LinkCells, codes: &PacketCodes, question: Question<'_>) -> u64 {
    let get = |name: &str| question.filter(name).unwrap_or(0);
    let field = |name: &str| (get(&format!("match_{name}")), get(&format!("mask_{name}")));
    let fields = ["mc", "opc", "vnw", "dnid", "rnid4", "rnid30", "rds"].map(field);
    let mut sum = 0;
    for kind in PacketKind::ALL {
        let (code, state) = (u64::from(codes.messages[kind as usize]), u64::from(codes.states[kind as usize]));
        for to in 0..NODES {
            for requester in 0..NODES {
                for reserved in 0..2 {
                    // Virtual network 0 is VN0, 2 is VNA; node numbers beyond 15 do not occur.
                    let network = if reserved == 1 { 0 } else { 2 };
                    let header = [code >> 4, code & 0xF, network, to as u64, 0, requester as u64, state];
                    let agrees = header.iter().zip(fields).all(|(value, (wanted, mask))| (value ^ wanted) & mask == 0);
                    sum += if agrees { cells.packets[kind as usize][to][requester][reserved] } else { 0 };
                }
            }
        }
    }
    sum
}

/// An event of a link's ring stop.
pub(super) fn ring_stop(at: &Snapshot, index: usize, event: &str, subevent: &str) -> Option<u64> {
    if (event, subevent) == ("CLOCKTICKS", "") {
        return Some(at.clocks.uclk.cycles(at.now));
    }
    let cells = at.cells.links.get(index)?;
    let of = || class(subevent).map(|class| class as usize);
    let io = || io_class(subevent).map(|class| class as usize);
    Some(match (event, subevent) {
        ("RxR_INSERTS", _) => cells.ring[of()?].entries,
        ("RxR_OCCUPANCY", _) => cells.ring[of()?].cycles,
        ("RxR_CYCLES_NE", _) => cells.ring_busy[of()?].some(),
        ("RxR_BYPASSED", "AD") => cells.ring_bypassed,
        ("VNA_CREDITS_ACQUIRED", "") => cells.shared_taken,
        ("VNA_CREDITS_REJECT", _) => cells.shared_refused[of()?],
        ("VN0_CREDITS_USED", _) => cells.reserved_taken[of()?],
        ("VN0_CREDITS_REJECT", _) => cells.reserved_refused[of()?],
        ("IIO_CREDITS_ACQUIRED", _) => cells.io_taken[io()?],
        ("IIO_CREDITS_USED", _) => cells.io_busy[io()?].some(),
        ("IIO_CREDITS_REJECT", _) => cells.io_rejected[io()?],
        ("VNA_CREDIT_CYCLES_OUT", "") => cells.shared_busy.all(),
        ("VNA_CREDIT_CYCLES_USED", "") => cells.shared_busy.some(),
        _ => return None,
    })
}
