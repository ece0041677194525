//! Events and subevents against the guides and Intel's files.

use std::collections::BTreeSet;

use super::differences::Account;
use super::ours::{Encoding, Entries, Entry, entries};
use super::table::{Row, Table, counters};

/// Names of units in Intel's files, and what they put before an event's name. Written down here, not taken from the catalogue.
const EMERALD_RAPIDS_UNITS: [(&str, &str, &str); 13] = [
    ("UBOX", "ubox", "UNC_U_"),
    ("CHA", "cha", "UNC_CHA_"),
    ("iMC", "imc", "UNC_M_"),
    ("M2M", "m2m", "UNC_M2M_"),
    ("IIO", "iio", "UNC_IIO_"),
    ("IRP", "irp", "UNC_I_"),
    ("M2PCIe", "m2pcie", "UNC_M2P_"),
    ("UPI LL", "upi", "UNC_UPI_"),
    ("M3UPI", "m3upi", "UNC_M3UPI_"),
    ("PCU", "pcu", "UNC_P_"),
    ("MDF", "mdf", "UNC_MDF_"),
    ("CXLCM", "cxlcm", "UNC_CXLCM_"),
    ("CXLDP", "cxldp", "UNC_CXLDP_"),
];
const E5_2600_UNITS: [(&str, &str, &str); 8] = [
    ("UBOX", "ubox", "UNC_U_"),
    ("CBO", "cbo", "UNC_C_"),
    ("HA", "ha", "UNC_H_"),
    ("iMC", "imc", "UNC_M_"),
    ("PCU", "pcu", "UNC_P_"),
    ("QPI LL", "qpi", "UNC_Q_"),
    ("R2PCIe", "r2pcie", "UNC_R2_"),
    ("R3QPI", "r3qpi", "UNC_R3_"),
];

/// Units of Intel's files that no guide at hand describes, with their numbers of rows.
const EMERALD_RAPIDS_STRANGERS: [(&str, usize); 2] = [("M2HBM", 175), ("MCHBM", 67)];
const E5_2600_STRANGERS: [(&str, usize); 1] = [("IRP", 37)];

/// The units that have the events of section 2.1; M2M has its own copy.
const MESH_UNITS: [&str; 3] = ["cha", "m2pcie", "m3upi"];

#[test]
fn emerald_rapids_is_as_the_documents_say() {
    of_rapids("emerald-rapids", "emerald-rapids-intel.csv");
}

/// The guide is that of Emerald Rapids, whose blocks they are; Intel's files are those of Sapphire Rapids.
#[test]
fn sapphire_rapids_is_as_the_documents_have_it() {
    of_rapids("sapphire-rapids", "sapphire-rapids-intel.csv");
}

fn of_rapids(family: &'static str, file: &str) {
    let ours = entries(family);
    let mut account = Account::all_fields(family, &ours);
    let guide = emerald_rapids_guide(&ours, &mut account);
    let intel = Intel { units: &EMERALD_RAPIDS_UNITS, strangers: &EMERALD_RAPIDS_STRANGERS };
    intel.compare(&Table::read(file), &ours, &mut account);
    for (unit, name) in ours.keys().filter(|key| !guide.contains(key)) {
        account.differs(unit, name, "missing", "in no table of the guide".to_owned());
    }
    report(&account);
}

#[test]
fn e5_2600_is_as_the_documents_say() {
    let ours = entries("e5-2600");
    // Names differ within the guide's own text, which no table shows: they are not judged.
    let mut account = Account::new("e5-2600", &ours, &["code", "umask", "select", "counters", "missing"]);
    let guide = e5_2600_guide(&ours, &mut account);
    let intel = Intel { units: &E5_2600_UNITS, strangers: &E5_2600_STRANGERS };
    let intel = intel.compare(&Table::read("e5-2600-intel.csv"), &ours, &mut account);
    for (key, entry) in ours.iter().filter(|(key, _)| !guide.contains(key)) {
        let of_event = format!("{}.", key.1);
        let at_intel =
            intel.iter().any(|(unit, name)| *unit == key.0 && (*name == key.1 || name.starts_with(&of_event)));
        if entry.later || !at_intel {
            account.differs(&key.0, &key.1, "missing", "in no table of the guide".to_owned());
        } else {
            // The seed lost so much that what Intel's file has may have been there: a row may say so.
            account.damaged(&key.0, &key.1, "missing");
        }
    }
    report(&account);
}

/// libpfm4 and LIKWID have no counters: codes and masks only. The fixed counter is a register with us.
#[test]
fn nehalem_is_as_existing_tools_have_it() {
    let ours = entries("nehalem");
    let table = Table::read("nehalem-events.csv");
    let mut theirs = BTreeSet::new();
    for row in table.rows().filter(|row| row.text("event") != "UNC_CLK_UNHALTED") {
        let event = row.text("event").strip_prefix("UNC_").expect("a prefix").to_owned();
        let name = full_name(&event, row.text("subevent"));
        let entry = ours.get(&("uncore".to_owned(), name.clone())).unwrap_or_else(|| panic!("{name} is missing"));
        let expected = (row.number("code").expect("a code"), row.number("umask").expect("a umask"));
        assert_eq!((entry.encoding.code, entry.encoding.umask), expected, "{name}");
        theirs.extend([event, name]);
    }
    let only_ours: Vec<_> = ours.keys().map(|(_, name)| name.as_str()).filter(|name| !theirs.contains(*name)).collect();
    let address_match = ["", ".IOH", ".LOCAL", ".REMOTE"].map(|subevent| format!("ADDR_OPCODE_MATCH{subevent}"));
    assert_eq!(only_ours, address_match);
    assert!(ours.values().all(|entry| entry.encoding.counters == 0xFF), "every general counter takes every event");
}

fn report(account: &Account) {
    let findings = account.verdict();
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}

fn full_name(event: &str, subevent: &str) -> String {
    if subevent.is_empty() { event.to_owned() } else { format!("{event}.{subevent}") }
}

/// Compares all rows of the second reading; returns their names.
fn emerald_rapids_guide(ours: &Entries, account: &mut Account) -> BTreeSet<(String, String)> {
    let table = Table::read("emerald-rapids-guide.csv");
    let mut names = BTreeSet::new();
    for row in table.rows() {
        let units = if row.text("unit") == "mesh" { &MESH_UNITS[..] } else { &[row.text("unit")] };
        let name = full_name(row.text("event"), row.text("subevent"));
        for unit in units {
            let key = ((*unit).to_owned(), name.clone());
            let entry = ours.get(&key).unwrap_or_else(|| panic!("{unit}/{name}/ of {} is missing", row.text("table")));
            compare_guide(row, unit, &name, entry, account);
            assert!(names.insert(key), "{unit}/{name}/ twice");
        }
        // A damaged table of section 2.1 is one place in the guide: its rows are CHA's.
        damage(row, units[0], &name, account);
    }
    names
}

fn compare_guide(row: Row<'_>, unit: &str, name: &str, entry: &Entry, account: &mut Account) {
    let all = if unit == "irp" { 0b11 } else { 0b1111 };
    let printed = Encoding {
        code: row.number("code").expect("a code"),
        umask: row.number("umask").unwrap_or(0),
        umask_ext: row.number("umask_ext").unwrap_or(0),
        ch_mask: row.number("ch_mask").unwrap_or(0),
        fc_mask: row.number("fc_mask").unwrap_or(0),
        select: 0,
        counters: if row.text("counters").is_empty() { all } else { counters(row.text("counters")) },
    };
    compare("the guide", &printed, unit, name, entry, account);
}

fn compare(source: &str, theirs: &Encoding, unit: &str, name: &str, entry: &Entry, account: &mut Account) {
    for ((field, theirs), (_, ours)) in theirs.fields().into_iter().zip(entry.encoding.fields()) {
        if theirs != ours {
            account.differs(unit, name, field, format!("{source} has {theirs:#x}, we have {ours:#x}"));
        }
    }
}

/// What the scan did to a row: a difference where it reads as another value or name.
fn damage(row: Row<'_>, unit: &str, name: &str, account: &mut Account) {
    let printed = row.text("printed_umask");
    if !printed.is_empty() {
        account.damaged(unit, name, "umask");
        if Some(literal(printed)) != row.number("umask") {
            account.differs(unit, name, "umask", format!("the scan has {printed}"));
        }
    }
    let printed = row.text("printed_xtra");
    if !printed.is_empty() {
        let field = if unit == "iio" { "ch_mask" } else { "umask_ext" };
        account.damaged(unit, name, field);
        // The mesh stop's bit in M2M stands in patterns of any length: one row tells of it for each event.
        if Some(literal(printed)) != row.number(field) {
            account.differs(unit, name, field, format!("the scan has {printed}"));
        }
    }
    // The guide has a table of all events and a list of all events, and forgets some in one of them.
    if !row.text("printed_in").is_empty() {
        account.damaged(unit, name, "missing");
    }
    let printed = row.text("printed_name");
    if !printed.is_empty() {
        account.damaged(unit, name, "name");
        // A heading or title may be wrong where the summary table is right.
        if !row.text("subevent").is_empty() && look_alikes(printed) != row.text("subevent") {
            account.differs(unit, name, "name", format!("the scan has {printed}"));
        }
    }
}

/// A pattern read from its right end, whatever its length. The group of the flow classes, `b111`, stands apart.
fn literal(pattern: &str) -> u64 {
    let pattern = pattern.strip_prefix("b111 ").unwrap_or(pattern);
    pattern
        .chars()
        .filter(|sign| matches!(sign, '0' | '1' | 'x'))
        .fold(0, |value, digit| value << 1 | u64::from(digit == '1'))
}

/// A name with Cyrillic letters read as the Latin ones they look like, and split cells joined.
fn look_alikes(printed: &str) -> String {
    const PAIRS: [(char, &str); 9] =
        [('А', "A"), ('В', "B"), ('Е', "E"), ('М', "M"), ('Н', "H"), ('Р', "P"), ('С', "C"), ('Ю', "IO"), (' ', "")];
    PAIRS.iter().fold(printed.to_owned(), |name, (sign, latin)| name.replace(*sign, latin))
}

/// Compares the rows of the E5-2600's guide; returns their names.
fn e5_2600_guide(ours: &Entries, account: &mut Account) -> BTreeSet<(String, String)> {
    let table = Table::read("e5-2600-guide.csv");
    let mut names = BTreeSet::new();
    for row in table.rows() {
        let (unit, name) = (row.text("unit"), full_name(row.text("event"), row.text("subevent")));
        let key = (unit.to_owned(), name.clone());
        let entry = ours.get(&key).unwrap_or_else(|| panic!("{unit}/{name}/ is missing"));
        let printed = Encoding {
            code: row.number("code").expect("a code"),
            umask: row.number("umask").unwrap_or(0),
            umask_ext: 0,
            ch_mask: 0,
            fc_mask: 0,
            select: row.number("ev_sel_ext").expect("a bit"),
            counters: counters(row.text("counters")),
        };
        compare("the guide", &printed, unit, &name, entry, account);
        names.insert(key);
    }
    names
}

/// How to read one of Intel's files.
struct Intel {
    units: &'static [(&'static str, &'static str, &'static str)],
    strangers: &'static [(&'static str, usize)],
}

impl Intel {
    /// Compares all rows; returns the names that are ours too.
    fn compare(&self, table: &Table, ours: &Entries, account: &mut Account) -> BTreeSet<(String, String)> {
        let mut names = BTreeSet::new();
        let mut strangers = Vec::new();
        for row in table.rows() {
            let Some((_, unit, prefix)) = self.units.iter().find(|(intel, ..)| *intel == row.text("unit")) else {
                strangers.push(row.text("unit"));
                continue;
            };
            let name = row
                .text("name")
                .strip_prefix(prefix)
                .unwrap_or_else(|| panic!("{} without {prefix}", row.text("name")));
            account.know(unit, name);
            match ours.get(&((*unit).to_owned(), name.to_owned())) {
                None => account.differs(unit, name, "missing", "Intel's file has it, we have not".to_owned()),
                Some(entry) => {
                    compare_intel(row, unit, name, entry, account);
                    names.insert(((*unit).to_owned(), name.to_owned()));
                }
            }
        }
        for (unit, rows) in self.strangers {
            assert_eq!(strangers.iter().filter(|stranger| *stranger == unit).count(), *rows, "rows of {unit}");
        }
        assert_eq!(strangers.len(), self.strangers.iter().map(|(_, rows)| rows).sum::<usize>(), "{strangers:?}");
        names
    }
}

fn compare_intel(row: Row<'_>, unit: &str, name: &str, entry: &Entry, account: &mut Account) {
    let modern = row.has("umask_ext");
    let column = |column: &str| if modern { row.number(column).expect("a number") } else { 0 };
    let extension = column("umask_ext");
    let masks = unit == "iio";
    let theirs = Encoding {
        code: row.number("code").expect("a code"),
        umask: row.number("umask").expect("a umask"),
        umask_ext: if masks { 0 } else { extension },
        ch_mask: column("port_mask"),
        fc_mask: column("fc_mask"),
        select: row.number("ext_sel").expect("a bit"),
        counters: counters(row.text("counters")),
    };
    compare("Intel's file", &theirs, unit, name, entry, account);
    // The IIO's masks stand twice in Intel's file: in columns of their own, and mostly in the extension too.
    if masks && extension != 0 {
        let twice = Encoding { ch_mask: extension >> 4 & 0xFFF, fc_mask: extension >> 16 & 7, ..entry.encoding };
        compare("the extension in Intel's file", &twice, unit, name, entry, account);
    }
}
