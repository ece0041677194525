//! The totals of a machine.

use super::caching::CachingCells;
use super::expanders::ExpanderCells;
use super::gauge::Stay;
use super::home::{HomeAgentCells, UnitCells};
use super::links::LinkCells;
use super::memory::ChannelCells;
use super::mesh::Traffic;
use super::platform::{PackageCells, SystemCells};
use super::rejects::Rejects;
use super::stacks::StackCells;
use pericore_facts::emerald_rapids::{Class, Found, Kind, Shape, Victim};

/// Totals of the requests of one caching and home agent.
#[derive(Debug, Clone)]
pub struct AgentCells {
    pub tor: [Stay; Class::COUNT],
    /// By kind, state found, remote home.
    pub lookups: [[[u64; 2]; Found::COUNT]; Kind::COUNT],
    pub victims: [u64; Victim::COUNT],
    pub rejects: Rejects,
    pub home: HomeAgentCells,
    pub caching: CachingCells,
}

/// All totals.
#[derive(Debug, Clone)]
pub struct Cells {
    pub stacks: Vec<StackCells>,
    pub links: Vec<LinkCells>,
    pub expanders: Vec<ExpanderCells>,
    pub power: Vec<PackageCells>,
    pub systems: Vec<SystemCells>,
    pub agents: Vec<AgentCells>,
    pub channels: Vec<ChannelCells>,
    /// Where mesh and memory meet.
    pub memory_units: Vec<UnitCells>,
    pub traffic: Vec<Traffic>,
}

impl Cells {
    /// All zero.
    pub fn new(shape: &Shape) -> Self {
        let all = |unit| usize::from(shape.instances(unit) * shape.sockets);
        let agent = AgentCells {
            tor: [Stay::default(); Class::COUNT],
            lookups: [[[0; 2]; Found::COUNT]; Kind::COUNT],
            victims: [0; Victim::COUNT],
            rejects: Rejects::default(),
            home: HomeAgentCells::default(),
            caching: CachingCells::default(),
        };
        Self {
            stacks: vec![StackCells::default(); all("irp")],
            links: vec![LinkCells::default(); all("upi")],
            expanders: vec![ExpanderCells::default(); all("cxlcm")],
            power: vec![PackageCells::default(); all("pcu")],
            systems: vec![SystemCells::default(); all("ubox")],
            agents: vec![agent; all("cha")],
            memory_units: vec![UnitCells::default(); all("m2m")],
            channels: vec![ChannelCells::default(); all("imc")],
            traffic: (0..shape.sockets).map(|_| Traffic::new(&shape.tiles)).collect(),
        }
    }
}
