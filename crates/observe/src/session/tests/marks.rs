//! Counters that stand or differ where they should not, on counts that are made up: four channels in each of two
//! sockets.

use super::super::check::{mark_clocks, mark_stuck};
use super::super::slices::Slices;
use super::*;

const CLOCK: &str = "imc/CLOCKTICKS/";

/// Which counts of socket 0 are in doubt, where these were counted there and nothing in the other socket.
fn marked(events: &str, counted: [Option<u64>; 4], mark: impl Fn(&Plan, &mut Sample)) -> [bool; 4] {
    let plan = plan(&mut Fake::two_sockets(), events);
    let count = |(instance, count)| Count {
        event: 0,
        socket: 0,
        instance,
        count,
        validity: if count.is_some() { Validity::MEASURED } else { Validity::unreadable("it", "gone") },
        slices: Slices::default(),
        standard_error: None,
    };
    let counts = (0..).zip(counted).map(count).collect();
    let mut sample = Sample { seconds: 1.0, tsc_cycles: 1000, counts, ..Sample::default() };
    mark(&plan, &mut sample);
    let doubted: Vec<bool> = sample.counts.iter().map(|count| count.validity.grade() == Grade::Suspect).collect();
    doubted.try_into().unwrap()
}

/// One of four that counted nothing while the others counted a thousand each is stuck; less is chance, and where two
/// stand, or one has no number, nobody knows.
#[test]
fn one_that_counts_nothing_among_many_is_doubted() {
    let first = [true, false, false, false];
    for (counted, expected) in [
        ([Some(0), Some(1000), Some(1000), Some(5000)], first),
        ([Some(0), Some(1000), Some(999), Some(5000)], [false; 4]),
        ([Some(0), Some(0), Some(1000), Some(5000)], [false; 4]),
        ([Some(0), None, Some(1000), Some(5000)], [false; 4]),
        ([Some(1), Some(1000), Some(1000), Some(5000)], [false; 4]),
    ] {
        assert_eq!(marked("imc/CAS_COUNT.RD/", counted, mark_stuck), expected, "{counted:?}");
    }
}

/// Every clock ticks in a thousand cycles of the time-stamp counter, and in fewer it need not.
#[test]
fn a_clock_without_ticks_is_doubted_where_time_has_passed() {
    let counted = [Some(0), Some(5), None, Some(0)];
    let with = |seconds: f64, tsc_cycles: u64| {
        marked(CLOCK, counted, |plan, sample| {
            (sample.seconds, sample.tsc_cycles) = (seconds, tsc_cycles);
            mark_stuck(plan, sample);
        })
    };
    assert_eq!(with(1.0, 1000), [true, false, false, true]);
    assert_eq!([with(1.0, 999), with(0.0, 1000)], [[false; 4]; 2]);
}

/// Clocks of a hundred thousand ticks may differ by less than a hundredth, and by what starting and stopping them one
/// after the other took; of two that differ, both are in doubt. Few ticks say nothing, nor do other events.
#[test]
fn a_clock_that_differs_from_the_others_is_doubted() {
    let four = |own: u64| [Some(own), Some(100_000), Some(100_000), Some(100_000)];
    let two = |own: u64| [Some(own), None, Some(100_000), None];
    let first = [true, false, false, false];
    for (events, counted, apart, expected) in [
        (CLOCK, four(99_000), 0.0, first),
        (CLOCK, four(101_000), 0.0, first),
        (CLOCK, four(99_001), 0.0, [false; 4]),
        (CLOCK, four(100_999), 0.0, [false; 4]),
        (CLOCK, four(99_000), 0.01, [false; 4]),
        (CLOCK, four(98_000), 0.01, first),
        (CLOCK, four(0), 0.0, [false; 4]),
        (CLOCK, two(99_000), 0.0, [true, false, true, false]),
        (CLOCK, two(99_001), 0.0, [false; 4]),
        (CLOCK, [Some(1), Some(1999), Some(1999), Some(1999)], 0.0, [false; 4]),
        (CLOCK, [Some(1), Some(2000), Some(2000), Some(2000)], 0.0, first),
        ("imc/CAS_COUNT.RD/", four(1), 0.0, [false; 4]),
    ] {
        let found = marked(events, counted, |plan, sample| mark_clocks(plan, sample, |_| apart));
        assert_eq!(found, expected, "{events} {counted:?}, {apart}");
    }
}

/// The folder of journals is for its user alone: what others may do there is taken away, and nothing else.
#[test]
fn a_folder_of_journals_is_its_users_alone() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/journals");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
    journals_in(&path).make_directories().unwrap();
    assert_eq!(mode(), 0o700);
    for (before, after) in [(0o755, 0o700), (0o1777, 0o1700), (0o700, 0o700), (0o2750, 0o2700), (0o701, 0o700)] {
        fs::set_permissions(&path, Permissions::from_mode(before)).unwrap();
        journals_in(&path).make_directories().unwrap();
        assert_eq!(mode(), after, "{before:o}");
    }
}
