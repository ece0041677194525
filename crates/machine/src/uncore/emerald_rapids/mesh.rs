//! The mesh: messages go up or down their column, then left or right, and every stop that they pass counts them.
//!
//! A message that finds its agent's egress taken waits for it; further on the mesh it meets nobody (stamps of when a place is free take
//! the place of flits that tick). What stops count is emitted when the message is put into the egress, the cycles that it waits as
//! one increment: sums are exact, thresholds on these events are not.

use super::account::{Account, Line, bind};
use super::layout::{BOUNDARY, ROWS};
use crate::ledger::emerald_rapids::{Message, Ring, Tile};
use crate::signal::{SignalSink, Tick, Wiring, WiringError};

/// Units that have a mesh stop.
const UNITS: [&str; 4] = ["cha", "m2m", "m2pcie", "m3upi"];
const RINGS: [(&str, Ring); Ring::COUNT] = [
    ("AD", Ring::Address),
    ("AK", Ring::Acknowledge),
    ("AKC", Ring::AcknowledgeAgents),
    ("BL", Ring::Block),
    ("IV", Ring::Invalidate),
];
/// Rows that credits are kept for by name.
const CREDIT_ROWS: usize = ROWS as usize;

/// Signals of a mesh stop of one unit.
#[derive(Debug)]
struct StopLines {
    /// By ring, up or down, even or odd.
    vertical: [[[Line; 2]; 2]; Ring::COUNT],
    /// By ring, left or right, even or odd.
    horizontal: [[[Line; 2]; 2]; Ring::COUNT],
    /// By address or data, agent, row.
    credits: [[[Line; CREDIT_ROWS]; 2]; 2],
    /// By ring and agent: entries, their stay, cycles with any, messages that went past the queue.
    egress: [[[Line; 4]; 2]; Ring::COUNT],
    /// By ring: from a column to a row, and off the mesh.
    turn: [Line; Ring::COUNT],
    sink: [Line; Ring::COUNT],
}

impl StopLines {
    fn bind(wiring: &mut Wiring, unit: &str) -> Result<Self, WiringError> {
        let mut line = |event: String| bind(wiring, &format!("{unit}/{event}"));
        let mut rings = RINGS.into_iter().map(|(name, ring)| {
            let mut ways = |axis: &str, first: &str, second: &str| -> Result<[[Line; 2]; 2], WiringError> {
                let mut way = |way: &str, polarity: &str| {
                    let name = format!("{axis}_RING_{name}_IN_USE.{way}");
                    if ring == Ring::Invalidate { line(name) } else { line(format!("{name}_{polarity}")) }
                };
                Ok([[way(first, "EVEN")?, way(first, "ODD")?], [way(second, "EVEN")?, way(second, "ODD")?]])
            };
            let vertical = ways("VERT", "UP", "DN")?;
            let horizontal = ways("HORZ", "LEFT", "RIGHT")?;
            let suffix = if ring == Ring::AcknowledgeAgents { "1" } else { "0" };
            let mut egress = |agent: u8| -> Result<[Line; 4], WiringError> {
                // The invalidate ring has one agent.
                let agent = if ring == Ring::Invalidate { 0 } else { agent };
                let mut of = |event: &str| line(format!("TxR_VERT_{event}{suffix}.{name}_AG{agent}"));
                let queue = [of("INSERTS")?, of("OCCUPANCY")?, of("CYCLES_NE")?];
                let bypass = match ring {
                    Ring::AcknowledgeAgents => line(format!("TxR_VERT_BYPASS_1.{name}_AG{agent}"))?,
                    // The guide has this row under the second agent.
                    Ring::Invalidate => line("TxR_VERT_BYPASS.IV_AG1".to_owned())?,
                    _ => line(format!("TxR_VERT_BYPASS.{name}_AG{agent}"))?,
                };
                Ok([queue[0], queue[1], queue[2], bypass])
            };
            let egress = [egress(0)?, egress(1)?];
            let credited = match ring {
                Ring::Address => "AD_CRD+AD_ALL",
                Ring::Block => "BL_CRD+BL_ALL",
                Ring::AcknowledgeAgents => "AKC_UNCRD",
                Ring::Acknowledge => "AK",
                Ring::Invalidate => "IV",
            };
            let turn = line(format!("TxR_HORZ_BYPASS.{credited}"))?;
            let sink = line(format!("RxR_BYPASS.{credited}"))?;
            Ok::<_, WiringError>((vertical, horizontal, egress, turn, sink))
        });
        let mut next = || rings.next().expect("one for each ring");
        let each = [next()?, next()?, next()?, next()?, next()?];
        let mut credits = Vec::new();
        for ring in ["AD", "BL"] {
            for agent in 0..2 {
                for row in 0..CREDIT_ROWS {
                    credits.push(bind(wiring, &format!("{unit}/AG{agent}_{ring}_CRD_ACQUIRED0.TGR{row}"))?);
                }
            }
        }
        let credit = |ring: usize, agent: usize, row: usize| credits[(ring * 2 + agent) * CREDIT_ROWS + row];
        let rows = |ring, agent| std::array::from_fn(|row| credit(ring, agent, row));
        Ok(Self {
            vertical: each.map(|ring| ring.0),
            horizontal: each.map(|ring| ring.1),
            credits: [[rows(0, 0), rows(0, 1)], [rows(1, 0), rows(1, 1)]],
            egress: each.map(|ring| ring.2),
            turn: each.map(|ring| ring.3),
            sink: each.map(|ring| ring.4),
        })
    }
}

/// When a lane of a mesh stop's egress is free, and when its last message left.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    free: Tick,
    left: Tick,
}

/// The meshes of all sockets.
#[derive(Debug)]
pub struct Mesh {
    tiles: Vec<Tile>,
    /// Unit, as an index into [`UNITS`], and instance of each tile.
    units: Vec<Option<(u8, u16)>>,
    /// The tile at a row and column.
    grid: Vec<u8>,
    stops: Vec<StopLines>,
    /// By ring: what the fabric between the dies takes in and sends out.
    fabric: [Option<[Line; 2]>; Ring::COUNT],
    lanes: Vec<Lane>,
    /// The last message waited.
    waited: bool,
    uclk: Tick,
    base: Tick,
    hop: Tick,
    crossing: Tick,
}

const COLUMNS: usize = super::layout::COLUMNS as usize;

impl Mesh {
    /// Quiet meshes.
    pub fn new(
        wiring: &mut Wiring,
        tiles: Vec<Tile>,
        parameters: &super::Parameters,
        uclk: Tick,
    ) -> Result<Self, WiringError> {
        let stops = UNITS.iter().map(|unit| StopLines::bind(wiring, unit)).collect::<Result<_, _>>()?;
        let mut fabric = [None; Ring::COUNT];
        for (name, ring) in RINGS {
            // The agents' acknowledgements have a row at the sender only.
            let (sent, taken) = match ring {
                Ring::Address | Ring::Block => (format!("{name}_CRD"), format!("{name}_CRD")),
                Ring::AcknowledgeAgents => (name.to_owned(), "AK".to_owned()),
                _ => (name.to_owned(), name.to_owned()),
            };
            let sent = bind(wiring, &format!("mdf/CRS_TxR_INSERTS.{sent}"))?;
            let taken = bind(wiring, &format!("mdf/RxR_BYPASS.{taken}"))?;
            fabric[ring as usize] = Some([sent, taken]);
        }
        let mut grid = vec![u8::MAX; usize::from(ROWS) * COLUMNS];
        for (index, tile) in tiles.iter().enumerate() {
            grid[usize::from(tile.row) * COLUMNS + usize::from(tile.column)] = index as u8;
        }
        let unit = |tile: &Tile| {
            let (name, instance) = tile.unit?;
            Some((UNITS.iter().position(|unit| *unit == name)? as u8, instance))
        };
        Ok(Self {
            units: tiles.iter().map(unit).collect(),
            lanes: vec![Lane::default(); tiles.len() * Ring::COUNT * 2 * usize::from(parameters.sockets)],
            tiles,
            grid,
            stops,
            fabric,
            waited: false,
            uclk,
            base: parameters.mesh_base * uclk,
            hop: parameters.mesh_hop * uclk,
            crossing: parameters.mesh_crossing * uclk,
        })
    }

    fn at(&self, row: u8, column: u8) -> usize {
        usize::from(self.grid[usize::from(row) * COLUMNS + usize::from(column)])
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
        let (source, goal) = (self.tiles[usize::from(from)], self.tiles[usize::from(to)]);
        let stride = account.stride;
        let lane = ((usize::from(socket) * self.tiles.len() + usize::from(from)) * Ring::COUNT + ring as usize) * 2;
        let lane = &mut self.lanes[lane + usize::from(agent)];
        let leaves = now.max(lane.free);
        let waited = ((leaves - now) / self.uclk) as u32;
        let first = ((leaves - now.max(lane.left).min(leaves)) / self.uclk) as u32;
        // A line takes the data ring's width of half a line twice.
        let service = if ring == Ring::Block { 2 } else { 1 };
        *lane = Lane { free: leaves + service * self.uclk, left: leaves };
        self.waited = waited > 0;
        let mut pulse = |line: Line, index: u16, count: u32| {
            sink.pulse(line.wire(stride, socket, index), line.tag(), now, count);
        };
        if let Some((unit, index)) = self.units[usize::from(from)] {
            let lines = &self.stops[usize::from(unit)];
            let egress = &lines.egress[ring as usize][usize::from(agent)];
            if waited == 0 {
                pulse(egress[3], index, 1);
            } else {
                pulse(egress[0], index, 1);
                pulse(egress[1], index, waited);
                pulse(egress[2], index, first);
            }
            let credits = match ring {
                Ring::Address => Some(0),
                Ring::Block => Some(1),
                _ => None,
            };
            if let Some(credits) = credits {
                pulse(lines.credits[credits][usize::from(agent)][usize::from(goal.row)], index, 1);
            }
        }
        let down = goal.row > source.row;
        let mut row = source.row;
        while row != goal.row {
            row = if down { row + 1 } else { row - 1 };
            if let Some((unit, index)) = self.units[self.at(row, source.column)] {
                let odd = (row + source.column) % 2;
                let lines = &self.stops[usize::from(unit)].vertical[ring as usize];
                pulse(lines[usize::from(down)][usize::from(odd)], index, 1);
            }
        }
        let right = goal.column > source.column;
        let mut column = source.column;
        if column != goal.column
            && let Some((unit, index)) = self.units[self.at(row, column)]
        {
            pulse(self.stops[usize::from(unit)].turn[ring as usize], index, 1);
        }
        while column != goal.column {
            column = if right { column + 1 } else { column - 1 };
            if let Some((unit, index)) = self.units[self.at(row, column)] {
                let odd = (row + column) % 2;
                let lines = &self.stops[usize::from(unit)].horizontal[ring as usize];
                pulse(lines[usize::from(right)][usize::from(odd)], index, 1);
            }
        }
        let crosses = (source.column >= BOUNDARY) != (goal.column >= BOUNDARY);
        if crosses && let Some([sent, taken]) = self.fabric[ring as usize] {
            let (left, right) = (u16::from(row), u16::from(row + ROWS));
            let (sender, taker) = if source.column >= BOUNDARY { (right, left) } else { (left, right) };
            pulse(sent, sender, 1);
            if ring != Ring::AcknowledgeAgents {
                pulse(taken, taker, 1);
            }
        }
        if let Some((unit, index)) = self.units[usize::from(to)] {
            pulse(self.stops[usize::from(unit)].sink[ring as usize], index, 1);
        }
        account.ledger.message(socket, Message { ring, agent, from, to, waited, first });
        let hops = u64::from(source.row.abs_diff(goal.row)) + u64::from(source.column.abs_diff(goal.column));
        leaves + self.base + hops * self.hop + if crosses { self.crossing } else { 0 }
    }
}
