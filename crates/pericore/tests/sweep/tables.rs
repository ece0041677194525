//! What is in the data set.

use super::{files, tables, write};
use crate::ours::python::python;
use crate::recordings::folder::{Folder, stderr_of};

/// Each table is what `pericore record` writes of the same measurement.
#[test]
fn a_partition_is_the_recording_of_its_run() {
    let folder = Folder::new();
    write(
        &folder,
        "run.toml",
        r#"truth = true
        interval = 0.002
        metrics = ["imc/MEM_BW_TOTAL"]
        events = ["cbo/TOR_INSERTS.OPCODE,opc=DRd/"]
        [[grid]]
        machines = "e5-2600:sockets=2"
        workloads = "stream:threads=2"
        workload.requests = [3000]
        machine.cores = 2
        timeout = 0.01
        [[grid]]
        machines = "e5-2600"
        workloads = "two.scenario"
        "#,
    );
    write(&folder, "two.scenario", "phase one\n  workload random:requests=900,threads=1\n");
    let sweep = folder.run(&[&["sweep", "run.toml"]]);
    assert!(sweep.status.success(), "{}", stderr_of(&sweep));
    let counted = ["-I", "0.002", "--truth", "-M", "imc/MEM_BW_TOTAL", "-e", "cbo/TOR_INSERTS.OPCODE,opc=DRd/"];
    let runs: [&[&str]; 2] = [
        &[
            "--machine",
            "e5-2600:sockets=2,cores=2",
            "--workload",
            "stream:threads=2,requests=3000",
            "--timeout",
            "0.01",
        ],
        &["--machine", "e5-2600", "--workload", "two.scenario"],
    ];
    for (run, (name, table)) in runs.iter().zip(files(&folder, "run").iter().filter(|(name, _)| name.ends_with("t"))) {
        let record = folder.run(&[&["record", "-o", "x.parquet"], run, &counted]);
        assert!(record.status.success(), "{}", stderr_of(&record));
        assert!(std::fs::read(folder.file("x.parquet")).expect("a recording") == *table, "{name}");
    }
    assert_eq!(tables(&files(&folder, "run")).len(), 2);
}

/// Three readers find the columns of the folders beside those of the tables, with the values of the file: a name with
/// signs that paths cannot have, numbers, and a parameter that one grid has not.
#[test]
fn readers_find_the_parameters_as_columns() {
    let folder = Folder::new();
    write(
        &folder,
        "run.toml",
        r#"cold = true
        [[grid]]
        machines = ["e5-2600:sockets=2", "x5570"]
        workloads = ["stream"]
        workload = { requests = [100, 200], seed = { from = 7, to = 9 } }
        [[grid]]
        machines = ["x5570"]
        workloads = ["chase:requests=1k"]
        workload.footprint = "1M"
        "#,
    );
    let sweep = folder.run(&[&["sweep", "run.toml"]]);
    assert!(sweep.status.success(), "{}", stderr_of(&sweep));
    let output = python().args(["-c", include_str!("columns.py")]).arg(folder.file("run")).output().expect("it starts");
    assert!(output.status.success(), "{}", stderr_of(&output));
    // Machine, workload, requests, seed and footprint of each run, by hand.
    let mut expected: Vec<String> = Vec::new();
    for machine in ["e5-2600:sockets=2", "x5570"] {
        for requests in [100, 200] {
            for seed in 7..=9 {
                expected.push(format!("{machine} stream {requests} {seed} None"));
            }
        }
    }
    expected.push("x5570 chase:requests=1k None None 1M".to_owned());
    expected.sort();
    let found = String::from_utf8(output.stdout).expect("UTF-8");
    for reader in ["duckdb", "pyarrow", "polars"] {
        let mine = found.lines().filter_map(|line| line.strip_prefix(reader)).map(str::trim).collect::<Vec<_>>();
        assert_eq!(mine, expected, "{reader}");
    }
}
