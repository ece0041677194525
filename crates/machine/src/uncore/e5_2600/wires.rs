//! The signals that the model emits, bound once by name.

use pericore_dram::Layout;
use pericore_hardware::signal::{SignalSink, Wire, Wiring, WiringError};

use crate::ledger::LineState;
use crate::ledger::e5_2600::{IO_THREAD, Message, NO_THREAD, Opcodes, Record, RequestKind};
use crate::uncore::e5_2600::agent::AgentWires;
use crate::uncore::e5_2600::channel::ChannelWires;
use crate::uncore::e5_2600::device::DeviceWires;
use crate::uncore::e5_2600::home_queues::EgressWires;
use crate::uncore::e5_2600::parameters::{MOST_REGIONS, MOST_SOCKETS, Parameters};
use crate::uncore::e5_2600::pressure::PressureWires;
use crate::uncore::e5_2600::pulses::Pulses;
use crate::uncore::levels::Levels;

/// A wire with the tag of one subevent.
pub type Tagged = (Wire, u64);

/// Wires of one slice.
#[derive(Debug, Clone, Copy)]
pub struct SliceWires {
    pub lookup: Pulses,
    pub victim: Pulses,
    pub tor: Levels,
    pub ingress: Levels,
    pub messages: [Tagged; Message::COUNT],
    /// Of a machine with several sockets: snoops that dropped a copy silently.
    pub dropped_silently: Tagged,
    /// And stores that found their line in state S.
    pub stores_to_shared: Tagged,
    pub pressure: PressureWires,
}

/// The tags of the slices' signals, worked out as far as possible: the same for all slices.
#[derive(Debug, Clone, Copy)]
pub struct SliceTags {
    lookup_kind: [u64; RequestKind::COUNT],
    lookup_state: u8,
    lookup_nid: u8,
    lookup_tid: u8,
    victim_state: u8,
    victim_nid: u8,
    /// Victims belong to no thread.
    victim: u64,
    tor_kind: [u64; RequestKind::COUNT],
    tor_miss: u8,
    tor_nid: u8,
    tor_tid: u8,
    ingress_queue: u64,
    ingress_rejected: u64,
    ingress_ordered: u64,
    ingress_tid: u8,
    snoop_ingress: u64,
}

impl SliceTags {
    pub const fn lookup(&self, record: &Record) -> u64 {
        let (state, nid, tid) = (record.state as u64, record.nid as u64, record.tid as u64);
        let kind = self.lookup_kind[record.kind as usize];
        kind | state << self.lookup_state | nid << self.lookup_nid | tid << self.lookup_tid
    }

    pub const fn victim(&self, state: LineState, nid: u8) -> u64 {
        self.victim | (state as u64) << self.victim_state | (nid as u64) << self.victim_nid
    }

    pub const fn tor(&self, record: &Record) -> u64 {
        let (miss, nid, tid) = (record.miss as u64, record.nid as u64, record.tid as u64);
        self.tor_kind[record.kind as usize] | miss << self.tor_miss | nid << self.tor_nid | tid << self.tor_tid
    }

    /// Snoops belong to no thread.
    pub const fn snoop_ingress(&self) -> u64 {
        self.snoop_ingress
    }

    pub const fn ingress(&self, tid: u8) -> u64 {
        self.ingress_queue | (tid as u64) << self.ingress_tid
    }

    pub const fn ordered(&self, tid: u8) -> u64 {
        self.ingress_ordered | (tid as u64) << self.ingress_tid
    }

    pub const fn rejected(&self, tid: u8) -> u64 {
        self.ingress_rejected | (tid as u64) << self.ingress_tid
    }
}

/// Wires of one home agent.
#[derive(Debug, Clone, Copy)]
pub struct HomeWires {
    /// With the tags of requests of this socket and of others.
    pub reads: (Pulses, [u64; 2]),
    pub writes: (Pulses, [u64; 2]),
    pub tracker: (Levels, [u64; 2]),
    /// Requests by region.
    pub regions: [(Pulses, u64); MOST_REGIONS],
    pub written: (Pulses, u64),
    pub written_part: (Pulses, u64),
    pub to_cache: (Pulses, u64),
    pub to_core: (Pulses, u64),
    pub to_remote: Tagged,
    pub completion: Pulses,
    pub completion_remote: Tagged,
    pub snoops: Tagged,
    /// Messages that wait for a link: the tags of the address ring for either link, and of the data ring.
    pub no_link: (Wire, [u64; 4]),
    /// Full queues towards the rings.
    pub egress: EgressWires,
    /// With the tags of no conflict in hand and of a conflict.
    pub conflicts: (Wire, [u64; 2]),
    /// Reads that found their line's directory bit clear, and set; bits that were cleared, and set.
    pub directory_lookup: (Wire, [u64; 2]),
    pub directory_update: (Wire, [u64; 2]),
    /// Reads that could not go the short way to their channel, and those that could.
    pub bypass: (Pulses, [u64; 2]),
    /// For reads and for writes, with the channels' tags.
    pub no_credits: [(Levels, [u64; 4]); 2],
    pub direct: Pulses,
}

impl HomeWires {
    /// Asks who listens; to be done whenever counters may have been programmed. True if what stands must be said.
    pub fn listen<S: SignalSink>(&mut self, sink: &S) -> bool {
        let Self { reads, writes, bypass, written, written_part, to_cache, to_core, .. } = self;
        [&mut reads.0, &mut writes.0, &mut bypass.0].into_iter().for_each(|wire| wire.listen(sink));
        let tagged = [written, written_part, to_cache, to_core].into_iter().chain(&mut self.regions);
        tagged.for_each(|(wire, _)| wire.listen(sink));
        self.completion.listen(sink);
        self.direct.listen(sink);
        let [reads, writes] = &mut self.no_credits;
        [&mut self.tracker.0, &mut reads.0, &mut writes.0].into_iter().fold(false, |new, wire| wire.listen(sink) | new)
    }
}

/// All wires of a machine.
#[derive(Debug)]
pub struct Wires {
    pub slices: Vec<SliceWires>,
    pub tags: SliceTags,
    pub homes: Vec<HomeWires>,
    pub channels: Vec<ChannelWires>,
    /// By socket.
    pub power: Vec<super::power::PowerWires>,
    pub agents: Vec<AgentWires>,
    pub devices: Vec<DeviceWires>,
}

impl Wires {
    /// Binds everything that the model emits, for all sockets.
    pub fn bind(wiring: &mut Wiring, parameters: &Parameters, opcodes: &Opcodes) -> Result<Self, WiringError> {
        let mut wires = Self {
            slices: vec![],
            tags: bind_tags(wiring, opcodes, parameters.sockets > 1)?,
            homes: vec![],
            channels: vec![],
            power: vec![],
            agents: vec![],
            devices: vec![],
        };
        for socket in 0..u16::from(parameters.sockets) {
            for slice in 0..u16::from(parameters.cores) {
                wires.slices.push(bind_slice(wiring, socket, slice, parameters.sockets > 1)?);
            }
            wires.homes.push(bind_home(wiring, socket, parameters)?);
            for channel in 0..u16::from(parameters.channels) {
                wires.channels.push(bind_channel(wiring, socket, channel, parameters.dram.ranks)?);
            }
            wires.power.push(super::power::PowerWires::bind(wiring, socket)?);
            wires.agents.push(AgentWires::bind(wiring, socket)?);
            wires.devices.push(DeviceWires::bind(wiring, socket)?);
        }
        Ok(wires)
    }
}

/// The highest node number.
const LAST_NODE: u8 = MOST_SOCKETS as u8 - 1;

fn bind_slice(wiring: &mut Wiring, socket: u16, slice: u16, others: bool) -> Result<SliceWires, WiringError> {
    // Binds the queue by its subevent, so that only this queue's events count as modelled.
    wiring.subevent(socket, "cbo", slice, "RxR_INSERTS", "IRQ")?;
    wiring.subevent(socket, "cbo", slice, "RxR_INSERTS", "IRQ_REJECTED")?;
    wiring.subevent(socket, "cbo", slice, "RxR_INSERTS", "VFIFO")?;
    let pressure = PressureWires::bind(wiring, socket, slice, others)?;
    let mut message = |name| wiring.subevent(socket, "cbo", slice, "TxR_INSERTS", name);
    let messages = [
        message("AD_CACHE")?,
        message("AK_CACHE")?,
        message("BL_CACHE")?,
        message("IV_CACHE")?,
        message("AD_CORE")?,
        message("AK_CORE")?,
        message("BL_CORE")?,
    ];
    let (mut dropped_silently, mut stores_to_shared) = (messages[0], messages[0]);
    if others {
        wiring.subevent(socket, "cbo", slice, "RxR_INSERTS", "IPQ")?;
        dropped_silently = wiring.subevent(socket, "cbo", slice, "MISC", "RSPI_WAS_FSE")?;
        stores_to_shared = wiring.subevent(socket, "cbo", slice, "MISC", "RFO_HIT_S")?;
    }
    let mut signal = |name| wiring.signal(socket, "cbo", slice, name);
    Ok(SliceWires {
        lookup: signal("llc_lookup")?.into(),
        victim: signal("llc_victim")?.into(),
        tor: signal("tor")?.into(),
        ingress: signal("ingress")?.into(),
        messages,
        dropped_silently,
        stores_to_shared,
        pressure,
    })
}

fn bind_tags(wiring: &mut Wiring, opcodes: &Opcodes, others: bool) -> Result<SliceTags, WiringError> {
    let (_, ingress_queue) = wiring.subevent(0, "cbo", 0, "RxR_INSERTS", "IRQ")?;
    let snoop_queue = if others { wiring.subevent(0, "cbo", 0, "RxR_INSERTS", "IPQ")?.1 } else { 0 };
    let (_, ingress_ordered) = wiring.subevent(0, "cbo", 0, "RxR_INSERTS", "VFIFO")?;
    let (_, ingress_rejected) = wiring.subevent(0, "cbo", 0, "RxR_INSERTS", "IRQ_REJECTED")?;
    let attribute = |signal: &str, name: &str| wiring.attribute("cbo", signal, name);
    let shift = |signal: &str, name: &str, most: u8| {
        let bits = attribute(signal, name)?;
        // Tags are put together without masks.
        assert!(u64::from(most) <= bits.max(), "{signal}.{name} is too narrow for {most}");
        Ok::<u8, WiringError>(bits.lsb)
    };
    let (read, write, snoop) =
        (attribute("llc_lookup", "read")?, attribute("llc_lookup", "write")?, attribute("llc_lookup", "snoop")?);
    let lookup_kind = RequestKind::ALL.map(|kind| {
        let tag = write.set(read.set(0, (kind == RequestKind::DataRead).into()), kind.is_write().into());
        snoop.set(tag, (kind == RequestKind::Snoop).into())
    });
    let tor_opcode = attribute("tor", "opc")?;
    let (irq, eviction, writeback) =
        (attribute("tor", "irq")?, attribute("tor", "eviction")?, attribute("tor", "writeback")?);
    let tor_kind = RequestKind::ALL.map(|kind| {
        let opcode = opcodes.of(kind);
        let tag = irq.set(tor_opcode.set(0, opcode.unwrap_or(0)), opcode.is_some().into());
        let carries = kind.is_writeback() || kind.is_stream();
        writeback.set(eviction.set(tag, (kind == RequestKind::Eviction).into()), carries.into())
    });
    let most_state = LineState::COUNT as u8 - 1;
    Ok(SliceTags {
        lookup_kind,
        lookup_state: shift("llc_lookup", "state", most_state)?,
        lookup_nid: shift("llc_lookup", "nid", LAST_NODE)?,
        lookup_tid: shift("llc_lookup", "tid", IO_THREAD)?,
        victim_state: shift("llc_victim", "state", most_state)?,
        victim_nid: shift("llc_victim", "nid", LAST_NODE)?,
        victim: u64::from(NO_THREAD) << shift("llc_victim", "tid", NO_THREAD)?,
        tor_kind,
        tor_miss: shift("tor", "miss", 1)?,
        tor_nid: shift("tor", "nid", LAST_NODE)?,
        tor_tid: shift("tor", "tid", IO_THREAD)?,
        ingress_queue,
        snoop_ingress: snoop_queue | u64::from(NO_THREAD) << shift("ingress", "tid", NO_THREAD)?,
        ingress_rejected,
        ingress_ordered,
        ingress_tid: shift("ingress", "tid", IO_THREAD)?,
    })
}

/// The parts of a subevent that requests of this socket and of others have: the lowest of the bits that together mean "from
/// anywhere", and the next.
const fn by_origin((wire, tag): Tagged) -> (Wire, [u64; 2]) {
    let rest = tag & (tag - 1);
    (wire, [tag & tag.wrapping_neg(), rest & rest.wrapping_neg()])
}

fn channel_tags(
    subevent: &mut impl FnMut(&str, &str) -> Result<Tagged, WiringError>,
    event: &str,
    channels: u8,
) -> Result<(Levels, [u64; 4]), WiringError> {
    let (wire, first) = subevent(event, "CHN0")?;
    let mut tags = [first; 4];
    for (tag, name) in tags.iter_mut().zip(["CHN0", "CHN1", "CHN2", "CHN3"]).take(channels.into()) {
        (_, *tag) = subevent(event, name)?;
    }
    Ok((wire.into(), tags))
}

/// Regions that the first of the two events on them counts.
const REGIONS_OF_FIRST_EVENT: usize = 8;

fn bind_home(wiring: &mut Wiring, socket: u16, parameters: &Parameters) -> Result<HomeWires, WiringError> {
    let (others, channels) = (parameters.sockets > 1, parameters.channels);
    let mut subevent = |event: &str, name: &str| wiring.subevent(socket, "ha", 0, event, name);
    let (reads, writes) = (subevent("REQUESTS", "READS")?, subevent("REQUESTS", "WRITES")?);
    let tracker = subevent("TRACKER_INSERTS", "ALL")?;
    let mut regions = [tracker; MOST_REGIONS];
    for (number, region) in regions.iter_mut().enumerate().take(parameters.regions.into()) {
        let event = if number < REGIONS_OF_FIRST_EVENT { "TAD_REQUESTS_G0" } else { "TAD_REQUESTS_G1" };
        *region = subevent(event, &format!("REGION{number}"))?;
    }
    let written = subevent("IMC_WRITES", "FULL")?;
    let written_part = subevent("IMC_WRITES", "PARTIAL")?;
    let (to_cache, to_core) = (subevent("TxR_BL", "DRS_CACHE")?, subevent("TxR_BL", "DRS_CORE")?);
    let ((bypass, taken), (_, not_taken)) = (subevent("BYPASS_IMC", "TAKEN")?, subevent("BYPASS_IMC", "NOT_TAKEN")?);
    let no_credits = [
        channel_tags(&mut subevent, "RPQ_CYCLES_NO_REG_CREDITS", channels)?,
        channel_tags(&mut subevent, "WPQ_CYCLES_NO_REG_CREDITS", channels)?,
    ];
    let (conflicts, no_conflict) = subevent("CONFLICT_CYCLES", "NO_CONFLICT")?;
    let mut no_link = (conflicts, [0; 4]);
    let (mut to_remote, mut completion_remote, mut snoops, mut conflict) = (to_cache, to_cache, to_cache, 0);
    if others {
        (_, conflict) = subevent("CONFLICT_CYCLES", "CONFLICT")?;
        snoops = subevent("TxR_AD", "SNP")?;
        for (tag, name) in no_link.1.iter_mut().zip(["AD_QPI0", "AD_QPI1", "BL_QPI0", "BL_QPI1"]) {
            (no_link.0, *tag) = subevent("IGR_NO_CREDIT_CYCLES", name)?;
        }

        to_remote = subevent("TxR_BL", "DRS_QPI")?;
        completion_remote = subevent("TxR_AD", "NDR")?;
    }
    let none = (conflicts, [0; 2]);
    let (mut directory_lookup, mut directory_update) = (none, none);
    if others && parameters.directory {
        let ((lookup, snp), (update, set)) =
            (subevent("DIRECTORY_LOOKUP", "SNP")?, subevent("DIRECTORY_UPDATE", "SET")?);
        directory_lookup = (lookup, [subevent("DIRECTORY_LOOKUP", "NO_SNP")?.1, snp]);
        directory_update = (update, [subevent("DIRECTORY_UPDATE", "CLEAR")?.1, set]);
    }
    let egress = EgressWires::bind(wiring, socket, others, to_cache)?;
    Ok(HomeWires {
        reads: (reads.0.into(), by_origin(reads).1),
        writes: (writes.0.into(), by_origin(writes).1),
        tracker: (tracker.0.into(), by_origin(tracker).1),
        regions: regions.map(Pulses::tagged),
        written: Pulses::tagged(written),
        written_part: Pulses::tagged(written_part),
        to_cache: Pulses::tagged(to_cache),
        to_core: Pulses::tagged(to_core),
        to_remote,
        completion_remote,
        snoops,
        no_link,
        egress,
        conflicts: (conflicts, [no_conflict, conflict]),
        directory_lookup,
        directory_update,
        bypass: (bypass.into(), [not_taken, taken]),
        no_credits,
        completion: wiring.signal(socket, "ha", 0, "TxR_AK_NDR")?.into(),
        direct: wiring.signal(socket, "ha", 0, "DIRECT2CORE_COUNT")?.into(),
    })
}

const RANK_NAMES: [&str; Layout::RANKS] = ["RANK0", "RANK1", "RANK2", "RANK3", "RANK4", "RANK5", "RANK6", "RANK7"];

fn bind_channel(wiring: &mut Wiring, socket: u16, channel: u16, ranks: u8) -> Result<ChannelWires, WiringError> {
    let activate = (wiring.signal(socket, "imc", channel, "ACT_COUNT")?, 0);
    let precharge_all = (wiring.signal(socket, "imc", channel, "DRAM_PRE_ALL")?, 0);
    let mut subevent = |event, name| wiring.subevent(socket, "imc", channel, event, name);
    // In the order of `Command`.
    let commands = [
        activate,
        subevent("PRE_COUNT", "PAGE_MISS")?,
        subevent("PRE_COUNT", "PAGE_CLOSE")?,
        precharge_all,
        subevent("CAS_COUNT", "RD_REG")?,
        subevent("CAS_COUNT", "RD_UNDERFILL")?,
        subevent("CAS_COUNT", "WR_WMM")?,
        subevent("CAS_COUNT", "WR_RMM")?,
        subevent("DRAM_REFRESH", "HIGH")?,
        subevent("DRAM_REFRESH", "PANIC")?,
    ];
    let (mode, read) = subevent("MAJOR_MODES", "READ")?;
    let (write, partial) = (subevent("MAJOR_MODES", "WRITE")?.1, subevent("MAJOR_MODES", "PARTIAL")?.1);
    let (preemption, preempt_read) = subevent("PREEMPTION", "RD_PREEMPT_RD")?;
    let preempt_write = subevent("PREEMPTION", "RD_PREEMPT_WR")?.1;
    let mut by_rank = |event| {
        let (wire, first) = subevent(event, RANK_NAMES[0])?;
        let mut tags = [first; Layout::RANKS];
        for (tag, name) in tags.iter_mut().zip(RANK_NAMES).take(ranks.into()) {
            (_, *tag) = subevent(event, name)?;
        }
        Ok((wire, tags))
    };
    let (clock, throttle) = (by_rank("POWER_CKE_CYCLES")?, by_rank("POWER_THROTTLE_CYCLES")?);
    let mut signal = |name| wiring.signal(socket, "imc", channel, name);
    Ok(ChannelWires {
        commands: commands.map(Pulses::tagged),
        queue: [signal("rpq")?.into(), signal("wpq")?.into()],
        full: [signal("RPQ_CYCLES_FULL")?.into(), signal("WPQ_CYCLES_FULL")?.into()],
        read_hit: signal("WPQ_READ_HIT")?,
        write_hit: signal("WPQ_WRITE_HIT")?,
        mode: (mode.into(), [read, write, partial]),
        preemption: (preemption, [preempt_read, preempt_write]),
        clock,
        throttle,
        critical: signal("POWER_CRITICAL_THROTTLE_CYCLES")?,
        self_refresh: signal("POWER_SELF_REFRESH")?,
        all_down: [signal("POWER_CHANNEL_PPD")?, signal("POWER_CHANNEL_DLLOFF")?],
        corrected: signal("ECC_CORRECTABLE_ERRORS")?,
    })
}
