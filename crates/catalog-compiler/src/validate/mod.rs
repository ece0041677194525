//! Named rules over the whole catalogue. Each rule reports every violation; none stops the others.

mod addresses;
mod core_msrs;
mod descriptions;
mod events;
mod floorplan;
mod functions;
mod metrics;
mod names;
mod processors;
mod registers;
mod signals;
mod topology;
mod views;

use crate::Diagnostics;
use crate::schema::Catalogue;

/// Runs every rule.
pub fn all(catalogue: &Catalogue, diagnostics: &mut Diagnostics) {
    names::families(catalogue, diagnostics);
    for family in &catalogue.families {
        names::family(family, diagnostics);
        processors::identity(family, diagnostics);
        processors::leaves(family, diagnostics);
        processors::caches(family, diagnostics);
        topology::identities(family, diagnostics);
        topology::node_registers(family, diagnostics);
        topology::one_per(family, diagnostics);
        topology::stacks(family, diagnostics);
        functions::numbers(family, diagnostics);
        functions::discovery(family, diagnostics);
        core_msrs::addresses(family, diagnostics);
        core_msrs::controls(family, diagnostics);
        addresses::disjoint(family, diagnostics);
        for unit in &family.units {
            names::unit(unit, diagnostics);
            registers::layouts(family, unit, diagnostics);
            registers::counting(family, unit, diagnostics);
            events::counters(unit, diagnostics);
            events::distinct_encodings(unit, diagnostics);
            events::whole_codes(unit, diagnostics);
            events::filters(unit, diagnostics);
            signals::attributes(unit, diagnostics);
            signals::decoding(unit, diagnostics);
            descriptions::say_more_than_the_name(unit, diagnostics);
        }
        metrics::references(family, diagnostics);
        views::metrics_exist(family, diagnostics);
        views::summary(family, diagnostics);
        floorplan::instances(family, diagnostics);
    }
}
