//! Real programs under the tracer.

mod dependence;
mod exact;
mod harness;
mod processes;
mod replay;
