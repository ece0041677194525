//! Counts and their validity, from readings that are made up.

use std::io::Write as _;

use pericore_metrics::Grade;

use super::super::counting::KernelCounters;
use super::*;
use crate::run::Backend;
use crate::session::Sample;

const SECOND: u64 = 1_000_000_000;

fn running(events: &str) -> (KernelCounters<Stand>, Stand, tempfile::TempDir) {
    running_on(E5_2600, events)
}

fn running_on(pmus: &[Files<'_>], events: &str) -> (KernelCounters<Stand>, Stand, tempfile::TempDir) {
    let folder = tree(pmus);
    let stand = Stand::default();
    let plan = prepared(folder.path(), events).unwrap();
    let counters = KernelCounters::start_with(stand.clone(), &Root::at(folder.path()), plan, at(0.0)).unwrap();
    (counters, stand, folder)
}

/// Count, grade and duty of each count.
fn seen(sample: &Sample) -> Vec<(Option<u64>, Grade, f64)> {
    sample.counts.iter().map(|count| (count.count, count.validity.grade(), count.validity.duty())).collect()
}

#[test]
fn a_sample_has_what_was_counted_since_the_one_before() {
    let (mut counters, stand, _folder) = running("{imc0/CAS_COUNT.RD/,imc0/CAS_COUNT.WR/}");
    // Two sockets: leaders 0 and 2.
    stand.0.borrow_mut().rates = BTreeMap::from([(0, (SECOND, SECOND, 1000)), (2, (SECOND, SECOND, 7))]);
    for end in [1.0, 2.0] {
        let sample = counters.sample(&at(end));
        let measured = |count| (Some(count), Grade::Measured, 1.0);
        assert_eq!(seen(&sample), [1000, 2000, 7, 14].map(measured));
        assert_eq!((sample.seconds, sample.is_checked), (1.0, true));
        let places: Vec<_> = sample.counts.iter().map(|count| (count.socket, count.event)).collect();
        assert_eq!(places, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    }
}

/// The kernel had it on a counter for a quarter of the time: 100 stand for 400.
#[test]
fn what_the_kernel_multiplexes_is_scaled_with_its_duty() {
    let (mut counters, stand, _folder) = running("ha/CLOCKTICKS/");
    stand.0.borrow_mut().rates = BTreeMap::from([(0, (SECOND, SECOND / 4, 100))]);
    assert_eq!(seen(&counters.sample(&at(1.0))), [(Some(400), Grade::Scaled, 0.25)]);
    // None of the time: no number, and no zero.
    stand.0.borrow_mut().rates = BTreeMap::from([(0, (SECOND, 0, 0))]);
    let sample = counters.sample(&at(2.0));
    assert_eq!((sample.counts[0].count, sample.counts[0].validity.grade()), (None, Grade::NotDefined));
    assert!(sample.counts[0].validity.to_string().contains("others use the counters of uncore_ha"));
}

/// A channel that reads as all ones counts nothing, through the kernel too: a sum without it needs a word.
#[test]
fn one_of_four_channels_that_counts_nothing_is_doubted() {
    let pmus =
        ["uncore_imc_0", "uncore_imc_1", "uncore_imc_2", "uncore_imc_3"].map(|name| (name, "0,8", PLAIN, IMC_EVENTS));
    let (mut counters, stand, _folder) = running_on(&pmus, "imc/CAS_COUNT.RD/");
    let channels = stand.0.borrow().log.len();
    assert_eq!(channels, 8, "four in each of two sockets");
    let counted = |channel| if channel == 2 { 0 } else { 5000 };
    stand.0.borrow_mut().rates = (0..channels).map(|channel| (channel, (SECOND, SECOND, counted(channel)))).collect();
    let sample = counters.sample(&at(1.0));
    let grades: Vec<Grade> = sample.counts.iter().map(|count| count.validity.grade()).collect();
    let mut expected = [Grade::Measured; 8];
    expected[2] = Grade::Suspect;
    assert_eq!((sample.counts[2].count, &grades[..]), (Some(0), &expected[..]));
    assert!(sample.counts[2].validity.to_string().contains("imc2 in socket 0 counted nothing while its 3 neighbours"));
}

#[test]
fn what_is_gone_has_no_number() {
    let (mut counters, stand, _folder) = running("ha/CLOCKTICKS/");
    stand.0.borrow_mut().gone.push(0);
    let sample = counters.sample(&at(1.0));
    assert_eq!((sample.counts[0].count, sample.counts[0].validity.grade()), (None, Grade::Unreadable));
    assert!(sample.counts[0].validity.to_string().contains("taken the counters of uncore_ha away"));
    // Its CPU went offline: it is not even enabled.
    let (mut counters, _, _folder) = running("ha/CLOCKTICKS/");
    let sample = counters.sample(&at(1.0));
    assert_eq!((sample.counts[0].count, sample.counts[0].validity.grade()), (None, Grade::NotDefined));
    // It counted for half of the time only.
    let (mut counters, stand, _folder) = running("ha/CLOCKTICKS/");
    stand.0.borrow_mut().rates = BTreeMap::from([(0, (SECOND / 2, SECOND / 2, 9))]);
    assert_eq!(seen(&counters.sample(&at(1.0))), [(Some(9), Grade::Suspect, 1.0)]);
}

/// Two states in one filter register: two rounds. Half a second of each; what the first has counted stands for twice
/// that.
#[test]
fn rounds_are_ours_and_only_the_one_that_runs_is_started() {
    let (mut counters, stand, _folder) =
        running("cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/");
    assert_eq!(counters.plan().rounds(), 2);
    // Per socket one leader for each round: 0 and 1, 2 and 3.
    assert_eq!(stand.0.borrow().log, ["start 0", "start 2"]);
    let half = SECOND / 2;
    stand.0.borrow_mut().rates = (0..4).map(|leader| (leader, (half, half, 10 * (leader as u64 + 1)))).collect();
    stand.0.borrow_mut().log.clear();
    counters.rotate(&at(0.5));
    assert_eq!(stand.0.borrow().log, ["stop 0", "stop 2", "read 0", "read 2", "start 1", "start 3"]);
    let sample = counters.sample(&at(1.0));
    let scaled = |count| (Some(count), Grade::Scaled, 0.5);
    assert_eq!(seen(&sample), [20, 40, 60, 80].map(scaled));
    // The next sample has the second round alone.
    let sample = counters.sample(&at(1.5));
    let grades: Vec<Grade> = seen(&sample).into_iter().map(|(_, grade, _)| grade).collect();
    assert_eq!(grades[0], Grade::NotDefined);
    assert!(sample.counts[0].validity.to_string().contains("its turn among 2 rounds did not come"), "{grades:?}");
}

/// Five events on four counters take turns. The fixed counter beside them (event 0xff) counts all the time: its number
/// is what it is, and not scaled.
#[test]
fn a_fixed_counter_beside_events_that_take_turns_is_measured() {
    let events = "imc0/CAS_COUNT.RD/,imc0/CAS_COUNT.WR/,imc0/ACT_COUNT/,imc0/PRE_COUNT.PAGE_MISS/,imc0/RPQ_INSERTS/";
    let (mut counters, stand, _folder) = running(&format!("{events},imc0/DCLK_FIXED/"));
    assert_eq!(counters.plan().rounds(), 2);
    let leaders: Vec<(usize, bool)> = {
        let inner = stand.0.borrow();
        let leaders = inner.opened.iter().enumerate().filter(|(_, (.., leader))| leader.is_none());
        leaders.map(|(number, (_, attributes, ..))| (number, attributes.words[0] == 0xff)).collect()
    };
    assert_eq!(leaders.iter().filter(|(_, is_fixed)| *is_fixed).count(), 2, "one in each socket: {leaders:?}");
    // In the second sample it stood for half of the time, which is no turn of ours: that is said.
    for (end, enabled, grade) in [(1.0, SECOND, Grade::Measured), (2.0, SECOND / 2, Grade::Suspect)] {
        let rate = |is_fixed| if is_fixed { (enabled, enabled, 800) } else { (SECOND / 2, SECOND / 2, 10) };
        stand.0.borrow_mut().rates = leaders.iter().map(|&(number, is_fixed)| (number, rate(is_fixed))).collect();
        counters.rotate(&at(end - 0.5));
        let sample = counters.sample(&at(end));
        let clocks: Vec<_> = sample.counts.iter().filter(|count| count.event == 5).collect();
        assert_eq!(clocks.len(), 2);
        for clock in clocks {
            assert_eq!((clock.count, clock.validity.grade()), (Some(800), grade), "{}", clock.validity);
            assert!(clock.slices.is_empty() && clock.standard_error.is_none());
        }
        assert!(sample.counts.iter().any(|count| count.validity.grade() == Grade::Scaled), "the others take turns");
    }
}

/// What is none of the kernel's counters can be neither started nor stopped: the kernel is asked, and its refusal is
/// passed on. No right is needed to see that.
#[test]
fn what_the_kernel_refuses_to_start_or_stop_is_an_error() {
    let null = fs::File::open("/dev/null").unwrap();
    for refused in [LinuxPerf.start(&null), LinuxPerf.stop(&null)] {
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::ENOTTY));
    }
}

/// The system call itself, on the kernel's own PMU of software events (type 1), whose event 0 counts nanoseconds of a
/// CPU.
#[test]
fn the_kernel_counts_its_own_clock() {
    let formats: &[_] = &[("event", "config:0-7"), ("umask", "config:8-15")];
    let folder = tree(&[("uncore_ha", "0", formats, &[])]);
    put(folder.path(), "sys/bus/event_source/devices/uncore_ha/type", "1\n");
    let plan = prepared(folder.path(), "ha/event=0x0/").unwrap();
    let watch = crate::linux::Stopwatch::default();
    let mut counters = match KernelCounters::start(&Root::default(), plan, || watch.moment()) {
        Ok(counters) => counters,
        // Where users may not count, there is nothing to see: said past the capture of the test's output. The guests'
        // tests count as root.
        Err(
            error @ (KernelError::Paranoid { .. }
            | KernelError::Restricted { .. }
            | KernelError::Forbidden { .. }
            | KernelError::NoSystemCall),
        ) => {
            let message = format!("\nSKIPPED: the kernel's own clock, which it does not let us count: {error}\n\n");
            return io::stderr().write_all(message.as_bytes()).unwrap();
        }
        Err(error) => panic!("{error}"),
    };
    std::thread::sleep(std::time::Duration::from_millis(40));
    let sample = counters.sample(&|| watch.moment());
    let counted = sample.counts[0].count.expect("a number") as f64 / 1e9;
    assert!((counted / sample.seconds - 1.0).abs() < 0.5, "{counted} s of {} s", sample.seconds);
}

/// A measurement begins where its counters were started, and each sample where the one before ended.
#[test]
fn a_sample_begins_where_the_one_before_ended() {
    let folder = tree(E5_2600);
    let plan = prepared(folder.path(), "ha/CLOCKTICKS/").unwrap();
    let root = Root::at(folder.path());
    let mut counters = KernelCounters::start_with(Stand::default(), &root, plan, at(2.5)).unwrap();
    assert_eq!(counters.counts_since(), 2.5);
    assert_eq!(counters.sample(&at(4.0)).seconds, 1.5);
    assert_eq!(counters.counts_since(), 4.0);
    assert!(counters.sample_on_overflow(&at(4.0)).is_none(), "the kernel tells nobody of overflows");
}

/// The words are of the PMU and of what it could not do; its number is gone until the next sample begins.
#[test]
fn a_turn_that_the_kernel_refuses_leaves_no_number() {
    let (mut counters, stand, _folder) =
        running("cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/");
    let half = SECOND / 2;
    for (what, refused, event) in [("stop 0", "could not be stopped", 0), ("start 0", "could not be started", 0)] {
        stand.0.borrow_mut().rates = (0..4).map(|leader| (leader, (half, half, 10))).collect();
        stand.0.borrow_mut().refused.push(what.to_owned());
        counters.rotate(&at(0.5));
        let sample = counters.sample(&at(1.0));
        let lost = sample.counts.iter().find(|count| (count.socket, count.event) == (0, event)).unwrap();
        assert_eq!(lost.count, None, "{what}");
        let words = lost.validity.to_string();
        assert!(words.contains("uncore_cbox_0") && words.contains(refused), "{words}");
        assert!(words.contains("for a change of rounds"), "{words}");
        stand.0.borrow_mut().refused.clear();
        counters.sample(&at(1.0));
    }
}

/// Groups are started and read one after the other: what ran 2 % longer or shorter than its sample is doubted, and how
/// far the worst is off is said of all.
#[test]
fn counters_that_ran_for_another_time_are_doubted() {
    for (enabled, is_doubted) in [(SECOND, false), (1_019_000_000, false), (1_030_000_000, true), (960_000_000, true)] {
        let (mut counters, stand, _folder) = running("ha/CLOCKTICKS/");
        stand.0.borrow_mut().rates = BTreeMap::from([(0, (enabled, enabled, 9))]);
        let sample = counters.sample(&at(1.0));
        let words = sample.counts[0].validity.to_string();
        let expected =
            format!("some ran {:.3} ms longer or shorter than 1000.000 ms", enabled.abs_diff(SECOND) as f64 / 1e6);
        assert_eq!((sample.counts[0].count, words.contains(&expected)), (Some(9), is_doubted), "{words}");
        assert!(sample.counts[0].standard_error.is_none());
    }
}

/// A reading that the kernel refuses: a driver that is gone has a text of its own. The next sample counts from what was
/// read last.
#[test]
fn a_refused_reading_leaves_a_gap() {
    for (error, words) in [(libc::ENODEV, "uncore_ha has disappeared"), (libc::EIO, "uncore_ha cannot be read")] {
        let (mut counters, stand, _folder) = running("ha/CLOCKTICKS/");
        stand.0.borrow_mut().rates = BTreeMap::from([(0, (SECOND, SECOND, 100))]);
        assert_eq!(seen(&counters.sample(&at(1.0)))[0].0, Some(100));
        stand.0.borrow_mut().unreadable = Some(error);
        let sample = counters.sample(&at(2.0));
        assert_eq!((sample.counts[0].count, sample.counts[0].validity.grade()), (None, Grade::Unreadable));
        assert!(sample.counts[0].validity.to_string().contains(words), "{}", sample.counts[0].validity);
        stand.0.borrow_mut().unreadable = None;
        assert_eq!(seen(&counters.sample(&at(3.0)))[0].0, Some(100));
    }
}
