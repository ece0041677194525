//! The totals of a machine.

use super::mesh::Traffic;
use super::rejects::Rejects;
use super::{Class, Found, Gauge, Kind, LinkMessage, Shape, Stay, Victim};

/// Kinds of column commands and activates that a pseudo channel's totals tell apart.
pub const COMMAND_KINDS: usize = 6;

/// Totals of the requests of one caching and home agent.
#[derive(Debug, Clone)]
pub struct AgentCells {
    pub tor: [Stay; Class::COUNT],
    /// By kind, state found, remote home.
    pub lookups: [[[u64; 2]; Found::COUNT]; Kind::COUNT],
    pub victims: [u64; Victim::COUNT],
    pub rejects: Rejects,
}

/// Totals of one memory channel's commands, by pseudo channel.
#[derive(Debug, Clone, Default)]
pub struct ChannelCells {
    pub columns: [[u64; COMMAND_KINDS]; 2],
    pub activates: [[u64; COMMAND_KINDS]; 2],
}

/// What went over a link in one direction: messages by kind, and by the slot of their header; slots with credits.
#[derive(Debug, Clone, Default)]
pub struct WayCells {
    pub messages: [u64; LinkMessage::COUNT],
    pub slots: [u64; 3],
    pub credits: u64,
}

/// Both directions of a link.
#[derive(Debug, Clone, Default)]
pub struct LinkCells {
    pub sent: WayCells,
    pub received: WayCells,
}

impl LinkCells {
    /// One of them.
    pub const fn way(&mut self, received: bool) -> &mut WayCells {
        if received { &mut self.received } else { &mut self.sent }
    }
}

/// All totals.
#[derive(Debug, Clone)]
pub struct Cells {
    /// Of each stack's port, by result and kind of snoop.
    pub answers: Vec<[[u64; 3]; 4]>,
    pub links: Vec<LinkCells>,
    pub deeds: Vec<u64>,
    pub levels: Vec<Gauge>,
    pub agents: Vec<AgentCells>,
    pub channels: Vec<ChannelCells>,
    pub traffic: Vec<Traffic>,
}

impl Cells {
    /// All zero, with room for the totals of so many deeds and levels.
    pub fn new(shape: &Shape, deeds: usize, levels: usize) -> Self {
        let all = |unit| usize::from(shape.instances(unit) * shape.sockets);
        let agent = AgentCells {
            tor: [Stay::default(); Class::COUNT],
            lookups: [[[0; 2]; Found::COUNT]; Kind::COUNT],
            victims: [0; Victim::COUNT],
            rejects: Rejects::default(),
        };
        Self {
            answers: vec![[[0; 3]; 4]; all("irp")],
            links: vec![LinkCells::default(); all("upi")],
            deeds: vec![0; deeds],
            levels: vec![Gauge::default(); levels],
            agents: vec![agent; all("cha")],
            channels: vec![ChannelCells::default(); all("imc")],
            traffic: (0..shape.sockets).map(|_| Traffic::new(&shape.tiles)).collect(),
        }
    }
}
