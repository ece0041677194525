//! `FAMILY|PRESET[:sockets=N,snc=N]`: which machine.

use pericore_catalog::Family;

use super::BuildError;
use super::parameters::{PRESETS, Parameters};
use crate::chassis::{Chassis, Shape};
use crate::signal::Wiring;
use crate::workload::Limits;

/// A machine as the command line names it.
#[derive(Debug, Clone)]
pub struct MachineSpec {
    family: &'static Family,
    preset: &'static str,
    sockets: u16,
    /// Sub-NUMA clusters of a socket, if they are asked for.
    clusters: Option<u8>,
}

/// Text that names no machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Neither a family nor a preset.
    #[error("no machine {name:?}; known: {known}")]
    Unknown {
        /// What was written.
        name: String,
        /// Families and presets.
        known: String,
    },
    /// A key that machines do not have.
    #[error("machines have no key {key:?}; known: sockets, snc")]
    UnknownKey {
        /// What was written.
        key: String,
    },
    /// A value that is no number in range.
    #[error("{key}={value}: give {accepted}")]
    BadValue {
        /// Key.
        key: &'static str,
        /// What was written.
        value: String,
        /// What would do.
        accepted: &'static str,
    },
}

impl MachineSpec {
    /// One socket of a family, with its first preset.
    pub fn of(family: &'static Family) -> Self {
        let preset = PRESETS.iter().find(|(_, of)| *of == family.name).map_or(family.name, |(preset, _)| preset);
        Self { family, preset, sockets: 1, clusters: None }
    }

    /// Reads `NAME[:key=value,…]`.
    ///
    /// # Errors
    /// [`SpecError`] for what cannot be understood.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let preset = PRESETS.iter().find(|(preset, _)| preset.eq_ignore_ascii_case(name));
        let family = pericore_catalog::family(preset.map_or(name, |(_, family)| family));
        let mut spec = Self::of(family.ok_or_else(|| unknown(name))?);
        if let Some((preset, _)) = preset {
            spec.preset = preset;
        }
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            let bad = |key, accepted| SpecError::BadValue { key, value: value.to_owned(), accepted };
            let number: Option<u8> = value.parse().ok();
            match key {
                "sockets" => {
                    let sockets = number.filter(|sockets| (1..=8).contains(sockets));
                    spec.sockets = sockets.ok_or_else(|| bad("sockets", "a number from 1 to 8"))?.into();
                }
                "snc" => {
                    let clusters = number.filter(|clusters| [1, 2, 4].contains(clusters));
                    spec.clusters = Some(clusters.ok_or_else(|| bad("snc", "1, 2 or 4"))?);
                }
                _ => return Err(SpecError::UnknownKey { key: key.to_owned() }),
            }
        }
        Ok(spec)
    }

    /// The family.
    pub const fn family(&self) -> &'static Family {
        self.family
    }

    /// The preset, or the family's name where there is none.
    pub const fn preset(&self) -> &'static str {
        self.preset
    }

    /// The model's parameters.
    ///
    /// # Errors
    /// [`BuildError::NoModel`] for a family without a model, [`BuildError::TooManySockets`] for a machine larger than the model,
    /// [`BuildError::NoClusters`] for clusters where there are none.
    pub fn parameters(&self) -> Result<Parameters, BuildError> {
        let parameters = Parameters::preset(self.preset).ok_or_else(|| {
            let with: Vec<&str> = PRESETS.iter().map(|(preset, _)| *preset).collect();
            BuildError::NoModel { family: self.family.name, with: with.join(", ") }
        })?;
        let most = parameters.most_sockets();
        if self.sockets > most {
            return Err(BuildError::TooManySockets { family: self.family.name, sockets: self.sockets, most });
        }
        let parameters = parameters.with_sockets(self.sockets);
        match self.clusters {
            None => Ok(parameters),
            Some(clusters) => {
                parameters.with_clusters(clusters).ok_or(BuildError::NoClusters { family: self.family.name })
            }
        }
    }

    /// What workloads can ask of the machine.
    ///
    /// # Errors
    /// As [`MachineSpec::parameters`].
    pub fn limits(&self) -> Result<Limits, BuildError> {
        Ok(self.parameters()?.limits())
    }

    /// The hardware alone, without a model, after reset.
    ///
    /// # Errors
    /// [`BuildError`] if the size does not allow it.
    pub fn chassis(&self) -> Result<Chassis, BuildError> {
        let clocks = self.parameters().ok().map(|parameters| parameters.clocks()).transpose()?;
        let shape = self.shape()?;
        let wiring = Wiring::new(shape.family, shape.sockets);
        // Without a model nothing moves time on: any grid will do.
        Ok(Chassis::new(shape, wiring, |clock| clocks.as_ref().map_or(1, |clocks| clocks.period(clock))))
    }

    /// Sockets, cores and threads.
    ///
    /// # Errors
    /// [`BuildError`] if they do not fit together.
    pub fn shape(&self) -> Result<Shape, BuildError> {
        let (cores, threads) = match self.parameters() {
            Ok(parameters) => (parameters.cores(), parameters.threads_per_core()),
            Err(_) => (8, 2),
        };
        Ok(Shape::new(self.family, self.sockets, cores, threads)?)
    }
}

fn unknown(name: &str) -> SpecError {
    let families = pericore_catalog::families().iter().map(|family| family.name);
    let known: Vec<&str> = families.chain(PRESETS.iter().map(|(preset, _)| *preset)).collect();
    SpecError::Unknown { name: name.to_owned(), known: known.join(", ") }
}
