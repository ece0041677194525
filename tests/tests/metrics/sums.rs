//! The ledger's sums over all instances of all sockets, by which metrics are computed by hand.

use pericore_machine::ledger::Question;

use super::run::Run;

/// A metric and its value by hand.
pub type ByHand = (&'static str, &'static str, fn(&Sums<'_>) -> f64);

/// The ledger's sums over a run, with the number of a socket's instances by unit, written down here and not taken from the catalogue.
pub struct Sums<'a> {
    run: &'a Run,
    instances: &'static [(&'static str, u16)],
}

impl<'a> Sums<'a> {
    /// Units that are not among `instances` have one.
    pub const fn new(run: &'a Run, instances: &'static [(&'static str, u16)]) -> Self {
        Self { run, instances }
    }

    /// The machine is a Sapphire Rapids.
    pub fn is_sapphire_rapids(&self) -> bool {
        is_sapphire_rapids(self.run)
    }

    /// Instances of a unit, over all sockets.
    pub fn instances(&self, unit: &str) -> f64 {
        f64::from(self.within(unit)) * self.sockets()
    }

    fn within(&self, unit: &str) -> u16 {
        self.instances.iter().find(|(name, _)| *name == unit).map_or(1, |&(_, count)| count)
    }

    /// An event's sum.
    pub fn sum(&self, unit: &str, event: &str, subevent: &str, filters: &[(&str, u64)]) -> f64 {
        let question = Question { unit, event, subevent, filters };
        let of_socket = |socket| (0..self.within(unit)).map(move |number| (socket, number));
        let places = (0..self.sockets() as u16).flat_map(of_socket);
        let counts = places.map(|place| self.run.count(place, question));
        counts.sum::<Option<u64>>().unwrap_or_else(|| panic!("{question:?} is known")) as f64
    }

    /// Sockets.
    pub fn sockets(&self) -> f64 {
        f64::from(self.run.machine.chassis().shape().sockets)
    }

    /// Length of the run.
    pub fn seconds(&self) -> f64 {
        self.run.sample.seconds
    }

    /// Cycles of a clock of so many MHz.
    pub fn cycles(&self, mhz: u32) -> f64 {
        // A run ends on a tick: without the rounding error of its length in seconds.
        (f64::from(mhz) * 1e6 * self.seconds() + 1e-6).floor()
    }
}

/// A run's machine is a Sapphire Rapids.
pub fn is_sapphire_rapids(run: &Run) -> bool {
    run.machine.chassis().shape().family.name == "sapphire-rapids"
}

/// The value by hand of a metric, if the list has one.
pub fn value(list: &[ByHand], sums: &Sums<'_>, unit: &str, metric: &str) -> Option<f64> {
    let (_, _, value) = list.iter().find(|row| (row.0, row.1) == (unit, metric))?;
    Some(value(sums))
}

/// Every value by hand is of a metric that there is.
pub fn check_names(family: &str, list: &[ByHand]) {
    let family = pericore_catalog::family(family).expect("the family is in the catalogue");
    for (of, name, _) in list {
        let unit = family.units.iter().find(|unit| unit.name == *of).unwrap_or_else(|| panic!("{of}"));
        assert!(unit.metrics.iter().any(|metric| metric.name == *name), "{of}/{name}");
    }
}
