//! What a socket's mesh remembers of the messages that were sent, and when the next one is where.

use super::port::Port;
use super::rail::{Rail, SWEEP};
use super::way::{Leg, Way};
use pericore_facts::emerald_rapids::{Bridged, MOST_COLUMNS, MOST_ROWS, MOST_TILES, Message, ROOM, Ring};
use pericore_parts::waiting::Waiting;

/// Credits of a stop's agent for each row, address and data apart (assumption: unpublished).
const CREDITS: u8 = 6;

/// The credits of an agent for a row.
#[derive(Debug, Clone, Default)]
#[repr(align(64))]
struct Credits {
    /// When each is free again, the first of all in front.
    free: [u64; CREDITS as usize],
}

impl Credits {
    /// When one is free.
    #[inline]
    const fn free(&self) -> u64 {
        self.free[0]
    }

    /// Takes it; it comes back at `returned`. Nearly always that is after all others.
    #[inline]
    fn take(&mut self, returned: u64) {
        self.free.rotate_left(1);
        self.free[self.free.len() - 1] = returned;
        let mut place = self.free.len() - 1;
        while place > 0 && self.free[place - 1] > returned {
            self.free.swap(place - 1, place);
            place -= 1;
        }
    }
}

/// Acknowledgements that turn at a stop: when each of the last ones came, and when it turned. They come from above and
/// from below, so that one which was sent earlier may come later.
#[derive(Debug, Clone, Default)]
struct Acknowledged([(u64, u64); 4]);

impl Acknowledged {
    fn add(&mut self, came: u64, turned: u64) {
        self.0.rotate_right(1);
        self.0[0] = (came, turned);
    }

    /// When all that had come by a cycle have turned.
    fn turned(&self, by: u64) -> u64 {
        self.0.iter().filter(|(came, _)| *came <= by).map(|(_, turned)| *turned).max().unwrap_or(0)
    }
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

/// What is known of a message from its ring's kind: there is a copy of all that it goes through for each kind.
pub trait Lane {
    /// The ring, if the kind has one only.
    const RING: Option<Ring>;
    /// Its messages need credits for another row.
    const CREDITED: bool = Self::RING.is_some();
    /// Slots of a message.
    const LENGTH: u32 = match Self::RING {
        Some(ring) => ring.slots(),
        None => 1,
    };
}

/// Addresses.
pub struct Addresses;
/// Data.
pub struct Blocks;
/// Messages that need no credits.
pub struct Free;

impl Lane for Addresses {
    const RING: Option<Ring> = Some(Ring::Address);
}

impl Lane for Blocks {
    const RING: Option<Ring> = Some(Ring::Block);
}

impl Lane for Free {
    const RING: Option<Ring> = None;
}

/// What a stop remembers of what is sent there. When agents may send comes first, in one line of the host's cache but
/// for invalidations.
#[derive(Debug, Clone, Default)]
#[repr(C, align(64))]
struct Source {
    /// Its agents send no addresses before this cycle: the queue into the row is full.
    distress: u64,
    /// By ring and agent: when the next message may leave.
    next: [[u64; 2]; Ring::COUNT],
    /// By agent, address or data, row.
    credits: [[[Credits; MOST_ROWS]; 2]; 2],
}

/// What a stop remembers of messages that turn there into its row.
#[derive(Debug, Clone, Default)]
struct Turn {
    acknowledged: Acknowledged,
    /// Addresses that wait.
    waiting: Waiting<{ ROOM as usize }>,
}

/// What a stop remembers of messages that are taken off there.
#[derive(Debug, Clone, Default)]
struct Sink {
    /// By ring: when one may be.
    ports: [Port; Ring::COUNT],
}

/// What a column or a row remembers.
#[derive(Debug, Clone, Default)]
struct Line {
    /// By ring and leg.
    rails: [[Rail; 4]; Ring::COUNT],
    /// By ring, up or down, left or right.
    bridges: [[Port; 2]; Ring::COUNT],
}

/// The mesh of one socket. Tables have powers of two of rows, so that a place is found without a check.
#[derive(Debug)]
pub struct Net {
    pace: Pace,
    sources: Box<[Source; MOST_TILES]>,
    turns: Box<[Turn; MOST_TILES]>,
    sinks: Box<[Sink; MOST_TILES]>,
    columns: Box<[Line; MOST_COLUMNS]>,
    rows: Box<[Line; MOST_ROWS]>,
    /// When the rails are to be swept next.
    sweep: u64,
    /// Messages so far.
    pub carried: u64,
}

/// A table of quiet rows, made where it stays: it is too large for the stack.
fn table<T: Clone + Default, const N: usize>() -> Box<[T; N]> {
    let rows: Box<[T]> = vec![T::default(); N].into();
    rows.try_into().unwrap_or_else(|_| unreachable!("it has N rows"))
}

/// The cycle from which on a message finds free slots along a leg; `horizon` is that of the present.
#[inline]
fn board(rail: &mut Rail, leg: &Leg, cycle: u64, length: u64, horizon: u64) -> u64 {
    let lead = u64::from(leg.lead);
    rail.board(cycle + lead, leg.links, length, horizon) - lead
}

impl Net {
    /// A quiet mesh.
    pub fn new(pace: Pace) -> Self {
        let (sources, turns, sinks) = (table(), table(), table());
        Self { pace, sources, turns, sinks, columns: table(), rows: table(), sweep: SWEEP, carried: 0 }
    }

    /// The cycle from which on an agent's next message may leave for a ring.
    #[inline]
    pub fn next(&self, (ring, agent): (Ring, u8), from: u8) -> u64 {
        self.sources[usize::from(from) % MOST_TILES].next[ring as usize][usize::from(agent) % 2]
    }

    /// When a message that is put at `put` is where.
    #[inline(always)]
    pub fn carry<L: Lane>(
        &mut self,
        (ring, agent): (Ring, u8),
        (from, to): (u8, u8),
        way: &Way<'_>,
        put: u64,
    ) -> Message {
        if put >= self.sweep {
            self.sweep(put);
        }
        self.carried += 1;
        let ring = L::RING.unwrap_or(ring);
        let Pace { half_base, crossing, bridge } = self.pace;
        let (r, a, row) = (ring as usize, usize::from(agent) % 2, usize::from(way.goal.row) % MOST_ROWS);
        let (climb, aside, turn) = (way.column, way.row, way.turn);
        let length = u64::from(L::LENGTH);
        let source = &mut self.sources[usize::from(from) % MOST_TILES];
        let first = put.max(source.next[r][a]);
        let released = if matches!(L::RING, Some(Ring::Address)) { first.max(source.distress) } else { first };
        let credits = &mut source.credits[a][usize::from(ring == Ring::Block)][row];
        // What stays in its row needs no credit for it.
        let needs_credit = L::CREDITED && !way.column.is_empty();
        let credited = if needs_credit { credits.free().max(released) } else { released };
        let column = &mut self.columns[usize::from(way.source.column) % MOST_COLUMNS];
        let rails = &mut column.rails[r];
        let horizon = Rail::horizon(put);
        let mut left = credited;
        if !climb.near.is_empty() {
            left = board(&mut rails[usize::from(climb.near.rail) % 4], &climb.near, credited, length, horizon);
        }
        source.next[r][a] = left + length;
        let mut reached = left + half_base + u64::from(climb.near.cycles);
        let mut bridged = None;
        if climb.crosses {
            let came = reached;
            let went = column.bridges[r][usize::from(climb.onward)].pass(came, bridge * L::LENGTH, put);
            bridged = Some(Bridged { came, went });
            reached = went + crossing;
            if !climb.far.is_empty() {
                reached = board(&mut rails[usize::from(climb.far.rail) % 4], &climb.far, reached, length, horizon)
                    + u64::from(climb.far.cycles);
            }
        }
        let along_row = !aside.is_empty();
        let (mut ordered, mut turned) = (reached, reached);
        let line = &mut self.rows[row];
        if along_row {
            let acknowledged = &mut self.turns[usize::from(turn) % MOST_TILES].acknowledged;
            // An invalidation does not overtake the acknowledgements that came before it.
            if ring == Ring::Invalidate {
                ordered = reached.max(acknowledged.turned(reached));
            }
            turned = ordered;
            if !aside.near.is_empty() {
                let rail = &mut line.rails[r][usize::from(aside.near.rail) % 4];
                turned = board(rail, &aside.near, ordered, length, horizon);
            }
            if ring == Ring::Acknowledge {
                acknowledged.add(reached, turned);
            }
        }
        let mut arrived = turned + u64::from(aside.near.cycles);
        let mut bridged_aside = None;
        if aside.crosses {
            let came = arrived;
            let went = line.bridges[r][usize::from(aside.onward)].pass(came, bridge * L::LENGTH, put);
            bridged_aside = Some(Bridged { came, went });
            arrived = went + crossing;
            if !aside.far.is_empty() {
                let rail = &mut line.rails[r][usize::from(aside.far.rail) % 4];
                arrived = board(rail, &aside.far, arrived, length, horizon) + u64::from(aside.far.cycles);
            }
        }
        let taken = self.sinks[usize::from(to) % MOST_TILES].ports[r].pass(arrived, L::LENGTH, put);
        let freed = if along_row { turned } else { taken };
        let returned = freed + u64::from(climb.back) + 1;
        if needs_credit {
            credits.take(returned);
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
            bridged_aside,
            arrived,
            taken,
            returned,
        }
    }

    #[cold]
    fn sweep(&mut self, now: u64) {
        let long_since = now - self.sweep >= SWEEP;
        let lines = self.columns.iter_mut().chain(self.rows.iter_mut());
        for rail in lines.flat_map(|line| line.rails.as_flattened_mut()) {
            if long_since {
                *rail = Rail::new(now);
            } else {
                rail.sweep(now);
            }
        }
        self.sweep = now + SWEEP;
    }

    /// A message of the address ring waits where it turns. When that fills the queue, its stop sends no addresses
    /// meanwhile.
    #[inline(never)]
    pub fn wait_to_turn(&mut self, message: &Message) {
        let turn = usize::from(message.turn) % MOST_TILES;
        let stay = self.turns[turn].waiting.wait(message.reached, message.turned, message.put);
        if stay.full > 0 {
            let distress = &mut self.sources[turn].distress;
            *distress = message.turned.max(*distress);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Acknowledged, CREDITS, Credits};

    /// Five credits are away for long, and the sixth comes back at 20 already: there is one again at 20, and the next
    /// at 100.
    #[test]
    fn a_credit_that_is_back_is_taken_before_those_that_are_away() {
        let mut credits = Credits::default();
        assert_eq!(credits.free(), 0);
        (0..u64::from(CREDITS) - 1).for_each(|n| credits.take(100 + n));
        credits.take(20);
        assert_eq!(credits.free(), 20);
        credits.take(60);
        assert_eq!(credits.free(), 60);
        credits.take(200);
        assert_eq!(credits.free(), 100);
    }

    /// The one that came first turns last; one that comes later than the invalidation does not hold it up.
    #[test]
    fn all_acknowledgements_that_came_before_are_waited_for() {
        let mut acknowledged = Acknowledged::default();
        acknowledged.add(10, 40);
        acknowledged.add(12, 30);
        acknowledged.add(25, 90);
        assert_eq!([5, 11, 20, 25].map(|by| acknowledged.turned(by)), [0, 40, 40, 90]);
    }
}
