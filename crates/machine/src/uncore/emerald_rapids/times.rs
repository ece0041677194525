//! How long things take.

use pericore_engine::Tick;

use super::Parameters;
use pericore_facts::emerald_rapids::Clocks;

/// Picoseconds of a slot on a CXL link: sixteen lanes of the fifth generation carry 63 GB/s, and a flit of 68 bytes has
/// four slots.
const CXL_SLOT: u64 = 270;

/// Times of a core at the frequency that it runs at, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreTimes {
    pub cycle: Tick,
    pub hit_interval: Tick,
    pub request_interval: Tick,
    pub l2_latency: Tick,
    /// Of a page that only the second level of the TLB has, and of a walk besides its read.
    pub second_tlb: Tick,
    pub walk: Tick,
}

impl CoreTimes {
    /// At a frequency; the nearest whole ticks.
    pub fn new(parameters: &Parameters, ticks_per_second: u64, mhz: u64) -> Self {
        let ticks = |cycles: u64| (cycles * ticks_per_second / 1_000_000 + mhz / 2) / mhz;
        Self {
            cycle: ticks(1),
            hit_interval: ticks(parameters.hit_interval),
            request_interval: ticks(parameters.request_interval),
            l2_latency: ticks(parameters.l2_latency),
            second_tlb: ticks(parameters.translation.second_cycles),
            walk: ticks(parameters.translation.walk_cycles),
        }
    }
}

/// Latencies in ticks, by the names of their parameters.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub uclk: Tick,
    /// Of the cores of each socket, and their frequency.
    pub mhz: [u64; 2],
    pub paces: [CoreTimes; 2],
    pub memory_interval: Tick,
    pub miss_to_mesh: Tick,
    pub mesh_to_use: Tick,
    pub ingress_latency: Tick,
    pub llc_data: Tick,
    pub llc_miss: Tick,
    pub llc_quick: Tick,
    pub core_snoop: Tick,
    pub mesh_to_memory: Tick,
    pub memory_to_mesh: Tick,
    pub link_slot: Tick,
    pub link_crossing: Tick,
    pub expander_way: Tick,
    /// Of a slot on a CXL link.
    pub cxl_slot: Tick,
}

impl Times {
    /// Those of a machine.
    pub fn new(parameters: &Parameters, clocks: &Clocks) -> Self {
        let uclk = clocks.uclk.ticks();
        Self {
            uclk,
            mhz: [parameters.core_mhz; 2],
            paces: [CoreTimes::new(parameters, clocks.ticks_per_second, parameters.core_mhz); 2],
            memory_interval: parameters.memory_interval * uclk,
            miss_to_mesh: parameters.miss_to_mesh * uclk,
            mesh_to_use: parameters.mesh_to_use * uclk,
            ingress_latency: parameters.ingress_latency * uclk,
            llc_data: parameters.llc_data * uclk,
            llc_miss: parameters.llc_miss * uclk,
            llc_quick: parameters.llc_quick * uclk,
            core_snoop: parameters.core_snoop * uclk,
            mesh_to_memory: parameters.mesh_to_memory * uclk,
            memory_to_mesh: parameters.memory_to_mesh * uclk,
            link_slot: clocks.ticks_per_second / 1_000_000 * parameters.link_slot / 1_000_000,
            link_crossing: parameters.link_crossing * uclk,
            expander_way: parameters.expander_way * uclk,
            cxl_slot: clocks.ticks_per_second / 1_000_000 * CXL_SLOT / 1_000_000,
        }
    }
}
