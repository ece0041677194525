//! Counts of a family without registers, from a kernel that counts as it is told to.

use std::collections::BTreeMap;
use std::io;

use pericore_metrics::Grade;
use pericore_observe::kernel::{Attributes, GroupReading, KernelCounters, KernelPmus, PerfEvents};
use pericore_observe::linux::Root;
use pericore_observe::run::Backend;
use pericore_observe::session::Moment;

use super::{families_without_registers, host, selection};

const SECOND: u64 = 1_000_000_000;

/// A kernel: in each second a counter counts its PMU's instance, 100 of its CPU, and 1000 of its event's code.
struct Kernel {
    instances: BTreeMap<u32, (String, usize)>,
    /// PMUs whose counters others use for three quarters of the time.
    shared: &'static str,
    opened: Vec<(u64, Option<usize>, bool)>,
}

impl PerfEvents for Kernel {
    type Counter = usize;

    fn open(&mut self, kind: u32, attributes: Attributes, cpu: u32, leader: Option<&usize>) -> io::Result<usize> {
        let (pmu, instance) = &self.instances[&kind];
        let code = attributes.words[0] & 0xff;
        let count = *instance as u64 + 100 * u64::from(cpu) + 1000 * code;
        self.opened.push((count, leader.copied(), pmu == self.shared));
        Ok(self.opened.len() - 1)
    }

    fn start(&mut self, _: &usize) -> io::Result<()> {
        Ok(())
    }

    fn stop(&mut self, _: &usize) -> io::Result<()> {
        Ok(())
    }

    fn read(&mut self, leader: &usize, counters: usize) -> io::Result<Option<GroupReading>> {
        let (own, _, is_shared) = self.opened[*leader];
        let members = self.opened.iter().filter(|(_, of, _)| *of == Some(*leader)).map(|(count, ..)| *count);
        let counts: Vec<u64> = std::iter::once(own).chain(members).collect();
        assert_eq!(counts.len(), counters);
        let running = if is_shared { SECOND / 4 } else { SECOND };
        Ok(Some(GroupReading { enabled: SECOND, running, counts }))
    }
}

/// A count's event, socket, instance, number and grade.
type Seen = (usize, u16, u16, Option<u64>, Grade);

/// Runs `events` for a second on Ice Lake with two sockets; how many rounds there are, and the counts.
fn counted(events: &str, shared: &'static str) -> (usize, Vec<Seen>) {
    let family = families_without_registers().into_iter().find(|family| family.code == "icx").expect("Ice Lake");
    let folder = tempfile::tempdir().expect("a folder");
    let instances = family.write_machine(folder.path());
    let host = host(folder.path(), &family);
    let plan = KernelPmus::of(&host).expect("PMUs").prepare(selection(&host, events)).expect("a plan");
    let kernel = Kernel { instances, shared, opened: Vec::new() };
    let at = |seconds: f64| move || Moment { seconds, tsc: 0 };
    let mut counters = KernelCounters::start_with(kernel, &Root::at(folder.path()), plan, at(0.0)).expect("it counts");
    let rounds = counters.plan().rounds();
    let sample = counters.sample(&at(1.0));
    let seen = sample.counts.iter().map(|c| (c.event, c.socket, c.instance, c.count, c.validity.grade()));
    (rounds, seen.collect())
}

/// Four counters of a channel, its fixed counter and the free-running one of its controller count at once; a group is
/// read as one.
#[test]
fn fixed_and_free_running_counters_cost_no_other() {
    // Codes of Intel's file: CAS_COUNT 4, ACT_COUNT 1, PRE_COUNT 2, CLOCKTICKS 0 on programmable counters.
    let events = "{imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/},imc/ACT_COUNT.ALL/,imc/CLOCKTICKS/,imc/HCLOCKTICKS/,\
                  imc_free_running/CLOCKTICKS_FREERUN/";
    let (rounds, counts) = counted(events, "");
    assert_eq!(rounds, 1);
    let codes = [4, 4, 1, 0, 0xff, 0xff];
    for (event, socket, instance, count, grade) in &counts {
        let expected = u64::from(*instance) + 100 * u64::from(*socket) + 1000 * codes[*event];
        assert_eq!((*count, *grade), (Some(expected), Grade::Measured), "{event} {socket} {instance}");
    }
    assert_eq!(counts.len(), 2 * (12 * 5 + 4));
}

/// Five events of channels with four counters take turns: one round has numbers, which stand for the whole.
#[test]
fn what_does_not_fit_takes_turns() {
    let events = "imc/event=0x11/,imc/event=0x12/,imc/event=0x13/,imc/event=0x14/,imc/event=0x15/";
    let (rounds, counts) = counted(events, "");
    assert_eq!(rounds, 2);
    let (with, without): (Vec<&Seen>, Vec<&Seen>) = counts.iter().partition(|(.., count, _)| count.is_some());
    assert!(without.iter().all(|(.., grade)| *grade == Grade::NotDefined) && !without.is_empty());
    assert!(with.iter().all(|(.., grade)| *grade != Grade::NotDefined) && !with.is_empty());
}

/// A quarter of the time on a counter: a count stands for four times as many.
#[test]
fn what_others_share_is_scaled() {
    let (_, counts) = counted("upi/CLOCKTICKS/,m2m/CLOCKTICKS/", "uncore_upi");
    let of_upi: Vec<_> = counts.iter().filter(|(event, ..)| *event == 0).collect();
    assert_eq!(of_upi.len(), 6);
    for (_, socket, instance, count, grade) in of_upi {
        // CLOCKTICKS of the links is event 1.
        let expected = 4 * (u64::from(*instance) + 100 * u64::from(*socket) + 1000);
        assert_eq!((*count, *grade), (Some(expected), Grade::Scaled));
    }
    assert!(counts.iter().filter(|(event, ..)| *event == 1).all(|(.., grade)| *grade == Grade::Measured));
}
