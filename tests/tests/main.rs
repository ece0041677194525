//! Journeys, golden expectations and real clients: one program, so that all of it is linked once.
//!
//! `cargo test -p pericore-tests --test all golden_nehalem::` runs one module.

mod catalog_crosscheck;
mod counts_equal_the_ledger;
mod discover_machines;
mod documents;
mod doors;
mod golden_e5_2600_filters;
mod golden_e5_2600_session;
mod golden_emerald_rapids_discovery;
mod golden_emerald_rapids_filters;
mod golden_emerald_rapids_session;
mod golden_nehalem;
mod guest;
mod intels_event_files;
mod kernel_families;
mod library;
mod lookup_command_lines;
#[path = "../examples/memory_bandwidth.rs"]
#[expect(dead_code, reason = "its main function is the example's")]
mod memory_bandwidth;
mod metrics_equal_the_ledger;
mod nehalem_metrics;
mod perf_attributes;
mod plan_rounds;
mod platforms;
mod pmon_all_events;
mod pmon_registers;
mod pmon_traces;
mod pmon_variants;
mod session_all_events;
mod session_checks;
mod session_costs;
mod session_frozen;
mod session_hostile;
mod session_killed;
mod session_newcomers;
mod session_overflow;
mod session_rounds;
mod session_sharing;
mod session_time;
mod steady_ledger;
mod units_equal_the_ledger;
