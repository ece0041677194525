//! A family without registers of its own, in the shape of those that have them: look-ups, the event syntax and
//! metrics work alike.
//!
//! Its units have the fields that the driver lets through, and no places. What Intel's files do not say, such as
//! largest increments, is empty.

use super::pool::name;
use crate::event_file::{FileMetric, with_metrics};
use crate::model::{
    AttributeWord, Event, Family, Field, FieldAccess, FilterNeed, FilterUse, KernelFamily, KernelUnit, Measure,
    MetricView, Numbering, Placement, PmuEvent, PmuField, PmuRow, Register, Role, SocketBus, Subevent, Unit, lasting,
};
use crate::{AddressSpace, BitRange};

/// The driver says how many instances there are; this only bounds the numbers that a user may write. Hardware threads
/// are the most: Linux's own limit on x86.
const INSTANCES: u16 = 8192;

/// Where units and registers are described.
const SOURCE: &str = "Linux's uncore driver, Intel's event files";

/// The ninth bit of an event select.
const EXTENSION: &str = "ev_sel_ext";

fn list<T>(rows: impl IntoIterator<Item = T>) -> &'static [T] {
    lasting().list(rows)
}

/// The family. Rows live as long as the process, as those of other families do.
pub fn family(tables: &'static KernelFamily) -> &'static Family {
    let bare = lasting().row(without_metrics(tables));
    let metrics: Vec<FileMetric<'static>> = tables.metrics.iter().map(FileMetric::of_table).collect();
    with_metrics(lasting(), bare, &metrics, tables.metrics_source).family
}

/// A family with registers, and beside its own the units that only the driver counts, with their metrics.
pub fn beside(own: &'static Family, tables: &'static KernelFamily) -> &'static Family {
    let others = tables.units.iter().filter(|other| own.unit(other.name).is_none());
    let others = others.filter(|unit| !unit.pmus.is_empty()).enumerate();
    // Their numbers follow those of the family's own.
    let others = others.map(|(index, other)| lasting().row(unit(own.units.len() + index, other)));
    let is_new = |view: &&MetricView| own.views.iter().all(|known| known.name != view.name);
    let views = list(own.views.iter().chain(tables.views.iter().filter(is_new)).copied());
    let units = list(own.units.iter().copied().chain(others));
    let bare = lasting().row(Family { units, views, ..*own });
    let metrics: Vec<FileMetric<'static>> = tables.metrics.iter().map(FileMetric::of_table).collect();
    with_metrics(lasting(), bare, &metrics, tables.metrics_source).family
}

fn without_metrics(tables: &'static KernelFamily) -> Family {
    Family {
        name: tables.name,
        aliases: tables.aliases,
        title: tables.title,
        documents: tables.documents,
        cpus: list(tables.cpus.iter().map(|cpu| cpu.model)),
        processor: None,
        discovery: None,
        stubs: &[],
        clocks: &[],
        default_metrics: tables.default_metrics,
        views: tables.views,
        summary: &[],
        floorplan: &[],
        units: list(
            tables
                .units
                .iter()
                .filter(|unit| !unit.events.is_empty() || !unit.pmus.is_empty())
                .enumerate()
                .map(|(index, row)| lasting().row(unit(index, row))),
        ),
        value_sets: &[],
    }
}

fn unit(index: usize, unit: &'static KernelUnit) -> Unit {
    let mut ids = Numbering::of(index);
    let highest = unit.events.iter().flat_map(|event| event.rows).map(|row| row.counters).fold(0, |all, one| all | one);
    let words =
        [("ctl", AttributeWord::Config), ("filter", AttributeWord::Config1), ("filter1", AttributeWord::Config2)];
    let mut registers: Vec<Register> =
        words.iter().filter_map(|&(name, word)| register(&mut ids, unit, name, word)).collect();
    registers.push(counter(&mut ids, highest));
    Unit {
        id: ids.unit(),
        name: unit.name,
        block: "",
        title: unit.title,
        description: unit.title,
        source: SOURCE,
        intel_unit: Some(unit.intel_unit),
        intel_prefix: Some(unit.prefix),
        perf_pmu: unit.pmus.first().copied(),
        perf_events: unit.aliases,
        clock: "",
        instances: INSTANCES,
        one_per: None,
        discovery_type: None,
        isolated: &[],
        counters: u8::try_from(16 - highest.leading_zeros()).unwrap_or(16),
        counter_width: 48,
        placements: list([Placement {
            name: "main",
            space: AddressSpace::Msr,
            instances: &[],
            device_ids: &[],
            bus: SocketBus::Uncore(0),
        }]),
        registers: list(registers),
        field_sets: &[],
        signals: &[],
        events: list(unit.events.iter().map(|row| event(unit, row))),
        metrics: &[],
        caveats: &[],
    }
}

/// The fields of a word of `perf_event_attr`: `config` is the control register, the others hold filters.
fn register(
    ids: &mut Numbering,
    unit: &KernelUnit,
    register_name: &'static str,
    word: AttributeWord,
) -> Option<Register> {
    let of_word = unit.fields.iter().filter(|field| field.word == word);
    let mut fields: Vec<Field> = of_word.flat_map(|field| named_ranges(ids, field)).collect();
    if word == AttributeWord::Config && !fields.iter().any(|field| field.name == EXTENSION) && has_extended(unit) {
        // The driver lets it not through: what has it is refused with the field's name.
        fields.push(writable(ids, EXTENSION, BitRange::new(21, 21)));
    }
    let fields = list(fields);
    let role = if word == AttributeWord::Config { Role::Control } else { Role::Filter };
    (!fields.is_empty()).then(|| offered(ids, register_name, role, 1, fields))
}

/// The counters that events of this mask may count on. Which one does is the driver's choice.
fn counter(ids: &mut Numbering, mask: u16) -> Register {
    let count = u8::try_from(16 - mask.leading_zeros()).unwrap_or(16).max(1);
    let fields = list([writable(ids, "event_count", BitRange::new(47, 0))]);
    offered(ids, "ctr", Role::Counter, count, fields)
}

const fn offered(ids: &mut Numbering, name: &'static str, role: Role, count: u8, fields: &'static [Field]) -> Register {
    Register {
        id: ids.register(),
        name,
        guide_name: "",
        role,
        placement: 0,
        offset: 0,
        count,
        stride: 0,
        width: 64,
        reset: 0,
        fields,
        description: "As Linux's driver offers it.",
        source: SOURCE,
        caveats: &[],
        doubt: None,
        identity: None,
        event: None,
        signal: None,
        measure: Measure::Arrivals,
        when: &[],
    }
}

/// True if an event of the unit needs the extension of the event select.
fn has_extended(unit: &KernelUnit) -> bool {
    unit.events.iter().any(|event| event.code > 0xff)
}

/// A field of the driver under the names that other families have: one for each of its ranges that has a name.
fn named_ranges(ids: &mut Numbering, field: &'static PmuField) -> Vec<Field> {
    let names = match field.name {
        "event" => ["ev_sel", EXTENSION],
        "umask" => ["umask", "umask_ext"],
        "edge" => ["edge_det", ""],
        "inv" => ["invert", ""],
        "cmask" => ["thresh", ""],
        _ => [field.filter_name(), ""],
    };
    let ranges = names.into_iter().zip(field.bits).filter(|(name, _)| !name.is_empty());
    ranges.map(|(name, range)| writable(ids, name, range.0)).collect()
}

const fn writable(ids: &mut Numbering, name: &'static str, bits: BitRange) -> Field {
    Field { id: ids.field(), name, bits, access: FieldAccess::ReadWrite, description: "", values: &[] }
}

fn event(unit: &'static KernelUnit, event: &'static PmuEvent) -> Event {
    let plain = event.rows.iter().find(|row| row.subevent.is_none());
    let code = PmuRow {
        subevent: None,
        umask: 0,
        ports: 0,
        flow_classes: 0,
        filter_value: 0,
        filters: None,
        settings: &[],
        counters: event.rows.iter().fold(0, |all, row| all | row.counters),
        deprecated: false,
        offered: true,
    };
    let row = plain.unwrap_or(&code);
    Event {
        name: name(event.name),
        code: event.code & 0xff,
        config: unit.control(event, row),
        counters: code.counters,
        max_increment: None,
        description: "",
        source: "Intel's event file",
        caveats: caveats(row),
        filters: filters(unit, row),
        field_set: None,
        signal: None,
        measure: Measure::Arrivals,
        decode: &[],
        subevents: list(event.rows.iter().filter_map(|row| subevent(unit, event, row))),
        is_whole: plain.is_some(),
        category: "",
        later: false,
    }
}

fn subevent(unit: &'static KernelUnit, event: &'static PmuEvent, row: &'static PmuRow) -> Option<Subevent> {
    Some(Subevent {
        name: name(row.subevent?),
        umask: Some((row.umask & 0xff) as u8),
        config: unit.control(event, row),
        counters: row.counters,
        max_increment: None,
        description: "",
        source: "",
        caveats: caveats(row),
        filters: filters(unit, row),
        later: false,
    })
}

const fn caveats(row: &PmuRow) -> &'static [&'static str] {
    match (row.deprecated, row.offered) {
        (true, _) => &["Deprecated by Intel."],
        (_, false) => &["Linux's driver does not have this counter."],
        _ => &[],
    }
}

/// The filters that a row takes, as far as the driver has them. Where Intel gives a value, it is the default.
fn filters(unit: &'static KernelUnit, row: &PmuRow) -> &'static [FilterUse] {
    let preset = unit.filters(row);
    let known = |filter: &'static str| unit.fields.iter().map(PmuField::filter_name).any(|known| known == filter);
    let listed = row.filters.map_or("", name);
    let fields = listed.split(',').flat_map(|filter| match filter {
        // The whole register: each of its fields narrows the count.
        "filter1" => unit
            .fields
            .iter()
            .filter(|field| field.mask() >> 32 != 0)
            .filter(is_filter)
            .map(PmuField::filter_name)
            .collect(),
        "match" => unit.fields.iter().filter(is_filter).map(PmuField::filter_name).collect(),
        other if known(other) => vec![other],
        _ => Vec::new(),
    });
    let need = |field: &str| match preset.iter().find(|(name, _)| *name == field) {
        Some(&(_, value)) => FilterNeed::Default(value),
        None if listed == "filter1" || listed == "match" || field == "tid" => FilterNeed::Optional,
        None => FilterNeed::Required,
    };
    // A switch in the control register: each event takes the filter that it is for, and Intel's files do not say so.
    let is_switched = unit.fields.iter().any(|field| field.name == "tid_en")
        && known("tid")
        && listed.split(',').all(|filter| filter != "tid");
    let threads = is_switched.then_some(FilterUse { field: "tid", need: FilterNeed::Optional });
    // What Intel's row sets beside the filters that it lists: the response that an off-core request must have.
    let set = preset.iter().filter(|(name, _)| row.settings.iter().any(|(field, _)| field == name));
    let set = set.map(|&(field, value)| FilterUse { field, need: FilterNeed::Default(value) });
    list(fields.map(|field| FilterUse { field, need: need(field) }).chain(threads).chain(set))
}

fn is_filter(field: &&PmuField) -> bool {
    field.word != AttributeWord::Config
}
