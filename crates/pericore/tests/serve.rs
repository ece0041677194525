//! `pericore serve` on a live software machine, scraped by real clients: curl, and the parsers of Prometheus' own library for Python. Needs root or
//! user namespaces, /dev/fuse, and Debian's packages curl and python3-prometheus-client.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::live::rig::{Rig, Run, Source, config, msr, reads, require, ticks};
use crate::live::{running, script};
use crate::ours::{PERICORE, command, live_sockets};
use pericore_doors::Outcome;
use pericore_doors::log::Kind;

/// Prints every sample of a text in either format as Prometheus' library reads it.
const PARSE: &str = r#"
import sys
from prometheus_client.openmetrics import parser as open_metrics
from prometheus_client import parser as prometheus
text = open(sys.argv[2]).read()
parser = open_metrics if sys.argv[1] == "open" else prometheus
for family in parser.text_string_to_metric_families(text):
    for sample in family.samples:
        labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
        print(f"{sample.name}|{labels}|{sample.value!r}")
"#;

/// Starts a server on a socket beside the state directory, waits for its first sample, and has `get` to ask it.
const START: &str = r#"
S="$XDG_STATE_HOME.socket"
get() { path=$1; shift; curl -sS --max-time 20 --unix-socket "$S" "$@" "http://localhost$path"; }
start() { "$P" serve --listen "unix:$S" "$@" & pid=$!
    until get /metrics -f -o /dev/null 2>/dev/null; do kill -0 $pid || exit 9; sleep 0.02; done; }
"#;

/// Samples by name and labels, as Prometheus' library reads them.
pub fn parsed(format: &str, text: &str) -> BTreeMap<(String, String), String> {
    let file = tempfile::NamedTempFile::new().expect("a file of ours");
    std::fs::write(&file, text).expect("a file of ours");
    // Debian's package is for Debian's interpreter.
    let read = Command::new("/usr/bin/python3").args(["-c", PARSE, format]).arg(file.path()).output().expect("python3");
    let (samples, said) = (String::from_utf8_lossy(&read.stdout), String::from_utf8_lossy(&read.stderr));
    assert!(
        read.status.success(),
        "apt-get install python3-prometheus-client, unless the text is wrong: {said}\n{text}"
    );
    let sample = |line: &str| {
        let mut parts = line.rsplitn(2, '|');
        let (value, name) = (parts.next()?.to_owned(), parts.next()?);
        let (name, labels) = name.split_once('|')?;
        Some(((name.to_owned(), labels.to_owned()), value))
    };
    let all: BTreeMap<_, _> = samples.lines().map(|line| sample(line).expect("three parts")).collect();
    assert_eq!(all.len(), samples.lines().count(), "a sample appears twice: {text}");
    all
}

/// What a script printed between two lines that mark it.
fn part<'a>(run: &'a Run, name: &str) -> &'a str {
    let all = &run.stdout;
    let marked = all.split_once(&format!("== {name}\n")).and_then(|(_, rest)| rest.split_once("== "));
    marked.unwrap_or_else(|| panic!("no {name}: {all}{}", run.stderr)).0
}

fn number(samples: &BTreeMap<(String, String), String>, name: &str) -> f64 {
    let found: Vec<&String> = samples.iter().filter(|((known, _), _)| known == name).map(|(_, value)| value).collect();
    let [value] = found[..] else { panic!("{name}: {found:?} in {samples:?}") };
    value.parse().expect("a number")
}

/// The counter is what the traffic was, in spans that the machine's log tells; two scrapers see the same text of the same sample, and cost no
/// access; at the end all is as it was.
#[test]
fn what_is_exported_is_what_the_traffic_was() {
    const RATE: u64 = 5_000_000;
    require("curl", "curl");
    let rig = Rig { rates: vec![(Source::Signal("imc", 0, "ACT_COUNT", &[]), RATE)], ..Rig::default() };
    let (run, left) = script(
        &rig,
        &format!(
            r#"{START}
            start -I 300 -A -e imc0/ACT_COUNT/
            scrape() {{ n=0; while [ $n -lt 40 ]; do get /metrics > "$S.$1.$n"; n=$((n + 1)); done; }}
            scrape a & other=$!; scrape b; wait $other
            echo "== different"; cat "$S".a.* "$S".b.* | grep -c ^pericore_samples_total
            for file in "$S".a.* "$S".b.*; do echo "$(sed -n 's/^pericore_samples_total.* //p' $file) $(cksum < $file)"; done | sort -u
            rm "$S".a.* "$S".b.*
            echo "== open"; get /metrics -H 'Accept: application/openmetrics-text; version=1.0.0'
            echo "== plain"; get /metrics
            echo "== rights"; cat /proc/$pid/task/*/status 2>/dev/null | sed -n 's/^CapPrm:\t//p' | sort -u
            echo "== end"
            kill -TERM $pid; wait $pid; echo status $?; test -e "$S" && echo socket left"#
        ),
    );
    assert_eq!(run.outcome, Outcome::Exited(1), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.ends_with("status 143\n") && left.is_empty(), "{} {left:?}", run.stdout);

    assert_eq!(part(&run, "rights"), "0000000000000000\n", "neither who measures nor who serves may do anything");

    let mut texts = part(&run, "different").lines();
    assert_eq!(texts.next(), Some("80"), "every scrape brought an exposition");
    let of_sample: Vec<&str> = texts.map(|line| line.split_once(' ').expect("a number and a sum").0).collect();
    assert!(of_sample.is_sorted_by(|one, next| one != next), "one text for each sample: {of_sample:?}");

    let plain = parsed("plain", part(&run, "plain"));
    assert_eq!(number(&plain, "pericore_sample_accesses"), 3.0, "a freeze, one counter, and its end");
    let samples = number(&plain, "pericore_samples_total") as usize;
    let spans = running(&run);
    let [_before_the_reset, sampled @ .., _after_the_last_sample] = &spans[..] else { panic!("{spans:?}") };
    let traffic: u64 = sampled[..samples].iter().map(|&(began, ended)| ticks(RATE, ended) - ticks(RATE, began)).sum();
    let counted = number(&plain, "pericore_events_total") as u64;
    // An increment at each end of a span may be cut off.
    assert!(counted.abs_diff(traffic) <= 2 * samples as u64, "{counted} of {traffic} in {spans:?}");
    assert!(counted > RATE / 5);
    // The low half of counter 0 of channel 0: once before the start, once a sample, whoever asks.
    let accesses = run.all(reads(config(0xff, 16, 0, 0xa0))).len();
    assert!(accesses <= sampled.len() + 2, "{accesses} reads for {} samples", sampled.len());

    let open = parsed("open", part(&run, "open"));
    // A doubt is there with the sample that it is about: on a busy host with one of two, perhaps.
    let names = |samples: &BTreeMap<(String, String), String>| {
        samples.keys().filter(|(name, _)| name != "pericore_doubtful").cloned().collect::<Vec<_>>()
    };
    assert_eq!(names(&open), names(&plain));
    let last = |place: &dyn Fn(&crate::live::rig::Access) -> bool| {
        run.all(place).iter().rev().find_map(|access| match access.entry.kind {
            Kind::Write(value) => Some(value),
            Kind::Read => None,
        })
    };
    assert_eq!(last(&config(0xff, 16, 0, 0xd8)), Some(0), "control 0 of channel 0 holds what it held before");
}

/// Everything that a client can get wrong, with a real one.
#[test]
fn a_client_is_told_what_is_wrong() {
    let (run, left) = script(
        &Rig::default(),
        &format!(
            r#"{START}
            start -I 100 -e cbo0/CLOCKTICKS/
            for path in / /metrics /metrics?x=y /other; do get $path -o /dev/null -w "$path %{{http_code}} %{{content_type}}\n"; done
            get /metrics -X POST -d a=b -o /dev/null -w 'post %{{http_code}}\n'
            get /metrics -I -o /dev/null -w 'head %{{http_code}}\n'
            get /metrics -H "X: $(head -c 9000 /dev/zero | tr '\0' x)" -o /dev/null -w 'long %{{http_code}}\n'
            "$P" serve --listen "unix:$S" -e cbo1/CLOCKTICKS/; echo second $?
            kill -TERM $pid; wait $pid; true"#
        ),
    );
    let expected = "\
        / 200 text/plain; charset=utf-8\n\
        /metrics 200 text/plain; version=0.0.4; charset=utf-8\n\
        /metrics?x=y 200 text/plain; version=0.0.4; charset=utf-8\n\
        /other 404 text/plain; charset=utf-8\n\
        post 405\nhead 200\nlong 431\nsecond 255\n";
    assert_eq!(run.stdout, expected, "{}", run.stderr);
    assert!(run.stderr.contains("is in use"), "{}", run.stderr);
    // Slice 1 is the second server's: it wrote nothing.
    let written = run.all(|access| msr(0xd30)(access) && matches!(access.entry.kind, Kind::Write(_)));
    assert!(written.is_empty() && left.is_empty(), "{written:?} {left:?}");
}

/// As a user starts it: nothing that it exports can be taken for a Xeon's.
#[test]
fn a_software_machine_says_so_in_every_series() {
    let folder = tempfile::tempdir().expect("a folder");
    let (socket, state) = (folder.path().join("socket"), folder.path().join("state"));
    let place = format!("unix:{}", socket.display());
    let sockets = live_sockets();
    let machine = format!("e5-2600:sockets={sockets}");
    let line = ["serve", "--machine", &machine, "--workload", "stream", "-I", "200", "--listen", &place];
    let mut server = command(PERICORE)
        .args(line)
        .env("XDG_STATE_HOME", &state)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let text = loop {
        let got = get(&socket);
        if got.status.success() {
            break String::from_utf8(got.stdout).expect("UTF-8");
        }
        if server.try_wait().expect("it is ours").is_some() {
            let output = server.wait_with_output().expect("it is ours");
            panic!("the server ended: {}", String::from_utf8_lossy(&output.stderr));
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    // Who is told to end is the keeper of the machine; the server in it ends in order.
    let told = Command::new("kill").args(["-TERM", &server.id().to_string()]).status().expect("kill runs");
    let output = server.wait_with_output().expect("it is ours");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(told.success() && output.status.signal() == Some(15), "{:?}: {said}", output.status);
    assert!(said.contains("EMULATED e5-2680") && !said.contains("failed"), "{said}");
    assert!(!socket.exists(), "the socket goes with its server");
    assert!(!state.exists(), "a machine that is gone leaves no journal where others look");
    let samples = parsed("plain", &text);
    assert!(samples.keys().all(|(_, labels)| labels.contains("emulated=e5-2680")), "{text}");
    for socket in 0..sockets {
        let place = format!("emulated=e5-2680,socket={socket}");
        let bandwidth = &samples[&("pericore_imc_mem_read_bandwidth_bytes_per_second".to_owned(), place)];
        assert!(bandwidth.parse::<f64>().expect("a number") > 1e6, "{text}");
    }
}

fn get(socket: &Path) -> Output {
    let mut curl = Command::new("curl");
    curl.args(["-sf", "--max-time", "20", "--unix-socket"]).arg(socket).arg("http://localhost/metrics");
    curl.output().expect("apt-get install curl")
}

/// A port that somebody has is refused before any register is written.
#[test]
fn a_port_in_use_is_refused_before_anything_is_written() {
    let theirs = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let place = theirs.local_addr().expect("it has one");
    let (run, left) = script(&Rig::default(), &format!(r#""$P" serve --listen {place} -e cbo0/CLOCKTICKS/; echo $?"#));
    assert_eq!(run.stdout, "255\n");
    assert!(run.stderr.contains(&format!("{place} is in use")), "{}", run.stderr);
    let written = run.all(|access| matches!(access.entry.kind, Kind::Write(_)));
    assert!(written.is_empty() && left.is_empty(), "{written:?} {left:?}");
}
