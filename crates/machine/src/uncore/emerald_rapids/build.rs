//! A model as it is before time begins.

use std::sync::Arc;

use pericore_engine::{Agenda, Wheel};

use super::address::{self, Map};
use super::agent::{Agent, AllSlices};
use super::core::{AllL2s, Core};
use super::device::{LANES, Stack};
use super::errands::Errands;
use super::expander::device::{Expander, LINKS};
use super::layout::Places;
use super::link::Links;
use super::memory::credits::{Credits, PrefetchCam};
use super::mesh::Mesh;
use super::parameters::Parameters;
use super::peer::Peers;
use super::port::Port;
use super::power::Power;
use super::remote::Directory;
use super::request::Pool;
use super::subchannel::Subchannel;
use super::system::System;
use super::tags::sizes::TagSize;
use super::{MOST_AGENTS, Model, Stores, Times};
use crate::uncore::ModelError;
use pericore_facts::emerald_rapids::{LinkCodes, Shape, SubchannelPlace};
use pericore_parts::program::Program;
use pericore_parts::translation::Translation;
use pericore_parts::work::Work;
use pericore_workload::{MemoryConditions, Nodes, ProgramSettings, ProgramSource, Scenario};

impl Model {
    /// A machine at tick 0 with empty caches, about to run a scenario that was parsed against [`Parameters::limits`].
    ///
    /// # Errors
    /// [`ModelError`] if a parameter is out of range.
    pub fn for_scenario(parameters: Parameters, scenario: Scenario) -> Result<Self, ModelError> {
        parameters.check()?;
        let clocks = parameters.clocks();
        let sockets = parameters.sockets;
        let (all, cores) = (u16::from(sockets), u16::from(parameters.cores));
        let places = Places::new(&parameters);
        let stacks = all * places.stacks();
        let timing = &Arc::new(parameters.dram.clone());
        let memory = parameters.expander_dram.clone().map(Arc::new);
        let mesh = Mesh::new(&parameters, clocks.uclk);
        let subchannel = |number: u16| {
            let (socket, within) = (number / 16, number % 16);
            let place = SubchannelPlace { channel: (socket, within / 2), half: (within % 2) as u8 };
            Subchannel::new(place, clocks.dclk, timing)
        };
        let subchannels: Vec<Subchannel> = (0..all * 16).map(subchannel).collect();
        let mut channel_next = Agenda::new(subchannels.len());
        for (index, subchannel) in subchannels.iter().enumerate() {
            channel_next.set(index, subchannel.next_tick());
        }
        let core = |_| Core::new(parameters.fill_buffers, parameters.prefetch_buffers);
        Ok(Self {
            sockets,
            map: Map::new(parameters.clusters, parameters.floor.agents, parameters.slices),
            times: Times::new(&parameters, &clocks),
            clocks,
            places,
            now: 0,
            wheel: Wheel::new(clocks.uclk),
            pool: Pool::new(),
            threads: Vec::new(),
            cores: (0..all * cores).map(core).collect(),
            translation: Translation::off(),
            l2s: AllL2s::new(usize::from(all * cores)),
            agents: Box::new(std::array::from_fn(|_| Agent::new(parameters.tor_entries, parameters.home_entries))),
            slices: AllSlices::new(usize::from(all) * address::AGENTS as usize),
            slice_size: TagSize::new(parameters.slice_set_bits, parameters.slice_ways.into()),
            mesh,
            credits: subchannels
                .iter()
                .map(|_| Credits::new([timing.reads, timing.writes], parameters.isochronous_entries))
                .collect(),
            prefetch_cams: vec![PrefetchCam::default(); subchannels.len() / 2],
            memory: MemoryConditions::default(),
            channel_next,
            subchannels,
            outcomes: Vec::with_capacity(16),
            first_core: 0,
            memory_set: Default::default(),
            lines_moved: [0; 2],
            vectors: 0,
            power: Power::new(sockets, &parameters, clocks.ticks_per_second / 1_000_000),
            links: Links::new(sockets),
            directories: (0..sockets).map(|_| Directory::new(sockets)).collect(),
            stacks: vec![Stack::default(); stacks.into()],
            lanes: (0..sockets).map(|_| [(); 2].map(|()| LANES.direction(clocks.ticks_per_second))).collect(),
            errands: Errands::new(sockets),
            systems: (0..sockets).map(|_| System::new()).collect(),
            peers: Peers::new(sockets),
            expanders: (0..all * LINKS).map(|_| Expander::new(clocks.dclk, memory.as_ref())).collect(),
            ports: (0..stacks).map(|_| Port::new()).collect(),
            owned_lines: 0,
            announces: [true; MOST_AGENTS],
            stores: Stores::Plain,
            devices_only: false,
            first_socket: 0,
            around: all,
            named_memory: None,
            system: false,
            stores_apart: false,
            warmed_by: None,
            at_work: 0,
            remote: 0,
            expander: 0,
            goal: 0,
            work: Work::new(scenario, clocks.ticks_per_second),
            parameters,
        })
    }

    /// What the machine is made of: `units` and their instances in a socket, the codes of messages between sockets.
    pub fn shape(&self, units: Vec<(&'static str, u16)>, link_codes: LinkCodes) -> Shape {
        let dram = &self.parameters.dram;
        Shape {
            sockets: self.sockets.into(),
            units,
            tiles: self.parameters.floor.tiles.clone(),
            dies: self.parameters.floor.dies,
            link_codes,
            pending: [dram.reads.into(), dram.writes.into()],
        }
    }

    /// A machine at tick 0 with empty caches, about to run a program.
    ///
    /// # Errors
    /// As [`Model::for_scenario`].
    pub fn for_program(
        parameters: Parameters,
        source: Box<dyn ProgramSource>,
        settings: ProgramSettings,
    ) -> Result<Self, ModelError> {
        let parameters = Parameters { fill_buffers: settings.misses, ..parameters };
        let (threads, sockets) = (parameters.limits().threads, parameters.sockets);
        let nothing = Work::bare(threads);
        let clusters = u64::from(parameters.clusters);
        let bytes = parameters.memory / clusters;
        let nodes = Nodes { count: sockets * parameters.clusters, bytes, span: address::REGION_BYTES / clusters };
        let mut model = Self::for_scenario(parameters, Scenario { phases: Vec::new() })?;
        model.set_to_work(&nothing);
        let homes = model.threads.iter().map(|thread| model.node_of(thread.core));
        model.work.run(Program::new(source, settings, homes, model.cores.len(), nodes));
        Ok(model)
    }
}
