//! Writes the catalogue as Rust statics, for inclusion in `pericore-catalog`.

use std::fmt::Write;

use crate::schema::{
    Catalogue, DecodeRow, Event, Family, Field, FilterNeed, FilterUse, Limit, Locations, Metric, NamedValue, Operand,
    Placement, Register, Selector, Signal, Subevent, Term, Unit,
};

/// The source text of `pub static FAMILIES`, `DEVIATIONS` and `CHOICES`.
pub fn rust(catalogue: &Catalogue) -> String {
    let mut out = String::from("// Written by the build from catalog/. Do not edit.\n");
    let families = list(&catalogue.families, |family| {
        let units = list(&family.units, |unit| {
            let name = identifier(&format!("{}_{}", family.name, unit.name));
            let _ = writeln!(out, "static {name}: Unit = {};", unit_row(family, unit));
            name
        })
        // Units are statics of their own, and a static can be named but not copied: refer to them.
        .replace("&[", "&[&");
        family_row(family, &units.replace(", ", ", &"))
    });
    let _ = writeln!(out, "pub static FAMILIES: &[Family] = {families};");
    let deviations = list(&catalogue.deviations, |d| {
        format!(
            "Deviation {{ family: {:?}, unit: {:?}, subject: {:?}, field: {:?}, guide: {:?}, intel: {:?}, ours: {:?}, evidence: {:?} }}",
            d.family, d.unit, d.event, d.field, d.guide, d.intel, d.ours, d.evidence
        )
    });
    let _ = writeln!(out, "pub static DEVIATIONS: &[Deviation] = {deviations};");
    let choices = list(&catalogue.choices, |c| {
        format!(
            "Choice {{ subject: {:?}, family: {:?}, unit: {:?}, documents: {:?}, choice: {:?}, why: {:?}, others: {:?} }}",
            c.subject, c.family, c.unit, c.documents, c.choice, c.why, c.others
        )
    });
    let _ = writeln!(out, "pub static CHOICES: &[Choice] = {choices};");
    out
}

fn list<T>(rows: &[T], row: impl FnMut(&T) -> String) -> String {
    format!("&[{}]", rows.iter().map(row).collect::<Vec<_>>().join(", "))
}

fn identifier(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

fn family_row(family: &Family, units: &str) -> String {
    format!(
        "Family {{ name: {:?}, aliases: &{:?}, title: {:?}, documents: {}, cpus: {}, clocks: {}, default_metrics: &{:?}, units: {units}, value_sets: {} }}",
        family.name,
        family.aliases,
        family.title,
        list(&family.documents, |(cite, title)| format!("Document {{ cite: {cite:?}, title: {title:?} }}")),
        list(&family.cpus, |(family, model)| format!("CpuModel {{ family: {family}, model: {model} }}")),
        list(&family.clocks, |(name, text)| format!("ClockDomain {{ name: {name:?}, description: {text:?} }}")),
        family.default_metrics,
        list(&family.value_sets, |set| format!(
            "ValueSet {{ name: {:?}, source: {:?}, values: {} }}",
            set.name,
            set.source,
            list(&set.values, value_row)
        )),
    )
}

fn value_row(value: &NamedValue) -> String {
    format!("NamedValue {{ name: {:?}, value: {:#x}, description: {:?} }}", value.name, value.value, value.description)
}

fn unit_row(family: &Family, unit: &Unit) -> String {
    let instances = unit.placements.first().map_or(0, |placement| placement.locations.len());
    format!(
        "Unit {{ name: {:?}, title: {:?}, description: {:?}, source: {:?}, intel_unit: {:?}, intel_prefix: {:?}, perf_pmu: {:?}, perf_events: &{:?}, \
         clock: {:?}, instances: {instances}, discovery_type: {:?}, isolated: &{:?}, counters: {}, counter_width: {}, placements: {}, registers: {}, \
         field_sets: {}, signals: {}, events: {}, metrics: {}, caveats: &{:?} }}",
        unit.name,
        unit.title,
        unit.description,
        unit.source,
        unit.intel_unit,
        unit.intel_prefix,
        unit.perf_pmu,
        unit.perf_events,
        unit.clock,
        unit.discovery_type,
        unit.isolated,
        unit.counters,
        unit.counter_width,
        list(&unit.placements, placement_row),
        list(&unit.registers, |register| register_row(family, unit, register)),
        list(&unit.field_sets, |set| format!(
            "FieldSet {{ name: {:?}, fields: {}, source: {:?} }}",
            set.name,
            list(&set.fields, |field| field_row(family, field)),
            set.source
        )),
        list(&unit.signals, signal_row),
        list(&unit.events, |event| event_row(unit, event)),
        list(&unit.metrics, metric_row),
        unit.caveats,
    )
}

fn placement_row(placement: &Placement) -> String {
    let (space, instances) = match &placement.locations {
        Locations::Msr(bases) => ("Msr", list(bases, |base| format!("Location::Msr {{ base: {base:#x} }}"))),
        Locations::Pci(functions) => (
            "PciConfig",
            list(functions, |(device, function)| format!("Location::Pci {{ device: {device}, function: {function} }}")),
        ),
        Locations::Mmio(bars) => (
            "Mmio",
            list(bars, |(bar, index, offset)| {
                format!("Location::Mmio {{ bar: {bar:?}, index: {index}, offset: {offset:#x} }}")
            }),
        ),
    };
    format!(
        "Placement {{ name: {:?}, space: AddressSpace::{space}, instances: {instances}, device_ids: &{:?}, bus: {} }}",
        placement.name, placement.device_ids, placement.bus
    )
}

fn register_row(family: &Family, unit: &Unit, register: &Register) -> String {
    let placement = unit.placements.iter().position(|placement| placement.name == register.placement).unwrap_or(0);
    let role: String = register.role.split('_').map(capitalised).collect();
    let mut fields: Vec<&Field> = register.fields.iter().collect();
    fields.sort_by_key(|field| std::cmp::Reverse(field.lsb));
    format!(
        "Register {{ name: {:?}, guide_name: {:?}, role: Role::{role}, placement: {placement}, offset: {:#x}, count: {}, stride: {}, \
         width: {}, reset: {:#x}, fields: {}, description: {:?}, source: {:?}, caveats: &{:?}, event: {:?}, signal: {:?}, measure: Measure::{}, \
         when: {} }}",
        register.name,
        register.guide_name,
        register.offset,
        register.count,
        register.stride,
        register.width,
        register.reset,
        list(&fields, |field| field_row(family, field)),
        register.description,
        register.source,
        register.caveats,
        register.event,
        register.signal_index,
        measure(&register.measure),
        list(&register.when, |term| term_row(unit, register.signal_index, term)),
    )
}

fn field_row(family: &Family, field: &Field) -> String {
    let access = match field.access.as_str() {
        "RO" => "ReadOnly",
        "RO-V" => "ReadOnlyVolatile",
        "RW" => "ReadWrite",
        "RW-V" => "ReadWriteVolatile",
        "WO" => "WriteOnly",
        "RW1C" => "ReadWriteOneClears",
        "IG" => "Ignored",
        _ => "Reserved",
    };
    let set = field.values.as_ref().and_then(|name| family.value_sets.iter().find(|set| set.name == *name));
    format!(
        "Field {{ name: {:?}, bits: BitRange::new({}, {}), access: FieldAccess::{access}, description: {:?}, values: {} }}",
        field.name,
        field.msb,
        field.lsb,
        field.description,
        set.map_or_else(|| "&[]".to_owned(), |set| list(&set.values, value_row)),
    )
}

fn signal_row(signal: &Signal) -> String {
    let mut lsb = 0;
    let attributes = list(&signal.attributes, |(name, width)| {
        let row = format!("Attribute {{ name: {name:?}, bits: BitRange::new({}, {lsb}) }}", lsb + width - 1);
        lsb += width;
        row
    });
    format!(
        "Signal {{ name: {:?}, kind: SignalKind::{}, attributes: {attributes}, description: {:?} }}",
        signal.name,
        if signal.level { "Level" } else { "Pulses" },
        signal.description,
    )
}

fn event_row(unit: &Unit, event: &Event) -> String {
    let measure = measure(&event.measure);
    let field_set = event.field_set.as_ref().and_then(|name| unit.field_sets.iter().position(|set| set.name == *name));
    let counters = event.counters.unwrap_or(0);
    format!(
        "Event {{ name: {:?}, code: {:#x}, config: {:#x}, counters: {counters:#x}, max_increment: {:?}, description: {:?}, source: {:?}, \
         caveats: &{:?}, filters: {}, field_set: {field_set:?}, signal: {:?}, measure: Measure::{measure}, decode: {}, subevents: {}, \
         category: {:?}, later: {} }}",
        event.name,
        event.code,
        event.config,
        event.max_increment,
        event.description,
        event.source,
        event.caveats,
        list(&event.filters, filter_row),
        event.signal_index,
        list(&event.decode, |row| decode_row(unit, event, row)),
        list(&event.subevents, |subevent| subevent_row(event, subevent)),
        event.category,
        event.later,
    )
}

fn subevent_row(event: &Event, subevent: &Subevent) -> String {
    let filters = if subevent.filters.is_empty() { &event.filters } else { &subevent.filters };
    format!(
        "Subevent {{ name: {:?}, umask: {}, config: {:#x}, counters: {:#x}, max_increment: {:?}, description: {:?}, source: {:?}, \
         caveats: &{:?}, filters: {}, later: {} }}",
        subevent.name,
        subevent.umask.map_or_else(|| "None".to_owned(), |umask| format!("Some({umask:#x})")),
        subevent.config,
        subevent.counters.or(event.counters).unwrap_or(0),
        subevent.max_increment.or(event.max_increment),
        subevent.description,
        subevent.source.as_ref().unwrap_or(&event.source),
        subevent.caveats,
        list(filters, filter_row),
        subevent.later || event.later,
    )
}

fn filter_row(filter: &FilterUse) -> String {
    let need = match filter.need {
        FilterNeed::Required => "Required".to_owned(),
        FilterNeed::Optional => "Optional".to_owned(),
        FilterNeed::Default(value) => format!("Default({value:#x})"),
    };
    format!("FilterUse {{ field: {:?}, need: FilterNeed::{need} }}", filter.field)
}

fn decode_row(unit: &Unit, event: &Event, row: &DecodeRow) -> String {
    let terms = list(&row.terms, |term| term_row(unit, event.signal_index, term));
    let role = capitalised(row.role);
    let selector = match &row.selector {
        Selector::Always => "Always".to_owned(),
        Selector::Umask(bit) => format!("Umask({bit})"),
        Selector::Field(field, bit) => format!("Field({field:?}, {bit})"),
    };
    format!(
        "DecodeRow {{ selector: Selector::{selector}, role: DecodeRole::{role}, group: {}, terms: {terms} }}",
        row.group
    )
}

fn term_row(unit: &Unit, signal: Option<u16>, term: &Term) -> String {
    let signal = signal.map(|index| &unit.signals[usize::from(index)]);
    let named = |name: &str| signal.and_then(|signal| signal.attributes.iter().position(|(known, _)| known == name));
    // Validation reports names that are not there.
    let attribute = named(&term.attribute).unwrap_or_default();
    let operand = |operand: &Operand| match operand {
        Operand::Value(value) => format!("Operand::Value({value:#x})"),
        Operand::Field(field) => format!("Operand::Field({field:?})"),
    };
    format!(
        "Term {{ attribute: {attribute}, relation: Relation::{}, operand: {}, mask: {} }}",
        term.relation,
        operand(&term.operand),
        operand(&term.mask),
    )
}

fn measure(name: &str) -> &'static str {
    match name {
        "occupancy" => "Occupancy",
        "nonempty" => "NonEmpty",
        "clock" => "Clock",
        "counter0" => "Counter0",
        _ => "Arrivals",
    }
}

fn metric_row(metric: &Metric) -> String {
    format!(
        "Metric {{ name: {:?}, expression: {:?}, printed: {:?}, unit_of_measure: {:?}, description: {:?}, source: {:?}, caveats: &{:?}, \
         limit: {} }}",
        metric.name,
        metric.expression,
        metric.printed,
        metric.unit_of_measure,
        metric.description,
        metric.source,
        metric.caveats,
        metric.limit.as_ref().map_or_else(|| "None".to_owned(), limit_row),
    )
}

fn limit_row(limit: &Limit) -> String {
    format!("Some(Limit {{ above: {}, means: {:?}, see: &{:?} }})", limit.above, limit.means, limit.see)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}
