//! Samples on their way to a collector of OpenTelemetry: OTLP as protobuf over HTTP.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use clap::Args;
use pericore_exporter::otlp::{OtlpOrigin, export};
use pericore_exporter::text::{Family, Kind, Number};
use pericore_exposition::Environment;
use pericore_observe::linux::privileges::{self, Needs};
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::confined::{ThreadPart, confine};
use crate::failure::Failure;
use crate::{input, notice, target};

/// Where collectors take metrics, unless the address has a path.
const PATH: &str = "/v1/metrics";

/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where distributions keep the certificates of known authorities.
const ROOTS: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Nanoseconds of a second.
const NANOSECONDS: f64 = 1e9;

/// Arguments about collectors.
#[derive(Debug, Args)]
pub struct PushArgs {
    /// Send each sample to a collector of OpenTelemetry as well, by OTLP over HTTP: http://HOST:4318, or a whole
    /// address with its path
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
    /// Certificates of the authorities that may vouch for an https collector, in PEM; those of the system unless given
    #[arg(long, value_name = "FILE", requires = "otlp")]
    otlp_ca: Option<PathBuf>,
}

/// Sends samples, from a thread of its own.
#[derive(Debug)]
pub struct Push {
    bodies: SyncSender<Vec<u8>>,
    tally: Arc<PushTally>,
    resource: BTreeMap<String, String>,
}

/// What has become of samples.
#[derive(Debug, Default)]
struct PushTally {
    /// Taken by the collector.
    sent: AtomicU64,
    /// Not taken: refused, not reached, or the collector was still busy with one before.
    lost: AtomicU64,
}

impl PushArgs {
    /// Refuses what cannot be sent to.
    ///
    /// # Errors
    /// As [`PushArgs::start`].
    pub fn check(&self) -> Result<(), Failure> {
        let Some(url) = &self.otlp else { return Ok(()) };
        address(url).and_then(|url| self.agent(&url)).map(|_| ())
    }

    /// Starts the thread that sends, if there is a collector.
    ///
    /// # Errors
    /// An address that is none, or certificates that cannot be read.
    pub fn start(&self) -> Result<Option<Push>, Failure> {
        let Some(url) = &self.otlp else { return Ok(None) };
        let (url, agent) = (address(url)?, self.agent(url)?);
        let (bodies, waiting) = sync_channel(1);
        let tally = Arc::new(PushTally::default());
        let sender = Sender { url, agent, waiting, tally: Arc::clone(&tally) };
        let started = thread::Builder::new().name("push".to_owned()).spawn(move || sender.run());
        started.map_err(|error| Failure::failed(format!("cannot start the thread that sends samples: {error}")))?;
        let host = target::host_name().unwrap_or_default();
        let attributes =
            [("service.name", "pericore"), ("service.version", env!("CARGO_PKG_VERSION")), ("host.name", &host)];
        let resource = attributes.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Ok(Some(Push { bodies, tally, resource }))
    }

    fn agent(&self, url: &str) -> Result<Agent, Failure> {
        let mut config = Agent::config_builder().timeout_global(Some(PATIENCE)).max_redirects(0);
        if url.starts_with("https://") {
            config = config.tls_config(TlsConfig::builder().root_certs(self.roots()?).build());
        }
        Ok(config.build().into())
    }

    /// The authorities that may vouch for a collector.
    fn roots(&self) -> Result<RootCerts, Failure> {
        let known = ROOTS.iter().map(PathBuf::from).find(|path| path.exists());
        let Some(path) = self.otlp_ca.clone().or(known) else {
            let why = "no CA certificates in the usual places; name a file with --otlp-ca";
            return Err(Failure::failed(why));
        };
        let refuse = |why: &str| Failure::failed(format!("{}: {why}; give certificates in PEM", path.display()));
        let text = input::bytes(&path, input::AUTHORITIES).map_err(|error| refuse(&error.to_string()))?;
        let certificates: Vec<Certificate<'static>> = parse_pem(&text)
            .filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            })
            .collect();
        if certificates.is_empty() {
            return Err(refuse("no certificate in it"));
        }
        Ok(RootCerts::new_with_certs(&certificates))
    }
}

impl Push {
    /// What has become of samples so far.
    pub fn families(&self, environment: &Environment) -> Vec<Family> {
        let labels = || environment.emulated.iter().map(|machine| ("emulated", machine.clone())).collect();
        let family = |name, number: &AtomicU64, help: &str| {
            let mut family = Family::new(name, Kind::Counter, None, help);
            family.push(labels(), Number::Whole(number.load(Ordering::Relaxed).into()));
            family
        };
        vec![
            family("pericore_pushed_samples", &self.tally.sent, "Samples that the --otlp collector accepted."),
            family(
                "pericore_push_lost_samples",
                &self.tally.lost,
                "Samples that the --otlp collector refused or that did not reach it.",
            ),
        ]
    }

    /// Sends a sample, unless one before is still on its way: counters are sums since the start, so that the next has
    /// what this one would have had.
    pub fn send(&self, families: &[Family], environment: &Environment) {
        let origin = OtlpOrigin {
            resource: self.resource.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started: (environment.started * NANOSECONDS) as u64,
            taken: (environment.taken * NANOSECONDS) as u64,
        };
        if let Err(TrySendError::Full(_)) = self.bodies.try_send(export(families, &origin)) {
            self.tally.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Has the encryption library look at the processor's features now: where a program stands in for the registers, CPUID
/// reads a file, which a confined thread may not.
fn detect_processor() {
    let provider = rustls::crypto::ring::default_provider();
    if let Some(suite) = provider.cipher_suites.iter().find_map(|suite| suite.tls13()) {
        let _ = suite.common.hash_provider.hash(&[]);
    }
}

/// The thread that sends.
struct Sender {
    url: String,
    agent: Agent,
    waiting: Receiver<Vec<u8>>,
    tally: Arc<PushTally>,
}

impl Sender {
    /// Sends for as long as samples come.
    fn run(self) {
        // What it sends to may be anybody; no register is behind it.
        if let Err(error) = privileges::keep_only(Needs::default()) {
            notice::warn(format!(
                "the thread that sends samples cannot drop its capabilities: {error}; it continues with them"
            ));
        }
        detect_processor();
        confine(ThreadPart::Measuring, &[]);
        // Each warning comes when twice as many samples are lost.
        let mut warns_at = 1;
        for body in &self.waiting {
            let request = self.agent.post(&self.url).header("Content-Type", "application/x-protobuf");
            match request.send(&body[..]) {
                Ok(_) => {
                    self.tally.sent.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => {
                    let lost = self.tally.lost.fetch_add(1, Ordering::Relaxed) + 1;
                    if lost >= warns_at {
                        warns_at = lost * 2;
                        let Self { url, .. } = &self;
                        notice::warn(format!(
                            "{url} did not accept a sample: {error}; {lost} lost so far, sending continues"
                        ));
                    }
                }
            }
        }
    }
}

/// The whole address that a user means.
fn address(url: &str) -> Result<String, Failure> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    match rest.map(|rest| rest.split_once('/')) {
        Some(None) if rest != Some("") => Ok(format!("{url}{PATH}")),
        Some(Some((host, ""))) if !host.is_empty() => Ok(format!("{}{PATH}", url.trim_end_matches('/'))),
        Some(Some((host, _))) if !host.is_empty() => Ok(url.to_owned()),
        _ => Err(Failure::usage(format!(
            "--otlp {url}: give http://HOST:PORT or https://HOST:PORT, with a path or without"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_path_gets_that_of_collectors() {
        for (given, whole) in [
            ("http://localhost:4318", "http://localhost:4318/v1/metrics"),
            ("https://c.example:4318/", "https://c.example:4318/v1/metrics"),
            ("http://c/otlp/v1/metrics", "http://c/otlp/v1/metrics"),
        ] {
            assert_eq!(address(given).unwrap(), whole);
        }
        for given in ["localhost:4318", "http://", "https:///v1/metrics", "grpc://localhost:4317", ""] {
            assert!(address(given).is_err(), "{given}");
        }
    }
}
