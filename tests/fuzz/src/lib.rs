//! What the fuzzers run, as plain functions of bytes: libFuzzer calls them with what it makes up, a test with the
//! inputs that are kept in `fuzz/seeds`. Each panics if what it checks does not hold.

#![expect(clippy::missing_panics_doc, reason = "a target panics when it has found something")]

pub mod event_file;
pub mod event_list;
pub mod gdb_packets;
pub mod http_request;
mod input;
pub mod journal;
pub mod kernel_files;
pub mod metric_expression;
pub mod names;
pub mod proxy_messages;
pub mod recording;
pub mod register_messages;
pub mod registers;
pub mod software;
pub mod table;
pub mod trace_reader;

/// A target: its name, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("event_file", event_file::run),
    ("event_list", event_list::run),
    ("gdb_packets", gdb_packets::run),
    ("http_request", http_request::run),
    ("journal", journal::run),
    ("kernel_files", kernel_files::run),
    ("machine_part", software::machine_part::run),
    ("metric_expression", metric_expression::run),
    ("names", names::run),
    ("proxy_messages", proxy_messages::run),
    ("recording", recording::run),
    ("register_messages", register_messages::run),
    ("registers", registers::run),
    ("scenario", software::scenario::run),
    ("snapshot", software::snapshot::run),
    ("sweep_file", software::sweep_file::run),
    ("table", table::run),
    ("trace_reader", trace_reader::run),
    ("workload", software::workload::run),
];

/// As much of an input as is text.
fn text(data: &[u8]) -> &str {
    data.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}
