//! The event texts of `tests/reference`, and the control values that they mean: composed here by hand from the tables of control
//! registers, not from the catalogue.

use std::collections::BTreeMap;

/// An event or subevent that can be programmed.
#[derive(Debug, Clone)]
pub struct Row {
    /// Unit as this project names it.
    pub unit: String,
    /// Event without the unit's prefix.
    pub event: String,
    /// Subevent; empty if the event has none.
    pub subevent: String,
    /// Event select.
    pub code: u64,
    /// Unit mask.
    pub umask: u64,
    /// Extension of the unit mask.
    pub umask_ext: u64,
    /// Channel mask of I/O stacks.
    pub ch_mask: u64,
    /// Mask of their flow-control classes.
    pub fc_mask: u64,
    /// The extra select bit of E5-2600.
    pub ev_sel_ext: u64,
    /// Counters that can take it.
    pub counters: Vec<u8>,
    /// Where the row comes from.
    pub from: &'static str,
}

impl Row {
    /// As failures show it.
    pub fn name(&self) -> String {
        format!("{}/{}.{} ({})", self.unit, self.event, self.subevent, self.from)
    }

    /// The control value that counts the event: E5-2600 Table 2-10 with bit 21 of Tables 2-75 and 2-86, enable 22; Emerald Rapids Table
    /// 1-5 with Tables 2-72 and 2-184, no enable; Nehalem's Figure 18-28, enable 22.
    pub fn control(&self, family: &str) -> u64 {
        let plain = self.code | self.umask << 8;
        match family {
            "emerald-rapids" => plain | self.umask_ext << 32 | self.ch_mask << 36 | self.fc_mask << 48,
            _ => plain | self.ev_sel_ext << 21 | 1 << 22,
        }
    }
}

/// A table with named columns.
fn table(file: &str) -> Vec<BTreeMap<String, String>> {
    let path = format!("{}/reference/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let heading: Vec<String> = lines.next().expect("a heading").split(',').map(str::to_owned).collect();
    lines.map(|line| heading.iter().cloned().zip(line.split(',').map(str::to_owned)).collect()).collect()
}

fn number(text: &str) -> u64 {
    let text = text.trim();
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("{text:?} is a number")),
        None if text.is_empty() => 0,
        None => text.parse().unwrap_or_else(|_| panic!("{text:?} is a number")),
    }
}

/// `0-3`, `0 1 2`, `` for any.
fn counters(text: &str, all: u8) -> Vec<u8> {
    if let Some((first, last)) = text.split_once('-') {
        return (number(first) as u8..=number(last) as u8).collect();
    }
    let listed: Vec<u8> = text.split_whitespace().map(|word| number(word) as u8).collect();
    if listed.is_empty() { (0..all).collect() } else { listed }
}

/// Intel's names of units, and their prefixes of events.
const UNITS: [(&str, &str, &str, u8); 22] = [
    ("CHA", "cha", "UNC_CHA_", 4),
    ("iMC", "imc", "UNC_M_", 4),
    ("UPI LL", "upi", "UNC_UPI_", 4),
    ("M2M", "m2m", "UNC_M2M_", 4),
    ("M2PCIe", "m2pcie", "UNC_M2P_", 4),
    ("M3UPI", "m3upi", "UNC_M3UPI_", 4),
    ("IIO", "iio", "UNC_IIO_", 4),
    ("IRP", "irp", "UNC_I_", 2),
    ("PCU", "pcu", "UNC_P_", 4),
    ("UBOX", "ubox", "UNC_U_", 2),
    ("MDF", "mdf", "UNC_MDF_", 4),
    ("CXLCM", "cxlcm", "UNC_CXLCM_", 8),
    ("CXLDP", "cxldp", "UNC_CXLDP_", 4),
    ("CBO", "cbo", "UNC_C_", 4),
    ("HA", "ha", "UNC_H_", 4),
    ("QPI LL", "qpi", "UNC_Q_", 4),
    ("R2PCIe", "r2pcie", "UNC_R2_", 4),
    ("R3QPI", "r3qpi", "UNC_R3_", 3),
    ("uncore", "uncore", "UNC_", 8),
    // Parts of other machines.
    ("M2HBM", "", "UNC_M2HBM_", 4),
    ("MCHBM", "", "UNC_MCHBM_", 4),
    ("-", "", "-", 0),
];

fn counters_of(unit: &str) -> u8 {
    UNITS.iter().find(|row| row.1 == unit).map_or(4, |row| row.3)
}

/// Rows of Intel's event file.
fn intel(file: &str) -> Vec<Row> {
    let rows = table(file).into_iter().filter_map(|row| {
        let &(_, unit, prefix, all) = UNITS.iter().find(|(name, ..)| *name == row["unit"])?;
        // The E5-2600's IRP has no PMON block of its own.
        if unit.is_empty()
            || row.get("type").is_some_and(|kind| kind != "PGMABLE")
            || (file.starts_with("e5") && unit == "irp")
        {
            return None;
        }
        let name = row["name"].strip_prefix(prefix).unwrap_or(&row["name"]);
        let (event, subevent) = name.split_once('.').unwrap_or((name, ""));
        let cell = |name: &str| row.get(name).map_or(0, |cell| number(cell));
        Some(Row {
            unit: unit.to_owned(),
            event: event.to_owned(),
            subevent: subevent.to_owned(),
            code: cell("code"),
            umask: cell("umask"),
            umask_ext: cell("umask_ext"),
            ch_mask: cell("port_mask"),
            fc_mask: cell("fc_mask"),
            ev_sel_ext: cell("ext_sel"),
            counters: counters(&row["counters"], all),
            from: "Intel",
        })
    });
    rows.collect()
}

/// Rows of the guide; the common mesh-stop events once for each unit that has them.
fn guide(file: &str) -> Vec<Row> {
    let rows = table(file);
    let has_subevents = |unit: &str, event: &str| {
        rows.iter().any(|row| row["unit"] == unit && row["event"] == event && !row["subevent"].is_empty())
    };
    // M2M's copy of the mesh-stop events needs bit 55 in every row (2.7.5); some rows lost it, some never had it printed.
    let of_the_mesh = |event: &str| rows.iter().any(|row| row["unit"] == "mesh" && row["event"] == event);
    let mut result = Vec::new();
    for row in &rows {
        if row["subevent"].is_empty() && has_subevents(&row["unit"], &row["event"]) {
            continue;
        }
        let units: &[&str] = if row["unit"] == "mesh" { &["cha", "m2pcie", "m3upi"] } else { &[&row["unit"]] };
        for unit in units {
            let cell = |name: &str| row.get(name).map_or(0, |cell| number(cell));
            let mesh_stop = if *unit == "m2m" && of_the_mesh(&row["event"]) { 0x0080_0000 } else { 0 };
            // FASTPATH's row prints no flow class, where every other row of the unit prints all (catalog/blocks/iio-v3/deviations.toml).
            let all_classes = if *unit == "iio" && row["event"] == "FASTPATH" { 0x7 } else { 0 };
            result.push(Row {
                unit: (*unit).to_owned(),
                event: row["event"].clone(),
                subevent: row["subevent"].clone(),
                code: cell("code"),
                umask: cell("umask"),
                umask_ext: cell("umask_ext") | mesh_stop,
                ch_mask: cell("ch_mask"),
                fc_mask: cell("fc_mask") | all_classes,
                ev_sel_ext: cell("ev_sel_ext"),
                counters: counters(row.get("counters").map_or("", String::as_str), counters_of(unit)),
                from: "guide",
            });
        }
    }
    result
}

/// Everything that the texts say of a family's events. Where guide and Intel's file have the same row, Intel's, the later one, stands.
pub fn rows(family: &str) -> Vec<Row> {
    if family == "nehalem" {
        let rows = table("nehalem-events.csv").into_iter().filter(|row| row["code"] != "0xFF");
        return rows
            .map(|row| Row {
                unit: "uncore".to_owned(),
                event: row["event"].strip_prefix("UNC_").unwrap_or(&row["event"]).to_owned(),
                subevent: row["subevent"].clone(),
                code: number(&row["code"]),
                umask: number(&row["umask"]),
                umask_ext: 0,
                ch_mask: 0,
                fc_mask: 0,
                ev_sel_ext: 0,
                counters: (0..8).collect(),
                from: "libpfm4 and LIKWID",
            })
            .collect();
    }
    let mut rows = intel(&format!("{family}-intel.csv"));
    let key = |row: &Row| (row.unit.clone(), row.control(family));
    let known: std::collections::BTreeSet<_> = rows.iter().map(key).collect();
    let divided: std::collections::BTreeSet<_> =
        rows.iter().filter(|row| !row.subevent.is_empty()).map(|row| (row.unit.clone(), row.event.clone())).collect();
    // An event whose masks the damaged text has lost.
    let is_whole = |row: &Row| !row.subevent.is_empty() || !divided.contains(&(row.unit.clone(), row.event.clone()));
    let name = |row: &Row| (row.unit.clone(), row.event.clone(), row.subevent.clone());
    let named: std::collections::BTreeSet<_> = rows.iter().map(name).collect();
    // The guide's umask of CXL CM's clocks is 0x01, Intel's 0x02.
    let clocks = |row: &Row| row.unit == "cxlcm" && row.event == "CLOCKTICKS";
    let guide = guide(&format!("{family}-guide.csv")).into_iter();
    let guide =
        guide.filter(|row| !known.contains(&key(row)) && !named.contains(&name(row)) && is_whole(row) && !clocks(row));
    rows.extend(guide);
    rows
}

/// Where a register is: (unit, instance, register) to its address as the texts print it, `0xD10` or `14.1+0xD8` or `mem0+0x22840`, with its
/// width in bits.
pub fn places(family: &str) -> BTreeMap<(String, u16, String), (String, u32)> {
    let rows = table(&format!("{family}-registers.csv")).into_iter().map(|row| {
        let instance = number(&row["instance"]) as u16;
        (
            (row["unit"].clone(), instance, row["register"].clone()),
            (row["address"].clone(), number(&row["width"]) as u32),
        )
    });
    rows.collect()
}
