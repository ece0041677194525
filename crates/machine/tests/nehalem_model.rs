//! `docs/nehalem-model.md` tells of every event of Nehalem whether the model counts it, or why not.
//!
//! `PERICORE_WRITE_TABLES=1 cargo test -p pericore-machine --test all nehalem_model` writes it anew.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use pericore_catalog::{Event, Family, Subevent};
use pericore_machine::signal::Wiring;

/// Why a subevent does not count: the beginning of its event's name, a part of its own, and the reason.
const REASONS: &[(&str, &str, &str)] = &[
    ("QPI_TX_STALLED_SINGLE_FLIT", "HOME_LINK_1", "the I/O hub is nobody's home: nothing of this class goes to it"),
    ("QPI_TX_STALLED_SINGLE_FLIT", "SNOOP_LINK_1", "the I/O hub keeps no lines: it is not snooped"),
    ("QPI_TX_STALLED_MULTI_FLIT", "NCS_LINK_0", "cores speak to devices behind their own socket's link only"),
];

fn family() -> &'static Family {
    pericore_catalog::family("nehalem").expect("the family is in the catalogue")
}

/// An event's subevents by name, or the event itself.
fn rows(event: &'static Event) -> Vec<(&'static str, Option<&'static Subevent>)> {
    match event.subevents {
        [] => vec![("", None)],
        subevents => subevents.iter().map(|subevent| (subevent.name, Some(subevent))).collect(),
    }
}

fn reason(event: &str, subevent: &str) -> Option<&'static str> {
    REASONS.iter().find(|(e, s, _)| event.starts_with(e) && subevent.contains(s)).map(|(.., reason)| *reason)
}

/// The document, and of how many rows how many are modelled.
fn document(wiring: &Wiring) -> (String, usize, usize) {
    let (mut table, mut all, mut modelled) = (String::new(), 0, 0);
    for event in family().units[0].events {
        let (mut counted, mut left) = (Vec::new(), Vec::<(&str, Vec<&str>)>::new());
        for (subevent, row) in rows(event) {
            all += 1;
            if wiring.is_modelled(0, event, row) {
                modelled += 1;
                counted.push(subevent);
                continue;
            }
            let reason = reason(event.name, subevent)
                .unwrap_or_else(|| panic!("{}.{subevent} does not count: write the reason into REASONS", event.name));
            match left.iter_mut().find(|(r, _)| *r == reason) {
                Some((_, subevents)) => subevents.push(subevent),
                None => left.push((reason, vec![subevent])),
            }
        }
        let named = |subevents: &[&str]| if subevents == [""] { "yes".to_owned() } else { subevents.join(" ") };
        let left: Vec<String> =
            left.iter().map(|(reason, subevents)| format!("{}: {reason}", named(subevents))).collect();
        let _ = writeln!(table, "| {} | {} | {} |", event.name, named(&counted), left.join("; "));
    }
    let text = format!(
        "# What the Nehalem model counts\n\n\
         {modelled} of {all} events and subevents, {:.1} %: each counts in one of the workloads of \
         `crates/machine/src/nehalem/tests`, where its count\nequals the ledger's and every emission that is lost or \
         doubled is noticed. Written by `PERICORE_WRITE_TABLES=1 cargo test -p pericore-machine --test\nnehalem_model`, which else checks \
         that it is current. Sharing between sockets needs `:sockets=2` and `remote=`; devices need `dma-read` or `dma-write`,\n\
         isochronous ones `isoc=`.\n\n\
         | event | counts | does not count |\n|---|---|---|\n{table}",
        modelled as f64 * 100.0 / all as f64,
    );
    (text, modelled, all)
}

#[test]
fn the_document_is_current_and_the_share_holds() {
    let wiring = pericore_machine::modelled(family()).expect("the family has a model");
    let (text, modelled, all) = document(&wiring);
    assert!(modelled * 100 >= all * 98, "{modelled} of {all}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/nehalem-model.md");
    if env::var_os("PERICORE_WRITE_TABLES").is_some() {
        fs::write(&path, &text).expect("docs can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/nehalem-model.md is not current: PERICORE_WRITE_TABLES=1 writes it anew");
}

#[test]
fn a_reason_is_given_only_for_what_does_not_count() {
    let wiring = pericore_machine::modelled(family()).expect("the family has a model");
    for event in family().units[0].events {
        for (subevent, row) in rows(event) {
            let counts = wiring.is_modelled(0, event, row);
            assert!(!counts || reason(event.name, subevent).is_none(), "{}.{subevent} counts", event.name);
        }
    }
}
