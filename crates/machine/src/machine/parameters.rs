//! The parameters of a preset, whichever family's model they are of.

use pericore_engine::ClockDomains;
use pericore_hardware::chassis::Shape;
use pericore_hardware::signal::Wiring;

use super::BuildError;
use super::model::Model;
use crate::e5_2600::E5;
use crate::emerald_rapids::EmeraldRapids;
use crate::nehalem::Nehalem;
use crate::uncore::emerald_rapids::PartError;
use crate::uncore::{self, CORES, Setting, UnknownSetting, emerald_rapids};
use pericore_models::{e5_2600, nehalem};
use pericore_workload::{Limits, ProgramSettings, ProgramSource, Scenario};

/// Presets by command-line name, with the family that they belong to. The first of a family is its default.
pub const PRESETS: &[(&str, &str)] = &[
    ("e5-2680", "e5-2600"),
    ("x5570", "nehalem"),
    ("8592+", "emerald-rapids"),
    ("8568", "emerald-rapids"),
    ("8480+", "sapphire-rapids"),
    ("8490h", "sapphire-rapids"),
];

/// A preset or a part of the user's own, in whatever case, and its family.
pub fn preset(name: &str) -> Option<(&'static str, &'static str)> {
    let shipped = PRESETS.iter().copied().find(|(preset, _)| preset.eq_ignore_ascii_case(name));
    shipped.or_else(|| emerald_rapids::find_part(name).map(|part| (part.name.as_str(), part.family)))
}

/// The first preset of a machine's family that has as many cores and slices; the first one if none has.
pub(super) fn preset_for(shape: &Shape) -> &'static str {
    let of_family = || PRESETS.iter().filter(|(_, of)| *of == shape.family.name).map(|(preset, _)| *preset);
    let is_large_enough = |preset: &&str| {
        Parameters::preset(preset).is_some_and(|part| part.cores() >= shape.cores && part.slices() >= shape.slices)
    };
    of_family().find(is_large_enough).or_else(|| of_family().next()).unwrap_or(shape.family.name)
}

/// Adds a part of the user's own, from its file, and gives the name by which machines of it are asked for.
///
/// # Errors
/// [`PartError`] for the first thing that is wrong with the file.
pub fn add_part(text: &str) -> Result<&'static str, PartError> {
    let is_taken = |name: &str| {
        PRESETS.iter().any(|(preset, _)| preset.eq_ignore_ascii_case(name)) || pericore_catalog::family(name).is_some()
    };
    Ok(&emerald_rapids::add_part(text, is_taken)?.name)
}

/// The file and the keys of `FILE.toml[:KEYS]`, a machine of a part of the user's own; the keys keep their colon.
/// `None` for any other name.
pub fn part_file(name: &str) -> Option<(&str, &str)> {
    const EXTENSION: &str = ".toml";
    let (file, keys) = name.split_at(name.find(EXTENSION)? + EXTENSION.len());
    (keys.is_empty() || keys.starts_with(':')).then_some((file, keys))
}

/// All numbers of a machine's traffic model.
#[derive(Debug, Clone)]
pub enum Parameters {
    /// Of the E5-2600.
    E5(Box<e5_2600::Parameters>),
    /// Of the Xeon 5500 series.
    Nehalem(Box<nehalem::Parameters>),
    /// Of Emerald Rapids and Sapphire Rapids.
    EmeraldRapids(Box<emerald_rapids::Parameters>),
}

/// Size and shape of a first-level cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstLevel {
    /// Bytes.
    pub bytes: u32,
    /// Ways of each set.
    pub ways: u32,
}

impl Parameters {
    /// The parameters of a preset.
    pub fn preset(name: &str) -> Option<Self> {
        let e5 = e5_2600::Parameters::preset(name).map(|parameters| Self::E5(Box::new(parameters)));
        let newer = || emerald_rapids::Parameters::preset(name);
        match name {
            "x5570" => Some(Self::Nehalem(Box::new(nehalem::Parameters::x5570()))),
            _ => e5.or_else(|| newer().map(|parameters| Self::EmeraldRapids(Box::new(parameters)))),
        }
    }

    /// Cores of a socket that take part, of all that it has.
    pub fn active_cores(&self) -> u16 {
        match self {
            Self::E5(parameters) => parameters.active_cores.into(),
            Self::Nehalem(parameters) => parameters.active_cores.into(),
            Self::EmeraldRapids(parameters) => parameters.active_cores.into(),
        }
    }

    /// Cores of a socket, those that firmware leaves out counted in.
    pub fn cores(&self) -> u16 {
        match self {
            Self::E5(parameters) => parameters.cores.into(),
            Self::Nehalem(_) => nehalem::CORES as u16,
            Self::EmeraldRapids(parameters) => parameters.cores.into(),
        }
    }

    /// LLC slices of a socket in use.
    pub fn slices(&self) -> u16 {
        match self {
            Self::E5(parameters) => parameters.slices.into(),
            Self::Nehalem(_) => 1,
            Self::EmeraldRapids(parameters) => parameters.slices.into(),
        }
    }

    /// Hardware threads of a core.
    pub fn threads_per_core(&self) -> u16 {
        match self {
            Self::E5(parameters) => parameters.threads_per_core.into(),
            Self::Nehalem(parameters) => parameters.threads_per_core.into(),
            Self::EmeraldRapids(parameters) => parameters.threads_per_core.into(),
        }
    }

    /// The first-level caches of a core, which a program's accesses go through before they reach the model: for data and for
    /// instructions (Intel optimization manual).
    pub const fn first_level(&self) -> [FirstLevel; 2] {
        const fn cache(kibibytes: u32, ways: u32) -> FirstLevel {
            FirstLevel { bytes: kibibytes << 10, ways }
        }
        match self {
            Self::E5(_) => [cache(32, 8), cache(32, 8)],
            Self::Nehalem(_) => [cache(32, 8), cache(32, 4)],
            Self::EmeraldRapids(_) => [cache(48, 12), cache(32, 8)],
        }
    }

    /// Bytes of the private caches of the cores that take part, and of the LLC, of a socket.
    pub const fn cache_bytes(&self) -> u64 {
        match self {
            Self::E5(parameters) => parameters.cache_bytes(),
            Self::Nehalem(parameters) => parameters.cache_bytes(),
            Self::EmeraldRapids(parameters) => parameters.cache_bytes(),
        }
    }

    /// Sockets that the model can have at most.
    pub const fn most_sockets(&self) -> u16 {
        match self {
            Self::E5(_) => e5_2600::MOST_SOCKETS as u16,
            Self::Nehalem(_) => nehalem::MOST_SOCKETS as u16,
            Self::EmeraldRapids(_) => 2,
        }
    }

    /// The same part in a machine of so many sockets.
    #[must_use]
    pub fn with_sockets(self, sockets: u16) -> Self {
        match self {
            Self::E5(parameters) => Self::E5(Box::new(parameters.with_sockets(sockets as u8))),
            Self::Nehalem(parameters) => Self::Nehalem(Box::new(parameters.with_sockets(sockets as u8))),
            Self::EmeraldRapids(parameters) => Self::EmeraldRapids(Box::new(parameters.with_sockets(sockets as u8))),
        }
    }

    /// The same part with as many cores, threads and slices as a machine has.
    ///
    /// # Errors
    /// [`BuildError::TooManyCores`] if the part has fewer cores.
    pub fn of_shape(self, shape: &Shape) -> Result<Self, BuildError> {
        let (family, cores) = (shape.family.name, self.cores());
        if shape.cores > cores {
            return Err(BuildError::TooManyCores { family, cores: shape.cores, most: cores });
        }
        let mut part = self.with_setting(CORES, shape.cores.into())?;
        let (threads, slices) = (shape.threads as u8, shape.slices as u8);
        match &mut part {
            Self::E5(part) => (part.threads_per_core, part.slices) = (threads, slices),
            Self::Nehalem(part) => part.threads_per_core = threads,
            Self::EmeraldRapids(part) => (part.threads_per_core, part.slices) = (threads, slices),
        }
        Ok(part)
    }

    /// What the machine's name can set besides the number of sockets.
    pub fn settings(&self) -> Vec<Setting> {
        match self {
            Self::E5(_) => e5_2600::SETTINGS.iter().map(|(setting, _)| *setting).collect(),
            Self::EmeraldRapids(parameters) => parameters.settings(),
            Self::Nehalem(_) => nehalem::SETTINGS.iter().map(|(setting, _)| *setting).collect(),
        }
    }

    /// The same part with a setting.
    ///
    /// # Errors
    /// [`UnknownSetting`] if it is none of [`Self::settings`].
    pub fn with_setting(mut self, key: &str, value: u64) -> Result<Self, UnknownSetting> {
        match &mut self {
            Self::E5(part) => uncore::set(e5_2600::SETTINGS, &mut **part, key, value)?,
            Self::EmeraldRapids(part) => uncore::set(emerald_rapids::SETTINGS, &mut **part, key, value)?,
            Self::Nehalem(part) => uncore::set(nehalem::SETTINGS, &mut **part, key, value)?,
        }
        Ok(self)
    }

    /// What workloads can ask of the machine.
    pub const fn limits(&self) -> Limits {
        match self {
            Self::E5(parameters) => parameters.limits(),
            Self::Nehalem(parameters) => parameters.limits(),
            Self::EmeraldRapids(parameters) => parameters.limits(),
        }
    }

    /// The clocks.
    ///
    /// # Errors
    /// [`BuildError`] if the frequencies share no grid of ticks.
    pub fn clocks(&self) -> Result<ClockDomains, BuildError> {
        match self {
            Self::E5(parameters) => Ok(ClockDomains::from(&parameters.clocks()?)),
            Self::Nehalem(parameters) => Ok(parameters.domains()),
            Self::EmeraldRapids(parameters) => Ok(parameters.clock_domains()),
        }
    }

    /// A model at tick 0 that runs a scenario on the sockets of `wiring`.
    pub(super) fn model(self, scenario: Scenario, wiring: &mut Wiring) -> Result<Model, BuildError> {
        Ok(match self {
            Self::E5(parameters) => Model::E5(Box::new(E5::for_scenario(*parameters, scenario, wiring)?)),
            Self::Nehalem(parameters) => {
                Model::Nehalem(Box::new(Nehalem::for_scenario(*parameters, scenario, wiring)?))
            }
            Self::EmeraldRapids(parameters) => {
                Model::EmeraldRapids(Box::new(EmeraldRapids::for_scenario(*parameters, scenario, wiring)?))
            }
        })
    }

    /// Binds every signal that the model emits. No model is built for it.
    pub(super) fn bind(&self, wiring: &mut Wiring) -> Result<(), BuildError> {
        match self {
            Self::E5(parameters) => E5::bind(parameters, wiring)?,
            Self::Nehalem(parameters) => Nehalem::bind(parameters, wiring)?,
            Self::EmeraldRapids(_) => EmeraldRapids::bind(wiring)?,
        }
        Ok(())
    }

    /// A model at tick 0 that runs a program on the sockets of `wiring`.
    pub(super) fn model_for_program(
        self,
        source: Box<dyn ProgramSource>,
        settings: ProgramSettings,
        wiring: &mut Wiring,
    ) -> Result<Model, BuildError> {
        match self {
            Self::Nehalem(parameters) => {
                Ok(Model::Nehalem(Box::new(Nehalem::for_program(*parameters, source, settings, wiring)?)))
            }
            Self::E5(parameters) => Ok(Model::E5(Box::new(E5::for_program(*parameters, source, settings, wiring)?))),
            Self::EmeraldRapids(parameters) => {
                let machine = EmeraldRapids::for_program(*parameters, source, settings, wiring)?;
                Ok(Model::EmeraldRapids(Box::new(machine)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PRESETS, add_part, preset};
    use crate::MachineSpec;

    #[test]
    fn every_preset_is_there_and_of_its_family() {
        for (name, family) in PRESETS {
            let spec = MachineSpec::parse(name).unwrap();
            assert_eq!((spec.family().name, spec.parameters().is_ok()), (*family, true), "{name}");
        }
    }

    /// Product data: an 8480+ has 56 cores and 105 MB of LLC, an 8490H 60 and 112.5 MB, in slices of 1.875 MB. A bundle
    /// of the larger part is none of the smaller one.
    #[test]
    fn a_snapshot_is_of_a_preset_that_is_large_enough() {
        let text = MachineSpec::parse("sapphire-rapids").unwrap().chassis().unwrap().dump();
        assert!(text.contains(" slices=56 "), "{text}");
        let of_part = |slices: u16| {
            let spec = MachineSpec::of_snapshot(&text.replace("slices=56", &format!("slices={slices}"))).unwrap();
            (spec.preset(), spec.parameters().map(|parameters| parameters.slices()).ok())
        };
        for slices in [1, 52, 56] {
            assert_eq!(of_part(slices), ("8480+", Some(slices)));
        }
        for slices in [57, 60] {
            assert_eq!(of_part(slices), ("8490h", Some(slices)));
        }
    }

    /// A part of 32 cores, as the smaller ones of the family have them: 60 MB of LLC.
    const SMALL: &str = r#"
        part = "own-32"
        family = "sapphire-rapids"
        like = "8480+"
        [datasheet]
        cores = 32
        slices = 32
        core_mhz = 2500
        [fitted]
    "#;

    #[test]
    fn a_part_of_ones_own_is_a_machine() {
        assert!(preset("own-32").is_none());
        assert_eq!(add_part(SMALL), Ok("own-32"));
        assert_eq!(add_part(SMALL), Ok("own-32"), "the same again");
        let spec = MachineSpec::parse("own-32:sockets=2").unwrap();
        let shape = spec.shape().unwrap();
        assert_eq!((shape.cores, shape.slices, shape.sockets), (32, 32, 2));
        assert_eq!(spec.parameters().unwrap().cache_bytes(), (32 * 2048 + 32 * 1920) << 10);
        let error = |from: &str, to: &str| add_part(&SMALL.replace(from, to)).unwrap_err().to_string();
        for taken in ["8592+", "X5570", "nehalem"] {
            assert!(error("own-32", taken).contains("is taken"), "{taken}");
        }
        assert!(error("cores = 32", "cores = 31").contains("with other values"), "another part by the same name");
        assert!(error("own-32", "own-33\"\nodd = \"1").contains("odd is no key"));
        let large = SMALL.replace("own-32", "own-64").replace("cores = 32", "cores = 64");
        assert!(add_part(&large).unwrap_err().to_string().contains("cores"));
    }
}
