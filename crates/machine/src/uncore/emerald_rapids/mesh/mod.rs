//! The mesh: messages go up or down their column, over the bridge to the other die if need be, then left or right, and every stop that
//! they pass counts them.
//!
//! A message waits where it is put on the mesh (for a credit of the row that it goes to, and for a free slot to pass), at the bridge,
//! where it turns, and where it is taken off. All of that is worked out when it is sent, from what was sent before, and counted at
//! once, the cycles that it waits as one increment: sums are exact, thresholds on these events are not.

mod lines;
mod queue;
mod rail;
mod tell;

use super::account::Account;
use super::binding::Line;
use super::layout::{BOUNDARY, COLUMNS, ROWS};
use crate::ledger::emerald_rapids::{Bridged, Message, Ring, Tile};
use crate::signal::{SignalSink, Tick, Wiring, WiringError};
use lines::{FabricLines, RINGS, StopLines, UNITS};
use queue::{Port, Stay, Waiting};
use rail::Rail;

/// Credits of a stop's agent for each row, address and data apart (assumption: unpublished).
const CREDITS: usize = 6;
/// The credits of an agent for a row: when each is free again, the earliest first.
type Credits = [u64; CREDITS];

/// A stop's queues of one ring.
#[derive(Debug, Clone, Default)]
struct StopQueues {
    /// Egress of either agent: who waits, and when the next message may leave.
    egress: [(Waiting, u64); 2],
    turn: Waiting,
    ingress: (Port, Waiting),
}

/// The fabric's buffer of one ring in one direction.
#[derive(Debug, Clone, Default)]
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

/// The mesh of one socket.
#[derive(Debug)]
struct Net {
    /// By tile and ring.
    queues: Vec<StopQueues>,
    holds: Vec<Hold>,
    /// By tile, agent, address or data, row.
    credits: Vec<Credits>,
    /// By column, die, ring, up or down.
    columns: Vec<Rail>,
    /// By row, ring, left or right.
    rows: Vec<Rail>,
    /// By column, ring, up or down.
    bridges: Vec<BridgeQueue>,
}

/// The meshes of all sockets.
#[derive(Debug)]
pub struct Mesh {
    tiles: Vec<Tile>,
    /// Unit, as an index into [`UNITS`], and instance of each tile.
    units: Vec<Option<(u8, u16)>>,
    stops: Vec<StopLines>,
    fabric: Vec<FabricLines>,
    nets: Vec<Net>,
    /// The last message waited for its way onto the mesh.
    waited: bool,
    uclk: Tick,
    /// Cycles to get on or off, from stop to stop, over the bridge, and between messages there.
    half_base: u64,
    hop: u64,
    crossing: u64,
    bridge: u32,
}

/// A message's way, as rows and columns.
#[derive(Debug, Clone, Copy)]
struct Way {
    source: Tile,
    goal: Tile,
    down: bool,
    right: bool,
    crosses: bool,
}

impl Way {
    const fn new(source: Tile, goal: Tile) -> Self {
        Self {
            source,
            goal,
            down: goal.row > source.row,
            right: goal.column > source.column,
            crosses: (source.row >= BOUNDARY) != (goal.row >= BOUNDARY),
        }
    }

    /// The last row before the bridge, and the first behind it.
    const fn banks(self) -> (u8, u8) {
        if self.down { (BOUNDARY - 1, BOUNDARY) } else { (BOUNDARY, BOUNDARY - 1) }
    }

    const fn along_row(self) -> bool {
        self.goal.column != self.source.column
    }
}

/// The links between two stops of a line, one bit each.
const fn links(one: u8, other: u8) -> u16 {
    let (first, last) = if one < other { (one, other) } else { (other, one) };
    (1 << last) - (1 << first)
}

impl Net {
    fn new(tiles: usize) -> Self {
        let (columns, rows) = (usize::from(COLUMNS), usize::from(ROWS));
        Self {
            queues: vec![StopQueues::default(); tiles * Ring::COUNT],
            holds: vec![Hold::default(); tiles],
            credits: vec![[0; CREDITS]; tiles * 4 * rows],
            columns: vec![Rail::new(); columns * 2 * Ring::COUNT * 2],
            rows: vec![Rail::new(); rows * Ring::COUNT * 2],
            bridges: vec![BridgeQueue::default(); columns * Ring::COUNT * 2],
        }
    }

    /// The cycle from which on a message finds free slots along a column of one die.
    fn board_column(&mut self, ring: Ring, column: u8, (from, to): (u8, u8), hop: u64, cycle: u64, length: u64) -> u64 {
        if from == to {
            return cycle;
        }
        let down = to > from;
        let die = usize::from(from >= BOUNDARY);
        let rail = ((usize::from(column) * 2 + die) * Ring::COUNT + ring as usize) * 2 + usize::from(down);
        // A slot that goes down passes the first stop earlier, one that goes up passes the last.
        let lead = hop * u64::from(if down { ROWS - from } else { from });
        self.columns[rail].board(cycle + lead, links(from, to), length) - lead
    }

    /// The same along a row.
    fn board_row(&mut self, ring: Ring, row: u8, (from, to): (u8, u8), hop: u64, cycle: u64, length: u64) -> u64 {
        let right = to > from;
        let rail = (usize::from(row) * Ring::COUNT + ring as usize) * 2 + usize::from(right);
        let lead = hop * u64::from(if right { COLUMNS - from } else { from });
        self.rows[rail].board(cycle + lead, links(from, to), length) - lead
    }
}

impl Mesh {
    /// Quiet meshes.
    pub fn new(
        wiring: &mut Wiring,
        tiles: Vec<Tile>,
        parameters: &super::Parameters,
        uclk: Tick,
    ) -> Result<Self, WiringError> {
        let stops = UNITS.iter().map(|unit| StopLines::bind(wiring, unit)).collect::<Result<_, _>>()?;
        let fabric =
            RINGS.iter().map(|&(name, ring)| FabricLines::bind(wiring, name, ring)).collect::<Result<_, _>>()?;
        let unit = |tile: &Tile| {
            let (name, instance) = tile.unit?;
            Some((UNITS.iter().position(|unit| *unit == name)? as u8, instance))
        };
        Ok(Self {
            units: tiles.iter().map(unit).collect(),
            nets: (0..parameters.sockets).map(|_| Net::new(tiles.len())).collect(),
            tiles,
            stops,
            fabric,
            waited: false,
            uclk,
            half_base: parameters.mesh_base / 2,
            hop: parameters.mesh_hop,
            crossing: parameters.mesh_crossing,
            bridge: parameters.mesh_bridge as u32,
        })
    }

    /// The tile of a row and column: tiles are numbered row by row.
    fn at(row: u8, column: u8) -> usize {
        usize::from(row) * usize::from(COLUMNS) + usize::from(column)
    }

    /// True if the message sent last had to wait.
    pub const fn last_waited(&self) -> bool {
        self.waited
    }

    /// Sends a message at `now`, and gives the tick at which it has arrived.
    #[expect(clippy::too_many_arguments, reason = "a message is its parts")]
    pub fn send<S: SignalSink>(
        &mut self,
        account: &mut Account,
        socket: u16,
        ring: Ring,
        agent: u8,
        from: u8,
        to: u8,
        now: Tick,
        sink: &mut S,
    ) -> Tick {
        let way = Way::new(self.tiles[usize::from(from)], self.tiles[usize::from(to)]);
        let put = now.div_ceil(self.uclk);
        let message = self.carry(socket, ring, agent, from, to, way, put);
        let stays = self.stays(socket, &message, way);
        self.waited = message.left > put;
        let stride = account.stride;
        self.tell(&message, way, stays, &mut |line: Line, index: u16, count: u32| {
            sink.pulse(line.wire(stride, socket, index), line.tag(), now, count);
        });
        account.ledger.message(socket, &message);
        (message.taken + self.half_base) * self.uclk
    }

    /// When a message that is put at `put` is where.
    #[expect(clippy::too_many_arguments, reason = "a message is its parts")]
    fn carry(&mut self, socket: u16, ring: Ring, agent: u8, from: u8, to: u8, way: Way, put: u64) -> Message {
        let Way { source, goal, .. } = way;
        let (hop, half_base) = (self.hop, self.half_base);
        let net = &mut self.nets[usize::from(socket)];
        // A line takes the data ring's width of half a line twice.
        let length = if ring == Ring::Block { 2 } else { 1 };
        let turn = Self::at(goal.row, source.column);
        let path = match ring {
            Ring::Address => Some(0),
            Ring::Block => Some(1),
            _ => None,
        };
        let pool = path.map(|path| {
            ((usize::from(from) * 2 + usize::from(agent)) * 2 + path) * usize::from(ROWS) + usize::from(goal.row)
        });
        let egress = usize::from(from) * Ring::COUNT + ring as usize;
        let first = put.max(net.queues[egress].egress[usize::from(agent)].1);
        let released = if ring == Ring::Address { first.max(net.holds[usize::from(from)].distress) } else { first };
        let credited = pool.map_or(released, |pool| released.max(net.credits[pool][0]));
        let bank = if way.crosses { way.banks().0 } else { goal.row };
        let left = net.board_column(ring, source.column, (source.row, bank), hop, credited, length);
        net.queues[egress].egress[usize::from(agent)].1 = left + length;
        let mut reached = left + half_base + hop * u64::from(source.row.abs_diff(bank));
        let mut bridged = None;
        if way.crosses {
            let number = (usize::from(source.column) * Ring::COUNT + ring as usize) * 2 + usize::from(way.down);
            let went = net.bridges[number].port.pass(reached, self.bridge * length as u32, put);
            bridged = Some(Bridged { came: reached, went });
            let bank = way.banks().1;
            let off = net.board_column(ring, source.column, (bank, goal.row), hop, went + self.crossing, length);
            reached = off + hop * u64::from(bank.abs_diff(goal.row));
        }
        // An invalidation does not overtake the acknowledgement that came before it.
        let mut ordered = reached;
        let mut turned = reached;
        if way.along_row() {
            let acknowledged = &mut net.holds[turn].acknowledged;
            if ring == Ring::Invalidate && acknowledged.0 <= reached {
                ordered = reached.max(acknowledged.1);
            }
            turned = net.board_row(ring, goal.row, (source.column, goal.column), hop, ordered, length);
            if ring == Ring::Acknowledge {
                net.holds[turn].acknowledged = (reached, turned);
            }
        }
        let arrived = turned + hop * u64::from(source.column.abs_diff(goal.column));
        let ingress = &mut net.queues[usize::from(to) * Ring::COUNT + ring as usize].ingress;
        let taken = ingress.0.pass(arrived, length as u32, put);
        let freed = if way.along_row() { turned } else { taken };
        let back = hop * u64::from(source.row.abs_diff(goal.row)) + if way.crosses { self.crossing } else { 0 };
        let returned = freed + back + 1;
        if let Some(pool) = pool {
            let credits = &mut net.credits[pool];
            credits.copy_within(1.., 0);
            credits[CREDITS - 1] = returned;
        }
        let turn = turn as u8;
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

    /// How a message stays in each of its queues.
    fn stays(&mut self, socket: u16, message: &Message, way: Way) -> Stays {
        let net = &mut self.nets[usize::from(socket)];
        let (r, put) = (message.ring as usize, message.put);
        let queue = |tile: u8| usize::from(tile) * Ring::COUNT + r;
        let egress = &mut net.queues[queue(message.from)].egress[usize::from(message.agent)].0;
        let egress = egress.wait(put, message.left, put);
        let bridge = message.bridged.map_or_else(Stay::default, |bridged| {
            let number = (usize::from(way.source.column) * Ring::COUNT + r) * 2 + usize::from(way.down);
            net.bridges[number].waiting.wait(bridged.came, bridged.went, put)
        });
        let turning = net.queues[queue(message.turn)].turn.wait(message.reached, message.turned, put);
        if message.ring == Ring::Address && turning.full > 0 {
            let distress = &mut net.holds[usize::from(message.turn)].distress;
            *distress = message.turned.max(*distress);
        }
        let ingress = net.queues[queue(message.to)].ingress.1.wait(message.arrived, message.taken, put);
        Stays { egress, bridge, turning, ingress }
    }
}

/// How a message stays in each of its queues.
#[derive(Debug, Clone, Copy)]
struct Stays {
    egress: Stay,
    bridge: Stay,
    turning: Stay,
    ingress: Stay,
}
