//! `pericore stat` with every workload, a scenario and a real program on every machine: every count is the ledger's.

use crate::ours::{PERICORE, command};

/// A machine, its events, and which of them count when cores read, when cores write, and when devices do something.
type Machine = (&'static str, &'static str, [&'static str; 3]);

const MACHINES: [Machine; 4] = [
    (
        "e5-2600",
        "cbo/RxR_INSERTS.VFIFO/,ha/REQUESTS.READS/,ha/REQUESTS.WRITES/,\
         imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/",
        ["ha/REQUESTS.READS/", "ha/REQUESTS.WRITES/", "cbo/RxR_INSERTS.VFIFO/"],
    ),
    (
        "nehalem",
        "uncore/GQ_ALLOC.READ_TRACKER/,uncore/GQ_ALLOC.WRITE_TRACKER/,uncore/LLC_MISS.READ/,\
         uncore/QMC_NORMAL_READS.ANY/,uncore/QMC_WRITES.FULL_ANY/,uncore/QHL_REQUESTS.IOH_READS/,\
         uncore/QHL_REQUESTS.IOH_WRITES/",
        ["uncore/GQ_ALLOC.READ_TRACKER/", "uncore/GQ_ALLOC.WRITE_TRACKER/", "uncore/QHL_REQUESTS.IOH_"],
    ),
    (
        "emerald-rapids",
        "cha/TOR_INSERTS.IA/,cha/TOR_INSERTS.IO/,cha/TOR_INSERTS.IA_MISS/,imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/,\
         iio/DATA_REQ_OF_CPU.MEM_READ.PART0/",
        ["imc/CAS_COUNT.RD/", "cha/TOR_INSERTS.IA/", "cha/TOR_INSERTS.IO/"],
    ),
    (
        "sapphire-rapids",
        "cha/TOR_INSERTS.IA/,cha/TOR_INSERTS.IO/,cha/TOR_INSERTS.IA_MISS/,imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/,\
         iio/DATA_REQ_OF_CPU.MEM_READ.PART0/,mdf/CRS_TxR_INSERTS.BL_CRD/",
        ["imc/CAS_COUNT.RD/", "cha/TOR_INSERTS.IA/", "cha/TOR_INSERTS.IO/"],
    ),
];

/// What runs, and which of a machine's three kinds of events must not be 0.
const WORKLOADS: [(&str, Option<usize>); 10] = [
    ("stream:requests=3000", Some(0)),
    ("copy:requests=3000", Some(0)),
    ("random:requests=3000,read=70", Some(0)),
    ("chase:requests=400", Some(0)),
    ("mixed:requests=3000", Some(0)),
    ("ntstore:requests=3000", Some(1)),
    ("dma-read:requests=1000", Some(2)),
    ("dma-write:requests=1000", Some(2)),
    ("idle:microseconds=20", None),
    ("../machine/scenarios/day.scenario", Some(0)),
];

/// Events and counts, each compared with the truth.
fn counts(machine: &str, events: &str, what: &[&str]) -> Vec<(String, f64)> {
    let mut command = command(PERICORE);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["stat", "--machine", machine, "-j", "--truth", "-e", events]);
    let output = command.args(what).output().expect("it starts");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{machine} {what:?}: {text}");
    let row = |line: &str| -> (String, f64) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        let value: f64 = row["counter-value"].as_str().expect("a count").parse().expect("a number");
        assert_eq!(
            (Some(value), row["error"].as_f64()),
            (row["truth"].as_f64(), Some(0.0)),
            "{machine} {what:?}: {row}"
        );
        (row["event"].as_str().expect("a name").to_owned(), value)
    };
    text.lines().map(row).collect()
}

/// How a workload is given. One of a machine begins warm, which takes a second each time on the largest.
fn begun<'a>(workload: &'a str, warm: &str) -> Vec<&'a str> {
    let is_cold = workload != warm && !workload.ends_with(".scenario");
    let more: &[&str] = if is_cold { &["--cold"] } else { &[] };
    [&["--workload", workload], more].concat()
}

#[test]
fn every_workload_runs_on_every_machine() {
    for (machine, events, kinds) in MACHINES {
        for (workload, kind) in WORKLOADS {
            let counts = counts(machine, events, &begun(workload, "stream:requests=3000"));
            assert_eq!(counts.len(), events.split("/,").count(), "{machine} {workload}: {counts:?}");
            let Some(kind) = kind else { continue };
            let of_kind = counts.iter().filter(|(event, _)| event.starts_with(kinds[kind]));
            assert!(of_kind.map(|(_, count)| count).sum::<f64>() >= 300.0, "{machine} {workload}: {counts:?}");
        }
    }
}

#[test]
fn fewer_cores_run_what_all_could() {
    for ((machine, events, kinds), cores) in MACHINES.into_iter().zip([5, 3, 20, 18]) {
        // Large machines are warmed up by `every_workload_runs_on_every_machine`.
        let warm = if cores < 10 { "mixed:requests=3000" } else { "none" };
        let machine = format!("{machine}:sockets=2,cores={cores}");
        for (workload, kind) in
            [("mixed:requests=3000", 0), ("dma-read:requests=1000", 2), ("random:requests=3000,remote=40", 0)]
        {
            let counts = counts(&machine, events, &begun(workload, warm));
            let of_kind = counts.iter().filter(|(event, _)| event.starts_with(kinds[kind]));
            assert!(of_kind.map(|(_, count)| count).sum::<f64>() >= 300.0, "{machine} {workload}: {counts:?}");
        }
        assert!(counts(&machine, events, &["--", "sh", "-c", "echo done"]).iter().any(|(_, count)| *count > 500.0));
    }
}

/// A part of 32 cores on four dies, from a file: the other numbers are the 8480+'s.
#[test]
fn a_part_of_ones_own_is_a_machine() {
    const PART: &str = r#"
        part = "own-32"
        family = "sapphire-rapids"
        like = "8480+"
        [datasheet]
        cores = 32
        slices = 32
        [fitted]
    "#;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("own.toml");
    std::fs::write(&file, PART).expect("written");
    let machine = format!("{}:sockets=2", file.display());
    let (_, events, kinds) = MACHINES[3];
    let counts = counts(&machine, events, &["--cold", "--workload", "mixed:requests=3000,threads=128,remote=40"]);
    assert!(counts.iter().all(|(event, count)| event != kinds[0] || *count >= 300.0), "{counts:?}");
    std::fs::write(&file, PART.replace("cores", "hearts")).expect("written");
    let output = command(PERICORE).args(["machine", "show", "--machine", &machine]).output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("own.toml: hearts is no key of a part"), "{errors}");
}

#[test]
fn a_real_program_runs_on_every_machine() {
    for (machine, events, kinds) in MACHINES {
        let counts = counts(machine, events, &["--", "sh", "-c", "echo done"]);
        let reads = counts.iter().find(|(event, _)| event == kinds[0]).expect("an event").1;
        assert!(reads > 500.0, "{machine}: {counts:?}");
    }
}

#[test]
fn a_programs_code_is_read_as_code() {
    for (machine, event) in
        [("e5-2600", "cbo/TOR_INSERTS.OPCODE,opc=0x181/"), ("emerald-rapids", "cha/TOR_INSERTS.IA_CRD/")]
    {
        let counts = counts(machine, event, &["--", "true"]);
        assert!(counts[0].1 > 100.0, "{machine}: {counts:?}");
    }
}
