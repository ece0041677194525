//! What a counter counts with a given control value.

use super::{Decoded, FieldValue};
use crate::model::{Event, Field, FilterUse, Register, Role, Subevent, Unit};
use crate::rows;

/// Control fields that shape, enable and report; the others select. The names are fixed by the catalogue's README.
const SHAPING: [&str; 11] = [
    "thresh",
    "invert",
    "en",
    "edge_det",
    "rst",
    "tid_en",
    "frz_ovf",
    "pmi_en",
    "occ_invert",
    "occ_edge_det",
    "occ_ctr_rst",
];

/// What a control value selects.
#[derive(Debug, Clone)]
pub struct Counted {
    /// The event.
    pub event: &'static Event,
    /// A second event that must hold too: the power control unit combines an occupancy with an event (Table 2-80).
    pub condition: Option<&'static Event>,
    /// Subevents: the one that the value selects exactly, or all whose bits are set.
    pub subevents: Vec<&'static Subevent>,
    /// True if the selecting bits are those of one catalogue row.
    pub is_exact: bool,
    /// Selecting bits that no subevent accounts for.
    pub unnamed: u64,
    /// Counters that can take it, as a bit mask.
    pub counters: u16,
    /// Filters that apply, and what they are set to where that is known.
    pub filters: Vec<FilterValue>,
    /// Fields that the event lays over the control register.
    pub overlaid: Vec<FieldValue>,
}

/// A filter that applies.
#[derive(Debug, Clone, Copy)]
pub struct FilterValue {
    /// The use that the event makes of it.
    pub used: FilterUse,
    /// The register that has the field: a filter register, or the control register itself.
    pub register: &'static Register,
    /// The field and its value; without a value the filter register's content is not known.
    pub field: &'static Field,
    /// Its value.
    pub value: Option<u64>,
}

/// How a control value shapes the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// False if the counter does not count whatever the rest says.
    pub enabled: bool,
    /// 0: increments add up; else cycles with at least that increment.
    pub threshold: u64,
    /// Below the threshold instead.
    pub invert: bool,
    /// Beginnings of such runs of cycles instead of cycles.
    pub edge: bool,
    /// Only one thread's requests.
    pub one_thread: bool,
}

/// The bits of a control register that select what is counted; the rest shape, enable and report.
pub fn selecting_bits(register: &rows::Register<'_>) -> u64 {
    let fields = register.fields.iter().filter(|field| field.is_meaningful());
    fields.filter(|field| !SHAPING.contains(&field.name)).fold(0, |mask, field| mask | field.bits.mask())
}

impl Decoded {
    /// How the count is shaped; for control registers.
    pub fn shape(&self) -> Shape {
        let is_set = |name| self.field(name).is_some_and(|value| value != 0);
        // Without an enable bit any event but 0 counts.
        let enabled = self.field("en").map_or_else(|| is_set("ev_sel"), |en| en != 0);
        Shape {
            enabled,
            threshold: self.field("thresh").unwrap_or(0),
            invert: is_set("invert") || is_set("occ_invert"),
            edge: is_set("edge_det") || is_set("occ_edge_det"),
            one_thread: is_set("tid_en"),
        }
    }

    /// What a counter with this control value counts; none if the register is no control register or its event is unknown.
    /// `filter` gives the value of a filter register of the same instance, where it is known.
    pub fn counts(&self, filter: impl Fn(&Register) -> Option<u64>) -> Option<Counted> {
        if self.register.role != Role::Control {
            return None;
        }
        let selected = self.value & selecting_bits(self.register);
        let (event, condition) = find(self.unit, self.register, selected)?;
        let (subevents, is_exact) = subevents(self.register, event, condition, selected);
        let named = subevents.iter().fold(event.config, |bits, subevent| bits | subevent.config);
        let named = condition.map_or(named, |condition| named | condition.config);
        let own = event.field_set.and_then(|index| self.unit.field_sets.get(usize::from(index)));
        let overlaid = own.into_iter().flat_map(|set| set.fields);
        // The event's own fields say what their bits mean.
        let named = overlaid.clone().fold(named, |bits, field| bits | field.bits.mask());
        let exact = if is_exact { subevents.first() } else { None };
        Some(Counted {
            event,
            condition,
            unnamed: selected & !named,
            counters: exact.map_or(event.counters, |subevent| subevent.counters),
            filters: self.filters(event, &subevents, filter),
            overlaid: overlaid.map(|field| FieldValue { field, value: field.bits.get(self.value) }).collect(),
            subevents,
            is_exact,
        })
    }

    fn filters(
        &self,
        event: &'static Event,
        subevents: &[&'static Subevent],
        filter: impl Fn(&Register) -> Option<u64>,
    ) -> Vec<FilterValue> {
        let mut uses: Vec<FilterUse> = Vec::new();
        for used in subevents.iter().flat_map(|subevent| subevent.filters).chain(event.filters) {
            // A filter that a control bit switches on says nothing while that bit is 0.
            let is_off = self.field(&format!("{}_en", used.field)) == Some(0);
            if !is_off && !uses.iter().any(|known| known.field == used.field) {
                uses.push(*used);
            }
        }
        let place = |used: &FilterUse| {
            let own = event.field_set.and_then(|index| self.unit.field_sets.get(usize::from(index)));
            let overlaid = own.and_then(|set| set.fields.iter().find(|field| field.name == used.field));
            match overlaid.or_else(|| self.register.field(used.field)) {
                Some(field) => Some((self.register, field, Some(self.value))),
                None => self.unit.filter_field(used.field).map(|(register, field)| (register, field, filter(register))),
            }
        };
        let rows = uses.iter().filter_map(|used| {
            let (register, field, content) = place(used)?;
            Some(FilterValue { used: *used, register, field, value: content.map(|content| field.bits.get(content)) })
        });
        rows.collect()
    }
}

/// The event that the selecting bits choose, and the second one that they may combine it with.
fn find(unit: &Unit, register: &Register, selected: u64) -> Option<(&'static Event, Option<&'static Event>)> {
    let code_bits =
        register.field("ev_sel")?.bits.mask() | register.field("ev_sel_ext").map_or(0, |field| field.bits.mask());
    let code = selected & code_bits;
    let umask = register.field("umask").map_or(0, |field| field.bits.mask());
    let with_code = |wanted: u64| {
        // A row of its own may have umask bits that its subevents do not have; other bits must be there.
        let fits = move |event: &&Event| event.config & code_bits == wanted && event.config & !umask & !selected == 0;
        let rank = move |event: &&Event| {
            let is_row = event.subevents.iter().any(|subevent| subevent.config == selected);
            // Events that share a code differ in further bits: the one that asks for most of those that are set.
            (is_row, event.config & !selected == 0, (event.config & !code_bits).count_ones())
        };
        unit.events.iter().filter(fits).max_by_key(rank)
    };
    if let Some(event) = with_code(code) {
        return Some((event, None));
    }
    // A code that is the sum of an occupancy's and an event's, on units whose controls choose an occupancy.
    register.field("occ_sel")?;
    let occupancies = unit.events.iter().filter(|event| !event.subevents.is_empty());
    occupancies.into_iter().find_map(|occupancy| {
        let bits = occupancy.config & code_bits;
        let rest = if bits != 0 && code & bits == bits { code & !bits } else { 0 };
        Some((occupancy, Some(with_code(rest).filter(|_| rest != 0)?)))
    })
}

/// The subevent that the bits select exactly, or all whose bits are set and no larger one's.
fn subevents(
    register: &Register,
    event: &'static Event,
    condition: Option<&Event>,
    selected: u64,
) -> (Vec<&'static Subevent>, bool) {
    let wanted = selected & !condition.map_or(0, |condition| condition.config & !event.config);
    if let Some(exact) = event.subevents.iter().find(|subevent| subevent.config == wanted) {
        return (vec![exact], condition.is_none());
    }
    if event.config == wanted {
        // Beside subevents only a row with a umask of its own counts something by itself.
        let umask = register.field("umask").map_or(0, |field| field.bits.mask());
        return (Vec::new(), event.subevents.is_empty() || event.config & umask != 0);
    }
    let fits = |subevent: &&Subevent| subevent.config & !wanted == 0 && subevent.config != event.config;
    let all: Vec<&'static Subevent> = event.subevents.iter().filter(fits).collect();
    let is_part = |small: u64, large: u64| small & !large == 0 && small != large;
    let widest = all.iter().copied().filter(|one| !all.iter().any(|other| is_part(one.config, other.config)));
    (widest.collect(), false)
}
