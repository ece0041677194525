//! `pericore serve` scraped by Prometheus itself: it takes the text, its rates are the machine's, and so are those of
//! the formulas that `docs/serve.md` shows; the queries of `docs/fleet.md` and of the dashboard find numbers, and the
//! rules in `deploy` do what their own test has. Needs Debian's package prometheus, of which `tests/run` fetches the
//! programs.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

const DOCUMENT: &str = include_str!("../../../docs/serve.md");
const FLEET: &str = include_str!("../../../docs/fleet.md");
const DASHBOARD: &str = include_str!("../../../deploy/grafana/pericore.json");
const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/prometheus");
/// Longer than the slowest host takes for what is waited for.
const PATIENCE: Duration = Duration::from_secs(120);
const BANDWIDTH: &str = "pericore_imc_mem_read_bandwidth_bytes_per_second";

/// A program that is told to end when the test does, however it does.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Starts a program; gives what stands behind the mark in what it says.
    fn start(program: &mut Command, mark: &str) -> (Self, String) {
        let missing = "apt-get install prometheus, or run tests/run, which fetches it";
        let spawned = program.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut running = Self(spawned.unwrap_or_else(|error| panic!("{program:?}: {error}; {missing}")));
        let mut said = String::new();
        let mut lines = BufReader::new(running.0.stderr.take().expect("it is piped")).lines();
        while let Some(line) = lines.next() {
            let line = line.expect("UTF-8");
            if let Some((_, found)) = line.split_once(mark) {
                // What it says later must not block it.
                std::thread::spawn(move || lines.for_each(drop));
                return (running, found.to_owned());
            }
            said += &line;
            said.push('\n');
        }
        panic!("{program:?} never said {mark:?}: {said}");
    }
}

/// A server of a streaming software machine, and the address of its metrics.
fn serve() -> (Running, String) {
    // As docs/fleet.md has it.
    let line = "serve --machine e5-2600:sockets=2 --workload stream -I 500 --listen 127.0.0.1:0 -A -M \
                MEM_READ_BANDWIDTH,MEM_WRITE_BANDWIDTH,qpi/QPI_TX_UTIL,qpi/TX_DATA_BANDWIDTH,AVG_TOR_DRD_MISS_LATENCY \
                -e imc/CLOCKTICKS/";
    let mut program = crate::ours::command(crate::ours::PERICORE);
    let (server, rest) = Running::start(program.args(line.split(' ')), "http://");
    let place = rest.split(": ").next().expect("a host and a port");
    (server, place.to_owned())
}

fn get(arguments: &[&str]) -> Option<String> {
    let got = Command::new("curl").args(["-sf", "--max-time", "20"]).args(arguments).output();
    let got = got.expect("apt-get install curl");
    got.status.success().then(|| String::from_utf8(got.stdout).expect("UTF-8"))
}

/// What comes when it is asked for, as soon as it is there.
fn awaited<T>(what: &str, ask: impl Fn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(began.elapsed() < PATIENCE, "{what} never came");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The text goes through Prometheus' own checker.
fn checked(metrics: &str) -> String {
    let mut tool = Command::new("promtool");
    tool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = tool.spawn().expect("apt-get install prometheus, or run tests/run, which fetches it");
    child.stdin.take().expect("it is piped").write_all(metrics.as_bytes()).expect("it reads all");
    let output = child.wait_with_output().expect("it is ours");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{said}\n{metrics}");
    said
}

/// The blocks of a document in a language.
fn blocks(document: &'static str, language: &str) -> impl Iterator<Item = &'static str> {
    let start = format!("```{language}\n");
    let parts: Vec<_> = document.split(&start).skip(1).filter_map(|rest| rest.split("```").next()).collect();
    parts.into_iter()
}

struct Prometheus {
    _running: Running,
    place: String,
    _data: TempDir,
}

impl Prometheus {
    /// Scrapes as the document's configuration says, but sooner, and from another place.
    fn of(target: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder of ours");
        let [shown] = blocks(DOCUMENT, "yaml").collect::<Vec<_>>()[..] else {
            panic!("the document shows one configuration")
        };
        let config = shown.replace("scrape_interval: 30s", "scrape_interval: 250ms").replace("localhost:9988", target);
        assert!(config.contains(target) && config.contains("250ms"), "{config}");
        let file = folder.path().join("prometheus.yml");
        std::fs::write(&file, config).expect("a file of ours");
        let mut theirs = Command::new("prometheus");
        theirs.arg(format!("--config.file={}", file.display()));
        theirs.arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()));
        theirs.arg("--web.listen-address=127.0.0.1:0");
        let (running, place) = Running::start(&mut theirs, "msg=\"Listening on\" address=");
        // It listens before it has opened its files.
        let ready = format!("http://{place}/-/ready");
        awaited("a server that answers", || get(&[&ready]));
        Self { _running: running, place, _data: folder }
    }

    /// The values of a query, by socket.
    fn query(&self, text: &str) -> Vec<(String, f64)> {
        let (query, url) = (format!("query={text}"), format!("http://{}/api/v1/query", self.place));
        let answer = get(&["--data-urlencode", &query, &url]).unwrap_or_else(|| panic!("it refuses {text}"));
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let results = answer["data"]["result"].as_array().expect("a vector").iter();
        let mut values: Vec<_> = results
            .map(|result| {
                let value = result["value"][1].as_str().and_then(|value| value.parse().ok());
                (result["metric"]["socket"].as_str().unwrap_or("").to_owned(), value.expect("a number"))
            })
            .collect();
        values.sort_by(|one, other| one.0.cmp(&other.0));
        values
    }
}

/// Both formulas of the document give lines read each second: 64 bytes of the bandwidth that the machine has all the time.
#[test]
fn rates_of_prometheus_are_the_machines() {
    let (_server, target) = serve();
    let url = format!("http://{target}/metrics");
    let text = awaited("the first sample", || get(&[&url]));
    assert_eq!(checked(&text), "", "not even a remark on style");

    let prometheus = Prometheus::of(&target);
    awaited("ten samples of twenty seconds", || {
        let seen =
            prometheus.query("max_over_time(pericore_samples_total[1m]) - min_over_time(pericore_samples_total[1m])");
        seen.iter().any(|(_, samples)| *samples >= 20.0).then_some(())
    });
    let bandwidth = prometheus.query(&format!("sum by (socket) (avg_over_time({BANDWIDTH}[1m]))"));
    let [first, second] = &bandwidth[..] else { panic!("two sockets: {bandwidth:?}") };
    assert!(first.0 == "0" && second.0 == "1" && first.1 > 1e9 && second.1 > 1e9, "{bandwidth:?}");
    let in_text = blocks(DOCUMENT, "promql")
        .chain(DOCUMENT.split('`').filter(|code| code.starts_with("rate(pericore_events_total[5m]) / on")));
    let mut formulas = 0;
    for formula in in_text {
        formulas += 1;
        let reads = "pericore_events_total{event=\"imc/CAS_COUNT.RD/\"}[1m]";
        let formula = formula.replace("pericore_events_total[5m]", reads).replace("[5m]", "[1m]");
        let rates = prometheus.query(&format!("sum by (socket) ({formula})"));
        assert_eq!(rates.len(), 2, "{formula}: {rates:?}");
        for ((socket, bandwidth), (of, rate)) in bandwidth.iter().zip(&rates) {
            let error = rate * 64.0 / bandwidth - 1.0;
            assert!(socket == of && error.abs() < 0.02, "{formula}: {rate} lines/s, {bandwidth} bytes/s");
        }
    }
    assert_eq!(formulas, 2, "the document shows two formulas");
    let age = prometheus.query("time() - pericore_sample_timestamp_seconds");
    assert!(age.len() == 1 && age[0].1 > -1.0, "{age:?}");
    queries_find_numbers(&prometheus);
}

/// Each query of the dashboard, and of the document for fleets, has a series of this host in its result. A week ago
/// there was no host.
fn queries_find_numbers(prometheus: &Prometheus) {
    let dashboard: Value = serde_json::from_str(DASHBOARD).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("a list");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().expect("a list"));
    let shown = targets.map(|target| target["expr"].as_str().expect("a query").to_owned());
    let queries: Vec<String> = shown.chain(blocks(FLEET, "promql").map(str::to_owned)).collect();
    assert!(queries.len() > 15, "{queries:?}");
    for query in queries {
        let mut filled = query.replace("$job", ".+").replace("$host", ".+").replace("$__rate_interval", "1m");
        for of_week in ["[5m]", "[1h]", "[1d]"] {
            filled = filled.replace(of_week, "[1m]");
        }
        assert!(!filled.contains('$'), "{query}");
        let found = prometheus.query(&filled);
        assert_eq!(found.is_empty(), query.contains("offset 7d"), "{query}: {found:?}");
        assert!(found.iter().all(|(_, value)| value.is_finite()), "{query}: {found:?}");
    }
}

/// Rules by Prometheus' own tool: their form, and what they make of series by hand.
#[test]
fn rules_do_what_they_should() {
    for arguments in [["check", "rules", "pericore.rules.yml"], ["test", "rules", "pericore.test.yml"]] {
        let mut tool = Command::new("promtool");
        let output = tool.args(arguments).current_dir(RULES).output();
        let output = output.expect("apt-get install prometheus, or run tests/run, which fetches it");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success() && text.contains("SUCCESS"), "{arguments:?}: {text}");
    }
}
