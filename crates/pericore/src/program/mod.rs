//! A real program, or a trace of one, as what the software machine runs.

mod feed;
mod said;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use pericore_machine::MachineSpec;
use pericore_machine::workload::{Policy, ProgramSettings, ProgramSource};

use crate::failure::Failure;
use feed::{Feed, Handle};
pub use said::Said;

/// What of the command line is about the program.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// Run the accesses of a trace file that --save-trace wrote
    #[arg(long, value_name = "FILE", requires = "machine", conflicts_with_all = ["workload", "command"])]
    trace: Option<PathBuf>,
    /// Write the program's accesses to a file, for --trace
    #[arg(long, value_name = "FILE", requires = "command", conflicts_with_all = ["workload", "trace"])]
    save_trace: Option<PathBuf>,
    /// How the software machine's cores run a program: `cpi=0.5,misses=10,prefetch=on,pages=4k`
    #[arg(long, value_name = "SETTINGS", requires = "machine")]
    core: Option<String>,
    /// Placement of the program's pages on a machine with several sockets: `local` to the socket that touches them
    /// first, `interleave` or `remote`
    #[arg(long, value_name = "POLICY", requires = "machine")]
    numa: Option<String>,
    /// Program to measure, and its arguments; with --machine, its memory accesses run on the software machine
    #[arg(trailing_var_arg = true, value_name = "PROGRAM", conflicts_with = "workload")]
    command: Vec<OsString>,
}

impl ProgramArgs {
    /// The program and its arguments; empty without one.
    pub fn words(&self) -> &[OsString] {
        &self.command
    }

    /// True if there is one, or a trace of one.
    pub fn is_given(&self) -> bool {
        self.trace.is_some() || !self.command.is_empty()
    }

    /// The trace, if one is to run.
    pub fn trace(&self) -> Option<&Path> {
        self.trace.as_deref()
    }

    /// What a software machine in real time cannot run, if it is given.
    pub fn for_virtual_time(&self) -> Option<&'static str> {
        let named =
            [(self.trace.is_some(), "--trace"), (self.core.is_some(), "--core"), (self.numa.is_some(), "--numa")];
        let named = named.into_iter().find_map(|(is_given, option)| is_given.then_some(option));
        named.or_else(|| (!self.command.is_empty()).then_some("PROGRAM"))
    }

    /// An option that only makes sense on a software machine, if one is given.
    pub fn only_for_software(&self) -> Option<&'static str> {
        // The other options say by themselves that they need --machine.
        self.save_trace.is_some().then_some("--save-trace")
    }
}

/// A program that is to run, runs or has run.
#[derive(Debug, Clone)]
pub struct Program {
    feed: Arc<Mutex<Feed>>,
    settings: ProgramSettings,
}

impl Program {
    /// The program that the command line names, if it names one. It is not started yet.
    ///
    /// # Errors
    /// Settings that cannot be, a machine that has no model, or a trace that cannot be read.
    pub fn of(args: &ProgramArgs, machine: &MachineSpec) -> Result<Option<Self>, Failure> {
        let mut settings = args
            .core
            .as_deref()
            .map_or_else(|| Ok(ProgramSettings::default()), ProgramSettings::parse)
            .map_err(|e| Failure::usage(format!("--core: {e}")))?;
        if let Some(policy) = &args.numa {
            settings.numa = Policy::parse(policy).map_err(|e| Failure::usage(format!("--{e}")))?;
        }
        let is_alone = machine.shape().is_ok_and(|shape| shape.sockets == 1);
        if is_alone && settings.numa != Policy::Local {
            let name = machine.preset();
            return Err(Failure::usage(format!(
                "--numa: {name} has one socket; give it two: --machine {name}:sockets=2"
            )));
        }
        let feed = match (&args.trace, args.command.is_empty()) {
            (Some(trace), _) => Feed::of_trace(trace)?,
            (None, false) => {
                let caches = machine.parameters().map_err(Failure::usage)?.first_level();
                Feed::of_program(&args.command, args.save_trace.as_deref(), caches)
            }
            (None, true) if args.core.is_some() || args.numa.is_some() => {
                let option = if args.core.is_some() { "--core" } else { "--numa" };
                return Err(Failure::usage(format!("{option} needs a program: name one after --, or use --trace")));
            }
            (None, true) => return Ok(None),
        };
        Ok(Some(Self { feed: Arc::new(Mutex::new(feed)), settings }))
    }

    /// How the cores run it.
    pub const fn settings(&self) -> ProgramSettings {
        self.settings
    }

    /// What the machine takes its accesses from.
    pub fn source(&self) -> Box<dyn ProgramSource> {
        Box::new(Handle::new(Arc::clone(&self.feed)))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Feed) -> T) -> T {
        act(&mut self.feed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Command line, and where it comes from.
    pub fn title(&self) -> String {
        self.with(|feed| feed.title())
    }

    /// Starts it.
    ///
    /// # Errors
    /// It cannot be run under the tracer, or its trace cannot be written.
    pub fn start(&self) -> Result<(), Failure> {
        self.with(Feed::start)
    }

    /// Bytes of its trace that have been read, and all of them; none if it is no trace in a file.
    pub fn replayed(&self) -> Option<(u64, u64)> {
        self.with(|feed| feed.replayed())
    }

    /// Fails if its accesses could not all be had.
    ///
    /// # Errors
    /// That.
    pub fn check(&self) -> Result<(), Failure> {
        self.with(|feed| feed.error().map_or(Ok(()), |error| Err(Failure::failed(error))))
    }

    /// Ends it, if it has not ended, and gives what is to be said of it.
    pub fn end(&self) -> Said {
        self.with(Feed::end)
    }
}
