//! Every number of the model; what they are for a part is in its file. One set serves all workloads.

pub mod part;

use std::sync::Arc;

use pericore_dram::Timing;
use pericore_engine::{ClockDomains, ParameterError, Period};

use super::address;
use super::layout::{Floor, SPREAD};
use super::tags::sizes::{MOST_SET_BITS, MOST_WAYS};
use crate::uncore::{CORES, SLICES, Settable, Setting};
use pericore_facts::emerald_rapids::Clocks;
use pericore_parts::settings::CLOSED_PAGES;
use pericore_parts::translation::TranslationSizes;
use pericore_workload::{Limits, MessageKind, PhaseSetting, PhaseSettings};

/// Devices behind a socket's CXL links.
const MOST_EXPANDERS: u64 = 6;
/// Entries of a queue that are kept for isochronous requests, at the most.
const MOST_ISOCHRONOUS: u64 = 8;
/// Key of those that are accelerators.
const ACCELERATORS: &str = "accelerators";

/// What the machine's name can set: cores that take part, LLC slices in use, sub-NUMA clusters, prefetches of memory
/// for the own socket and for the other, entries of
/// memory's queues for isochronous requests, and accelerators among the devices behind CXL links, of a socket.
pub const SETTINGS: &[Settable<Parameters>] = &[
    (Setting::range(CORES, 1, address::AGENTS as u64), |part, value| part.active_cores = value as u8),
    (Setting::range(SLICES, 1, address::AGENTS as u64), |part, value| part.slices = value as u8),
    (Setting::doubles("snc", 4), |part, value| part.clusters = value as u8),
    (Setting::range("xpt", 0, 1), |part, value| part.xpt = value == 1),
    (Setting::range("upi_prefetch", 0, 1), |part, value| part.upi_prefetch = value == 1),
    (Setting::range("isochronous", 0, MOST_ISOCHRONOUS), |part, value| part.isochronous_entries = value as u8),
    (Setting::range(CLOSED_PAGES, 0, 1), |part, value| part.dram.closes_pages = value == 1),
    (Setting::range(ACCELERATORS, 0, MOST_EXPANDERS), |part, value| part.accelerators = value as u8),
];

/// What the phases of a scenario can set on a part of a family with the given least, nominal and highest frequency.
const fn phase_settings(family: &'static str, ratios: [u8; 3]) -> PhaseSettings {
    PhaseSettings {
        family,
        settings: &[
            PhaseSetting::Frequency,
            PhaseSetting::ThermalLimit,
            PhaseSetting::PowerLimit,
            PhaseSetting::IoFloor,
            PhaseSetting::Prochot,
            PhaseSetting::RegulatorHot,
            PhaseSetting::Hot,
            PhaseSetting::PeakPower,
            PhaseSetting::CrossThrottle,
            PhaseSetting::Vectors,
            PhaseSetting::Air,
            PhaseSetting::Sleep,
            PhaseSetting::Wake,
            PhaseSetting::SelfRefresh,
            PhaseSetting::Throttle,
            PhaseSetting::Critical,
            PhaseSetting::MemoryError,
            PhaseSetting::LinkError,
            PhaseSetting::System,
        ],
        messages: &[
            MessageKind::LegacyWire,
            MessageKind::Interrupt,
            MessageKind::Processor,
            MessageKind::Doorbell,
            MessageKind::Priority,
            MessageKind::Hold,
            MessageKind::Register,
            MessageKind::RandomNumber,
            MessageKind::RandomSeed,
            MessageKind::PeerWrite,
            MessageKind::PeerRead,
        ],
        ratios,
    }
}

/// Sizes and times of a machine. Times are in cycles of the clock that their comment names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// What is where on the mesh of a socket.
    pub floor: Arc<Floor>,
    /// What the phases of a scenario can set, with the part's family and frequencies.
    pub phases: PhaseSettings,
    /// Sockets: one or two.
    pub sockets: u8,
    /// Sub-NUMA clusters of a socket: 1 for none, 2 or 4.
    pub clusters: u8,
    /// Cores of a socket; each sits beside a slice of the LLC.
    pub cores: u8,
    /// Cores that firmware lets take part: the first so many. The others run nothing and are in no C-state; their
    /// slices and mesh stops stay.
    pub active_cores: u8,
    /// LLC slices in use, with their agents: the first so many. Of the others nothing is left but their mesh stops. With sub-NUMA clusters
    /// all are in use.
    pub slices: u8,
    /// Sets of a slice, as a power of two.
    pub slice_set_bits: u32,
    /// Ways of a slice.
    pub slice_ways: u8,
    /// Hardware threads of a core.
    pub threads_per_core: u8,
    /// Bytes of DDR memory of a socket.
    pub memory: u64,
    /// The grid of virtual time, ticks a microsecond: a multiple of every clock's MHz.
    pub grid_mhz: u64,
    /// Core clock, MHz.
    pub core_mhz: u64,
    /// Uncore clock, MHz.
    pub uncore_mhz: u64,
    /// Clock of the link layer between sockets, MHz: eight transfers a cycle.
    pub link_mhz: u64,
    /// Clock of the memory's data bus, MHz: two transfers a cycle.
    pub memory_mhz: u64,
    /// Misses that a core can have under way for its loads and stores.
    pub fill_buffers: u8,
    /// Instructions that a core has under way: entries of its reorder buffer.
    pub reorder_buffer: u64,
    /// What it looks pages up with.
    pub translation: TranslationSizes,
    /// Prefetches that it can have under way besides.
    pub prefetch_buffers: u8,
    /// Writebacks that it can have under way.
    pub writeback_buffers: u8,
    /// Core cycles between independent accesses of a thread that hit.
    pub hit_interval: u64,
    /// Core cycles between a core's requests for lines.
    pub request_interval: u64,
    /// Uncore cycles by which a line from memory puts a core's next request off.
    pub memory_interval: u64,
    /// Core cycles from an access to its data in the L2.
    pub l2_latency: u64,
    /// Uncore cycles from an access that misses the L2 to its request on the mesh.
    pub miss_to_mesh: u64,
    /// Uncore cycles from data at the core's mesh stop to its use.
    pub mesh_to_use: u64,
    /// Uncore cycles to get on and off the mesh.
    pub mesh_base: u64,
    /// Uncore cycles from one mesh stop to the next.
    pub mesh_hop: u64,
    /// Uncore cycles to cross from die to die.
    pub mesh_crossing: u64,
    /// Uncore cycles from one message to the next over the bridge between the dies; a line takes twice that.
    pub mesh_bridge: u64,
    /// Entries of an agent's ingress queue for cores.
    pub ingress_entries: u8,
    /// Uncore cycles that a request spends in an idle ingress queue.
    pub ingress_latency: u64,
    /// Entries of an agent's table of requests.
    pub tor_entries: u8,
    /// Entries at the other socket's home for an agent's requests.
    pub home_entries: u8,
    /// Uncore cycles from look-up to data on the mesh, for a hit.
    pub llc_data: u64,
    /// Uncore cycles from look-up to the request on the mesh, for a miss.
    pub llc_miss: u64,
    /// Uncore cycles for a writeback to be taken in.
    pub llc_quick: u64,
    /// Uncore cycles for a core to answer a snoop.
    pub core_snoop: u64,
    /// Agents send prefetches to memory while they look lines up.
    pub xpt: bool,
    /// Links send prefetches to memory for reads of the other socket.
    pub upi_prefetch: bool,
    /// Uncore cycles from the mesh to the memory controller.
    pub mesh_to_memory: u64,
    /// Uncore cycles from the last data on the memory bus to the mesh.
    pub memory_to_mesh: u64,
    /// Entries of each subchannel's queues of reads and of writes that are kept for isochronous requests.
    pub isochronous_entries: u8,
    /// Memory timing and policies.
    pub dram: Timing,
    /// Picoseconds of a slot of a flit on a link between sockets.
    pub link_slot: u64,
    /// Uncore cycles across the link, through both link layers and the clock crossing behind them.
    pub link_crossing: u64,
    /// CXL links of a socket that have a device with memory.
    pub expanders: u8,
    /// Of these devices, those that are accelerators with memory of their own (type 2 of CXL); the others only have
    /// memory (type 3).
    pub accelerators: u8,
    /// Uncore cycles from such a link's mesh stop to the device's memory controller, and as many back.
    pub expander_way: u64,
    /// Memory of a device, two channels of two subchannels each; without it an access takes a constant time.
    pub expander_dram: Option<Timing>,
}

impl Parameters {
    /// What the machine's name can set of this part.
    pub fn settings(&self) -> Vec<Setting> {
        let of_part = |setting: &Setting| match setting.key {
            CORES => Setting::range(CORES, 1, self.cores.into()),
            SLICES => Setting::range(SLICES, 1, self.floor.agents.into()),
            ACCELERATORS => Setting::range(ACCELERATORS, 0, self.expanders.into()),
            _ => *setting,
        };
        SETTINGS.iter().map(|(setting, _)| of_part(setting)).collect()
    }

    /// The place of a core among the places for cores and slices: the cores of a part with fewer lie among them
    /// evenly, and cores whose numbers follow each other lie far apart, in other rows and columns (assumption: they
    /// are numbered without regard to the mesh), so that a few threads do not crowd in a corner of it.
    #[inline]
    pub fn slot(&self, core: u8) -> u8 {
        let places = self.floor.agents as u32;
        // A number of places apart that has no divisor in common with theirs: each place once.
        (core as u32 * places / self.cores as u32 * SPREAD as u32 % places) as u8
    }

    /// Bytes of the L2s of the cores that take part, and of the slices of the LLC in use, of a socket.
    pub const fn cache_bytes(&self) -> u64 {
        self.active_cores as u64 * super::tags::sizes::L2_BYTES + self.slices as u64 * self.slice_bytes()
    }

    /// Bytes of a slice of the LLC.
    pub const fn slice_bytes(&self) -> u64 {
        (self.slice_ways as u64) << (self.slice_set_bits + address::LINE_SHIFT)
    }

    /// The same part in a machine of several sockets.
    #[must_use]
    pub fn with_sockets(self, sockets: u8) -> Self {
        Self { sockets, ..self }
    }

    /// The clocks: those of the part, and 500 MHz I/O, 1 GHz power control and CXL (assumptions).
    pub const fn clocks(&self) -> Clocks {
        Clocks {
            ticks_per_second: self.grid_mhz * 1_000_000,
            uclk: Period::new(self.grid_mhz / self.uncore_mhz),
            dclk: Period::new(self.grid_mhz / self.memory_mhz),
            ioclk: Period::new(self.grid_mhz / 500),
            upiclk: Period::new(self.grid_mhz / self.link_mhz),
            pclk: Period::new(self.grid_mhz / 1000),
            cxlclk: Period::new(self.grid_mhz / 1000),
        }
    }

    /// The clocks by the catalogue's names.
    pub fn clock_domains(&self) -> ClockDomains {
        let clocks = self.clocks();
        let periods = [
            ("uclk", clocks.uclk.ticks()),
            ("dclk", clocks.dclk.ticks()),
            ("hclk", 2 * clocks.dclk.ticks()),
            ("ioclk", clocks.ioclk.ticks()),
            ("upiclk", clocks.upiclk.ticks()),
            ("pclk", clocks.pclk.ticks()),
            ("cxlclk", clocks.cxlclk.ticks()),
        ];
        // The time-stamp counter of 1.9 GHz is not on the grid: 2.0 GHz is (assumption).
        ClockDomains::new(clocks.ticks_per_second, &periods, clocks.ticks_per_second / 2_000_000_000)
    }

    /// What workloads can ask of the machine.
    pub const fn limits(&self) -> Limits {
        let threads = self.active_cores as u16 * self.threads_per_core as u16 * self.sockets as u16;
        let sockets = self.sockets as u16;
        // With clusters, a thread's own memory is its cluster's.
        let memory = self.memory / self.clusters as u64;
        let caches = self.cache_bytes() * sockets as u64;
        Limits {
            memory,
            threads,
            sockets,
            caches,
            expander: true,
            peers: true,
            isochronous: self.isochronous_entries > 0,
            phase_settings: self.phases,
        }
    }

    /// Checks what the model's data structures take for granted.
    ///
    /// # Errors
    /// [`ParameterError`] for the first value that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let range = ParameterError::unless_within;
        range("sockets", self.sockets.into(), 1, 2)?;
        range("clusters", self.clusters.into(), 1, 4)?;
        range("clusters", self.clusters.into(), self.clusters.next_power_of_two().into(), 4)?;
        range("grid_mhz", self.grid_mhz, 10_000, 1_000_000)?;
        let places = u64::from(self.floor.agents);
        range("cores", self.cores.into(), 1, places)?;
        range("active_cores", self.active_cores.into(), 1, self.cores.into())?;
        // The slices of a cluster are those of its part of the mesh: none may lack its own.
        range("slices", self.slices.into(), if self.clusters > 1 { places } else { 1 }, places)?;
        range("slice_ways", self.slice_ways.into(), 1, MOST_WAYS as u64)?;
        range("slice_set_bits", self.slice_set_bits.into(), 11, MOST_SET_BITS.into())?;
        range("threads_per_core", self.threads_per_core.into(), 1, 2)?;
        range("memory", self.memory, 1 << 30, 64 << 30)?;
        for (name, clock) in [
            ("core_mhz", self.core_mhz),
            ("uncore_mhz", self.uncore_mhz),
            ("link_mhz", self.link_mhz),
            ("memory_mhz", self.memory_mhz),
            ("grid_mhz", 10_000),
        ] {
            range(name, clock, 1, self.grid_mhz)?;
            range(name, clock, self.grid_mhz / (self.grid_mhz / clock), self.grid_mhz)?;
        }
        self.translation.check()?;
        range("fill_buffers", self.fill_buffers.into(), 1, 16)?;
        range("prefetch_buffers", self.prefetch_buffers.into(), 1, 16)?;
        range("writeback_buffers", self.writeback_buffers.into(), 1, 64)?;
        range("ingress_entries", self.ingress_entries.into(), 1, 32)?;
        range("tor_entries", self.tor_entries.into(), 1, 32)?;
        range("home_entries", self.home_entries.into(), 1, 100)?;
        range("ratios", self.phases.ratios[0].into(), 1, 255)?;
        for (name, value) in [
            ("hit_interval", self.hit_interval),
            ("request_interval", self.request_interval),
            ("memory_interval", self.memory_interval),
            ("l2_latency", self.l2_latency),
            ("miss_to_mesh", self.miss_to_mesh),
            ("mesh_to_use", self.mesh_to_use),
            ("mesh_base", self.mesh_base),
            ("mesh_hop", self.mesh_hop),
            ("mesh_crossing", self.mesh_crossing),
            ("mesh_bridge", self.mesh_bridge),
            ("ingress_latency", self.ingress_latency),
            ("llc_data", self.llc_data),
            ("llc_miss", self.llc_miss),
            ("llc_quick", self.llc_quick),
            ("core_snoop", self.core_snoop),
            ("mesh_to_memory", self.mesh_to_memory),
            ("memory_to_mesh", self.memory_to_mesh),
            ("link_slot", self.link_slot),
            ("link_crossing", self.link_crossing),
            ("expander_way", self.expander_way),
        ] {
            range(name, value, 1, 10_000)?;
        }
        // What the decoding of addresses takes for granted.
        for (name, value, built) in [
            ("ranks", self.dram.ranks.into(), address::RANKS),
            ("banks_per_rank", self.dram.banks_per_rank().into(), address::BANKS),
            ("lines_per_row", self.dram.lines_per_row, address::LINES_PER_ROW),
        ] {
            range(name, value.into(), built.into(), built.into())?;
        }
        let most = u64::from(self.dram.reads.min(self.dram.writes)) / 2;
        range("isochronous_entries", self.isochronous_entries.into(), 0, most.min(MOST_ISOCHRONOUS))?;
        range("expanders", self.expanders.into(), 1, MOST_EXPANDERS)?;
        range("accelerators", self.accelerators.into(), 0, self.expanders.into())?;
        self.expander_dram.as_ref().map_or(Ok(()), Timing::check)?;
        self.dram.check()
    }
}

#[cfg(test)]
mod tests {
    use super::Parameters;

    #[test]
    fn the_preset_is_sound() {
        let parameters = Parameters::p8592();
        assert_eq!(parameters.check(), Ok(()));
        let clocks = parameters.clocks();
        // Vendor's product data: eight channels of DDR5-5600 make 358.4 GB/s.
        let transfers = 2 * clocks.ticks_per_second / clocks.dclk.ticks();
        assert_eq!(transfers * 8 * 8, 358_400_000_000);
        // Four links of 20 GT/s.
        assert_eq!(clocks.ticks_per_second / clocks.upiclk.ticks() * 8, 20_000_000_000);
    }
}
