//! Every number of the model, as data with its source. One set serves all workloads.

use pericore_dram::Timing;
use pericore_engine::{ClockError, Clocks, ParameterError};

use pericore_parts::core::{MOST_FILL_BUFFERS, Streamer};
use pericore_parts::lanes::IoLanes;
use pericore_parts::llc;
use pericore_parts::translation::TranslationSizes;
use pericore_workload::{Limits, MessageKind, PhaseSetting, PhaseSettings};

pub use super::power::RATIOS;

mod translation;

/// What the phases of a scenario can set.
pub const PHASE_SETTINGS: PhaseSettings = PhaseSettings {
    family: "e5-2600",
    settings: &[
        PhaseSetting::Frequency,
        PhaseSetting::ThermalLimit,
        PhaseSetting::PowerLimit,
        PhaseSetting::CurrentLimit,
        PhaseSetting::IoFloor,
        PhaseSetting::PeerFloor,
        PhaseSetting::Prochot,
        PhaseSetting::RegulatorHot,
        PhaseSetting::Air,
        PhaseSetting::Sleep,
        PhaseSetting::Wake,
        PhaseSetting::PowerDown,
        PhaseSetting::SelfRefresh,
        PhaseSetting::Throttle,
        PhaseSetting::Critical,
        PhaseSetting::MemoryError,
        PhaseSetting::LinkHalf,
        PhaseSetting::LinkOff,
        PhaseSetting::LinkError,
        PhaseSetting::System,
    ],
    messages: &[
        MessageKind::LegacyWire,
        MessageKind::Interrupt,
        MessageKind::Processor,
        MessageKind::Doorbell,
        MessageKind::Priority,
        MessageKind::Lock,
        MessageKind::Hold,
        MessageKind::MonitorFirst,
        MessageKind::MonitorSecond,
        MessageKind::Livelock,
        MessageKind::TrustError,
        MessageKind::Corrected,
        MessageKind::Uncorrected,
        MessageKind::Trap,
        MessageKind::Other,
        MessageKind::Register,
        MessageKind::ShortMessage,
        MessageKind::LongMessage,
        MessageKind::DeviceWrite,
        MessageKind::DeviceRead,
        MessageKind::RemoteWrite,
        MessageKind::RemoteRead,
        MessageKind::RemoteInterrupt,
    ],
    ratios: RATIOS,
};

/// Sockets that a model has at most: the data structures and the node numbers in the tags have room for so many.
pub const MOST_SOCKETS: u64 = 4;
/// Cores of a socket at most: the slices' core-valid bits are so many.
pub const MOST_CORES: u64 = 8;
/// Writebacks of a core at most that keep it from issuing.
pub const MOST_WRITEBACK_BUFFERS: u64 = 16;
/// Regions of a home agent's target address decoder (guide Tables 2-50 and 2-51 count requests to regions 0 to 11).
pub const MOST_REGIONS: usize = 12;

/// Sizes and times of a socket. Latencies are in cycles of the clock that their comment names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// Sockets, each with everything below.
    pub sockets: u8,
    /// Uncore and core clock, MHz.
    pub uclk_mhz: u64,
    /// DRAM clock, MHz: half the transfer rate.
    pub dclk_mhz: u64,
    /// Clock of the links between sockets, MHz: an eighth of the transfer rate.
    pub qclk_mhz: u64,
    /// Cores, and LLC slices: one each at a ring stop.
    pub cores: u8,
    /// Cores that firmware lets take part: the first so many. The others run nothing and are in no C-state; their
    /// slices and ring stops stay.
    pub active_cores: u8,
    /// LLC slices in use: the first so many. No line lies in the others; their ring stops stay, and are seen (guide
    /// 2.3.1).
    pub slices: u8,
    /// Hardware threads of a core.
    pub threads_per_core: u8,
    /// Line-fill buffers of a core: misses that it can have under way.
    pub fill_buffers: u8,
    /// Instructions that a core has under way: entries of its reorder buffer.
    pub reorder_buffer: u64,
    /// What a core looks pages up with.
    pub translation: TranslationSizes,
    /// How far a core's L2 prefetcher runs ahead of its threads along a page.
    pub streamer: Streamer,
    /// Writebacks to the LLC that a core can have under way.
    pub writeback_buffers: u8,
    /// Core cycles between independent accesses of a thread that hit the L1.
    pub l1_interval: u64,
    /// Core cycles from an access to its data in the L1.
    pub l1_latency: u64,
    /// Core cycles between independent accesses of a thread that hit the L2.
    pub l2_interval: u64,
    /// Core cycles from an access to its data in the L2.
    pub l2_latency: u64,
    /// Core cycles from an access that misses L1 and L2 to its request on the ring.
    pub miss_to_ring: u64,
    /// Core cycles from data at the core's ring stop to its use.
    pub ring_to_use: u64,
    /// Core cycles between two requests of a core to the ring: the width of its way out of the L2.
    pub request_interval: u64,
    /// Core cycles by which a line from memory puts a core's next request off.
    pub memory_interval: u64,
    /// Core cycles by which a line that its L2 gives up does.
    pub writeback_interval: u64,
    /// Uncore cycles to get on and off the ring.
    pub ring_base: u64,
    /// Uncore cycles from one ring stop to the next.
    pub ring_hop: u64,
    /// Ring stops: slices, then home agent and input-output.
    pub ring_stops: u8,
    /// Entries of a slice's request queue.
    pub ingress_entries: u8,
    /// Uncore cycles that a request spends in an idle slice's request queue.
    pub ingress_latency: u64,
    /// Entries of a slice's table of requests.
    pub tor_entries: u8,
    /// Uncore cycles from look-up to data on the ring, for a hit.
    pub llc_data: u64,
    /// Uncore cycles from look-up to the request on the ring, for a miss.
    pub llc_miss: u64,
    /// Uncore cycles that a clean line without core-valid bits takes to be given up, and that a writeback takes.
    pub llc_quick: u64,
    /// Uncore cycles for a snoop of cores and its answers.
    pub core_snoop: u64,
    /// Entries of the home agent's tracker; requests hold one from the slice on (an RTID).
    pub tracker_entries: u16,
    /// Of those, the entries that other sockets' requests may take together, if there are other sockets.
    pub tracker_remote: u16,
    /// Uncore cycles from the home agent's acceptance of a request to the memory controller's.
    pub home_to_memory: u64,
    /// Uncore cycles from the last data on the memory bus, or from a posted write, to the home agent's egress.
    pub memory_to_home: u64,
    /// Uncore cycles for a credit of the memory controller to be of use at the home agent.
    pub credit_return: u64,
    /// Uncore cycles between the ring stop of a link and its link layer.
    pub link_crossing: u64,
    /// Clocks of a link from one end to the other.
    pub link_flight: u64,
    /// Entries of each class that the ring stop of a link has for messages from the ring.
    pub link_entries: u8,
    /// Shared credits that a link's sender has for the far end's buffer.
    pub link_credits: u8,
    /// Entries of a slice's table of requests that are kept for snoops of other sockets, if there are other sockets.
    pub tor_snoops: u8,
    /// Lanes to devices.
    pub io: IoLanes,
    /// Requests that a device can have under way.
    pub device_requests: u8,
    /// Ways of the LLC into which devices' writes bring lines that it does not have.
    pub device_ways: u8,
    /// Entries of each channel's queues of reads and of writes that are kept for isochronous requests.
    pub isochronous_entries: u8,
    /// Memory channels.
    pub channels: u8,
    /// Bytes of memory of a channel.
    pub channel_bytes: u64,
    /// Home agents and links send a load's data straight to its core, and not to its slice first.
    pub direct_to_core: bool,
    /// Home agents keep a snoop directory, if there are other sockets.
    pub directory: bool,
    /// Regions into which a socket's memory is divided, equal in size and in order of address.
    pub regions: u8,
    /// DRAM timing and policies.
    pub dram: Timing,
}

impl Parameters {
    /// Xeon E5-2680: eight cores at 2.7 GHz, 20 MB of LLC, four channels of DDR3-1600.
    pub const fn e5_2680() -> Self {
        Self {
            sockets: 1,
            uclk_mhz: 2700, // nominal core clock; the ring runs with the cores on this family (vendor's product data)
            dclk_mhz: 800,  // DDR3-1600 (published-numbers: 4 channels DDR3-1600)
            qclk_mhz: 1000, // QPI at 8 GT/s (published-numbers); guide 2.7: the clock is an eighth of the rate
            cores: 8,       // guide 2.3.1: up to eight CBos of 2.5 MB
            active_cores: 8, // all, as servers are delivered
            slices: 8,      // 20 MB (vendor's product data)
            threads_per_core: 2, // vendor's product data
            fill_buffers: 10, // Intel optimization manual, Sandy Bridge core: 10 line-fill buffers
            reorder_buffer: 168, // same
            translation: translation::SANDY_BRIDGE,
            streamer: Streamer {
                queue: 16, // same manual: 16 entries of the L2's queue
                ahead: 10, // fitted: load by cores; same manual: at most 20 lines ahead of the load
            },
            writeback_buffers: 8,  // assumption: half of the 16-entry super queue of the same manual
            l1_interval: 1,        // assumption: one access a cycle, below the two loads of the manual
            l1_latency: 4,         // Intel optimization manual, Table "cache parameters", L1D
            l2_interval: 2,        // same, L2: 64 bytes a cycle at best, half of it sustained
            l2_latency: 12,        // same, L2
            miss_to_ring: 8,       // fitted: LLC hit of 30 core cycles (published-numbers, i7-3960X)
            ring_to_use: 4,        // fitted: same
            request_interval: 7,   // fitted: LLC load bandwidth of one core, 23.5 GB/s (published-numbers, E5-2680)
            memory_interval: 5,    // fitted: load of one core from memory (docs/silicon), half of that from the LLC
            writeback_interval: 4, // fitted: copy and update of one core (same)
            ring_base: 2,          // fitted: same
            ring_hop: 1,           // vendor's talk on the Sandy Bridge ring: one cycle a stop
            ring_stops: 10,        // guide 2.3.4.1 and figure of 1.1: eight CBos, home agent side, IO side
            ingress_entries: 20,   // guide Table 2-14: RxR_OCCUPANCY counts up to 20
            ingress_latency: 2,    // fitted with miss_to_ring
            tor_entries: 20,       // guide Table 2-14: TOR_OCCUPANCY counts up to 20
            llc_data: 6,           // fitted with miss_to_ring
            llc_miss: 5,           // fitted: idle latency of 62 to 80 ns (published-numbers, E5-2680 v2)
            llc_quick: 4,          // assumption; "evictions can be quick" (guide, Table 2-30)
            core_snoop: 24, // assumption: two ring trips and a tag access; hit in a peer's cache about twice an LLC hit
            tracker_entries: 128, // guide 2.4.4.1
            tracker_remote: 48, // fitted: remote bandwidth of 25.5 GB/s at 115 ns (published-numbers, E5-2680 v2)
            home_to_memory: 22, // fitted with llc_miss, and to loads of one core
            memory_to_home: 22, // the same
            credit_return: 4, // assumption: half a ring trip
            link_crossing: 12, // fitted: remote latency of 115.1 ns, local of 61.7 (published-numbers, E5-2680 v2)
            link_flight: 11, // fitted with link_crossing
            link_entries: 8, // assumption: RxR_OCCUPANCY grows by up to 32 a cycle, and four classes are in use
            link_credits: 32, // assumption: room for 128 flits (RxL_OCCUPANCY counts up to that), four for each credit
            tor_snoops: 2,  // assumption: guide 2.3.7, TOR_OCCUPANCY, says that some entries are kept, not how many
            io: IoLanes {
                lanes: 40,            // vendor's product data: 40 lanes of PCI Express 3.0
                device_lanes: 8,      // assumption: adapters of the time have eight
                megatransfers: 8000,  // PCI Express Base Specification 3.0
                encoding: [128, 130], // same
                payload: 256,         // assumption: the largest that such hosts take
                overhead: 24,         // same specification: framing and sequence 4, header of four words 16, check 4
            },
            device_requests: 16,     // assumption: the tags of a device, shared by its queues
            device_ways: 2,          // vendor's brief on DDIO: a tenth of the LLC, unless told otherwise
            isochronous_entries: 0,  // assumption: as servers are delivered
            channels: 4,             // guide 2.5.3
            channel_bytes: 16 << 30, // two ranks of 8 GiB
            direct_to_core: true,    // guide 2.4.1: as machines are delivered
            directory: false,        // guide 2.4.7, DIRECTORY_LOOKUP: not for machines of two sockets
            regions: 1,              // assumption: four equal channels need a single rule of the address decoder
            dram: Timing {
                trtrs: 4,       // fitted: loads of eight cores (published-numbers, E5-2680)
                write_high: 29, // assumption: room for the writes under way when the mode starts
                write_low: 22,  // fitted: triad by cores; a few writes at a time, so that no read waits for long
                ..Timing::ddr3_1600()
            },
        }
    }

    /// A preset by its command-line name.
    pub fn preset(name: &str) -> Option<Self> {
        (name == "e5-2680").then(Self::e5_2680)
    }

    /// The same part in a machine of several sockets. Line numbers reach over 128 GiB: with four sockets, each has 32
    /// GiB.
    #[must_use]
    pub const fn with_sockets(self, sockets: u8) -> Self {
        let channel_bytes = if sockets > 2 { self.channel_bytes / 2 } else { self.channel_bytes };
        Self { sockets, channel_bytes, ..self }
    }

    /// Bytes of the private caches of the cores that take part, and of the slices of the LLC in use, of a socket.
    pub const fn cache_bytes(&self) -> u64 {
        self.active_cores as u64 * pericore_parts::core::L2_BYTES
            + self.slices as u64 * pericore_parts::llc::SLICE_BYTES
    }

    /// Entries of a channel's queues, of reads and of writes, that requests without a deadline can have.
    pub const fn regular_entries(&self) -> [u8; 2] {
        [self.dram.reads - self.isochronous_entries, self.dram.writes - self.isochronous_entries]
    }

    /// Bytes of a socket's share of the physical address space.
    pub const fn node(&self) -> u64 {
        self.channel_bytes * self.channels as u64
    }

    /// Bytes of memory of a socket that can be used. The very last lines that the LLC's tags could name are missing:
    /// their tag stands for an empty way.
    pub const fn memory(&self) -> u64 {
        if self.node() * self.sockets as u64 == llc::MOST_MEMORY { self.node() - llc::UNNAMED } else { self.node() }
    }

    /// The clocks. A machine of one socket has no links, and so no clock for them.
    ///
    /// # Errors
    /// [`ClockError`] if the frequencies share no tick grid.
    pub const fn clocks(&self) -> Result<Clocks, ClockError> {
        if self.sockets == 1 {
            Clocks::new(self.uclk_mhz, self.dclk_mhz)
        } else {
            Clocks::with_links(self.uclk_mhz, self.dclk_mhz, self.qclk_mhz)
        }
    }

    /// What workloads can ask of the machine.
    pub const fn limits(&self) -> Limits {
        let threads = self.sockets as u16 * self.active_cores as u16 * self.threads_per_core as u16;
        let sockets = self.sockets as u16;
        let caches = self.cache_bytes() * sockets as u64;
        Limits {
            memory: self.memory(),
            threads,
            sockets,
            caches,
            expander: false,
            peers: false,
            isochronous: self.isochronous_entries > 0,
            phase_settings: PHASE_SETTINGS,
        }
    }

    /// Checks what the model's data structures take for granted.
    ///
    /// # Errors
    /// [`ParameterError`] for the first value that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let range = ParameterError::unless_within;
        let power = |name, value: u64, most| {
            range(name, value, 1, most)?;
            range(name, value, value.next_power_of_two(), most)
        };
        power("sockets", self.sockets.into(), MOST_SOCKETS)?;
        power("cores", self.cores.into(), MOST_CORES)?;
        range("slices", self.slices.into(), 1, self.cores.into())?;
        range("active_cores", self.active_cores.into(), 1, self.cores.into())?;
        range("threads_per_core", self.threads_per_core.into(), 1, 2)?;
        range("fill_buffers", self.fill_buffers.into(), 1, MOST_FILL_BUFFERS)?;
        self.translation.check()?;
        range("streamer.queue", self.streamer.queue.into(), 1, MOST_FILL_BUFFERS)?;
        range("streamer.ahead", self.streamer.ahead.into(), 1, u64::from(self.streamer.queue))?;
        range("writeback_buffers", self.writeback_buffers.into(), 1, MOST_WRITEBACK_BUFFERS)?;
        range("ring_stops", self.ring_stops.into(), 9, 64)?;
        range("ingress_entries", self.ingress_entries.into(), 1, 20)?;
        range("tor_entries", self.tor_entries.into(), 1, 20)?;
        range("link_entries", self.link_entries.into(), 1, 32)?;
        range("link_credits", self.link_credits.into(), 1, 250)?;
        range("tracker_entries", self.tracker_entries.into(), 1, 128)?;
        range("device_requests", self.device_requests.into(), 1, 64)?;
        let most = u64::from(self.dram.reads.min(self.dram.writes)) - 1;
        range("isochronous_entries", self.isochronous_entries.into(), 0, most)?;
        range("device_ways", self.device_ways.into(), 1, llc::MOST_WAYS as u64)?;
        self.io.check()?;
        if self.sockets > 1 {
            range("tor_snoops", self.tor_snoops.into(), 1, u64::from(self.tor_entries) - 1)?;
            let others = u64::from(self.sockets) - 1;
            range("tracker_remote", self.tracker_remote.into(), others, u64::from(self.tracker_entries) - 1)?;
        }
        for (name, value) in [
            ("ingress_latency", self.ingress_latency),
            ("llc_data", self.llc_data),
            ("llc_miss", self.llc_miss),
            ("llc_quick", self.llc_quick),
            ("core_snoop", self.core_snoop),
            ("miss_to_ring", self.miss_to_ring),
            ("ring_to_use", self.ring_to_use),
            ("request_interval", self.request_interval),
            ("memory_interval", self.memory_interval),
            ("writeback_interval", self.writeback_interval),
            ("ring_base", self.ring_base),
            ("ring_hop", self.ring_hop),
            ("home_to_memory", self.home_to_memory),
            ("memory_to_home", self.memory_to_home),
            ("link_crossing", self.link_crossing),
            ("link_flight", self.link_flight),
            ("l1_interval", self.l1_interval),
            ("l1_latency", self.l1_latency),
            ("l2_interval", self.l2_interval),
            ("l2_latency", self.l2_latency),
        ] {
            range(name, value, 1, 10_000)?;
        }
        range("credit_return", self.credit_return, 0, 10_000)?;
        range("regions", self.regions.into(), 1, MOST_REGIONS as u64)?;
        power("channels", self.channels.into(), 4)?;
        power("channel_bytes", self.channel_bytes, 1 << 36)?;
        let most = llc::MOST_MEMORY / u64::from(self.sockets.max(2)) / u64::from(self.channels);
        range("channel_bytes", self.channel_bytes, 1 << 24, most)?;
        self.dram.check()
    }
}

#[cfg(test)]
mod tests;
