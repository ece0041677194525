//! What a socket's mesh remembers of the messages that were sent, and when the next one is where.

use super::super::layout::{COLUMNS, ROWS};
use super::queue::{Egress, Port, Stay, Waiting};
use super::rail::Rail;
use super::way::{Leg, Way};
use crate::ledger::emerald_rapids::{Bridged, Message, Ring};

/// Credits of a stop's agent for each row, address and data apart (assumption: unpublished).
const CREDITS: usize = 6;
/// The credits of an agent for a row: when each is free again, the earliest first.
type Credits = [u64; CREDITS];

/// The fabric's buffer of one ring in one direction.
#[derive(Debug)]
struct BridgeQueue {
    port: Port,
    waiting: Waiting,
}

/// What holds messages of a stop back beside its queues.
#[derive(Debug, Clone, Copy, Default)]
struct Hold {
    /// Its agents send no addresses before this cycle: the queue into the row is full.
    distress: u64,
    /// When the last acknowledgement came to turn here, and when it turned.
    acknowledged: (u64, u64),
}

/// Cycles that messages take, besides those from stop to stop.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// To get on or off.
    pub half_base: u64,
    /// Over the bridge.
    pub crossing: u64,
    /// Between messages there.
    pub bridge: u32,
}

/// Ring and agent of a message.
#[derive(Debug, Clone, Copy)]
pub struct Lane {
    pub ring: Ring,
    pub agent: u8,
}

impl Lane {
    /// Address or data, of messages that need a credit.
    const fn path(self) -> Option<usize> {
        match self.ring {
            Ring::Address => Some(0),
            Ring::Block => Some(1),
            _ => None,
        }
    }

    /// Slots that a message takes: a line takes the data ring's width of half a line twice.
    const fn length(self) -> u32 {
        if matches!(self.ring, Ring::Block) { 2 } else { 1 }
    }
}

/// How a message stays in each of its queues.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stays {
    pub egress: Stay,
    pub bridge: Stay,
    pub turning: Stay,
    pub ingress: Stay,
}

/// The mesh of one socket.
#[derive(Debug)]
pub struct Net {
    pace: Pace,
    /// By tile, ring, agent.
    egress: Vec<Egress>,
    /// By tile and ring: who waits to turn into the row.
    turns: Vec<Waiting>,
    /// By tile and ring: where messages are taken off, and who waits there.
    ports: Vec<Port>,
    ingress: Vec<Waiting>,
    holds: Vec<Hold>,
    /// By tile, agent, address or data, row.
    credits: Vec<Credits>,
    /// By column, ring, leg.
    columns: Vec<Rail>,
    /// By row, ring, leg.
    rows: Vec<Rail>,
    /// By column, ring, up or down.
    bridges: Vec<BridgeQueue>,
}

/// The cycle from which on a message finds free slots along a leg.
#[inline]
fn board(rail: &mut Rail, leg: &Leg, cycle: u64, length: u32) -> u64 {
    let lead = u64::from(leg.lead);
    rail.board(cycle + lead, leg.links, length.into()) - lead
}

impl Net {
    /// A quiet mesh.
    pub fn new(tiles: usize, pace: Pace) -> Self {
        let (columns, rows) = (usize::from(COLUMNS), usize::from(ROWS));
        let waiting = || (0..tiles * Ring::COUNT).map(|_| Waiting::new()).collect();
        let bridge = |_| BridgeQueue { port: Port::default(), waiting: Waiting::new() };
        Self {
            pace,
            egress: vec![Egress::default(); tiles * Ring::COUNT * 2],
            turns: waiting(),
            ports: vec![Port::default(); tiles * Ring::COUNT],
            ingress: waiting(),
            holds: vec![Hold::default(); tiles],
            credits: vec![[0; CREDITS]; tiles * 4 * rows],
            columns: vec![Rail::new(); columns * Ring::COUNT * 4],
            rows: vec![Rail::new(); rows * Ring::COUNT * 2],
            bridges: (0..columns * Ring::COUNT * 2).map(bridge).collect(),
        }
    }

    const fn queue(tile: u8, ring: Ring) -> usize {
        tile as usize * Ring::COUNT + ring as usize
    }

    const fn egress(from: u8, lane: Lane) -> usize {
        Self::queue(from, lane.ring) * 2 + lane.agent as usize
    }

    const fn bridge(way: &Way<'_>, ring: Ring) -> usize {
        (way.source.column as usize * Ring::COUNT + ring as usize) * 2 + way.column.down as usize
    }

    /// When a message that is put at `put` is where.
    #[inline]
    pub fn carry(&mut self, lane: Lane, (from, to): (u8, u8), way: &Way<'_>, put: u64) -> Message {
        let Lane { ring, agent } = lane;
        let Pace { half_base, crossing, bridge } = self.pace;
        let (length, climb, turn) = (lane.length(), way.column, way.turn());
        let columns = (usize::from(way.source.column) * Ring::COUNT + ring as usize) * 4;
        let pool = lane.path().map(|path| {
            ((usize::from(from) * 2 + usize::from(agent)) * 2 + path) * usize::from(ROWS) + usize::from(way.goal.row)
        });
        let egress = &mut self.egress[Self::egress(from, lane)];
        let first = put.max(egress.next);
        let released = if ring == Ring::Address { first.max(self.holds[usize::from(from)].distress) } else { first };
        let credited = pool.map_or(released, |pool| released.max(self.credits[pool][0]));
        let mut left = credited;
        if !climb.near.is_empty() {
            left = board(&mut self.columns[columns + usize::from(climb.near.rail)], &climb.near, credited, length);
        }
        egress.next = left + u64::from(length);
        let mut reached = left + half_base + u64::from(climb.near.cycles);
        let mut bridged = None;
        if climb.crosses {
            let came = reached;
            let went = self.bridges[Self::bridge(way, ring)].port.pass(came, bridge * length, put);
            bridged = Some(Bridged { came, went });
            reached = went + crossing;
            if !climb.far.is_empty() {
                reached = board(&mut self.columns[columns + usize::from(climb.far.rail)], &climb.far, reached, length)
                    + u64::from(climb.far.cycles);
            }
        }
        let mut ordered = reached;
        let mut turned = reached;
        let along_row = !way.row.is_empty();
        if along_row {
            let acknowledged = &mut self.holds[usize::from(turn)].acknowledged;
            // An invalidation does not overtake the acknowledgement that came before it.
            if ring == Ring::Invalidate && acknowledged.0 <= reached {
                ordered = reached.max(acknowledged.1);
            }
            let rail = (usize::from(way.goal.row) * Ring::COUNT + ring as usize) * 2 + usize::from(way.row.rail);
            turned = board(&mut self.rows[rail], way.row, ordered, length);
            if ring == Ring::Acknowledge {
                *acknowledged = (reached, turned);
            }
        }
        let arrived = turned + u64::from(way.row.cycles);
        let taken = self.ports[Self::queue(to, ring)].pass(arrived, length, put);
        let freed = if along_row { turned } else { taken };
        let returned = freed + u64::from(climb.back) + 1;
        if let Some(pool) = pool {
            let credits = &mut self.credits[pool];
            credits.copy_within(1.., 0);
            credits[CREDITS - 1] = returned;
        }
        Message {
            ring,
            agent,
            from,
            to,
            turn,
            put,
            first,
            released,
            credited,
            left,
            bridged,
            reached,
            ordered,
            turned,
            arrived,
            taken,
            returned,
        }
    }

    /// How a message stays in each of its queues. Most go past all of them.
    #[inline]
    pub fn stays(&mut self, message: &Message, way: &Way<'_>) -> Stays {
        let bridge = message.bridged.is_some_and(|bridged| bridged.went > bridged.came);
        if message.left == message.put
            && message.turned == message.reached
            && message.taken == message.arrived
            && !bridge
        {
            return Stays::default();
        }
        self.wait(message, way)
    }

    #[inline(never)]
    fn wait(&mut self, message: &Message, way: &Way<'_>) -> Stays {
        let &Message { ring, agent, put, .. } = message;
        let lane = Lane { ring, agent };
        let egress = self.egress[Self::egress(message.from, lane)].wait(put, message.left);
        let bridge = message.bridged.map_or_else(Stay::default, |bridged| {
            self.bridges[Self::bridge(way, ring)].waiting.wait(bridged.came, bridged.went, put)
        });
        let turning = self.turns[Self::queue(message.turn, ring)].wait(message.reached, message.turned, put);
        if ring == Ring::Address && turning.full > 0 {
            let distress = &mut self.holds[usize::from(message.turn)].distress;
            *distress = message.turned.max(*distress);
        }
        let ingress = self.ingress[Self::queue(message.to, ring)].wait(message.arrived, message.taken, put);
        Stays { egress, bridge, turning, ingress }
    }
}
