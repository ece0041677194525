//! What the catalogue has of an event or a metric, by name.

use std::ffi::c_char;

use pericore_catalog::{Family, kernel};
use pericore_machine::MachineSpec;
use pericore_observe::selection::{EventSource, SelectedEvent, Selection};

use crate::code::{CallFailure, Code, guarded};
use crate::text::{NAME_SIZE, TEXT_SIZE, fixed, required};

/// What the catalogue has of an event.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct EventInfo {
    /// Value of the counter's control register that selects the event, without the enable bit; 0 where `counters` is
    /// 0.
    pub config: u64,
    /// The programmable counters that can take it, as a bit mask; 0 for an event of a fixed or free-running counter.
    pub counters: u16,
    /// The unit, such as "imc".
    pub unit: [c_char; NAME_SIZE],
    /// The event as the library writes it: `unit/EVENT.SUBEVENT/`.
    pub name: [c_char; NAME_SIZE],
    /// What it counts.
    pub description: [c_char; TEXT_SIZE],
    /// Section or table of the document that it is from.
    pub source: [c_char; NAME_SIZE],
}

/// What the catalogue has of a metric.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MetricInfo {
    /// The unit that it belongs to, such as "imc".
    pub unit: [c_char; NAME_SIZE],
    /// Name.
    pub name: [c_char; NAME_SIZE],
    /// The unit of measure of its value, such as "B" or "B/s".
    pub unit_of_measure: [c_char; NAME_SIZE],
    /// Its formula in terms of events.
    pub formula: [c_char; TEXT_SIZE],
    /// What it tells.
    pub description: [c_char; TEXT_SIZE],
    /// Section or table of the document that it is from.
    pub source: [c_char; NAME_SIZE],
}

/// Looks an event of a family up: `unit/EVENT.SUBEVENT,key=value/`, `EVENT.SUBEVENT`, or Intel's name for it.
///
/// `family` is a processor family ("emerald-rapids"), a code of Intel's ("emr"), or a software machine ("8592+").
/// Returns `PERICORE_CODE_UNKNOWN` for names that are not known; `pericore_message` points at them and has the
/// nearest.
///
/// # Safety
/// `family` and `event` are null or end with a zero; `info` is null or has room for a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pericore_find_event(
    family: *const c_char,
    event: *const c_char,
    info: *mut EventInfo,
) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (family, event) = unsafe { (required(family, "family")?, required(event, "event")?) };
        let found = find_event(family_of(family)?, event)?;
        // SAFETY: the caller's promise.
        unsafe { hand_over(info, found, "info") }
    })
}

/// Looks a metric of a family up by name, `METRIC` or `unit/METRIC`. As `pericore_find_event` otherwise.
///
/// # Safety
/// As `pericore_find_event`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pericore_find_metric(
    family: *const c_char,
    metric: *const c_char,
    info: *mut MetricInfo,
) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (family, metric) = unsafe { (required(family, "family")?, required(metric, "metric")?) };
        let found = find_metric(family_of(family)?, metric)?;
        // SAFETY: the caller's promise.
        unsafe { hand_over(info, found, "info") }
    })
}

/// Puts a result where the caller wants it.
///
/// # Safety
/// `place` is null or has room for a value.
///
/// # Errors
/// It is null.
pub unsafe fn hand_over<T>(place: *mut T, value: T, what: &str) -> Result<Code, CallFailure> {
    if place.is_null() {
        return Err(CallFailure::invalid(format!("{what} is null; give the address of a variable")));
    }
    // SAFETY: not null, and the caller promises room.
    unsafe { place.write(value) };
    Ok(Code::Ok)
}

fn family_of(name: &str) -> Result<&'static Family, CallFailure> {
    let registers = pericore_catalog::family(name);
    let family = registers.or_else(|| kernel::family(name).map(kernel::ShippedKernel::family));
    family.map_or_else(|| MachineSpec::parse(name).map(|machine| machine.family()).map_err(CallFailure::unknown), Ok)
}

fn find_event(family: &'static Family, text: &str) -> Result<EventInfo, CallFailure> {
    let mut selection = Selection::new(family);
    selection.add_events(text).map_err(CallFailure::unknown)?;
    let [event] = &selection.events[..] else {
        return Err(CallFailure::invalid(format!("{text} names {} events; name one", selection.events.len())));
    };
    let SelectedEvent { label, unit, source, .. } = event;
    let (config, counters, description, source) = match source {
        EventSource::Programmed(programming) => {
            let of_event = programming.event.map(|row| (row.description, row.source));
            let of_subevent = programming.subevent.map(|row| (row.description, row.source));
            let (description, source) = of_subevent.or(of_event).unwrap_or_default();
            let source = if source.is_empty() { of_event.unwrap_or_default().1 } else { source };
            (programming.control, programming.counters, description, source)
        }
        EventSource::Fixed(register) | EventSource::FreeRunning { register, .. } => {
            (0, 0, register.description, register.source)
        }
    };
    Ok(EventInfo {
        config,
        counters,
        unit: fixed(unit.name),
        name: fixed(label),
        description: fixed(description),
        source: fixed(source),
    })
}

fn find_metric(family: &'static Family, text: &str) -> Result<MetricInfo, CallFailure> {
    let mut selection = Selection::new(family);
    selection.add_metrics(text).map_err(CallFailure::unknown)?;
    let [metric] = &selection.metrics[..] else {
        return Err(CallFailure::invalid(format!("{text} names {} metrics; name one", selection.metrics.len())));
    };
    let row = metric.row.ok_or_else(|| CallFailure::unknown(format!("the catalogue has no row of {text}")))?;
    Ok(MetricInfo {
        unit: fixed(metric.unit.name),
        name: fixed(&metric.name),
        unit_of_measure: fixed(row.unit_of_measure),
        formula: fixed(row.expression),
        description: fixed(row.description),
        source: fixed(row.source),
    })
}
