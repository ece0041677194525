//! A block's identity, registers and signals, and where a family has it.

use pericore_catalog_schema::{FieldAccess, Measure, Role, SignalKind, SocketBus};

use super::event;
use super::number;
use super::row::Row;
use crate::schema::{Field, FieldSet, Layout, Locations, Placement, Register, Signal, Unit};

/// What `block.toml` says: a unit without its place and parts.
pub fn read(row: &mut Row<'_, '_>) -> Unit {
    Unit {
        place: row.place(),
        title: row.string("title"),
        description: row.string("description"),
        source: row.string("source"),
        intel_unit: row.optional_string("intel_unit"),
        intel_prefix: row.optional_string("intel_prefix"),
        perf_pmu: row.optional_string("perf_pmu"),
        perf_events: row.tables("perf_event", None, |row| (row.string("name"), row.string("means"))),
        clock: row.string("clock"),
        counters: row.number("counters"),
        counter_width: row.number("counter_width"),
        one_per: row.optional_word("one_per", "thing that there is one instance for"),
        discovery_type: row.optional_number("discovery_type"),
        caveats: row.strings("caveats"),
        ..Unit::default()
    }
}

/// Fields under a name, for registers that are alike.
pub fn layout(row: &mut Row<'_, '_>) -> Layout {
    Layout { name: row.string("name"), fields: row.tables("fields", None, field) }
}

/// A set of fields that events lay over the control register.
pub fn field_set(row: &mut Row<'_, '_>) -> FieldSet {
    FieldSet {
        place: row.place(),
        name: row.string("name"),
        source: row.string("source"),
        fields: row.tables("fields", None, field),
    }
}

/// Where a family has the instances of a unit.
pub fn placement(row: &mut Row<'_, '_>) -> Placement {
    let space = row.string("space");
    let locations = match space.as_str() {
        "msr" => Locations::Msr(msr_bases(row)),
        "pcicfg" => Locations::Pci(row.tables("functions", None, |row| (row.number("device"), row.number("function")))),
        "mmio" => Locations::Mmio(
            row.tables("bars", None, |row| (row.string("bar"), row.number("index"), row.number("offset"))),
        ),
        other => {
            row.report("space", format!("no address space {other:?}"), "write msr, pcicfg or mmio");
            Locations::Msr(Vec::new())
        }
    };
    Placement {
        place: row.place(),
        name: row.optional_string("name").unwrap_or_else(|| "main".to_owned()),
        locations,
        device_ids: row.numbers("device_ids"),
        bus: socket_bus(row),
    }
}

fn socket_bus(row: &mut Row<'_, '_>) -> SocketBus {
    let after = row.optional_number("bus");
    let Some(stack) = row.optional_number("stack") else { return SocketBus::Uncore(after.unwrap_or(0)) };
    if after.is_some() {
        row.report("stack", "a placement is on one bus, and has both bus and stack", "remove one of them");
    }
    SocketBus::Stack(stack)
}

fn msr_bases(row: &mut Row<'_, '_>) -> Vec<u32> {
    let listed = row.numbers("bases");
    if !listed.is_empty() {
        return listed;
    }
    let base: u32 = row.number("base");
    let count: u32 = row.optional_number("count").unwrap_or(1);
    let stride: u32 = row.optional_number("stride").unwrap_or(0);
    if count > 1 && stride == 0 {
        row.report("count", "several instances at one address", "add stride = 0x…");
    }
    (0..count.min(1024)).map(|index| base + index * stride).collect()
}

/// A register.
pub fn register(row: &mut Row<'_, '_>) -> Register {
    let name = row.string("name");
    Register {
        place: row.place(),
        guide_name: row.string("guide_name"),
        role: row.word("role", "role", Role::Identity),
        placement: row.optional_string("placement").unwrap_or_else(|| "main".to_owned()),
        offset: row.number("offset"),
        count: row.optional_number("count").unwrap_or(1),
        stride: row.optional_number("stride").unwrap_or(0),
        width: row.number("width"),
        reset: row.optional_number("reset").unwrap_or(0),
        fields: row.tables("fields", None, field),
        layout: row.optional_string("layout"),
        description: row.string("description"),
        source: row.string("source"),
        caveats: row.strings("caveats"),
        doubt: row.optional_string("doubt"),
        identity: row.optional_word("identity", "identity"),
        event: row.optional_string("event"),
        signal: row.optional_string("signal"),
        measure: row.optional_word("measure", "measure").unwrap_or(Measure::Arrivals),
        when: event::terms(row, "when"),
        signal_index: None,
        name,
    }
}

fn field(row: &mut Row<'_, '_>) -> Field {
    let printed = row.string("bits");
    let (msb, lsb) = number::bits(&printed).unwrap_or_else(|| {
        row.report("bits", format!("{printed:?} is no bit range"), "write \"31:24\" or \"22\"");
        (0, 0)
    });
    let name = row.string("name");
    let reserved = matches!(name.as_str(), "rsv" | "ig");
    Field {
        place: row.place(),
        msb,
        lsb,
        access: row.word("access", "access", FieldAccess::Reserved),
        description: if reserved {
            row.optional_string("description").unwrap_or_default()
        } else {
            row.string("description")
        },
        values: row.optional_string("values"),
        name,
    }
}

/// A signal.
pub fn signal(row: &mut Row<'_, '_>) -> Signal {
    Signal {
        place: row.place(),
        name: row.string("name"),
        kind: row.word("kind", "kind of signal", SignalKind::Pulses),
        description: row.string("description"),
        attributes: row.tables("attributes", None, |row| (row.string("name"), row.number("width"))),
    }
}
