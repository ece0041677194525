//! Who waits where on a socket's mesh, from the times of its messages.

use pericore_facts::emerald_rapids::{Bridged, MOST_COLUMNS, MOST_ROWS, Message, ROOM, Ring};
use pericore_parts::waiting::{Egress, Stay, Waiting};

use super::grid::MessageWay;

/// Messages that fill a queue.
const FULL: usize = ROOM as usize;

/// How a message stays in each of its queues.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stays {
    pub egress: Stay,
    pub bridge: Stay,
    pub bridge_aside: Stay,
    pub turning: Stay,
    pub ingress: Stay,
}

/// The queues of a stop.
#[derive(Debug, Clone, Default)]
struct Stop {
    /// By ring and agent.
    egress: [[Egress<FULL>; 2]; Ring::COUNT],
    /// By ring: where messages turn into the row, and where they are taken off.
    turning: [Waiting<FULL>; Ring::COUNT],
    ingress: [Waiting<FULL>; Ring::COUNT],
}

/// The queues before the bridges of a column or a row, by ring, up or down, left or right.
type Bridges = [[Waiting<FULL>; 2]; Ring::COUNT];

/// The queues of a socket.
#[derive(Debug, Clone)]
pub struct Queues {
    stops: Vec<Stop>,
    /// By column, and by row.
    bridges: Vec<Bridges>,
    bridges_aside: Vec<Bridges>,
}

impl Queues {
    /// Empty queues of so many stops.
    pub fn new(stops: usize) -> Self {
        Self {
            stops: vec![Stop::default(); stops],
            bridges: vec![Default::default(); MOST_COLUMNS],
            bridges_aside: vec![Default::default(); MOST_ROWS],
        }
    }

    /// How a message stays in each of its queues. In its source's that is worked out only if it is `observed`.
    pub fn stays(&mut self, message: &Message, way: &MessageWay, observed: bool) -> Stays {
        let (put, r) = (message.put, message.ring as usize);
        let mut stays = Stays::default();
        if message.left > put {
            let egress = &mut self.stops[usize::from(message.from)].egress[r][usize::from(message.agent) % 2];
            if observed {
                stays.egress = egress.stay(put, message.left);
            }
            egress.wait(message.left);
        }
        if let Some(Bridged { came, went }) = message.bridged
            && went > came
        {
            let bridge = &mut self.bridges[usize::from(way.source.column)][r][usize::from(way.down)];
            stays.bridge = bridge.wait(came, went, put);
        }
        if message.turned > message.reached {
            let turning = &mut self.stops[usize::from(message.turn)].turning[r];
            stays.turning = turning.wait(message.reached, message.turned, put);
        }
        if let Some(Bridged { came, went }) = message.bridged_aside
            && went > came
        {
            let right = way.goal.column > way.source.column;
            let bridge = &mut self.bridges_aside[usize::from(way.goal.row)][r][usize::from(right)];
            stays.bridge_aside = bridge.wait(came, went, put);
        }
        if message.taken > message.arrived {
            let ingress = &mut self.stops[usize::from(message.to)].ingress[r];
            stays.ingress = ingress.wait(message.arrived, message.taken, put);
        }
        stays
    }
}
