//! Every metric over a machine and a workload that make it more than nothing: the value from counters equals the value over the ledger's
//! figures, and for many a value computed by hand from them.
//!
//! `cargo test -p pericore-tests --test all metrics_equal_the_ledger`; with `PERICORE_WRITE_TABLES=1` it writes the tables in `docs/` anew.

#[path = "metrics/book.rs"]
mod book;
#[path = "metrics/e5_2600.rs"]
mod e5_2600;
#[path = "metrics/e5_2600_by_hand.rs"]
mod e5_2600_by_hand;
#[path = "metrics/emerald_rapids.rs"]
mod emerald_rapids;
#[path = "metrics/emerald_rapids_by_hand.rs"]
mod emerald_rapids_by_hand;
#[path = "metrics/run.rs"]
pub mod run;
#[path = "metrics/sapphire_rapids.rs"]
mod sapphire_rapids;
#[path = "metrics/sums.rs"]
mod sums;
#[path = "metrics/truth.rs"]
mod truth;
