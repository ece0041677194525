//! Each kind of fact matters: one that is lost, doubled or wrong on its way to one of the readers shows as a difference
//! between counts and truth, and one that is lost to both breaks a law.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use pericore_engine::Tick;
use pericore_facts::nehalem::{
    Class, Kind, NehalemFact, NehalemReader, Port, ProbeRecord, Record, Reply, SnoopStation, Source, Station, Use,
};
use pericore_facts::{Command, FactReader};
use pericore_hardware::signal::{Wire, Wiring};
use pericore_parts::work::Worker;
use pericore_truth::nehalem::{Ledger, Snapshot};

use super::super::{Nehalem, opcodes, shape};
use super::laws::{broken, standard};
use super::truth::{Case, by_wire, cases};
use super::{WORKLOADS, model};
use crate::signals::nehalem::NehalemSignals;
use crate::uncore::tests::recorder::{Emission, Recorder};

/// A fact that outlives what it is about.
#[derive(Clone)]
enum Kept {
    Request(Station, Record),
    Snoop(SnoopStation, ProbeRecord),
    Other(NehalemFact<'static>),
}

impl Kept {
    fn of(fact: NehalemFact<'_>) -> Self {
        Self::Other(match fact {
            NehalemFact::Request(station, record) => return Self::Request(station, record.clone()),
            NehalemFact::Snoop(station, record) => return Self::Snoop(station, record.clone()),
            NehalemFact::Begins(socket, what) => NehalemFact::Begins(socket, what),
            NehalemFact::Ends(socket, what, since) => NehalemFact::Ends(socket, what, since),
            NehalemFact::Reply { home, source, reply, line } => NehalemFact::Reply { home, source, reply, line },
            NehalemFact::Met { home, requests } => NehalemFact::Met { home, requests },
            NehalemFact::Written { home, channel, since, isochronous } => {
                NehalemFact::Written { home, channel, since, isochronous }
            }
            NehalemFact::Command { home, channel, record } => NehalemFact::Command { home, channel, record },
            NehalemFact::Forwarded { home, channel } => NehalemFact::Forwarded { home, channel },
            NehalemFact::Merged { home, channel } => NehalemFact::Merged { home, channel },
        })
    }

    fn fact(&self) -> NehalemFact<'_> {
        match self {
            Self::Request(station, record) => NehalemFact::Request(*station, record),
            Self::Snoop(station, record) => NehalemFact::Snoop(*station, record),
            Self::Other(fact) => *fact,
        }
    }

    /// What it is one of: all that a reader can distinguish, but for sockets, lines and times.
    fn class(&self) -> String {
        match self {
            Self::Request(station, record) => {
                let Record { kind, source, channel, hit, .. } = record;
                match station {
                    Station::LookedUp | Station::Replied => format!("{station:?} {kind:?} hit={hit}"),
                    Station::AtMemory | Station::Served | Station::Hurried | Station::Cancelled => {
                        format!("{station:?} {kind:?} {channel} isochronous={}", record.isochronous_write)
                    }
                    Station::Filled => format!("{station:?} {:?}", record.filled),
                    _ => format!("{station:?} {kind:?} {source:?}"),
                }
            }
            Self::Snoop(station, record) => {
                let ProbeRecord { local, hit, reply, link, .. } = record;
                match station {
                    SnoopStation::LookedUp => format!("snoop {station:?} hit={hit}"),
                    SnoopStation::Replied => format!("snoop {station:?} {reply:?} local={local}"),
                    _ => format!("snoop {station:?} {link:?}"),
                }
            }
            Self::Other(fact) => match fact {
                NehalemFact::Begins(_, what) => format!("begins {what:?}"),
                NehalemFact::Ends(_, what, _) => format!("ends {what:?}"),
                NehalemFact::Reply { source, reply, .. } => format!("reply {source:?} {reply:?}"),
                NehalemFact::Met { requests, .. } => format!("met {}", 2.max(*requests).min(3)),
                NehalemFact::Written { channel, isochronous, .. } => {
                    format!("written {channel} isochronous={isochronous}")
                }
                NehalemFact::Command { channel, record, .. } => {
                    format!("command {channel} {:?} closes={}", record.command, record.closes)
                }
                NehalemFact::Forwarded { channel, .. } => format!("forwarded {channel}"),
                NehalemFact::Merged { channel, .. } => format!("merged {channel}"),
                NehalemFact::Request(..) | NehalemFact::Snoop(..) => unreachable!("kept with its record"),
            },
        }
    }

    /// The same of the other socket.
    fn moved(&self) -> Self {
        let mut fact = self.clone();
        match &mut fact {
            Self::Request(_, record) => (record.socket, record.home) = (1 - record.socket, 1 - record.home),
            Self::Snoop(_, record) => record.socket = 1 - record.socket,
            Self::Other(
                NehalemFact::Begins(at, _)
                | NehalemFact::Ends(at, ..)
                | NehalemFact::Reply { home: at, .. }
                | NehalemFact::Met { home: at, .. }
                | NehalemFact::Written { home: at, .. }
                | NehalemFact::Command { home: at, .. }
                | NehalemFact::Forwarded { home: at, .. }
                | NehalemFact::Merged { home: at, .. },
            ) => *at = 1 - *at,
            Self::Other(_) => unreachable!("kept with its record"),
        }
        fact
    }

    /// The same of another kind; `None` if a reader distinguishes none.
    fn mistagged(&self) -> Option<Self> {
        let mut fact = self.clone();
        match &mut fact {
            Self::Request(station, record) => match station {
                Station::Queued | Station::Left | Station::Numbered => {
                    let read = matches!(record.kind, Kind::Read | Kind::Own);
                    record.kind = if read { Kind::WriteBack } else { Kind::Read };
                }
                Station::LookedUp | Station::Replied => record.hit = !record.hit,
                Station::AtHome | Station::LeftHome => record.source = other_source(record.source),
                Station::AtMemory | Station::Served | Station::Hurried | Station::Cancelled => {
                    record.channel = (record.channel + 1) % 3;
                }
                Station::Filled => record.filled = record.filled.map(|(into, out)| (out, into)).filter(|(a, b)| a != b),
                Station::Bypassed | Station::Acknowledged => return None,
                Station::Ended => {
                    (record.source, record.hit) = (other_source(record.source), !record.hit);
                    record.channel = (record.channel + 1) % 3;
                }
            },
            Self::Snoop(station, record) => match station {
                SnoopStation::LookedUp => record.hit = !record.hit,
                SnoopStation::Replied | SnoopStation::Ended => record.reply = record.reply.map(other_reply),
                SnoopStation::Waits => record.link = record.link.map(|link| 1 - link),
                SnoopStation::Queued | SnoopStation::Left => return None,
            },
            Self::Other(NehalemFact::Begins(_, what) | NehalemFact::Ends(_, what, _)) => *what = other_use(*what),
            Self::Other(NehalemFact::Reply { source, .. }) => *source = other_source(*source),
            Self::Other(NehalemFact::Met { requests, .. }) => *requests = if *requests > 2 { 2 } else { 3 },
            Self::Other(
                NehalemFact::Written { channel, .. }
                | NehalemFact::Command { channel, .. }
                | NehalemFact::Forwarded { channel, .. }
                | NehalemFact::Merged { channel, .. },
            ) => *channel = (*channel + 1) % 3,
            Self::Other(_) => unreachable!("kept with its record"),
        }
        Some(fact)
    }

    /// True if the reader of signals makes something of it.
    fn is_signal(&self) -> bool {
        match self {
            Self::Request(Station::Ended, _) | Self::Snoop(SnoopStation::Ended, _) => false,
            Self::Snoop(SnoopStation::Waits, record) => record.link.is_some(),
            // The match register selects what passes a line on or writes it back.
            Self::Other(NehalemFact::Reply { reply, .. }) => {
                !matches!(reply, Reply::Gone | Reply::Shared | Reply::Conflict)
            }
            Self::Other(NehalemFact::Forwarded { .. } | NehalemFact::Merged { .. }) => false,
            _ => true,
        }
    }

    /// True if the truth makes something of it. What a record has when it ends is taken then.
    fn is_truth(&self) -> bool {
        match self {
            Self::Request(station, _) => matches!(
                station,
                Station::Queued
                    | Station::Left
                    | Station::AtHome
                    | Station::LeftHome
                    | Station::AtMemory
                    | Station::Served
                    | Station::Ended
            ),
            Self::Snoop(station, _) => !matches!(station, SnoopStation::LookedUp | SnoopStation::Replied),
            Self::Other(NehalemFact::Begins(_, what)) => matches!(what, Use::Contest(_) | Use::NoCredit(..)),
            Self::Other(NehalemFact::Reply { .. }) => self.is_signal(),
            Self::Other(_) => true,
        }
    }

    /// True if it need not show to a counter: of a tracker's requests in conflict the event counts two or more.
    fn is_beyond_counters(&self) -> bool {
        matches!(self, Self::Other(NehalemFact::Begins(_, Use::Contest(_)) | NehalemFact::Ends(_, Use::Contest(_), _)))
    }

    /// True if nobody reads it: a reply that no event counts at the home.
    fn is_unread(&self) -> bool {
        matches!(self, Self::Other(NehalemFact::Reply { .. })) && !self.is_signal()
    }

    /// True if no law notices yet that it is lost to both readers. Of refreshes the standard lets eight be postponed.
    fn is_beyond_laws(&self) -> bool {
        match self {
            Self::Other(NehalemFact::Command { record, .. }) => {
                matches!(record.command, Command::RefreshIdle | Command::RefreshForced)
            }
            Self::Other(fact) => matches!(fact, NehalemFact::Met { .. }),
            _ => false,
        }
    }
}

const fn other_source(source: Source) -> Source {
    if matches!(source, Source::Local) { Source::Remote } else { Source::Local }
}

const fn other_reply(reply: Reply) -> Reply {
    if matches!(reply, Reply::Gone) { Reply::Shared } else { Reply::Gone }
}

const fn other_use(what: Use) -> Use {
    match what {
        Use::Contest(source) => Use::Contest(other_source(source)),
        Use::Port(Port::ToCores) => Use::Port(Port::ToLlc),
        Use::Port(_) => Use::Port(Port::ToCores),
        Use::Link(link) => Use::Link(1 - link),
        // One of the other kind: of one flit, or of several.
        Use::NoCredit(link, class) => {
            Use::NoCredit(link, if class.flits() > 1 { Class::Response } else { Class::Data })
        }
    }
}

/// Keeps all facts.
#[derive(Default)]
struct Keeping(Vec<(Tick, Kept)>);

impl FactReader<NehalemFact<'_>> for Keeping {
    fn read(&mut self, at: Tick, fact: NehalemFact<'_>) {
        self.0.push((at, Kept::of(fact)));
    }
}

/// A run, as facts.
struct Run {
    facts: Vec<(Tick, Kept)>,
    end: Tick,
    sockets: usize,
    wiring: Wiring,
    machine: Nehalem,
}

impl Run {
    fn of(workload: &str) -> Self {
        let (mut machine, wiring) = model(workload);
        let mut kept = Keeping::default();
        while !machine.finished() {
            let until = machine.now() + 100_000;
            machine.model.run_until(until, &mut kept);
        }
        Self { facts: kept.0, end: machine.now(), sockets: machine.sockets(), wiring, machine }
    }

    /// The truth of the facts, one of which is replaced.
    fn truth(&self, at: usize, by: &[&Kept]) -> Ledger {
        let parameters = self.machine.model.parameters();
        let mut truth = Ledger::new(parameters.clocks(), opcodes(&self.wiring).unwrap(), shape(parameters));
        self.read(at, by, &mut truth);
        truth
    }

    /// True if commands, without the fact of a place, break the standard of the memory.
    fn breaks_the_standard(&self, without: usize) -> bool {
        let parameters = self.machine.model.parameters();
        let mut truth = Ledger::new(parameters.clocks(), opcodes(&self.wiring).unwrap(), shape(parameters));
        truth.keep_commands();
        self.read(without, &[], &mut truth);
        catch_unwind(AssertUnwindSafe(|| standard(&truth, self.sockets))).is_err()
    }

    /// Signals of the facts, one of which is replaced.
    fn signals(&mut self, at: usize, by: &[&Kept]) -> Recorder {
        let mut signals = NehalemSignals::bind(&mut self.wiring, self.machine.model.parameters()).unwrap();
        let mut recorder = Recorder::default();
        self.read(at, by, &mut signals.reader(&mut recorder));
        recorder
    }

    fn read(&self, at: usize, by: &[&Kept], reader: &mut impl NehalemReader) {
        self.facts[..at].iter().for_each(|(tick, kept)| reader.read(*tick, kept.fact()));
        by.iter().for_each(|kept| reader.read(self.facts[at].0, kept.fact()));
        self.facts[at + 1..].iter().for_each(|(tick, kept)| reader.read(*tick, kept.fact()));
    }
}

/// What the readers make of a run.
struct Reading {
    emissions: ByWire,
    truth: Snapshot,
    /// Wires whose emissions are not as they were.
    changed: HashSet<Wire>,
}

impl Reading {
    /// Other emissions than before.
    fn emits(&mut self, emissions: ByWire, before: &Self) {
        let wires = emissions.keys().chain(before.emissions.keys());
        self.changed = wires.filter(|wire| emissions.get(wire) != before.emissions.get(wire)).copied().collect();
        self.emissions = emissions;
    }

    /// True if some count is not its truth, where `self` or its truth is not as it was.
    fn shows(&self, cases: &[Case], before: &Self) -> bool {
        let none = Vec::new();
        cases.iter().any(|case| {
            case.wires.iter().enumerate().any(|(socket, wire)| {
                let emissions = self.emissions.get(wire).unwrap_or(&none);
                if !self.changed.contains(wire) {
                    return case.truth(socket, &self.truth) != case.truth(socket, &before.truth);
                }
                case.differs(emissions, socket, std::slice::from_ref(&self.truth)).is_some()
            })
        })
    }
}

type ByWire = HashMap<Wire, Vec<Emission>>;

#[test]
fn every_fact_that_one_reader_loses_doubles_or_mistakes_shows() {
    let mut seen = BTreeMap::<String, &str>::new();
    for workload in WORKLOADS.iter().filter(|workload| workload.starts_with("2 ")) {
        let mut run = Run::of(workload);
        let mut classes = BTreeMap::<String, Vec<usize>>::new();
        for (index, (_, kept)) in run.facts.iter().enumerate() {
            classes.entry(kept.class()).or_default().push(index);
        }
        classes.retain(|class, _| seen.insert(class.clone(), workload).is_none());
        let cases = cases(&mut run.wiring);
        let unharmed = run.facts.len() - 1;
        let last = run.facts[unharmed].1.clone();
        let mut now = Reading {
            emissions: by_wire(&run.signals(unharmed, &[&last])),
            truth: run.truth(unharmed, &[&last]).so_far().at(run.end),
            changed: HashSet::new(),
        };
        assert_eq!(broken(&now.truth, run.sockets), [""; 0], "{workload}");
        let before = Reading { emissions: now.emissions.clone(), truth: now.truth.clone(), changed: HashSet::new() };
        now.changed = now.emissions.keys().copied().collect();
        assert!(!now.shows(&cases, &before), "{workload}: unharmed, signals and truth differ");
        for (class, members) in classes {
            let index = members[members.len() / 2];
            let kept = run.facts[index].1.clone();
            let (moved, mistagged) = (kept.moved(), kept.mistagged());
            let mut harms = vec![("doubling", vec![&kept, &kept]), ("moving", vec![&moved])];
            harms.extend(mistagged.as_ref().map(|other| ("mistaking", vec![other])));
            harms.push(("dropping", vec![]));
            assert!(kept.is_signal() || kept.is_truth() || kept.is_unread(), "{workload}: nobody reads {class}");
            for (harm, by) in harms {
                let truth = run.truth(index, &by).so_far().at(run.end);
                now.truth.clone_from(&before.truth);
                now.emits(by_wire(&run.signals(index, &by)), &before);
                let notices = now.shows(&cases, &before);
                let is_seen = kept.is_signal() && (notices || !kept.is_beyond_counters());
                assert_eq!(notices, is_seen, "{workload}: {harm} {class} on its way to the signals");
                let broken = !broken(&truth, run.sockets).is_empty();
                now.truth = truth;
                if harm == "dropping" && !kept.is_beyond_laws() && !kept.is_unread() {
                    let notices = broken || now.shows(&cases, &before) || run.breaks_the_standard(index);
                    assert!(notices, "{workload}: no law notices that {class} is lost to both readers");
                }
                now.changed.clear();
                let notices = broken || now.shows(&cases, &before);
                assert_eq!(notices, kept.is_truth(), "{workload}: {harm} {class} on its way to the truth");
            }
        }
    }
    assert!(seen.len() >= 240, "{}: {seen:?}", seen.len());
}
