//! What the guide's event names mean, in terms of what happened: written by hand from the event texts of chapter 2
//! and, where the guide has no row, from Intel's event file; without the catalogue's masks and decode rows.

use super::expanders::ExpanderCells;
use super::links::names as link_names;
use super::snapshot::Snapshot;
use super::stacks::names as stack_names;
use super::{agent_names, mesh_names, requests};
use crate::Question;

impl Snapshot {
    /// An event's count from the beginning of time up to the snapshot, by the guide's names. `instance` is numbered
    /// over the machine's sockets. `None` if the ledger has no truth for the event.
    pub fn value(&self, instance: u16, question: Question<'_>) -> Option<u64> {
        value(self, instance, question)
    }

    /// As [`Snapshot::value`], by socket and the instance within it.
    pub fn count(&self, socket: u16, instance: u16, question: Question<'_>) -> Option<u64> {
        let per_socket = self.shape.instances(question.unit);
        let number = (instance < per_socket).then_some(socket * per_socket + instance)?;
        self.value(number, question)
    }

    /// What an event counted since an earlier snapshot.
    pub fn since(&self, earlier: &Self, instance: u16, question: Question<'_>) -> Option<u64> {
        let before = earlier.value(instance, question)?;
        Some(self.value(instance, question)? - before)
    }
}

/// An event's count from the beginning of time up to the snapshot.
fn value(at: &Snapshot, instance: u16, question: Question<'_>) -> Option<u64> {
    let Question { unit, event, subevent, .. } = question;
    let per_socket = at.shape.instances(unit);
    if per_socket == 0 || instance >= per_socket * at.shape.sockets {
        return None;
    }
    // The account does not tell threads apart.
    if question.filter("tid").is_some() {
        return None;
    }
    let (socket, index) = (instance / per_socket, instance % per_socket);
    let cycle = at.clocks.of_unit(unit).cycles(at.now);
    match (unit, event) {
        // 2.3.5: HCLK has half the rate of the channel's clock.
        ("imc", "HCLOCKTICKS") => return Some(cycle.div_ceil(2)),
        (_, "CLOCKTICKS" | "CMS_CLOCKTICKS" | "Clockticks" | "DCLK_FIXED" | "UCLK_FIXED") => return Some(cycle),
        (_, "FRCTR_IOCLK" | "FRCTR_DCLK") => return Some(cycle),
        ("cha", "TOR_INSERTS" | "TOR_OCCUPANCY") => {
            let cells = &at.cells.agents[usize::from(instance)];
            let (entries, cycles) = requests::tor(cells, cycle, subevent, question.filter("opc"), &[])?;
            return Some(if event == "TOR_INSERTS" { entries } else { cycles });
        }
        ("cha", "LLC_LOOKUP") => return requests::lookups(&at.cells.agents[usize::from(instance)], subevent),
        ("cha", "LLC_VICTIMS") => return requests::victims(&at.cells.agents[usize::from(instance)], subevent),
        ("cha", "REQUESTS" | "IMC_READS_COUNT" | "IMC_WRITES_COUNT" | "BYPASS_CHA_IMC" | "XPT_PREF")
        | ("cha", "READ_NO_CREDITS" | "WRITE_NO_CREDITS" | "DIR_LOOKUP" | "DIR_UPDATE") => {
            return at.cells.agents[usize::from(instance)].home.value(event, subevent);
        }
        _ => {}
    }
    // What is of the unit, and what is of its mesh stop.
    let number = usize::from(instance);
    let cells = &at.cells;
    let own = match unit {
        "cha" => {
            let cells = &cells.agents[number];
            cells.rejects.value(event, subevent).or_else(|| agent_names::value(cells, event, subevent))
        }
        "m2m" => cells.memory_units[number].value(event, subevent),
        // The umask is the number of elements, 0 in Intel's file.
        "imc" if event == "RDB_FULL" => {
            Some(cells.channels[number].more_buffered_than(question.filter("umask").unwrap_or(0)))
        }
        "imc" => cells.channels[number].value(event, subevent),
        "m3upi" => link_names::mesh_side(&cells.links[number], event, subevent),
        "upi" => link_names::link_layer(at, &cells.links[number], question),
        "iio" => stack_names::controller(&cells.stacks[number], event, subevent),
        "irp" => stack_names::coherent_port(&cells.stacks[number], event, subevent),
        "m2pcie" => {
            let links = at.shape.instances("cxlcm");
            let link = (index < links).then(|| &cells.expanders[usize::from(socket * links + index)]);
            let of_link = ExpanderCells::sent_on(link, event, subevent);
            of_link.or_else(|| stack_names::mesh_stop(&cells.stacks[number], event, subevent))
        }
        "cxlcm" | "cxldp" => cells.expanders[number].value(event, subevent),
        "pcu" => cells.power[number].value(event),
        "ubox" => cells.systems[number].value(event, subevent),
        _ => None,
    };
    own.or_else(|| mesh_names::value(at, unit, socket, index, event, subevent))
}
