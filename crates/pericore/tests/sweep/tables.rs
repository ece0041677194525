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

/// A machine of a part of the user's own, named with keys and without, on the command line and in the file.
#[test]
fn a_part_of_the_users_own_is_swept() {
    let folder = Folder::new();
    let part = r#"part = "own-16"
        family = "sapphire-rapids"
        like = "8480+"
        [datasheet]
        cores = 16
        slices = 16
        [fitted]
        "#;
    std::fs::create_dir(folder.file("parts")).expect("a folder");
    write(&folder, "parts/own.toml", part);
    write(
        &folder,
        "run.toml",
        r#"cold = true
        events = ["imc/CAS_COUNT.RD/", "cha/CLOCKTICKS/"]
        [[grid]]
        machines = ["parts/own.toml", "parts/own.toml:sockets=1"]
        workloads = ["stream:requests=500"]
        machine.cores = [2, 16]
        "#,
    );
    let sweep = folder.run(&[&["sweep", "run.toml"]]);
    assert!(sweep.status.success(), "{}", stderr_of(&sweep));
    let swept = files(&folder, "run");
    assert_eq!(tables(&swept).len(), 4, "{:?}", swept.keys());
    let found = swept.iter().find(|(name, _)| name.contains("own.toml/") && name.contains("machine_cores=16"));
    let (name, table) = found.expect("the partition of the whole part");
    let machine = ["--machine", "parts/own.toml:cores=16", "--workload", "stream:requests=500", "--cold"];
    let events = ["-e", "imc/CAS_COUNT.RD/", "-e", "cha/CLOCKTICKS/"];
    let record = folder.run(&[&["record", "-o", "x.parquet"], &machine, &events]);
    assert!(record.status.success(), "{}", stderr_of(&record));
    assert!(std::fs::read(folder.file("x.parquet")).expect("a recording") == *table, "{name}");
    // Sixteen slices, each with its own counter of clocks: the part's, not those of the shipped one.
    let stat = folder.run(&[&["stat", "--no-merge", "-j"], &machine, &["-e", "cha/CLOCKTICKS/"]]);
    assert_eq!(stderr_of(&stat).matches("CLOCKTICKS").count(), 16, "{}", stderr_of(&stat));
    // What looks names up takes the same machine, with the family of the part.
    for look in [&["list", "--metrics"][..], &["explain", "CAS_COUNT.RD"]] {
        let own = folder.run(&[look, &["--machine", "parts/own.toml:sockets=2"]]);
        let family = folder.run(&[look, &["--machine", "sapphire-rapids"]]);
        assert!(own.status.success() && !own.stdout.is_empty(), "{look:?}: {}", stderr_of(&own));
        assert_eq!(own.stdout, family.stdout, "{look:?}");
    }
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
