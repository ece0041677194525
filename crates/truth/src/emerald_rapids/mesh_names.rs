//! What the events of the common mesh stop mean (Tables 2-8 to 2-71), from where messages came from and went to, and
//! when.

use super::mesh::{MeshFlow, Queue, Traffic};
use super::snapshot::Snapshot;
use pericore_facts::emerald_rapids::{Dies, Ring, Shape, Tile};

/// Which way a message goes past a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
    Left,
    Right,
}

/// A stop, and what its socket's mesh did.
struct Stop<'a> {
    tiles: &'a [Tile],
    traffic: &'a Traffic,
    index: usize,
}

/// Units that have a mesh stop.
const STOPS: [&str; 4] = ["cha", "m2m", "m2pcie", "m3upi"];

/// The count of a mesh stop's event; `None` if the event is not one of those.
pub fn value(at: &Snapshot, unit: &str, socket: u16, index: u16, event: &str, subevent: &str) -> Option<u64> {
    if !STOPS.contains(&unit) && unit != "mdf" {
        return None;
    }
    let tiles = &at.shape.tiles;
    let traffic = &at.cells.traffic[usize::from(socket)];
    if unit == "mdf" {
        return fabric(&at.shape, traffic, index, event, subevent);
    }
    let index = tiles.iter().position(|tile| tile.unit == Some((unit, index)));
    let count = stop_value(Stop { tiles, traffic, index: index.unwrap_or_default() }, unit, event, subevent);
    // A stop that the part does not have counts nothing.
    if index.is_some() { count } else { count.map(|_| 0) }
}

fn stop_value(stop: Stop<'_>, unit: &str, event: &str, subevent: &str) -> Option<u64> {
    let Stop { traffic, index, .. } = stop;
    match event {
        "DISTRESS_ASSERTED" => match subevent {
            "HORZ" => Some(traffic.turning(MeshFlow::new(Ring::Address, true), index).full),
            "VERT" => Some(traffic.distress(index)),
            _ => None,
        },
        "RING_SRC_THRTL" => Some(traffic.throttled(index)),
        "EGRESS_ORDERING" => match subevent {
            "IV_SNOOPGO_UP" => Some(traffic.ordered(index, false)),
            "IV_SNOOPGO_DN" => Some(traffic.ordered(index, true)),
            _ => None,
        },
        _ if unit == "m2m" && (event.starts_with("TxC_") || event.starts_with("TGR_")) => stop.own(event, subevent),
        _ if event.ends_with("_IN_USE") => stop.in_use(event, subevent),
        _ if event.contains("CRD_ACQUIRED") || event.contains("CRD_OCCUPANCY") || event.starts_with("STALL") => {
            stop.credits(event, subevent)
        }
        _ if event.starts_with("TxR_VERT_") => stop.egress(event, subevent),
        _ if event.starts_with("TxR_HORZ_") => stop.turn(event, subevent),
        _ if event.starts_with("RxR_") => stop.ingress(event, subevent),
        _ if event.starts_with("RING_") => stop.bounces(event, subevent),
        _ => None,
    }
}

impl Stop<'_> {
    fn here(&self) -> Tile {
        self.tiles[self.index]
    }

    /// Messages of a polarity that come past the stop, or are taken off there; not those that are put on.
    fn passing(&self, ring: Ring, direction: Direction, odd: bool) -> u64 {
        let (tiles, here) = (self.tiles, self.here());
        match direction {
            Direction::Up | Direction::Down => self.traffic.sent_with(ring, odd, |from, row| {
                tiles[from].column == here.column
                    && passes(tiles[from].row, row, here.row, direction == Direction::Down)
            }),
            Direction::Left | Direction::Right => {
                let chosen = |column: u8, to: usize| {
                    tiles[to].row == here.row
                        && passes(column, tiles[to].column, here.column, direction == Direction::Right)
                };
                MeshFlow::all(ring).map(|flow| self.traffic.come_with(flow, odd, chosen)).sum()
            }
        }
    }

    /// Credits of a polarity that go back past the stop: each the way of its message, backwards.
    fn returning(&self, down: bool, odd: bool) -> u64 {
        let (tiles, here) = (self.tiles, self.here());
        let back =
            |from: usize, row: u8| tiles[from].column == here.column && passes(row, tiles[from].row, here.row, down);
        [Ring::Address, Ring::Block].into_iter().map(|ring| self.traffic.returned_with(ring, odd, back)).sum()
    }

    /// Cycles that a ring brings something. A message has one polarity along its column, that of the cycle in which it
    /// leaves, and one along its row, that of the cycle in which it turns; the invalidate ring has none.
    fn in_use(&self, event: &str, subevent: &str) -> Option<u64> {
        let (axis, rest) = event.split_once("_RING_")?;
        let name = rest.strip_suffix("_IN_USE")?;
        let (way, polarity) = subevent.split_once('_').unwrap_or((subevent, ""));
        let direction = match (axis, way) {
            ("VERT", "UP") => Direction::Up,
            ("VERT", "DN") => Direction::Down,
            ("HORZ", "LEFT") => Direction::Left,
            ("HORZ", "RIGHT") => Direction::Right,
            _ => return None,
        };
        let polarities: &[bool] = match polarity {
            "EVEN" => &[false],
            "ODD" => &[true],
            _ => &[false, true],
        };
        if name == "TGC" {
            return Some(polarities.iter().map(|&odd| self.returning(direction == Direction::Down, odd)).sum());
        }
        let ring = ring_of(name)?;
        let messages: u64 = polarities.iter().map(|&odd| self.passing(ring, direction, odd)).sum();
        Some(messages * u64::from(ring.slots()))
    }

    /// Credits of an agent for a row (guide 2.1.1): taken at the source, in use until they are back, missed.
    fn credits(&self, event: &str, subevent: &str) -> Option<u64> {
        let row = subevent.strip_prefix("TGR")?.parse::<u8>().ok()?;
        let rows = self.tiles.iter().map(|tile| tile.row).max()? + 1;
        let ring = if event.contains("_AD_") { Ring::Address } else { Ring::Block };
        let agent = u8::from(event.contains("AG1"));
        if row >= rows {
            return Some(0);
        }
        Some(match () {
            // What stays in its row needs none.
            () if event.contains("ACQUIRED") && row == self.here().row => 0,
            () if event.contains("ACQUIRED") => {
                self.traffic.sent_by(ring, Some(agent), |from, to| from == self.index && to == row)
            }
            () if event.contains("OCCUPANCY") => self.traffic.held(ring, agent, self.index, row),
            () => self.traffic.missed(ring, agent, self.index, row),
        })
    }

    fn egress(&self, event: &str, subevent: &str) -> Option<u64> {
        // The guide has the invalidate ring's row of the bypass under the second agent.
        let (ring, agent) = if subevent == "IV_AG1" { (Ring::Invalidate, 0) } else { lane(subevent)? };
        let queue = self.traffic.egress(ring, agent, self.index);
        let all = || self.traffic.sent_by(ring, Some(agent), |from, _| from == self.index);
        figure(event.strip_prefix("TxR_VERT_")?.trim_end_matches(['0', '1', '_']), queue, all)
    }

    /// M2M's own egress (2.7.4): a queue for each port and path, credits for room in it, and those for rows.
    fn own(&self, event: &str, subevent: &str) -> Option<u64> {
        let ring = match event {
            "TxC_AD" | "TxC_AD_CREDITS" | "TxC_AD_CREDIT_OCCUPANCY" | "TGR_AD_CREDITS" => Ring::Address,
            "TxC_BL" | "TxC_BL_CREDITS" | "TGR_BL_CREDITS" => Ring::Block,
            "TxC_EGRESS_AK" => Ring::AcknowledgeAgents,
            _ => return None,
        };
        let (name, port) =
            subevent.split_once("_CMS").map_or((subevent, None), |(name, port)| (name, port.parse().ok()));
        let ports = || (0..2).filter(move |&agent| port.is_none_or(|port: u8| port == agent));
        let queues = |figure: fn(&Queue) -> u64| {
            ports().map(|agent| figure(self.traffic.egress(ring, agent, self.index))).sum::<u64>()
        };
        let rows = self.tiles.iter().map(|tile| tile.row).max()? + 1;
        Some(match (event, name) {
            (_, "INSERTS" | "RETURNED") => {
                ports().map(|agent| self.traffic.sent_by(ring, Some(agent), |from, _| from == self.index)).sum()
            }
            (_, "NE" | "CYCLES_NE") => queues(|queue| queue.nonempty),
            (_, "FULL" | "CYCLES_FULL" | "ZERO") => queues(|queue| queue.full),
            (_, "STALLED") => queues(|queue| queue.refused_for),
            // What finds no room has no credit yet.
            ("TxC_AD_CREDIT_OCCUPANCY", _) => queues(Queue::held),
            ("TGR_AD_CREDITS" | "TGR_BL_CREDITS", _) => {
                let of = |agent: u8, row: u8| self.traffic.held(ring, agent, self.index, row);
                (0..2).map(|agent| (0..rows).map(|row| of(agent, row)).sum::<u64>()).sum()
            }
            _ => return None,
        })
    }

    fn turn(&self, event: &str, subevent: &str) -> Option<u64> {
        let (name, here) = (event.strip_prefix("TxR_HORZ_")?, self.here());
        let turns = |column: u8, to: usize| {
            let goal = self.tiles[to];
            column == here.column && goal.row == here.row && goal.column != here.column
        };
        // There all and those without a credit share a bit (Table 2-50).
        let subevent = match (name, subevent) {
            ("STARVED", "AD_UNCRD") => "AD_ALL",
            ("STARVED", "BL_UNCRD") => "BL_ALL",
            _ => subevent,
        };
        let of =
            |flow: MeshFlow| figure(name, self.traffic.turning(flow, self.index), || self.traffic.come_to(flow, turns));
        arrivals(subevent)?.into_iter().map(of).sum()
    }

    fn ingress(&self, event: &str, subevent: &str) -> Option<u64> {
        // The event without subevents is of the agents' acknowledgements.
        let flows = if event == "RxR_CRD_STARVED_1" { arrivals("AKC_UNCRD") } else { arrivals(subevent) };
        let of = |flow: MeshFlow| {
            let queues = self.traffic.ingress(flow, self.index);
            let both = |figure: fn(&Queue) -> u64| queues.iter().map(figure).sum::<u64>();
            Some(match event {
                "RxR_BYPASS" => self.traffic.come_to(flow, |_, to| to == self.index) - both(|queue| queue.entries),
                "RxR_INSERTS" => both(|queue| queue.entries),
                "RxR_OCCUPANCY" => both(Queue::held),
                "RxR_BUSY_STARVED" => both(|queue| queue.starved),
                // What turns here waits for room in the queue towards its row.
                "RxR_CRD_STARVED" | "RxR_CRD_STARVED_1" => self.traffic.turning(flow, self.index).starved_outside,
                _ => return None,
            })
        };
        flows?.into_iter().map(of).sum()
    }

    fn bounces(&self, event: &str, subevent: &str) -> Option<u64> {
        let of = |flow: MeshFlow| {
            let queue = &self.traffic.ingress(flow, self.index)[usize::from(event.ends_with("HORZ"))];
            if event.starts_with("RING_BOUNCES") { queue.refused } else { queue.refused_for }
        };
        Some(MeshFlow::all(ring_of(subevent)?).map(of).sum())
    }
}

/// A figure of a queue by the name that egress events have in common; `all` counts what came, waiting or not.
fn figure(name: &str, queue: &Queue, all: impl Fn() -> u64) -> Option<u64> {
    Some(match name {
        "BYPASS" => all() - queue.entries,
        "INSERTS" => queue.entries,
        "OCCUPANCY" => queue.held(),
        "CYCLES_NE" => queue.nonempty,
        "CYCLES_FULL" => queue.full,
        "NACK" => queue.nacked,
        "STARVED" => queue.starved,
        "ADS_USED" => queue.starving,
        _ => return None,
    })
}

/// Ring by the short name of its messages.
fn ring_of(name: &str) -> Option<Ring> {
    Some(match name {
        "AD" => Ring::Address,
        "AK" => Ring::Acknowledge,
        "AKC" => Ring::AcknowledgeAgents,
        "BL" => Ring::Block,
        "IV" => Ring::Invalidate,
        _ => return None,
    })
}

/// Ring and agent of an egress queue.
fn lane(name: &str) -> Option<(Ring, u8)> {
    let (ring, agent) = name.split_once("_AG")?;
    Some((ring_of(ring)?, agent.parse().ok()?))
}

/// Flows of a name that tells credited from uncredited messages: addresses and data for another row are credited, what
/// stays in its row and the other rings' messages are not.
fn arrivals(name: &str) -> Option<Vec<MeshFlow>> {
    let (ring, flows) = name.split_once('_').unwrap_or((name, ""));
    Some(match (ring_of(ring)?, flows) {
        (ring @ (Ring::Address | Ring::Block), "ALL") => MeshFlow::all(ring).collect(),
        (ring @ (Ring::Address | Ring::Block), "CRD") => vec![MeshFlow::new(ring, true)],
        (ring @ (Ring::Address | Ring::Block), "UNCRD") => vec![MeshFlow::new(ring, false)],
        (ring @ Ring::AcknowledgeAgents, "UNCRD") | (ring @ (Ring::Acknowledge | Ring::Invalidate), "") => {
            MeshFlow::all(ring).collect()
        }
        _ => return None,
    })
}

/// True if what goes along a line comes to a stop; not if it begins there.
const fn passes(from: u8, to: u8, here: u8, onward: bool) -> bool {
    if onward { from < here && here <= to } else { to <= here && here < from }
}

/// A block of fabric between the dies: at the end of a column or of a row of its die, which goes on over a bridge.
struct Block {
    /// The column, or the row, of the mesh.
    line: u8,
    /// It is at the end of a row.
    aside: bool,
    /// Rows and columns of the mesh that its die has.
    rows: std::ops::Range<u8>,
    columns: std::ops::Range<u8>,
}

impl Block {
    /// That of a number. Blocks are numbered die by die: of each, those of columns, then those of rows.
    fn new(dies: Dies, index: u16) -> Option<Self> {
        let Dies { rows, columns, down, across } = dies;
        let of_columns = if down > 1 { columns } else { 0 };
        let of_die = u16::from(of_columns) + if across > 1 { u16::from(rows) } else { 0 };
        if of_die == 0 || index >= of_die * u16::from(down * across) {
            return None;
        }
        let (die, within) = ((index / of_die) as u8, (index % of_die) as u8);
        let (top, left) = (die / across * rows, die % across * columns);
        let aside = within >= of_columns;
        let line = if aside { top + within - of_columns } else { left + within };
        Some(Self { line, aside, rows: top..top + rows, columns: left..left + columns })
    }

    /// Messages of a ring with or without credits that leave its die here, or come into it. Along a column all go to
    /// another row.
    fn crossing(&self, tiles: &[Tile], traffic: &Traffic, (ring, credited): (Ring, bool), leaves: bool) -> u64 {
        let crosses =
            |own: &std::ops::Range<u8>, from: u8, to: u8| own.contains(&from) == leaves && own.contains(&to) != leaves;
        if self.aside {
            return traffic.come_to(MeshFlow::new(ring, credited), |column, to| {
                tiles[to].row == self.line && crosses(&self.columns, column, tiles[to].column)
            });
        }
        traffic.sent_by(ring, None, |from, row| {
            credited && tiles[from].column == self.line && crosses(&self.rows, tiles[from].row, row)
        })
    }

    /// Its buffer for messages that leave its die; none for what stays in its row and never comes here.
    fn buffer<'a>(&self, traffic: &'a Traffic, (ring, credited): (Ring, bool)) -> Option<&'a Queue> {
        let line = usize::from(self.line);
        if self.aside {
            Some(traffic.bridge_aside(MeshFlow::new(ring, credited), line, self.columns.start == 0))
        } else {
            credited.then(|| traffic.bridge(ring, line, self.rows.start == 0))
        }
    }
}

/// Messages over the bridges between the dies. A block of fabric buffers what comes along its column or row from its
/// own die, and puts on there what comes over the bridge from the other.
fn fabric(shape: &Shape, traffic: &Traffic, index: u16, event: &str, subevent: &str) -> Option<u64> {
    let Some(block) = Block::new(shape.dies, index) else { return Some(0) };
    let named = |name: &str| match name {
        "AD_CRD" => Some((Ring::Address, true)),
        "BL_CRD" => Some((Ring::Block, true)),
        "AD_BNC" => Some((Ring::Address, false)),
        "BL_BNC" => Some((Ring::Block, false)),
        _ => Some((ring_of(name).filter(|ring| !matches!(ring, Ring::Address | Ring::Block))?, true)),
    };
    let buffer = |flow: (Ring, bool), figure: fn(&Queue) -> u64| block.buffer(traffic, flow).map_or(0, figure);
    let crossing = |flow: (Ring, bool), leaves: bool| block.crossing(&shape.tiles, traffic, flow, leaves);
    match (event, subevent) {
        ("FAST_ASSERTED", "AD_BNC") => Some(buffer((Ring::Address, true), |queue| queue.half)),
        ("FAST_ASSERTED", "BL_CRD") => Some(buffer((Ring::Block, true), |queue| queue.half)),
        ("CRS_TxR_INSERTS", name) => Some(crossing(named(name)?, false)),
        // Of messages of the vertical ring.
        ("CRS_TxR_V_BOUNCES", name) => {
            let bounced = buffer((ring_of(name)?, true), |queue| queue.refused);
            Some(if block.aside { 0 } else { bounced })
        }
        ("RxR_FULL", name) => Some(buffer(named(name)?, |queue| queue.full)),
        ("RxR_INSERTS", name) => Some(buffer(named(name)?, |queue| queue.entries)),
        ("RxR_OCCUPANCY", name) => Some(buffer(named(name)?, Queue::held)),
        ("RxR_BYPASS", name) => {
            let flow = named(name)?;
            Some(crossing(flow, true) - buffer(flow, |queue| queue.entries))
        }
        _ => None,
    }
}
