//! What the events of the common mesh stop mean (Tables 2-8 to 2-71), from where messages came from and went to.

use super::{Ring, Snapshot, Tile};

/// Which way a message goes past a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
    Left,
    Right,
}

/// The count of a mesh stop's event; `None` if the event is not one of those.
pub fn value(at: &Snapshot, unit: &str, socket: u16, index: u16, event: &str, subevent: &str) -> Option<u64> {
    let tiles = &at.shape.tiles;
    if unit == "mdf" {
        return crossing(at, socket, index, event, subevent);
    }
    let stop = tiles.iter().position(|tile| tile.unit == Some((unit, index)))?;
    let traffic = &at.cells.traffic[usize::from(socket)];
    let passing = |ring: Ring, way: Way| traffic.sum(ring, None, |from, to| passes(tiles, from, to, stop, way));
    let here = tiles[stop];
    let parity = |ring, ways: [Way; 2], even: &[&str; 2], odd: &[&str; 2]| {
        for (way, name) in ways.into_iter().zip(even.iter()) {
            if subevent == *name {
                return Some(if is_even(here) { passing(ring, way) } else { 0 });
            }
        }
        for (way, name) in ways.into_iter().zip(odd.iter()) {
            if subevent == *name {
                return Some(if is_even(here) { 0 } else { passing(ring, way) });
            }
        }
        None
    };
    let vertical = |ring| parity(ring, [Way::Up, Way::Down], &["UP_EVEN", "DN_EVEN"], &["UP_ODD", "DN_ODD"]);
    let horizontal =
        |ring| parity(ring, [Way::Left, Way::Right], &["LEFT_EVEN", "RIGHT_EVEN"], &["LEFT_ODD", "RIGHT_ODD"]);
    let row = |name: &str, first: u8| name.strip_prefix("TGR")?.parse::<u8>().ok().filter(|n| *n >= first);
    match event {
        "VERT_RING_AD_IN_USE" => vertical(Ring::Address),
        "VERT_RING_AK_IN_USE" => vertical(Ring::Acknowledge),
        "VERT_RING_AKC_IN_USE" => vertical(Ring::AcknowledgeAgents),
        "VERT_RING_BL_IN_USE" => vertical(Ring::Block),
        "VERT_RING_IV_IN_USE" => match subevent {
            "UP" => Some(passing(Ring::Invalidate, Way::Up)),
            "DN" => Some(passing(Ring::Invalidate, Way::Down)),
            _ => None,
        },
        "HORZ_RING_AD_IN_USE" => horizontal(Ring::Address),
        "HORZ_RING_AK_IN_USE" => horizontal(Ring::Acknowledge),
        "HORZ_RING_AKC_IN_USE" => horizontal(Ring::AcknowledgeAgents),
        "HORZ_RING_BL_IN_USE" => horizontal(Ring::Block),
        "HORZ_RING_IV_IN_USE" => match subevent {
            "LEFT" => Some(passing(Ring::Invalidate, Way::Left)),
            "RIGHT" => Some(passing(Ring::Invalidate, Way::Right)),
            _ => None,
        },
        // Taken up at the source, by the row that the message turns in (guide 2.1.1: credits are for each row).
        "AG0_AD_CRD_ACQUIRED0" | "AG1_AD_CRD_ACQUIRED0" | "AG0_BL_CRD_ACQUIRED0" | "AG1_BL_CRD_ACQUIRED0" => {
            let agent = u8::from(event.starts_with("AG1"));
            let ring = if event.contains("_AD_") { Ring::Address } else { Ring::Block };
            let row = row(subevent, 0).filter(|row| *row < 8)?;
            Some(traffic.sum(ring, Some(agent), |from, to| from == stop && tiles[to].row == row))
        }
        "TxR_VERT_INSERTS0" | "TxR_VERT_INSERTS1" => lane(subevent).map(|(r, a)| traffic.waits(r, a, stop)[0]),
        "TxR_VERT_OCCUPANCY0" | "TxR_VERT_OCCUPANCY1" => lane(subevent).map(|(r, a)| traffic.waits(r, a, stop)[1]),
        "TxR_VERT_CYCLES_NE0" | "TxR_VERT_CYCLES_NE1" => lane(subevent).map(|(r, a)| traffic.waits(r, a, stop)[2]),
        "TxR_VERT_BYPASS" | "TxR_VERT_BYPASS_1" => {
            // The guide has the invalidate ring's row under the second agent here.
            let (ring, agent) = if subevent == "IV_AG1" { (Ring::Invalidate, 0) } else { lane(subevent)? };
            let sent = traffic.sum(ring, Some(agent), |from, _| from == stop);
            Some(sent - traffic.waits(ring, agent, stop)[0])
        }
        "TxR_HORZ_BYPASS" => arrivals(subevent).map(|rings| {
            let turns = |from: usize, to: usize| {
                tiles[from].column == here.column && tiles[to].row == here.row && tiles[to].column != here.column
            };
            rings.iter().map(|&ring| traffic.sum(ring, None, turns)).sum()
        }),
        "RxR_BYPASS" => {
            arrivals(subevent).map(|rings| rings.iter().map(|&ring| traffic.sum(ring, None, |_, to| to == stop)).sum())
        }
        _ => None,
    }
}

/// Ring and agent of an egress queue.
fn lane(name: &str) -> Option<(Ring, u8)> {
    let (ring, agent) = name.split_once("_AG")?;
    let ring = match ring {
        "AD" => Ring::Address,
        "AK" => Ring::Acknowledge,
        "AKC" => Ring::AcknowledgeAgents,
        "BL" => Ring::Block,
        "IV" => Ring::Invalidate,
        _ => return None,
    };
    Some((ring, agent.parse().ok()?))
}

/// Rings of a name that tells credited from uncredited messages: requests and data are credited, the rest is not.
fn arrivals(name: &str) -> Option<&'static [Ring]> {
    Some(match name {
        "AD_CRD" | "AD_ALL" => &[Ring::Address],
        "BL_CRD" | "BL_ALL" => &[Ring::Block],
        "AK" => &[Ring::Acknowledge],
        "AKC_UNCRD" => &[Ring::AcknowledgeAgents],
        "IV" => &[Ring::Invalidate],
        _ => return None,
    })
}

/// Even stops carry the even polarity: the parity of row and column together.
const fn is_even(tile: Tile) -> bool {
    (tile.row + tile.column) % 2 == 0
}

/// True if a message goes past a stop, or is taken off there, on its way up, down, left or right; not where it is put on.
fn passes(tiles: &[Tile], from: usize, to: usize, stop: usize, way: Way) -> bool {
    let (source, goal, here) = (tiles[from], tiles[to], tiles[stop]);
    match way {
        Way::Up => here.column == source.column && goal.row <= here.row && here.row < source.row,
        Way::Down => here.column == source.column && source.row < here.row && here.row <= goal.row,
        Way::Left => here.row == goal.row && goal.column <= here.column && here.column < source.column,
        Way::Right => here.row == goal.row && source.column < here.column && here.column <= goal.column,
    }
}

/// Messages over the boundary of the dies, as the fabric's block on either side sees them: it sends what leaves its die, and takes
/// in what comes.
fn crossing(at: &Snapshot, socket: u16, index: u16, event: &str, subevent: &str) -> Option<u64> {
    let tiles = &at.shape.tiles;
    let rows = at.shape.instances("mdf") / 2;
    let (row, right) = ((index % rows) as u8, index >= rows);
    let boundary = (tiles.iter().map(|tile| tile.column).max()? + 1) / 2;
    let ring = match subevent {
        "AD_CRD" => Ring::Address,
        "BL_CRD" => Ring::Block,
        "AK" => Ring::Acknowledge,
        "IV" => Ring::Invalidate,
        "AKC" if event == "CRS_TxR_INSERTS" => Ring::AcknowledgeAgents,
        "AD_BNC" | "BL_BNC" if matches!(event, "CRS_TxR_INSERTS" | "RxR_BYPASS") => return Some(0),
        _ => return None,
    };
    let leaves = match event {
        "CRS_TxR_INSERTS" => right,
        "RxR_BYPASS" => !right,
        _ => return None,
    };
    let traffic = &at.cells.traffic[usize::from(socket)];
    // `leaves` is the side that the message comes from: true for the right one.
    let crosses = |from: usize, to: usize| {
        let (source, goal) = (tiles[from], tiles[to]);
        goal.row == row && (source.column >= boundary) == leaves && (goal.column >= boundary) != leaves
    };
    Some(traffic.sum(ring, None, crosses))
}
