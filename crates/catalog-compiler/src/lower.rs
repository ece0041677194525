//! From the rows of the files to the rows of the compiled catalogue: names become indices, defaults are filled in.
//!
//! Compiled rows are `'static`, as they are in the binary; here they are leaked. The compiler runs once and ends.

use pericore_catalog_schema as compiled;
use pericore_registers::{AddressSpace, BitRange};

use crate::schema::{
    Catalogue, CoreMsrRow, DecodeRow, Event, Family, Field, FilterUse, FunctionRow, Limit, Locations, Metric,
    NamedValue, Operand, Placement, ProcessorRow, Register, Selector, Signal, Subevent, Term, Unit,
};

fn list<T, U>(rows: &[T], row: impl FnMut(&T) -> U) -> &'static [U] {
    rows.iter().map(row).collect::<Vec<_>>().leak()
}

fn text(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn optional(found: Option<&String>) -> Option<&'static str> {
    found.map(|found| text(found))
}

fn texts(texts: &[String]) -> &'static [&'static str] {
    list(texts, |row| text(row))
}

/// A family that passed validation.
pub fn family(family: &Family) -> compiled::Family {
    compiled::Family {
        name: text(&family.name),
        aliases: texts(&family.aliases),
        title: text(&family.title),
        documents: list(&family.documents, |(cite, title)| compiled::Document { cite: text(cite), title: text(title) }),
        cpus: list(&family.cpus, |&(family, model)| compiled::CpuModel { family, model }),
        clocks: list(&family.clocks, |(name, description)| compiled::ClockDomain {
            name: text(name),
            description: text(description),
        }),
        default_metrics: texts(&family.default_metrics),
        views: list(&family.views, |view| compiled::MetricView {
            name: text(&view.name),
            title: text(&view.title),
            metrics: texts(&view.metrics),
        }),
        summary: list(&family.summary, |row| compiled::SummaryFigure {
            label: text(&row.label),
            metric: text(&row.metric),
            of: optional(row.of.as_ref()),
        }),
        processor: family.processor.as_ref().map(processor),
        stubs: list(&family.stubs, function),
        discovery: family.discovery.as_ref().map(function),
        units: list(&family.units, |row| unit(family, row)).iter().collect::<Vec<_>>().leak(),
        value_sets: list(&family.value_sets, |set| compiled::ValueSet {
            name: text(&set.name),
            source: text(&set.source),
            values: list(&set.values, named_value),
        }),
    }
}

fn function(row: &FunctionRow) -> compiled::PciFunction {
    compiled::PciFunction {
        device: row.device,
        function: row.function,
        device_id: row.device_id,
        class: row.class,
        revision: row.revision,
        description: text(&row.description),
        source: text(&row.source),
    }
}

fn processor(processor: &ProcessorRow) -> compiled::ProcessorPart {
    compiled::ProcessorPart {
        model: processor.model,
        stepping: processor.stepping,
        brand: text(&processor.brand),
        nominal_mhz: processor.nominal_mhz,
        source: text(&processor.source),
        leaves: list(&processor.leaves, |leaf| leaf.row),
        caches: list(&processor.caches, |cache| cache.row),
        core_msrs: core_msrs(processor),
    }
}

/// By address: they are looked up by it.
fn core_msrs(processor: &ProcessorRow) -> &'static [compiled::CoreMsr] {
    let mut rows: Vec<&CoreMsrRow> = processor.core_msrs.iter().map(AsRef::as_ref).collect();
    rows.sort_by_key(|row| row.address);
    list(&rows, |row| compiled::CoreMsr {
        address: row.address,
        name: text(&row.name),
        scope: row.scope,
        kind: row.kind,
        reset: row.reset,
        controls: row.controls,
        source: text(&row.source),
    })
}

/// Departures from the documents, and choices.
pub fn judgements(catalogue: &Catalogue) -> compiled::Judgements {
    compiled::Judgements {
        deviations: list(&catalogue.deviations, |row| compiled::Deviation {
            family: text(&row.family),
            unit: text(&row.unit),
            subject: text(&row.event),
            field: text(&row.field),
            guide: text(&row.guide),
            intel: text(&row.intel),
            ours: text(&row.ours),
            evidence: text(&row.evidence),
        }),
        choices: list(&catalogue.choices, |row| compiled::Choice {
            subject: text(&row.subject),
            family: text(&row.family),
            unit: text(&row.unit),
            documents: text(&row.documents),
            choice: text(&row.choice),
            why: text(&row.why),
            others: text(&row.others),
        }),
    }
}

fn named_value(value: &NamedValue) -> compiled::NamedValue {
    compiled::NamedValue { name: text(&value.name), value: value.value, description: text(&value.description) }
}

fn unit(family: &Family, unit: &Unit) -> compiled::Unit {
    let instances = unit.placements.first().map_or(0, |placement| placement.locations.count());
    compiled::Unit {
        name: text(&unit.name),
        block: text(&unit.block),
        title: text(&unit.title),
        description: text(&unit.description),
        source: text(&unit.source),
        intel_unit: optional(unit.intel_unit.as_ref()),
        intel_prefix: optional(unit.intel_prefix.as_ref()),
        perf_pmu: optional(unit.perf_pmu.as_ref()),
        perf_events: list(&unit.perf_events, |(name, means)| (text(name), text(means))),
        clock: text(&unit.clock),
        instances: instances as u16,
        one_per: unit.one_per,
        discovery_type: unit.discovery_type,
        isolated: unit.isolated.clone().leak(),
        counters: unit.counters,
        counter_width: unit.counter_width,
        placements: list(&unit.placements, placement),
        registers: list(&unit.registers, |row| register(family, unit, row)),
        field_sets: list(&unit.field_sets, |set| compiled::FieldSet {
            name: text(&set.name),
            fields: list(&set.fields, |row| field(family, row)),
            source: text(&set.source),
        }),
        signals: list(&unit.signals, signal),
        events: list(&unit.events, |row| event(unit, row)),
        metrics: list(&unit.metrics, metric),
        caveats: texts(&unit.caveats),
    }
}

fn placement(placement: &Placement) -> compiled::Placement {
    let (space, instances) = match &placement.locations {
        Locations::Msr(bases) => (AddressSpace::Msr, list(bases, |&base| compiled::Location::Msr { base })),
        Locations::Pci(functions) => (
            AddressSpace::PciConfig,
            list(functions, |&(device, function)| compiled::Location::Pci { device, function }),
        ),
        Locations::Mmio(bars) => (
            AddressSpace::Mmio,
            list(bars, |(bar, index, offset)| compiled::Location::Mmio {
                bar: text(bar),
                index: *index,
                offset: *offset,
            }),
        ),
    };
    let device_ids = placement.device_ids.clone().leak();
    compiled::Placement { name: text(&placement.name), space, instances, device_ids, bus: placement.bus }
}

fn register(family: &Family, unit: &Unit, register: &Register) -> compiled::Register {
    let placement = unit.placements.iter().position(|placement| placement.name == register.placement);
    let mut fields: Vec<&Field> = register.fields.iter().collect();
    fields.sort_by_key(|field| std::cmp::Reverse(field.lsb));
    compiled::Register {
        name: text(&register.name),
        guide_name: text(&register.guide_name),
        role: register.role,
        placement: placement.expect("validation has found the placement") as u8,
        offset: register.offset,
        count: register.count,
        stride: register.stride,
        width: register.width,
        reset: register.reset,
        fields: list(&fields, |row| field(family, row)),
        description: text(&register.description),
        source: text(&register.source),
        caveats: texts(&register.caveats),
        identity: register.identity,
        event: optional(register.event.as_ref()),
        signal: register.signal_index,
        measure: register.measure,
        when: list(&register.when, |row| term(unit, register.signal_index, row)),
    }
}

fn field(family: &Family, field: &Field) -> compiled::Field {
    let set = field.values.as_ref().and_then(|name| family.value_sets.iter().find(|set| set.name == *name));
    compiled::Field {
        name: text(&field.name),
        bits: BitRange::new(field.msb, field.lsb),
        access: field.access,
        description: text(&field.description),
        values: set.map_or(&[], |set| list(&set.values, named_value)),
    }
}

fn signal(signal: &Signal) -> compiled::Signal {
    let mut lsb = 0;
    let attributes = list(&signal.attributes, |(name, width)| {
        let bits = BitRange::new(lsb + width - 1, lsb);
        lsb += width;
        compiled::Attribute { name: text(name), bits }
    });
    compiled::Signal { name: text(&signal.name), kind: signal.kind, attributes, description: text(&signal.description) }
}

fn event(unit: &Unit, event: &Event) -> compiled::Event {
    let set = event.field_set.as_ref().and_then(|name| unit.field_sets.iter().position(|set| set.name == *name));
    compiled::Event {
        name: text(&event.name),
        code: event.code,
        config: event.config,
        counters: event.counters.expect("validation has found the counters"),
        max_increment: event.max_increment,
        description: text(&event.description),
        source: text(&event.source),
        caveats: texts(&event.caveats),
        filters: list(&event.filters, filter),
        field_set: set.map(|index| index as u8),
        signal: event.signal_index,
        measure: event.measure,
        decode: list(&event.decode, |row| decode_row(unit, event, row)),
        subevents: list(&event.subevents, |row| subevent(event, row)),
        is_whole: false,
        category: text(&event.category),
        later: event.later,
    }
}

fn subevent(event: &Event, subevent: &Subevent) -> compiled::Subevent {
    let filters = if subevent.filters.is_empty() { &event.filters } else { &subevent.filters };
    compiled::Subevent {
        name: text(&subevent.name),
        umask: subevent.umask.map(|umask| umask as u8),
        config: subevent.config,
        counters: subevent.counters.or(event.counters).expect("validation has found the counters"),
        max_increment: subevent.max_increment.or(event.max_increment),
        description: text(&subevent.description),
        source: text(subevent.source.as_ref().unwrap_or(&event.source)),
        caveats: texts(&subevent.caveats),
        filters: list(filters, filter),
        later: subevent.later || event.later,
    }
}

fn filter(filter: &FilterUse) -> compiled::FilterUse {
    compiled::FilterUse { field: text(&filter.field), need: filter.need }
}

fn decode_row(unit: &Unit, event: &Event, row: &DecodeRow) -> compiled::DecodeRow {
    compiled::DecodeRow {
        selector: match &row.selector {
            Selector::Always => compiled::Selector::Always,
            Selector::Umask(bit) => compiled::Selector::Umask(*bit),
            Selector::Field(field, bit) => compiled::Selector::Field(text(field), *bit),
        },
        role: row.role,
        group: row.group,
        terms: list(&row.terms, |row| term(unit, event.signal_index, row)),
    }
}

fn term(unit: &Unit, signal: Option<u16>, term: &Term) -> compiled::Term {
    let signal = signal.map(|index| &unit.signals[usize::from(index)]);
    let attribute = signal.and_then(|signal| signal.attributes.iter().position(|(name, _)| *name == term.attribute));
    let operand = |operand: &Operand| match operand {
        Operand::Value(value) => compiled::Operand::Value(*value),
        Operand::Field(field) => compiled::Operand::Field(text(field)),
    };
    compiled::Term {
        attribute: attribute.expect("validation has found the attribute") as u8,
        relation: term.relation,
        operand: operand(&term.operand),
        mask: operand(&term.mask),
    }
}

fn metric(metric: &Metric) -> compiled::Metric {
    compiled::Metric {
        name: text(&metric.name),
        expression: text(&metric.expression),
        printed: optional(metric.printed.as_ref()),
        unit_of_measure: text(&metric.unit_of_measure),
        quantity: metric.quantity().expect("validation has asked for it"),
        side: metric.side,
        description: text(&metric.description),
        source: text(&metric.source),
        caveats: texts(&metric.caveats),
        limit: metric.limit.as_ref().map(limit),
    }
}

fn limit(limit: &Limit) -> compiled::Limit {
    compiled::Limit { above: limit.above, means: text(&limit.means), see: texts(&limit.see) }
}
