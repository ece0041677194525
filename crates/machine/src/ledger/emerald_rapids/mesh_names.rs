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
    let row = |name: &str| name.strip_prefix("TGR")?.parse::<u8>().ok().filter(|row| *row < 8);
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
            let (ring, agent) = agent_ring(event);
            let row = row(subevent)?;
            Some(traffic.sum(ring, Some(agent), |from, to| from == stop && tiles[to].row == row))
        }
        // Held while the message waits, on its way along the column, and one cycle where it turns.
        "AG0_AD_CRD_OCCUPANCY0" | "AG1_AD_CRD_OCCUPANCY0" | "AG0_BL_CRD_OCCUPANCY0" | "AG1_BL_CRD_OCCUPANCY0" => {
            let (ring, agent) = agent_ring(event);
            let row = row(subevent)?;
            let way = |from: usize, to: usize| {
                let chosen = from == stop && tiles[to].row == row;
                if chosen { u64::from(here.row.abs_diff(row)) + 1 } else { 0 }
            };
            Some(traffic.total(ring, Some(agent), way) + traffic.credits(ring, agent, stop, row)[0])
        }
        "STALL0_NO_TxR_HORZ_CRD_AD_AG0"
        | "STALL0_NO_TxR_HORZ_CRD_AD_AG1"
        | "STALL0_NO_TxR_HORZ_CRD_BL_AG0"
        | "STALL0_NO_TxR_HORZ_CRD_BL_AG1" => {
            let (ring, agent) = agent_ring(event);
            Some(traffic.credits(ring, agent, stop, row(subevent)?)[1])
        }
        "TxR_VERT_BYPASS" | "TxR_VERT_BYPASS_1" => {
            // The guide has the invalidate ring's row under the second agent here.
            let (ring, agent) = if subevent == "IV_AG1" { (Ring::Invalidate, 0) } else { lane(subevent)? };
            let sent = traffic.sum(ring, Some(agent), |from, _| from == stop);
            Some(sent - traffic.egress(ring, agent, stop).entries)
        }
        _ if event.starts_with("TxR_VERT_") => {
            let (ring, agent) = lane(subevent)?;
            let queue = traffic.egress(ring, agent, stop);
            Some(match event {
                "TxR_VERT_INSERTS0" | "TxR_VERT_INSERTS1" => queue.entries,
                "TxR_VERT_OCCUPANCY0" | "TxR_VERT_OCCUPANCY1" => queue.occupied,
                "TxR_VERT_CYCLES_NE0" | "TxR_VERT_CYCLES_NE1" => queue.nonempty,
                "TxR_VERT_CYCLES_FULL0" | "TxR_VERT_CYCLES_FULL1" => queue.full,
                "TxR_VERT_NACK0" | "TxR_VERT_NACK1" => queue.refused,
                "TxR_VERT_STARVED0" | "TxR_VERT_STARVED1" => queue.starved,
                "TxR_VERT_ADS_USED" => queue.starving,
                _ => return None,
            })
        }
        _ if event.starts_with("TxR_HORZ_") => {
            let ring = arrivals(subevent)?;
            let queue = traffic.turning(ring, stop);
            let turns = |from: usize, to: usize| {
                tiles[from].column == here.column && tiles[to].row == here.row && tiles[to].column != here.column
            };
            Some(match event {
                "TxR_HORZ_BYPASS" => traffic.sum(ring, None, turns) - queue.entries,
                "TxR_HORZ_INSERTS" => queue.entries,
                "TxR_HORZ_OCCUPANCY" => queue.occupied,
                "TxR_HORZ_CYCLES_NE" => queue.nonempty,
                "TxR_HORZ_CYCLES_FULL" => queue.full,
                "TxR_HORZ_NACK" => queue.refused,
                "TxR_HORZ_STARVED" => queue.starved,
                "TxR_HORZ_ADS_USED" => queue.starving,
                _ => return None,
            })
        }
        "RxR_BYPASS" | "RxR_INSERTS" | "RxR_OCCUPANCY" | "RxR_BUSY_STARVED" => {
            let ring = arrivals(subevent)?;
            let queue = traffic.ingress(ring, stop);
            Some(match event {
                "RxR_BYPASS" => traffic.sum(ring, None, |_, to| to == stop) - queue.entries,
                "RxR_INSERTS" => queue.entries,
                "RxR_OCCUPANCY" => queue.occupied,
                _ => queue.starved,
            })
        }
        "RING_BOUNCES_VERT" | "RING_BOUNCES_HORZ" | "RING_SINK_STARVED_VERT" | "RING_SINK_STARVED_HORZ" => {
            let ring = ring_of(subevent)?;
            let bounces = traffic.bounces(ring, stop, event.ends_with("HORZ"));
            Some(if event.starts_with("RING_BOUNCES") { bounces.messages } else { bounces.cycles })
        }
        _ => None,
    }
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

/// Ring and agent of a credit's event.
fn agent_ring(event: &str) -> (Ring, u8) {
    (if event.contains("_AD_") { Ring::Address } else { Ring::Block }, u8::from(event.contains("AG1")))
}

/// Ring of a name that tells credited from uncredited messages: requests and data are credited, the rest is not.
fn arrivals(name: &str) -> Option<Ring> {
    Some(match name {
        "AD_CRD" | "AD_ALL" => Ring::Address,
        "BL_CRD" | "BL_ALL" => Ring::Block,
        "AK" => Ring::Acknowledge,
        "AKC_UNCRD" => Ring::AcknowledgeAgents,
        "IV" => Ring::Invalidate,
        _ => return None,
    })
}

/// Even stops carry the even polarity: the parity of row and column together.
const fn is_even(tile: Tile) -> bool {
    (tile.row + tile.column).is_multiple_of(2)
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
    let boundary = (tiles.iter().map(|tile| tile.column).max()? + 1).div_ceil(2);
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
