//! The system calls that change what is observed. The numbers are those of Linux on x86-64, the guest's.

use super::layout::KIND_WRITE_BACK;
use super::layout::Slot;
use super::{follow, mapping, os, process, qemu, sharing, table};
use std::sync::atomic::Ordering::Relaxed;

const MMAP: i64 = 9;
const MUNMAP: i64 = 11;
const BRK: i64 = 12;
const MREMAP: i64 = 25;
const MADVISE: i64 = 28;
const NANOSLEEP: i64 = 35;
const CLONE: i64 = 56;
const FORK: i64 = 57;
const VFORK: i64 = 58;
const EXECVE: i64 = 59;
const EXIT: i64 = 60;
const CLOCK_NANOSLEEP: i64 = 230;
const EXIT_GROUP: i64 = 231;
const EXECVEAT: i64 = 322;
const CLONE3: i64 = 435;

const TIMER_ABSTIME: u64 = 1;

/// A thread is about to sleep for so many nanoseconds; none if what it asks for is no time.
fn sleeps(slot: &Slot, nanoseconds: Option<u64>) {
    if let Some(nanoseconds) = nanoseconds {
        slot.report_sleep(slot.instruction(slot.counters.block.load(Relaxed)), nanoseconds);
    }
}

pub fn begin(id: qemu::Id) {
    qemu::on_system_calls(id, before, after);
}

#[rustfmt::skip]
extern "C" fn before(_id: qemu::Id, vcpu: u32, number: i64, a1: u64, a2: u64, a3: u64, a4: u64, a5: u64, _a6: u64, _a7: u64, _a8: u64) {
    let slot = table::slot(vcpu);
    match number {
        MMAP | MUNMAP | MREMAP | MADVISE => mapping::before([a1, a2, a3, a4]),
        CLONE | FORK | VFORK | CLONE3 if process::before_fork(vcpu) => {
            let write_back = |line| slot.record(KIND_WRITE_BACK, line, 6, slot.instruction(0));
            sharing::enter_all(vcpu, slot, write_back);
        }
        NANOSLEEP => sleeps(slot, follow::time(a1)),
        // Until a time of the clock, or for a time.
        CLOCK_NANOSLEEP if a2 & TIMER_ABSTIME != 0 => {
            sleeps(slot, follow::time(a3).map(|until| until.saturating_sub(os::clock(a1))));
        }
        CLOCK_NANOSLEEP => sleeps(slot, follow::time(a3)),
        EXECVE => follow::exec(a1, a2, a3),
        EXECVEAT => follow::exec_at(a1, a2, a3, a4, a5),
        EXIT | EXIT_GROUP => {
            table::set(vcpu, None);
            slot.tell_progress(slot.instruction(slot.counters.block.load(Relaxed)));
            slot.end();
        }
        _ => {}
    }
    // The thread may be about to sleep: let the reader have what there is.
    slot.ring_the_bell();
}

extern "C" fn after(_id: qemu::Id, vcpu: u32, number: i64, result: i64) {
    match number {
        MMAP => mapping::after_mmap(vcpu, result),
        MUNMAP => mapping::after_munmap(vcpu, result),
        MREMAP => mapping::after_mremap(vcpu, result),
        MADVISE => mapping::after_madvise(vcpu, result),
        BRK => mapping::after_brk(vcpu, result),
        _ => {}
    }
}
