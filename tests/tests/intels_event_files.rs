//! Intel's own event files against the catalogue.

use pericore_catalog::event_file::{EventFile, overlay};
use pericore_tests::reference::shared;

/// Intel's own files, where they are at hand, read without a bad row but for units and counters that are not programmed, and
/// agree with the catalogue in every control value.
#[test]
fn intels_event_files_agree_with_the_catalogue() {
    let Some(shared) = shared("reading Intel's own event files") else { return };
    let files = [
        ("e5-2600", "JKT/events/Jaketown_uncore.json", 498),
        ("emerald-rapids", "EMR/events/emeraldrapids_uncore.json", 280),
        ("emerald-rapids", "EMR/events/emeraldrapids_uncore_experimental.json", 1765),
        ("sapphire-rapids", "SPR/events/sapphirerapids_uncore.json", 280),
        ("sapphire-rapids", "SPR/events/sapphirerapids_uncore_experimental.json", 1743),
    ];
    for (name, path, rows) in files {
        let text = std::fs::read_to_string(shared.join("perfmon").join(path)).expect("the file is readable");
        let family = pericore_catalog::family(name).unwrap();
        let file = EventFile::parse(&text, family).unwrap();
        assert_eq!(
            file.events.len(),
            rows,
            "{path}: {:?}",
            file.problems.iter().map(ToString::to_string).collect::<Vec<_>>()
        );
        let merged = overlay(pericore_catalog::lasting(), family, &file, path);
        assert!(merged.problems.is_empty(), "{:?}", merged.problems);
        assert_eq!(merged.added, 0, "{path} has rows that the catalogue lacks");
        let differing: Vec<_> = merged.replaced.iter().filter(|row| row.built_in.0 != row.file.0).collect();
        assert!(differing.is_empty(), "{differing:?}");
    }
}
