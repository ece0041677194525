//! Real programs under the tracer.

mod exact;
mod harness;
mod processes;
mod replay;
