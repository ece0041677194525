//! Latencies in ticks, worked out once from the parameters.

use pericore_engine::Clocks;

use crate::e5_2600::Parameters;
use crate::e5_2600::parameters::{MOST_SOCKETS, RATIOS};

/// Delays of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorePace {
    pub l1_interval: u64,
    pub l1_latency: u64,
    pub l2_interval: u64,
    pub l2_latency: u64,
    /// Of a page that only the second level of the TLB has, and of a walk besides its read.
    pub second_tlb: u64,
    pub walk: u64,
    pub miss_to_ring: u64,
    pub ring_to_use: u64,
    pub request_interval: u64,
    pub memory_interval: u64,
    pub writeback_interval: u64,
}

impl CorePace {
    /// At a ratio in 100 MHz, for cycles of so many ticks at the nominal one. Times are whole ticks, the nearest.
    pub fn new(p: &Parameters, cycle: u64, ratio: u8) -> Self {
        let [nominal, ratio] = [RATIOS[1], ratio].map(u64::from);
        let ticks = |cycles: u64| (cycles * cycle * nominal + ratio / 2) / ratio;
        Self {
            l1_interval: ticks(p.l1_interval),
            l1_latency: ticks(p.l1_latency),
            l2_interval: ticks(p.l2_interval),
            l2_latency: ticks(p.l2_latency),
            second_tlb: ticks(p.translation.second_cycles),
            walk: ticks(p.translation.walk_cycles),
            miss_to_ring: ticks(p.miss_to_ring),
            ring_to_use: ticks(p.ring_to_use),
            request_interval: ticks(p.request_interval),
            memory_interval: ticks(p.memory_interval),
            writeback_interval: ticks(p.writeback_interval),
        }
    }
}

/// Delays between the places of a socket.
#[derive(Debug, Clone)]
pub struct Latency {
    pub uclk: u64,
    /// Of the cores of each socket, at the frequency that they run at.
    pub paces: [CorePace; MOST_SOCKETS as usize],
    pub ingress: u64,
    pub llc_data: u64,
    pub llc_miss: u64,
    pub llc_quick: u64,
    pub core_snoop: u64,
    pub home_to_memory: u64,
    pub memory_to_home: u64,
    pub credit_return: u64,
    /// Between two lines of a device, on its lanes.
    pub device_interval: u64,
    /// Between the home agent and the ring stops of links, and between those.
    pub stop_to_stop: u64,
    /// Ring trips from each core to each slice, and back. Cores and slices are numbered over the machine here, eight
    /// being enough to tell the places of every socket apart.
    core_slice: [[u64; STOPS]; STOPS],
    /// Ring trips from each slice's or core's stop to the home agent, and back.
    home: [u64; STOPS],
    /// The same for the input-output stop.
    io: [u64; STOPS],
}

/// Stops with a core and a slice.
const STOPS: usize = 8;

impl Latency {
    /// The latencies of a parameter set.
    pub fn new(p: &Parameters, clocks: &Clocks) -> Self {
        let uclk = clocks.uclk.ticks();
        let (stops, cores) = (usize::from(p.ring_stops), usize::from(p.cores));
        // The ring runs both ways: the shorter way counts.
        let trip = |from: usize, to: usize| {
            let distance = from.abs_diff(to);
            (p.ring_base + p.ring_hop * distance.min(stops - distance) as u64) * uclk
        };
        Self {
            uclk,
            paces: [CorePace::new(p, uclk, RATIOS[1]); MOST_SOCKETS as usize],
            ingress: p.ingress_latency * uclk,
            llc_data: p.llc_data * uclk,
            llc_miss: p.llc_miss * uclk,
            llc_quick: p.llc_quick * uclk,
            core_snoop: p.core_snoop * uclk,
            home_to_memory: p.home_to_memory * uclk,
            memory_to_home: p.memory_to_home * uclk,
            credit_return: p.credit_return * uclk,
            device_interval: clocks.uclk.align_up(p.io.device_interval(clocks.ticks_per_second)),
            stop_to_stop: (p.ring_base + p.ring_hop) * uclk,
            core_slice: std::array::from_fn(|core| std::array::from_fn(|slice| trip(core % cores, slice % cores))),
            io: std::array::from_fn(|stop| trip(stop % cores, cores + 1)),
            home: std::array::from_fn(|stop| trip(stop % cores, cores)),
        }
    }

    /// From a core to a slice or back.
    #[inline]
    pub fn core_slice(&self, core: u8, slice: u16) -> u64 {
        self.core_slice[usize::from(core) % STOPS][usize::from(slice) % STOPS]
    }

    /// From a slice to the input-output stop of its socket or back.
    #[inline]
    pub fn to_io(&self, stop: u16) -> u64 {
        self.io[usize::from(stop) % STOPS]
    }

    /// From a slice, or a core, to the home agent of its socket or back.
    #[inline]
    pub fn to_home(&self, stop: u16) -> u64 {
        self.home[usize::from(stop) % STOPS]
    }
}
