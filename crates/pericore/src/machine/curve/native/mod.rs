//! The curves of this machine: threads of our own load its memory, and the uncore's view is beside theirs.

mod cpus;
mod own;
mod printed;
mod threads;
mod uncore;

use std::io;
use std::sync::atomic::Ordering::Relaxed;

use pericore_machine::curve::{LOADS, numbers_of_cores};

use crate::failure::Failure;
use crate::own_memory::LINE;
pub use own::OwnCurve;
use own::OwnMachine;
use printed::OwnPoint;
use threads::OwnThreads;
use uncore::Uncore;

/// The least footprint.
const LEAST_FOOTPRINT: usize = 16 << 10;
fn failed(error: io::Error) -> Failure {
    Failure::failed(format!("threads of our own cannot run: {error}"))
}

/// Bytes that the pointers of one of so many cores go through: its share of the memory in use, in whole lines.
const fn share_of_a_core(bytes: usize, cores: usize) -> usize {
    bytes / cores / LINE * LINE
}

/// The footprints up to so many bytes, two in each doubling: powers of two, and half as much again.
fn footprints_within(most: usize) -> Vec<usize> {
    let doublings = std::iter::successors(Some(LEAST_FOOTPRINT), |bytes| bytes.checked_mul(2));
    let both = doublings.flat_map(|bytes| [bytes, bytes / 2 * 3]);
    both.take_while(|&bytes| bytes <= most).collect()
}

/// Latency against bandwidth.
///
/// # Errors
/// A machine that does not say what it is, too little memory, or threads that may not run.
pub fn loads(wanted: OwnCurve) -> Result<(), Failure> {
    let own = OwnMachine::new(wanted)?;
    let mut uncore = Uncore::default();
    let cores = own.cpus.threads.len();
    let ring = share_of_a_core(own.bytes, cores);
    let alone = own.with_threads((1, 0), ring, |shared| own.window(shared, &mut uncore)).map_err(failed)?;
    let mut points = vec![OwnPoint::Load(alone)];
    if cores > 1 {
        let measure = |shared: &OwnThreads| {
            let most = own.window(shared, &mut uncore);
            // An access of the others moves so many bytes: a stored line is read and written.
            let bytes = LINE as f64 * 100.0 / f64::from(wanted.read);
            for load in LOADS {
                let rate = load * most.0.bandwidth / (cores - 1) as f64;
                shared.delay.store((bytes / rate * 1e12) as u64, Relaxed);
                points.push(OwnPoint::Load(own.window(shared, &mut uncore)));
            }
            points.push(OwnPoint::Load(most));
        };
        own.with_threads((1, cores - 1), ring, measure).map_err(failed)?;
    }
    printed::print(&own, &points, &uncore)
}

/// Latency by footprint.
///
/// # Errors
/// As of [`loads`].
pub fn footprints(wanted: OwnCurve) -> Result<(), Failure> {
    let own = OwnMachine::new(wanted)?;
    let mut uncore = Uncore::default();
    let mut points = Vec::new();
    for footprint in footprints_within(own.bytes) {
        let window = own.with_threads((1, 0), footprint, |shared| own.window(shared, &mut uncore));
        points.push(OwnPoint::Footprint(footprint, window.map_err(failed)?));
    }
    printed::print(&own, &points, &uncore)
}

/// Bandwidth by cores.
///
/// # Errors
/// As of [`loads`].
pub fn cores(wanted: OwnCurve) -> Result<(), Failure> {
    let own = OwnMachine::new(wanted)?;
    let mut uncore = Uncore::default();
    let numbers = numbers_of_cores(own.cpus.threads.len() as u16);
    let mut points = Vec::new();
    for cores in numbers {
        let window = own.with_threads((0, cores.into()), 0, |shared| own.window(shared, &mut uncore));
        points.push(OwnPoint::Cores(cores, window.map_err(failed)?));
    }
    printed::print(&own, &points, &uncore)
}

#[cfg(test)]
mod tests {
    use super::{footprints_within, share_of_a_core};

    /// A third of 256 MiB is 89,478,485 1/3 bytes: 1,398,101 lines of 64, and 21 1/3 bytes that are none.
    #[test]
    fn a_core_has_its_share_in_whole_lines() {
        assert_eq!([1, 3, 4].map(|cores| share_of_a_core(256 << 20, cores)), [256 << 20, 89_478_464, 64 << 20]);
    }

    #[test]
    fn footprints_double_with_one_between() {
        let kib = |most: usize| footprints_within(most << 10).iter().map(|bytes| bytes >> 10).collect::<Vec<_>>();
        assert_eq!(kib(15), [0; 0]);
        assert_eq!(kib(100), [16, 24, 32, 48, 64, 96]);
        assert_eq!(kib(128), [16, 24, 32, 48, 64, 96, 128]);
    }
}
