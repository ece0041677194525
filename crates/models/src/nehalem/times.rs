//! Delays of a machine.

use pericore_engine::Tick;

use super::Parameters;

/// Delays in ticks, worked out once from the parameters.
#[derive(Debug)]
pub struct Times {
    pub uclk: Tick,
    pub flit: Tick,
    pub l1_interval: Tick,
    pub l1_latency: Tick,
    pub l2_interval: Tick,
    pub l2_latency: Tick,
    /// Of a page that only the second level of the TLB has, and of a walk besides its read.
    pub second_tlb: Tick,
    pub walk: Tick,
    pub core: Tick,
    pub core_to_queue: Tick,
    pub queue_to_core: Tick,
    pub request_interval: Tick,
    pub queue: Tick,
    pub llc_answer: Tick,
    pub core_snoop: Tick,
    pub port: Tick,
    pub outer_port: Tick,
    pub queue_to_home: Tick,
    pub home_to_memory: Tick,
    pub bypass: Tick,
    pub memory_to_home: Tick,
    pub link: Tick,
    pub hub: Tick,
    pub device_interval: Tick,
}

impl Times {
    /// Of a part.
    pub const fn new(p: &Parameters) -> Self {
        let [uclk, core, _, flit] = p.periods();
        Self {
            uclk,
            flit,
            l1_interval: p.l1_interval * core,
            l1_latency: p.l1_latency * core,
            l2_interval: p.l2_interval * core,
            l2_latency: p.l2_latency * core,
            second_tlb: p.translation.second_cycles * core,
            walk: p.translation.walk_cycles * core,
            core,
            core_to_queue: p.core_to_queue * core,
            queue_to_core: p.queue_to_core * core,
            request_interval: p.request_interval * core,
            queue: p.queue_latency * uclk,
            llc_answer: p.llc_answer * uclk,
            core_snoop: p.core_snoop * uclk,
            port: p.port * uclk,
            outer_port: p.outer_port * uclk,
            queue_to_home: p.queue_to_home * uclk,
            home_to_memory: p.home_to_memory * uclk,
            bypass: p.bypass * uclk,
            memory_to_home: p.memory_to_home * uclk,
            link: p.link_latency * uclk,
            hub: p.hub_latency * uclk,
            device_interval: p.device_interval * uclk,
        }
    }
}
