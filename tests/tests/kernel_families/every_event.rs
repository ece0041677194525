//! Every event of the three catalogues both ways: what our own way writes into a counter's control and filter registers
//! equals what the kernel's driver writes there, or the kernel's way refuses the event by name.
//!
//! The driver is a table of masks, by hand from Linux 6.12: `uncore_pmu_event_init` takes of `config` what
//! `event_mask` and `event_mask_ext` of the PMU's type let through, and a type's `hw_config` what it takes of `config1`
//! and `config2`. What a control register must hold for the event is also in the event texts (`Row::control`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use pericore_catalog::kernel;
use pericore_machine::chassis::{Chassis, Rules, Shape, Variant};
use pericore_machine::signal::Wiring;
use pericore_observe::discover::{Cpu, Topology, discover};
use pericore_observe::kernel::KernelPmus;
use pericore_observe::linux::{Host, Processor, Root};
use pericore_observe::plan::{Occupied, Plan, Purpose};
use pericore_observe::selection::Selection;
use pericore_tests::pmon::raw::CYCLE;
use pericore_tests::session::requests::{Request, requests};

use super::host;
use crate::perf_attributes::pmus;

/// What is refused, and how many events are alike: a new refusal is looked at, then written there.
const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/logs/kernel/every_event.log");

/// Enable, which the driver sets itself (SNBEP_PMON_CTL_EN; NHM_UNC's 1 << 22) where a family needs it.
const ENABLE: u64 = 1 << 22;

/// An event of counter 0 whose occupancy is counted again: RxR_OCCUPANCY.IRQ, and RxC_OCCUPANCY.IRQ.
const COUNTER_0: &str = "event=0x11,umask=0x1";

/// Event select, umask, edge, invert and threshold: SNBEP_PMON_RAW_EVENT_MASK, and Nehalem's NHM_UNC_RAW_EVENT_MASK.
const PLAIN: u64 = 0xff84_ffff;

/// `event_mask`, with `event_mask_ext` above it, of the PMU's type.
fn event_mask(family: &str, pmu: &str) -> u64 {
    match (family, pmu) {
        // SNBEP_PMON_CTL_TID_EN
        ("e5-2600", "uncore_cbox") => PLAIN | 1 << 19,
        // The threshold has five bits.
        ("e5-2600", "uncore_ubox") => 0x1f84_ffff,
        // SNBEP_PCU_MSR_PMON_RAW_EVENT_MASK: no umask; occ_sel, occ_invert, occ_edge.
        ("e5-2600", "uncore_pcu") => 0xdf84_c0ff,
        // SNBEP_PMON_CTL_EV_SEL_EXT
        ("e5-2600", "uncore_qpi") => PLAIN | 1 << 21,
        // SPR_CHA_PMON_EVENT_MASK, SPR_CHA_EVENT_MASK_EXT
        ("emerald-rapids", "uncore_cha") => PLAIN | 1 << 16 | 0xffff_ffff << 32,
        // SNR_IIO_PMON_RAW_EVENT_MASK_EXT: ch_mask and fc_mask; the threshold has twelve bits.
        ("emerald-rapids", "uncore_iio") => PLAIN | 0x7_ffff << 32,
        // Types that the driver only knows from the discovery table: GENERIC_PMON_RAW_EVENT_MASK.
        ("emerald-rapids", "uncore_pcu" | "uncore_type_5") => PLAIN,
        // SPR_RAW_EVENT_MASK_EXT
        ("emerald-rapids", _) => PLAIN | 0xff_ffff << 32,
        _ => PLAIN,
    }
}

/// snbep_uncore_cbox_extra_regs: events and the fields of the filter that they take: 1 tid, 2 nid, 4 state, 8 opc.
const CBOX: [(u64, u64); 22] = [
    (0x0334, 4),
    (0x4334, 6),
    (0x0534, 4),
    (0x4534, 6),
    (0x0934, 4),
    (0x4934, 6),
    (0x4134, 6),
    (0x0135, 8),
    (0x0335, 8),
    (0x4135, 10),
    (0x4335, 10),
    (0x4435, 2),
    (0x4835, 2),
    (0x4a35, 2),
    (0x5035, 2),
    (0x0136, 8),
    (0x0336, 8),
    (0x4136, 10),
    (0x4336, 10),
    (0x4436, 2),
    (0x4836, 2),
    (0x4a36, 2),
];

/// What the driver takes of `config1` and `config2` for an event: `hw_config` of the PMU's type.
fn filter_masks(family: &str, pmu: &str, config: u64) -> [u64; 2] {
    let if_so = |is: bool, mask: u64| if is { mask } else { 0 };
    match (family, pmu) {
        ("e5-2600", "uncore_cbox") => {
            let victims = (config & 0xffff == 0x4037, 2);
            let listed = CBOX.iter().map(|&(event, fields)| (config & 0xffff == event, fields));
            let thread = (config & 1 << 19 != 0, 1);
            let fields = listed.chain([victims, thread]).fold(0, |all, (is, fields)| all | if_so(is, fields));
            let masks = [(1, 0x1f), (2, 0x3_fc00), (4, 0x7c_0000), (8, 0xff80_0000)];
            [masks.iter().fold(0, |all, &(field, mask)| all | if_so(fields & field != 0, mask)), 0]
        }
        // snbep_pcu_hw_config: each band event has a byte.
        ("e5-2600", "uncore_pcu") => match config & 0xff {
            event @ 0x0b..=0x0e => [0xff << (8 * (event - 0x0b)), 0],
            _ => [0, 0],
        },
        ("e5-2600", "uncore_qpi") if config & 0xff == 0x38 => [u64::MAX, u64::MAX],
        // spr_cha_hw_config
        ("emerald-rapids", "uncore_cha") => [if_so(config & 1 << 16 != 0, 0x3ff), 0],
        _ => [0, 0],
    }
}

/// A control register and the filters beside it, by offset of the filter: the driver's `config1`, then `config2`.
#[derive(Debug, PartialEq, Eq)]
struct Registers {
    control: u64,
    filters: [u64; 2],
}

/// The machine's units, as our own way finds them.
fn topology(family: &str) -> Topology {
    let family = pericore_catalog::family(family).expect("the family is in the catalogue");
    let shape = Shape::new(family, 1, 8, 2).expect("a machine of that size");
    let cpus: Vec<Cpu> =
        (0..shape.cpus()).map(|number| Cpu { number, package: shape.socket_of_cpu(number).expect("a CPU") }).collect();
    let variant = Variant { rules: Rules::default(), ..Variant::default() };
    let chassis = Chassis::new(shape, Wiring::new(family, 1), |_| CYCLE).with_variant(&variant);
    discover(&mut chassis.expect("no block is named"), family, &cpus, |_| true).expect("the uncore is found")
}

/// What our own way writes for an event: an enable bit is left out.
fn own(topology: &Topology, text: &str) -> Registers {
    let mut selection = Selection::new(topology.family);
    selection.add_events(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let wanted = selection.listed.last().expect("listed").event;
    let plan =
        Plan::beside(topology, selection, &Occupied::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let part = &plan.sockets[0];
    let serves = |used: &&pericore_observe::plan::CounterUse| used.events.contains(&wanted);
    let used = part.instances.iter().flat_map(|instance| &instance.counters).find(serves).expect("it is counted");
    let control = used.control.expect("a programmable counter").1 & !ENABLE;
    let mut filters = [0; 2];
    for step in part.setup.iter().filter(|step| step.purpose == Purpose::Filter) {
        let pericore_registers::Operation::Write { value, .. } = step.operation else { continue };
        let value = value & !step.keeps;
        match step.register_name().as_str() {
            "match1" => filters[0] |= value << 32,
            "mask0" => filters[1] |= value,
            "mask1" => filters[1] |= value << 32,
            // `filter`, `match0`; and filters that the driver has no word for, so that it must refuse the event.
            _ => filters[0] |= value,
        }
    }
    Registers { control, filters }
}

/// What the driver writes for an event, or why the kernel's way refuses it.
fn driver(host: &Host, pmus: &KernelPmus, text: &str) -> Result<Registers, String> {
    let family = host.family().expect("a known processor");
    let mut selection = Selection::new(family);
    selection.add_events(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let wanted = selection.listed.last().expect("listed").event;
    let plan = pmus.prepare(selection).map_err(|error| error.to_string())?;
    let serves = |counter: &&pericore_observe::kernel::KernelCounter| {
        plan.plan.sockets[counter.socket].instances[counter.instance].counters[counter.counter].events.contains(&wanted)
    };
    let counter = plan.counters.iter().find(serves).expect("it is counted");
    let [config, config1, config2, _] = counter.event.attributes.words;
    let stem = counter.pmu.rsplit_once('_').filter(|(_, last)| last.bytes().all(|byte| byte.is_ascii_digit()));
    let stem = stem.map_or(counter.pmu.as_str(), |(stem, _)| stem);
    let masks = filter_masks(family.name, stem, config);
    let control = config & event_mask(family.name, stem);
    Ok(Registers { control, filters: [config1 & masks[0], config2 & masks[1]] })
}

/// Nehalem's PMU as `nhm_uncore_format_group` has it: perf has no names for its events, and so the other facts lack it.
fn nehalem(root: &Path) -> Host {
    let file = |path: &str, text: &str| {
        let path = root.join("sys").join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, format!("{text}\n")).expect("written");
    };
    file("devices/system/cpu/online", "0");
    file("devices/system/cpu/cpu0/topology/physical_package_id", "0");
    let formats = [
        ("event", "config:0-7"),
        ("umask", "config:8-15"),
        ("edge", "config:18"),
        ("inv", "config:23"),
        ("cmask", "config:24-31"),
    ];
    for (name, text) in formats {
        file(&format!("bus/event_source/devices/uncore/format/{name}"), text);
    }
    file("bus/event_source/devices/uncore/type", "20");
    file("bus/event_source/devices/uncore/cpumask", "0");
    let processor = Processor { vendor: "GenuineIntel".to_owned(), family: 6, model: 0x1a, ..Processor::default() };
    Host::new(Root::at(root), processor).expect("its CPUs are known")
}

/// The log's part about a family.
fn compare(name: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let code = kernel::family(name).expect("known").code;
    let host = match pmus::families().into_iter().find(|family| family.code == code) {
        Some(facts) => {
            facts.write_machine(folder.path());
            host(folder.path(), &facts)
        }
        None => nehalem(folder.path()),
    };
    let pmus = KernelPmus::of(&host).expect("PMUs");
    let topology = topology(name);
    let (all, missing) = requests(topology.family);
    assert!(missing.is_empty(), "{missing:?}");
    let (mut alike, mut refused, mut differ) = (0, BTreeMap::<String, Vec<String>>::new(), Vec::new());
    for Request { unit, words, row } in &all {
        // What repeats the count of counter 0 counts beside an event of its own, here an occupancy.
        let beside = words.starts_with("COUNTER0_OCCUPANCY");
        let plain = format!("{}/{words}/", unit.name);
        let place = format!("{}{}", unit.name, topology.sockets[0].present(unit).first().expect("an instance"));
        let text =
            if beside { format!("{{{place}/{COUNTER_0}/,{place}/{words}/}}") } else { format!("{place}/{words}/") };
        let ours = own(&topology, &text);
        let bits = row.control(name) & !ENABLE;
        if ours.control & bits != bits {
            differ.push(format!("{text}: {:#x}, and the texts say {bits:#x}", ours.control));
        }
        match driver(&host, &pmus, &text) {
            Ok(theirs) if theirs == ours => alike += 1,
            Ok(theirs) => differ.push(format!("{text}: ours {ours:x?}, the driver's {theirs:x?}")),
            Err(why) => {
                assert!(why.contains(unit.name), "{text} is not named: {why}");
                // Which event it is comes first.
                let reason = why.split_once(": ").map_or(why.as_str(), |(_, reason)| reason).to_owned();
                refused.entry(reason).or_default().push(plain);
            }
        }
    }
    assert!(differ.is_empty(), "{name}: {} differ: {:#?}", differ.len(), &differ[..differ.len().min(12)]);
    let number: usize = refused.values().map(Vec::len).sum();
    let mut log = format!("{name}: {} selections, {alike} alike, {number} refused\n", all.len());
    for (reason, events) in &refused {
        let _ = writeln!(log, "  {reason}: {}", events.join(" "));
    }
    log
}

/// The log's part about a family, as it is.
fn logged(name: &str) -> String {
    let log = fs::read_to_string(LOG).expect("the log is there");
    let lines = log.lines().skip_while(|line| !line.starts_with(&format!("{name}: ")));
    let own = lines.enumerate().take_while(|(at, line)| *at == 0 || line.starts_with("  "));
    own.fold(String::new(), |text, (_, line)| text + line + "\n")
}

#[test]
fn on_nehalem() {
    assert_eq!(compare("nehalem"), logged("nehalem"));
}

#[test]
fn on_e5_2600() {
    assert_eq!(compare("e5-2600"), logged("e5-2600"));
}

#[test]
fn on_emerald_rapids() {
    assert_eq!(compare("emerald-rapids"), logged("emerald-rapids"));
}
