//! What a package draws, and where that takes the temperatures of its parts.

/// What a package draws, and how warm that makes its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeatSettings {
    /// Power of a core at scalar work at the frequency that cores run at by themselves, mW.
    pub core: u64,
    /// Power of the uncore, mW: at rest, and while memory carries as much as it can.
    pub uncore: [u64; 2],
    /// Lines that memory carries at most between two looks.
    pub full_lines: u64,
    /// Power of vector code, per cent of scalar code's: of 256 and of 512 bits.
    pub vectors: [u64; 2],
    /// The most that the supply gives, per cent of what all cores at work and the full uncore draw.
    pub peak: u64,
    /// Current that the cores' supply gives for long, mA; a core at its own frequency has 1 V.
    pub current: Option<u64>,
    /// Power of the package at which its regulator is at its warmest, mW.
    pub regulator_full: u64,
    /// Millidegrees of the uncore's sensor above the heat sink, for each thousand messages between two looks.
    pub mesh_rise: u64,
    /// Millidegrees of the modules above their rest, for each thousand lines between two looks.
    pub lines_rise: u64,
}

/// Millidegrees of heat sink, regulator and modules above the air (assumption: after long work).
const SINK: i32 = 47_000;
const REGULATOR: i32 = 40_000;
const MODULES: i32 = 38_000;
/// Millidegrees of a core's sensor above the heat sink at scalar work and its own frequency, and of the regulator above
/// its rest at its warmest (assumptions: under full load and with air of 25 degrees each stays below its limit).
const CORE_RISE: u64 = 15_000;
const REGULATOR_RISE: u64 = 30_000;

/// Where a sensor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Sensor {
    /// The hottest core of the die that has the power unit.
    Core,
    /// That of the other dies.
    OtherDie,
    /// Interconnect and slices.
    Uncore,
    /// The voltage regulator.
    Regulator,
    /// The memory modules.
    Modules,
}

/// What heats a package.
#[derive(Debug, Clone, Copy)]
pub struct HeatLoad {
    /// What that does to the package.
    pub settings: &'static HeatSettings,
    /// Degrees of the air.
    pub air: u8,
    /// Cores at work, on the die of the power unit and on the others.
    pub busy: [u16; 2],
    /// All cores of the package.
    pub cores: u16,
    /// Ratio that they run at, in 100 MHz.
    pub ratio: u8,
    /// The one that they run at by themselves.
    pub own: u8,
    /// Bits of their vectors; 0 for scalar code.
    pub vectors: u16,
    /// Messages on the interconnect since the look before.
    pub messages: u64,
    /// Lines of memory since then.
    pub lines: u64,
}

impl HeatLoad {
    /// mW of a core at work with a ratio: as its cube, since voltage follows frequency.
    fn core(&self, ratio: u8) -> u64 {
        let factor = match self.vectors {
            0 => 100,
            256 => self.settings.vectors[0],
            _ => self.settings.vectors[1],
        };
        let [ratio, own] = [ratio, self.own].map(u64::from);
        self.settings.core * ratio.pow(3) / own.pow(3) * factor / 100
    }

    fn all_busy(&self) -> u64 {
        self.busy.iter().map(|&busy| u64::from(busy)).sum()
    }

    /// mW of the package.
    pub(super) fn package(&self, ratio: u8) -> u64 {
        let HeatSettings { uncore: [rest, full], full_lines, .. } = self.settings;
        rest + (full - rest) * self.lines.min(*full_lines) / full_lines + self.all_busy() * self.core(ratio)
    }

    /// The highest ratio up to `wanted` with which the package stays below its peak.
    pub fn peak_ratio(&self, wanted: u8) -> u8 {
        let HeatSettings { core, uncore: [_, full], peak, .. } = self.settings;
        let peak = (full + u64::from(self.cores) * core) * peak / 100;
        highest(wanted, |ratio| self.package(ratio) <= peak)
    }

    /// The highest ratio up to `wanted` with which the cores' supply gives what they draw. Its voltage follows the
    /// frequency.
    pub fn current_ratio(&self, wanted: u8) -> u8 {
        let draws = |ratio: u8| self.all_busy() * self.core(ratio) * u64::from(self.own) / u64::from(ratio);
        let most = self.settings.current.unwrap_or(u64::MAX);
        highest(wanted, |ratio| draws(ratio) <= most)
    }

    /// Where a sensor's temperature goes, in millidegrees.
    pub(super) fn goal(&self, sensor: Sensor) -> i32 {
        let HeatSettings { core, regulator_full, mesh_rise, lines_rise, .. } = *self.settings;
        let air = i32::from(self.air) * 1000;
        let of_core = |die: usize| if self.busy[die] > 0 { self.core(self.ratio) * CORE_RISE / core } else { 0 };
        let (above, rise) = match sensor {
            Sensor::Core => (SINK, of_core(0)),
            Sensor::OtherDie => (SINK, of_core(1)),
            Sensor::Uncore => (SINK, self.messages * mesh_rise / 1000),
            Sensor::Regulator => (REGULATOR, self.package(self.ratio) * REGULATOR_RISE / regulator_full),
            Sensor::Modules => (MODULES, self.lines * lines_rise / 1000),
        };
        air + above + rise as i32
    }
}

/// The highest ratio up to `wanted` of which something holds.
fn highest(wanted: u8, holds: impl Fn(u8) -> bool) -> u8 {
    (1..=wanted).rev().find(|&ratio| holds(ratio)).unwrap_or(1)
}
