//! Tables read by other programs: DuckDB, Polars and pandas.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::folder::Folder;
use crate::ours::python::python_json;

const READERS: &str = include_str!("readers.py");
const FLEET: &str = include_str!("../../../../docs/fleet.md");

/// Each reader's sums are those that `report` prints, event by event, of one socket and of two.
#[test]
fn three_readers_have_the_sums_of_report() {
    let folder = Folder::new();
    let e5 = "--machine e5-2600:sockets=2 --workload random:requests=20k,footprint=64M,remote=30 \
              -e imc/CAS_COUNT.RD/ -e imc/CAS_COUNT.WR/ -e cbo/LLC_LOOKUP.WRITE/ -e qpi/CLOCKTICKS/";
    let emerald = "--machine 8592+ --workload mixed:requests=4k -e imc/CAS_COUNT.RD/ \
                   -e imc/CAS_COUNT.WR/ -e cha/TOR_INSERTS.IA_MISS/ -e cha/CLOCKTICKS/";
    for run in [e5, emerald] {
        let words: Vec<&str> = run.split_whitespace().collect();
        folder.shown(&[&["record", "-o", "x.parquet"], &words]);
        let shown = folder.shown(&[&["report", "x.parquet", "-j"]]);
        let line = |line: &str| -> (String, u64) {
            let row: Value = serde_json::from_str(line).expect("JSON");
            let count = row["counter-value"].as_str().and_then(|count| count.parse::<f64>().ok());
            (row["event"].as_str().expect("a name").to_owned(), count.expect("a count") as u64)
        };
        let report: BTreeMap<String, u64> = shown.lines().map(line).collect();
        assert!(report.len() == 4 && report["imc/CAS_COUNT.RD/"] > 1000, "{shown}");
        let path = folder.file("x.parquet");
        let found = python_json(READERS, &["sums", path.to_str().expect("UTF-8")]);
        let found: BTreeMap<String, BTreeMap<String, u64>> = serde_json::from_value(found).expect("sums of readers");
        assert_eq!(found.len(), 3);
        for (reader, sums) in found {
            assert_eq!(sums, report, "{reader}, {run}");
        }
    }
}

/// The queries of the document for fleets, over folders that `record --partition` made: two hosts, two days.
#[test]
fn the_queries_of_the_document_find_rows() {
    let folder = Folder::new();
    let run = ["--machine", "8592+", "--workload", "mixed:requests=4k"];
    folder.shown(&[&["record", "--partition", "-o", "fleet/run.parquet"], &run]);
    // Virtual time begins in 1970, and a software machine has no name in the network.
    let made = folder.file("fleet/host=__HIVE_DEFAULT_PARTITION__/date=1970-01-01/run-000000.parquet");
    let table = fs::read(&made).expect("a table in its folder");
    fs::remove_dir_all(folder.file("fleet")).expect("ours");
    for place in ["host=host-a/date=2026-11-16", "host=host-a/date=2026-11-23", "host=host-b/date=2026-11-23"] {
        let place = folder.file("fleet").join(place);
        fs::create_dir_all(&place).expect("a folder");
        fs::write(place.join("run-000000.parquet"), &table).expect("written");
    }
    let queries: Vec<&str> = FLEET.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(queries.len() >= 5, "{queries:?}");
    for query in queries {
        let here = query.replace("'fleet/", &format!("'{}/", folder.file("fleet").display()));
        assert_ne!(here, query);
        let rows = python_json(READERS, &["query", &here]);
        let rows = rows.as_array().expect("a list");
        assert!(!rows.is_empty() && rows.len() <= 448, "{query}: {rows:?}");
        // Nothing but the names of hosts, units and validities may be missing a number.
        assert!(
            rows.iter().all(|row| row.as_object().is_some_and(|row| row.values().all(|value| !value.is_null()))),
            "{query}: {rows:?}"
        );
    }
    // Both days are the same recording: nothing has changed.
    let changed = "SELECT count(*) AS hosts, sum(count) AS lines FROM (SELECT host, date, sum(count) AS count FROM \
                   read_parquet('FOLDER/*/*/*.parquet', hive_partitioning = true) \
                   WHERE event = 'imc/CAS_COUNT.RD/' GROUP BY ALL)";
    let rows =
        python_json(READERS, &["query", &changed.replace("FOLDER", &folder.file("fleet").display().to_string())]);
    let single = python_json(
        READERS,
        &["sums", &folder.file("fleet/host=host-b/date=2026-11-23/run-000000.parquet").display().to_string()],
    );
    let lines = single["duckdb"]["imc/CAS_COUNT.RD/"].as_u64().expect("a count");
    assert_eq!((rows[0]["hosts"].as_u64(), rows[0]["lines"].as_u64()), (Some(3), Some(3 * lines)), "{rows}");
}
