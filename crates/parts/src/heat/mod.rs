//! Power and heat of a package. Each of its parts follows what heats it with a time constant, and the power unit looks
//! at its sensors at an interval.
//!
//! Air, heat sink and modules change over minutes, which no run lasts: they are as warm as after long work. What moves
//! within microseconds are the sensors that heat themselves.

mod load;

pub use load::{HeatLoad, HeatSettings, Sensor};
use pericore_engine::Tick;
use pericore_workload::{FrequencyBounds, MemoryConditions};

/// Microseconds between two looks at the sensors (assumption).
pub const LOOK: Tick = 4;
/// Looks in which a sensor comes nearer to its goal by 1 - 1/e, as a power of two: 32 us (assumption: what heat takes
/// to cross some 50 um of silicon).
const CONSTANT: u32 = 3;

/// Degrees of the air that cools a package, if nobody says otherwise.
pub const AIR: u8 = 25;
/// Millidegrees at which a core or the uncore is hot, and at which it reports that it overheats (assumptions); at which
/// the regulator is hot (assumption).
const HOT: i32 = 92_000;
const OVERHEATS: i32 = 98_000;
const REGULATOR_HOT: i32 = 98_000;
/// Limits of DRAM's normal and extended range of temperature (JESD79-5).
const MEMORY_HOT: i32 = 85_000;
const MEMORY_CRITICAL: i32 = 95_000;
/// Per cent of the time for which requests to hot and to critically hot modules wait (assumptions).
const HOT_WAITS: u8 = 30;
const CRITICAL_WAITS: u8 = 60;
/// Nanoseconds of rest after which memory that nobody can need refreshes itself (assumption).
const MEMORY_REST: u64 = 1000;
/// What is hot stays so until it is so much below.
const MARGIN: i32 = 1000;

const SENSORS: usize = 5;

/// What the power unit does with the modules of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ModulesHeat {
    /// Nothing.
    #[default]
    Normal,
    /// Requests wait for a share of the time.
    Hot,
    /// Nearly all do.
    Critical,
}

/// The sensors of a package.
#[derive(Debug, Clone)]
pub struct Heat {
    /// Millidegrees of each sensor.
    sensors: [i32; SENSORS],
    hot: [bool; SENSORS],
    /// Cores that overheat, by die as in [`HeatLoad::busy`].
    overheats: [bool; 2],
    uncore_overheats: bool,
    /// What heat does to the modules.
    pub modules: ModulesHeat,
    /// The highest ratio that heat allows.
    pub ceiling: Option<u8>,
}

const ALL: [Sensor; SENSORS] = [Sensor::Core, Sensor::OtherDie, Sensor::Uncore, Sensor::Regulator, Sensor::Modules];

/// True if something that was above a limit, or not, is now.
const fn is_above(was: bool, temperature: i32, limit: i32) -> bool {
    temperature >= if was { limit - MARGIN } else { limit }
}

impl Heat {
    /// That of a package that has rested in air of so many degrees.
    pub fn new(settings: &'static HeatSettings, air: u8) -> Self {
        let (own, ratio, busy) = (1, 1, [0; 2]);
        let (cores, vectors, messages, lines) = (0, 0, 0, 0);
        let rest = HeatLoad { settings, air, busy, cores, ratio, own, vectors, messages, lines };
        Self {
            sensors: ALL.map(|sensor| rest.goal(sensor)),
            hot: [false; SENSORS],
            overheats: [false; 2],
            uncore_overheats: false,
            modules: ModulesHeat::Normal,
            ceiling: None,
        }
    }

    /// The air has another temperature; what it cools has had the time to follow.
    pub fn move_air(&mut self, degrees: i32) {
        self.sensors.iter_mut().for_each(|sensor| *sensor += degrees * 1000);
    }

    /// A phase's bounds with what heat adds to them.
    pub fn bounds(&self, phase: &FrequencyBounds) -> FrequencyBounds {
        FrequencyBounds {
            thermal: phase.thermal.into_iter().chain(self.ceiling).min(),
            prochot_internal: phase.prochot_internal || self.overheats(),
            // A sensor off the die, such as memory's.
            prochot_external: phase.prochot_external || self.modules == ModulesHeat::Critical,
            regulator_hot: phase.regulator_hot || self.is_hot(Sensor::Regulator),
            ..*phase
        }
    }

    /// What becomes of a phase's settings of memory; it `rests` while nobody can need it.
    pub fn memory(&self, phase: &MemoryConditions, rests: bool) -> MemoryConditions {
        let mut memory = *phase;
        if rests {
            memory.self_refresh = memory.self_refresh.or(Some(MEMORY_REST));
        }
        match self.modules {
            ModulesHeat::Normal => {}
            ModulesHeat::Hot => memory.throttle = memory.throttle.or(Some((u8::MAX, HOT_WAITS))),
            ModulesHeat::Critical => memory.critical = memory.critical.or(Some(CRITICAL_WAITS)),
        }
        memory
    }

    /// True if what a sensor measures is hot.
    pub const fn is_hot(&self, sensor: Sensor) -> bool {
        self.hot[sensor as usize]
    }

    /// True if a sensor on a die reports that it overheats: of a core of the die, or of the uncore.
    pub const fn overheats(&self) -> bool {
        self.overheats[0] || self.overheats[1] || self.uncore_overheats
    }

    /// Whether other dies make this one slow down that is not hot itself: `Some(true)` by much, since they overheat.
    pub const fn crosses(&self) -> Option<bool> {
        let [own, other] = self.overheats;
        match (self.is_hot(Sensor::OtherDie), self.is_hot(Sensor::Core)) {
            _ if other && !own => Some(true),
            (true, false) => Some(false),
            _ => None,
        }
    }

    /// A look at the sensors, `LOOK` after the one before; `wanted` is the ratio that cores would have without heat.
    /// True if nothing moves any more.
    pub fn look(&mut self, load: &HeatLoad, wanted: u8, least: u8) -> bool {
        let mut rests = true;
        for sensor in ALL {
            let (goal, now) = (load.goal(sensor), &mut self.sensors[sensor as usize]);
            let step = (goal - *now) >> CONSTANT;
            rests &= (goal - *now).abs() < 1 << CONSTANT;
            *now += step;
            let limit = match sensor {
                Sensor::Regulator => REGULATOR_HOT,
                Sensor::Modules => MEMORY_HOT,
                _ => HOT,
            };
            self.hot[sensor as usize] = is_above(self.hot[sensor as usize], *now, limit);
        }
        let [core, other, uncore, _, modules] = self.sensors;
        self.overheats = [is_above(self.overheats[0], core, OVERHEATS), is_above(self.overheats[1], other, OVERHEATS)];
        self.uncore_overheats = is_above(self.uncore_overheats, uncore, OVERHEATS);
        let critical = is_above(self.modules == ModulesHeat::Critical, modules, MEMORY_CRITICAL);
        self.modules = match (critical, self.is_hot(Sensor::Modules)) {
            (true, _) => ModulesHeat::Critical,
            (false, true) => ModulesHeat::Hot,
            _ => ModulesHeat::Normal,
        };
        // A step down for each look that finds something hot, and up again after.
        let slows = [Sensor::Core, Sensor::OtherDie, Sensor::Uncore, Sensor::Regulator]
            .into_iter()
            .any(|sensor| self.is_hot(sensor));
        self.ceiling = if slows {
            Some(self.ceiling.unwrap_or(wanted).min(wanted).saturating_sub(1).max(least))
        } else {
            self.ceiling.map(|ceiling| ceiling + 1).filter(|&ceiling| ceiling < wanted)
        };
        rests && self.ceiling.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, Heat, HeatLoad, HeatSettings, ModulesHeat, Sensor};

    /// 64 cores that draw 320 W with their uncore.
    const SETTINGS: HeatSettings = HeatSettings {
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

    /// Air of 25 degrees, all cores at their own 2.8 GHz; 22,000 lines in 4 us are what memory carries.
    const FULL: HeatLoad = HeatLoad {
        settings: &SETTINGS,
        air: 25,
        busy: [32, 32],
        cores: 64,
        ratio: 28,
        own: 28,
        vectors: 0,
        messages: 76_000,
        lines: 22_000,
    };

    #[test]
    fn under_full_load_nothing_is_hot() {
        let mut heat = Heat::new(&SETTINGS, 25);
        assert!(!heat.look(&FULL, 28, 8), "it gets warmer");
        while !heat.look(&FULL, 28, 8) {}
        assert_eq!(heat.ceiling, None);
        assert!(ALL.iter().all(|&sensor| !heat.is_hot(sensor)));
        // 25 + 47 + 15 degrees, but for what is less than a step.
        assert!((86_990..=87_000).contains(&heat.sensors[Sensor::Core as usize]), "{:?}", heat.sensors);
        assert_eq!(FULL.package(28), 90_000 + 64 * 3600);
    }

    /// After one time constant, eight looks, (7/8)^8 = 0.344 of the way are left: 72 + 0.656 * 15 = 81.8 degrees.
    #[test]
    fn a_part_follows_its_power_with_a_time_constant() {
        let mut heat = Heat::new(&SETTINGS, 25);
        (0..8).for_each(|_| assert!(!heat.look(&FULL, 28, 8)));
        assert!((81_800..81_900).contains(&heat.sensors[Sensor::Core as usize]), "{:?}", heat.sensors);
    }

    /// At 3.9 GHz a core draws (39/28)^3 = 2.7 times as much: its sensor would come to 72 + 40.5 degrees.
    #[test]
    fn heat_takes_the_highest_turbo_down_to_what_the_limit_allows() {
        let (mut heat, mut ratio) = (Heat::new(&SETTINGS, 25), 39);
        let mut seen = Vec::new();
        for _ in 0..200 {
            heat.look(&HeatLoad { ratio, busy: [8, 0], messages: 0, lines: 0, ..FULL }, 39, 8);
            ratio = heat.ceiling.unwrap_or(39);
            seen.push(ratio);
        }
        assert!(seen[..4].iter().all(|&ratio| ratio == 39), "it takes a while: {seen:?}");
        // 20 degrees above the sink are (r/28)^3 = 4/3: 30.8.
        assert!(seen[100..].iter().all(|ratio| (25..=34).contains(ratio)), "{seen:?}");
        assert!(!heat.is_hot(Sensor::OtherDie) && heat.crosses().is_none());
    }

    #[test]
    fn a_hot_other_die_slows_this_one_down() {
        let mut heat = Heat::new(&SETTINGS, 25);
        let load = HeatLoad { ratio: 39, busy: [0, 8], ..FULL };
        // 20 of 40.5 degrees are there after six looks, 26 after eight.
        (0..7).for_each(|_| _ = heat.look(&load, 39, 8));
        assert_eq!((heat.crosses(), heat.overheats()), (Some(false), false));
        (0..8).for_each(|_| _ = heat.look(&load, 39, 8));
        assert_eq!((heat.crosses(), heat.overheats()), (Some(true), true));
    }

    /// The peak is 1.5 times 320.4 W. Cores at scalar work draw (480.6 - 90)/64 = 6.1 W there: 3.3 GHz; with wide
    /// vectors, 2.7 GHz.
    #[test]
    fn the_peak_bounds_what_all_cores_draw_together() {
        assert_eq!(HeatLoad { ratio: 39, ..FULL }.peak_ratio(39), 33);
        assert_eq!(HeatLoad { vectors: 512, ..FULL }.peak_ratio(30), 27);
        assert_eq!(HeatLoad { busy: [8, 0], ..FULL }.peak_ratio(39), 39);
    }

    /// Eight cores of 11 W at 2.7 GHz and 22 W of uncore, 42 W while memory is busy; the peak is 1.2 times 130 W. With
    /// memory busy that is 42 + 88 * 1.239 = 151.0 W at 2.9 GHz and 162.7 W at 3.0 GHz; without, 155.2 W at 3.1 GHz.
    /// Of 115 A, 88 * (30/27)^2 = 108.6 A is below, 88 * (31/27)^2 = 116.0 A not.
    #[test]
    fn a_busy_uncore_leaves_less_power_and_the_supply_less_current() {
        static SMALL: HeatSettings = HeatSettings {
            core: 11_000,
            uncore: [22_000, 42_000],
            full_lines: 3200,
            peak: 120,
            current: Some(115_000),
            ..SETTINGS
        };
        let rests = HeatLoad { settings: &SMALL, busy: [8, 0], cores: 8, ratio: 27, own: 27, lines: 0, ..FULL };
        assert_eq!((rests.peak_ratio(35), rests.current_ratio(35)), (31, 30));
        let busy = HeatLoad { lines: 5000, ..rests };
        assert_eq!((busy.peak_ratio(35), busy.current_ratio(35)), (29, 30));
        assert_eq!((FULL.current_ratio(39), busy.peak_ratio(27)), (39, 27));
    }

    /// Modules in air of 40 degrees are at 78, and with 5.5 lines a nanosecond come to 98.
    #[test]
    fn modules_in_hot_air_are_hot_and_then_critical() {
        let mut heat = Heat::new(&SETTINGS, 40);
        let mut states = Vec::new();
        for _ in 0..40 {
            heat.look(&HeatLoad { air: 40, busy: [0, 0], ..FULL }, 28, 8);
            states.push(heat.modules);
        }
        states.dedup();
        assert_eq!(states, [ModulesHeat::Normal, ModulesHeat::Hot, ModulesHeat::Critical]);
    }
}
