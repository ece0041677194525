//! The signals of home agents.

use pericore_engine::Tick;
use pericore_facts::e5_2600::{Rare, Record, RequestKind, RequestStation, RingKind};
use pericore_hardware::signal::{SignalSink, Wire, Wiring, WiringError};
use pericore_models::e5_2600::Parameters;

use super::level::{ShownLevel, Tagged};
use super::pulses::Pulses;
use crate::signals::levels::Levels;

/// Regions that the events on a home agent's memory count (Tables 2-50, 2-51).
const REGIONS: usize = 12;
/// Regions that the first of the two events on them counts.
const REGIONS_OF_FIRST_EVENT: usize = 8;
/// Banks of an egress queue, and the messages that fill one (assumption).
const BANKS: usize = 2;
const BANK_ROOM: u32 = 8;

/// Wires of one home agent.
#[derive(Debug)]
pub struct HomeWires {
    /// With the tags of requests of this socket and of others.
    reads: (Pulses, [u64; 2]),
    writes: (Pulses, [u64; 2]),
    pub tracker: (Levels, [u64; 2]),
    /// Requests by region.
    regions: [(Pulses, u64); REGIONS],
    /// Whole lines, parts, whole lines of isochronous devices.
    written: [(Pulses, u64); 3],
    to_cache: (Pulses, u64),
    to_core: (Pulses, u64),
    to_remote: Tagged,
    completion: Pulses,
    completion_remote: Tagged,
    snoops: Tagged,
    /// Messages that wait for a link: by the address ring for either link, and by the data ring.
    pub no_link: [ShownLevel; 4],
    /// Messages that wait: by ring and bank; the home agent sends none by the ring of snoops.
    pub egress: [[ShownLevel; BANKS]; RingKind::COUNT - 1],
    pub conflicts: ShownLevel,
    /// Reads that found their line's directory bit clear, and set; bits that were cleared, and set.
    directory_lookup: (Wire, [u64; 2]),
    directory_update: (Wire, [u64; 2]),
    /// Reads that could not go the short way to their channel, and those that could.
    bypass: (Pulses, [u64; 2]),
    /// Credits in use, for reads and for writes, by channel.
    pub credits: [[ShownLevel; 4]; 2],
    /// The same of those for isochronous requests.
    pub special_credits: [[ShownLevel; 4]; 2],
    direct: Pulses,
    direct_overridden: Pulses,
    /// No data goes straight to cores.
    pub direct_disabled: ShownLevel,
}

impl HomeWires {
    /// Asks who listens; to be done whenever counters may have been programmed. True if what stands must be said.
    pub fn listen<S: SignalSink>(&mut self, sink: &S) -> bool {
        let Self {
            reads,
            writes,
            bypass,
            written,
            to_cache,
            to_core,
            regions,
            completion,
            direct,
            direct_overridden,
            ..
        } = self;
        let pulses = [&mut reads.0, &mut writes.0, &mut bypass.0, completion, direct, direct_overridden].into_iter();
        let tagged = written.iter_mut().chain([to_cache, to_core]).chain(regions).map(|(wire, _)| wire);
        pulses.chain(tagged).for_each(|wire| wire.listen(sink));
        let credits = self.credits.iter_mut().chain(&mut self.special_credits).flatten();
        credits.fold(self.tracker.0.listen(sink), |new, level| level.listen_to_full(sink) | new)
    }

    /// A request is at a station in the home agent.
    #[inline(always)]
    pub fn request<S: SignalSink>(&self, at: Tick, station: RequestStation, record: &Record, sink: &mut S) {
        let remote = usize::from(record.remote);
        match station {
            RequestStation::AtHome => {
                // What asks for the line only leaves memory alone.
                if !record.kind.only_claims() {
                    let (wire, tags) = if record.kind.reads_memory() { &self.reads } else { &self.writes };
                    wire.emit(tags[remote], at, sink);
                }
                let (wire, tag) = &self.regions[usize::from(record.region) % REGIONS];
                wire.emit(*tag, at, sink);
                self.tracker.0.enter(self.tracker.1[remote], at, sink);
            }
            RequestStation::SnoopWritten => {
                self.writes.0.emit(self.writes.1[remote], at, sink);
                let (wire, tag) = &self.regions[usize::from(record.region) % REGIONS];
                wire.emit(*tag, at, sink);
            }
            RequestStation::Routed => {
                self.bypass.0.emit(self.bypass.1[usize::from(record.bypass == Some(true))], at, sink)
            }
            RequestStation::Written => {
                let part = record.kind == RequestKind::StreamPart && !record.completed;
                let (wire, tag) = &self.written[if record.isochronous { 2 } else { usize::from(part) }];
                wire.emit(*tag, at, sink);
            }
            RequestStation::DirectoryRead => self.directory(at, self.directory_lookup, record, sink),
            RequestStation::DirectoryChanged => self.directory(at, self.directory_update, record, sink),
            RequestStation::Answered => {
                self.tracker.0.leave(self.tracker.1[remote], at, sink);
                self.responds(at, record, sink);
            }
            RequestStation::Snooped => sink.pulse(self.snoops.0, self.snoops.1, at, 1),
            RequestStation::CompletedElsewhere => sink.pulse(self.completion_remote.0, self.completion_remote.1, at, 1),
            _ => {}
        }
    }

    /// Data or a completion goes out.
    #[inline(always)]
    fn responds<S: SignalSink>(&self, at: Tick, record: &Record, sink: &mut S) {
        // Data that a cache has forwarded is not sent again.
        let data = record.kind.reads_memory() && !record.forwarded;
        if record.remote {
            // Completions without data go by the address ring, in their turn.
            if data {
                sink.pulse(self.to_remote.0, self.to_remote.1, at, 1);
            }
        } else if !data {
            self.completion.emit(0, at, sink);
            if record.has(Rare::DirectOverridden) {
                self.direct_overridden.emit(0, at, sink);
            }
        } else if record.direct_to_core {
            // Loads get their data straight.
            self.direct.emit(0, at, sink);
            self.to_core.0.emit(self.to_core.1, at, sink);
            self.completion.emit(0, at, sink);
        } else {
            self.to_cache.0.emit(self.to_cache.1, at, sink);
        }
    }

    fn directory<S: SignalSink>(&self, at: Tick, (wire, tags): (Wire, [u64; 2]), record: &Record, sink: &mut S) {
        if let Some(elsewhere) = record.directory {
            sink.pulse(wire, tags[usize::from(elsewhere)], at, 1);
        }
    }
}

/// The parts of a subevent that requests of this socket and of others have: the lowest of the bits that together mean
/// "from anywhere", and the next.
const fn by_origin((wire, tag): Tagged) -> (Wire, [u64; 2]) {
    let rest = tag & (tag - 1);
    (wire, [tag & tag.wrapping_neg(), rest & rest.wrapping_neg()])
}

/// Binds the home agent of a socket.
pub fn bind_home(wiring: &mut Wiring, socket: u16, parameters: &Parameters) -> Result<HomeWires, WiringError> {
    let others = parameters.sockets > 1;
    let mut subevent = |event: &str, name: &str| wiring.subevent(socket, "ha", 0, event, name);
    let (reads, writes) = (subevent("REQUESTS", "READS")?, subevent("REQUESTS", "WRITES")?);
    let tracker = subevent("TRACKER_INSERTS", "ALL")?;
    let mut regions = [tracker; REGIONS];
    for (number, region) in regions.iter_mut().enumerate().take(parameters.regions.into()) {
        let event = if number < REGIONS_OF_FIRST_EVENT { "TAD_REQUESTS_G0" } else { "TAD_REQUESTS_G1" };
        *region = subevent(event, &format!("REGION{number}"))?;
    }
    let written = subevent("IMC_WRITES", "FULL")?;
    let written_part = subevent("IMC_WRITES", "PARTIAL")?;
    let special = parameters.isochronous_entries;
    let written_special = if special > 0 { subevent("IMC_WRITES", "FULL_ISOCH")? } else { written };
    let (to_cache, to_core) = (subevent("TxR_BL", "DRS_CACHE")?, subevent("TxR_BL", "DRS_CORE")?);
    let ((bypass, taken), (_, not_taken)) = (subevent("BYPASS_IMC", "TAKEN")?, subevent("BYPASS_IMC", "NOT_TAKEN")?);
    let mut of_channels = |kind: &str, rooms: [u8; 2]| {
        let mut credits = [[ShownLevel::NOTHING; 4]; 2];
        for ((of_queue, queue), room) in credits.iter_mut().zip(["RPQ", "WPQ"]).zip(rooms) {
            let of_queue = of_queue.iter_mut().zip(["CHN0", "CHN1", "CHN2", "CHN3"]);
            for (level, name) in of_queue.take(parameters.channels.into()).filter(|_| room > 0) {
                let tagged = subevent(&format!("{queue}_CYCLES_NO_{kind}_CREDITS"), name)?;
                *level = ShownLevel::NOTHING.full(tagged, room.into());
            }
        }
        Ok::<_, WiringError>(credits)
    };
    let credits = of_channels("REG", parameters.regular_entries())?;
    let special_credits = of_channels("SPEC", [special; 2])?;
    let no_conflict = subevent("CONFLICT_CYCLES", "NO_CONFLICT")?;
    let mut conflicts = ShownLevel::NOTHING.empty(no_conflict);
    let (mut to_remote, mut completion_remote, mut snoops) = (to_cache, to_cache, to_cache);
    let mut no_link = [ShownLevel::NOTHING; 4];
    let mut egress = [[ShownLevel::NOTHING; BANKS]; RingKind::COUNT - 1];
    for (ring, banks) in [(RingKind::Address, "AD"), (RingKind::Acknowledge, "AK"), (RingKind::Block, "BL")] {
        // Within the socket, only acknowledgements wait.
        if !others && ring != RingKind::Acknowledge {
            continue;
        }
        for (level, name) in egress[ring as usize].iter_mut().zip(["SCHED0", "SCHED1"]) {
            let mut figure = |of: &str| subevent(&format!("TxR_{banks}_{of}"), name);
            *level = ShownLevel::NOTHING.entries(figure("OCCUPANCY")?);
            // That of acknowledgements has room for all that wait (assumption).
            if ring != RingKind::Acknowledge {
                *level = level.full(figure("CYCLES_FULL")?, BANK_ROOM);
            }
        }
    }
    if others {
        conflicts = conflicts.nonempty(subevent("CONFLICT_CYCLES", "CONFLICT")?);
        snoops = subevent("TxR_AD", "SNP")?;
        for (level, name) in no_link.iter_mut().zip(["AD_QPI0", "AD_QPI1", "BL_QPI0", "BL_QPI1"]) {
            *level = ShownLevel::NOTHING.nonempty(subevent("IGR_NO_CREDIT_CYCLES", name)?);
        }
        to_remote = subevent("TxR_BL", "DRS_QPI")?;
        completion_remote = subevent("TxR_AD", "NDR")?;
    }
    let none = (to_cache.0, [0; 2]);
    let (mut directory_lookup, mut directory_update) = (none, none);
    if others && parameters.directory {
        let ((lookup, snp), (update, set)) =
            (subevent("DIRECTORY_LOOKUP", "SNP")?, subevent("DIRECTORY_UPDATE", "SET")?);
        directory_lookup = (lookup, [subevent("DIRECTORY_LOOKUP", "NO_SNP")?.1, snp]);
        directory_update = (update, [subevent("DIRECTORY_UPDATE", "CLEAR")?.1, set]);
    }
    // What cannot happen has no wire: its events say so.
    let (mut direct_overridden, mut direct_disabled) = (Wire::default(), ShownLevel::NOTHING);
    if !parameters.direct_to_core {
        direct_disabled = direct_disabled.nonempty((wiring.signal(socket, "ha", 0, "DIRECT2CORE_CYCLES_DISABLED")?, 0));
    } else if others {
        direct_overridden = wiring.signal(socket, "ha", 0, "DIRECT2CORE_TXN_OVERRIDE")?;
    }
    Ok(HomeWires {
        reads: (reads.0.into(), by_origin(reads).1),
        writes: (writes.0.into(), by_origin(writes).1),
        tracker: (tracker.0.into(), by_origin(tracker).1),
        regions: regions.map(Pulses::tagged),
        written: [written, written_part, written_special].map(Pulses::tagged),
        to_cache: Pulses::tagged(to_cache),
        to_core: Pulses::tagged(to_core),
        to_remote,
        completion_remote,
        snoops,
        no_link,
        egress,
        conflicts,
        directory_lookup,
        directory_update,
        bypass: (bypass.into(), [not_taken, taken]),
        credits,
        special_credits,
        completion: wiring.signal(socket, "ha", 0, "TxR_AK_NDR")?.into(),
        direct: wiring.signal(socket, "ha", 0, "DIRECT2CORE_COUNT")?.into(),
        direct_overridden: direct_overridden.into(),
        direct_disabled,
    })
}
