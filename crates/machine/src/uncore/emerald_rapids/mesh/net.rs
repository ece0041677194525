//! What a socket's mesh remembers of the messages that were sent, and when the next one is where.

use super::queue::{Egress, Port, Stay, Waiting};
use super::rail::{Rail, SWEEP};
use super::way::{Leg, MOST_COLUMNS, MOST_ROWS, MOST_TILES, Way};
use crate::ledger::emerald_rapids::{Bridged, Message, Ring};

/// Credits of a stop's agent for each row, address and data apart (assumption: unpublished).
const CREDITS: u8 = 6;

/// The credits of an agent for a row. They are taken in turn.
#[derive(Debug, Clone, Default)]
#[repr(align(64))]
struct Credits {
    /// When each is free again.
    free: [u64; CREDITS as usize],
    /// The next to be taken.
    next: u8,
}

impl Credits {
    /// When the next is free.
    #[inline]
    fn free(&self) -> u64 {
        self.free[usize::from(self.next)]
    }

    /// Takes it; it comes back at `returned`.
    #[inline]
    fn take(&mut self, returned: u64) {
        self.free[usize::from(self.next)] = returned;
        self.next = if self.next + 1 == CREDITS { 0 } else { self.next + 1 };
    }
}

/// The fabric's buffer of one ring in one direction.
#[derive(Debug, Clone, Default)]
struct BridgeQueue {
    port: Port,
    waiting: Waiting,
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
    #[inline]
    const fn path(self) -> Option<usize> {
        match self.ring {
            Ring::Address => Some(0),
            Ring::Block => Some(1),
            _ => None,
        }
    }

    /// Slots that a message takes: a line takes the data ring's width of half a line twice.
    #[inline]
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

/// What became of a message.
#[derive(Debug)]
pub enum Passage {
    /// It waited nowhere: when it was taken off, and for how long it held its credit, if it had one.
    Straight { taken: u64, held: u64 },
    /// All of it, of one that waited, or that somebody wants to hear of.
    Whole(Message),
}

/// What a stop remembers.
#[derive(Debug, Clone, Default)]
struct Stop {
    /// Its agents send no addresses before this cycle: the queue into the row is full.
    distress: u64,
    /// When the last acknowledgement came to turn here, and when it turned.
    acknowledged: (u64, u64),
    /// By ring and agent.
    egress: [[Egress; 2]; Ring::COUNT],
    /// By ring: where messages are taken off.
    ports: [Port; Ring::COUNT],
    /// By agent, address or data, row.
    credits: [[[Credits; MOST_ROWS]; 2]; 2],
    /// By ring: who waits to turn into the row, and who waits to be taken off.
    turning: [Waiting; Ring::COUNT],
    ingress: [Waiting; Ring::COUNT],
}

/// What a column remembers.
#[derive(Debug, Clone, Default)]
struct Column {
    /// By ring and leg.
    rails: [[Rail; 4]; Ring::COUNT],
    /// By ring, up or down.
    bridges: [[BridgeQueue; 2]; Ring::COUNT],
}

/// The mesh of one socket. Tables have powers of two of rows, so that a place is found without a check.
#[derive(Debug)]
pub struct Net {
    pace: Pace,
    stops: Box<[Stop; MOST_TILES]>,
    columns: Box<[Column; MOST_COLUMNS]>,
    /// By row, ring, leg.
    rows: Box<[[[Rail; 2]; Ring::COUNT]; MOST_ROWS]>,
    /// When the rails are to be swept next.
    sweep: u64,
}

/// A table of quiet rows, made where it stays: it is too large for the stack.
fn table<T: Clone + Default, const N: usize>() -> Box<[T; N]> {
    let rows: Box<[T]> = vec![T::default(); N].into();
    rows.try_into().unwrap_or_else(|_| unreachable!("it has N rows"))
}

/// The cycle from which on a message finds free slots along a leg.
#[inline]
fn board(rail: &mut Rail, leg: &Leg, cycle: u64, length: u32) -> u64 {
    let lead = u64::from(leg.lead);
    rail.board(cycle + lead, leg.links, length.into()) - lead
}

impl Net {
    /// A quiet mesh.
    pub fn new(pace: Pace) -> Self {
        Self { pace, stops: table(), columns: table(), rows: table(), sweep: SWEEP }
    }

    #[inline]
    fn stop(&mut self, tile: u8) -> &mut Stop {
        &mut self.stops[usize::from(tile) % MOST_TILES]
    }

    #[inline]
    fn column(&mut self, way: &Way<'_>) -> &mut Column {
        &mut self.columns[usize::from(way.source.column) % MOST_COLUMNS]
    }

    /// When a message that is put at `put` is where. Most wait nowhere, and are not put together in memory unless somebody `hears` them.
    #[inline(always)]
    pub fn carry(&mut self, lane: Lane, (from, to): (u8, u8), way: &Way<'_>, put: u64, hears: bool) -> Passage {
        if put >= self.sweep {
            self.sweep(put);
        }
        let Lane { ring, agent } = lane;
        let Pace { half_base, crossing, bridge } = self.pace;
        let (length, climb, turn) = (lane.length(), way.column, way.turn());
        let (r, row) = (ring as usize, usize::from(way.goal.row) % MOST_ROWS);
        let source = &mut self.stops[usize::from(from) % MOST_TILES];
        let egress = &mut source.egress[r][usize::from(agent) % 2];
        let path = lane.path();
        let first = put.max(egress.next);
        let released = if ring == Ring::Address { first.max(source.distress) } else { first };
        let free = path.map(|path| source.credits[usize::from(agent) % 2][path][row].free());
        let credited = free.map_or(released, |free| free.max(released));
        let column = &mut self.columns[usize::from(way.source.column) % MOST_COLUMNS];
        let rails = &mut column.rails[r];
        let mut left = credited;
        if !climb.near.is_empty() {
            left = board(&mut rails[usize::from(climb.near.rail) % 4], &climb.near, credited, length);
        }
        egress.next = left + u64::from(length);
        let mut reached = left + half_base + u64::from(climb.near.cycles);
        let mut bridged = None;
        if climb.crosses {
            let came = reached;
            let went = column.bridges[r][usize::from(climb.down)].port.pass(came, bridge * length, put);
            bridged = Some(Bridged { came, went });
            reached = went + crossing;
            if !climb.far.is_empty() {
                reached = board(&mut rails[usize::from(climb.far.rail) % 4], &climb.far, reached, length)
                    + u64::from(climb.far.cycles);
            }
        }
        let along_row = !way.row.is_empty();
        let (mut ordered, mut turned) = (reached, reached);
        if along_row {
            let rail = &mut self.rows[row][r][usize::from(way.row.rail) % 2];
            let acknowledged = &mut self.stops[usize::from(turn) % MOST_TILES].acknowledged;
            // An invalidation does not overtake the acknowledgement that came before it.
            if ring == Ring::Invalidate && acknowledged.0 <= reached {
                ordered = reached.max(acknowledged.1);
            }
            turned = board(rail, way.row, ordered, length);
            if ring == Ring::Acknowledge {
                *acknowledged = (reached, turned);
            }
        }
        let arrived = turned + u64::from(way.row.cycles);
        let taken = self.stop(to).ports[r].pass(arrived, length, put);
        let freed = if along_row { turned } else { taken };
        let returned = freed + u64::from(climb.back) + 1;
        if let Some(path) = path {
            self.stop(from).credits[usize::from(agent) % 2][path][row].take(returned);
        }
        let at_bridge = bridged.is_some_and(|Bridged { came, went }| went > came);
        let waits = left > put || turned > reached || taken > arrived || at_bridge;
        if !waits && !hears {
            return Passage::Straight { taken, held: if path.is_some() { returned - left } else { 0 } };
        }
        Passage::Whole(Message {
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
        })
    }

    #[cold]
    fn sweep(&mut self, now: u64) {
        let long_since = now - self.sweep >= SWEEP;
        let columns = self.columns.iter_mut().flat_map(|column| column.rails.as_flattened_mut());
        let rows = self.rows.iter_mut().flat_map(|rails| rails.as_flattened_mut());
        for rail in columns.chain(rows) {
            if long_since {
                *rail = Rail::default();
            } else {
                rail.sweep(now);
            }
        }
        self.sweep = now + SWEEP;
    }

    /// How a message stays in each of its queues.
    pub fn stays(&mut self, message: &Message, way: &Way<'_>) -> Stays {
        if !message.waits() {
            return Stays::default();
        }
        let &Message { ring, put, .. } = message;
        let r = ring as usize;
        let egress = self.stop(message.from).egress[r][usize::from(message.agent) % 2].wait(put, message.left);
        let bridge = message.bridged.map_or_else(Stay::default, |Bridged { came, went }| {
            self.column(way).bridges[r][usize::from(way.column.down)].waiting.wait(came, went, put)
        });
        let turn = self.stop(message.turn);
        let turning = turn.turning[r].wait(message.reached, message.turned, put);
        if ring == Ring::Address && turning.full > 0 {
            turn.distress = message.turned.max(turn.distress);
        }
        let ingress = self.stop(message.to).ingress[r].wait(message.arrived, message.taken, put);
        Stays { egress, bridge, turning, ingress }
    }
}
