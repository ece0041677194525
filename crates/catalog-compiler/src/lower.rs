//! From the rows of the files to the rows of the compiled catalogue: names become indices, defaults are filled in.
//!
//! Compiled rows lie in an arena: when they are packed, or no longer needed, it goes.

use pericore_catalog_schema as compiled;
use pericore_catalog_schema::{Arena, Numbering};
use pericore_registers::{AddressSpace, BitRange};

use crate::schema::{
    Catalogue, CoreMsrRow, DecodeRow, Event, Family, Field, FilterUse, FunctionRow, Limit, Locations, Metric,
    NamedValue, Operand, Placement, ProcessorRow, Register, Selector, Signal, Subevent, Term, Unit,
};

fn list<'c, T, U>(to: &'c Arena, rows: &[T], row: impl FnMut(&T) -> U) -> &'c [U] {
    to.list(rows.iter().map(row))
}

fn optional<'c>(to: &'c Arena, found: Option<&String>) -> Option<&'c str> {
    found.map(|found| to.text(found))
}

fn texts<'c>(to: &'c Arena, texts: &[String]) -> &'c [&'c str] {
    list(to, texts, |row| to.text(row))
}

/// A family that passed validation.
pub fn family<'c>(to: &'c Arena, family: &Family) -> compiled::Family<'c> {
    compiled::Family {
        name: to.text(&family.name),
        aliases: texts(to, &family.aliases),
        title: to.text(&family.title),
        documents: list(to, &family.documents, |(cite, title)| compiled::Document {
            cite: to.text(cite),
            title: to.text(title),
        }),
        cpus: list(to, &family.cpus, |&(family, model)| compiled::CpuModel { family, model }),
        clocks: list(to, &family.clocks, |(name, description)| compiled::ClockDomain {
            name: to.text(name),
            description: to.text(description),
        }),
        default_metrics: texts(to, &family.default_metrics),
        views: list(to, &family.views, |view| compiled::MetricView {
            name: to.text(&view.name),
            title: to.text(&view.title),
            metrics: texts(to, &view.metrics),
        }),
        summary: list(to, &family.summary, |row| compiled::SummaryFigure {
            label: to.text(&row.label),
            metric: to.text(&row.metric),
            of: optional(to, row.of.as_ref()),
        }),
        floorplan: list(to, &family.floorplan, |(row, _)| to.text(row)),
        processor: family.processor.as_ref().map(|row| processor(to, row)),
        stubs: list(to, &family.stubs, |row| function(to, row)),
        discovery: family.discovery.as_ref().map(|row| function(to, row)),
        units: to.list(family.units.iter().enumerate().map(|(index, row)| to.row(unit(to, family, index, row)))),
        value_sets: list(to, &family.value_sets, |set| compiled::ValueSet {
            name: to.text(&set.name),
            source: to.text(&set.source),
            values: list(to, &set.values, |row| named_value(to, row)),
        }),
    }
}

fn function<'c>(to: &'c Arena, row: &FunctionRow) -> compiled::PciFunction<'c> {
    compiled::PciFunction {
        device: row.device,
        function: row.function,
        device_id: row.device_id,
        class: row.class,
        revision: row.revision,
        description: to.text(&row.description),
        source: to.text(&row.source),
    }
}

fn processor<'c>(to: &'c Arena, processor: &ProcessorRow) -> compiled::ProcessorPart<'c> {
    compiled::ProcessorPart {
        model: processor.model,
        stepping: processor.stepping,
        brand: to.text(&processor.brand),
        nominal_mhz: processor.nominal_mhz,
        source: to.text(&processor.source),
        leaves: list(to, &processor.leaves, |leaf| leaf.row),
        caches: list(to, &processor.caches, |cache| cache.row),
        core_msrs: core_msrs(to, processor),
    }
}

/// By address: they are looked up by it.
fn core_msrs<'c>(to: &'c Arena, processor: &ProcessorRow) -> &'c [compiled::CoreMsr<'c>] {
    let mut rows: Vec<&CoreMsrRow> = processor.core_msrs.iter().map(AsRef::as_ref).collect();
    rows.sort_by_key(|row| row.address);
    list(to, &rows, |row| compiled::CoreMsr {
        address: row.address,
        name: to.text(&row.name),
        scope: row.scope,
        kind: row.kind,
        reset: row.reset,
        controls: row.controls,
        source: to.text(&row.source),
    })
}

/// Departures from the documents, and choices.
pub fn judgements<'c>(to: &'c Arena, catalogue: &Catalogue) -> compiled::Judgements<'c> {
    compiled::Judgements {
        deviations: list(to, &catalogue.deviations, |row| compiled::Deviation {
            family: to.text(&row.family),
            unit: to.text(&row.unit),
            subject: to.text(&row.event),
            field: to.text(&row.field),
            guide: to.text(&row.guide),
            intel: to.text(&row.intel),
            ours: to.text(&row.ours),
            evidence: to.text(&row.evidence),
        }),
        choices: list(to, &catalogue.choices, |row| compiled::Choice {
            subject: to.text(&row.subject),
            family: to.text(&row.family),
            unit: to.text(&row.unit),
            documents: to.text(&row.documents),
            choice: to.text(&row.choice),
            why: to.text(&row.why),
            others: to.text(&row.others),
        }),
    }
}

fn named_value<'c>(to: &'c Arena, value: &NamedValue) -> compiled::NamedValue<'c> {
    compiled::NamedValue { name: to.text(&value.name), value: value.value, description: to.text(&value.description) }
}

fn unit<'c>(to: &'c Arena, family: &Family, index: usize, unit: &Unit) -> compiled::Unit<'c> {
    let mut ids = Numbering::of(index);
    let instances = unit.placements.first().map_or(0, |placement| placement.locations.count());
    compiled::Unit {
        id: ids.unit(),
        name: to.text(&unit.name),
        block: to.text(&unit.block),
        title: to.text(&unit.title),
        description: to.text(&unit.description),
        source: to.text(&unit.source),
        intel_unit: optional(to, unit.intel_unit.as_ref()),
        intel_prefix: optional(to, unit.intel_prefix.as_ref()),
        perf_pmu: optional(to, unit.perf_pmu.as_ref()),
        perf_events: list(to, &unit.perf_events, |(name, means)| (to.text(name), to.text(means))),
        clock: to.text(&unit.clock),
        instances: instances as u16,
        one_per: unit.one_per,
        discovery_type: unit.discovery_type,
        isolated: to.list(unit.isolated.iter().copied()),
        counters: unit.counters,
        counter_width: unit.counter_width,
        placements: list(to, &unit.placements, |row| placement(to, row)),
        registers: list(to, &unit.registers, |row| register(to, family, unit, row, &mut ids)),
        field_sets: list(to, &unit.field_sets, |set| compiled::FieldSet {
            name: to.text(&set.name),
            fields: list(to, &set.fields, |row| field(to, family, row, &mut ids)),
            source: to.text(&set.source),
        }),
        signals: list(to, &unit.signals, |row| signal(to, row)),
        events: list(to, &unit.events, |row| event(to, unit, row)),
        metrics: list(to, &unit.metrics, |row| metric(to, row)),
        caveats: texts(to, &unit.caveats),
    }
}

fn placement<'c>(to: &'c Arena, placement: &Placement) -> compiled::Placement<'c> {
    let (space, instances) = match &placement.locations {
        Locations::Msr(bases) => (AddressSpace::Msr, list(to, bases, |&base| compiled::Location::Msr { base })),
        Locations::Pci(functions) => (
            AddressSpace::PciConfig,
            list(to, functions, |&(device, function)| compiled::Location::Pci { device, function }),
        ),
        Locations::Mmio(bars) => (
            AddressSpace::Mmio,
            list(to, bars, |(bar, index, offset)| compiled::Location::Mmio {
                bar: to.text(bar),
                index: *index,
                offset: *offset,
            }),
        ),
    };
    let device_ids = to.list(placement.device_ids.iter().copied());
    compiled::Placement { name: to.text(&placement.name), space, instances, device_ids, bus: placement.bus }
}

fn register<'c>(
    to: &'c Arena,
    family: &Family,
    unit: &Unit,
    register: &Register,
    ids: &mut Numbering,
) -> compiled::Register<'c> {
    let placement = unit.placements.iter().position(|placement| placement.name == register.placement);
    let mut fields: Vec<&Field> = register.fields.iter().collect();
    fields.sort_by_key(|field| std::cmp::Reverse(field.lsb));
    compiled::Register {
        id: ids.register(),
        name: to.text(&register.name),
        guide_name: to.text(&register.guide_name),
        role: register.role,
        placement: placement.expect("validation has found the placement") as u8,
        offset: register.offset,
        count: register.count,
        stride: register.stride,
        width: register.width,
        reset: register.reset,
        fields: list(to, &fields, |row| field(to, family, row, ids)),
        description: to.text(&register.description),
        source: to.text(&register.source),
        caveats: texts(to, &register.caveats),
        doubt: optional(to, register.doubt.as_ref()),
        identity: register.identity,
        event: optional(to, register.event.as_ref()),
        signal: register.signal_index,
        measure: register.measure,
        when: list(to, &register.when, |row| term(to, unit, register.signal_index, row)),
    }
}

fn field<'c>(to: &'c Arena, family: &Family, field: &Field, ids: &mut Numbering) -> compiled::Field<'c> {
    let set = field.values.as_ref().and_then(|name| family.value_sets.iter().find(|set| set.name == *name));
    compiled::Field {
        id: ids.field(),
        name: to.text(&field.name),
        bits: BitRange::new(field.msb, field.lsb),
        access: field.access,
        description: to.text(&field.description),
        values: set.map_or(&[], |set| list(to, &set.values, |row| named_value(to, row))),
    }
}

fn signal<'c>(to: &'c Arena, signal: &Signal) -> compiled::Signal<'c> {
    let mut lsb = 0;
    let attributes = list(to, &signal.attributes, |(name, width)| {
        let bits = BitRange::new(lsb + width - 1, lsb);
        lsb += width;
        compiled::Attribute { name: to.text(name), bits }
    });
    compiled::Signal {
        name: to.text(&signal.name),
        kind: signal.kind,
        attributes,
        description: to.text(&signal.description),
    }
}

fn event<'c>(to: &'c Arena, unit: &Unit, event: &Event) -> compiled::Event<'c> {
    let set = event.field_set.as_ref().and_then(|name| unit.field_sets.iter().position(|set| set.name == *name));
    compiled::Event {
        name: to.text(&event.name),
        code: event.code,
        config: event.config,
        counters: event.counters.expect("validation has found the counters"),
        max_increment: event.max_increment,
        description: to.text(&event.description),
        source: to.text(&event.source),
        caveats: texts(to, &event.caveats),
        filters: list(to, &event.filters, |row| filter(to, row)),
        field_set: set.map(|index| index as u8),
        signal: event.signal_index,
        measure: event.measure,
        decode: list(to, &event.decode, |row| decode_row(to, unit, event, row)),
        subevents: list(to, &event.subevents, |row| subevent(to, event, row)),
        is_whole: false,
        category: to.text(&event.category),
        later: event.later,
    }
}

fn subevent<'c>(to: &'c Arena, event: &Event, subevent: &Subevent) -> compiled::Subevent<'c> {
    let filters = if subevent.filters.is_empty() { &event.filters } else { &subevent.filters };
    compiled::Subevent {
        name: to.text(&subevent.name),
        umask: subevent.umask.map(|umask| umask as u8),
        config: subevent.config,
        counters: subevent.counters.or(event.counters).expect("validation has found the counters"),
        max_increment: subevent.max_increment.or(event.max_increment),
        description: to.text(&subevent.description),
        source: to.text(subevent.source.as_ref().unwrap_or(&event.source)),
        caveats: texts(to, &subevent.caveats),
        filters: list(to, filters, |row| filter(to, row)),
        later: subevent.later || event.later,
    }
}

fn filter<'c>(to: &'c Arena, filter: &FilterUse) -> compiled::FilterUse<'c> {
    compiled::FilterUse { field: to.text(&filter.field), need: filter.need }
}

fn decode_row<'c>(to: &'c Arena, unit: &Unit, event: &Event, row: &DecodeRow) -> compiled::DecodeRow<'c> {
    compiled::DecodeRow {
        selector: match &row.selector {
            Selector::Always => compiled::Selector::Always,
            Selector::Umask(bit) => compiled::Selector::Umask(*bit),
            Selector::Field(field, bit) => compiled::Selector::Field(to.text(field), *bit),
        },
        role: row.role,
        group: row.group,
        terms: list(to, &row.terms, |row| term(to, unit, event.signal_index, row)),
    }
}

fn term<'c>(to: &'c Arena, unit: &Unit, signal: Option<u16>, term: &Term) -> compiled::Term<'c> {
    let signal = signal.map(|index| &unit.signals[usize::from(index)]);
    let attribute = signal.and_then(|signal| signal.attributes.iter().position(|(name, _)| *name == term.attribute));
    let operand = |operand: &Operand| match operand {
        Operand::Value(value) => compiled::Operand::Value(*value),
        Operand::Field(field) => compiled::Operand::Field(to.text(field)),
    };
    compiled::Term {
        attribute: attribute.expect("validation has found the attribute") as u8,
        relation: term.relation,
        operand: operand(&term.operand),
        mask: operand(&term.mask),
    }
}

fn metric<'c>(to: &'c Arena, metric: &Metric) -> compiled::Metric<'c> {
    compiled::Metric {
        name: to.text(&metric.name),
        expression: to.text(&metric.expression),
        printed: optional(to, metric.printed.as_ref()),
        unit_of_measure: to.text(&metric.unit_of_measure),
        quantity: metric.quantity().expect("validation has asked for it"),
        side: metric.side,
        description: to.text(&metric.description),
        source: to.text(&metric.source),
        caveats: texts(to, &metric.caveats),
        limit: metric.limit.as_ref().map(|row| limit(to, row)),
    }
}

fn limit<'c>(to: &'c Arena, limit: &Limit) -> compiled::Limit<'c> {
    compiled::Limit { above: limit.above, means: to.text(&limit.means), see: texts(to, &limit.see) }
}
