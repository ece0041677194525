//! Emerald Rapids: a C client that follows the guide's section 1.10 finds every unit and counts in each; msr-tools and setpci read it.

use std::collections::BTreeMap;

use pericore_doors::log::Kind;
use pericore_registers::{Address, Bdf};
use pericore_tests::pmon::rows;

use super::processor::compile;
use super::rig::{Access, Rig, Source, assert_counted, require, ticks, writes};

/// Unit type of the discovery table, instances (Table 1-7), value of the control register, the signal behind it.
struct Row(u32, u16, u32, Source);

const fn event(unit: &'static str, name: &'static str, subevent: &'static str) -> Source {
    Source::Subevent(unit, 0, name, subevent)
}

const fn plain(unit: &'static str, name: &'static str) -> Source {
    Source::Signal(unit, 0, name, &[])
}

/// Codes and umasks from the guide's event tables, section 2.
const ROWS: [Row; 13] = [
    Row(0, 64, 0x1133, event("cha", "CORE_SNP", "REMOTE_ONE")),
    Row(1, 10, 0x0102, event("iio", "MASK_MATCH_AND", "BUS0")),
    Row(2, 10, 0x000b, plain("irp", "TxC_AK_INSERTS")),
    Row(3, 10, 0x0115, event("m2pcie", "P2P_SHAR_RECEIVED", "LOCAL_NCB")),
    Row(4, 1, 0x0030, plain("pcu", "DEMOTIONS")),
    Row(5, 1, 0x0142, event("ubox", "EVENT_MSG", "VLW_RCVD")),
    Row(6, 8, 0x0102, event("imc", "ACT_COUNT", "RD_PCH0")),
    Row(7, 4, 0x0115, event("m2m", "BYPASS_M2M_EGRESS", "TAKEN")),
    Row(8, 4, 0x000b, plain("upi", "RxL_CRC_ERRORS")),
    Row(9, 4, 0x002a, plain("m3upi", "D2U_SENT")),
    Row(11, 14, 0x0016, plain("mdf", "GV_BLOCK")),
    Row(12, 6, 0x0402, event("cxlcm", "TxC_PACK_BUF_INSERTS", "CACHE_DATA")),
    Row(13, 6, 0x0802, event("cxldp", "TxC_AGF_INSERTS", "U2C_DATA")),
];

fn on(source: Source, instance: u16) -> Source {
    match source {
        Source::Subevent(unit, _, name, subevent) => Source::Subevent(unit, instance, name, subevent),
        Source::Signal(unit, _, name, attributes) => Source::Signal(unit, instance, name, attributes),
    }
}

fn rate(kind: u32, instance: u16) -> u64 {
    1_000_000 + 10_000 * u64::from(kind) + u64::from(instance)
}

/// The accesses to the address that the client printed.
fn to(space: &str, address: u64) -> impl Fn(&Access) -> bool + use<> {
    let space = space.to_owned();
    move |access| match access.entry.address {
        Address::Msr { msr, .. } => space == "msr" && u64::from(msr) == address,
        Address::Mmio { physical } => space == "mmio" && physical == address,
        Address::Pci { bdf, offset } => {
            let place = Bdf::new((address >> 20) as u8, (address >> 15 & 31) as u8, (address >> 12 & 7) as u8);
            space == "pci" && bdf == place && u64::from(offset) == address & 0xfff
        }
    }
}

#[test]
fn a_client_finds_every_unit_and_counts_in_each() {
    let program = compile("discovery");
    let rates = ROWS.iter().flat_map(|row| (0..row.1).map(|instance| (on(row.3, instance), rate(row.0, instance))));
    let rig = Rig { family: "emerald-rapids", rates: rates.collect(), ..Rig::default() };
    let arguments: Vec<String> = ROWS.iter().map(|row| format!("{}:{:x}", row.0, row.2)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run = rig.succeed(program.to_str().unwrap(), &arguments);
    let mut found: BTreeMap<u32, u16> = BTreeMap::new();
    for line in run.stdout.lines().filter(|line| !line.starts_with("table")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (kind, id): (u32, u16) = (words[0].parse().unwrap(), words[1].parse().unwrap());
        let address = u64::from_str_radix(words[3].trim_start_matches("0x"), 16).unwrap();
        let count: u64 = words[4].parse().unwrap();
        *found.entry(kind).or_default() += 1;
        let start = run.all(writes(0, to(words[2], address)))[0];
        let stop = run.all(|access| access.entry.kind == Kind::Write(1) && to(words[2], address)(access))[0];
        let rate = rate(kind, id);
        let expected = ticks(rate, stop.at) - ticks(rate, start.at);
        assert!(expected > 100_000, "{line}");
        assert_counted(line, count, expected);
    }
    let expected: BTreeMap<u32, u16> = ROWS.iter().map(|row| (row.0, row.1)).collect();
    assert_eq!(found, expected, "\n{}", run.stdout);
}

/// Every instance of every unit with registers in MSRs or in configuration space, by the guide's tables of addresses: a value of its own
/// is written to each, and then all are read. (The memory controllers' lie in memory, and CXL's are known from discovery alone: see the
/// client above.)
#[test]
fn msr_tools_and_setpci_reach_every_unit() {
    require("rdmsr", "msr-tools");
    require("setpci", "pciutils");
    let rig = Rig { family: "emerald-rapids", ..Rig::default() };
    let (mut writes, mut reads, mut values) = (String::new(), String::new(), String::new());
    let mut reached: BTreeMap<String, u16> = BTreeMap::new();
    let places = rows::places("emerald-rapids");
    // The tables have no control of the UBox but that of the fixed counter, which stands still after a reset.
    let is_wanted = |unit: &str, register: &str| register == if unit == "ubox" { "fixed_ctr" } else { "ctl0" };
    let controls = places.iter().filter(|((unit, _, register), _)| is_wanted(unit, register));
    for (number, ((unit, _, _), (address, _))) in controls.enumerate() {
        // An event select that is not 0 and a umask, different for neighbours and for units.
        let value = (1 + number as u32 % 0xff) | ((unit.len() as u32) << 8);
        if let Some(msr) = address.strip_prefix("0x") {
            writes += &format!("wrmsr 0x{msr} {value:#x}\n");
            reads += &format!("rdmsr 0x{msr}\n");
            values += &format!("{value:x}\n");
        } else if let Some((function, offset)) = address.split_once("+0x").filter(|(place, _)| place.contains('.')) {
            let (device, function) = function.split_once('.').unwrap();
            let (device, offset) = (device.parse::<u8>().unwrap(), offset.to_lowercase());
            // The functions of device 30 lie on the last bus.
            let bus = if device == 30 { "ff" } else { "fe" };
            writes += &format!("setpci -s {bus}:{device:02x}.{function} {offset}.l={value:x}\n");
            reads += &format!("setpci -s {bus}:{device:02x}.{function} {offset}.l\n");
            values += &format!("{value:08x}\n");
        } else {
            assert!(address.starts_with("mem"), "{address}");
            continue;
        }
        *reached.entry(unit.clone()).or_default() += 1;
    }
    // Table 1-7.
    let expected = [
        ("cha", 64),
        ("iio", 10),
        ("irp", 10),
        ("m2m", 4),
        ("m2pcie", 10),
        ("m3upi", 4),
        ("mdf", 14),
        ("pcu", 1),
        ("ubox", 1),
        ("upi", 4),
    ];
    assert_eq!(reached, expected.map(|(unit, instances)| (unit.to_owned(), instances)).into());
    let run = rig.succeed("sh", &["-ec", &(writes + &reads)]);
    assert_eq!(run.stdout, values);
    assert!(run.text.contains("socket 0 cha63 ctl0: "), "{}", run.text);
}
