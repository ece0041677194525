//! This machine and our own threads on it.

use std::io;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use pericore_observe::linux::{Host, Processor, Root, stay_on};

use super::cpus::Cpus;
use super::threads::{self, OwnRates, OwnThreads};
use super::uncore::Uncore;
use crate::failure::Failure;
use crate::own_memory::{available_bytes, cache_bytes};

/// Times that the memory in use is larger than the caches that CPUs share, and bytes of it at least.
const CACHES: usize = 4;
const LEAST: usize = 256 << 20;
/// Time for which threads run before a window: caches fill, and clocks rise.
const SETTLES: u32 = 2;

/// What is measured, and how.
#[derive(Debug, Clone, Copy)]
pub struct OwnCurve {
    /// Of the next socket, not of the own.
    pub remote: bool,
    /// Reads among 100 transfers.
    pub read: u8,
    /// How long each point is measured.
    pub window: Duration,
    /// As lines of JSON.
    pub json: bool,
}

/// This machine, as far as our own threads need to know it.
#[derive(Debug)]
pub struct OwnMachine {
    /// What is measured.
    pub wanted: OwnCurve,
    /// Where threads run.
    pub cpus: Cpus,
    /// The processor.
    pub name: String,
    /// Bytes of memory in use.
    pub bytes: usize,
}

impl OwnMachine {
    /// Looks at the machine.
    ///
    /// # Errors
    /// A machine that does not tell its CPUs, or too little memory.
    pub fn new(wanted: OwnCurve) -> Result<Self, Failure> {
        let (host, root) = (Host::new(Root::default(), Processor::here()).map_err(Failure::failed)?, Path::new("/"));
        let Processor { vendor, brand, .. } = &host.processor;
        let name = if brand.is_empty() { vendor.clone() } else { brand.clone() };
        let cpus = Cpus::new(root, &host.cpus, wanted.remote)?;
        let caches = cache_bytes(root).unwrap_or(LEAST / CACHES);
        let bytes = LEAST.max(CACHES * caches);
        let available = available_bytes(root)
            .ok_or_else(|| Failure::failed("/proc/meminfo does not show how much memory is free"))?;
        if available / 2 < bytes {
            let [needed, free] = [bytes, available].map(|bytes| bytes >> 20);
            return Err(Failure::failed(format!(
                "it takes {needed} MiB, four times the last cache, and more than half of the {free} MiB that are free"
            )));
        }
        Ok(Self { wanted, cpus, name, bytes })
    }

    /// Threads work on memory of their own while `measure` looks on: on the first `loading` CPUs behind `from`, and one
    /// that chases pointers through so many bytes if there are any.
    ///
    /// # Errors
    /// Threads or memory that cannot be had.
    pub fn with_threads<T>(
        &self,
        (from, loading): (usize, usize),
        chased: usize,
        measure: impl FnOnce(&OwnThreads) -> T,
    ) -> io::Result<T> {
        let shared = OwnThreads::new(self.wanted.read);
        let share = self.bytes / (loading + usize::from(chased > 0)).max(1);
        let touched = |bytes: usize, linked: bool| {
            // Memory lies where it is touched first.
            thread::scope(|scope| {
                let touching = scope.spawn(|| {
                    stay_on(self.cpus.touches)?;
                    let mut lines = threads::memory(bytes);
                    if linked {
                        threads::link_at_random(&mut lines);
                    }
                    Ok::<_, io::Error>(lines)
                });
                touching.join().unwrap_or_else(|_| Err(io::ErrorKind::OutOfMemory.into()))
            })
        };
        let ring = (chased > 0).then(|| touched(chased, true)).transpose()?;
        let mut shares = (0..loading).map(|_| touched(share, false)).collect::<io::Result<Vec<_>>>()?;
        let all = loading + usize::from(chased > 0);
        let ready = Barrier::new(all + 1);
        thread::scope(|scope| {
            let (shared, ready) = (&shared, &ready);
            let mut running = Vec::new();
            if let Some(ring) = &ring {
                let cpu = self.cpus.threads[0];
                running.push(scope.spawn(move || {
                    let placed = stay_on(cpu);
                    ready.wait();
                    placed.map(|()| threads::chase(ring, shared))
                }));
            }
            for (lines, &cpu) in shares.iter_mut().zip(&self.cpus.threads[from..]) {
                running.push(scope.spawn(move || {
                    let placed = stay_on(cpu);
                    ready.wait();
                    placed.map(|()| threads::load(lines, shared))
                }));
            }
            ready.wait();
            let measured = measure(shared);
            shared.stop();
            let ended = running
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err(io::Error::other("one of them panicked"))));
            ended.collect::<io::Result<Vec<()>>>()?;
            Ok(measured)
        })
    }

    /// A window, once the rates have settled; and the uncore's view of it.
    pub fn window(&self, shared: &OwnThreads, uncore: &mut Uncore) -> (OwnRates, Option<f64>) {
        thread::sleep(self.wanted.window / SETTLES);
        let measuring = uncore.begin(self.wanted.window);
        let from = shared.done();
        thread::sleep(self.wanted.window);
        let window = from.until(&shared.done());
        (window, uncore.end(measuring))
    }
}
