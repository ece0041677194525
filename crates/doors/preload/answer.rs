//! Answers CPUID and the time-stamp counter as the emulated processor would.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::patch::{CPUID, PATCHED, RDTSC, RDTSCP};
use crate::sys::{self, Context, GREGS, REG_RIP, TimeSpec};
use crate::text::Text;

/// Where the door says when the machine's time started and how fast its time-stamp counter is: two numbers of 8 bytes.
const CLOCK: &core::ffi::CStr = c"/dev/cpu/.pericore/clock";

static ORIGIN: AtomicU64 = AtomicU64::new(0);
static HERTZ: AtomicU64 = AtomicU64::new(0);

/// Makes CPUID fault where the processor can. True if so.
pub fn fault_on_cpuid() -> bool {
    // SAFETY: the call has no memory arguments.
    unsafe { sys::syscall(sys::SYS_ARCH_PRCTL, sys::ARCH_SET_CPUID, 0usize) == 0 }
}

/// Learns the machine's clock.
pub fn learn_clock() {
    let mut clock = [0u64; 2];
    // SAFETY: the path ends with a zero byte and the buffer has 16 bytes.
    let read = unsafe {
        let file = sys::open(CLOCK.as_ptr(), sys::O_RDONLY | sys::O_CLOEXEC);
        let read = sys::pread(file, clock.as_mut_ptr().cast(), 16, 0);
        sys::close(file);
        read
    };
    if read == 16 {
        ORIGIN.store(clock[0], Ordering::Relaxed);
        HERTZ.store(clock[1], Ordering::Relaxed);
    }
}

/// Answers the instruction that faulted; false if it is none of ours.
pub fn answer(context: &mut Context) -> bool {
    let at = context.registers[REG_RIP] as *const u8;
    // SAFETY: the processor has just fetched an instruction there. Ours have two bytes at least, and the third is read only
    // after the second has shown that there is one.
    let (first, second) = unsafe { (*at, *at.add(1)) };
    let has_third = first == PATCHED && second == RDTSCP[0];
    // SAFETY: as above.
    let third = if has_third { unsafe { *at.add(2) } } else { 0 };
    let [rax, rcx, rdx, rbx] = [0, 1, 2, 3].map(|number: usize| GREGS[number]);
    let length = if (first == PATCHED || first == 0x0F) && second == CPUID[0] {
        let (leaf, subleaf) = (context.registers[rax] as u32, context.registers[rcx] as u32);
        let Some(values) = served(leaf, subleaf) else { return false };
        for (register, value) in [rax, rbx, rcx, rdx].into_iter().zip(values) {
            context.registers[register] = u64::from(value);
        }
        2
    } else if first == PATCHED && (second == RDTSC[0] || (has_third && third == RDTSCP[1])) {
        let stamp = time_stamp();
        context.registers[rax] = stamp & 0xffff_ffff;
        context.registers[rdx] = stamp >> 32;
        if has_third {
            // Linux keeps the CPU's number in TSC_AUX.
            // SAFETY: no arguments.
            context.registers[rcx] = unsafe { sys::sched_getcpu() } as u64;
        }
        if has_third { 3 } else { 2 }
    } else {
        return false;
    };
    context.registers[REG_RIP] += length;
    true
}

/// The machine's time-stamp counter.
fn time_stamp() -> u64 {
    let mut now = TimeSpec { seconds: 0, nanoseconds: 0 };
    // SAFETY: `now` is valid for writes.
    unsafe { sys::clock_gettime(sys::CLOCK_MONOTONIC, &raw mut now) };
    let now = now.seconds as u64 * 1_000_000_000 + now.nanoseconds as u64;
    let since = now.saturating_sub(ORIGIN.load(Ordering::Relaxed));
    (u128::from(since) * u128::from(HERTZ.load(Ordering::Relaxed)) / 1_000_000_000) as u64
}

/// EAX, EBX, ECX, EDX of a leaf on the present CPU.
fn served(leaf: u32, subleaf: u32) -> Option<[u32; 4]> {
    let mut values = [0u32; 4];
    // SAFETY: the path ends with a zero byte and the buffer has 16 bytes; the handler restores errno.
    unsafe {
        let path = Text::new(format_args!("/dev/cpu/{}/cpuid", sys::sched_getcpu()));
        let file = sys::open(path.as_ptr(), sys::O_RDONLY | sys::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        // Offsets have 63 bits. No leaf has as many subleaves; where there are none, ECX holds anything.
        let offset = i64::from(leaf) | i64::from(subleaf & 0x7FFF_FFFF) << 32;
        let read = sys::pread(file, values.as_mut_ptr().cast(), 16, offset);
        sys::close(file);
        (read == 16).then_some(values)
    }
}
