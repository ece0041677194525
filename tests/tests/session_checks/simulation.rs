//! Sessions under seeds: the first thousands in the gate, a hundred thousand in the long form.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use pericore_tests::simulation::{Report, Scenario, run, shrink};

/// Seeds that have failed once. 737: a gate that read as all ones when it was put back was written so, and enabled
/// counters of others. 1643: what could not be looked at for want of rights was taken for somebody else's, and the
/// journal removed. 1747, 1002811: what could not be read at the end took its old value, although somebody else had
/// taken it.
const FOUND: [u64; 4] = [737, 1643, 1747, 1_002_811];

/// What came of many runs.
#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    runs: u64,
    counted: u64,
    restored: u64,
    measured: u64,
    accesses: u64,
}

impl Sum {
    fn add(self, Report { counted, restored, measured, accesses }: Report) -> Self {
        Self {
            runs: self.runs + 1,
            counted: self.counted + u64::from(counted),
            restored: self.restored + u64::from(restored),
            measured: self.measured + measured,
            accesses: self.accesses + accesses,
        }
    }
}

/// Runs all seeds; the first that fails is shrunk.
fn campaign(seeds: Range<u64>) -> Sum {
    let next = AtomicU64::new(seeds.start);
    let work = || {
        let mut sum = Sum::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return sum;
            }
            let scenario = Scenario::of_seed(seed);
            match run(&scenario) {
                Ok(report) => sum = sum.add(report),
                Err(failure) => {
                    next.store(seeds.end, Ordering::Relaxed);
                    let (smallest, why) = shrink(&scenario, failure);
                    panic!("seed {seed}: {why}\nthe smallest that fails so: {smallest:#?}");
                }
            }
        }
    };
    let sums = thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join()).collect::<Vec<_>>()
    });
    sums.into_iter().fold(Sum::default(), |sum, of_worker| match of_worker {
        Ok(other) => Sum {
            runs: sum.runs + other.runs,
            counted: sum.counted + other.counted,
            restored: sum.restored + other.restored,
            measured: sum.measured + other.measured,
            accesses: sum.accesses + other.accesses,
        },
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// The same seed does the same.
#[test]
fn a_seed_is_a_run() {
    for seed in 0..40 {
        let scenario = Scenario::of_seed(seed);
        assert_eq!(run(&scenario), run(&scenario), "{scenario:#?}");
    }
}

/// What failed once.
#[test]
fn seeds_that_have_failed_hold() {
    for seed in FOUND {
        let outcome = run(&Scenario::of_seed(seed));
        assert!(outcome.is_ok(), "seed {seed}: {outcome:?}");
    }
}

/// No register left modified, nothing foreign touched, no hang, no number called measured that is not; and the runs
/// are no idle ones: most count, many are put back from a journal.
#[test]
fn thousands_of_sessions_keep_what_is_promised() {
    let sum = campaign(0..4_000);
    assert_eq!(sum.runs, 4_000);
    assert!(sum.counted > 2_000 && sum.restored > 100 && sum.measured > 10_000, "{sum:?}");
}

/// Seeds as many as `PERICORE_SESSIONS` says, else a hundred thousand.
#[test]
#[ignore = "the long form: a log goes to tests/logs"]
fn a_hundred_thousand_sessions_keep_what_is_promised() {
    let number = std::env::var("PERICORE_SESSIONS").ok().and_then(|number| number.parse().ok()).unwrap_or(100_000);
    let start = Instant::now();
    let Sum { runs, counted, restored, measured, accesses } = campaign(1_000_000..1_000_000 + number);
    println!("{runs} sessions, seeds from 1000000 on, in {:.0} s:", start.elapsed().as_secs_f64());
    println!("{counted} counted, {restored} were put back from their journal, {accesses} accesses,");
    println!(
        "{measured} counts called measured, each of them right; no register left modified, nothing foreign touched"
    );
}
