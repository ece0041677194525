//! A boot from start to end.

use std::collections::HashMap;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::cache::Prepared;
use super::clock::GuestClock;
use super::core_pmu::{self, InstructionCounts};
use super::error::GuestError;
use super::gdb::reply::Stop;
use super::gdb::{Client, GdbError};
use super::hardware::Hardware;
use super::plan::Plan;
use super::process::{Guarded, nameless_file};
use super::proxy::{self, ConfigSpace, ProxyError};
use super::stops::{Counts, Traps};
use super::streams::{self, Tail, Word};
use super::traps::Function;
use super::{overlay, qemu};

/// How often the guest's own words and the deadline are looked at while it runs undisturbed.
const LOOK: Duration = Duration::from_millis(50);
/// How long QEMU's gdb stub may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time for QEMU to end after the guest has switched off.
const FAREWELL: Duration = Duration::from_secs(30);

/// What to boot.
#[derive(Debug, Clone)]
pub struct Boot {
    /// Program and arguments to run in the guest.
    pub command: Vec<String>,
    /// Variables in the command's environment.
    pub environment: Vec<(String, String)>,
    /// The host's executables to bring along.
    pub programs: Vec<PathBuf>,
    /// Time for everything, boot included.
    pub timeout: Duration,
    /// QEMU's program.
    pub qemu: String,
    /// The model number that the guest's CPU claims, if not the family's: some tools know only a forerunner.
    pub cpu_model: Option<u8>,
    /// Bring up all CPUs, not only the first of each socket: slower, but some tools cannot bear gaps in their numbers.
    pub all_cpus: bool,
    /// Let the cores' counters count the instructions that really run: half as slow again, and more with several CPUs.
    pub core_pmu: bool,
    /// More words for the kernel's command line, behind those that the boot needs.
    pub append: String,
}

impl Boot {
    /// A boot that runs `command`, within five minutes.
    pub fn new(command: Vec<String>) -> Self {
        Self {
            command,
            environment: Vec::new(),
            programs: Vec::new(),
            timeout: Duration::from_secs(300),
            qemu: "qemu-system-x86_64".to_owned(),
            cpu_model: None,
            all_cpus: false,
            core_pmu: false,
            append: String::new(),
        }
    }

    /// Looks for QEMU, before much else is done.
    ///
    /// # Errors
    /// [`GuestError::NoQemu`] if it does not start.
    pub fn check_qemu(&self) -> Result<(), GuestError> {
        let mut command = Command::new(&self.qemu);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let failed = |source| GuestError::NoQemu { program: self.qemu.clone(), source };
        command.status().map(|_| ()).map_err(failed)
    }
}

/// Where the command's output goes.
pub struct Output {
    /// Standard output.
    pub out: Box<dyn Write + Send>,
    /// Standard error.
    pub errors: Box<dyn Write + Send>,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Output")
    }
}

/// How a boot ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// The command's exit status.
    pub status: u8,
    /// From start to the command.
    pub boot: Duration,
    /// From the command's start to QEMU's end.
    pub command: Duration,
    /// Stops at breakpoints.
    pub stops: Counts,
}

/// Boots a prepared guest on `hardware`, runs the command, and waits for its end.
///
/// # Errors
/// [`GuestError`]. Whatever happens, QEMU is gone afterwards.
pub fn run(
    prepared: &Prepared,
    boot: &Boot,
    hardware: &Arc<Mutex<Hardware>>,
    output: Output,
) -> Result<Report, GuestError> {
    let symbols = match prepared.symbols() {
        Some(symbols) => symbols,
        None => {
            let text = read_symbols(prepared, boot)?;
            prepared.learn_symbols(&text)?
        }
    };
    let counting = boot.core_pmu.then_some(symbols.page_fault);
    let mut session = Session::start(prepared, boot, Some(hardware), counting, output)?;
    let mut functions = symbols.functions;
    functions.retain(|_, function| boot.core_pmu || !function.is_of_core_counters());
    let result = session.trap(functions, hardware);
    session.conclude(result)
}

/// A first boot on plain QEMU reads the kernel's own symbol table: Debian's packages have no small file with it.
fn read_symbols(prepared: &Prepared, boot: &Boot) -> Result<String, GuestError> {
    let (out, text) = collector();
    let names = "native_((read|write)_msr|read_pmc|cpuid)|pci_(conf1|mmcfg)_|asm_exc_page_fault";
    let pattern = format!("grep -E ' [tT] ({names})' /proc/kallsyms");
    let command = ["sh", "-c", &pattern].map(str::to_owned).to_vec();
    let plain = Boot { command, programs: Vec::new(), ..boot.clone() };
    let output = Output { out, errors: Box::new(std::io::sink()) };
    let mut session = Session::start(prepared, &plain, None, None, output)?;
    let result = session.attend();
    session.conclude(result)?;
    let bytes = text.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A sink and what was written to it.
pub fn collector() -> (Box<dyn Write + Send>, Arc<Mutex<Vec<u8>>>) {
    struct Collector(Arc<Mutex<Vec<u8>>>);
    impl Write for Collector {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let bytes = Arc::default();
    (Box::new(Collector(Arc::clone(&bytes))), bytes)
}

/// A QEMU with everything connected to it.
struct Session {
    started: Instant,
    timeout: Duration,
    qemu: Guarded,
    clock: Arc<GuestClock>,
    gdb: Option<UnixStream>,
    proxy: Option<JoinHandle<Result<(), ProxyError>>>,
    kernel_log: Tail,
    qemu_messages: Tail,
    words: Receiver<Word>,
    threads: Vec<JoinHandle<()>>,
    ready: Option<Instant>,
    status: Option<u8>,
    stops: Counts,
}

impl Session {
    fn start(
        prepared: &Prepared,
        boot: &Boot,
        hardware: Option<&Arc<Mutex<Hardware>>>,
        counting: Option<u64>,
        output: Output,
    ) -> Result<Self, GuestError> {
        let plan = hardware.map(|hardware| Plan::new(hardware)).transpose()?.unwrap_or_default();
        let clock = Arc::new(GuestClock::default());
        let base = prepared.file_system();
        let base = std::fs::read(&base).map_err(|source| GuestError::File { path: base, source })?;
        let setup = hardware.map_or_else(String::new, |_| {
            overlay::setup(&plan.windows, if boot.all_cpus { &[] } else { &plan.further_cpus })
        });
        let added = overlay::archive(boot, &setup)?;
        let file_system =
            nameless_file(&[&base, &added]).map_err(|source| GuestError::System { call: "memfd_create", source })?;
        drop(base);

        let mut theirs: Vec<OwnedFd> = vec![file_system.into()];
        let mut pair = || -> Result<(UnixStream, i32), GuestError> {
            let (ours, end) = UnixStream::pair().map_err(|source| GuestError::System { call: "socketpair", source })?;
            let end = OwnedFd::from(end);
            let number = end.as_raw_fd();
            theirs.push(end);
            Ok((ours, number))
        };
        let (log, log_end) = pair()?;
        let (out, out_end) = pair()?;
        let (errors, errors_end) = pair()?;
        let (talk, talk_end) = pair()?;
        let gdb = hardware.map(|_| pair()).transpose()?;
        let proxy = if plan.windows.is_empty() { None } else { Some(pair()?) };
        let ends = qemu::Ends {
            serial: [log_end, out_end, errors_end, talk_end],
            gdb: gdb.as_ref().map(|(_, end)| *end),
            proxy: proxy.as_ref().map(|(_, end)| *end),
            file_system: theirs[0].as_raw_fd(),
        };
        // The proxy device talks while QEMU starts.
        let proxy = proxy.zip(hardware).map(|((stream, _), hardware)| {
            let (config, hardware, clock) = (ConfigSpace::new(&plan.windows), Arc::clone(hardware), Arc::clone(&clock));
            std::thread::spawn(move || proxy::serve(stream, config, &hardware, &clock))
        });
        let mut command = qemu::command(&prepared.kernel(), &plan, boot, &ends);
        if let (Some(fault), Some(hardware)) = (counting, hardware) {
            let failed = |source| GuestError::System { call: "memfd_create", source };
            let (counts, descriptors) = InstructionCounts::new().map_err(failed)?;
            let cpus = qemu::running_cpus(plan.shape.as_ref(), boot.all_cpus);
            command.arg("-plugin").arg(core_pmu::option(&descriptors, fault, cpus));
            theirs.extend(descriptors);
            hardware.lock().unwrap_or_else(PoisonError::into_inner).take_instructions_from(counts);
        }
        let mut qemu = Guarded::spawn(command, theirs)
            .map_err(|source| GuestError::NoQemu { program: boot.qemu.clone(), source })?;

        let (kernel_log, qemu_messages) = (Tail::default(), Tail::default());
        let (sender, words) = mpsc::channel();
        let mut threads = vec![
            kernel_log.follow(log),
            streams::pass_on(out, output.out),
            streams::pass_on(errors, output.errors),
            streams::listen(talk, sender),
        ];
        threads.extend(qemu.stderr().map(|stderr| qemu_messages.follow(stderr)));
        let gdb = gdb.map(|(stream, _)| stream);
        Ok(Self {
            started: Instant::now(),
            timeout: boot.timeout,
            qemu,
            clock,
            gdb,
            proxy,
            kernel_log,
            qemu_messages,
            words,
            threads,
            ready: None,
            status: None,
            stops: Counts::default(),
        })
    }

    /// Serves the gdb stub until QEMU ends.
    fn trap(&mut self, symbols: HashMap<u64, Function>, hardware: &Mutex<Hardware>) -> Result<(), GuestError> {
        let Some(stream) = self.gdb.take() else { return self.attend() };
        let mut client = Client::connect(stream, self.timeout.min(PATIENCE))?;
        let mut traps = Traps::set(&mut client, symbols)?;
        let result = loop {
            self.clock.run();
            if let Err(error) = client.resume() {
                break Err(error.into());
            }
            match self.next_stop(&mut client) {
                Ok(Some(Stop::Signal { cpu, .. })) => {
                    if let Err(error) = traps.handle(&mut client, cpu, hardware, &self.clock) {
                        break Err(error.into());
                    }
                }
                Ok(Some(Stop::Exited) | None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.stops = traps.counts();
        result
    }

    /// The next stop; `None` when QEMU has hung up.
    fn next_stop(&mut self, client: &mut Client) -> Result<Option<Stop>, GuestError> {
        loop {
            match client.wait(Instant::now() + LOOK) {
                Ok(Some(stop)) => return Ok(Some(stop)),
                Ok(None) => self.look()?,
                Err(GdbError::Closed) => return Ok(None),
                Err(GdbError::Io(error)) if error.kind() == std::io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            self.check_time()?;
        }
    }

    /// Waits for QEMU's end without a gdb stub.
    fn attend(&mut self) -> Result<(), GuestError> {
        while self.qemu.wait(LOOK).map_err(|source| GuestError::System { call: "wait", source })?.is_none() {
            self.look()?;
            self.check_time()?;
        }
        Ok(())
    }

    /// Takes in what the guest's first process said.
    fn look(&mut self) -> Result<(), GuestError> {
        for word in self.words.try_iter() {
            match word {
                Word::Ready => self.ready = Some(Instant::now()),
                Word::Exit(status) => self.status = Some(status),
                Word::Unknown(line) => return Err(GuestError::Talk(line)),
            }
        }
        // A proxy thread that gave up would leave QEMU waiting.
        let gave_up = self.status.is_none() && self.proxy.as_ref().is_some_and(JoinHandle::is_finished);
        let proxy = if gave_up { self.proxy.take() } else { None };
        if let Some(Ok(Err(error))) = proxy.map(JoinHandle::join) {
            return Err(error.into());
        }
        Ok(())
    }

    fn check_time(&self) -> Result<(), GuestError> {
        if self.started.elapsed() < self.timeout {
            return Ok(());
        }
        let stage = if self.ready.is_some() { "its command was running" } else { "it was still booting" };
        Err(GuestError::TimedOut { limit: self.timeout, stage, messages: self.kernel_log.text() })
    }

    /// Ends everything, and says how it went.
    fn conclude(mut self, result: Result<(), GuestError>) -> Result<Report, GuestError> {
        let hung_up = result.as_ref().err().is_some_and(is_hang_up);
        let farewell = if result.is_ok() || hung_up { FAREWELL } else { Duration::ZERO };
        let ended = self.qemu.wait(farewell).ok().flatten();
        self.qemu.kill();
        // QEMU's ends are closed: every thread comes to its end.
        self.threads.drain(..).for_each(|thread| {
            let _ = thread.join();
        });
        if let Some(proxy) = self.proxy.take() {
            // With QEMU gone, only a message it sent before can still be wrong.
            if let (Ok(Err(error)), true) = (proxy.join(), result.is_ok()) {
                return Err(error.into());
            }
        }
        self.look()?;
        match (result, self.status, ended) {
            (Err(error), ..) if !hung_up => Err(error),
            (_, Some(status), Some(ended)) if ended.success() => {
                let ready = self.ready.unwrap_or(self.started);
                let (boot, command) = (ready - self.started, ready.elapsed());
                Ok(Report { status, boot, command, stops: self.stops })
            }
            (_, _, Some(ended)) if !ended.success() => Err(self.died(ended)),
            _ => Err(GuestError::GuestDied { messages: self.kernel_log.text() }),
        }
    }

    fn died(&self, status: ExitStatus) -> GuestError {
        let messages = format!("{}\n{}", self.qemu_messages.text(), self.kernel_log.text());
        GuestError::QemuDied { status, messages: messages.trim().to_owned() }
    }
}

/// A broken connection: QEMU's own end tells more.
const fn is_hang_up(error: &GuestError) -> bool {
    matches!(error, GuestError::Gdb(GdbError::Closed | GdbError::Io(_)) | GuestError::Proxy(ProxyError::Io(_)))
}

#[cfg(test)]
mod tests;
