//! `pericore serve` scraped by Prometheus itself: it takes the text, its rates are the machine's, and so are those of
//! the formulas that `docs/serve.md` shows; the queries of `docs/fleet.md` and of the dashboard find numbers, and the
//! rules in `deploy` do what their own test has; all of it again with many servers in networks of their own. Needs
//! Debian's package prometheus, of which `tests/run` fetches the programs.

mod fleet;
mod network;
mod rates;
mod rules;
mod surroundings;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use network::Network;

const DOCUMENT: &str = include_str!("../../../../docs/serve.md");
const FLEET: &str = include_str!("../../../../docs/fleet.md");
const DASHBOARD: &str = include_str!("../../../../deploy/grafana/pericore.json");
const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/prometheus");
/// What servers are asked for, as docs/fleet.md has it.
const WANTED: &str = "-A -M MEM_READ_BANDWIDTH,MEM_WRITE_BANDWIDTH,qpi/QPI_TX_UTIL,qpi/TX_DATA_BANDWIDTH,\
                      AVG_TOR_DRD_MISS_LATENCY -e imc/CLOCKTICKS/";
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
        let mut printed = String::new();
        let mut lines = BufReader::new(running.0.stderr.take().expect("it is piped")).lines();
        while let Some(line) = lines.next() {
            let line = line.expect("UTF-8");
            if let Some((_, found)) = line.split_once(mark) {
                // What it says later must not block it.
                std::thread::spawn(move || lines.for_each(drop));
                return (running, found.to_owned());
            }
            printed += &line;
            printed.push('\n');
        }
        panic!("{program:?} never said {mark:?}: {printed}");
    }
}

/// A server of a streaming software machine, and the address of its metrics.
fn serve() -> (Running, String) {
    let line = "serve --machine e5-2600:sockets=2 --workload stream -I 500 --listen 127.0.0.1:0";
    let mut program = crate::ours::command(crate::ours::PERICORE);
    let (server, rest) = Running::start(program.args(line.split(' ')).args(WANTED.split(' ')), "http://");
    let place = rest.split(": ").next().expect("a host and a port");
    (server, place.to_owned())
}

/// What curl gets, run here or in a network of the test's own.
fn get(network: Option<&Network>, arguments: &[&str]) -> Option<String> {
    let mut curl = network.map_or_else(|| Command::new("curl"), |network| network.command(None, "curl"));
    let got = curl.args(["-sf", "--max-time", "20"]).args(arguments).output().expect("apt-get install curl");
    got.status.success().then(|| String::from_utf8(got.stdout).expect("UTF-8"))
}

/// What comes when it is asked for, as soon as it is there.
fn awaited<T>(what: &str, request: impl Fn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(reply) = request() {
            return reply;
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
    let notes = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{notes}\n{metrics}");
    notes
}

/// The blocks of a document in a language.
fn blocks(document: &'static str, language: &str) -> impl Iterator<Item = &'static str> {
    let start = format!("```{language}\n");
    let parts: Vec<_> = document.split(&start).skip(1).filter_map(|rest| rest.split("```").next()).collect();
    parts.into_iter()
}

struct Prometheus<'n> {
    _running: Running,
    place: String,
    network: Option<&'n Network>,
    _data: TempDir,
}

impl<'n> Prometheus<'n> {
    /// Scrapes as the document's configuration says, but at other intervals and from other places, `"ADDRESS:PORT", …`.
    /// In front of that comes what a file of rules needs.
    fn of(targets: &str, interval: &str, rules: &str, network: Option<&'n Network>) -> Self {
        let folder = tempfile::tempdir().expect("a folder of ours");
        let [shown] = blocks(DOCUMENT, "yaml").collect::<Vec<_>>()[..] else {
            panic!("the document shows one configuration")
        };
        let every = format!("scrape_interval: {interval}");
        let config = shown.replace("scrape_interval: 30s", &every).replace("\"localhost:9988\"", targets);
        assert!(config.contains(targets) && config.contains(&every), "{config}");
        let file = folder.path().join("prometheus.yml");
        std::fs::write(&file, format!("{rules}{config}")).expect("a file of ours");
        let mut theirs =
            network.map_or_else(|| Command::new("prometheus"), |network| network.command(None, "prometheus"));
        theirs.arg(format!("--config.file={}", file.display()));
        theirs.arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()));
        theirs.arg("--web.listen-address=127.0.0.1:0");
        let (running, place) = Running::start(&mut theirs, "msg=\"Listening on\" address=");
        // It listens before it has opened its files.
        let ready = format!("http://{place}/-/ready");
        awaited("a server that answers", || get(network, &[&ready]));
        Self { _running: running, place, network, _data: folder }
    }

    /// The series of a query: their labels and their values.
    fn series(&self, text: &str) -> Vec<(Value, f64)> {
        let (query, url) = (format!("query={text}"), format!("http://{}/api/v1/query", self.place));
        let reply = get(self.network, &["--data-urlencode", &query, &url]);
        let reply: Value = serde_json::from_str(&reply.unwrap_or_else(|| panic!("it refuses {text}"))).expect("JSON");
        let results = reply["data"]["result"].as_array().expect("a vector").iter();
        let number = |result: &Value| result["value"][1].as_str().and_then(|value| value.parse().ok());
        results.map(|result| (result["metric"].clone(), number(result).expect("a number"))).collect()
    }

    /// The values of a query, by a label.
    fn by(&self, label: &str, text: &str) -> Vec<(String, f64)> {
        let found = self.series(text).into_iter();
        let mut values: Vec<_> =
            found.map(|(labels, value)| (labels[label].as_str().unwrap_or("").to_owned(), value)).collect();
        values.sort_by(|one, other| one.0.cmp(&other.0));
        values
    }

    /// The value of a scalar.
    fn number(&self, text: &str) -> f64 {
        self.series(&format!("vector({text})")).first().expect("a vector of one").1
    }

    /// The values of a query, by socket.
    fn query(&self, text: &str) -> Vec<(String, f64)> {
        self.by("socket", text)
    }
}

/// Each query of the dashboard, and of the document for fleets, has a series of some host in its result. A week ago
/// there was no host, and software machines have neither devices nor memory nodes.
fn queries_find_numbers(prometheus: &Prometheus<'_>) {
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
        let is_elsewhere = ["offset 7d", "pericore_pci_device_info", "pericore_numa_node_info"];
        assert_eq!(found.is_empty(), is_elsewhere.iter().any(|mark| query.contains(mark)), "{query}: {found:?}");
        assert!(found.iter().all(|(_, value)| value.is_finite()), "{query}: {found:?}");
    }
}
