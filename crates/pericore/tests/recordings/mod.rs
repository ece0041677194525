//! `pericore record` and `pericore report` as a user meets them, on software machines.

mod adversity;
pub mod folder;
mod killed;
mod page;
mod readers;
mod record;
mod report;
mod table;

const E5: [&str; 4] = ["--machine", "e5-2600", "--workload", "random:requests=27k,footprint=64M"];
