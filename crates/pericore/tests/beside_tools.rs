//! `pericore stat` behind the doors while LIKWID, PCM and another user's pericore come and go: theirs is right, what we
//! call measured is right, and what they take from us is not called so. Needs likwid (with its access daemon), pcm,
//! /dev/fuse and root or user namespaces.

use serde_json::Value;

use crate::ours::command;

/// Events a second of every channel.
const READS: f64 = 2_000_003.0;
const ACTIVATIONS: f64 = 300_007.0;

/// A channel's clock: DDR3-1600.
const HERTZ: f64 = 800e6;

const SCRIPT: &str = r#"
cd "$FOLDER"; export XDG_STATE_HOME="$FOLDER"
rows() { until [ "$(cat ours.json 2>/dev/null | wc -l)" -ge "$1" ]; do sleep 0.05; done; }
"$P" stat -j -I 200 -o ours.json -e imc0/CAS_COUNT.RD/,imc0/CLOCKTICKS/ -- \
    sh -c 'until [ -e end ]; do sleep 0.05; done' 2>ours.err &
ours=$!
rows 4
mkdir other; XDG_STATE_HOME="$FOLDER/other" "$P" stat -j --timeout 500 -o other.json \
    -e imc0/ACT_COUNT/,imc0/CLOCKTICKS/ 2>other.err
echo "other $?"
likwid-perfctr -M 0 -f -O -C 0 -g CAS_COUNT_RD:MBOX0C0,DRAM_CLOCKTICKS:MBOX0FIX sleep 0.5 >likwid.csv 2>&1
echo "likwid $?"
before=$(cat ours.json | wc -l)
pcm-memory 0.5 -i=1 -csv >pcm.csv 2>/dev/null; echo "pcm $?"
rows $((before + 4)); touch end; wait $ours; echo "ours $?"
find "$FOLDER" -name '*.journal'
"#;

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

fn number(row: &Value, key: &str) -> f64 {
    let value = &row[key];
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{row}"))
}

#[test]
fn likwid_pcm_and_another_user_come_and_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["machine", "run", "--machine", "e5-2600", "--timeout", "100"];
    let rates = ["--inject", "imc/CAS_COUNT.RD_REG=2000003", "--inject", "imc/ACT_COUNT=300007"];
    let mut run = command(crate::ours::PERICORE);
    run.args(arguments).args(rates).args(["--", "sh", "-c", SCRIPT]).env("FOLDER", folder.path());
    let output = run.output().expect("the program starts");
    let file = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let all = || {
        let names = ["ours.err", "ours.json", "other.err", "other.json", "likwid.csv", "pcm.csv"];
        names.map(|name| format!("== {name}\n{}", file(name))).concat() + &String::from_utf8_lossy(&output.stderr)
    };
    // Each came to its end, and no journal is left.
    let statuses = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(statuses, "other 0\nlikwid 0\npcm 0\nours 0\n", "{}", all());

    // The other user's session shares the channel: it never stops ours, and ours stops its counters together, for as
    // long as a busy host takes.
    let other = rows(&file("other.json"));
    let [activations, clock] = &other[..] else { panic!("{}", all()) };
    let rate = number(activations, "counter-value") / number(clock, "counter-value") * HERTZ;
    assert!((rate / ACTIVATIONS - 1.0).abs() < 0.05, "{rate}\n{}", all());

    // LIKWID: event, counter, count.
    let of_likwid = |event: &str| -> f64 {
        let text = file("likwid.csv");
        let line = text.lines().find(|line| line.starts_with(event)).unwrap_or_else(|| panic!("{}", all()));
        line.split(',').nth(2).and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{}", all()))
    };
    let reads = of_likwid("CAS_COUNT_RD,") / of_likwid("DRAM_CLOCKTICKS,") * HERTZ;
    assert!((reads / READS - 1.0).abs() < 0.1, "{reads}\n{}", all());

    // PCM's third channel is the first function; 64 bytes a read.
    let last = file("pcm.csv").lines().last().map(str::to_owned).unwrap_or_default();
    let megabytes: f64 = last.split(',').nth(6).and_then(|cell| cell.trim().parse().ok()).unwrap_or(0.0);
    assert!((megabytes / (READS * 64.0 / 1e6) - 1.0).abs() < 0.1, "{last}\n{}", all());

    // Ours: what stays measured is right. PCM writes every control, and what came after it is in doubt.
    let ours = rows(&file("ours.json"));
    let mut sound = 0;
    for clock in ours.iter().filter(|row| row["event"] == "imc0/CLOCKTICKS/" && row["withdrawn"] != true) {
        let alike: Vec<&Value> = ours.iter().filter(|row| row["interval"] == clock["interval"]).collect();
        if alike.iter().any(|row| row["validity"] != "measured") {
            continue;
        }
        let reads = alike.iter().find(|row| row["event"] == "imc0/CAS_COUNT.RD/").expect("both are counted");
        let rate = number(reads, "counter-value") / number(clock, "counter-value") * HERTZ;
        let hertz = number(clock, "counter-value") / number(clock, "event-runtime") * 1e9;
        assert!((rate / READS - 1.0).abs() < 0.02 && (hertz / HERTZ - 1.0).abs() < 0.5, "{clock}\n{}", all());
        sound += 1;
    }
    let withdrawn = ours.iter().filter(|row| row["withdrawn"] == true).count();
    let last = ours.iter().rev().find(|row| row["withdrawn"] != true).expect("a row");
    assert!(last["validity"] == "suspect" && (sound > 0 || withdrawn > 0), "{sound} sound rows\n{}", all());
}

const NEHALEM_SCRIPT: &str = r#"
cd "$FOLDER"; export XDG_STATE_HOME="$FOLDER"
rows() { until [ "$(cat ours.json 2>/dev/null | wc -l)" -ge "$1" ]; do sleep 0.05; done; }
"$P" stat -j -I 200 -o ours.json -e uncore/QMC_NORMAL_READS.CH0/,uncore/CLK_UNHALTED/ -- \
    sh -c 'until [ -e end ]; do sleep 0.05; done' 2>ours.err &
ours=$!
rows 6
likwid-perfctr -M 1 -f -O -C 0 -g UNC_QMC_NORMAL_READS_CH0:UPMC7 sleep 0.5 >likwid.csv 2>&1
echo "likwid $?"
before=$(cat ours.json | wc -l)
rows $((before + 6)); touch end; wait $ours; echo "ours $?"
find "$FOLDER" -name '*.journal'
"#;

/// LIKWID writes MSR 0x391 whole, with its own enables alone, and 0 when it ends: ours are gone. Its counter is another
/// one than ours.
#[test]
fn likwid_on_nehalem_wipes_our_enables_and_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut run = command(crate::ours::PERICORE);
    run.args(["machine", "run", "--machine", "nehalem", "--timeout", "100"]);
    run.args(["--inject", "uncore/QMC_NORMAL_READS.CH0=2000003", "--", "sh", "-c", NEHALEM_SCRIPT]);
    let output = run.env("FOLDER", folder.path()).output().expect("the program starts");
    let file = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let all = || {
        let files = ["ours.err", "ours.json", "likwid.csv"].map(|name| format!("== {name}\n{}", file(name)));
        files.concat() + &String::from_utf8_lossy(&output.stderr)
    };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "likwid 0\nours 0\n", "{}", all());

    // What LIKWID counted: our own samples stop its counter for moments only.
    let of_likwid = |begins: &str, cell: usize| -> f64 {
        let text = file("likwid.csv");
        let line = text.lines().find(|line| line.starts_with(begins)).unwrap_or_else(|| panic!("{}", all()));
        line.split(',').nth(cell).and_then(|cell| cell.parse().ok()).unwrap_or_else(|| panic!("{}", all()))
    };
    let rate = of_likwid("UNC_QMC_NORMAL_READS_CH0,", 2) / of_likwid("Runtime (RDTSC) [s]", 2);
    assert!((rate / READS - 1.0).abs() < 0.1, "{rate}\n{}", all());

    // Ours: what it took from us is said, and what stays measured is right.
    let ours = rows(&file("ours.json"));
    let kept = |row: &&Value| row["event"] == "uncore/QMC_NORMAL_READS.CH0/" && row["withdrawn"] != true;
    let (measured, doubted): (Vec<&Value>, Vec<&Value>) =
        ours.iter().filter(kept).partition(|row| row["validity"] == "measured");
    for row in measured {
        // 2 % may be nobody's where a stop is held up, and as much at a start.
        let rate = number(row, "counter-value") / number(row, "event-runtime") * 1e9;
        assert!((rate / READS - 1.0).abs() < 0.04, "{row}\n{}", all());
    }
    let reason = "someone else stopped counters for a part of the time (global_ctl of uncore = 0x80)";
    assert!(doubted.iter().any(|row| row["concerns"].as_str().is_some_and(|why| why.contains(reason))), "{}", all());
}
