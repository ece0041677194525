//! Latency under load: all cores read, each with so many misses under way and no more, from one up to the sixteen of an
//! L2's queue, which prefetches fill. A core always has that many, so that the latency is their number over the rate at
//! which they end (Little's law).
//!
//! The published rows say as much of the part that they are of: at 110.7 GB/s and 189 ns its twenty cores had 327 lines
//! under way.

use std::sync::OnceLock;

use pericore_machine::ledger::Question;
use pericore_machine::models::e5_2600::Parameters;
use pericore_machine::signal::{Tick, Wiring};
use pericore_machine::uncore::emerald_rapids;
use pericore_machine::workload::{Limits, Workload};
use pericore_machine::{E5, EmeraldRapids};
use pericore_parts::core::Streamer;
use pericore_parts::work::Worker;

use crate::path::Nothing;

/// Misses of a core that can be under way: the L2's queue of the Sandy Bridge core (Intel optimization manual), and the
/// fill buffers of Emerald Rapids'.
const MOST: u8 = 16;

/// One point: share of the channels' peak that is read, and nanoseconds of a load.
type Point = (f64, f64);

/// A model with a limit to the misses of each core.
struct Load<M> {
    model: M,
    run: fn(&mut M, Tick),
    done: fn(&M) -> u64,
    /// Nanoseconds since the start, and lines that the channels have read.
    figures: fn(&M) -> (f64, f64),
}

impl<M> Load<M> {
    /// The point of so many misses under way, between two numbers of accesses, on channels of so many GB/s.
    fn measure(mut self, (from, to): (u64, u64), misses: f64, peak: f64) -> Point {
        let [before, after] = [from, to].map(|accesses| {
            while (self.done)(&self.model) < accesses {
                (self.run)(&mut self.model, 20_000);
            }
            let (nanoseconds, lines) = (self.figures)(&self.model);
            (nanoseconds, lines, (self.done)(&self.model) as f64)
        });
        let (nanoseconds, lines, done) = (after.0 - before.0, after.1 - before.1, after.2 - before.2);
        (lines * 64.0 / nanoseconds / peak, misses * nanoseconds / done)
    }
}

fn workload(text: &str, limits: &Limits) -> Workload {
    Workload::parse(text, limits).expect("the workload is sound")
}

/// Two sockets whose cores read their own memory in order; what they read lies no power of two apart, and so in
/// different banks.
fn of_e5_2600(misses: u8) -> Point {
    let family = pericore_catalog::family("e5-2600").expect("the family is in the catalogue");
    // No more than so many, in order or not.
    let streamer = Streamer { queue: misses, ahead: misses };
    let parameters = Parameters { fill_buffers: misses, streamer, ..Parameters::e5_2680().with_sockets(2) };
    let mut wiring = Wiring::new(family, 2);
    let workload = workload("stream:requests=600k,threads=16,footprint=250M", &parameters.limits());
    let model = E5::for_scenario(parameters, workload.into(), &mut wiring).expect("the preset is sound");
    let load = Load {
        model,
        run: |model, ticks| model.run_until(model.now() + ticks, &mut Nothing),
        done: |model| model.progress().done,
        figures: |model| {
            let at = model.snapshot();
            let places = (0..2).flat_map(|socket| (0..4).map(move |channel| (socket, channel)));
            let lines = places
                .filter_map(|(socket, of)| at.count(socket, of, Question::new("imc", "CAS_COUNT").subevent("RD")));
            (model.clocks().seconds(0, model.now()) * 1e9, lines.sum::<u64>() as f64)
        },
    };
    load.measure((150_000, 550_000), 16.0 * f64::from(misses), 102.4)
}

/// A socket whose cores read at random.
fn of_emerald_rapids(misses: u8) -> Point {
    let family = pericore_catalog::family("emerald-rapids").expect("the family is in the catalogue");
    let parameters = emerald_rapids::Parameters { fill_buffers: misses, ..emerald_rapids::Parameters::p8592() };
    let mut wiring = Wiring::new(family, 1);
    let workload = workload("random:requests=200k,threads=64,footprint=64G", &parameters.limits());
    let model = EmeraldRapids::for_scenario(parameters, workload.into(), &mut wiring);
    let load = Load {
        model: model.expect("the preset is sound"),
        run: |machine, ticks| machine.run_until(machine.now() + ticks, &mut Nothing),
        done: |machine| machine.progress().done,
        figures: |machine| {
            let (at, model) = (machine.snapshot(), machine.model());
            let lines = (0..8).filter_map(|of| at.count(0, of, Question::new("imc", "CAS_COUNT").subevent("RD")));
            let seconds = model.now() as f64 / model.clocks().ticks_per_second as f64;
            (seconds * 1e9, lines.sum::<u64>() as f64)
        },
    };
    load.measure((40_000, 180_000), 64.0 * f64::from(misses), 358.4)
}

/// Nanoseconds at a share of the peak, between the nearest points of a curve of rising loads; beyond its end, the end.
fn at(curve: &[Point], share: f64) -> f64 {
    let above = curve.iter().position(|point| point.0 >= share).unwrap_or(curve.len() - 1).max(1);
    let ((x0, y0), (x1, y1)) = (curve[above - 1], curve[above]);
    if share >= x1 { y1 } else { y0 + (y1 - y0) * ((share - x0) / (x1 - x0)).max(0.0) }
}

fn curve_of_e5_2600() -> &'static [Point] {
    static CURVE: OnceLock<Vec<Point>> = OnceLock::new();
    CURVE.get_or_init(|| (1..=MOST).map(of_e5_2600).collect())
}

/// Nanoseconds at a share of the channels' peak.
pub fn e5_2600(share: f64) -> f64 {
    at(curve_of_e5_2600(), share)
}

/// Nanoseconds when every core has as many misses under way as it can: the channels give their most, and the rest is
/// waiting.
pub fn e5_2600_saturated() -> f64 {
    curve_of_e5_2600()[usize::from(MOST) - 1].1
}

/// Nanoseconds at a share of what the channels give at most; at all of it, every core has as many misses under way as
/// it can.
pub fn emerald_rapids(share: f64) -> f64 {
    static CURVE: OnceLock<Vec<Point>> = OnceLock::new();
    let curve = CURVE.get_or_init(|| (1..=MOST).map(of_emerald_rapids).collect());
    let most = curve.iter().map(|point| point.0).fold(0.0, f64::max);
    if share < 1.0 { at(curve, share * most) } else { curve[usize::from(MOST) - 1].1 }
}
