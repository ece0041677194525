//! The lines of all signals: a struct for each section of the catalogue's table of facts, and for each signal whose
//! tags are put together when it is told.

mod agents;
pub mod binding;
mod commands;
mod devices;
mod flits;
mod home;
pub mod levels;
mod links;
mod memory;
mod platform;
mod rejects;
mod requests;
mod responses;

use agents::AgentLines;
pub use commands::{PLAIN_WRITE, REGULAR, UNDERFILL};
use devices::{DeviceLines, ExpanderLines, PeerLines};
use flits::FlitLines;
pub use flits::{CREDIT, DATA, EMPTY, HEADER, IDLE};
use home::HomeLines;
use levels::LevelRow;
use links::LinkLines;
use memory::MemoryLines;
use pericore_hardware::signal::{Wiring, WiringError};
use platform::{PowerLines, SystemLines};
use rejects::RejectLines;
use requests::RequestLines;
use responses::ResponseLines;

use crate::signals::table::{self, Binder};

/// What shows each kind of fact.
const TABLE: &str = pericore_catalog::tables::FACTS_OF_EMERALD_RAPIDS;

/// The lines of all signals but the mesh's.
#[derive(Debug, Clone)]
pub struct Lines {
    pub agents: AgentLines,
    pub home: HomeLines,
    pub memory: MemoryLines,
    pub commands: commands::CommandLines,
    pub links: LinkLines,
    pub flits: FlitLines,
    pub devices: DeviceLines,
    pub peers: PeerLines,
    pub expanders: ExpanderLines,
    pub power: PowerLines,
    pub system: SystemLines,
    pub responses: ResponseLines,
    pub requests: RequestLines,
    pub rejects: RejectLines,
}

impl Lines {
    /// Binds all, and gives the levels among them in the order of their numbers. `opcode` gives the catalogue's value
    /// of an opcode's name.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue does not have a name.
    pub fn bind(
        wiring: &mut Wiring,
        opcode: impl Fn(&str) -> Option<u64>,
    ) -> Result<(Self, Vec<LevelRow>), WiringError> {
        let rows = table::read(TABLE)?;
        let mut binder = Binder::new(wiring, &rows);
        let lines = Self {
            agents: AgentLines::bind(&mut binder)?,
            home: HomeLines::bind(&mut binder)?,
            memory: MemoryLines::bind(&mut binder)?,
            links: LinkLines::bind(&mut binder)?,
            devices: DeviceLines::bind(&mut binder)?,
            peers: PeerLines::bind(&mut binder)?,
            expanders: ExpanderLines::bind(&mut binder)?,
            power: PowerLines::bind(&mut binder)?,
            system: SystemLines::bind(&mut binder)?,
            rejects: RejectLines::bind(&mut binder)?,
            commands: commands::CommandLines::bind(binder.wiring)?,
            flits: FlitLines::bind(binder.wiring)?,
            responses: ResponseLines::bind(binder.wiring)?,
            requests: RequestLines::bind(binder.wiring, opcode)?,
        };
        Ok((lines, binder.levels))
    }
}

#[cfg(test)]
mod tests {
    use super::{TABLE, agents, devices, home, links, memory, platform, rejects, table};

    #[test]
    fn every_row_of_the_table_is_read() {
        let read = [
            agents::AgentLines::ROWS,
            home::HomeLines::ROWS,
            memory::MemoryLines::ROWS,
            links::LinkLines::ROWS,
            devices::DeviceLines::ROWS,
            devices::PeerLines::ROWS,
            devices::ExpanderLines::ROWS,
            platform::PowerLines::ROWS,
            platform::SystemLines::ROWS,
            rejects::RejectLines::ROWS,
        ];
        let mut unread = Vec::new();
        for (section, rows) in &table::read(TABLE).unwrap() {
            let known =
                read.iter().find(|(name, _)| *name == section.get_ref().as_ref()).map_or(&[][..], |(_, rows)| *rows);
            let keys = rows.get_ref().as_table().unwrap().keys();
            unread.extend(
                keys.filter(|key| !known.contains(&key.get_ref().as_ref()))
                    .map(|key| format!("{}.{}", section.get_ref(), key.get_ref())),
            );
        }
        assert!(unread.is_empty(), "{unread:?}");
    }
}
