//! Any bytes as a recording: an error in words, or samples that add up, evaluate without a panic, and are the same when
//! written and read again.

use pericore_observe::record::{Ending, Reader, Recorded, View, Writer};
use pericore_observe::results::{Scope, event_totals, metric_totals};
use pericore_observe::selection::Selection;
use pericore_observe::session::Sample;

/// Any bytes.
pub fn run(bytes: &[u8]) {
    let mut reader = match Reader::open(bytes) {
        Ok(reader) => reader,
        Err(error) => {
            assert!(!error.to_string().contains(char::is_control), "{error:?} would upset a terminal");
            return;
        }
    };
    let header = reader.header().clone();
    let mut samples: Vec<Recorded> = Vec::new();
    for recorded in reader.by_ref() {
        match recorded {
            Ok(recorded) => samples.push(recorded),
            Err(error) => {
                assert!(!error.to_string().contains(char::is_control), "{error:?} would upset a terminal");
                break;
            }
        }
    }
    let mut text = Vec::new();
    let mut writer = Writer::begin(&mut text, &header).expect("memory takes all");
    for recorded in &samples {
        writer.sample(recorded.end, &recorded.sample, recorded.truth.as_ref()).expect("samples are of their header");
    }
    writer.end(&Ending::Whole).expect("memory takes all");
    let again = Reader::open(&text[..]).expect("what was read is written as it can be read");
    assert_eq!(*again.header(), header);
    let again: Vec<Recorded> = again.collect::<Result<_, _>>().expect("samples too");
    assert_eq!(again, samples);

    let Some(family) = pericore_catalog::family(&header.family) else { return };
    let Ok(selection) = Selection::again(family, &header.asked) else { return };
    let Ok(view) = View::new(&header, selection) else { return };
    let mut whole = Sample::default();
    samples.iter().for_each(|recorded| whole.add(&view.of(&recorded.sample)));
    let layout = view.layout();
    for scope in [Scope::Instance, Scope::Socket, Scope::System] {
        for event in 0..layout.selection.events.len() {
            for total in event_totals(&whole, event, scope) {
                assert_eq!(total.count.is_some(), total.validity.grade().has_number(), "{total:?}");
                assert!(total.standard_error.is_none_or(f64::is_finite), "{total:?}");
            }
        }
        for metric in &layout.selection.metrics {
            for total in metric_totals(&layout, &whole, metric, scope) {
                assert!(total.value.number().is_none_or(f64::is_finite), "{total:?}");
            }
        }
    }
}
