//! What is printed: tables, separated values, JSON, and the contracts of those who read them.

use super::{SMALL, measured, pericore, refused, stderr, stdout};

#[test]
fn a_table_names_its_machine_and_its_validity() {
    let output = measured(&["--truth"]);
    assert!(output.status.success());
    let table = stderr(&output);
    let words = ["EMULATED", "e5-2680", "imc/MEM_READ_BANDWIDTH", "GB/s", "model", "all measured", "virtual time"];
    for word in words.into_iter().chain(["error 0: the counters count what the model does"]) {
        assert!(table.contains(word), "no {word:?} in {table}");
    }
    let too_wide = table.lines().find(|line| line.chars().count() > 80);
    assert_eq!(too_wide, None);
}

#[test]
fn json_has_perfs_keys_the_validity_and_the_truth() {
    let events = "cbo/LLC_VICTIMS.M_STATE/,imc/CAS_COUNT.RD/";
    let output = measured(&["-e", events, "-M", "MEM_READ_BANDWIDTH", "-j", "--truth", "-o", "/dev/stdout"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let rows: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    assert_eq!(rows.len(), 3);
    for row in &rows[..2] {
        let value: f64 = row["counter-value"].as_str().expect("perf prints a string").parse().expect("a number");
        assert_eq!(Some(value), row["truth"].as_f64());
        assert_eq!(row["error"].as_f64(), Some(0.0));
        assert_eq!(row["validity"], "measured");
        assert_eq!(row["pcnt-running"].as_f64(), Some(100.0));
        assert!(row["event-runtime"].as_u64() > Some(0));
        assert_eq!(row["emulated"], "e5-2680");
    }
    assert_eq!(rows[0]["event"], "cbo/LLC_VICTIMS.M_STATE/");
    assert_eq!(rows[2]["metric-unit"], "B/s");
    assert!(rows[2]["metric-value"].as_str().is_some());
}

#[test]
fn separated_values_and_intervals() {
    let output = measured(&["-e", "ha/REQUESTS.READS/", "-x", ";", "-I", "0.02", "-o", "/dev/stdout"]);
    let text = stdout(&output);
    assert!(text.lines().count() >= 2, "{text}");
    let mut last = 0.0;
    for line in text.lines() {
        let fields: Vec<&str> = line.split(';').collect();
        let end: f64 = fields[0].parse().expect("the end of the interval");
        assert!(end > last);
        last = end;
        fields[1].parse::<f64>().expect("a count");
        assert_eq!(fields[3], "ha/REQUESTS.READS/");
        assert_eq!(fields[8], "measured");
    }
}

/// An event's own commas, a truth that nobody knows, a spread that there is none of: each line has all the fields all the same.
#[test]
fn separated_lines_have_the_same_fields() {
    let events = "cbo/TOR_INSERTS.OPCODE,opc=DRd/,imc/CAS_COUNT.RD,thresh=1/,r2pcie/CLOCKTICKS/";
    let comma = stderr(&measured(&["-e", events, "-x,", "--truth", "-r", "2"]));
    for name in ["\"cbo/TOR_INSERTS.OPCODE,opc=DRd/\",", "\"imc/CAS_COUNT.RD,thresh=1/\",", ",r2pcie/CLOCKTICKS/,"] {
        assert!(comma.contains(name), "no {name} in {comma}");
    }
    let tab = stderr(&measured(&["-e", events, "-x", "\\t", "--truth", "-r", "2"]));
    assert_eq!(tab.lines().count(), 3, "{tab}");
    for line in tab.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!((fields.len(), fields[8]), (11, "measured"), "{line}");
        // The ledger knows what happened, not in how many cycles.
        assert_eq!(fields[9].is_empty(), line.contains("thresh"), "{line}");
    }
}

#[test]
fn places_are_shown_when_asked_for() {
    let run = |option: &str| {
        let output = measured(&["-e", "cbo/CLOCKTICKS/", option]);
        stderr(&output)
    };
    assert!(run("--per-socket").contains("S0 cbo/CLOCKTICKS/"));
    let separated = |option| stderr(&measured(&["-e", "cbo/CLOCKTICKS/", "-x,", option]));
    // As perf: the socket, how many are added up, the count. An instance is one.
    assert!(separated("--per-socket").starts_with("S0,8,"), "{}", separated("--per-socket"));
    assert!(separated("-A").starts_with("S0 cbo0,") && !separated("-A").contains(",1,"), "{}", separated("-A"));
    for option in ["--per-unit", "-A"] {
        let table = run(option);
        for slice in 0..8 {
            assert!(table.contains(&format!("S0 cbo{slice} ")), "{option}: {table}");
        }
    }
}

/// 20 us after the first 10 are measured: 20,000 ns of which the model's truth is known, and every slice's clock counts at the same rate as in a
/// run without a delay.
#[test]
fn what_comes_within_the_delay_is_not_counted() {
    let run = |delay: &[&'static str]| {
        let line = ["-e", "imc/CAS_COUNT.RD/,cbo/CLOCKTICKS/", "--timeout", "0.02", "--truth", "-j"];
        let text = stderr(&measured(&[&line[..], delay].concat()));
        let rows = text.lines().map(|line| serde_json::from_str(line).expect("a JSON line"));
        rows.collect::<Vec<serde_json::Value>>()
    };
    let (late, early) = (run(&["-D", "0.01"]), run(&[]));
    for row in late.iter().chain(&early) {
        assert_eq!((row["event-runtime"].as_u64(), row["error"].as_f64()), (Some(20_000), Some(0.0)), "{row}");
    }
    assert_ne!(late[0]["counter-value"], early[0]["counter-value"], "another part of the workload");
    assert_eq!(late[1]["counter-value"], early[1]["counter-value"]);
    let nothing = measured(&["-e", "imc/CAS_COUNT.RD/", "-D", "1000"]);
    let said = stderr(&nothing);
    assert!(nothing.status.success() && said.contains("nothing was measured"), "{said}");
    assert!(!said.contains("imc/CAS_COUNT.RD/"), "no number that could be taken for one: {said}");
}

#[test]
fn a_dry_run_prints_the_guides_steps_and_touches_nothing() {
    let output = pericore(&["stat", "--machine", "e5-2600", "-e", "cbo0/LLC_VICTIMS.M_STATE/", "--dry-run"]);
    let steps = stderr(&output);
    for step in ["msr 0xd04", "0x10100", "0x400137", "freeze", "select and enable", "count"] {
        assert!(steps.contains(step), "no {step:?} in {steps}");
    }
}

#[test]
fn list_has_the_guides_codes() {
    let output = pericore(&["list", "--machine", "snbep", "--json", "--unit", "cbo"]);
    assert!(output.status.success());
    let rows: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    // Guide 2.3.7, Table 2-17: code 0x37, M_STATE is umask bit 0, counters 0 and 1.
    let victims =
        rows.iter().find(|row| row["event"] == "LLC_VICTIMS" && row["subevent"] == "M_STATE").expect("listed");
    assert_eq!(victims["code"], "0x37");
    assert_eq!(victims["umask"], "0x01");
    assert_eq!(victims["config"], "0x137");
    assert_eq!(victims["counters"], serde_json::json!([0, 1]));
    assert_eq!(victims["max_increment"], 1);
    assert_eq!(victims["modelled"], true);
    let starved = rows.iter().find(|row| row["event"] == "RxR_INT_STARVED").expect("listed");
    assert_eq!(starved["modelled"], false);
}

#[test]
fn list_has_the_guides_registers() {
    let output = pericore(&["list", "--machine", "e5-2600", "--registers", "--json"]);
    let registers: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    // Table 2-8: C3_MSR_PMON_CTL2 is MSR 0xD72, 32 bits.
    let control =
        registers.iter().find(|row| row["unit"] == "cbo" && row["instance"] == 3 && row["register"] == "ctl2");
    let control = control.expect("listed");
    assert_eq!(
        (&control["space"], &control["address"], &control["width"]),
        (&"msr".into(), &"0xd72".into(), &32.into())
    );
    assert!(control["fields"].as_array().expect("fields").iter().any(|f| f["name"] == "umask" && f["bits"] == "15:8"));
    // Table 2-59: channel 2 is D16:F4, counter 1 at A8.
    let counter =
        registers.iter().find(|row| row["unit"] == "imc" && row["instance"] == 2 && row["register"] == "ctr1");
    let counter = counter.expect("listed");
    assert_eq!(
        (&counter["space"], &counter["address"], &counter["bdf"]),
        (&"pcicfg".into(), &"0xa8".into(), &"10.4".into())
    );
}

/// A workload's seed is another in each run: its counts differ a little.
#[test]
fn repeated_runs_have_a_mean_and_a_spread() {
    let line = [
        "stat",
        "--machine",
        "e5-2600",
        "--workload",
        "random:requests=3000",
        "-e",
        "imc/CAS_COUNT.RD/,cbo/CLOCKTICKS/",
    ];
    let output = pericore(&[&line[..], &["-r", "3", "-j"]].concat());
    let rows: Vec<serde_json::Value> =
        stderr(&output).lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    assert_eq!(rows.len(), 2, "one line for each event");
    assert!(rows[0]["variance"].as_f64().is_some_and(|variance| variance > 0.0 && variance < 20.0), "{rows:?}");
    let table = stderr(&pericore(&[&line[..], &["-r", "3"]].concat()));
    assert!(table.contains("(+- ") && table.contains("in each of 3 runs"), "{table}");
    let separated = stderr(&pericore(&[&line[..], &["-r", "2", "-x,"]].concat()));
    let fields: Vec<&str> = separated.lines().last().unwrap_or_default().split(',').collect();
    assert!(fields[2] == "cbo/CLOCKTICKS/" && fields[3].ends_with('%'), "{fields:?}");
    refused(&["stat", "--machine", "e5-2600", "-r", "2", "-I", "1"], 129, &["--repeat", "--interval-print"]);
    refused(&["stat", "--machine", "e5-2600", "-r", "0"], 129, &["0"]);
}

/// With `-c` each sample but the last has exactly so many of the first event, and on the E5-2600, whose counters wrap in silence, there
/// are none.
#[test]
fn samples_come_at_the_overflows_of_the_first_event() {
    for (machine, events) in
        [("emerald-rapids", "imc0/CAS_COUNT.RD/,cha3/CLOCKTICKS/"), ("nehalem", "QMC_NORMAL_READS.ANY,LLC_HITS.ANY")]
    {
        let line = [
            "stat",
            "--machine",
            machine,
            "--workload",
            "random:requests=30k",
            "-e",
            events,
            "-c",
            "500",
            "-x",
            ";",
            "-o",
        ];
        let output = pericore(&[&line[..], &["/dev/stdout"]].concat());
        assert!(output.status.success(), "{machine}: {}", stderr(&output));
        let text = stdout(&output);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
        // The time, the count, its unit, the event.
        let leading =
            rows.iter().filter(|row| ["CAS_COUNT.RD", "QMC_NORMAL_READS.ANY"].iter().any(|name| row[3].contains(name)));
        let counts: Vec<f64> = leading.map(|row| row[1].parse().expect("a count")).collect();
        let (last, samples) = counts.split_last().expect("samples");
        assert!(samples.len() > 2 && samples.iter().all(|&count| count == 500.0), "{machine}: {text}");
        assert!(*last <= 500.0, "{machine}: {text}");
    }
    let e5 = ["stat", "--machine", "e5-2600", "--workload", SMALL, "-e", "imc0/CAS_COUNT.RD/", "-c", "500"];
    refused(&e5, 129, &["CAS_COUNT.RD", "cannot stop the counters"]);
}

/// 20 microseconds in two rounds: each event ran for half of them. The error of a share is in per cent as the share is, and what the table says is
/// how much of it that is.
#[test]
fn what_took_turns_ran_for_its_share_of_the_time() {
    let events = "imc/CAS_COUNT.WR/,imc/ACT_COUNT/,imc/CAS_COUNT.RD/,imc/RPQ_INSERTS/,imc/PREEMPTION.RD_PREEMPT_RD/";
    let line = ["--timeout", "0.02", "-M", "imc/PCT_REQUESTS_PAGE_MISS", "-e", events];
    let said = stderr(&measured(&[&line[..], &["-j"]].concat()));
    let rows: Vec<serde_json::Value> = said.lines().map(|row| serde_json::from_str(row).expect("JSON")).collect();
    assert_eq!(rows.len(), 6);
    let scaled: Vec<_> = rows.iter().filter(|row| row["validity"] == "scaled").collect();
    assert!(scaled.len() >= 3, "{said}");
    for row in scaled {
        assert_eq!((row["event-runtime"].as_u64(), row["pcnt-running"].as_f64()), (Some(10_000), Some(50.0)), "{row}");
    }
    let share = &rows[5];
    let number = |key: &str| share[key].as_f64().or_else(|| share[key].as_str()?.parse().ok()).expect("a number");
    assert!(share["metric-unit"] == "%" && number("metric-value") > 1.0, "{share}");
    let table = stderr(&measured(&line));
    assert!(table.contains("  imc/PCT_REQUESTS_PAGE_MISS (50 %)\n"), "{table}");
    let of_it = format!("{:.2} %", number("standard-error") / number("metric-value") * 100.0);
    let told = format!("imc/PCT_REQUESTS_PAGE_MISS: scaled, counted 50.0 % of the time, standard error {of_it}");
    // Lines end where a terminal's do.
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&told), "{told}: {table}");
}

/// A field with the separator or quotation marks in it stands in quotation marks, and has its own twice.
#[test]
fn separated_values_are_quoted() {
    let events = r#"imc/CAS_COUNT.RD,name=a"b/,imc/CAS_COUNT.WR,name=plain/"#;
    let first = stderr(&measured(&["-x;", "-e", events]));
    let names: Vec<&str> = first.lines().map(|line| line.split(';').nth(2).expect("a name")).collect();
    assert_eq!(names, [r#""a""b""#, "plain"]);
    assert!(stderr(&measured(&["-x_", "-e", "imc/CAS_COUNT.RD/"])).contains("_\"imc/CAS_COUNT.RD/\"_"));
}
