//! Reading the rings.

use crate::access::{Access, Counts, Kind, Thread};
use crate::layout::{self, Record, Shared, Slot};
use crate::{Error, memory};
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

/// Records taken from one thread before the next has its turn.
const TURN: u64 = 1024;

/// Reads all rings in turn, and knows whose they are.
pub struct Drain {
    shared: Shared,
    /// Which thread a slot belongs to.
    owners: Vec<Option<u32>>,
    threads: Vec<Thread>,
    /// The first of two records, where the second has not come yet.
    halves: Vec<Option<Access>>,
    /// Once the first program has ended: how far each ring is read, whatever goes on in it.
    ends: Option<Vec<u64>>,
}

impl Drain {
    pub const fn new(shared: Shared) -> Self {
        Self { shared, owners: Vec::new(), threads: Vec::new(), halves: Vec::new(), ends: None }
    }

    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// From now on, reads only what is in the rings at this moment.
    pub fn freeze(&mut self) {
        if self.ends.is_none() {
            self.ends = Some(self.shared.slots().map(|slot| slot.head.0.load(Acquire)).collect());
        }
    }

    /// Adds what all rings have, a turn from each.
    pub fn sweep(&mut self, batch: &mut Vec<Access>) -> Result<(), Error> {
        for (index, slot) in self.shared.slots().enumerate() {
            // Looked at before the ring: nothing comes after the end.
            let state = slot.state.load(Acquire);
            if state != layout::LIVE && state != layout::ENDED {
                continue;
            }
            let head = match &self.ends {
                None => slot.head.0.load(Acquire),
                Some(ends) => ends.get(index).copied().unwrap_or(0),
            };
            let thread = self.owner(index, slot);
            let empty = self.read(slot, thread, head, batch)?;
            if state == layout::ENDED && empty {
                self.owners[index] = None;
                slot.state.store(layout::FREE, SeqCst);
            }
        }
        Ok(())
    }

    /// Declares threads ended whose process has died without saying so.
    pub fn bury_the_dead(&self) {
        for slot in self.shared.slots().filter(|slot| slot.state.load(Acquire) == layout::LIVE) {
            if !is_running(slot.pid.load(Relaxed)) {
                slot.state.store(layout::ENDED, SeqCst);
            }
        }
    }

    /// The thread that a slot belongs to, entered if it is new.
    fn owner(&mut self, index: usize, slot: &Slot) -> u32 {
        if self.owners.len() <= index {
            self.owners.resize(index + 1, None);
        }
        *self.owners[index].get_or_insert_with(|| {
            self.threads.push(Thread {
                process: slot.process.load(Relaxed),
                forked_from: slot.forked_from.load(Relaxed).checked_sub(1),
                pid: slot.pid.load(Relaxed),
                program: text(&slot.program.get()),
                counts: Counts::default(),
            });
            self.halves.push(None);
            self.threads.len() as u32 - 1
        })
    }

    /// Reads a turn from a ring, as far as `head`. True if nothing is left then.
    fn read(&mut self, slot: &Slot, thread: u32, head: u64, batch: &mut Vec<Access>) -> Result<bool, Error> {
        let tail = slot.tail.0.load(Relaxed);
        let end = tail + head.saturating_sub(tail).min(TURN);
        let before = batch.len();
        for position in tail..end {
            // SAFETY: the writer has handed the cells up to `head` over, and has them back only with `tail`.
            let record = unsafe { *slot.ring.0[(position % layout::RING) as usize].get() };
            if let Some(access) = decode(record, thread, &mut self.halves[thread as usize])? {
                batch.push(access);
            }
        }
        if end != tail {
            slot.tail.0.store(end, SeqCst);
            if slot.writer_waits.0.load(SeqCst) != 0 {
                let half = slot.tail.0.as_ptr().cast::<u32>();
                memory::wake(if cfg!(target_endian = "little") { half } else { half.wrapping_add(1) });
            }
        }
        let (from, to) = (&slot.counters, &mut self.threads[thread as usize].counts);
        to.instructions = from.instructions.load(Relaxed) + from.block.load(Relaxed);
        (to.loads, to.stores, to.fetches) =
            (from.loads.load(Relaxed), from.stores.load(Relaxed), from.fetches.load(Relaxed));
        to.passed += (batch.len() - before) as u64;
        Ok(end >= head)
    }
}

fn decode([word, order]: Record, thread: u32, half: &mut Option<Access>) -> Result<Option<Access>, Error> {
    let damaged = || Error::DamagedRecord { thread, word };
    let (code, address, log2_size) = layout::unpack(word);
    if code == layout::KIND_UNMAP_BYTES {
        let start = half.take().ok_or_else(damaged)?;
        return Ok(Some(Access { size: address, ..start }));
    }
    let kind = Kind::from_code(code).ok_or_else(damaged)?;
    let (instructions, after) = layout::unpack_order(order);
    let access = Access { address, instructions, size: 1 << log2_size, thread, kind, after };
    if kind == Kind::Unmap {
        *half = Some(access);
        return Ok(None);
    }
    Ok(Some(access))
}

/// True if a process is there and has not ended; one that nobody has waited for yet has. Its first thread may have ended long before the others.
/// What cannot be found out counts as running: a process that was taken for dead would be read no more.
fn is_running(pid: u32) -> bool {
    let runs = |thread: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(thread.path().join("stat"))?;
        // The state follows the name, which is in parentheses and may contain any.
        Ok(stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X'])))
    };
    let unless_gone = |found: std::io::Result<bool>| found.unwrap_or_else(|error| !is_gone(&error));
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
    unless_gone(threads.map(|mut threads| threads.any(|thread| unless_gone(thread.and_then(runs)))))
}

/// True if there is no such process or thread, or none any more.
fn is_gone(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// Bytes of a path as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
