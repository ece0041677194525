//! Laws that hold when everything has drained.

use super::{WORKLOADS, model, run};
use crate::signal::{SignalSink, Tick, Wire};

/// Hears nothing.
pub struct Nothing;

impl SignalSink for Nothing {
    fn pulse(&mut self, _: Wire, _: u64, _: Tick, _: u32) {}
    fn enter(&mut self, _: Wire, _: u64, _: Tick) {}
    fn leave(&mut self, _: Wire, _: u64, _: Tick) {}
}

#[test]
fn every_workload_ends() {
    for workload in WORKLOADS {
        let (mut model, _) = model(workload);
        run(&mut model, &mut Nothing);
        assert_eq!(model.progress().done, model.progress().total, "{workload}");
        eprintln!("{workload}: {:.1} us", model.now() as f64 / 88e3);
    }
}
