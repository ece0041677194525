//! Who waits where on a socket's mesh, from the times of its messages.

use pericore_facts::emerald_rapids::{Bridged, MOST_COLUMNS, MOST_ROWS, Message, PATIENCE, ROOM, Ring};
use pericore_parts::waiting::{Egress, Stay, Waiting};

use super::grid::MessageWay;
use super::lines::{FLOWS, flow};

/// Messages that fill a queue.
const FULL: usize = ROOM as usize;

/// How a message stays in each of its queues.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stays {
    pub egress: Wait,
    pub bridge: Stay,
    pub bridge_aside: Stay,
    pub turning: Wait,
    pub ingress: Wait,
    /// Cycles in which it alone kept its place behind what it must not overtake.
    pub ordered: u32,
    /// Cycles in which it filled its egress queue while that of the stop's other agent was not full.
    pub distress: u32,
}

/// How a message stays in a queue of a stop.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wait {
    pub stay: Stay,
    /// Cycles in which it alone starved.
    pub starved: u32,
    /// Cycles in which it alone waited for room in the queue, and in which it alone starved for want of it.
    pub outside: u32,
    pub no_room: u32,
}

/// Cycles in which messages of a queue starve, starve for want of room, and wait for room: those along the column, and
/// along the row.
#[derive(Debug, Clone, Default)]
struct Starving {
    any: Waiting<1>,
    no_room: Waiting<1>,
    /// By how they came: in a column, along a row, or from the same tile.
    outside: [Waiting<1>; 3],
}

impl Starving {
    /// A message has waited from `came` to `went`.
    #[inline]
    fn wait(&mut self, stay: Stay, (came, went): (u64, u64), kind: usize, now: u64) -> Wait {
        let mut wait = Wait { stay, ..Wait::default() };
        let starves = came + u64::from(PATIENCE);
        if went > starves {
            wait.starved = self.any.wait(starves, went, now).nonempty;
        }
        if stay.is_refused() {
            let room = came + u64::from(stay.outside);
            wait.outside = self.outside[kind].wait(came, room, now).nonempty;
            if room > starves {
                wait.no_room = self.no_room.wait(starves, room, now).nonempty;
            }
        }
        wait
    }
}

/// The queues of a stop.
#[derive(Debug, Clone, Default)]
struct Stop {
    /// By ring and agent.
    egress: [[Egress<FULL>; 2]; Ring::COUNT],
    /// By flow: where messages turn into the row, and where they are taken off.
    turning: [Waiting<FULL>; FLOWS],
    ingress: [Waiting<FULL>; FLOWS],
    /// Of these queues, in the same order.
    egress_starving: [[Starving; 2]; Ring::COUNT],
    turning_starving: [Starving; FLOWS],
    ingress_starving: [Starving; FLOWS],
    /// Messages that came up or down, and keep their places.
    ordered: [Waiting<1>; 2],
    /// One or both egress queues of addresses are full.
    distress: Waiting<1>,
}

/// The queues before the bridges of a column or a row, by flow, up or down, left or right.
type Bridges = [[Waiting<FULL>; 2]; FLOWS];

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
        let (put, r, f) = (message.put, message.ring as usize, flow(message));
        let mut stays = Stays::default();
        if message.left > put {
            let (stop, agent) = (&mut self.stops[usize::from(message.from)], usize::from(message.agent) % 2);
            let egress = &mut stop.egress[r][agent];
            let stay = egress.stay(put, message.left);
            if observed || stay.waited > PATIENCE || stay.is_refused() {
                stays.egress = stop.egress_starving[r][agent].wait(stay, (put, message.left), 0, put);
            }
            egress.wait(message.left);
            if message.ring == Ring::Address && stay.full > 0 {
                // The messages of a queue leave in order: this one fills it from when there is room for it.
                let from = put + u64::from(stay.outside);
                stays.distress = stop.distress.wait(from, from + u64::from(stay.full), put).nonempty;
            }
        }
        if let Some(Bridged { came, went }) = message.bridged
            && went > came
        {
            let bridge = &mut self.bridges[usize::from(way.source.column)][f][usize::from(way.down)];
            stays.bridge = bridge.wait(came, went, put);
        }
        if message.turned > message.reached {
            let (stop, came, went) = (&mut self.stops[usize::from(message.turn)], message.reached, message.turned);
            let stay = stop.turning[f].wait(came, went, put);
            stays.turning = stop.turning_starving[f].wait(stay, (came, went), 0, put);
            if message.ordered > came && way.source.row != way.goal.row {
                stays.ordered = stop.ordered[usize::from(way.down)].wait(came, message.ordered, put).nonempty;
            }
        }
        if let Some(Bridged { came, went }) = message.bridged_aside
            && went > came
        {
            let right = way.goal.column > way.source.column;
            let bridge = &mut self.bridges_aside[usize::from(way.goal.row)][f][usize::from(right)];
            stays.bridge_aside = bridge.wait(came, went, put);
        }
        if message.taken > message.arrived {
            let (stop, came, went) = (&mut self.stops[usize::from(message.to)], message.arrived, message.taken);
            let stay = stop.ingress[f].wait(came, went, put);
            let kind = if message.from == message.to { 2 } else { usize::from(way.along_row) };
            stays.ingress = stop.ingress_starving[f].wait(stay, (came, went), kind, put);
        }
        stays
    }
}
