//! Objects: written whole, in parts, refused with the reason, and never half there.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::ours::python::{python, python_json};
use crate::ours::{PERICORE, command};

const SERVER: &str = include_str!("server.py");
const RUN: [&str; 8] = [
    "--machine",
    "e5-2600",
    "--workload",
    "random:requests=20k,footprint=64M",
    "-e",
    "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/",
    "-I",
    "0.005",
];

/// A store that ends with the test.
struct Store {
    server: Child,
    endpoint: String,
    key: Option<(String, String)>,
}

impl Store {
    fn start(kind: &str) -> Self {
        let mut program = python();
        program.args(["-c", SERVER, kind]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = program.spawn().expect("it starts");
        let mut line = String::new();
        let mut lines = BufReader::new(server.stdout.take().expect("it is piped"));
        lines.read_line(&mut line).expect("a line");
        let made: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        let text = |name: &str| made[name].as_str().map(str::to_owned);
        Self { server, endpoint: format!("http://127.0.0.1:{}", made["port"]), key: text("key").zip(text("secret")) }
    }

    /// The program, with an environment that leads to this store.
    fn program(&self, arguments: &[&[&str]]) -> Command {
        let mut program = command(PERICORE);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_")) {
            program.env_remove(name);
        }
        let (key, secret) = self.key.clone().unwrap_or_else(|| ("any".to_owned(), "any".to_owned()));
        program.env("AWS_ENDPOINT_URL", &self.endpoint).env("AWS_ALLOW_HTTP", "true").env("AWS_REGION", "us-east-1");
        program.env("AWS_ACCESS_KEY_ID", key).env("AWS_SECRET_ACCESS_KEY", secret);
        program.args(arguments.concat());
        program
    }

    fn run(&self, arguments: &[&[&str]]) -> Output {
        self.program(arguments).output().expect("the program starts")
    }

    fn shown(&self, arguments: &[&[&str]]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", messages(&output));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// What others find: the sums of an object, or all names.
    fn get(&self, name: &str) -> Value {
        python_json(SERVER, &["get", &self.endpoint, name])
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The same run into a file and into a store: the same bytes to `report`, the same sums to pyarrow. What was there
/// becomes NAME.old.
#[test]
fn an_object_is_read_as_a_file_is() {
    let store = Store::start("open");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.parquet").display().to_string();
    for name in ["a/x.parquet", "a/x.rec"] {
        let object = format!("s3://fleet/{name}");
        store.shown(&[&["record", "-o", &object], &RUN]);
        store.shown(&[&["record", "-o", &file], &RUN]);
        for how in [&["-j"][..], &["--to", "jsonl"], &["--over-time"]] {
            assert_eq!(
                store.shown(&[&["report", &object], how]),
                store.shown(&[&["report", &file], how]),
                "{name} {how:?}"
            );
        }
    }
    let report = store.shown(&[&["report", &file, "-j"]]);
    for (event, sum) in store.get("a/x.parquet").as_object().expect("sums") {
        let line = report.lines().find(|line| line.contains(event)).unwrap_or_else(|| panic!("{event} in {report}"));
        let row: Value = serde_json::from_str(line).expect("JSON");
        let count: f64 = row["counter-value"].as_str().and_then(|count| count.parse().ok()).expect("a count");
        assert_eq!(Some(count as u64), sum.as_u64(), "{event}");
    }
    store.shown(&[&["record", "-o", "s3://fleet/a/x.rec"], &RUN[..4]]);
    assert_eq!(store.get("KEYS"), serde_json::json!(["a/x.parquet", "a/x.rec", "a/x.rec.old"]));
    let before = store.shown(&[&["report", "s3://fleet/a/x.rec.old", "-j"]]);
    assert_eq!(before, report);
    let frames = store.shown(&[&["top", "-b", "s3://fleet/a/x.parquet"]]);
    assert!(frames.contains("imc/CAS_COUNT.RD/") || frames.contains("CAS_COUNT.RD"), "{frames}");
}

/// SIGKILL at some moment: every part that was complete is there and whole, and nothing else is.
#[test]
fn what_kills_the_run_costs_the_part_that_is_written() {
    let store = Store::start("open");
    let endless = ["--machine", "e5-2600", "--workload", "random:requests=1G,footprint=64M", "-I", "0.01"];
    let parts = ["record", "--partition", "--part-time", "0.05", "-o", "s3://fleet/run.parquet"];
    let mut run = store.program(&[&parts, &endless]).stderr(Stdio::null()).spawn().expect("it starts");
    let patience = Instant::now() + Duration::from_secs(120);
    let names = || -> Vec<String> { serde_json::from_value(store.get("KEYS")).expect("names") };
    while names().len() < 3 && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(50));
    }
    let before = names();
    run.kill().expect("it runs");
    run.wait().expect("it ended");
    let after = names();
    assert!(before.len() >= 3 && after.len() >= before.len() && after.starts_with(&before), "{before:?} {after:?}");
    for (index, name) in after.iter().enumerate() {
        let part = format!("host=__HIVE_DEFAULT_PARTITION__/date=1970-01-01/run-000000-{:04}.parquet", index + 1);
        assert_eq!(*name, part);
        let output = store.run(&[&["report", &format!("s3://fleet/{name}"), "--to", "jsonl"]]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !messages(&output).contains("cut after"), "{name}: {}", messages(&output));
        // Five samples of 0.01 virtual milliseconds, or six where sums of such times fall short of 0.05, between the
        // first line and the last.
        assert!((7..=8).contains(&text.lines().count()) && text.contains("\"ended\":\"whole\""), "{name}: {text}");
    }
}

/// Each thing that can be wrong is said before anything is measured, with what to do.
#[test]
fn what_is_wrong_is_refused_in_words() {
    let store = Store::start("guarded");
    let object = "s3://fleet/x.rec";
    let refused = |mut program: Command, words: &[&str]| {
        let began = Instant::now();
        let output = program.output().expect("the program starts");
        let text = messages(&output);
        assert_eq!(output.status.code(), Some(255), "{words:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{word:?}: {text}");
        }
        assert!(began.elapsed() < Duration::from_secs(50), "{words:?}: {:?}", began.elapsed());
    };
    let record = |to: &str| store.program(&[&["record", "-o", to], &RUN]);
    store.shown(&[&["record", "-o", object], &RUN]);
    refused(record("s3://fleets/x.rec"), &["cannot write s3://fleets/x.rec", "no bucket fleets", "check the name"]);
    refused(store.program(&[&["report", "s3://fleet/y.rec"]]), &["cannot read", "there is no y.rec in bucket fleet"]);
    refused(record("s3://fleet"), &["give s3://BUCKET/NAME"]);
    let mut without = record(object);
    without.env_remove("AWS_ACCESS_KEY_ID");
    refused(without, &["there is no key for the store", "set AWS_ACCESS_KEY_ID"]);
    for (name, value) in [("AWS_ACCESS_KEY_ID", "AKIAX"), ("AWS_SECRET_ACCESS_KEY", "x")] {
        let mut other = record(object);
        other.env(name, value);
        refused(other, &["the store refuses the key", "check AWS_ACCESS_KEY_ID"]);
    }
    // Nobody listens at port 1.
    let mut elsewhere = record(object);
    elsewhere.env("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
    refused(elsewhere, &["the store cannot be reached", "check AWS_ENDPOINT_URL", "Connection refused"]);
    let mut clear = record(object);
    clear.env_remove("AWS_ALLOW_HTTP");
    refused(clear, &["AWS_ALLOW_HTTP=true"]);
}

/// Of two recordings to one name the one that is ready first stays, and the other says so.
#[test]
fn the_second_of_two_writers_is_refused() {
    let store = Store::start("open");
    let object = "s3://fleet/x.rec";
    let long = ["--machine", "e5-2600", "--workload", "random:requests=2M,footprint=64M", "-I", "0.1"];
    let slow = store.program(&[&["record", "-o", object], &long]).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(500));
    store.shown(&[&["record", "-o", object], &RUN]);
    let first = store.shown(&[&["report", object, "-j"]]);
    let second = slow.wait_with_output().expect("it ends");
    assert_eq!(second.status.code(), Some(255), "{}", messages(&second));
    assert!(messages(&second).contains("another object has taken its place"), "{}", messages(&second));
    assert_eq!(store.shown(&[&["report", object, "-j"]]), first);
}
