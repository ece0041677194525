//! The extracts against Intel's full files, where these are at hand.

use std::fs;
use std::path::Path;

use pericore_tests::reference::shared;
use serde_json::Value;

use super::table::text;

/// Extract, full files, and the columns: key in the file, digits of a hexadecimal number.
struct Extract {
    file: &'static str,
    full: &'static [&'static str],
    columns: &'static [(&'static str, Form)],
}

enum Form {
    Text,
    Hex(usize),
    Counters,
    Filter,
}

const EMERALD_RAPIDS: Extract = Extract {
    file: "emerald-rapids-intel.csv",
    full: &["EMR/events/emeraldrapids_uncore.json", "EMR/events/emeraldrapids_uncore_experimental.json"],
    columns: &[
        ("Unit", Form::Text),
        ("EventName", Form::Text),
        ("EventCode", Form::Hex(2)),
        ("UMask", Form::Hex(2)),
        ("UMaskExt", Form::Hex(8)),
        ("PortMask", Form::Hex(3)),
        ("FCMask", Form::Hex(1)),
        ("ExtSel", Form::Text),
        ("Counter", Form::Counters),
        ("CounterType", Form::Text),
        ("Filter", Form::Filter),
    ],
};

const SAPPHIRE_RAPIDS: Extract = Extract {
    file: "sapphire-rapids-intel.csv",
    full: &["SPR/events/sapphirerapids_uncore.json", "SPR/events/sapphirerapids_uncore_experimental.json"],
    columns: EMERALD_RAPIDS.columns,
};

const E5_2600: Extract = Extract {
    file: "e5-2600-intel.csv",
    full: &["JKT/events/Jaketown_uncore.json"],
    columns: &[
        ("Unit", Form::Text),
        ("EventName", Form::Text),
        ("EventCode", Form::Hex(2)),
        ("UMask", Form::Hex(2)),
        ("ExtSel", Form::Text),
        ("Counter", Form::Counters),
        ("Filter", Form::Filter),
    ],
};

#[test]
fn extracts_are_true_to_the_full_files() {
    // The extracts themselves are checked all the same.
    let Some(shared) = shared("the check of the extracts against Intel's full event files") else { return };
    for extract in [EMERALD_RAPIDS, SAPPHIRE_RAPIDS, E5_2600] {
        let mut full: Vec<_> =
            extract.full.iter().flat_map(|file| rows(&shared.join("perfmon").join(file), &extract)).collect();
        let shipped = text(extract.file);
        let mut shipped: Vec<_> = shipped.lines().skip(1).map(str::to_owned).collect();
        full.sort();
        shipped.sort();
        assert_eq!(shipped.len(), full.len(), "{}", extract.file);
        for (shipped, full) in shipped.iter().zip(&full) {
            assert_eq!(shipped, full, "{}", extract.file);
        }
    }
    let nehalem = fs::read_to_string(shared.join("nehalem-events.csv")).expect("the table is there");
    assert!(nehalem.lines().eq(text("nehalem-events.csv").lines()), "nehalem-events.csv");
}

fn rows(path: &Path, extract: &Extract) -> Vec<String> {
    let file: Value =
        serde_json::from_str(&fs::read_to_string(path).expect("the file is readable")).expect("it is JSON");
    let events = file["Events"].as_array().expect("it has events");
    events
        .iter()
        .map(|event| extract.columns.iter().map(|(key, form)| form.cell(&event[key])).collect::<Vec<_>>().join(","))
        .collect()
}

impl Form {
    fn cell(&self, value: &Value) -> String {
        let text = value.as_str().expect("values are strings");
        match self {
            Self::Text => text.to_owned(),
            Self::Hex(digits) => {
                let value = u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a hexadecimal number");
                format!("0x{value:0digits$X}")
            }
            Self::Counters => text.trim().replace(',', " "),
            Self::Filter if matches!(text, "na" | "null") => String::new(),
            Self::Filter => text.replace(", ", "; "),
        }
    }
}
