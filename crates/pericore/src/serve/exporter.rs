//! Takes samples, adds them up, and puts the text on the board from which it is handed out.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pericore_exporter::{Board, Limits, Listener, MetricsPage, Pages, RequestPolicy, Server, SocketFile};
use pericore_exposition::{Environment, Exposition, Lateness, Named, Process, Surroundings, Tally, exposition, names};
use pericore_observe::linux::privileges::{self, Needs};
use pericore_observe::process;
use pericore_observe::results::Totals;
use pericore_observe::run::without_wraps;
use pericore_report::fewer::Fewer;
use pericore_text::on_one_line;

use super::ServeArgs;

#[cfg(feature = "tls")]
use super::guard::ServerGuard;
use super::live::{LastHour, ServedMachine};
#[cfg(feature = "otlp")]
use super::push::Push;
use crate::confined::{ThreadPart, confine};
use crate::failure::Failure;
use crate::measure::{Ender, Receiver, Subject, Taken};
use crate::{notice, target};

/// Intervals without a sample after which the server is not well; it is patient for some seconds in any case.
const INTERVALS_MISSED: f64 = 5.0;
const LEAST_PATIENCE: Duration = Duration::from_secs(10);

/// The receiver of `pericore serve`.
pub struct Exporter<'a> {
    args: &'a ServeArgs,
    board: Board,
    listener: Option<Listener>,
    #[cfg(feature = "tls")]
    guard: ServerGuard,
    #[cfg(feature = "otlp")]
    push: Option<Push>,
    /// The Unix socket's file; it goes at the end.
    file: Option<SocketFile>,
    /// Set by the server if it cannot go on.
    has_failed: Arc<AtomicBool>,
    tally: Tally,
    names: Vec<Named>,
    title: String,
    environment: Environment,
    last_hour: Option<LastHour>,
}

impl<'a> Exporter<'a> {
    /// Nothing is opened before the measurement begins.
    pub fn new(args: &'a ServeArgs) -> Self {
        Self {
            args,
            board: Board::default(),
            listener: None,
            #[cfg(feature = "tls")]
            guard: ServerGuard::default(),
            #[cfg(feature = "otlp")]
            push: None,
            file: None,
            has_failed: Arc::default(),
            tally: Tally::default(),
            names: Vec::new(),
            title: String::new(),
            last_hour: None,
            environment: Environment {
                emulated: None,
                started: 0.0,
                taken: 0.0,
                accesses: 0,
                lateness: Lateness::default(),
                process: Process::default(),
                surroundings: Surroundings::default(),
            },
        }
    }
}

impl Receiver for Exporter<'_> {
    fn open(&mut self) -> Result<(), Failure> {
        #[cfg(feature = "tls")]
        {
            self.guard = self.args.guard.read(&self.args.listen)?;
        }
        let mut listener = Listener::open(&self.args.listen).map_err(Failure::failed)?;
        self.file = listener.take_file();
        self.listener = Some(listener);
        Ok(())
    }

    fn begin(&mut self, subject: &Subject<'_>) -> Result<(), Failure> {
        self.names = names(&subject.plan.selection).map_err(|name| {
            Failure::usage(format!("two events are named {name}: give each its own name=, or omit it"))
        })?;
        self.title.clone_from(&subject.title);
        self.environment.emulated.clone_from(&subject.emulated);
        self.environment.accesses = subject.cost.accesses();
        self.environment.started = since_epoch();
        self.environment.surroundings =
            subject.host.map(|host| Surroundings::of(host, &subject.plan.selection)).unwrap_or_default();
        let Some(listener) = self.listener.take() else { return Ok(()) };
        let asked = self.args.interval / 1e3;
        let interval = without_wraps(asked, subject.plan);
        let why = if interval < asked { ", since a counter could wrap in a longer time" } else { "" };
        #[cfg(feature = "tls")]
        let place = self.guard.name(listener.place());
        #[cfg(not(feature = "tls"))]
        let place = listener.place();
        notice::warn(format!("{place}: {}, a sample is due every {interval:.3} s{why}", subject.title));
        self.environment.lateness = Lateness::of(interval);
        Fewer::of(&subject.plan.layout()).iter().for_each(notice::warn);
        #[cfg(feature = "otlp")]
        {
            self.push = self.args.push.start()?;
        }
        let access = RequestPolicy::of(self.args.hosts());
        #[cfg(feature = "tls")]
        let access = access.with_token(self.guard.token.take());
        let last_hour = LastHour::new(ServedMachine {
            title: on_one_line(&subject.title),
            emulated: subject.emulated.clone(),
            host: subject.host.and_then(|_| target::host_name()),
            began: self.environment.started,
            due: interval,
        });
        let server = Server::new(self.board.clone(), Limits::default(), access).with_live(last_hour.page());
        self.last_hour = Some(last_hour);
        #[cfg(feature = "tls")]
        let server = server.with_tls(self.guard.tls.take());
        let end = EndWith { has_failed: Arc::clone(&self.has_failed), ender: subject.ender.clone() };
        let serve = move || {
            let _end = end;
            // Whoever listens to strangers may do nothing else, and no register is behind it.
            if let Err(error) = privileges::keep_only(Needs::default()) {
                notice::warn(format!(
                    "the server's threads cannot drop their capabilities: {error}; serving continues with them"
                ));
            }
            confine(ThreadPart::Serving, &[]);
            server.run(&listener)
        };
        let started = thread::Builder::new().name("server".to_owned()).spawn(serve);
        started.map_err(|error| Failure::failed(format!("cannot start the server's thread: {error}")))?;
        Ok(())
    }

    fn take(&mut self, taken: Taken<'_>) -> Result<(), Failure> {
        self.environment.taken = since_epoch();
        self.environment.process = Process::now();
        let totals = Totals::of(taken.sample, self.args.scope());
        self.tally.add(taken.plan, &totals);
        if self.tally.samples == 1 {
            // Preparations are over: what they took would stay for as long as the server runs.
            process::give_back_memory();
        }
        if let Some(last_hour) = &self.last_hour {
            last_hour.add(&taken.plan.layout(), taken.sample, taken.end);
        }
        if let Some(warning) = self.environment.lateness.note(taken.sample.seconds) {
            notice::warn(warning);
        }
        #[cfg_attr(not(feature = "otlp"), expect(unused_mut, reason = "nothing is added"))]
        let Exposition { mut families, notes } =
            exposition(&self.environment, (taken.plan, &self.names), &self.tally, &totals);
        #[cfg(feature = "otlp")]
        if let Some(push) = &self.push {
            families.extend(push.families(&self.environment));
            push.send(&families, &self.environment);
        }
        let mut front = format!(
            "pericore {}\n{}\n\n/metrics has the numbers, for Prometheus.\n\nsample {}, of the last {:.3} s\n",
            env!("CARGO_PKG_VERSION"),
            self.title,
            self.tally.samples,
            taken.sample.seconds
        );
        let Lateness { interval, missed, .. } = self.environment.lateness;
        // A string takes whatever is written to it.
        let _ = match missed {
            0 => writeln!(front, "one is due every {interval:.3} s"),
            _ => writeln!(front, "one is due every {interval:.3} s; {missed} were missed because the machine was busy"),
        };
        for note in &notes {
            let _ = writeln!(front, "{}: {}", note.what, note.why);
        }
        self.board.put(Pages {
            metrics: MetricsPage::of(families),
            front: front.into_bytes(),
            stale_from: Instant::now().checked_add(stale_after(interval)),
        });
        Ok(())
    }

    fn remark(&mut self, _words: &str) -> Result<(), Failure> {
        // Only machines in virtual time have any to make.
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.file = None;
        if self.has_failed.load(Ordering::Relaxed) {
            return Err(Failure::failed("the server has failed and no longer responds"));
        }
        Ok(())
    }

    fn writes_in(&self) -> Vec<PathBuf> {
        self.file.iter().map(|file| file.folder().to_owned()).collect()
    }

    fn needs_every_sample(&self) -> bool {
        true
    }
}

/// Ends the measurement when it is dropped: a server runs for as long as its process, unless it fails.
struct EndWith {
    has_failed: Arc<AtomicBool>,
    ender: Ender,
}

impl Drop for EndWith {
    fn drop(&mut self) {
        self.has_failed.store(true, Ordering::Relaxed);
        self.ender.end();
    }
}

/// How long a sample may be the newest if they are due every so many seconds.
fn stale_after(interval: f64) -> Duration {
    Duration::try_from_secs_f64(INTERVALS_MISSED * interval).unwrap_or(Duration::MAX).max(LEAST_PATIENCE)
}

/// Seconds since the epoch.
fn since_epoch() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
