//! What power, current and heat allow a socket.

use pericore_parts::heat::{AIR, Heat, HeatLoad, HeatSettings, Sensor};
use pericore_workload::{FrequencyBounds, MemoryConditions};

use super::bounds::RATIOS;

/// Power and heat (assumptions, but for the 130 W that eight cores at 2.7 GHz draw with a busy uncore, the vendor's
/// figure for the E5-2680): a fifth more is the limit for a short time, as the vendor recommends to those who set it.
static HEAT: HeatSettings = HeatSettings {
    core: 11_000,
    uncore: [22_000, 42_000],
    // Of four channels of DDR3-1600.
    full_lines: 3200,
    vectors: [100; 2],
    peak: 120,
    current: Some(115_000),
    // At its limit.
    regulator_full: 156_000,
    // What a ring carries does not heat it.
    mesh_rise: 0,
    lines_rise: 6200,
};
/// Cores of the part: the limit is the same where firmware leaves fewer.
const CORES: u16 = 8;
/// Lowest ratio that devices at work need (assumption).
const DEVICES_RATIO: u8 = 15;
/// Lowest ratio at which a socket serves others whose requests come by the dozen, so that they need not wait for it
/// (assumption), and how many of them in a look are so many: 640 MB/s (assumption).
const PEERS_RATIO: u8 = 20;
const MANY_REQUESTS: u64 = 40;

/// What a look at a socket's sensors finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sensed {
    /// Requests that its memory has served so far, a line each.
    pub carried: u64,
    /// Of other sockets, requests that its home agent has accepted so far.
    pub requested: u64,
    /// Its cores at work.
    pub busy: u16,
    /// Its devices are at work.
    pub devices: bool,
    /// Something is at work anywhere in the machine.
    pub works: bool,
}

/// What a socket draws, and how warm it is.
#[derive(Debug)]
pub struct Budget {
    heat: Heat,
    air: u8,
    /// Cores at work.
    busy: u16,
    /// Its devices are at work.
    devices: bool,
    /// Lines that memory had carried at the last look, and between that and the one before.
    carried: u64,
    lines: u64,
    /// The same of other sockets' requests.
    requested: u64,
    requests: u64,
}

impl Budget {
    /// A socket at rest.
    pub fn new() -> Self {
        Self {
            heat: Heat::new(&HEAT, AIR),
            air: AIR,
            busy: 0,
            devices: false,
            carried: 0,
            lines: 0,
            requested: 0,
            requests: 0,
        }
    }

    /// A phase begins, in which this works.
    pub fn begin(&mut self, air: Option<u8>, sensed: Sensed) {
        let air = air.unwrap_or(AIR);
        self.heat.move_air(i32::from(air) - i32::from(self.air));
        (self.air, self.busy, self.devices) = (air, sensed.busy, sensed.devices);
    }

    /// Looks begin again after a rest: the next one is about what happens from now on.
    pub const fn resume(&mut self, sensed: Sensed) {
        (self.carried, self.requested) = (sensed.carried, sensed.requested);
    }

    fn load(&self, ratio: u8) -> HeatLoad {
        HeatLoad {
            settings: &HEAT,
            air: self.air,
            busy: [self.busy, 0],
            cores: CORES,
            ratio,
            own: RATIOS[1],
            vectors: 0,
            messages: 0,
            lines: self.lines,
        }
    }

    /// A look at the sensors of a socket that runs at a ratio. True if nothing moves any more.
    pub fn look(&mut self, bounds: &FrequencyBounds, ratio: u8, sensed: Sensed) -> bool {
        self.lines = sensed.carried - self.carried;
        (self.requests, self.requested) = (sensed.requested - self.requested, sensed.requested);
        (self.carried, self.busy, self.devices) = (sensed.carried, sensed.busy, sensed.devices);
        let rests = self.heat.look(&self.load(ratio), requested(bounds), RATIOS[0]);
        rests && self.lines == 0 && !sensed.works
    }

    /// A phase's bounds with those of power, current, heat and devices.
    pub fn bound(&self, phase: &FrequencyBounds) -> FrequencyBounds {
        let (mut bounds, wanted) = (self.heat.bounds(phase), requested(phase));
        let lowest = |phase: Option<u8>, found: u8| phase.into_iter().chain((found < wanted).then_some(found)).min();
        let load = self.load(wanted);
        bounds.power = lowest(bounds.power, load.peak_ratio(wanted));
        bounds.current = lowest(bounds.current, load.current_ratio(wanted));
        if self.devices {
            bounds.io_floor = bounds.io_floor.max(Some(DEVICES_RATIO));
        }
        if self.requests >= MANY_REQUESTS {
            bounds.peer_floor = bounds.peer_floor.max(Some(PEERS_RATIO));
        }
        bounds
    }

    /// True if devices are at work.
    pub const fn has_devices_at_work(&self) -> bool {
        self.devices
    }

    /// True if a core is hot.
    pub const fn is_hot(&self) -> bool {
        self.heat.is_hot(Sensor::Core)
    }

    /// What becomes of a phase's settings of memory; it `rests` while nobody can need it.
    pub fn memory(&self, phase: &MemoryConditions, rests: bool) -> MemoryConditions {
        self.heat.memory(phase, rests)
    }
}

/// The ratio that software asks for, of those that there are.
fn requested(bounds: &FrequencyBounds) -> u8 {
    let [_, nominal, turbo] = RATIOS;
    bounds.request.unwrap_or(nominal).min(turbo)
}

#[cfg(test)]
mod tests {
    use super::{Budget, FrequencyBounds, MemoryConditions, Sensed};

    const TURBO: FrequencyBounds = FrequencyBounds {
        request: Some(35),
        thermal: None,
        power: None,
        current: None,
        io_floor: None,
        peer_floor: None,
        prochot_internal: false,
        prochot_external: false,
        regulator_hot: false,
        hot: None,
        peak_power: false,
        cross_throttle: None,
        vectors: None,
    };

    /// All cores work.
    const ALL: Sensed = Sensed { carried: 0, requested: 0, busy: 8, devices: false, works: true };

    /// 22 + 88 * (31/27)^3 = 155.2 W are below 156, 88 * (31/27)^2 = 116 A above 115; with memory busy 42 W are the
    /// uncore's, and 29 is the most. Two cores draw 22 W at their own frequency, and are bound by nothing.
    #[test]
    fn current_bounds_cores_that_compute_and_power_those_that_also_move_data() {
        let mut budget = Budget::new();
        budget.begin(None, ALL);
        let found = budget.bound(&TURBO);
        assert_eq!((found.power, found.current, found.thermal), (Some(31), Some(30), None));
        budget.look(&TURBO, 30, Sensed { carried: 3200, ..ALL });
        let found = budget.bound(&TURBO);
        assert_eq!((found.power, found.current), (Some(29), Some(30)));
        budget.begin(None, Sensed { busy: 2, ..ALL });
        assert_eq!(budget.bound(&TURBO), TURBO);
    }

    /// All cores at their own frequency and memory busy, in air of 25 degrees: nothing is bound, however long.
    #[test]
    fn a_socket_is_cooled_for_its_own_frequency() {
        let (mut budget, own, mut carried) = (Budget::new(), FrequencyBounds::default(), 0);
        budget.begin(None, ALL);
        for _ in 0..200 {
            carried += 3200;
            budget.look(&own, 27, Sensed { carried, ..ALL });
            assert_eq!(budget.bound(&own), own);
        }
        assert_eq!(budget.memory(&MemoryConditions::default(), false), MemoryConditions::default());
    }

    /// In air of 45 degrees a core at 2.7 GHz is at 45 + 47 + 15 = 107 degrees, the regulator at 110; modules are at 83
    /// and, with 19.8 more of the lines, above 95.
    #[test]
    fn in_hot_air_everything_is_too_hot() {
        let (mut budget, own, mut carried) = (Budget::new(), FrequencyBounds::default(), 0);
        budget.begin(Some(45), ALL);
        for _ in 0..60 {
            carried += 3200;
            budget.look(&own, 27, Sensed { carried, ..ALL });
        }
        let found = budget.bound(&own);
        assert!(found.prochot_internal && found.prochot_external && found.regulator_hot && budget.is_hot());
        assert_eq!(found.thermal, Some(12));
        let memory = budget.memory(&MemoryConditions::default(), false);
        assert_eq!((memory.critical, memory.throttle), (Some(60), None));
    }

    /// 39 requests of other sockets in 4 us are too few, 40 keep the socket at 2 GHz, and none that came before count.
    #[test]
    fn a_socket_that_serves_others_stays_quick() {
        let (mut budget, slow) = (Budget::new(), FrequencyBounds { request: Some(12), ..Default::default() });
        budget.begin(None, ALL);
        let mut floor = |requested| {
            budget.look(&slow, 12, Sensed { requested, ..ALL });
            budget.bound(&slow).peer_floor
        };
        assert_eq!([floor(39), floor(79), floor(79)], [None, Some(20), None]);
    }

    #[test]
    fn nothing_moves_in_a_socket_at_rest() {
        assert!(Budget::new().look(&FrequencyBounds::default(), 27, Sensed::default()));
    }

    #[test]
    fn memory_that_nobody_can_need_refreshes_itself() {
        let phase = MemoryConditions::default();
        assert_eq!(Budget::new().memory(&phase, true).self_refresh, Some(1000));
        let requested = MemoryConditions { self_refresh: Some(5000), ..phase };
        assert_eq!(Budget::new().memory(&requested, true).self_refresh, Some(5000));
    }
}
