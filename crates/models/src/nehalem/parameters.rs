//! Every number of the model, as data with its source.
//!
//! "Guide" is Intel's Performance Analysis Guide for the Core i7 and Xeon 5500 processors (Levinthal, 2009).

use pericore_dram::Timing;
use pericore_engine::{ClockDomains, Clocks, ParameterError, Period};

use pericore_facts::nehalem::CHANNELS;
use pericore_parts::settings::{CLOSED_PAGES, CORES as ACTIVE, Settable, Setting};
use pericore_parts::translation::{TlbSize, TranslationSizes};
use pericore_workload::{Limits, PhaseSettings};

/// Bytes of the LLC (vendor's product data).
const LLC_BYTES: u64 = 8 << 20;
/// Cores of a socket.
pub const CORES: usize = 4;
/// Sockets at most: each has one link to another socket and one to the I/O hub.
pub const MOST_SOCKETS: u8 = 2;

/// What the machine's name can set: cores of a socket that take part, and the policy of the memory controllers.
pub const SETTINGS: &[Settable<Parameters>] = &[
    (Setting::range(ACTIVE, 1, CORES as u64), |part, value| part.active_cores = value as u8),
    (Setting::range(CLOSED_PAGES, 0, 1), |part, value| part.dram.closes_pages = value == 1),
];

/// What the phases of a scenario can set: nothing but what runs in them.
pub const PHASE_SETTINGS: PhaseSettings =
    PhaseSettings { family: "nehalem", settings: &[], messages: &[], ratios: [16, 29, 33] };

/// Ticks of a cycle of the base clock of 133.33 MHz. All clocks of the part are whole multiples of it, and 660 is
/// divisible by every multiple in use: 22 (cores), 20 (uncore), 12 (flits of a link at 6.4 GT/s), 5 and 4 (DDR3-1333,
/// DDR3-1066).
const BASE_TICKS: u64 = 660;
const TICKS_PER_SECOND: u64 = 88_000_000_000;

/// Sizes and times of a machine. Times are in uncore cycles unless their comment names another clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// Sockets, each with everything below.
    pub sockets: u8,
    /// Core clock over base clock.
    pub core_ratio: u64,
    /// Uncore clock over base clock.
    pub uncore_ratio: u64,
    /// DRAM clock, half the transfer rate, over base clock.
    pub dram_ratio: u64,
    /// Flits a second on a link, over base clock.
    pub flit_ratio: u64,
    /// Cores of a socket that firmware lets take part: the first so many. The others run nothing.
    pub active_cores: u8,
    /// Hardware threads of a core.
    pub threads_per_core: u8,
    /// Line-fill buffers of a core.
    pub fill_buffers: u8,
    /// Instructions that a core has under way: entries of its reorder buffer.
    pub reorder_buffer: u64,
    /// What a core looks pages up with.
    pub translation: TranslationSizes,
    /// Write-backs that a core can have under way.
    pub writeback_buffers: u8,
    /// Core cycles between independent accesses of a thread that hit the L1.
    pub l1_interval: u64,
    /// Core cycles from an access to its data in the L1.
    pub l1_latency: u64,
    /// Core cycles between independent accesses of a thread that hit the L2.
    pub l2_interval: u64,
    /// Core cycles from an access to its data in the L2.
    pub l2_latency: u64,
    /// Core cycles from an access that misses L1 and L2 to the global queue.
    pub core_to_queue: u64,
    /// Core cycles from data at the queue's port to its use.
    pub queue_to_core: u64,
    /// Core cycles between two requests of a core.
    pub request_interval: u64,
    /// Entries of the read, write and peer probe trackers.
    pub trackers: [u8; 3],
    /// From an entry in a tracker to its look-up in the LLC.
    pub queue_latency: u64,
    /// From the look-up to the answer of the LLC, hit or miss.
    pub llc_answer: u64,
    /// For a snoop of cores and its answers.
    pub core_snoop: u64,
    /// For a whole line through a data port of the queue.
    pub port: u64,
    /// The same through those that lines come by from the links and from memory, which are narrower.
    pub outer_port: u64,
    /// From the global queue to the home logic of the same socket, or back.
    pub queue_to_home: u64,
    /// Entries of the home logic's trackers of the I/O hub, other sockets and its own socket.
    pub home_entries: [u8; 3],
    /// From the home logic to the memory controller.
    pub home_to_memory: u64,
    /// The same for reads that find the home logic empty and go past it.
    pub bypass: u64,
    /// From the last data on the memory bus, or a posted write, to the home logic's answer.
    pub memory_to_home: u64,
    /// From the last flit that a link sends to the other side.
    pub link_latency: u64,
    /// Credits of a link by message class: home, snoop, response, data, non-coherent bypass, non-coherent standard.
    pub credits: [u8; 6],
    /// From the I/O hub's own logic to its side of a link.
    pub hub_latency: u64,
    /// Requests that a device behind the hub can have under way.
    pub device_requests: u8,
    /// Between two requests of a device.
    pub device_interval: u64,
    /// Bytes of memory of a channel.
    pub channel_bytes: u64,
    /// DRAM timing and policies.
    pub dram: Timing,
    /// Entries of a channel's queues of reads and of writes that isochronous requests can have.
    pub high_priority: [u8; 2],
}

impl Parameters {
    /// Xeon X5570: four cores at 2.93 GHz, 8 MB of LLC, three channels of DDR3-1333, two links of 6.4 GT/s.
    pub const fn x5570() -> Self {
        Self {
            sockets: 1,
            core_ratio: 22,            // 2.93 GHz (vendor's product data)
            uncore_ratio: 20,          // 2.67 GHz (vendor's product data: uncore of the parts with DDR3-1333)
            dram_ratio: 5,             // DDR3-1333 (vendor's product data)
            flit_ratio: 12,            // 6.4 GT/s, a flit of 80 bits on 20 lanes takes four transfers
            active_cores: CORES as u8, // all, as servers are delivered
            threads_per_core: 2,
            fill_buffers: 10,    // Intel optimization manual, Nehalem core: 10 line-fill buffers
            reorder_buffer: 128, // same
            translation: TranslationSizes {
                // Same manual, Nehalem core: entries and ways; the second level has pages of 4 KiB alone.
                first: [TlbSize { entries: 64, ways: 4 }, TlbSize { entries: 32, ways: 4 }],
                second: [TlbSize { entries: 512, ways: 4 }, TlbSize::NONE],
                second_cycles: 7, // assumption: as on the successor, for which Intel's event file says so
                walk_cycles: 19,  // fitted: 23 cycles with a read of the L1 (published-numbers, Xeon X5650)
                walkers: 1,       // assumption: more than one is documented from Broadwell on
            },
            writeback_buffers: 8, // assumption: half of the 16-entry super queue of the same manual
            l1_interval: 1,       // one load a cycle (same manual)
            l1_latency: 4,        // same manual, cache parameters
            l2_interval: 2,       // assumption: half of its width of a line a cycle sustained
            l2_latency: 10,       // same manual
            core_to_queue: 10,    // fitted: LLC hit of about 40 core cycles (guide)
            queue_to_core: 10,    // fitted: same
            request_interval: 6,  // assumption: as on the successor, whose LLC bandwidth a core is published
            trackers: [32, 16, 12], // guide: reads, writes, peer probes
            queue_latency: 4,     // fitted with core_to_queue
            llc_answer: 8,        // fitted with core_to_queue
            core_snoop: 20,       // fitted: 65 to 75 core cycles for a line of another core (guide)
            port: 2,              // guide: the queue's data ports are 32 bytes wide
            outer_port: 4,        // SDM, event 04H: 8 or 16 bytes a cycle; 8 would hold three channels back
            queue_to_home: 6,     // fitted: local memory at about 60 ns (guide)
            home_entries: [24, 16, 24], // assumption: at least the misses that the read tracker's owner can have
            home_to_memory: 12,   // fitted with queue_to_home
            bypass: 8,            // assumption: a few cycles less
            memory_to_home: 10,   // fitted with queue_to_home
            link_latency: 48,     // fitted: remote memory at about 100 ns (guide)
            // Assumption: enough for the round trip of a link at full rate; few for words to devices.
            credits: [16, 20, 8, 12, 1, 1],
            hub_latency: 40,        // assumption: about as long as the way over a link
            device_requests: 24,    // assumption: lines for the round trip of a x8 device
            device_interval: 43,    // 64 bytes at 4 GB/s: PCI Express 2.0 x8
            channel_bytes: 4 << 30, // two ranks of 2 GiB
            dram: ddr3_1333(),
            high_priority: [6, 8], // assumption: half of the entries
        }
    }

    /// The same part in a machine of several sockets.
    #[must_use]
    pub fn with_sockets(self, sockets: u8) -> Self {
        Self { sockets, ..self }
    }

    /// Bytes of memory of a socket.
    pub const fn memory(&self) -> u64 {
        self.channel_bytes * CHANNELS as u64
    }

    /// Bytes from the start of a socket's memory in the physical address space to that of the next.
    pub const fn node(&self) -> u64 {
        self.memory().next_power_of_two()
    }

    /// Ticks per cycle: uncore, cores, DRAM, flits.
    pub const fn periods(&self) -> [u64; 4] {
        [
            BASE_TICKS / self.uncore_ratio,
            BASE_TICKS / self.core_ratio,
            BASE_TICKS / self.dram_ratio,
            BASE_TICKS / self.flit_ratio,
        ]
    }

    /// The clocks that the parts share with those of other families.
    pub const fn clocks(&self) -> Clocks {
        let [uclk, _, dclk, _] = self.periods();
        let uclk = Period::new(uclk);
        Clocks { ticks_per_second: TICKS_PER_SECOND, uclk, dclk: Period::new(dclk), qclk: uclk }
    }

    /// The clocks by the catalogue's names.
    pub fn domains(&self) -> ClockDomains {
        let [uclk, core, dclk, _] = self.periods();
        ClockDomains::new(TICKS_PER_SECOND, &[("uclk", uclk), ("dclk", dclk)], core)
    }

    /// Bytes of the L2s of the cores that take part, and of the LLC, of a socket.
    pub const fn cache_bytes(&self) -> u64 {
        self.active_cores as u64 * pericore_parts::core::L2_BYTES + LLC_BYTES
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
            isochronous: true,
            phase_settings: PHASE_SETTINGS,
        }
    }

    /// Checks what the model's data structures take for granted.
    ///
    /// # Errors
    /// [`ParameterError`] for the first value that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let range = ParameterError::unless_within;
        range("sockets", self.sockets.into(), 1, MOST_SOCKETS.into())?;
        for (name, ratio) in [
            ("core_ratio", self.core_ratio),
            ("uncore_ratio", self.uncore_ratio),
            ("dram_ratio", self.dram_ratio),
            ("flit_ratio", self.flit_ratio),
        ] {
            range(name, ratio, 4, 33)?;
            let divisor = (1..=ratio).rev().find(|divisor| BASE_TICKS.is_multiple_of(*divisor)).unwrap_or(1);
            range(name, ratio, divisor, divisor)?;
        }
        // Memory must act at uncore edges.
        range("uncore_ratio", self.uncore_ratio % self.dram_ratio, 0, 0)?;
        range("active_cores", self.active_cores.into(), 1, CORES as u64)?;
        range("threads_per_core", self.threads_per_core.into(), 1, 2)?;
        range("fill_buffers", self.fill_buffers.into(), 1, 16)?;
        self.translation.check()?;
        range("writeback_buffers", self.writeback_buffers.into(), 1, 16)?;
        range("device_requests", self.device_requests.into(), 1, 64)?;
        for entries in self.trackers.into_iter().chain(self.home_entries) {
            range("trackers", entries.into(), 1, 64)?;
        }
        for credits in self.credits {
            range("credits", credits.into(), 1, 64)?;
        }
        for (name, value) in [
            ("queue_latency", self.queue_latency),
            ("llc_answer", self.llc_answer),
            ("core_snoop", self.core_snoop),
            ("port", self.port),
            ("outer_port", self.outer_port),
            ("queue_to_home", self.queue_to_home),
            ("home_to_memory", self.home_to_memory),
            ("bypass", self.bypass),
            ("memory_to_home", self.memory_to_home),
            ("link_latency", self.link_latency),
            ("hub_latency", self.hub_latency),
            ("device_interval", self.device_interval),
            ("core_to_queue", self.core_to_queue),
            ("queue_to_core", self.queue_to_core),
        ] {
            range(name, value, 1, 500)?;
        }
        range("channel_bytes", self.channel_bytes, 1 << 24, 1 << 34)?;
        range("channel_bytes", self.channel_bytes, self.channel_bytes.next_power_of_two(), 1 << 34)?;
        for (entries, all) in self.high_priority.into_iter().zip([self.dram.reads, self.dram.writes]) {
            range("high_priority", entries.into(), 1, all.into())?;
        }
        self.dram.check()
    }
}

/// DDR3-1333 9-9-9 with 2 Gbit x8 devices, behind queues of this controller's size.
const fn ddr3_1333() -> Timing {
    Timing {
        cl: 9,               // JESD79-3, DDR3-1333H speed bin
        cwl: 7,              // JESD79-3, mode register 2 at 1.5 ns
        trcd: 9,             // 13.5 ns
        trp: 9,              // 13.5 ns
        tras: 24,            // 36 ns
        trc: 33,             // 49.5 ns
        trrd_s: 4,           // max(4 cycles, 6 ns) with 1 KiB pages
        trrd_l: 4,           // the same: no bank groups
        tfaw: 20,            // 30 ns with 1 KiB pages
        twtr_s: 5,           // max(4 cycles, 7.5 ns)
        twtr_l: 5,           // the same
        twr: 10,             // 15 ns
        trtp: 5,             // max(4 cycles, 7.5 ns)
        trfc: 107,           // 160 ns for 2 Gbit
        trefi: 5200,         // 7.8 us
        reads: 12,           // assumption: half of what one source can have at the home logic
        writes: 16,          // assumption
        write_high: 13,      // assumption: room for the writes under way when the mode starts
        write_low: 5,        // assumption: two thirds of the queue are written at a time
        write_patience: 20,  // assumption: about a row miss
        page_idle: 170,      // assumption: 250 ns
        closes_pages: false, // assumption: as servers are delivered
        ..Timing::ddr3_1600()
    }
}

#[cfg(test)]
mod tests {
    use super::{CHANNELS, Parameters};

    #[test]
    fn the_preset_is_sound() {
        let parameters = Parameters::x5570();
        assert_eq!(parameters.check(), Ok(()));
        assert_eq!(parameters.periods(), [33, 30, 132, 55]);
        // Three channels of DDR3-1333: 32.0 GB/s; a link of 6.4 GT/s and 2 bytes: 12.8 GB/s, less a header flit in
        // nine.
        let hertz = |period: u64| 88e9 / period as f64;
        assert!((hertz(132) * 16.0 * CHANNELS as f64 / 1e9 - 32.0).abs() < 1e-9);
        assert!((hertz(55) * 8.0 / 1e9 - 12.8).abs() < 1e-9);
        assert_eq!((parameters.memory(), parameters.node()), (12 << 30, 16 << 30));
    }

    #[test]
    fn absurd_values_are_named() {
        let parameters = Parameters { core_ratio: 21, ..Parameters::x5570() };
        let message = parameters.check().unwrap_err().to_string();
        assert_eq!(message, "parameter core_ratio is 21: it must lie between 20 and 20");
    }
}
