//! What counters listen to.

use pericore_facts::emerald_rapids::{Class, UnitInstance};
use pericore_hardware::signal::Wiring;

use super::lines::levels::{LevelNumber, LevelRow};

/// The unit of the table of requests.
const TABLE_UNIT: &str = "cha";

/// An agent's table of requests.
#[derive(Debug, Clone)]
pub struct RequestTable {
    pub observed: bool,
    /// Entries by class.
    pub entries: [u8; Class::COUNT],
}

/// What counters listen to.
#[derive(Debug, Clone)]
pub struct Observation {
    /// By machine-wide number of the instance: anything at all.
    pub any: Vec<bool>,
    /// By number of the agent over the machine.
    tables: Vec<RequestTable>,
    /// Agents of a socket.
    agents: u16,
    /// By instance: socket, unit, number in the socket.
    pub places: Vec<(u16, usize, u16)>,
    /// By unit: its levels, and whether it has tables of requests.
    pub of_units: Vec<(Vec<LevelNumber>, bool)>,
}

impl Observation {
    /// Everything is observed, until somebody asks.
    pub fn new(wiring: &Wiring, levels: &[LevelRow]) -> Self {
        let family = wiring.family();
        let agents = family.unit(TABLE_UNIT).map_or(0, |unit| unit.instances);
        let of_unit = |unit: &str| {
            let of_unit = (0..).zip(levels).filter(|(_, row)| row.unit == unit).map(|(level, _)| LevelNumber(level));
            (of_unit.collect(), unit == TABLE_UNIT)
        };
        let of_units = family.units.iter().map(|unit| of_unit(unit.name));
        Self {
            any: vec![true; wiring.instances().into()],
            tables: vec![
                RequestTable { observed: true, entries: [0; Class::COUNT] };
                (agents * wiring.sockets()).into()
            ],
            agents,
            places: (0..wiring.instances()).map(|number| wiring.locate(number)).collect(),
            of_units: of_units.collect(),
        }
    }

    /// True if pulses of an instance need be made.
    #[inline]
    pub fn observes(&self, instance: u16) -> bool {
        self.any[usize::from(instance)]
    }

    #[inline]
    pub fn table_mut(&mut self, (socket, cha): UnitInstance) -> &mut RequestTable {
        &mut self.tables[usize::from(socket * self.agents + cha)]
    }

    /// An entry more of a class in an agent's table (`TAKES`), or less. True if somebody observes of it.
    #[inline]
    pub fn entry<const TAKES: bool>(&mut self, agent: UnitInstance, class: Class) -> bool {
        let table = self.table_mut(agent);
        let entries = &mut table.entries[class.index()];
        *entries = if TAKES { *entries + 1 } else { entries.wrapping_sub(1) };
        table.observed
    }

    /// An agent's table of requests.
    pub fn table(&self, (socket, cha): UnitInstance) -> &RequestTable {
        &self.tables[usize::from(socket * self.agents + cha)]
    }
}
