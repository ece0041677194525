//! A model as it is before time begins.

use std::sync::Arc;

use pericore_engine::{Agenda, Wheel};
use pericore_hardware::signal::Wiring;

use super::account::{Account, Lines};
use super::address::{self, Map};
use super::agent::{Agent, AllSlices};
use super::binding::link_codes;
use super::core::{AllL2s, Core};
use super::device::{self, Stack};
use super::errands::Errands;
use super::expander::device::{Expander, LINKS};
use super::layout::{self, Places};
use super::link::Links;
use super::memory::Credits;
use super::mesh::Mesh;
use super::parameters::Parameters;
use super::peer::Peers;
use super::port::{self, Port};
use super::power::Power;
use super::remote::Directory;
use super::request::Pool;
use super::subchannel::Subchannel;
use super::system::System;
use super::{MOST_SUBCHANNELS, Model, Stores, Times};
use crate::ledger::emerald_rapids::{Ledger, Shape};
use crate::uncore::ModelError;
use crate::uncore::program::Program;
use crate::uncore::work::Work;
use crate::workload::{MemoryConditions, Nodes, ProgramSettings, ProgramSource, Scenario};

impl Model {
    /// A machine at tick 0 with empty caches, about to run a scenario that was parsed against [`Parameters::limits`]. `opcode` gives
    /// the catalogue's value of an opcode's name.
    ///
    /// # Errors
    /// [`ModelError`] if a parameter is out of range or the catalogue lacks a name that the model emits.
    pub fn for_scenario(
        parameters: Parameters,
        opcode: impl Fn(&str) -> Option<u64>,
        scenario: Scenario,
        wiring: &mut Wiring,
    ) -> Result<Self, ModelError> {
        parameters.check()?;
        let clocks = parameters.clocks();
        let sockets = parameters.sockets;
        let (all, cores) = (u16::from(sockets), u16::from(parameters.cores));
        let tiles = layout::tiles();
        let places = Places::new(&tiles);
        let timing = &Arc::new(parameters.dram.clone());
        let memory = parameters.expander_dram.clone().map(Arc::new);
        let shape = Shape {
            sockets: all,
            units: wiring.family().units.iter().map(|unit| (unit.name, unit.instances)).collect(),
            tiles: tiles.clone(),
            link_codes: link_codes(wiring)?,
            pending: [timing.reads.into(), timing.writes.into()],
            rooms: vec![("irp/FAF_INSERTS", port::READS.into()), ("irp/TxC_BL_DRS_INSERTS", port::DATA.into())],
        };
        let account = Account::new(wiring, Ledger::new(clocks, shape), opcode)?;
        let mesh = Mesh::new(wiring, &tiles, &parameters, clocks.uclk)?;
        let subchannel = |number: u16| {
            let (socket, within) = (number / 16, number % 16);
            Subchannel::new(&account.ledger, (socket, within / 2, within % 2), clocks.dclk, timing)
        };
        let subchannels: Vec<Subchannel> = (0..all * 16).map(subchannel).collect();
        let mut channel_next = Agenda::new(subchannels.len());
        for (index, subchannel) in subchannels.iter().enumerate() {
            channel_next.set(index, subchannel.next_tick());
        }
        let core = |_| Core::new(parameters.fill_buffers, parameters.prefetch_buffers);
        let stacks = vec![Stack::default(); usize::from(all * device::STACKS)];
        Ok(Self {
            sockets,
            map: Map::new(parameters.clusters, parameters.slices),
            times: Times::new(&parameters, &clocks),
            clocks,
            places,
            now: 0,
            wheel: Wheel::new(clocks.uclk),
            pool: Pool::new(),
            threads: Vec::new(),
            cores: (0..all * cores).map(core).collect(),
            l2s: AllL2s::new(usize::from(all * cores)),
            agents: Box::new(std::array::from_fn(|_| Agent::new(parameters.tor_entries))),
            slices: AllSlices::new(usize::from(all) * address::AGENTS as usize),
            mesh,
            credits: subchannels.iter().map(|_| Credits::new(timing.reads, timing.writes)).collect(),
            memory: MemoryConditions::default(),
            channel_next,
            subchannels,
            powered_down: [false; MOST_SUBCHANNELS / 2],
            outcomes: Vec::with_capacity(16),
            power: Power::new(sockets, clocks.ticks_per_second / 1_000_000),
            links: Links::new(sockets),
            directories: (0..sockets).map(|_| Directory::new(sockets)).collect(),
            stacks,
            errands: Errands::new(sockets),
            systems: (0..sockets).map(|_| System::new()).collect(),
            peers: Peers::new(sockets),
            expanders: (0..all * LINKS).map(|_| Expander::new(clocks.dclk, memory.as_ref())).collect(),
            ports: (0..all * device::STACKS).map(|_| Port::new()).collect(),
            owned_lines: 0,
            account,
            stores: Stores::Plain,
            streamed: 0,
            devices_only: false,
            first_socket: 0,
            around: all,
            named_memory: None,
            background: false,
            at_work: 0,
            remote: 0,
            expander: 0,
            goal: 0,
            work: Work::new(scenario, clocks.ticks_per_second),
            parameters,
        })
    }

    /// Binds every signal that a model emits, and builds none.
    ///
    /// # Errors
    /// The catalogue does not have the names that the model emits by.
    pub fn bind(opcode: impl Fn(&str) -> Option<u64>, wiring: &mut Wiring) -> Result<(), ModelError> {
        Lines::bind(wiring, opcode)?;
        Mesh::bind(wiring)?;
        Ok(())
    }

    /// A machine at tick 0 with empty caches, about to run a program.
    ///
    /// # Errors
    /// As [`Model::for_scenario`].
    pub fn for_program(
        parameters: Parameters,
        opcode: impl Fn(&str) -> Option<u64>,
        source: Box<dyn ProgramSource>,
        settings: ProgramSettings,
        wiring: &mut Wiring,
    ) -> Result<Self, ModelError> {
        let parameters = Parameters { fill_buffers: settings.misses, ..parameters };
        let (threads, sockets) = (parameters.limits().threads, parameters.sockets);
        let nothing = Work::bare(threads);
        let clusters = u64::from(parameters.clusters);
        let bytes = parameters.memory / clusters;
        let nodes = Nodes { count: sockets * parameters.clusters, bytes, span: address::REGION_BYTES / clusters };
        let mut model = Self::for_scenario(parameters, opcode, Scenario { phases: Vec::new() }, wiring)?;
        model.set_to_work(&nothing);
        let homes = model.threads.iter().map(|thread| model.node_of(thread.core));
        model.work.run(Program::new(source, settings, homes, model.cores.len(), nodes));
        Ok(model)
    }
}
