//! Mapped `/dev/mem`: FUSE cannot map device registers, so the program gets pages without access rights, and each load or store
//! that faults becomes one read or write of the served file.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::sys::{self, Context, GREGS, REG_RIP};
use crate::text::Text;
use crate::x86::{self, Move, MoveKind};

/// Mappings that a program may hold at once. PCM needs some dozens.
const SLOTS: usize = 1024;

struct Slot {
    /// First address; 0 if the slot is free.
    start: AtomicUsize,
    length: AtomicUsize,
    physical: AtomicUsize,
}

static MAPPINGS: [Slot; SLOTS] =
    [const { Slot { start: AtomicUsize::new(0), length: AtomicUsize::new(0), physical: AtomicUsize::new(0) } }; SLOTS];
static CHANGING: AtomicBool = AtomicBool::new(false);

/// True if a descriptor is `/dev/mem`.
pub fn is_memory(descriptor: c_int) -> bool {
    let mut name = [0u8; 16];
    let link = Text::new(format_args!("/proc/self/fd/{descriptor}"));
    // SAFETY: the path ends with a zero byte and the buffer is as long as said.
    let length = unsafe { sys::readlink(link.as_ptr(), name.as_mut_ptr().cast(), name.len()) };
    length == 8 && &name[..8] == b"/dev/mem"
}

/// Notes a mapping; false if there are too many.
pub fn note(start: usize, length: usize, physical: usize) -> bool {
    while CHANGING.swap(true, Ordering::Acquire) {
        core::hint::spin_loop();
    }
    let free = MAPPINGS.iter().find(|slot| slot.start.load(Ordering::Relaxed) == 0);
    if let Some(slot) = free {
        slot.length.store(length, Ordering::Relaxed);
        slot.physical.store(physical, Ordering::Relaxed);
        // Last: handlers look without taking turns.
        slot.start.store(start, Ordering::Release);
    }
    CHANGING.store(false, Ordering::Release);
    free.is_some()
}

/// Forgets the mapping that starts at an address.
pub fn forget(start: usize) {
    if let Some(slot) = MAPPINGS.iter().find(|slot| slot.start.load(Ordering::Relaxed) == start) {
        slot.start.store(0, Ordering::Release);
    }
}

/// The physical address behind a mapped one.
fn physical(address: usize) -> Option<usize> {
    MAPPINGS.iter().find_map(|slot| {
        let start = slot.start.load(Ordering::Acquire);
        let within = address.checked_sub(start)?;
        (start != 0 && within < slot.length.load(Ordering::Relaxed))
            .then(|| slot.physical.load(Ordering::Relaxed) + within)
    })
}

/// Carries out the load or store that faulted; false if the fault is something else.
pub fn carry_out(context: &mut Context, address: usize) -> bool {
    let Some(physical) = physical(address) else { return false };
    // SAFETY: the processor has just executed from there; at most 15 bytes belong to the instruction, and code does not
    // end within 15 bytes of a page without another page of the same segment or its padding.
    let code = unsafe { core::ptr::read_unaligned(context.registers[REG_RIP] as *const [u8; 15]) };
    let Some(found) = x86::decode_move(&code) else {
        Text::new(format_args!(
            "pericore: no emulation of the instruction {:02x?} that touches physical address {physical:#x}; \
             only MOV, MOVZX and MOVSX can\n",
            &code[..8]
        ))
        .show();
        return false;
    };
    if !access(context, &found, physical) {
        Text::new(format_args!("pericore: nothing answers at physical address {physical:#x}\n")).show();
        return false;
    }
    context.registers[REG_RIP] += found.length as u64;
    true
}

fn access(context: &mut Context, found: &Move, physical: usize) -> bool {
    let mut value = 0u64;
    let buffer = (&raw mut value).cast::<c_void>();
    // SAFETY: the path is constant and the buffer has 8 bytes, at least the move's width.
    unsafe {
        let file = sys::open(c"/dev/mem".as_ptr(), sys::O_RDWR | sys::O_CLOEXEC);
        if file < 0 {
            return false;
        }
        let done = match found.kind {
            MoveKind::Load { .. } => sys::pread(file, buffer, found.width, physical as i64),
            MoveKind::StoreRegister { register, high } => {
                let whole = context.registers[GREGS[usize::from(register)]];
                value = if high { whole >> 8 } else { whole };
                sys::pwrite(file, buffer, found.width, physical as i64)
            }
            MoveKind::StoreConstant(constant) => {
                value = constant;
                sys::pwrite(file, buffer, found.width, physical as i64)
            }
        };
        sys::close(file);
        if done != found.width as isize {
            return false;
        }
    }
    if let MoveKind::Load { register, .. } = found.kind {
        let slot = &mut context.registers[GREGS[usize::from(register)]];
        *slot = found.kind.loaded(*slot, value, found.width);
    }
    true
}
