//! Samples that a collector of OpenTelemetry takes, and decodes with the library of the OpenTelemetry project.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use super::{PATIENCE, Running, awaited, certificate, serve};
use crate::ours::python::python;
use crate::serve::parsed;

/// A collector, its port, and what it takes.
fn collector(files: &[&str]) -> (Running, String, Receiver<Value>) {
    let mut program = python();
    program.args(["-c", include_str!("collector.py")]).args(files).stdout(Stdio::piped());
    let mut running = Running(program.spawn().expect("it starts"));
    let mut lines = BufReader::new(running.0.stdout.take().expect("it is piped")).lines();
    let port = lines.next().expect("a port").expect("UTF-8");
    let (found, requests) = channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let _ = found.send(serde_json::from_str(&line).expect("JSON"));
        }
    });
    (running, port, requests)
}

/// The same sample, scraped and pushed: the same names, labels and numbers, to the last digit.
#[test]
fn a_collector_gets_the_numbers_that_are_scraped() {
    let (_collector, to, requests) = collector(&[]);
    let url = format!("http://127.0.0.1:{to}");
    let (_server, port, _) = serve(&["--otlp", &url, "-A", "-M", "MEM_BANDWIDTH,AVG_TOR_DRD_MISS_LATENCY"]);
    let metrics = format!("http://127.0.0.1:{port}/metrics");
    let mut pushed: Vec<Value> = Vec::new();
    let number = |request: &Value, name: &str| {
        let samples = request["samples"].as_object().expect("samples");
        samples.iter().find(|(key, _)| key.starts_with(name)).map(|(_, value)| value.as_str().expect("text").to_owned())
    };
    let (request, scraped) = awaited("a sample that is scraped and pushed", || {
        let output = Command::new("curl").args(["-sf", "--max-time", "20", &metrics]).output().expect("curl");
        let scraped = parsed("plain", &String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?);
        let of_samples = scraped.iter().find(|((name, _), _)| name == "pericore_samples_total");
        let wanted = of_samples.expect("the number of samples").1.clone();
        pushed.extend(requests.recv_timeout(PATIENCE));
        pushed.extend(requests.try_iter());
        let same = pushed.iter().find(|request| number(request, "pericore_samples_total|").as_ref() == Some(&wanted));
        same.cloned().map(|request| (request, scraped))
    });
    assert_eq!((&request["path"], &request["type"]), (&"/v1/metrics".into(), &"application/x-protobuf".into()));
    assert_eq!(request["resource"]["service.name"], "pericore");
    assert_eq!(request["units"]["pericore_imc_mem_bandwidth_bytes_per_second"], "By/s");
    let samples = request["samples"].as_object().expect("samples");
    assert!(samples.len() > 50, "{samples:?}");
    let found: Vec<(String, String)> =
        samples.iter().map(|(key, value)| (key.clone(), value.as_str().expect("text").to_owned())).collect();
    let mut expected: Vec<(String, String)> =
        scraped.into_iter().map(|((name, labels), value)| (format!("{name}|{labels}"), value)).collect();
    expected.sort();
    assert_eq!(found, expected);
    let bandwidth = number(&request, "pericore_imc_mem_bandwidth_bytes_per_second|").expect("a bandwidth");
    assert!(bandwidth.parse::<f64>().expect("a number") > 1e6, "{bandwidth}");
}

/// To a collector that encrypts, if its authority is known; else nothing is sent, and the server goes on.
#[test]
fn a_collector_has_to_prove_who_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    certificate(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (cert, key) = (path("cert.pem"), path("key.pem"));
    let (_collector, to, requests) = collector(&[&cert, &key]);
    let url = format!("https://localhost:{to}/v1/metrics");
    let lost = |port: &str| {
        awaited("a sample", || {
            let metrics = format!("http://127.0.0.1:{port}/metrics");
            let output = Command::new("curl").args(["-sf", "--max-time", "20", &metrics]).output().expect("curl");
            let text = String::from_utf8(output.stdout).ok()?;
            let line = text.lines().find(|line| line.starts_with("pericore_push_lost_samples_total"))?;
            line.rsplit(' ').next()?.parse::<u64>().ok()
        })
    };
    {
        let (_server, port, _) = serve(&["--otlp", &url]);
        awaited("samples that the collector does not get", || (lost(&port) >= 2).then_some(()));
        assert!(requests.try_recv().is_err(), "a certificate of nobody");
    }
    let (_server, _, _) = serve(&["--otlp", &url, "--otlp-ca", &path("ca.pem")]);
    let request = requests.recv_timeout(PATIENCE).expect("a sample");
    assert!(request["samples"].as_object().is_some_and(|samples| samples.len() > 10), "{request}");
}
