//! The kernel's way on folders that stand for `/sys`, written by hand from Linux's source, and on a stand-in of the
//! kernel.

mod cores;
mod counting;
mod opening;
mod prepared;
mod stacks;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::rc::Rc;

use super::*;
use crate::linux::{Host, Processor, Root};
use crate::selection::Selection;
use crate::session::Moment;

/// PMU, CPU mask, terms with their formats, events with their texts.
type Files<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a [(&'a str, &'a str)]);

/// arch/x86/events/intel/uncore_snbep.c of Linux 6.1: the formats of an E5-2600's PMUs.
const CBOX: &[(&str, &str)] = &[
    ("event", "config:0-7"),
    ("umask", "config:8-15"),
    ("edge", "config:18"),
    ("tid_en", "config:19"),
    ("inv", "config:23"),
    ("thresh", "config:24-31"),
    ("filter_tid", "config1:0-4"),
    ("filter_nid", "config1:10-17"),
    ("filter_state", "config1:18-22"),
    ("filter_opc", "config1:23-31"),
];
const PLAIN: &[(&str, &str)] = &[
    ("event", "config:0-7"),
    ("umask", "config:8-15"),
    ("edge", "config:18"),
    ("inv", "config:23"),
    ("thresh", "config:24-31"),
];
const QPI: &[(&str, &str)] = &[
    ("event", "config:0-7,21"),
    ("umask", "config:8-15"),
    ("edge", "config:18"),
    ("inv", "config:23"),
    ("thresh", "config:24-31"),
    ("match_opc", "config1:5-8"),
    ("match_mc", "config1:9-12"),
    ("mask_opc", "config2:5-8"),
    ("mask_mc", "config2:9-12"),
];
const PCU: &[(&str, &str)] = &[
    ("event", "config:0-7"),
    ("occ_sel", "config:14-15"),
    ("edge", "config:18"),
    ("inv", "config:23"),
    ("thresh", "config:24-28"),
    ("occ_invert", "config:30"),
    ("occ_edge", "config:14-51"),
    ("filter_band0", "config1:0-7"),
];
const IMC_EVENTS: &[(&str, &str)] = &[
    ("clockticks", "event=0xff,umask=0x00"),
    ("cas_count_read", "event=0x04,umask=0x03"),
    ("cas_count_read.scale", "6.103515625e-5"),
    ("cas_count_read.unit", "MiB"),
];

/// Two sockets of eight slices: CPUs 0 and 8 count.
const E5_2600: &[Files<'_>] = &[
    ("uncore_cbox_0", "0,8", CBOX, &[]),
    ("uncore_cbox_1", "0,8", CBOX, &[]),
    ("uncore_imc_0", "0,8", PLAIN, IMC_EVENTS),
    // Of channels 1 and 2 nothing is to be seen.
    ("uncore_imc_3", "0,8", PLAIN, IMC_EVENTS),
    ("uncore_qpi_0", "0,8", QPI, &[]),
    ("uncore_pcu", "0,8", PCU, &[]),
    ("uncore_ha", "0", PLAIN, &[]),
];

fn put(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A folder with 16 CPUs in two packages and these PMUs, of kinds 40 and on.
fn tree(pmus: &[Files<'_>]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    put(root, "sys/devices/system/cpu/online", "0-15\n");
    for cpu in 0..16 {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id");
        put(root, &path, &format!("{}\n", cpu / 8));
    }
    put(root, "sys/bus/event_source/devices/cpu/type", "4\n");
    put(root, "proc/sys/kernel/perf_event_paranoid", "0\n");
    for (kind, (name, mask, formats, events)) in (40..).zip(pmus) {
        let of = |file: &str| format!("sys/bus/event_source/devices/{name}/{file}");
        put(root, &of("type"), &format!("{kind}\n"));
        put(root, &of("cpumask"), &format!("{mask}\n"));
        formats.iter().for_each(|(term, text)| put(root, &of(&format!("format/{term}")), &format!("{text}\n")));
        events.iter().for_each(|(event, text)| put(root, &of(&format!("events/{event}")), text));
    }
    folder
}

fn pmus(folder: &Path) -> Result<KernelPmus, KernelError> {
    KernelPmus::of(&Host::new(Root::at(folder), Processor::default()).unwrap())
}

fn selection(family: &str, events: &str) -> Selection {
    let mut selection = Selection::new(pericore_catalog::family(family).unwrap());
    selection.add_events(events).unwrap();
    selection
}

fn prepared(folder: &Path, events: &str) -> Result<KernelPlan, KernelError> {
    pmus(folder)?.prepare(selection("e5-2600", events))
}

/// The error of opening a counter with these attributes in the group of a leader, if there is one.
type Refuses = fn(&Attributes, Option<usize>) -> Option<i32>;

/// A kernel that counts as it is told to.
#[derive(Clone, Default)]
struct Stand(Rc<RefCell<Inner>>);

#[derive(Default)]
struct Inner {
    /// Kind, attributes, CPU, and the leader's number, of each counter that was opened.
    opened: Vec<(u32, Attributes, u32, Option<usize>)>,
    /// Counters that are open.
    open: usize,
    /// What is done to leaders, in order.
    log: Vec<String>,
    /// What is added to a leader's reading: enabled and running nanoseconds, and the count of each member.
    rates: BTreeMap<usize, (u64, u64, u64)>,
    held: BTreeMap<usize, GroupReading>,
    /// The error that opening gives, and for which attributes.
    refuses: Option<Refuses>,
    /// Leaders whose reading ends at once.
    gone: Vec<usize>,
    /// The error of every reading.
    unreadable: Option<i32>,
    /// What is refused of what is done to leaders.
    refused: Vec<String>,
}

impl Inner {
    fn done(&mut self, what: String) -> io::Result<()> {
        let is_refused = self.refused.contains(&what);
        self.log.push(what);
        if is_refused { Err(io::Error::from_raw_os_error(libc::EIO)) } else { Ok(()) }
    }
}

struct Handle(usize, Rc<RefCell<Inner>>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.1.borrow_mut().open -= 1;
    }
}

impl PerfEvents for Stand {
    type Counter = Handle;

    fn open(&mut self, kind: u32, attributes: Attributes, cpu: u32, leader: Option<&Handle>) -> io::Result<Handle> {
        let mut inner = self.0.borrow_mut();
        let leader = leader.map(|leader| leader.0);
        if let Some(error) = inner.refuses.and_then(|refuses| refuses(&attributes, leader)) {
            return Err(io::Error::from_raw_os_error(error));
        }
        inner.opened.push((kind, attributes, cpu, leader));
        inner.open += 1;
        Ok(Handle(inner.opened.len() - 1, self.0.clone()))
    }

    fn start(&mut self, leader: &Handle) -> io::Result<()> {
        self.0.borrow_mut().done(format!("start {}", leader.0))
    }

    fn stop(&mut self, leader: &Handle) -> io::Result<()> {
        self.0.borrow_mut().done(format!("stop {}", leader.0))
    }

    fn read(&mut self, leader: &Handle, counters: usize) -> io::Result<Option<GroupReading>> {
        let mut inner = self.0.borrow_mut();
        inner.log.push(format!("read {}", leader.0));
        if let Some(error) = inner.unreadable {
            return Err(io::Error::from_raw_os_error(error));
        }
        if inner.gone.contains(&leader.0) {
            return Ok(None);
        }
        let (enabled, running, count) = inner.rates.get(&leader.0).copied().unwrap_or_default();
        let held = inner.held.entry(leader.0).or_default();
        held.counts.resize(counters, 0);
        held.enabled += enabled;
        held.running += running;
        (1..).zip(&mut held.counts).for_each(|(member, held)| *held += member * count);
        Ok(Some(held.clone()))
    }
}

fn at(seconds: f64) -> impl Fn() -> Moment {
    move || Moment { seconds, tsc: 0 }
}
