//! From a scenario's settings of memory to those of a channel.

use pericore_dram::{Conditions, PowerDown, Throttle};

use pericore_workload::MemoryConditions;

/// DRAM cycles of a period of throttling (assumption: about a microsecond).
const THROTTLE_PERIOD: u64 = 1000;

/// What a scenario's settings mean for a channel; `self_refresh` is their time of idleness in DRAM cycles.
pub fn channel_conditions(memory: &MemoryConditions, self_refresh: Option<u64>) -> Conditions {
    let critical = memory.critical.map(|share| (3, share, true));
    let throttle = critical.or(memory.throttle.map(|(ranks, share)| (ranks, share, false)));
    Conditions {
        power_down: if memory.slow_power_down { PowerDown::Slow } else { PowerDown::Fast },
        self_refresh,
        throttle: throttle.map(|(ranks, share, critical)| Throttle {
            ranks,
            period: THROTTLE_PERIOD,
            stopped: THROTTLE_PERIOD * u64::from(share) / 100,
            critical,
        }),
        error_every: memory.error_every,
    }
}
