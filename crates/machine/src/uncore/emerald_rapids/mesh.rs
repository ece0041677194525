//! The mesh: messages go up or down their column, then left or right, and every stop that they pass counts them.
//!
//! A message waits where it is put on the mesh, where it turns and where it is taken off, if others are before it: stamps of when a
//! place is free take the place of flits that tick. What stops count is emitted when the message is sent, the cycles that it waits
//! as one increment: sums are exact, thresholds on these events are not.

use super::account::Account;
use super::binding::{Line, bind};
use super::layout::{BOUNDARY, ROWS};
use crate::ledger::emerald_rapids::{MeshStay, Message, PATIENCE, ROOM, Ring, Tile};
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

/// Signals of one of a mesh stop's queues.
#[derive(Debug, Clone, Copy)]
struct QueueLines {
    entries: Line,
    occupied: Line,
    nonempty: Option<Line>,
    full: Option<Line>,
    refused: Option<Line>,
    starved: Option<Line>,
    /// A slot kept against deadlock is used.
    reserve: Option<Line>,
    bypass: Line,
}

/// Signals of a mesh stop of one unit.
#[derive(Debug)]
struct StopLines {
    /// By ring, up or down, even or odd.
    vertical: [[[Line; 2]; 2]; Ring::COUNT],
    /// By ring, left or right, even or odd.
    horizontal: [[[Line; 2]; 2]; Ring::COUNT],
    /// By address or data, agent, row: taken, held, missed.
    credits: [[[[Line; 3]; CREDIT_ROWS]; 2]; 2],
    /// By ring and agent.
    egress: [[QueueLines; 2]; Ring::COUNT],
    /// By ring: where messages turn, and where they are taken off.
    turns: [QueueLines; Ring::COUNT],
    ingress: [QueueLines; Ring::COUNT],
    /// By ring, for messages along the column or the row: bounces, cycles without a place.
    bounces: [[Option<[Line; 2]>; 2]; Ring::COUNT],
}

struct Binder<'a> {
    wiring: &'a mut Wiring,
    unit: &'a str,
}

impl Binder<'_> {
    fn line(&mut self, event: &str) -> Result<Line, WiringError> {
        bind(self.wiring, &format!("{}/{event}", self.unit))
    }

    fn ways(&mut self, axis: &str, ring: (&str, Ring), names: [&str; 2]) -> Result<[[Line; 2]; 2], WiringError> {
        let mut way = |way: &str, polarity: &str| {
            // The invalidate ring has no polarities.
            let suffix = if ring.1 == Ring::Invalidate { String::new() } else { format!("_{polarity}") };
            self.line(&format!("{axis}_RING_{}_IN_USE.{way}{suffix}", ring.0))
        };
        Ok([[way(names[0], "EVEN")?, way(names[0], "ODD")?], [way(names[1], "EVEN")?, way(names[1], "ODD")?]])
    }

    fn egress(&mut self, ring: (&str, Ring), agent: u8) -> Result<QueueLines, WiringError> {
        let suffix = if ring.1 == Ring::AcknowledgeAgents { "1" } else { "0" };
        // The invalidate ring has one agent.
        let agent = if ring.1 == Ring::Invalidate { 0 } else { agent };
        let lane = format!("{}_AG{agent}", ring.0);
        let bypass = match ring.1 {
            Ring::AcknowledgeAgents => format!("TxR_VERT_BYPASS_1.{lane}"),
            // The guide has this row under the second agent.
            Ring::Invalidate => "TxR_VERT_BYPASS.IV_AG1".to_owned(),
            _ => format!("TxR_VERT_BYPASS.{lane}"),
        };
        let reserved = matches!(ring.1, Ring::Address | Ring::Block);
        let reserve = reserved.then(|| self.line(&format!("TxR_VERT_ADS_USED.{lane}"))).transpose()?;
        let bypass = self.line(&bypass)?;
        let mut of = |event: &str| self.line(&format!("TxR_VERT_{event}{suffix}.{lane}"));
        Ok(QueueLines {
            entries: of("INSERTS")?,
            occupied: of("OCCUPANCY")?,
            nonempty: Some(of("CYCLES_NE")?),
            full: Some(of("CYCLES_FULL")?),
            refused: Some(of("NACK")?),
            starved: Some(of("STARVED")?),
            reserve,
            bypass,
        })
    }

    fn turn(&mut self, ring: (&str, Ring)) -> Result<QueueLines, WiringError> {
        let (all, name) = (format!("{}_ALL", ring.0), credited(ring.1));
        let reserved = matches!(ring.1, Ring::Address | Ring::Block);
        let starving = if reserved { all.as_str() } else { name };
        let starved = Some(self.line(&format!("TxR_HORZ_STARVED.{starving}"))?);
        let reserve = reserved.then(|| self.line(&format!("TxR_HORZ_ADS_USED.{name}"))).transpose()?;
        let mut of = |event: &str| self.line(&format!("TxR_HORZ_{event}.{name}"));
        Ok(QueueLines {
            entries: of("INSERTS")?,
            occupied: of("OCCUPANCY")?,
            nonempty: Some(of("CYCLES_NE")?),
            full: Some(of("CYCLES_FULL")?),
            refused: Some(of("NACK")?),
            starved,
            reserve,
            bypass: of("BYPASS")?,
        })
    }

    fn ingress(&mut self, ring: Ring) -> Result<QueueLines, WiringError> {
        let name = credited(ring);
        let mut of = |event: &str| self.line(&format!("RxR_{event}.{name}"));
        let starves = matches!(ring, Ring::Address | Ring::Block);
        Ok(QueueLines {
            entries: of("INSERTS")?,
            occupied: of("OCCUPANCY")?,
            nonempty: None,
            full: None,
            refused: None,
            starved: starves.then(|| of("BUSY_STARVED")).transpose()?,
            reserve: None,
            bypass: of("BYPASS")?,
        })
    }

    fn bounces(&mut self, name: &str, ring: Ring) -> Result<[Option<[Line; 2]>; 2], WiringError> {
        let mut along = |axis: &str| -> Result<[Line; 2], WiringError> {
            let bounced = self.line(&format!("RING_BOUNCES_{axis}.{name}"))?;
            Ok([bounced, self.line(&format!("RING_SINK_STARVED_{axis}.{name}"))?])
        };
        // The agents' acknowledgements have no rows of their own along the row.
        let horizontal = if ring == Ring::AcknowledgeAgents { None } else { Some(along("HORZ")?) };
        Ok([Some(along("VERT")?), horizontal])
    }
}

/// Subevents of a ring's messages where credited and uncredited ones are told apart.
const fn credited(ring: Ring) -> &'static str {
    match ring {
        Ring::Address => "AD_CRD+AD_ALL",
        Ring::Block => "BL_CRD+BL_ALL",
        Ring::AcknowledgeAgents => "AKC_UNCRD",
        Ring::Acknowledge => "AK",
        Ring::Invalidate => "IV",
    }
}

impl StopLines {
    fn bind(wiring: &mut Wiring, unit: &str) -> Result<Self, WiringError> {
        let mut binder = Binder { wiring, unit };
        let mut rings = Vec::new();
        for ring in RINGS {
            let vertical = binder.ways("VERT", ring, ["UP", "DN"])?;
            let horizontal = binder.ways("HORZ", ring, ["LEFT", "RIGHT"])?;
            let egress = [binder.egress(ring, 0)?, binder.egress(ring, 1)?];
            let (turn, ingress) = (binder.turn(ring)?, binder.ingress(ring.1)?);
            rings.push((vertical, horizontal, egress, turn, ingress, binder.bounces(ring.0, ring.1)?));
        }
        let mut credits = Vec::new();
        for ring in ["AD", "BL"] {
            for agent in 0..2 {
                for row in 0..CREDIT_ROWS {
                    credits.push([
                        binder.line(&format!("AG{agent}_{ring}_CRD_ACQUIRED0.TGR{row}"))?,
                        binder.line(&format!("AG{agent}_{ring}_CRD_OCCUPANCY0.TGR{row}"))?,
                        binder.line(&format!("STALL0_NO_TxR_HORZ_CRD_{ring}_AG{agent}.TGR{row}"))?,
                    ]);
                }
            }
        }
        let rows =
            |ring: usize, agent: usize| std::array::from_fn(|row| credits[(ring * 2 + agent) * CREDIT_ROWS + row]);
        Ok(Self {
            vertical: std::array::from_fn(|ring| rings[ring].0),
            horizontal: std::array::from_fn(|ring| rings[ring].1),
            credits: [[rows(0, 0), rows(0, 1)], [rows(1, 0), rows(1, 1)]],
            egress: std::array::from_fn(|ring| rings[ring].2),
            turns: std::array::from_fn(|ring| rings[ring].3),
            ingress: std::array::from_fn(|ring| rings[ring].4),
            bounces: std::array::from_fn(|ring| rings[ring].5),
        })
    }
}

/// When a place takes its next message, and when the last one left.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    free: Tick,
    left: Tick,
}

impl Lane {
    /// A message comes at `at` and holds the place for `service`: how it stays, and when it leaves.
    fn pass(&mut self, at: Tick, service: Tick, cycle: Tick) -> (MeshStay, Tick) {
        let leaves = at.max(self.free);
        let room = u64::from(ROOM) * service;
        let (was_full, is_full) = (self.free.saturating_sub(room), (leaves + service).saturating_sub(room));
        let stay = MeshStay {
            waited: ((leaves - at) / cycle) as u32,
            first: ((leaves - at.max(self.left).min(leaves)) / cycle) as u32,
            full: (is_full.saturating_sub(was_full.max(at)) / cycle) as u32,
        };
        *self = Self { free: leaves + service, left: leaves };
        // A wait of less than a cycle is none.
        let stay = if stay.waited == 0 { MeshStay::default() } else { stay };
        (stay, leaves)
    }
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
    /// By socket, tile, ring: egress of either agent, turn, ingress.
    lanes: Vec<[Lane; 4]>,
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
            lanes: vec![[Lane::default(); 4]; tiles.len() * Ring::COUNT * usize::from(parameters.sockets)],
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
        let r = ring as usize;
        let base = usize::from(socket) * self.tiles.len();
        let lane = |tile: usize| (base + tile) * Ring::COUNT + r;
        // A line takes the data ring's width of half a line twice.
        let service = if ring == Ring::Block { 2 * self.uclk } else { self.uclk };
        let (down, right) = (goal.row > source.row, goal.column > source.column);
        let along_row = goal.column != source.column;
        let (rows, columns) = (goal.row.abs_diff(source.row), goal.column.abs_diff(source.column));
        let turn = self.at(goal.row, source.column);
        let crosses = (source.column >= BOUNDARY) != (goal.column >= BOUNDARY);
        let cycle = self.uclk;
        let (egress, leaves) = self.lanes[lane(usize::from(from))][usize::from(agent)].pass(now, service, cycle);
        let at_turn = leaves + self.base / 2 + u64::from(rows) * self.hop;
        let (turning, turned) = if along_row {
            self.lanes[lane(turn)][2].pass(at_turn, service, cycle)
        } else {
            (MeshStay::default(), at_turn)
        };
        let crossing = if crosses { self.crossing } else { 0 };
        let at_goal = turned + u64::from(columns) * self.hop + crossing;
        let (ingress, taken) = self.lanes[lane(usize::from(to))][3].pass(at_goal, service, cycle);
        self.waited = egress.waited > 0;
        let mut pulse = |line: Line, index: u16, count: u32| {
            sink.pulse(line.wire(stride, socket, index), line.tag(), now, count);
        };
        if let Some((unit, index)) = self.units[usize::from(from)] {
            let lines = &self.stops[usize::from(unit)];
            tell(&lines.egress[r][usize::from(agent)], egress, index, &mut pulse);
            let credits = match ring {
                Ring::Address => Some(0),
                Ring::Block => Some(1),
                _ => None,
            };
            if let Some(credits) = credits {
                let [taken, held, missed] = lines.credits[credits][usize::from(agent)][usize::from(goal.row)];
                pulse(taken, index, 1);
                pulse(held, index, egress.waited + u32::from(rows) + 1 + turning.waited);
                if turning.waited > ROOM {
                    pulse(missed, index, turning.waited - ROOM);
                }
            }
        }
        let mut row = source.row;
        while row != goal.row {
            row = if down { row + 1 } else { row - 1 };
            if let Some((unit, index)) = self.units[self.at(row, source.column)] {
                let odd = (row + source.column) % 2;
                pulse(self.stops[usize::from(unit)].vertical[r][usize::from(down)][usize::from(odd)], index, 1);
            }
        }
        if along_row && let Some((unit, index)) = self.units[turn] {
            tell(&self.stops[usize::from(unit)].turns[r], turning, index, &mut pulse);
        }
        let mut column = source.column;
        while column != goal.column {
            column = if right { column + 1 } else { column - 1 };
            if let Some((unit, index)) = self.units[self.at(row, column)] {
                let odd = (row + column) % 2;
                pulse(self.stops[usize::from(unit)].horizontal[r][usize::from(right)][usize::from(odd)], index, 1);
            }
        }
        if crosses && let Some([sent, taken]) = self.fabric[r] {
            let (left, right) = (u16::from(row), u16::from(row + ROWS));
            let (sender, taker) = if source.column >= BOUNDARY { (right, left) } else { (left, right) };
            pulse(sent, sender, 1);
            if ring != Ring::AcknowledgeAgents {
                pulse(taken, taker, 1);
            }
        }
        if let Some((unit, index)) = self.units[usize::from(to)] {
            let lines = &self.stops[usize::from(unit)];
            tell(&lines.ingress[r], ingress, index, &mut pulse);
            if ingress.waited > ROOM
                && let Some([bounced, starved]) = lines.bounces[r][usize::from(along_row)]
            {
                pulse(bounced, index, 1);
                pulse(starved, index, ingress.waited - ROOM);
            }
        }
        let message = Message { ring, agent, from, to, turn: turn as u8, egress, turning, ingress };
        account.ledger.message(socket, message);
        taken + self.base / 2
    }
}

/// What a queue counts of a message.
fn tell(lines: &QueueLines, stay: MeshStay, index: u16, pulse: &mut impl FnMut(Line, u16, u32)) {
    if stay.waited == 0 {
        pulse(lines.bypass, index, 1);
        return;
    }
    pulse(lines.entries, index, 1);
    pulse(lines.occupied, index, stay.waited);
    let mut some = |line: Option<Line>, count: u32| {
        if let Some(line) = line.filter(|_| count > 0) {
            pulse(line, index, count);
        }
    };
    some(lines.nonempty, stay.first);
    some(lines.full, stay.full);
    some(lines.refused, u32::from(stay.full > 0));
    some(lines.starved, stay.waited.saturating_sub(PATIENCE));
    some(lines.reserve, u32::from(stay.waited > PATIENCE));
}
