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
pub struct Passage {
    /// When it was taken off.
    pub taken: u64,
    /// For how long it held its credit, if it needed one.
    pub held: u64,
    /// All of it, if it waited, or if somebody wants to hear of it.
    pub whole: Option<Message>,
}

/// What a stop remembers of what is sent there. When agents may send comes first, in one line of the host's cache but for invalidations.
#[derive(Debug, Clone, Default)]
#[repr(C, align(64))]
struct Source {
    /// Its agents send no addresses before this cycle: the queue into the row is full.
    distress: u64,
    /// By ring and agent: when the next message may leave.
    next: [[u64; 2]; Ring::COUNT],
    /// By agent, address or data, row.
    credits: [[[Credits; MOST_ROWS]; 2]; 2],
    /// By ring and agent: who waits.
    waiting: [[Egress; 2]; Ring::COUNT],
}

/// What a stop remembers of messages that turn there into its row.
#[derive(Debug, Clone, Default)]
struct Turn {
    /// When the last acknowledgement came, and when it turned.
    acknowledged: (u64, u64),
    /// By ring: who waits.
    waiting: [Waiting; Ring::COUNT],
}

/// What a stop remembers of messages that are taken off there.
#[derive(Debug, Clone, Default)]
struct Sink {
    /// By ring: when one may be.
    ports: [Port; Ring::COUNT],
    /// By ring: who waits.
    waiting: [Waiting; Ring::COUNT],
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
    sources: Box<[Source; MOST_TILES]>,
    turns: Box<[Turn; MOST_TILES]>,
    sinks: Box<[Sink; MOST_TILES]>,
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
        let (sources, turns, sinks) = (table(), table(), table());
        Self { pace, sources, turns, sinks, columns: table(), rows: table(), sweep: SWEEP }
    }

    /// When a message that is put at `put` is where. `CREDITED` says whether it is of a ring whose messages need credits: there is a copy of
    /// this for those, and one for the others. Most messages wait nowhere, and are not put together in memory unless somebody `hears` them.
    #[inline(always)]
    pub fn carry<const CREDITED: bool>(
        &mut self,
        lane: Lane,
        (from, to): (u8, u8),
        way: &Way<'_>,
        put: u64,
        hears: bool,
    ) -> Passage {
        if put >= self.sweep {
            self.sweep(put);
        }
        let Lane { ring, agent } = lane;
        let Pace { half_base, crossing, bridge } = self.pace;
        let (r, a, row) = (ring as usize, usize::from(agent) % 2, usize::from(way.goal.row) % MOST_ROWS);
        let (climb, turn) = (way.column, way.turn());
        let is_data = CREDITED && ring == Ring::Block;
        // A line takes the data ring's width of half a line twice.
        let length = if is_data { 2 } else { 1 };
        let source = &mut self.sources[usize::from(from) % MOST_TILES];
        let first = put.max(source.next[r][a]);
        let released = if CREDITED && !is_data { first.max(source.distress) } else { first };
        let credits = &mut source.credits[a][usize::from(is_data)][row];
        let credited = if CREDITED { credits.free().max(released) } else { released };
        let column = &mut self.columns[usize::from(way.source.column) % MOST_COLUMNS];
        let rails = &mut column.rails[r];
        let mut left = credited;
        if !climb.near.is_empty() {
            left = board(&mut rails[usize::from(climb.near.rail) % 4], &climb.near, credited, length);
        }
        source.next[r][a] = left + u64::from(length);
        let mut reached = left + half_base + u64::from(climb.near.cycles);
        let (mut bridged, mut at_bridge) = (None, 0);
        if climb.crosses {
            let came = reached;
            let went = column.bridges[r][usize::from(climb.down)].port.pass(came, bridge * length, put);
            (bridged, at_bridge) = (Some(Bridged { came, went }), went - came);
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
            let acknowledged = &mut self.turns[usize::from(turn) % MOST_TILES].acknowledged;
            // An invalidation does not overtake the acknowledgement that came before it.
            if !CREDITED && ring == Ring::Invalidate && acknowledged.0 <= reached {
                ordered = reached.max(acknowledged.1);
            }
            turned = board(rail, way.row, ordered, length);
            if !CREDITED && ring == Ring::Acknowledge {
                *acknowledged = (reached, turned);
            }
        }
        let arrived = turned + u64::from(way.row.cycles);
        let taken = self.sinks[usize::from(to) % MOST_TILES].ports[r].pass(arrived, length, put);
        let freed = if along_row { turned } else { taken };
        let returned = freed + u64::from(climb.back) + 1;
        if CREDITED {
            credits.take(returned);
        }
        let held = if CREDITED { returned - left } else { 0 };
        // In all places together: one branch for them all.
        let waited = (left - put) | at_bridge | (turned - reached) | (taken - arrived);
        let whole = if waited > 0 || hears {
            Some(Message {
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
        } else {
            None
        };
        Passage { taken, held, whole }
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

    /// How a message that goes up or down a column stays in each of its queues.
    #[inline(never)]
    pub fn stays(&mut self, message: &Message, column: u8, down: bool) -> Stays {
        if !message.waits() {
            return Stays::default();
        }
        let &Message { ring, put, .. } = message;
        let r = ring as usize;
        let place = |tile: u8| usize::from(tile) % MOST_TILES;
        let egress = &mut self.sources[place(message.from)].waiting[r][usize::from(message.agent) % 2];
        let egress = egress.wait(put, message.left);
        let bridge = message.bridged.map_or_else(Stay::default, |Bridged { came, went }| {
            let column = &mut self.columns[usize::from(column) % MOST_COLUMNS];
            column.bridges[r][usize::from(down)].waiting.wait(came, went, put)
        });
        let turn = place(message.turn);
        let turning = self.turns[turn].waiting[r].wait(message.reached, message.turned, put);
        if ring == Ring::Address && turning.full > 0 {
            let distress = &mut self.sources[turn].distress;
            *distress = message.turned.max(*distress);
        }
        let ingress = self.sinks[place(message.to)].waiting[r].wait(message.arrived, message.taken, put);
        Stays { egress, bridge, turning, ingress }
    }
}
