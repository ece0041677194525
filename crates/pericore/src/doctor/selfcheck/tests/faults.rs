//! Faults drawn at random, each with what its finding has to name.

use std::fs;
use std::path::Path;

use pericore_machine::MachineSpec;
use pericore_machine::chassis::{Block, Chassis};

use crate::doctor::selfcheck::FileCode;
use crate::event_files::EventFilesArg;

/// Kinds of faults, in the order in which they are planted.
pub const KINDS: [&str; 8] = [
    "stuck counter",
    "wrong width",
    "halved clock",
    "hidden channel",
    "swapped channels",
    "wrong address",
    "wrong umask",
    "frozen unit",
];

/// A machine with a fault.
#[derive(Debug)]
pub struct Planted {
    pub kind: usize,
    pub spec: MachineSpec,
    /// The machine's name.
    pub machine: String,
    pub codes: Vec<FileCode>,
    /// One of these has to be in a finding.
    pub named: Vec<String>,
}

/// SplitMix64.
#[derive(Debug)]
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

/// A family and its sockets.
pub fn machine(draw: &mut Draw) -> String {
    let family = draw.one_of(&["nehalem", "e5-2600", "emerald-rapids", "sapphire-rapids"]);
    let sockets = 1 + draw.below(2);
    format!("{family}:sockets={sockets}")
}

impl Planted {
    /// A fault of a kind; nothing where this machine cannot have it.
    pub fn draw(kind: usize, draw: &mut Draw) -> Option<Self> {
        let machine = machine(draw);
        let sound = MachineSpec::parse(&machine).unwrap().chassis().unwrap();
        let (key, named) = match kind {
            0 => {
                let (block, counter) = draw.one_of(&counters(&sound)).clone();
                (format!("stuck={}/ctr{counter}", name(&block)), vec![shown(&sound, &block)])
            }
            1 => {
                let (block, counter) = draw.one_of(&counters(&sound)).clone();
                let right = u64::from(unit(&sound, &block).counter_width);
                let wrong = (8..=64).filter(|bits| *bits != right).collect::<Vec<u64>>();
                let bits = draw.one_of(&wrong);
                (format!("width={}/ctr{counter}:{bits}", name(&block)), vec![shown(&sound, &block)])
            }
            2 => {
                let block = draw.one_of(&blocks(&sound, |_| true)).clone();
                (format!("halved={}", name(&block)), vec![shown(&sound, &block), format!("socket {}", block.socket)])
            }
            3 => {
                let is_channel = |unit: &str| ["imc", "cbo", "cha"].contains(&unit);
                let channels = blocks(&sound, is_channel);
                let block = draw.one_of(if channels.is_empty() { return None } else { &channels }).clone();
                (format!("hidden={}", name(&block)), vec![format!("{} does not answer", shown(&sound, &block))])
            }
            4 => {
                let channels = blocks(&sound, |unit| ["imc", "uncore"].contains(&unit));
                let (one, other) = pair(&channels, draw)?;
                (format!("swapped={}:{}", name(&one), name(&other)), vec![shown(&sound, &one), shown(&sound, &other)])
            }
            5 if draw.below(2) == 0 => {
                let of_unit = draw.one_of(&blocks(&sound, |_| true)).unit.clone();
                let (one, other) = pair(&blocks(&sound, |unit| unit == of_unit), draw)?;
                (format!("misplaced={}:{}", name(&one), name(&other)), vec![shown(&sound, &one)])
            }
            5 => {
                let counters = counters(&sound);
                let (block, counter) = draw.one_of(&counters).clone();
                let like: Vec<_> = counters
                    .into_iter()
                    .filter(|(other, number)| other.unit == block.unit && (other, *number) != (&block, counter))
                    .collect();
                let (other, of_other) = draw.one_of(if like.is_empty() { return None } else { &like }).clone();
                let key = format!("misplaced={}/ctr{counter}:{}/ctr{of_other}", name(&block), name(&other));
                (key, vec![shown(&sound, &block)])
            }
            6 => return Self::wrong_umask(machine, draw),
            _ => {
                let block = draw.one_of(&blocks(&sound, |_| true)).clone();
                (format!("frozen={}", name(&block)), vec![shown(&sound, &block)])
            }
        };
        let machine = format!("{machine},{key}");
        let spec = MachineSpec::parse(&machine).unwrap();
        Some(Self { kind, spec, machine, codes: Vec::new(), named })
    }

    /// An event file as Intel's rows have it, but for the umask of one.
    fn wrong_umask(machine: String, draw: &mut Draw) -> Option<Self> {
        let spec = MachineSpec::parse(&machine).unwrap();
        let rows = rows(spec.family().name);
        let (row, umask) =
            (draw.one_of(if rows.is_empty() { return None } else { &rows }).clone(), 1 + draw.below(255));
        let right = u64::from_str_radix(&row.umask[2..], 16).unwrap();
        let wrong = Row { umask: format!("{:#04x}", right ^ umask), ..row.clone() };
        // Rows beside it that are right.
        let mut file: Vec<Row> =
            (0..5).map(|_| draw.one_of(&rows).clone()).filter(|beside| beside.name != row.name).collect();
        file.push(wrong);
        let codes = codes(&spec, &file);
        let named =
            vec![row.name.split_once('_').and_then(|(_, rest)| rest.split_once('_')).map(|(_, name)| name.to_owned())?];
        let machine = format!("{machine} and {} with umask {:#04x}", row.name, right ^ umask);
        Some(Self { kind: 6, spec, machine, codes, named })
    }
}

/// A row of Intel's event files.
#[derive(Debug, Clone)]
pub struct Row {
    unit: String,
    pub name: String,
    code: String,
    pub umask: String,
    extension: String,
    select: String,
    ports: String,
    flow: String,
    counters: String,
}

/// Intel's rows of a family, from `tests/reference`, that a file of a few columns can hold.
pub fn rows(family: &str) -> Vec<Row> {
    let path = format!("{}/../../tests/reference/{family}-intel.csv", env!("CARGO_MANIFEST_DIR"));
    let Ok(text) = fs::read_to_string(Path::new(&path)) else { return Vec::new() };
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |cells: &[&str], head: &str| {
        heads.iter().position(|known| *known == head).map_or_else(|| "0x00".to_owned(), |at| cells[at].to_owned())
    };
    lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        // No software machine has memory in its package, and the E5-2600's IRP has no counters at a known address.
        .filter(|cells| !cells.iter().any(|cell| cell.contains("HBM") || (family == "e5-2600" && *cell == "IRP")))
        .filter(|cells| {
            ["", "PGMABLE"].contains(&heads.iter().position(|head| *head == "type").map_or("", |at| cells[at]))
        })
        .map(|cells| Row {
            unit: at(&cells, "unit"),
            name: at(&cells, "name"),
            code: at(&cells, "code"),
            umask: at(&cells, "umask"),
            extension: at(&cells, "umask_ext"),
            select: at(&cells, "ext_sel"),
            ports: at(&cells, "port_mask"),
            flow: at(&cells, "fc_mask"),
            counters: at(&cells, "counters").replace(' ', ","),
        })
        .collect()
}

/// What a file of these rows differs in from the documents.
pub fn codes(spec: &MachineSpec, rows: &[Row]) -> Vec<FileCode> {
    let row = |row: &Row| {
        serde_json::json!({ "Unit": row.unit, "EventName": row.name, "EventCode": row.code, "UMask": row.umask,
            "UMaskExt": row.extension, "ExtSel": row.select, "PortMask": row.ports, "FCMask": row.flow,
            "Counter": row.counters })
    };
    let file = tempfile::NamedTempFile::with_suffix(".json").unwrap();
    let text = serde_json::json!({ "Events": rows.iter().map(row).collect::<Vec<_>>() });
    fs::write(file.path(), text.to_string()).unwrap();
    let files = EventFilesArg::of(&[file.path().to_owned()]);
    crate::doctor::selfcheck::codes(&files, spec.family()).unwrap()
}

fn unit(sound: &Chassis, block: &Block) -> &'static pericore_catalog::Unit {
    sound.shape().family.unit(&block.unit).unwrap()
}

/// All blocks of some units.
pub fn blocks(sound: &Chassis, is_wanted: impl Fn(&str) -> bool) -> Vec<Block> {
    let units = sound.shape().family.units.iter().filter(|unit| is_wanted(unit.name) && unit.counters > 0);
    units.flat_map(|unit| sound.find_blocks(unit.name)).collect()
}

/// All programmable counters.
pub fn counters(sound: &Chassis) -> Vec<(Block, u8)> {
    let of = |block: Block| {
        let counters = unit(sound, &block).counters;
        (0..counters).map(move |counter| (block.clone(), counter))
    };
    blocks(sound, |_| true).into_iter().flat_map(of).collect()
}

fn pair(blocks: &[Block], draw: &mut Draw) -> Option<(Block, Block)> {
    let one = draw.one_of(if blocks.is_empty() { return None } else { blocks }).clone();
    let others: Vec<Block> = blocks.iter().filter(|block| **block != one && block.unit == one.unit).cloned().collect();
    let other = draw.one_of(if others.is_empty() { return None } else { &others }).clone();
    Some((one, other))
}

/// As keys of machines have it.
pub fn name(block: &Block) -> String {
    format!("{}/{}{}", block.socket, block.unit, block.instance)
}

/// As findings have it.
fn shown(sound: &Chassis, block: &Block) -> String {
    let number = if unit(sound, block).instances > 1 { block.instance.to_string() } else { String::new() };
    format!("{}{number} in socket {}", block.unit, block.socket)
}
