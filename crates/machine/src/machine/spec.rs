//! `FAMILY|PRESET[:sockets=N,…]`: which machine, and what is odd about it. Or a snapshot: then its registers are not those after reset.

use std::collections::BTreeSet;
use std::sync::Arc;

use pericore_catalog::search::hint;
use pericore_catalog::{Family, kernel};
use pericore_hardware::chassis::{Chassis, Shape, SnapshotError, Variant};
use pericore_hardware::signal::{Tick, Wiring};

use super::BuildError;
use super::oddity::{self, Oddity};
use super::parameters::{self, PRESETS, Parameters};
use crate::uncore::{CORES, Setting};
use pericore_workload::Limits;

/// A machine as the command line names it.
#[derive(Debug, Clone)]
pub struct MachineSpec {
    family: &'static Family,
    preset: &'static str,
    sockets: u16,
    /// Other settings, in the order in which they were given.
    settings: Vec<(&'static str, u64)>,
    /// How it differs from the documented machine, in the order in which that was given.
    oddities: Vec<Oddity>,
    /// The snapshot that it begins with.
    snapshot: Option<Snapshot>,
}

/// A snapshot that loads.
#[derive(Debug, Clone)]
struct Snapshot {
    text: Arc<str>,
    shape: Shape,
}

/// Text that names no machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Neither a family nor a preset.
    #[error("no machine {name:?}{near}; known: {known}")]
    Unknown {
        /// What was written.
        name: String,
        /// What may be meant.
        near: String,
        /// Families and presets.
        known: String,
    },
    /// A key that machines do not have.
    #[error("{preset} has no key {key:?}{near}; known: {known}")]
    UnknownKey {
        /// Preset, or family.
        preset: &'static str,
        /// What was written.
        key: String,
        /// What may be meant.
        near: String,
        /// Keys that there are.
        known: String,
    },
    /// A family without a model, and those that have one.
    #[error("there is no software {0}, only {1}; pericore list --machine {0} shows its events")]
    NoSoftware(&'static str, String),
    /// A key that was given before.
    #[error("{key} is given twice, the second time as {value:?}: keep one of them")]
    Repeated {
        /// Key.
        key: &'static str,
        /// The second value.
        value: String,
    },
    /// A value that the key does not take.
    #[error("{key}={value}: give {accepted}")]
    BadValue {
        /// Key.
        key: &'static str,
        /// What was written.
        value: String,
        /// What would do.
        accepted: String,
    },
}

impl MachineSpec {
    /// One socket of a family, with its first preset.
    pub fn of(family: &'static Family) -> Self {
        let preset = PRESETS.iter().find(|(_, of)| *of == family.name).map_or(family.name, |(preset, _)| preset);
        Self { family, preset, sockets: 1, settings: Vec::new(), oddities: Vec::new(), snapshot: None }
    }

    /// Reads `NAME[:key=value,…]`.
    ///
    /// # Errors
    /// [`SpecError`] for what cannot be understood.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let preset = parameters::preset(name);
        let family = pericore_catalog::family(preset.map_or(name, |(_, family)| family));
        let mut spec = Self::of(family.ok_or_else(|| unknown(name))?);
        if let Some((preset, _)) = preset {
            spec.preset = preset;
        }
        let parameters = Parameters::preset(spec.preset);
        let of_preset = parameters.as_ref().map_or(Vec::new(), Parameters::settings);
        let sockets = Setting::range("sockets", 1, 8);
        let mut seen = Vec::new();
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            if let Some(&oddity) = oddity::KEYS.iter().find(|oddity| oddity.name == key) {
                if !oddity.adds && spec.oddities.iter().any(|(known, _)| known.name == key) {
                    return Err(SpecError::Repeated { key: oddity.name, value: value.to_owned() });
                }
                spec.oddities.push((oddity, value.to_owned()));
                continue;
            }
            let settings = std::iter::once(&sockets).chain(&of_preset);
            let Some(&setting) = settings.clone().find(|setting| setting.key == key) else {
                let oddities = oddity::KEYS.iter().map(|oddity| oddity.name);
                let known: Vec<&str> = settings.map(|setting| setting.key).chain(oddities).collect();
                let near = hint(key, known.iter().copied());
                let (preset, key, known) = (spec.preset, key.to_owned(), known.join(", "));
                return Err(SpecError::UnknownKey { preset, key, near, known });
            };
            if seen.contains(&setting.key) {
                return Err(SpecError::Repeated { key: setting.key, value: value.to_owned() });
            }
            seen.push(setting.key);
            let number = value.parse().ok().filter(|&number| setting.accepts(number)).ok_or_else(|| {
                SpecError::BadValue { key: setting.key, value: value.to_owned(), accepted: setting.to_string() }
            })?;
            if setting.key == sockets.key {
                spec.sockets = number as u16;
            } else {
                spec.settings.push((setting.key, number));
            }
        }
        // A size that is impossible is told when the machine is built.
        if let (false, Ok(shape)) = (spec.oddities.is_empty(), spec.shape()) {
            let wiring = Wiring::new(shape.family, shape.sockets);
            spec.variant(&Chassis::new(shape, wiring, |_| 1))?;
        }
        Ok(spec)
    }

    /// The machine of a snapshot: of its family's first preset that is large enough, with as many sockets, cores and
    /// threads. It begins with the snapshot's registers, and time begins anew. What its preset could be set to besides,
    /// the text does not tell.
    ///
    /// # Errors
    /// [`SnapshotError`] tells the line.
    pub fn of_snapshot(text: &str) -> Result<Self, SnapshotError> {
        let shape = Chassis::load(text)?.shape().clone();
        let spec = Self { preset: parameters::preset_for(&shape), ..Self::of(shape.family) };
        Ok(Self { sockets: shape.sockets, snapshot: Some(Snapshot { text: text.into(), shape }), ..spec })
    }

    /// True if it begins with a snapshot's registers.
    pub const fn is_snapshot(&self) -> bool {
        self.snapshot.is_some()
    }

    /// The family.
    pub const fn family(&self) -> &'static Family {
        self.family
    }

    /// The preset, or the family's name where there is none.
    pub const fn preset(&self) -> &'static str {
        self.preset
    }

    /// True if a traffic model drives the machine; without one it is registers alone.
    pub fn has_model(&self) -> bool {
        Parameters::preset(self.preset).is_some()
    }

    /// The model's parameters.
    ///
    /// # Errors
    /// [`BuildError::NoModel`] for a family without a model, [`BuildError::Sockets`] for a number of sockets that it does not take.
    pub fn parameters(&self) -> Result<Parameters, BuildError> {
        let parameters = self.part()?.ok_or_else(|| {
            let with: Vec<String> = PRESETS.iter().map(|(preset, family)| format!("{family} ({preset})")).collect();
            BuildError::NoModel { family: self.family.name, with: with.join(", ") }
        })?;
        let most = parameters.most_sockets();
        if self.sockets > most || !self.sockets.is_power_of_two() {
            return Err(BuildError::Sockets { family: self.family.name, sockets: self.sockets, most });
        }
        Ok(parameters.with_sockets(self.sockets))
    }

    /// A socket's parameters with the settings that were given, however many sockets there are; `None` for a family without a model.
    fn part(&self) -> Result<Option<Parameters>, BuildError> {
        let preset = Parameters::preset(self.preset);
        if let (Some(part), Some(Snapshot { shape, .. })) = (&preset, &self.snapshot) {
            return part.clone().of_shape(shape).map(Some);
        }
        let set =
            |part: Parameters| self.settings.iter().try_fold(part, |part, &(key, value)| part.with_setting(key, value));
        Ok(preset.map(set).transpose()?)
    }

    /// Cores of a socket that take part, if that was said.
    pub fn active_cores(&self) -> Option<u16> {
        let of_snapshot = self.snapshot.as_ref().map(|snapshot| snapshot.shape.cores);
        let given = self.settings.iter().find(|(key, _)| *key == CORES).map(|&(_, cores)| cores as u16);
        of_snapshot.or(given)
    }

    /// What workloads can ask of the machine.
    ///
    /// # Errors
    /// As [`MachineSpec::parameters`].
    pub fn limits(&self) -> Result<Limits, BuildError> {
        Ok(self.parameters()?.limits())
    }

    /// The hardware alone, without a model, after reset, or with its snapshot's registers.
    ///
    /// # Errors
    /// [`BuildError`] if the size does not allow it.
    pub fn chassis(&self) -> Result<Chassis, BuildError> {
        let clocks = self.parameters().ok().map(|parameters| parameters.clocks()).transpose()?;
        let shape = self.shape()?;
        let wiring = Wiring::new(shape.family, shape.sockets);
        // Without a model nothing moves time on: any grid will do.
        self.chassis_of(shape, wiring, |clock| clocks.as_ref().map_or(1, |clocks| clocks.period(clock)))
    }

    /// The hardware of a shape, odd as this machine is, or with its snapshot's registers; `period` gives the ticks of a cycle of a clock.
    ///
    /// # Errors
    /// [`BuildError::Oddity`] if the shape has not what is odd.
    pub fn chassis_of(
        &self,
        shape: Shape,
        wiring: Wiring,
        period: impl Fn(&str) -> Tick,
    ) -> Result<Chassis, BuildError> {
        let sound = Chassis::new(shape, wiring, period);
        if let Some(Snapshot { text, .. }) = &self.snapshot {
            return Ok(sound.with_registers_of(Chassis::load(text)?));
        }
        if self.oddities.is_empty() {
            return Ok(sound);
        }
        let variant = self.variant(&sound)?;
        Ok(sound.with_variant(&variant)?)
    }

    fn variant(&self, sound: &Chassis) -> Result<Variant, SpecError> {
        oddity::variant(sound, &self.oddities).map_err(|(key, value)| SpecError::BadValue {
            key: key.name,
            value: value.clone(),
            accepted: key.accepts.to_owned(),
        })
    }

    /// Sockets, cores and threads.
    ///
    /// # Errors
    /// [`BuildError`] if they do not fit together.
    pub fn shape(&self) -> Result<Shape, BuildError> {
        if let Some(Snapshot { shape, .. }) = &self.snapshot {
            return Ok(shape.clone());
        }
        // The part's, also where there are more sockets than the model takes.
        let Some(part) = self.part()? else { return Ok(Shape::new(self.family, self.sockets, 8, 2)?) };
        let whole = Shape::new(self.family, self.sockets, part.cores(), part.threads_per_core())?;
        Ok(whole.with_active_cores(part.active_cores())?.with_slices(part.slices())?)
    }
}

fn unknown(name: &str) -> SpecError {
    if let Some(known) = kernel::family(name).filter(|known| known.is_without_registers()) {
        let emulated: BTreeSet<&str> = PRESETS.iter().map(|(_, family)| *family).collect();
        return SpecError::NoSoftware(known.name, emulated.into_iter().collect::<Vec<_>>().join(", "));
    }
    let families = pericore_catalog::shipped().iter().map(|family| family.name);
    let known: Vec<&str> = families.chain(PRESETS.iter().map(|(preset, _)| *preset)).collect();
    let near = hint(name, known.iter().copied());
    SpecError::Unknown { name: name.to_owned(), near, known: known.join(", ") }
}

#[cfg(test)]
mod tests {
    use pericore_registers::{AccessError, Address, Bdf, RegisterSpace, Width};

    use super::MachineSpec;

    #[test]
    fn a_name_carries_settings_of_its_preset() {
        let spec = MachineSpec::parse("e5-2600:sockets=2,regions=12,ranks=8").unwrap();
        let super::Parameters::E5(parameters) = spec.parameters().unwrap() else { panic!("another model") };
        assert_eq!((parameters.sockets, parameters.regions, parameters.dram.ranks), (2, 12, 8));
        let message = |text| MachineSpec::parse(text).unwrap_err().to_string();
        assert_eq!(message("e5-2600:regions=13"), "regions=13: give a number from 1 to 12");
        assert!(message("nehalem:regions=2").contains("has no key \"regions\"; known: sockets, cores"));
        assert!(message("e5-2600:snc=4").contains("slices, regions, directory, isochronous, direct2core, ddio"));
        assert!(message("e5-2600:socket=2").contains("did you mean sockets?"));
        assert!(message("e5-2600:core=2").contains("did you mean cores or direct2core?"));
        assert_eq!(message("e5-2600:cores=9"), "cores=9: give a number from 1 to 8");
        assert_eq!(message("nehalem:cores=0"), "cores=0: give a number from 1 to 4");
        assert_eq!(message("8592+:cores=65"), "cores=65: give a number from 1 to 64");
        assert!(
            message("gnr").starts_with("there is no software granite-rapids, only e5-2600, emerald-rapids, nehalem")
        );
        assert!(message("e5-2690").contains("did you mean e5-26"), "{}", message("e5-2690"));
        assert_eq!(
            message("e5-2600:sockets=2,sockets=4"),
            "sockets is given twice, the second time as \"4\": keep one of them"
        );
    }

    #[test]
    fn a_name_says_what_is_odd() {
        let (hidden, stuck) = (Address::Msr { cpu: 0, msr: 0xd56 }, Address::Msr { cpu: 8, msr: 0xd37 });
        let spec = MachineSpec::parse("e5-2600:rules=strict,hidden=0/cbo2,stuck=1/cbo1/ctr1,all-ones=imc,sockets=2");
        let mut machine = spec.unwrap().chassis().unwrap();
        assert_eq!(machine.read(hidden, Width::B8), Err(AccessError::GeneralProtection { address: hidden }));
        let other = Address::Msr { cpu: 8, msr: 0xd56 };
        assert_eq!(machine.read(other, Width::B8), Ok(0), "the other socket has it");
        let channel = Address::Pci { bdf: Bdf::new(0xff, 16, 1), offset: 0xa0 };
        assert_eq!(machine.read(channel, Width::B4), Ok(0xffff_ffff));
        // Clocks on both counters of CBo 1, and a reserved bit.
        let control = |counter: u32| Address::Msr { cpu: 8, msr: 0xd30 + counter };
        for counter in [0, 1] {
            machine.write(control(counter), Width::B8, 0x40_0000).unwrap();
        }
        assert!(machine.write(control(2), Width::B8, 1 << 21).is_err());
        machine.set_now(1 << 20);
        assert_eq!(machine.read(stuck, Width::B8), Ok(0));
        assert_ne!(machine.read(Address::Msr { cpu: 8, msr: 0xd36 }, Width::B8), Ok(0));
    }

    #[test]
    fn what_a_machine_has_not_cannot_be_odd() {
        for (text, needle) in [
            ("e5-2600:hidden=cha", "hidden=cha: give blocks of this machine"),
            ("e5-2600:hidden=1/cbo0", "hidden=1/cbo0"),
            ("e5-2600:stuck=cbo0/ctl0", "stuck=cbo0/ctl0: give counters"),
            ("e5-2600:discovery=absent", "on a machine with discovery tables"),
            ("8592+:discovery=truncated", "truncated:N"),
            ("8592+:discovery=zeros:1", "truncated:N"),
            ("8592+:rules=strict,rules=lenient", "rules is given twice"),
            ("8592+:rules=none", "rules=none: give documented, strict or lenient"),
            ("8592+:hostile=x", "hostile=x: give a number"),
        ] {
            let message = MachineSpec::parse(text).unwrap_err().to_string();
            assert!(message.contains(needle), "{text}: {message}");
        }
    }

    #[test]
    fn a_hostile_machine_is_built_from_its_number() {
        for seed in 0..20 {
            for family in ["nehalem", "e5-2600", "emerald-rapids"] {
                MachineSpec::parse(&format!("{family}:hostile={seed}")).unwrap().chassis().unwrap();
            }
        }
    }

    /// An 8592+ has 64 cores of two threads, however many sockets stand beside each other; the model takes two of them.
    #[test]
    fn more_sockets_than_the_model_takes_have_the_same_cores() {
        for sockets in [1, 2, 4, 8] {
            let spec = MachineSpec::parse(&format!("8592+:sockets={sockets}")).unwrap();
            let shape = spec.shape().unwrap();
            assert_eq!((shape.sockets, shape.cores, shape.threads), (sockets, 64, 2));
        }
    }

    #[test]
    fn active_cores_are_the_first_of_those_that_were_built() {
        for (text, cores, built) in
            [("e5-2600:sockets=2,cores=3", 3, 8), ("x5570:cores=2", 2, 4), ("8592+:cores=20", 20, 64)]
        {
            let spec = MachineSpec::parse(text).unwrap();
            let shape = spec.shape().unwrap();
            assert_eq!((shape.cores, shape.built, shape.threads), (cores, built, 2), "{text}");
            assert_eq!(spec.active_cores(), Some(cores));
            assert_eq!(spec.limits().unwrap().threads, shape.cpus() as u16);
        }
        assert_eq!(MachineSpec::parse("e5-2600").unwrap().active_cores(), None);
    }

    #[test]
    fn a_part_names_its_settings_when_it_is_given_another() {
        let parameters = MachineSpec::parse("e5-2600").unwrap().parameters().unwrap();
        let error = parameters.with_setting("snc", 2).err().map(|error| error.to_string());
        let known = "cores, slices, regions, directory, isochronous, direct2core, ddio, closed_pages, ranks";
        assert_eq!(error.unwrap(), format!("this part has no setting \"snc\"; known: {known}"));
    }
}
