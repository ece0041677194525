//! How warm the parts of a package are: each follows what heats it with a time constant, and the power unit looks at
//! its sensors at an interval.
//!
//! Air, heat sink and modules change over minutes, which no run lasts: they are as warm as after long work. What moves
//! within microseconds are the sensors that heat themselves.

use pericore_engine::Tick;

/// Microseconds between two looks at the sensors (assumption).
pub const LOOK: Tick = 4;
/// Looks in which a sensor comes nearer to its goal by 1 - 1/e, as a power of two: 32 us (assumption: what heat takes
/// to cross some 50 um of silicon).
const CONSTANT: u32 = 3;
/// Power at the frequency that cores run at by themselves, of a core at scalar work and of the uncore, mW (assumption:
/// all cores of an 8592+ then draw its 350 W).
const CORE: u64 = 3600;
const UNCORE: u64 = 90_000;
/// Of vector code, per cent of scalar code's power: of 256 and of 512 bits (assumption).
const VECTORS: [u64; 2] = [135, 170];
/// The peak that the supply gives, per cent of that with all cores at work (assumption).
const PEAK: u64 = 150;
/// Millidegrees of heat sink, regulator and modules above the air (assumption: after long work at 350 W).
const SINK: i32 = 47_000;
const REGULATOR: i32 = 40_000;
const MODULES: i32 = 38_000;
/// Millidegrees of a sensor above that: of a core at scalar work, of the uncore for each thousand messages that the
/// mesh carries between two looks, of the regulator at 350 W, of the modules for each thousand lines (assumptions:
/// under full load and with air of 25 degrees each stays below its limit).
const CORE_RISE: u64 = 15_000;
const MESH_RISE: u64 = 78;
const REGULATOR_RISE: u64 = 30_000;
const LINES_RISE: u64 = 900;
/// Millidegrees at which a core or the uncore is hot, and at which it reports that it overheats (assumptions); at which
/// the regulator is hot (assumption).
const HOT: i32 = 92_000;
const OVERHEATS: i32 = 98_000;
const REGULATOR_HOT: i32 = 98_000;
/// Limits of DRAM's normal and extended range of temperature (JESD79-5).
const MEMORY_HOT: i32 = 85_000;
const MEMORY_CRITICAL: i32 = 95_000;
/// What is hot stays so until it is so much below.
const MARGIN: i32 = 1000;

/// Where a sensor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Sensor {
    /// The hottest core of the die that has the power unit.
    Core,
    /// That of the other dies.
    OtherDie,
    /// Mesh and slices.
    Uncore,
    Regulator,
    Modules,
}

const SENSORS: usize = 5;

/// What heats a package.
#[derive(Debug, Clone, Copy, Default)]
pub struct HeatLoad {
    /// Degrees of the air.
    pub air: u8,
    /// Cores at work, on the die of the power unit and on the others; all cores of the package.
    pub busy: [u16; 2],
    pub cores: u16,
    /// Ratio that they run at, and the one of their own.
    pub ratio: u8,
    pub own: u8,
    /// Bits of their vectors; 0 for scalar code.
    pub vectors: u16,
    /// Messages on the mesh, and lines of memory, since the look before.
    pub messages: u64,
    pub lines: u64,
}

impl HeatLoad {
    /// mW of a core at work with a ratio: as its cube, since voltage follows frequency.
    fn core(&self, ratio: u8) -> u64 {
        let factor = match self.vectors {
            0 => 100,
            256 => VECTORS[0],
            _ => VECTORS[1],
        };
        let [ratio, own] = [ratio, self.own].map(u64::from);
        CORE * ratio.pow(3) / own.pow(3) * factor / 100
    }

    /// mW of the package.
    fn package(&self, ratio: u8) -> u64 {
        UNCORE + self.busy.iter().map(|&busy| u64::from(busy)).sum::<u64>() * self.core(ratio)
    }

    /// The highest ratio up to `wanted` with which the package stays below its peak.
    pub fn peak_ratio(&self, wanted: u8) -> u8 {
        let peak = (UNCORE + u64::from(self.cores) * CORE) * PEAK / 100;
        (1..=wanted).rev().find(|&ratio| self.package(ratio) <= peak).unwrap_or(1)
    }

    /// Where a sensor's temperature goes, in millidegrees.
    fn goal(&self, sensor: Sensor) -> i32 {
        let air = i32::from(self.air) * 1000;
        let core = |die: usize| if self.busy[die] > 0 { self.core(self.ratio) * CORE_RISE / CORE } else { 0 };
        let (above, rise) = match sensor {
            Sensor::Core => (SINK, core(0)),
            Sensor::OtherDie => (SINK, core(1)),
            Sensor::Uncore => (SINK, self.messages * MESH_RISE / 1000),
            Sensor::Regulator => (REGULATOR, self.package(self.ratio) * REGULATOR_RISE / 350_000),
            Sensor::Modules => (MODULES, self.lines * LINES_RISE / 1000),
        };
        air + above + rise as i32
    }
}

/// What the power unit does with the modules of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ModulesHeat {
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
    pub fn new(air: u8) -> Self {
        let rest = HeatLoad { air, own: 1, ratio: 1, ..HeatLoad::default() };
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
    use super::{Heat, HeatLoad, ModulesHeat, Sensor};

    /// Air of 25 degrees, an 8592+ at its own 2.8 GHz; 22,000 lines in 4 us are what eight channels carry.
    const FULL: HeatLoad = HeatLoad {
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
        let mut heat = Heat::new(25);
        assert!(!heat.look(&FULL, 28, 8), "it gets warmer");
        while !heat.look(&FULL, 28, 8) {}
        assert_eq!(heat.ceiling, None);
        assert!(
            [Sensor::Core, Sensor::OtherDie, Sensor::Uncore, Sensor::Regulator, Sensor::Modules]
                .iter()
                .all(|&s| !heat.is_hot(s))
        );
        // 25 + 47 + 15 degrees, but for what is less than a step.
        assert!((86_990..=87_000).contains(&heat.sensors[Sensor::Core as usize]), "{:?}", heat.sensors);
        assert_eq!(FULL.package(28), 90_000 + 64 * 3600);
    }

    /// After one time constant, eight looks, (7/8)^8 = 0.344 of the way are left: 72 + 0.656 * 15 = 81.8 degrees.
    #[test]
    fn a_part_follows_its_power_with_a_time_constant() {
        let mut heat = Heat::new(25);
        (0..8).for_each(|_| assert!(!heat.look(&FULL, 28, 8)));
        assert!((81_800..81_900).contains(&heat.sensors[Sensor::Core as usize]), "{:?}", heat.sensors);
    }

    /// At 3.9 GHz a core draws (39/28)^3 = 2.7 times as much: its sensor would come to 72 + 40.5 degrees.
    #[test]
    fn heat_takes_the_highest_turbo_down_to_what_the_limit_allows() {
        let (mut heat, mut ratio) = (Heat::new(25), 39);
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
        let mut heat = Heat::new(25);
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

    /// Modules in air of 40 degrees are at 78, and with 5.5 lines a nanosecond come to 98.
    #[test]
    fn modules_in_hot_air_are_hot_and_then_critical() {
        let mut heat = Heat::new(40);
        let mut states = Vec::new();
        for _ in 0..40 {
            heat.look(&HeatLoad { air: 40, busy: [0, 0], ..FULL }, 28, 8);
            states.push(heat.modules);
        }
        states.dedup();
        assert_eq!(states, [ModulesHeat::Normal, ModulesHeat::Hot, ModulesHeat::Critical]);
    }
}
