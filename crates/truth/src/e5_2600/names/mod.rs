//! What the guide's event names mean, in terms of what happened: an independent reading of sections 2.3.7, 2.4.7 and
//! 2.5.8, written without the catalogue's decode rows.

mod channel;
mod home;
mod link;
mod list;
mod slice;

use pericore_facts::e5_2600::Message;

use super::snapshot::Snapshot;
use crate::Question;
pub use list::NAMES;

/// Instances of a unit in the machine.
pub fn instances(at: &Snapshot, unit: &str) -> Option<usize> {
    match unit {
        "cbo" => Some(at.cells.slices.len()),
        "ha" => Some(at.cells.homes.len()),
        "imc" => Some(at.cells.channels.len()),
        // The link's units are there in a machine without links, too.
        "qpi" | "r3qpi" => Some(2 * at.shape.sockets),
        "pcu" => Some(at.cells.power.len()),
        "ubox" => Some(at.cells.agents.len()),
        "r2pcie" => Some(at.cells.rings.len()),
        _ => None,
    }
}

/// An event's count from the beginning of time up to the snapshot.
pub fn value(at: &Snapshot, instance: u16, question: Question<'_>) -> Option<u64> {
    let Question { unit, event, subevent, .. } = question;
    let index = usize::from(instance);
    let sent = &at.cells.messages;
    match unit {
        "cbo" => match event {
            "CLOCKTICKS" => Some(at.clocks.uclk.cycles(at.now)),
            _ if event.starts_with("RING_") && event.ends_with("_USED") => {
                let of_socket = at.cells.slices.len() / at.cells.rings.len().max(1);
                let (socket, within) = (index / of_socket, index % of_socket);
                at.cells.rings.get(socket)?.value(sent, within, within >= of_socket / 2, event, subevent)
            }
            "TxR_ADS_USED" => {
                let all: u64 = Message::ALL.iter().map(|&message| sent.sent(index, message)).sum();
                Some(all - at.cells.slices.get(index)?.waited)
            }
            "TxR_INSERTS" => Some(sent.sent(index, slice::message(subevent)?)),
            _ => slice::value(at.cells.slices.get(index)?, &at.opcodes, question),
        },
        // Both links of a socket are at the stop of input-output.
        "r3qpi" if event.starts_with("RING_") => {
            at.cells.rings.get(index / 2)?.value(sent, io_stop(at), false, event, subevent)
        }
        "r2pcie" => match event {
            "CLOCKTICKS" => Some(at.clocks.uclk.cycles(at.now)),
            // Their stop comes after the home agent's.
            _ if event.starts_with("RING_") => {
                at.cells.rings.get(index)?.value(sent, io_stop(at), false, event, subevent)
            }
            _ => at.cells.devices.get(index)?.value(event, subevent),
        },
        "ha" if event.starts_with("RING_") => {
            at.cells.rings.get(index)?.value(sent, io_stop(at) - 1, false, event, subevent)
        }
        "ha" => home::value(at, index, event, subevent),
        "imc" => channel::value(at, index, event, subevent),
        "qpi" => link::qpi(at, index, question),
        "r3qpi" => link::ring_stop(at, index, event, subevent),
        "pcu" => match event {
            "CLOCKTICKS" => Some(at.clocks.pclk().cycles(at.now)),
            _ => {
                let bands = ["band0", "band1", "band2", "band3"];
                let band = |number: usize| question.filter(bands[number]).unwrap_or(0);
                at.cells.power.get(index)?.value(event, subevent, band)
            }
        },
        "ubox" => match event {
            "CLOCKTICKS" | "UCLK_FIXED" => Some(at.clocks.uclk.cycles(at.now)),
            _ => at.cells.agents.get(index)?.value(event, subevent),
        },
        _ => None,
    }
}

/// The stop of input-output and of the links between sockets: after the slices' and the home agent's.
fn io_stop(at: &Snapshot) -> usize {
    at.cells.slices.len() / at.cells.rings.len().max(1) + 1
}
