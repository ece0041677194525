//! The signals of links.

use pericore_catalog::BitRange;
use pericore_engine::Tick;
use pericore_facts::e5_2600::{
    Class, Credit, Flit, Flits, IoClass, LinkStall, LinkState, PacketKind, PacketRecord, PacketStation,
};
use pericore_hardware::signal::{SignalSink, Wire, Wiring, WiringError};

use super::level::{ShownLevel, Tagged};
use super::pulses::Pulses;

/// Links of a socket.
const PORTS: u16 = 2;

/// Flits of one direction.
#[derive(Debug, Clone, Copy)]
pub struct FlitWires {
    /// Idle, payload, header.
    all: (Wire, [u64; 3]),
    /// Snoop, home request, home response, payload and header of data.
    classes_1: (Wire, [u64; 5]),
    /// Responses without data that pass through the receiving socket, and others; payload and header of non-coherent
    /// writes and interrupts; non-coherent reads.
    classes_2: (Wire, [u64; 5]),
    /// Flits in a clock: idle, payload, headers.
    levels: [u8; 3],
}

/// How a packet's header is written into the tag of the packet signal.
#[derive(Debug, Clone)]
pub struct HeaderTags {
    kinds: [u64; PacketKind::COUNT],
    network: BitRange,
    to: BitRange,
    requester: BitRange,
}

/// Virtual networks in a header: Table 2-89 has VN0 as 0, and 2 or 3 for VNA.
const SHARED_NETWORK: u64 = 2;

impl HeaderTags {
    fn tag(&self, record: &PacketRecord) -> u64 {
        let network = if record.credit == Credit::Reserved { 0 } else { SHARED_NETWORK };
        let tag = self.network.set(self.kinds[record.kind as usize], network);
        self.requester.set(self.to.set(tag, record.to.into()), record.requester.into())
    }
}

/// Wires of one end of a link.
#[derive(Debug, Clone)]
pub struct LinkWires {
    // The ring stop.
    ring: [Tagged; Class::COUNT],
    ring_bypassed: Tagged,
    shared_acquired: Wire,
    /// Shared credits in use.
    pub shared: ShownLevel,
    shared_refused: (Wire, [u64; Class::COUNT]),
    reserved_used: (Wire, [u64; Class::COUNT]),
    reserved_refused: (Wire, [u64; Class::COUNT]),
    /// Credits towards input-output: in use, not to be had.
    pub io: [ShownLevel; IoClass::COUNT],
    pub io_rejected: [Tagged; IoClass::COUNT],
    // The link layer.
    /// Received, sent.
    flits: [FlitWires; 2],
    /// Power states, by [`LinkState`].
    pub power: [Wire; LinkState::COUNT],
    /// By [`LinkStall::index`].
    pub stalls: [Tagged; LinkStall::COUNT],
    transmit: Wire,
    transmit_bypassed: Pulses,
    receive: Wire,
    receive_bypassed: Pulses,
    receive_inserts: [Wire; Class::COUNT],
    receive_occupancy: [Wire; Class::COUNT],
    packets: Wire,
    header: HeaderTags,
    errors: Tagged,
    shared_consumed: Wire,
    reserved_consumed: (Wire, [u64; Class::COUNT]),
    returning: Wire,
    returned: Wire,
    /// Data for a slice that could not go straight to the core, and that could.
    direct: (Wire, [u64; 2]),
}

impl LinkWires {
    /// Asks who listens to what happens in each clock.
    pub fn listen<S: SignalSink>(&mut self, sink: &S) {
        [&mut self.transmit_bypassed, &mut self.receive_bypassed].into_iter().for_each(|wire| wire.listen(sink));
    }

    /// A packet is at a station where it is sent.
    #[inline(always)]
    pub fn sends<S: SignalSink>(&mut self, at: Tick, station: PacketStation, record: &PacketRecord, sink: &mut S) {
        let class = record.kind.class() as usize;
        let of_class = |(wire, tags): (Wire, [u64; Class::COUNT])| (wire, tags[class]);
        let pulsed = match station {
            PacketStation::PassesRing => self.ring_bypassed,
            PacketStation::NoShared => of_class(self.shared_refused),
            PacketStation::NoReserved => of_class(self.reserved_refused),
            PacketStation::Credited if record.credit == Credit::Reserved => of_class(self.reserved_used),
            PacketStation::EntersRing => return sink.enter(self.ring[class].0, self.ring[class].1, at),
            PacketStation::LeavesRing => return sink.leave(self.ring[class].0, self.ring[class].1, at),
            // A packet's flits come from the ring stop together.
            PacketStation::EntersTransmit => {
                return (0..record.kind.flits()).for_each(|_| sink.enter(self.transmit, 0, at));
            }
            PacketStation::LeavesTransmit => {
                return (0..record.kind.flits()).for_each(|_| sink.leave(self.transmit, 0, at));
            }
            PacketStation::Credited | PacketStation::Ended => {
                let Credit::Shared(count) = record.credit else { return };
                let taken = station == PacketStation::Credited;
                (0..count).for_each(|_| self.shared.change(taken, at, sink));
                if taken {
                    sink.pulse(self.shared_acquired, 0, at, count.into());
                }
                return;
            }
            _ => return,
        };
        sink.pulse(pulsed.0, pulsed.1, at, 1);
    }

    /// A packet is at a station where it is received.
    #[inline(always)]
    pub fn receives<S: SignalSink>(&self, at: Tick, station: PacketStation, record: &PacketRecord, sink: &mut S) {
        let class = record.kind.class() as usize;
        match station {
            PacketStation::Arrives => {
                sink.pulse(self.packets, self.header.tag(record), at, 1);
                if record.damaged {
                    sink.pulse(self.errors.0, self.errors.1, at, 1);
                }
                let (wire, tag) = match record.credit {
                    Credit::Shared(_) => (self.shared_consumed, 0),
                    Credit::Reserved => (self.reserved_consumed.0, self.reserved_consumed.1[class]),
                };
                sink.pulse(wire, tag, at, 1);
            }
            PacketStation::LeavesReceive => {
                for _ in 0..record.received_flits {
                    sink.leave(self.receive, 0, at);
                    sink.leave(self.receive_occupancy[class], 0, at);
                }
            }
            PacketStation::Handed => {
                if let Some(direct) = record.direct {
                    sink.pulse(self.direct.0, self.direct.1[usize::from(direct)], at, 1);
                }
                if let Credit::Shared(count) = record.credit {
                    (0..count).for_each(|_| sink.enter(self.returning, 0, at));
                }
            }
            PacketStation::Returned => {
                if let Credit::Shared(count) = record.credit {
                    (0..count).for_each(|_| sink.leave(self.returning, 0, at));
                    sink.pulse(self.returned, 0, at, count.into());
                }
            }
            _ => {}
        }
    }

    /// What the link sends or receives in a clock.
    pub fn carries<S: SignalSink>(&mut self, at: Tick, flits: Flits, sink: &mut S) {
        let wires = &mut self.flits[usize::from(flits.sends)];
        let mut now = [flits.room, 0, 0];
        for flit in flits.flits.iter().flatten() {
            now[0] = now[0].saturating_sub(1);
            now[if flit.header { 2 } else { 1 }] += 1;
        }
        if let Some(first) = flits.flits[0] {
            let (first, second) = (wires.of(first), flits.flits[1].map(|flit| wires.of(flit)));
            let both = second == Some(first);
            sink.pulse(first.0, first.1, at, 1 + u32::from(both));
            if let Some((wire, tag)) = second.filter(|_| !both) {
                sink.pulse(wire, tag, at, 1);
            }
        }
        for flit in flits.flits.iter().flatten() {
            self.passes_buffer(at, flits.sends, *flit, sink);
        }
        let wires = &mut self.flits[usize::from(flits.sends)];
        let (wire, tags) = wires.all;
        for ((old, new), tag) in wires.levels.iter_mut().zip(now).zip(tags) {
            (*old..new).for_each(|_| sink.enter(wire, tag, at));
            (new..*old).for_each(|_| sink.leave(wire, tag, at));
            *old = new;
        }
    }

    /// A flit goes past its buffer; or comes into the receive buffer.
    #[inline]
    fn passes_buffer<S: SignalSink>(&self, at: Tick, sends: bool, flit: Flit, sink: &mut S) {
        if !flit.buffered {
            let wire = if sends { &self.transmit_bypassed } else { &self.receive_bypassed };
            wire.emit(0, at, sink);
        } else if !sends {
            let class = flit.kind.class() as usize;
            sink.enter(self.receive, 0, at);
            sink.pulse(self.receive_inserts[class], 0, at, 1);
            sink.enter(self.receive_occupancy[class], 0, at);
        }
    }
}

impl FlitWires {
    /// Where a flit shows by its class.
    #[inline]
    const fn of(&self, flit: Flit) -> Tagged {
        let (one, two) = (&self.classes_1, &self.classes_2);
        match flit.kind.class() {
            Class::Snoop => (one.0, one.1[0]),
            Class::Home => (one.0, one.1[if flit.kind.is_request() { 1 } else { 2 }]),
            Class::Data => (one.0, one.1[if flit.header { 4 } else { 3 }]),
            Class::NoData => (two.0, two.1[!flit.passes_through as usize]),
            Class::Bypass => (two.0, two.1[if flit.header { 3 } else { 2 }]),
            Class::Standard => (two.0, two.1[4]),
        }
    }
}

/// In the order of [`Class`].
const CLASSES: [&str; Class::COUNT] = ["HOM", "SNP", "NDR", "DRS", "NCB", "NCS"];
/// In the order of [`IoClass`].
const IO_CLASSES: [&str; IoClass::COUNT] = ["DRS", "NCB", "NCS"];

/// Binds everything that links emit, socket by socket; `shared` are the shared credits of a sender.
pub fn bind_links(wiring: &mut Wiring, sockets: u8, shared: u8) -> Result<Vec<LinkWires>, WiringError> {
    let header = bind_header(wiring)?;
    let ports = (0..u16::from(sockets)).flat_map(|socket| (0..PORTS).map(move |port| (socket, port)));
    ports.map(|(socket, port)| bind_link(wiring, socket, port, header.clone(), shared.into())).collect()
}

fn bind_header(wiring: &Wiring) -> Result<HeaderTags, WiringError> {
    let value = |set: &str, name: &'static str| {
        let missing = || WiringError::NoSignal { unit: "qpi", name: format!("{name} in {set}") };
        wiring.family().named_value(set, name).ok_or_else(missing)
    };
    let attribute = |name: &str| wiring.attribute("qpi", "packets", name);
    let (class, opcode, state) = (attribute("mc")?, attribute("opc")?, attribute("rds")?);
    let mut kinds = [0; PacketKind::COUNT];
    for kind in PacketKind::ALL {
        let code = value("qpi-messages", kind.opcode())?;
        let message = opcode.set(class.set(0, code >> 4), code & 0xF);
        kinds[kind as usize] = state.set(message, value("qpi-data-states", kind.state().symbol())?);
    }
    // Node numbers have at most two bits: the fifth is never set.
    let (network, to, requester) = (attribute("vnw")?, attribute("dnid")?, attribute("rnid30")?);
    Ok(HeaderTags { kinds, network, to, requester })
}

fn bind_link(
    wiring: &mut Wiring,
    socket: u16,
    port: u16,
    header: HeaderTags,
    shared: u32,
) -> Result<LinkWires, WiringError> {
    let mut tags = |unit: &str, event: &str, names: [&str; Class::COUNT]| {
        let mut bound = (Wire::default(), [0; Class::COUNT]);
        for (tag, name) in bound.1.iter_mut().zip(names) {
            (bound.0, *tag) = wiring.subevent(socket, unit, port, event, name)?;
        }
        Ok::<_, WiringError>(bound)
    };
    let (ring, ring_tags) = tags("r3qpi", "RxR_INSERTS", CLASSES)?;
    let shared_refused = tags("r3qpi", "VNA_CREDITS_REJECT", CLASSES)?;
    let reserved_used = tags("r3qpi", "VN0_CREDITS_USED", CLASSES)?;
    let reserved_refused = tags("r3qpi", "VN0_CREDITS_REJECT", CLASSES)?;
    let reserved_consumed = tags("qpi", "RxL_CREDITS_CONSUMED_VN0", CLASSES)?;
    let sent = bind_flits(wiring, socket, port, ["TxL_FLITS_G0", "TxL_FLITS_G1", "TxL_FLITS_G2"])?;
    let received = bind_flits(wiring, socket, port, ["RxL_FLITS_G0", "RxL_FLITS_G1", "RxL_FLITS_G2"])?;
    let ring_bypassed = wiring.subevent(socket, "r3qpi", port, "RxR_BYPASSED", "AD")?;
    let mut to_io = |event: &str| {
        let mut tags = [ring_bypassed; IoClass::COUNT];
        for (tag, name) in tags.iter_mut().zip(IO_CLASSES) {
            *tag = wiring.subevent(socket, "r3qpi", port, event, name)?;
        }
        Ok::<_, WiringError>(tags)
    };
    let (acquired, used) = (to_io("IIO_CREDITS_ACQUIRED")?, to_io("IIO_CREDITS_USED")?);
    let io = std::array::from_fn(|class| ShownLevel::NOTHING.arrivals(acquired[class]).nonempty(used[class]));
    let io_rejected = to_io("IIO_CREDITS_REJECT")?;
    let (direct, success) = wiring.subevent(socket, "qpi", port, "DIRECT2CORE", "SUCCESS")?;
    let (_, failure) = wiring.subevent(socket, "qpi", port, "DIRECT2CORE", "FAILURE_RBT")?;
    let retry = [("FULL", LinkStall::RetryFull), ("ALMOST_FULL", LinkStall::RetryAlmostFull)];
    let mut stalls = [(Wire::default(), 0); LinkStall::COUNT];
    for (name, stall) in retry {
        stalls[stall.index()] = wiring.subevent(socket, "qpi", port, "TxL_CRC_NO_CREDITS", name)?;
    }
    for (name, class) in CLASSES.into_iter().zip(Class::ALL) {
        let stall = LinkStall::Crossing(class);
        stalls[stall.index()] = wiring.subevent(socket, "qpi", port, "RxL_STALLS", &format!("BGF_{name}"))?;
    }
    let mut of_class = |event: &str| {
        let mut wires = [ring; Class::COUNT];
        for (wire, class) in wires.iter_mut().zip(CLASSES) {
            *wire = wiring.signal(socket, "qpi", port, &format!("{event}_{class}"))?;
        }
        Ok::<_, WiringError>(wires)
    };
    let (receive_inserts, receive_occupancy) = (of_class("RxL_INSERTS")?, of_class("RxL_OCCUPANCY")?);
    let errors = wiring.subevent(socket, "qpi", port, "RxL_CRC_ERRORS", "NORMAL_OP")?;
    let mut stop = |name| wiring.signal(socket, "r3qpi", port, name);
    let (shared_acquired, shared_used, shared_out) =
        (stop("VNA_CREDITS_ACQUIRED")?, stop("VNA_CREDIT_CYCLES_USED")?, stop("VNA_CREDIT_CYCLES_OUT")?);
    let mut layer = |name| wiring.signal(socket, "qpi", port, name);
    Ok(LinkWires {
        ring: ring_tags.map(|tag| (ring, tag)),
        ring_bypassed,
        shared_acquired,
        shared: ShownLevel::NOTHING.nonempty((shared_used, 0)).full((shared_out, 0), shared),
        shared_refused,
        reserved_used,
        reserved_refused,
        io,
        io_rejected,
        flits: [received, sent],
        power: [
            layer("TxL0_POWER_CYCLES")?,
            layer("TxL0P_POWER_CYCLES")?,
            layer("RxL0_POWER_CYCLES")?,
            layer("RxL0P_POWER_CYCLES")?,
            layer("L1_POWER_CYCLES")?,
        ],
        stalls,
        transmit: layer("txq")?,
        transmit_bypassed: layer("TxL_BYPASSED")?.into(),
        receive: layer("rxq")?,
        receive_bypassed: layer("RxL_BYPASSED")?.into(),
        receive_inserts,
        receive_occupancy,
        packets: layer("packets")?,
        header,
        errors,
        shared_consumed: layer("RxL_CREDITS_CONSUMED_VNA")?,
        reserved_consumed,
        returning: layer("VNA_CREDIT_RETURN_OCCUPANCY")?,
        returned: layer("VNA_CREDIT_RETURNS")?,
        direct: (direct, [failure, success]),
    })
}

fn bind_flits(wiring: &mut Wiring, socket: u16, port: u16, events: [&str; 3]) -> Result<FlitWires, WiringError> {
    let mut tag = |event: &str, name: &str| wiring.subevent(socket, "qpi", port, event, name);
    let [all, one, two] = events;
    let ((all_wire, idle), (_, data), (_, header)) = (tag(all, "IDLE")?, tag(all, "DATA")?, tag(all, "NON_DATA")?);
    let (one_wire, snoop) = tag(one, "SNP")?;
    let ((_, request), (_, response)) = (tag(one, "HOM_REQ")?, tag(one, "HOM_NONREQ")?);
    let ((_, payload), (_, head)) = (tag(one, "DRS_DATA")?, tag(one, "DRS_NONDATA")?);
    let ((two_wire, through), (_, ends)) = (tag(two, "NDR_AD")?, tag(two, "NDR_AK")?);
    let ((_, bypass_payload), (_, bypass)) = (tag(two, "NCB_DATA")?, tag(two, "NCB_NONDATA")?);
    let (_, standard) = tag(two, "NCS")?;
    Ok(FlitWires {
        all: (all_wire, [idle, data, header]),
        classes_1: (one_wire, [snoop, request, response, payload, head]),
        classes_2: (two_wire, [through, ends, bypass_payload, bypass, standard]),
        levels: [0; 3],
    })
}
