//! Options that users of perf type without thinking: those that there are do what perf's do, and the others say why there are none.

use std::collections::BTreeSet;
use std::fs;

use super::{SMALL, measured, refused, stderr, stdout};
use crate::ours::{PERICORE, command};

const METRICS: [&str; 2] = ["-M", "imc/MEM_READ_BANDWIDTH,cbo/LLC_DRD_MISS_RATIO"];

fn rows(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

fn number(value: &serde_json::Value) -> f64 {
    value.as_str().expect("perf prints a string").parse().expect("a number")
}

/// What `--metric-only` shows is what is shown without it, each metric in a column of its own.
#[test]
fn metrics_stand_side_by_side() {
    let usual = rows(&stderr(&measured(&[&METRICS[..], &["-j"]].concat())));
    let values: Vec<f64> = usual.iter().map(|row| number(&row["metric-value"])).collect();
    let json = rows(&stderr(&measured(&[&METRICS[..], &["-j", "--metric-only"]].concat())));
    let [line] = &json[..] else { panic!("one line: {json:?}") };
    assert_eq!(number(&line["B/s  imc/MEM_READ_BANDWIDTH"]), values[0]);
    assert_eq!(number(&line["ratio  cbo/LLC_DRD_MISS_RATIO"]), values[1]);
    assert_eq!((&line["validity"], &line["emulated"]), (&"measured".into(), &"e5-2680".into()));

    let separated = stderr(&measured(&[&METRICS[..], &["-x;", "--metric-only"]].concat()));
    let [names, numbers] = separated.lines().collect::<Vec<_>>()[..] else { panic!("two lines: {separated}") };
    assert_eq!(names, "B/s  imc/MEM_READ_BANDWIDTH;ratio  cbo/LLC_DRD_MISS_RATIO;validity");
    let fields: Vec<&str> = numbers.split(';').collect();
    assert_eq!((fields[0].parse(), fields[1].parse(), fields[2]), (Ok(values[0]), Ok(values[1]), "measured"));

    let table = stderr(&measured(&[&METRICS[..], &["--metric-only"]].concat()));
    let heading = table.lines().position(|line| line.trim() == "GB/s").expect("a unit of measure");
    let numbers: Vec<&str> = table.lines().nth(heading + 1).expect("a line").split_whitespace().collect();
    assert_eq!(numbers, [format!("{:.2}", values[0] / 1e9), format!("{:.3}", values[1])], "{table}");
    assert!(table.contains("EMULATED") && table.contains("validity: all measured"), "{table}");
}

/// Each interval is a line, the names come once, and the places are those that have the metric.
#[test]
fn metrics_of_intervals_and_places_are_lines() {
    let line = [&METRICS[..], &["-I", "0.02", "--per-unit", "--metric-only"]].concat();
    let separated = stderr(&measured(&[&line[..], &["-x,"]].concat()));
    let mut lines = separated.lines();
    assert_eq!(lines.next(), Some("time,place,B/s  imc/MEM_READ_BANDWIDTH,ratio  cbo/LLC_DRD_MISS_RATIO,validity"));
    let (mut times, mut places) = (BTreeSet::new(), BTreeSet::new());
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [time, place, bandwidth, ratio, validity] = fields[..] else { panic!("{line}") };
        assert_eq!((bandwidth.is_empty(), ratio.is_empty()), (place.contains("cbo"), place.contains("imc")), "{line}");
        assert_eq!(validity, "measured");
        times.insert(time.to_owned());
        places.insert(place.to_owned());
    }
    assert_eq!(places.len(), 4 + 8, "{places:?}");
    assert!(times.len() >= 2 && separated.lines().count() == 1 + times.len() * places.len(), "{separated}");
    let table = stderr(&measured(&line));
    // Headings come again when 25 lines are under them.
    assert_eq!(table.matches(" DRD_MISS_").count(), times.len().div_ceil(3), "{table}");
    assert!(table.matches(" S0 cbo7 ").count() == times.len(), "{table}");
}

/// A pipe has no columns: all four stand in one line, of which a script can take the fourth.
#[test]
fn metrics_stand_in_one_line_where_nobody_looks() {
    let many = "MEM_READ_BANDWIDTH,MEM_WRITE_BANDWIDTH,PCT_REQUESTS_PAGE_HIT,AVG_TOR_DRD_MISS_LATENCY";
    let line = ["-M", many, "--metric-only"];
    let table = stderr(&measured(&line));
    let below = |what: &str| table.lines().filter(|line| line.contains(what)).count();
    // One line of four units of measure, and one of four numbers below it.
    assert_eq!((below("GB/s"), below("cycles"), below("BANDWIDTH")), (1, 1, 1), "{table}");
    let units = table.lines().position(|line| line.contains("GB/s")).expect("it was found");
    let numbers: Vec<&str> = table.lines().nth(units + 1).expect("numbers").split_whitespace().collect();
    assert!(numbers.len() == 4 && numbers.iter().all(|number| number.parse::<f64>().is_ok()), "{table}");
    let intervals = stderr(&measured(&[&line[..], &["-I", "0.02", "-A"]].concat()));
    // A part of the machine has a line where it has a number: behind time, socket and instance.
    let mut of_parts = intervals.lines().filter(|line| line.contains(" S0 "));
    assert!(of_parts.all(|line| line.split_whitespace().count() > 3), "{intervals}");
    let separated = stderr(&measured(&[&line[..], &["-x;"]].concat()));
    assert_eq!(separated.lines().count(), 2, "{separated}");
}

/// What has no number has none in a column either, and says why; what took turns is marked.
#[test]
fn what_is_not_measured_is_not_shown_as_a_number_in_a_column() {
    let line = ["-M", "imc/MEM_READ_BANDWIDTH", "--metric-only", "-e"];
    let events = "imc/CAS_COUNT.WR/,imc/ACT_COUNT/,imc/PRE_COUNT.PAGE_MISS/,imc/PREEMPTION.RD_PREEMPT_RD/";
    let turns = measured(&[&line[..], &[events, "-j"]].concat());
    let [row] = &rows(&stderr(&turns))[..] else { panic!("one line") };
    assert_eq!(row["validity"], "scaled", "{row}");
    assert!(row["concerns"].as_str().is_some_and(|why| why.contains("% of the time")), "{row}");
    let table = stderr(&measured(&[&line[..], &[events]].concat()));
    let units = table.lines().position(|line| line.trim().ends_with("B/s")).expect("a unit of measure");
    let number = table.lines().nth(units + 1).expect("a number");
    assert!(number.trim_end().ends_with('~'), "{table}");
}

#[test]
fn a_summary_adds_up_the_intervals() {
    let line = ["-e", "imc/CAS_COUNT.RD/", "-M", "MEM_READ_BANDWIDTH", "-I", "0.02"];
    let whole = rows(&stderr(&measured(&["-e", "imc/CAS_COUNT.RD/", "-j"])));
    let separated = stderr(&measured(&[&line[..], &["-x,", "--summary"]].concat()));
    let counts = |is_summary: bool| -> f64 {
        let lines = separated.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let of = lines.filter(|fields| (fields[0] == "summary") == is_summary && fields[3].contains("CAS_COUNT"));
        of.map(|fields| fields[1].parse::<f64>().expect("a count")).sum()
    };
    assert!(
        counts(true) > 0.0 && separated.lines().filter(|line| line.starts_with("summary,")).count() == 2,
        "{separated}"
    );
    assert_eq!(counts(true), counts(false));
    assert_eq!(counts(true), number(&whole[0]["counter-value"]), "no line is read between the intervals");
    let json = rows(&stderr(&measured(&[&line[..], &["-j", "--summary", "--truth"]].concat())));
    let summary: Vec<_> = json.iter().filter(|row| row["interval"].is_null()).collect();
    assert_eq!(summary.len(), 2);
    assert_eq!(summary[0]["error"], 0.0, "{json:?}");
    assert!(stderr(&measured(&[&line[..], &["--summary"]].concat())).contains("\n    summary "));
    for none in [&["--summary", "--no-summary"][..], &[]] {
        assert!(!stderr(&measured(&[&line[..], none].concat())).contains("summary "), "{none:?}");
    }
    refused(&["stat", "--machine", "e5-2600", "--summary"], 129, &["--interval-print"]);
}

#[test]
fn it_ends_after_so_many_intervals() {
    let counted = stderr(&measured(&["-e", "imc/CAS_COUNT.RD/", "-I", "0.01", "--interval-count", "3", "-x,"]));
    let ends: Vec<&str> = counted.lines().filter_map(|line| line.split(',').next()).collect();
    assert_eq!(ends, ["0.000010000", "0.000020000", "0.000030000"]);
}

/// With one seed after the other the runs are not the same; their mean is what is shown, and each lies as far from it as it says.
#[test]
fn each_run_is_shown_beside_the_mean() {
    let table = stderr(&measured(&["-e", "imc/ACT_COUNT/", "-r", "3", "--table"]));
    let number = |line: &str| -> f64 {
        let digits: String =
            line.trim_start().chars().take_while(|c| !c.is_whitespace()).filter(|c| *c != ',').collect();
        digits.parse().expect("a number")
    };
    let mean = number(table.lines().find(|line| line.contains("imc/ACT_COUNT/ (+-")).expect("the mean"));
    let runs: Vec<&str> =
        table.lines().skip_while(|line| !line.contains("each run")).filter(|line| line.contains("  run ")).collect();
    assert_eq!(runs.len(), 6, "three of the event, three of the time: {table}");
    let counts: Vec<f64> = runs[..3].iter().map(|line| number(line)).collect();
    assert!((counts.iter().sum::<f64>() / 3.0 - mean).abs() <= 0.5, "{table}");
    assert!(counts[0] != counts[1], "{table}");
    for (line, count) in runs.iter().zip(&counts) {
        let share: f64 = line.split_whitespace().nth(1).expect("a share").parse().expect("a number");
        assert!((share - (count - mean) / mean * 100.0).abs() < 0.01, "{line}");
    }
    refused(&["stat", "--machine", "e5-2600", "--table"], 129, &["--repeat"]);
}

#[test]
fn results_go_where_they_are_wanted() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let (to, event) = (file.path().to_str().expect("UTF-8"), ["-e", "imc/CAS_COUNT.RD/", "-x,"]);
    let read = || fs::read_to_string(&file).expect("a file");
    fs::write(&file, "before\n").expect("written");
    for _ in 0..2 {
        let output = measured(&[&event[..], &["-o", to, "--append"]].concat());
        assert!(output.status.success() && stderr(&output).is_empty(), "{}", stderr(&output));
    }
    let text = read();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines.len() == 3 && lines[0] == "before" && lines[1] == lines[2] && lines[1].contains("CAS_COUNT"),
        "{text}"
    );
    // A descriptor of the caller's: what is in the file before and behind it stays.
    let script = r#"exec 7>"$2"; echo begin >&7; "$1" stat --machine e5-2600 --workload "$3" -e imc/CAS_COUNT.RD/ -x, --log-fd 7; echo end >&7"#;
    let mut shell = command("sh");
    shell.args(["-c", script, "sh", PERICORE, to, SMALL]);
    let output = shell.output().expect("a shell");
    assert!(stderr(&output).is_empty() && stdout(&output).is_empty(), "{}", stderr(&output));
    assert_eq!(read(), format!("begin\n{}\nend\n", lines[1]));
    let stat = ["stat", "--machine", "e5-2600"];
    let refuse = |more: &[&str], words: &[&str]| refused(&[&stat[..], more].concat(), 129, words);
    refuse(&["--append"], &["--output"]);
    refuse(&["--log-fd", "1", "-o", "x"], &["--log-fd", "--output"]);
    refuse(&["--log-fd", "1000"], &["no file is open there", "1000>FILE"]);
    refuse(&["--log-fd", "out"], &["\"out\" is not a file descriptor"]);
}

#[test]
fn thousands_are_separated_as_wanted() {
    let count = |more: &[&str]| {
        let table = stderr(&measured(&[&["-e", "imc/CAS_COUNT.RD/"], more].concat()));
        let line = table.lines().find(|line| line.contains("imc/CAS_COUNT.RD/")).expect("a row");
        line.split_whitespace().next().expect("a count").to_owned()
    };
    let (plain, grouped) = (count(&["--no-big-num"]), count(&["-B"]));
    assert!(plain.parse::<u64>().is_ok_and(|count| count > 1000), "{plain}");
    assert!(grouped.contains(',') && grouped.replace(',', "") == plain, "{grouped}");
    assert_eq!((count(&[]), count(&["--big-num", "--no-big-num"])), (grouped, plain));
}

/// Names of perf's that lead nowhere say so, and what to do instead.
#[test]
fn what_has_no_meaning_here_says_so() {
    for (options, words) in [
        (&["--topdown"][..], &["no option --topdown", "core pipelines"][..]),
        (&["-p", "1"], &["no option -p", "everybody's"]),
        (&["-C3"], &["no option -C", "--per-unit"]),
        (&["--per-core"], &["no option --per-core", "--per-socket"]),
        (&["--per-thread"], &["no option --per-thread"]),
        (&["-d"], &["no option -d", "pericore list --metrics"]),
        (&["-g"], &["no option -g", "{one,other}"]),
        (&["-e", "imc/CAS_COUNT.RD/:u"], &["no modifier \":u\"", "leave it out", "^^"]),
        (&["-e", "{imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/}:W"], &["no modifier \":W\""]),
        (&["--metric-only", "-e", "imc/CAS_COUNT.RD/"], &["only events to count", "-M"]),
    ] {
        refused(&[&["stat", "--machine", "e5-2600"], options].concat(), 129, words);
    }
    // Commands without perf's habits know nothing of this.
    refused(&["doctor", "--topdown"], 129, &["unexpected argument '--topdown'"]);
    let pattern = measured(&["-e", "uncore_imc_*/cas_count_read/", "-j"]);
    let same = measured(&["-e", "imc/CAS_COUNT.RD/", "-j"]);
    let value = |output| rows(&stderr(output))[0]["counter-value"].clone();
    assert_eq!(value(&pattern), value(&same));
}

/// CAS_COUNT.RD is event 0x04 with umask 0x03 (guide, Table 2-66), bit 22 lets a counter count, and the clock is 0x00.
#[test]
fn it_says_what_counts_where_before_it_counts() {
    let said = stderr(&measured(&["-v", "-j", "-e", "imc/CAS_COUNT.RD/,cbo3/CLOCKTICKS/"]));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 4, "{said}");
    assert_eq!(lines[0], "pericore: imc/CAS_COUNT.RD/: ctr0, control 0x400304 of imc 0-3, socket 0");
    assert_eq!(lines[1], "pericore: cbo3/CLOCKTICKS/: ctr0, control 0x400000 of cbo 3, socket 0");
    assert!(lines[2..].iter().all(|line| line.starts_with('{')), "{said}");
}
