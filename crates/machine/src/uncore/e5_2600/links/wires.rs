//! The signals of links, bound once by name.

use pericore_catalog::BitRange;
use pericore_hardware::signal::{Wire, Wiring, WiringError};

use super::PORTS;
use crate::ledger::e5_2600::{Class, Credit, IoClass, LinkState, PacketCodes, PacketKind, PacketRecord};
use crate::uncore::e5_2600::wires::Tagged;

/// Flits of one direction.
#[derive(Debug, Clone, Copy)]
pub struct FlitWires {
    /// Idle, payload, header.
    pub all: (Wire, [u64; 3]),
    /// Snoop, home request, home answer, payload and header of data.
    pub classes_1: (Wire, [u64; 5]),
    /// Responses without data that pass through the receiving socket, and others; payload and header of non-coherent writes and
    /// interrupts; non-coherent reads.
    pub classes_2: (Wire, [u64; 5]),
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
    pub fn tag(&self, record: &PacketRecord) -> u64 {
        let network = if record.credit == Credit::Reserved { 0 } else { SHARED_NETWORK };
        let tag = self.network.set(self.kinds[record.kind as usize], network);
        self.requester.set(self.to.set(tag, record.to.into()), record.requester.into())
    }
}

/// Wires of one end of a link.
#[derive(Debug, Clone)]
pub struct LinkWires {
    // The ring stop.
    pub ring: [Tagged; Class::COUNT],
    pub ring_bypassed: Tagged,
    pub shared_acquired: Wire,
    pub shared_used: Wire,
    pub shared_out: Wire,
    pub shared_refused: (Wire, [u64; Class::COUNT]),
    pub reserved_used: (Wire, [u64; Class::COUNT]),
    pub reserved_refused: (Wire, [u64; Class::COUNT]),
    /// Credits towards input-output: taken, in use, not to be had.
    pub io_acquired: [Tagged; IoClass::COUNT],
    pub io_used: [Tagged; IoClass::COUNT],
    pub io_rejected: [Tagged; IoClass::COUNT],
    // The link layer.
    pub sent: FlitWires,
    pub received: FlitWires,
    /// Power states, by [`LinkState`].
    pub power: [Wire; LinkState::COUNT],
    pub transmit: Wire,
    pub transmit_bypassed: Wire,
    pub receive: Wire,
    pub receive_bypassed: Wire,
    pub receive_inserts: [Wire; Class::COUNT],
    pub receive_occupancy: [Wire; Class::COUNT],
    pub packets: Wire,
    pub header: HeaderTags,
    pub errors: Tagged,
    pub shared_consumed: Wire,
    pub reserved_consumed: (Wire, [u64; Class::COUNT]),
    pub returning: Wire,
    pub returned: Wire,
    /// Data for a slice that could not go straight to the core, and that could.
    pub direct: (Wire, [u64; 2]),
}

/// In the order of [`Class`].
const CLASSES: [&str; Class::COUNT] = ["HOM", "SNP", "NDR", "DRS", "NCB", "NCS"];
/// In the order of [`IoClass`].
const IO_CLASSES: [&str; IoClass::COUNT] = ["DRS", "NCB", "NCS"];

/// Binds everything that links emit, socket by socket.
pub fn bind(wiring: &mut Wiring, sockets: u8) -> Result<Vec<LinkWires>, WiringError> {
    let header = bind_header(wiring)?;
    let ports = (0..u16::from(sockets)).flat_map(|socket| (0..PORTS).map(move |port| (socket, port)));
    ports.map(|(socket, port)| bind_link(wiring, socket, port, header.clone())).collect()
}

/// The numbers in packet headers, from the catalogue's value sets.
pub fn codes(wiring: &Wiring) -> Result<PacketCodes, WiringError> {
    let value = |set: &str, name: &'static str| {
        let missing = || WiringError::NoSignal { unit: "qpi", name: format!("{name} in {set}") };
        Ok(wiring.family().named_value(set, name).ok_or_else(missing)? as u8)
    };
    let mut codes = PacketCodes { messages: [0; PacketKind::COUNT], states: [0; PacketKind::COUNT] };
    for kind in PacketKind::ALL {
        codes.messages[kind as usize] = value("qpi-messages", kind.opcode())?;
        codes.states[kind as usize] = value("qpi-data-states", kind.state().letter())?;
    }
    Ok(codes)
}

fn bind_header(wiring: &Wiring) -> Result<HeaderTags, WiringError> {
    let codes = codes(wiring)?;
    let attribute = |name: &str| wiring.attribute("qpi", "packets", name);
    let (class, opcode, state) = (attribute("mc")?, attribute("opc")?, attribute("rds")?);
    let kinds = PacketKind::ALL.map(|kind| {
        let code = u64::from(codes.messages[kind as usize]);
        state.set(opcode.set(class.set(0, code >> 4), code & 0xF), codes.states[kind as usize].into())
    });
    // Node numbers have at most two bits: the fifth is never set.
    let (network, to, requester) = (attribute("vnw")?, attribute("dnid")?, attribute("rnid30")?);
    Ok(HeaderTags { kinds, network, to, requester })
}

fn bind_link(wiring: &mut Wiring, socket: u16, port: u16, header: HeaderTags) -> Result<LinkWires, WiringError> {
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
    let (io_acquired, io_used) = (to_io("IIO_CREDITS_ACQUIRED")?, to_io("IIO_CREDITS_USED")?);
    let io_rejected = to_io("IIO_CREDITS_REJECT")?;
    let (direct, success) = wiring.subevent(socket, "qpi", port, "DIRECT2CORE", "SUCCESS")?;
    let (_, failure) = wiring.subevent(socket, "qpi", port, "DIRECT2CORE", "FAILURE_RBT")?;
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
        shared_used,
        shared_out,
        shared_refused,
        reserved_used,
        reserved_refused,
        io_acquired,
        io_used,
        io_rejected,
        sent,
        received,
        power: [
            layer("TxL0_POWER_CYCLES")?,
            layer("TxL0P_POWER_CYCLES")?,
            layer("RxL0_POWER_CYCLES")?,
            layer("RxL0P_POWER_CYCLES")?,
            layer("L1_POWER_CYCLES")?,
        ],
        transmit: layer("txq")?,
        transmit_bypassed: layer("TxL_BYPASSED")?,
        receive: layer("rxq")?,
        receive_bypassed: layer("RxL_BYPASSED")?,
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
    let ((_, request), (_, answer)) = (tag(one, "HOM_REQ")?, tag(one, "HOM_NONREQ")?);
    let ((_, payload), (_, head)) = (tag(one, "DRS_DATA")?, tag(one, "DRS_NONDATA")?);
    let ((two_wire, through), (_, ends)) = (tag(two, "NDR_AD")?, tag(two, "NDR_AK")?);
    let ((_, bypass_payload), (_, bypass)) = (tag(two, "NCB_DATA")?, tag(two, "NCB_NONDATA")?);
    let (_, standard) = tag(two, "NCS")?;
    Ok(FlitWires {
        all: (all_wire, [idle, data, header]),
        classes_1: (one_wire, [snoop, request, answer, payload, head]),
        classes_2: (two_wire, [through, ends, bypass_payload, bypass, standard]),
    })
}
