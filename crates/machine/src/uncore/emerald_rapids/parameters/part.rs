//! Parts as files (`catalog/parts`): what a data sheet says, and apart from it what was fitted or assumed.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pericore_catalog::tables::PARTS;
use pericore_dram::Timing;
use pericore_engine::ParameterError;
use pericore_parts::translation::{TlbSize, TranslationSizes};
use toml::{Table, Value};

use super::super::layout::{Floor, FloorError};
use super::{Parameters, phase_settings};

/// Families that have this model.
const FAMILIES: [&str; 2] = ["emerald-rapids", "sapphire-rapids"];
/// Sections of a file.
const DATASHEET: &str = "datasheet";
const FITTED: &str = "fitted";

/// A part.
#[derive(Debug)]
pub struct MachinePart {
    /// Its command-line name.
    pub name: String,
    /// The family.
    pub family: &'static str,
    /// Its numbers, for a machine of one socket with all that it has in use.
    pub parameters: Parameters,
    /// Both sections, with what it has from another part.
    values: Table,
}

/// What is wrong with a part's file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// It cannot be read.
    #[error("no TOML: {0}")]
    Syntax(String),
    /// A key that it must have.
    #[error("{0} is missing: add it, or name a part that has it (like = ...)")]
    Missing(&'static str),
    /// A family that has another model, or none.
    #[error("family cannot be {0}: give one of {families}", families = FAMILIES.join(", "))]
    Family(String),
    /// A value that a key does not take.
    #[error("{0} cannot be {1}")]
    Value(&'static str, String),
    /// Memory of no known rate.
    #[error("{0} cannot be {1}: give one of {rates}", rates = RATES.each_ref().map(|(rate, ..)| *rate).join(", "))]
    Memory(&'static str, String),
    /// A key that nothing reads.
    #[error("{0} is no key of a part: remove it")]
    Unknown(String),
    /// The drawing of the mesh.
    #[error(transparent)]
    Floor(#[from] FloorError),
    /// A unit in the drawing that is beyond the family's.
    #[error("mesh: the family has no {unit}{number}: draw fewer of them")]
    Unit {
        /// Name of the unit.
        unit: &'static str,
        /// Its number in the drawing.
        number: u16,
    },
    /// A clock that ticks cannot represent.
    #[error("{key} is {clock} MHz, of which grid_mhz = {grid} is no multiple: give grid_mhz a multiple of all clocks")]
    Clock {
        /// What gives the clock.
        key: &'static str,
        /// The clock in MHz.
        clock: u64,
        /// Ticks in a microsecond.
        grid: u64,
    },
    /// A number that the model cannot have.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A name that means something already.
    #[error("part = {0:?} is taken: give it a name of its own")]
    Taken(String),
    /// The name of a part of the user's own that was read before, with other values.
    #[error("part = {0:?} was read before with other values: give it a name of its own, or start the program again")]
    Changed(String),
}

/// A shipped part by the number of its file, which is read when it is first asked for: to read all would unpack the
/// catalogue of each family.
///
/// # Panics
/// If the file cannot be read, which a test would have shown.
fn shipped_part(number: usize) -> &'static MachinePart {
    static SHIPPED: [OnceLock<MachinePart>; PARTS.len()] = [const { OnceLock::new() }; PARTS.len()];
    let text = PARTS[number];
    SHIPPED[number].get_or_init(|| {
        read(text, shipped_by_name).unwrap_or_else(|error| panic!("{error} in a file of catalog/parts: {text}"))
    })
}

/// A shipped part by its name, in whatever case.
fn shipped_by_name(name: &str) -> Option<&'static MachinePart> {
    // The key comes first in each file, on a line of its own.
    let name_in = |text: &'static str| text.lines().find_map(|line| line.strip_prefix("part = \"")?.strip_suffix('"'));
    let number = PARTS.iter().position(|text| name_in(text).is_some_and(|known| known.eq_ignore_ascii_case(name)))?;
    Some(shipped_part(number))
}

impl Parameters {
    /// A part by its command-line name.
    pub fn preset(name: &str) -> Option<Self> {
        find(name).map(|part| part.parameters.clone())
    }

    /// The first of the shipped parts: Xeon Platinum 8592+.
    ///
    /// # Panics
    /// If it is not there.
    pub fn p8592() -> Self {
        shipped_part(0).parameters.clone()
    }
}

/// Parts of the user's own, each once: machines are asked for by its name from then on.
static OWN: Mutex<Vec<&'static MachinePart>> = Mutex::new(Vec::new());

/// The part of a name, in whatever case.
pub fn find(name: &str) -> Option<&'static MachinePart> {
    shipped_by_name(name).or_else(|| {
        let own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        own.iter().copied().find(|part| part.name.eq_ignore_ascii_case(name))
    })
}

/// Adds a part of the user's own, which may be like a shipped one. The same file may be added again. `taken` are names
/// that mean something else.
///
/// # Errors
/// [`PartError`] for the first thing that is wrong.
pub fn add(text: &str, taken: impl Fn(&str) -> bool) -> Result<&'static MachinePart, PartError> {
    let part = read(text, shipped_by_name)?;
    if let Some(known) = find(&part.name) {
        return match () {
            () if known.values == part.values => Ok(known),
            () if shipped_by_name(&known.name).is_some() => Err(PartError::Taken(part.name)),
            () => Err(PartError::Changed(part.name)),
        };
    }
    if taken(&part.name) || part.name.is_empty() || part.name.contains([':', ',']) {
        return Err(PartError::Taken(part.name));
    }
    let part: &MachinePart = Box::leak(Box::new(part));
    OWN.lock().unwrap_or_else(PoisonError::into_inner).push(part);
    Ok(part)
}

/// Reads a file; `known` gives the parts that it may be like.
///
/// # Errors
/// [`PartError`] for the first thing that is wrong.
pub fn read(text: &str, known: impl Fn(&str) -> Option<&'static MachinePart>) -> Result<MachinePart, PartError> {
    let mut file = Values(text.parse().map_err(|error: toml::de::Error| PartError::Syntax(error.to_string()))?);
    let name = file.text("part")?;
    let family = file.text("family")?;
    let known_family = FAMILIES.contains(&family.as_str()).then(|| pericore_catalog::family(&family)).flatten();
    let family = known_family.ok_or(PartError::Family(family))?;
    let mut values = match file.text("like") {
        Ok(like) => {
            let part = known(&like).ok_or(PartError::Value("like", like))?;
            part.values.clone()
        }
        Err(_) => Table::new(),
    };
    values.extend(file.section(DATASHEET)?);
    values.extend(file.section(FITTED)?);
    file.has_no_more()?;
    let parameters = parameters(family.name, Values(values.clone()))?;
    let grid = parameters.grid_mhz;
    for (key, clock) in [
        ("core_mhz", parameters.core_mhz),
        ("uncore_mhz", parameters.uncore_mhz),
        ("link_mhz", parameters.link_mhz),
        ("memory", parameters.memory_mhz),
    ] {
        if clock == 0 || !grid.is_multiple_of(clock) {
            return Err(PartError::Clock { key, clock, grid });
        }
    }
    parameters.check()?;
    let is_there = |(unit, number): (&str, u16)| family.unit(unit).is_some_and(|unit| number < unit.instances);
    if let Some((unit, number)) = parameters.floor.tiles.iter().filter_map(|tile| tile.unit).find(|at| !is_there(*at)) {
        return Err(PartError::Unit { unit, number });
    }
    Ok(MachinePart { name, family: family.name, parameters, values })
}

/// What a part's values stand for.
fn parameters(family: &'static str, mut of: Values) -> Result<Parameters, PartError> {
    let floor: Floor = of.lines("mesh")?.parse()?;
    let (cores, memory, sets) = (of.number("cores")?, of.text("memory")?, of.number::<u32>("slice_sets")?);
    let dram = Timing {
        reads: of.number("memory_reads")?,
        writes: of.number("memory_writes")?,
        write_high: of.number("memory_write_high")?,
        write_low: of.number("memory_write_low")?,
        page_idle: of.number("memory_page_idle")?,
        closes_pages: false,
        trtrs: of.number("memory_rank_turn")?,
        ..timing("memory", &memory)?.1
    };
    let expander = of.text("expander_memory").ok();
    let parameters = Parameters {
        floor: Arc::new(floor),
        phases: phase_settings(family, of.ratios()?),
        sockets: 1,
        clusters: 1, // off, as servers are delivered
        cores,
        active_cores: cores, // all, as servers are delivered
        slices: of.number("slices")?,
        slice_set_bits: sets.is_power_of_two().then(|| sets.trailing_zeros()).ok_or(value("slice_sets", sets))?,
        slice_ways: of.number("slice_ways")?,
        threads_per_core: of.number("threads_per_core")?,
        memory: 64 << 30, // sixteen subchannels of 4 GiB; what line numbers of 32 bits allow for two sockets
        grid_mhz: of.number("grid_mhz")?,
        core_mhz: of.number("core_mhz")?,
        uncore_mhz: of.number("uncore_mhz")?,
        link_mhz: of.number("link_mhz")?,
        memory_mhz: timing("memory", &memory)?.0,
        fill_buffers: of.number("fill_buffers")?,
        reorder_buffer: of.number("reorder_buffer")?,
        translation: TranslationSizes {
            first: [of.tlb("tlb_first")?, of.tlb("tlb_first_large")?],
            second: [of.tlb("tlb_second")?, of.tlb("tlb_second_large")?],
            second_cycles: of.number("tlb_second_cycles")?,
            walk_cycles: of.number("walk_cycles")?,
            walkers: of.number("walkers")?,
        },
        prefetch_buffers: of.number("prefetch_buffers")?,
        writeback_buffers: of.number("writeback_buffers")?,
        hit_interval: of.number("hit_interval")?,
        request_interval: of.number("request_interval")?,
        memory_interval: of.number("memory_interval")?,
        l2_latency: of.number("l2_latency")?,
        miss_to_mesh: of.number("miss_to_mesh")?,
        mesh_to_use: of.number("mesh_to_use")?,
        mesh_base: of.number("mesh_base")?,
        mesh_hop: of.number("mesh_hop")?,
        mesh_crossing: of.number("mesh_crossing")?,
        mesh_bridge: of.number("mesh_bridge")?,
        ingress_entries: of.number("ingress_entries")?,
        ingress_latency: of.number("ingress_latency")?,
        tor_entries: of.number("tor_entries")?,
        home_entries: of.number("home_entries")?,
        llc_data: of.number("llc_data")?,
        llc_miss: of.number("llc_miss")?,
        llc_quick: of.number("llc_quick")?,
        core_snoop: of.number("core_snoop")?,
        xpt: true,          // on, as servers are delivered
        upi_prefetch: true, // the same
        mesh_to_memory: of.number("mesh_to_memory")?,
        memory_to_mesh: of.number("memory_to_mesh")?,
        isochronous_entries: 0, // none, as servers are delivered (assumption)
        dram,
        link_slot: of.number("link_slot")?,
        link_crossing: of.number("link_crossing")?,
        expanders: of.number("expanders")?,
        accelerators: 0, // none, as in most servers
        expander_way: of.number("expander_way")?,
        expander_dram: expander.map(|memory| timing("expander_memory", &memory)).transpose()?.map(|(_, timing)| timing),
    };
    of.has_no_more()?;
    Ok(parameters)
}

/// Rates of memory: name, clock of the data bus in MHz, timing.
static RATES: [(&str, u64, Timing); 2] =
    [("ddr5-5600", 2800, Timing::ddr5_5600()), ("ddr5-4800", 2400, Timing::ddr5_4800())];

/// The clock of the data bus in MHz, and the timing, of memory of a rate.
fn timing(key: &'static str, rate: &str) -> Result<(u64, Timing), PartError> {
    let known = RATES.iter().find(|(name, ..)| *name == rate);
    known.map(|(_, clock, timing)| (*clock, timing.clone())).ok_or_else(|| PartError::Memory(key, rate.to_owned()))
}

fn value(key: &'static str, value: impl ToString) -> PartError {
    PartError::Value(key, value.to_string())
}

fn refused(key: &'static str, found: &Value) -> PartError {
    match found {
        Value::Integer(number) => value(key, number),
        Value::String(text) => value(key, text),
        other => value(key, format!("a value of type {}", other.type_str())),
    }
}

/// Values that have not been read yet.
struct Values(Table);

impl Values {
    fn take(&mut self, key: &'static str) -> Result<Value, PartError> {
        self.0.remove(key).ok_or(PartError::Missing(key))
    }

    fn number<T: TryFrom<i64>>(&mut self, key: &'static str) -> Result<T, PartError> {
        let found = self.take(key)?;
        found.as_integer().and_then(|number| T::try_from(number).ok()).ok_or_else(|| refused(key, &found))
    }

    fn text(&mut self, key: &'static str) -> Result<String, PartError> {
        let found = self.take(key)?;
        found.as_str().map(str::to_owned).ok_or_else(|| refused(key, &found))
    }

    /// A list of lines, as one text.
    fn lines(&mut self, key: &'static str) -> Result<String, PartError> {
        let found = self.take(key)?;
        let lines = found.as_array().and_then(|lines| lines.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        lines.map(|lines| lines.join("\n")).ok_or_else(|| refused(key, &found))
    }

    fn ratios(&mut self) -> Result<[u8; 3], PartError> {
        let found = self.take("ratios")?;
        let numbers = found.as_array().map(|list| list.iter().filter_map(Value::as_integer));
        let small = numbers.map(|all| all.filter_map(|number| u8::try_from(number).ok()).collect::<Vec<_>>());
        small.and_then(|all| all.try_into().ok()).ok_or_else(|| refused("ratios", &found))
    }

    /// Entries and ways of a TLB.
    fn tlb(&mut self, key: &'static str) -> Result<TlbSize, PartError> {
        let found = self.take(key)?;
        let numbers = found.as_array().map(|list| list.iter().filter_map(Value::as_integer));
        let small = numbers.map(|all| all.filter_map(|number| u16::try_from(number).ok()).collect::<Vec<_>>());
        match small.as_deref() {
            Some(&[entries, ways]) => Ok(TlbSize { entries, ways }),
            _ => Err(refused(key, &found)),
        }
    }

    fn section(&mut self, key: &'static str) -> Result<Table, PartError> {
        match self.take(key)? {
            Value::Table(table) => Ok(table),
            other => Err(refused(key, &other)),
        }
    }

    fn has_no_more(&self) -> Result<(), PartError> {
        self.0.keys().next().map_or(Ok(()), |key| Err(PartError::Unknown(key.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::{PARTS, PartError, read, shipped_by_name, shipped_part};

    #[test]
    fn shipped_parts_are_sound() {
        let parts: Vec<_> = (0..PARTS.len()).map(shipped_part).collect();
        for part in &parts {
            assert_eq!(part.parameters.check(), Ok(()), "{}", part.name);
        }
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["8592+", "8568", "8480+", "8490h"]);
        assert!(names.iter().all(|name| shipped_by_name(name).is_some_and(|part| part.name == *name)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |from: &str, to: &str| {
            assert!(PARTS[0].contains(from), "{from}");
            read(&PARTS[0].replace(from, to), |_| None).unwrap_err().to_string()
        };
        assert_eq!(wrong("cores = 64", "cores = 640"), "cores cannot be 640");
        assert_eq!(
            wrong("cores = 64", "hearts = 64"),
            "cores is missing: add it, or name a part that has it (like = ...)"
        );
        assert_eq!(wrong("cores = 64", "cores = 64\nhearts = 1"), "hearts is no key of a part: remove it");
        assert_eq!(wrong("slice_sets = 4096", "slice_sets = 4095"), "slice_sets cannot be 4095");
        assert_eq!(
            wrong("\"emerald-rapids\"", "\"nehalem\""),
            "family cannot be nehalem: give one of emerald-rapids, sapphire-rapids"
        );
        assert_eq!(wrong("ddr5-5600", "ddr5-9"), "memory cannot be ddr5-9: give one of ddr5-5600, ddr5-4800");
        // 70,000 is 25 times 2,800, and 29.17 times 2,400.
        assert_eq!(
            wrong("ddr5-5600", "ddr5-4800"),
            "memory is 2400 MHz, of which grid_mhz = 70000 is no multiple: give grid_mhz a multiple of all clocks"
        );
        assert_eq!(wrong("MCCCCCM", "MCCCQCM"), "mesh: line 4 has 'Q': draw stops as P U M C .");
        assert!(matches!(read(PARTS[1], |_| None), Err(PartError::Value("like", _))));
    }
}
