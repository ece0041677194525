//! Recordings by hand, by chance, and by malice.

use std::collections::BTreeMap;

use pericore_metrics::Validity;
use proptest::prelude::*;

use super::*;
use crate::results::{Scope, event_totals, metric_totals};
use crate::selection::{Asked, Selection};
use crate::session::{Count, Doubt, Length, Sample, Slices, Withdrawn};
use crate::testing::e5_2600;

/// Written by hand after docs/recording.md. CAS_COUNT.RD is event 0x04 with umask 0x03 (Table 2-63 of the guide), LLC_LOOKUP.DATA_READ 0x34 with
/// 0x03 (Table 2-14).
const BY_HAND: &str = include_str!("by_hand.rec");

fn count(event: usize, (socket, instance): (u16, u16), count: Option<u64>) -> Count {
    let (validity, slices) = (Validity::MEASURED, Slices::default());
    Count { event, socket, instance, count, validity, slices, standard_error: None }
}

fn header() -> Header {
    let programmed = |control: u64, filters: &[(&str, u64)]| Source::Programmed {
        control,
        filters: filters.iter().map(|(field, value)| ((*field).to_owned(), *value)).collect::<BTreeMap<_, _>>(),
        companion: None,
    };
    let counted = |label: &str, unit: &str, instance, source| Counted {
        label: label.to_owned(),
        unit: unit.to_owned(),
        instance,
        source,
    };
    let place = |unit: &str, number| Place { socket: 0, unit: unit.to_owned(), number };
    Header {
        about: About {
            pericore: "0.1.0".to_owned(),
            title: "Xeon E5-2680, 1 socket: sort words.txt".to_owned(),
            emulated: None,
            started: Some("2026-11-22T19:42:00.000Z".to_owned()),
            host: Some("db1".to_owned()),
            event_files: Vec::new(),
            truth: false,
        },
        family: "e5-2600".to_owned(),
        asked: vec![
            Asked::Events("imc/CAS_COUNT.RD/,cbo1/LLC_LOOKUP.DATA_READ/".to_owned()),
            Asked::Metrics("imc/MEM_READ_BANDWIDTH".to_owned()),
        ],
        events: vec![
            counted("imc/CAS_COUNT.RD/", "imc", None, programmed(0x304, &[])),
            counted("cbo1/LLC_LOOKUP.DATA_READ/", "cbo", Some(1), programmed(0x334, &[("filter.state", 0x1f)])),
        ],
        instances: vec![place("cbo", 1), place("imc", 0), place("imc", 2)],
        counts: vec![(1, 0), (0, 1), (0, 2)],
        threads_per_core: None,
    }
}

fn samples() -> [Recorded; 2] {
    let first = Sample {
        seconds: 1.0,
        tsc_cycles: 2_700_000_000,
        stood_before_reading: false,
        sockets: BTreeMap::new(),
        counts: vec![count(1, (0, 1), Some(7)), count(0, (0, 0), Some(1000)), count(0, (0, 2), Some(u64::MAX))],
        ..Sample::default()
    };
    let mut slices = Slices::default();
    slices.push(0.25, 4);
    slices.push(0.5, 6);
    let second = Sample {
        seconds: 1.5,
        tsc_cycles: 4_050_000_000,
        stood_before_reading: true,
        paused: 0.125,
        sockets: BTreeMap::from([(0, Length { seconds: 1.25, tsc_cycles: 3_000_000_000 })]),
        counts: vec![
            Count { validity: Validity::scaled(0.5), slices, standard_error: Some(2.5), ..count(1, (0, 1), Some(20)) },
            Count {
                validity: Validity::unreadable("imc0 in socket 0", "it reads as all ones"),
                ..count(0, (0, 0), None)
            },
            Count { validity: Validity::suspect("imc2 was reset"), ..count(0, (0, 2), Some(3)) },
        ],
        ..Sample::default()
    };
    [Recorded { end: 1.0, sample: first, truth: None }, Recorded { end: 2.5, sample: second, truth: None }]
}

/// All samples of a text, and how it ended.
fn read(text: &[u8]) -> Result<(Vec<Recorded>, Ending), RecordError> {
    let mut reader = Reader::open(text)?;
    let samples = reader.by_ref().collect::<Result<_, _>>()?;
    Ok((samples, reader.ending().expect("it is over").clone()))
}

fn written(header: &Header, samples: &[Recorded], ending: &Ending) -> Vec<u8> {
    let mut text = Vec::new();
    let mut writer = Writer::begin(&mut text, header).unwrap();
    for recorded in samples {
        writer.sample(recorded.end, &recorded.sample, recorded.truth.as_ref()).unwrap();
    }
    assert_eq!(writer.samples(), samples.len() as u64);
    writer.end(ending).unwrap();
    let bytes = writer.bytes();
    assert_eq!(bytes, text.len() as u64);
    text
}

#[test]
fn a_file_by_hand_is_read_and_written_as_it_is() {
    let ending = Ending::Interrupted { signal: 2 };
    assert_eq!(*Reader::open(BY_HAND.as_bytes()).unwrap().header(), header());
    assert_eq!(read(BY_HAND.as_bytes()), Ok((samples().to_vec(), ending.clone())));
    assert_eq!(String::from_utf8(written(&header(), &samples(), &ending)).unwrap(), BY_HAND);
}

/// Wherever it is cut: the whole lines are read, and half a line is told.
#[test]
fn a_cut_file_is_read_to_the_last_whole_line() {
    let ends: Vec<usize> = BY_HAND.match_indices('\n').map(|(at, _)| at + 1).collect();
    for cut in 0..BY_HAND.len() {
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let outcome = read(&BY_HAND.as_bytes()[..cut]);
        if whole == 0 {
            assert_eq!(outcome, Err(RecordError::Nothing), "{cut}");
            continue;
        }
        let half = (!ends.contains(&cut)).then_some(whole + 1);
        let expected = samples()[..(whole - 1).min(2)].to_vec();
        assert_eq!(outcome, Ok((expected, Ending::Cut { half })), "{cut}");
    }
}

/// Each change by itself, and what the error has to name.
#[test]
fn what_is_damaged_is_named_with_line_and_field() {
    for (old, new, named) in [
        ("\"pericore-recording\":1", "\"pericore-recording\":2", "line 1: the format's version is 2"),
        ("\"pericore-recording\":1", "\"pericore-recording\":\"new\"", "version is \"new\""),
        ("\"pericore-recording\"", "\"pericore-journal\"", "not a Pericore recording"),
        ("\"emulated\":null", "\"emulated\":\"e5-2680\"", "line 1, title: it does not begin with EMULATED"),
        ("sort words", "sort\\u001b[2J words", "line 1, title: a control character"),
        ("\"0x304\"", "\"304\"", "line 1, events[0].control: it is no text such as \"0x137\""),
        ("\"0x304\"", "\"0x10000000000000000\"", "line 1, events[0].control"),
        ("\"control\":\"0x304\"", "\"fixed\":\"x\",\"control\":\"0x304\"", "line 1, events[0]: it has none of"),
        ("\"number\":2}", "\"number\":0}", "line 1, instances[2]: it is there twice"),
        ("\"number\":2}", "\"number\":65536}", "line 1, instances[2].number: 65536 is too large"),
        ("[0,2]]", "[0,1]]", "line 1, counts[2]: it is there twice"),
        ("[0,2]]", "[0,0]]", "line 1, counts[2]: the event is not one of this instance"),
        ("[0,2]]", "[2,2]]", "line 1, counts[2][0]: there is no such event"),
        ("[0,2]]", "[0,9]]", "line 1, counts[2][1]: there is no such instance"),
        ("[0,2]]", "[0,2,2]]", "line 1, counts[2]: it is no list of two"),
        (",18446744073709551615]", ",18446744073709551616]", "line 2, counts[2]: it is no whole number"),
        (",18446744073709551615]", ",-1]", "line 2, counts[2]: it is no whole number"),
        (",18446744073709551615]", ",1.5]", "line 2, counts[2]: it is no whole number"),
        (",18446744073709551615]", ",null]", "line 2: counts[2] is null, and no reason"),
        (",18446744073709551615]", "]", "line 2, counts: it has 2 numbers where the first line announces 3"),
        ("\"end\":1.0,", "\"end\":1e999,", "line 2: it is no JSON"),
        ("\"end\":1.0,", "\"end\":1e300,", "line 2, end: it is no number from 0 to 1e10"),
        ("\"end\":1.0,", "\"end\":\"soon\",", "line 2, end"),
        ("\"end\":1.0,", "", "line 2: the field \"end\" is missing"),
        ("\"end\":1.0,", "\"end\":3.0,", "line 3, end: it lies before the end of the sample before, 3"),
        ("\"seconds\":1.5", "\"seconds\":-1.5", "line 3, seconds"),
        (
            "\"seconds\":1.5",
            "\"seconds\":1.51",
            "line 3, seconds: the samples until here are longer than the time until their end, 2.5",
        ),
        ("\"duty\":0.5", "\"duty\":1.0", "line 3, validity[0].concerns[0].duty: it does not lie between 0 and 1"),
        (
            "\"grade\":\"scaled\"",
            "\"grade\":\"measured\"",
            "line 3, validity[0].concerns[0].grade: \"measured\" is no grade",
        ),
        ("[0.25,4]", "[0.25]", "line 3, validity[0].slices[0]: it is no list of two"),
        ("{\"count\":2,", "{\"count\":1,", "line 3, validity[2].count: it does not come after"),
        ("{\"count\":2,", "{\"count\":3,", "line 3, validity[2].count: there is no such count"),
        ("[20,null,3]", "[20,5,3]", "line 3, validity[1].concerns: there is a number that, by this, cannot be"),
        ("\"samples\":2", "\"samples\":3", "line 4, samples: it says 3, and there are 2"),
        ("\"interrupted\"", "\"somehow\"", "line 4, ended: \"somehow\" is none of"),
        ("\"signal\":2}\n", "\"signal\":2}\n\n", "line 5: it is no JSON"),
        ("\"signal\":2}\n", "\"signal\":2}\n{}\n", "line 5: there is a line behind the last one"),
    ] {
        assert!(BY_HAND.contains(old), "{old}");
        let error = read(BY_HAND.replacen(old, new, 1).as_bytes()).expect_err(new).to_string();
        assert!(error.contains(named), "{old} -> {new}: {error}");
    }
    let advice = read(BY_HAND.replacen("\"seconds\":1.5", "", 1).as_bytes()).unwrap_err().to_string();
    assert!(advice.contains("from its first 2 lines"), "{advice}");
}

#[test]
fn other_files_are_told_from_recordings() {
    for text in ["", "{\"pericore-rec"] {
        assert_eq!(read(text.as_bytes()), Err(RecordError::Nothing), "{text:?}");
    }
    for text in ["pericore journal 1\n", "\0\0\0", "{}\n", "[1]\n", "\n", "PERFILE2", "\u{feff}{}\n"] {
        assert!(
            matches!(read(text.as_bytes()), Err(RecordError::Foreign { .. })),
            "{text:?}: {:?}",
            read(text.as_bytes())
        );
    }
    let endless = std::io::BufReader::new(std::io::repeat(b'7'));
    assert!(matches!(Reader::open(endless), Err(RecordError::Foreign { what }) if what.contains("longer than 64 MB")));
    let deep = "[".repeat(1 << 20) + "\n";
    assert!(matches!(read(deep.as_bytes()), Err(RecordError::Foreign { .. })));
}

/// What the file says of its own reading: a view finds events by what they count, whatever they are called.
#[test]
fn events_and_metrics_are_found_again() {
    let view = |text: &str| {
        let mut selection = Selection::new(e5_2600());
        selection.add_events(text).unwrap();
        View::new(&header(), selection)
    };
    let selection = Selection::again(e5_2600(), &header().asked).unwrap();
    let [first, second] = samples();
    let whole = View::new(&header(), selection.clone()).unwrap();
    assert_eq!(whole.of(&first.sample), first.sample);
    let (layout, metric) = (whole.layout(), &selection.metrics[0]);
    let by_socket = metric_totals(&layout, &whole.of(&first.sample), metric, Scope::Instance);
    let numbers: Vec<_> = by_socket.iter().map(|total| (total.part.instance, total.value.number())).collect();
    assert_eq!(numbers, [(Some(0), Some(64_000.0)), (Some(2), Some(u64::MAX as f64 * 64.0))]);

    let renamed = view("uncore_imc_2/event=0x4,umask=0x3,name=reads/").unwrap();
    let [total] = &event_totals(&renamed.of(&second.sample), 0, Scope::System)[..] else { panic!("one") };
    assert_eq!((total.count, total.instances), (Some(3), 1), "one channel of those recorded");
    assert_eq!(renamed.layout().instances.iter().map(|place| place.name()).collect::<Vec<_>>(), ["imc2"]);

    for (events, words) in [
        ("imc/CAS_COUNT.WR/", "imc/CAS_COUNT.WR/ was not recorded (only imc/CAS_COUNT.RD/, cbo1/"),
        ("imc1/CAS_COUNT.RD/", "imc1/CAS_COUNT.RD/ was not recorded"),
        ("cbo/LLC_LOOKUP.DATA_READ/", "cbo/LLC_LOOKUP.DATA_READ/ was not recorded"),
        ("cbo1/LLC_LOOKUP.DATA_READ,state=M/", "was not recorded"),
    ] {
        let error = view(events).unwrap_err().to_string();
        assert!(error.contains(words), "{events}: {error}");
    }
    let mut other = header();
    other.events[0].source = Source::Programmed { control: 0x305, filters: BTreeMap::new(), companion: None };
    let error = View::new(&other, selection.clone()).unwrap_err().to_string();
    assert!(error.contains("then it was control 0x305, here it is control 0x304"), "{error}");
    other.family = "nehalem".to_owned();
    assert!(matches!(View::new(&other, selection), Err(ViewError::OtherFamily { .. })));
}

#[test]
fn a_sample_of_another_plan_is_not_written() {
    let mut text = Vec::new();
    let mut writer = Writer::begin(&mut text, &header()).unwrap();
    let mut sample = samples()[0].sample.clone();
    sample.counts.swap(0, 1);
    assert!(writer.sample(1.0, &sample, None).is_err());
    assert_eq!(writer.samples(), 0);
}

/// Words with whatever is in them but control characters, which are not kept.
fn words() -> impl Strategy<Value = String> {
    "[^\\p{Cc}]{0,12}"
}

fn seconds() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 1e-12..1e9, Just(f64::MIN_POSITIVE), Just(0.1 + 0.2)]
}

fn validity() -> impl Strategy<Value = Validity> {
    let concern = prop_oneof![
        (1e-9..1.0).prop_map(Validity::scaled),
        words().prop_map(Validity::suspect),
        words().prop_map(Validity::wrapped_unknown),
        words().prop_map(Validity::not_defined),
        (words(), words()).prop_map(|(which, why)| Validity::unreadable(which, why)),
    ];
    prop::collection::vec(concern, 0..4)
        .prop_map(|concerns| concerns.iter().fold(Validity::MEASURED, |all, one| all.and(one)))
}

fn any_count() -> impl Strategy<Value = Count> {
    let slices = prop::collection::vec((seconds(), any::<u64>()), 0..130);
    (any::<u64>(), validity(), slices, prop::option::of(0.0..1e20_f64)).prop_map(|(number, validity, parts, error)| {
        let mut slices = Slices::default();
        parts.iter().for_each(|&(seconds, count)| slices.push(seconds, count));
        let count = validity.grade().has_number().then_some(number);
        Count { event: 0, socket: 0, instance: 0, count, validity, slices, standard_error: error }
    })
}

fn any_sample(has_truth: bool) -> impl Strategy<Value = Recorded> {
    let truth = prop::array::uniform3(prop::option::of(any::<u64>()));
    let length = || (seconds(), any::<u64>()).prop_map(|(seconds, tsc_cycles)| Length { seconds, tsc_cycles });
    let stood = (any::<bool>(), seconds());
    (prop::array::uniform3(any_count()), (length(), prop::option::of(length())), stood, truth).prop_map(
        move |(mut counts, (Length { seconds, tsc_cycles }, own), (stood, paused), truth)| {
            for (count, &(event, place)) in counts.iter_mut().zip(&header().counts) {
                let place = &header().instances[place];
                (count.event, count.socket, count.instance) = (event, place.socket, place.number);
            }
            let sockets = own.map(|length| (0, length)).into_iter().collect();
            let plain = Sample { seconds, tsc_cycles, paused, sockets, ..Sample::default() };
            let sample = Sample { stood_before_reading: stood, counts: counts.to_vec(), ..plain };
            let truth = has_truth.then(|| sample.with_truth(truth));
            Recorded { end: 0.0, sample, truth }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read_back(
        (has_truth, mut samples) in any::<bool>().prop_flat_map(|truth| (Just(truth), prop::collection::vec(any_sample(truth), 0..4))),
        steps in prop::array::uniform4(0.0..1e6_f64),
        title in words(),
        why in words(),
    ) {
        let mut header = header();
        header.about.truth = has_truth;
        header.about.title = format!("EMULATED {title}");
        header.about.emulated = Some(title);
        let mut end = 0.0;
        for (sample, step) in samples.iter_mut().zip(steps) {
            end += sample.sample.seconds + step;
            sample.end = end;
        }
        let ending = Ending::Failed { why };
        let text = written(&header, &samples, &ending);
        let reader = Reader::open(&text[..]).unwrap();
        prop_assert_eq!(reader.header(), &header);
        prop_assert_eq!(read(&text), Ok((samples, ending)));
    }

    /// Any byte of the file may be another one: it is read, or refused in words.
    #[test]
    fn a_changed_byte_does_no_harm(at in 0..BY_HAND.len(), byte in any::<u8>()) {
        let mut text = BY_HAND.as_bytes().to_vec();
        text[at] = byte;
        if let Err(error) = read(&text) {
            prop_assert!(!error.to_string().contains(char::is_control), "{}", error);
        }
    }
}

/// A check that comes with the fourth sample withdraws a count of the two before it, and no other.
#[test]
fn what_a_later_sample_withdraws_is_read_as_withdrawn() {
    let doubt = Doubt { event: 0, socket: 0, instance: 2, why: "someone else changed ctl0".to_owned() };
    let mut samples: Vec<Recorded> =
        (1..=4).map(|end| Recorded { end: f64::from(end), ..samples()[0].clone() }).collect();
    samples[3].sample.withdrawn = Some(Withdrawn { samples: 2, doubts: vec![doubt] });
    let text = written(&header(), &samples, &Ending::Whole);
    assert!(
        String::from_utf8_lossy(&text)
            .contains(r#""withdrawn":{"samples":2,"doubts":[{"count":2,"why":"someone else changed ctl0"}]}"#)
    );
    let (read, _) = read(&text).unwrap();
    let texts: Vec<Vec<String>> =
        read.iter().map(|one| one.sample.counts.iter().map(|count| count.validity.to_string()).collect()).collect();
    let plain = ["measured"; 3];
    let withdrawn = ["measured", "measured", "suspect: withdrawn: someone else changed ctl0"];
    assert_eq!(texts, [plain, withdrawn, withdrawn, plain]);
}
