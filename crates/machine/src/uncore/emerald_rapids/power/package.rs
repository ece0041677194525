//! A package: what its power unit knows of it.

use std::collections::VecDeque;

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::PackageCondition;
use pericore_parts::heat::{AIR, Heat, HeatLoad, HeatSettings, ModulesHeat, Sensor};
use pericore_workload::{FrequencyBounds, MemoryConditions};

use super::bounds::{self, Decision, Findings};

/// Power and heat (assumptions): all cores of an 8592+ at scalar work draw 320 W with the uncore, which leaves memory's
/// share of its 350 W.
static HEAT: HeatSettings = HeatSettings {
    core: 3600,
    uncore: [90_000; 2],
    full_lines: 22_000,
    vectors: [135, 170],
    peak: 150,
    current: None,
    regulator_full: 350_000,
    mesh_rise: 78,
    lines_rise: 900,
};
/// Lowest frequency that devices at work need, in 100 MHz (assumption).
const DEVICES_RATIO: u8 = 15;

/// A package.
#[derive(Debug)]
pub struct Package {
    pub active: u16,
    pub light: u16,
    pub deep: u16,
    pub decision: Decision,
    /// Facts that have been told, a bit each.
    pub reported: u32,
    /// When it goes on into the deep state, and when its frequency has changed.
    pub deep_at: Tick,
    pub changed_at: Tick,
    /// Cores that sleep are woken one by one, at this interval.
    pub wakes_every: Tick,
    pub next_wake: Tick,
    /// When cores that were woken sleep again.
    pub sleep_at: VecDeque<Tick>,
    /// When those that change their states have changed.
    pub cores_changed_at: VecDeque<Tick>,
    /// State that cores ask for, and whether they are sent to a lighter one.
    pub requests_light: bool,
    pub demotes: bool,
    /// The tick of the look at it that counts.
    pub watched: Tick,
    /// What the phase asks for: bounds, bits of the vectors that its cores work with, degrees of the air.
    pub bounds: FrequencyBounds,
    pub vectors: u16,
    pub air: u8,
    pub heat: Heat,
    /// Cores at work, on the die of the power unit and on the others.
    pub busy: [u16; 2],
    /// When the next look at the sensors is due; what the mesh and memory had carried at the last one.
    pub look_at: Tick,
    pub carried: [u64; 2],
    /// Devices have asked for something not long ago, or for the last time at this tick.
    pub devices_work: bool,
    pub devices_requested: Tick,
    pub devices_need: Tick,
    /// It is on its way from a state of the package into the next until this tick, and how long such a way is.
    pub settles_at: Tick,
    change: Tick,
    /// State of the package: C0, C2E, C6.
    state: u8,
}

impl Package {
    /// One on which no core runs.
    pub fn new(ratios: [u8; 3], devices_need: Tick, change: Tick) -> Self {
        Self {
            active: 0,
            light: 0,
            deep: 0,
            decision: Decision::of(&Default::default(), &Findings::default(), ratios),
            reported: 0,
            deep_at: 0,
            changed_at: 0,
            wakes_every: 0,
            next_wake: Tick::MAX,
            sleep_at: VecDeque::new(),
            cores_changed_at: VecDeque::new(),
            requests_light: false,
            demotes: false,
            watched: 0,
            bounds: FrequencyBounds::default(),
            vectors: 0,
            air: AIR,
            heat: Heat::new(&HEAT, AIR),
            busy: [0; 2],
            look_at: Tick::MAX,
            carried: [0; 2],
            devices_work: false,
            devices_requested: 0,
            devices_need,
            settles_at: 0,
            change,
            state: 0,
        }
    }

    /// What holds now.
    pub fn facts(&self, now: Tick) -> u32 {
        let mut facts = self.decision.facts();
        let mut holds = |fact: PackageCondition, on: bool| facts |= u32::from(on) << fact as u32;
        let (runs, deep) = (self.active > 0, self.active == 0 && now >= self.deep_at);
        // From three quarters of its cores on (assumption) power limits the frequency, from half of them on
        // (assumption) the regulators work with all their phases.
        let cores = self.active + self.light + self.deep;
        let full_load = runs && 2 * self.active >= cores;
        if runs && 4 * self.active >= 3 * cores && !self.decision.is_bounded() {
            holds(PackageCondition::PowerLimit, true);
        }
        holds(PackageCondition::Changes, now < self.changed_at);
        // Residencies do not include transition times (2.10.3).
        let settled = now >= self.settles_at;
        holds(PackageCondition::PackageRuns, settled && runs);
        holds(PackageCondition::PackageLight, settled && !runs && !deep);
        holds(PackageCondition::PackageDeep, settled && deep);
        holds(PackageCondition::MemorySheds, deep);
        holds(PackageCondition::RegulatorFull, full_load);
        holds(PackageCondition::RegulatorPart, runs && !full_load);
        holds(PackageCondition::RegulatorLight, !runs && !deep);
        holds(PackageCondition::RegulatorDeep, deep);
        facts
    }

    /// The frequency as it is to be now.
    pub fn decide(&self, ratios: [u8; 3]) -> Decision {
        let mut bounds = self.bounds;
        let at_work = self.busy != [0; 2];
        let wanted = bounds::requested(&bounds, ratios[1]).min(ratios[2]);
        if at_work && self.vectors > 0 {
            bounds.vectors = Some(self.vectors);
        }
        if self.devices_work {
            bounds.io_floor = bounds.io_floor.max(Some(DEVICES_RATIO));
        }
        let heat = &self.heat;
        let mut bounds = heat.bounds(&bounds);
        bounds.cross_throttle = bounds.cross_throttle.or(heat.crosses());
        let peak = self.load(wanted, ratios).peak_ratio(wanted);
        let found = Findings {
            peak: (peak < wanted).then_some(peak),
            hot: [Sensor::Core, Sensor::Uncore, Sensor::OtherDie, Sensor::Modules].map(|sensor| heat.is_hot(sensor)),
            throttles_memory: heat.modules > ModulesHeat::Normal,
        };
        Decision::of(&bounds, &found, ratios)
    }

    /// What heats the package while its cores run at a ratio.
    pub fn load(&self, ratio: u8, ratios: [u8; 3]) -> HeatLoad {
        let (air, busy, vectors) = (self.air, self.busy, self.vectors);
        let cores = self.active + self.light + self.deep;
        HeatLoad { settings: &HEAT, air, busy, cores, ratio, own: ratios[1], vectors, messages: 0, lines: 0 }
    }

    /// When that may change by itself.
    pub fn next_tick(&self, now: Tick) -> Tick {
        let deep = if self.active == 0 && now < self.deep_at { self.deep_at } else { Tick::MAX };
        let changed = if now < self.changed_at { self.changed_at } else { Tick::MAX };
        let sleeps = self.sleep_at.front().copied().unwrap_or(Tick::MAX);
        let core_changed = self.cores_changed_at.front().copied().unwrap_or(Tick::MAX);
        let settles = if now < self.settles_at { self.settles_at } else { Tick::MAX };
        let devices = if self.devices_work { self.devices_requested + self.devices_need } else { Tick::MAX };
        self.next_wake.min(deep).min(changed).min(sleeps).min(core_changed).min(self.look_at).min(devices).min(settles)
    }

    /// Follows the package into another state, which it is on its way to for a while.
    pub fn follow(&mut self, now: Tick) {
        let state = match (self.active > 0, now >= self.deep_at) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        };
        if std::mem::replace(&mut self.state, state) != state {
            self.settles_at = now + self.change;
        }
    }

    /// True if it has settled in its deepest state.
    pub const fn is_deep(&self) -> bool {
        self.reported >> PackageCondition::PackageDeep as u32 & 1 == 1
    }

    /// What the power unit makes of a phase's settings of its memory. It `rests` while no package of the machine can
    /// need it: cores of another socket read it, too.
    pub fn memory(&self, phase: &MemoryConditions, rests: bool) -> MemoryConditions {
        self.heat.memory(phase, rests)
    }
}
