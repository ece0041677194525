//! Accesses in a block: each is a byte that says what follows, and the differences to the thread's access before it.
//!
//! Every block starts afresh, so that a block can be read without those before it. Behind a load or a store, one more
//! byte says what its address waits for.

use super::bytes::{Contents, put_difference, put_number};
use crate::access::{Access, Kind};

const KIND: u8 = 0b0000_0111;
/// Log2 of the size, or [`SIZE_FOLLOWS`].
const SIZE_SHIFT: u32 = 3;
const SIZE_FOLLOWS: u8 = 7;
const THREAD_FOLLOWS: u8 = 0b0100_0000;
/// The instruction count is that of the access before.
const SAME_INSTRUCTION: u8 = 0b1000_0000;

/// The last access of a thread: addresses by kind, as write-backs, fetches and data each go their own way.
#[derive(Clone, Copy, Default)]
struct Last {
    addresses: [u64; 4],
    instructions: u64,
}

const fn way_of(kind: Kind) -> usize {
    match kind {
        Kind::Load => 0,
        Kind::Store | Kind::Upgrade | Kind::NonTemporal => 1,
        Kind::WriteBack => 2,
        Kind::Fetch | Kind::Unmap | Kind::Progress => 3,
    }
}

/// True for what has an address that may be waited for.
const fn can_wait(kind: Kind) -> bool {
    matches!(kind, Kind::Load | Kind::Store)
}

/// What both sides remember within a block.
#[derive(Default)]
pub struct Memory {
    threads: Vec<Last>,
    thread: u32,
}

impl Memory {
    /// Forgets all, for a new block.
    pub fn clear(&mut self) {
        self.threads.clear();
        self.thread = 0;
    }

    fn last(&mut self, thread: u32) -> &mut Last {
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize(index + 1, Last::default());
        }
        &mut self.threads[index]
    }

    /// Appends an access.
    pub fn pack(&mut self, bytes: &mut Vec<u8>, access: &Access) {
        let small = access.size.is_power_of_two() && access.size < 1 << SIZE_FOLLOWS;
        let size = if small { access.size.trailing_zeros() as u8 } else { SIZE_FOLLOWS };
        let mut first = access.kind.code() as u8 | size << SIZE_SHIFT;
        if access.thread != self.thread {
            first |= THREAD_FOLLOWS;
        }
        let last = *self.last(access.thread);
        if access.instructions == last.instructions {
            first |= SAME_INSTRUCTION;
        }
        bytes.push(first);
        if access.thread != self.thread {
            put_number(bytes, u64::from(access.thread));
            self.thread = access.thread;
        }
        if !small {
            put_number(bytes, access.size);
        }
        let way = way_of(access.kind);
        put_difference(bytes, last.addresses[way], access.address);
        if access.instructions != last.instructions {
            put_difference(bytes, last.instructions, access.instructions);
        }
        if can_wait(access.kind) {
            bytes.push(access.after);
        }
        self.remember(access);
    }

    /// Takes an access off the front; `None` if there is none that makes sense. Threads are below `threads`.
    pub fn unpack(&mut self, contents: &mut Contents<'_>, threads: u32) -> Option<Access> {
        let first = contents.byte()?;
        let kind = Kind::from_code(u64::from(first & KIND))?;
        let thread = if first & THREAD_FOLLOWS != 0 { contents.number32()? } else { self.thread };
        if thread >= threads {
            return None;
        }
        let size = match first >> SIZE_SHIFT & 7 {
            SIZE_FOLLOWS => contents.number()?,
            log2 => 1 << log2,
        };
        let last = *self.last(thread);
        let address = contents.difference(last.addresses[way_of(kind)])?;
        let instructions =
            if first & SAME_INSTRUCTION != 0 { last.instructions } else { contents.difference(last.instructions)? };
        let after = if can_wait(kind) { contents.byte()? } else { 0 };
        let access = Access { address, instructions, size, thread, kind, after };
        self.thread = thread;
        self.remember(&access);
        Some(access)
    }

    fn remember(&mut self, access: &Access) {
        let last = self.last(access.thread);
        last.addresses[way_of(access.kind)] = access.address;
        last.instructions = access.instructions;
    }
}
