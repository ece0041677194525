//! Which slot a QEMU vCPU number stands for, and what its registers wait for. In user mode, a vCPU is a thread of the
//! program.

use super::flow::ValueFlow;
use super::layout::Slot;
use super::thread;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

/// QEMU numbers a new thread one above the highest that is alive.
const VCPUS: usize = 1 << 16;

static TABLE: [AtomicPtr<Slot>; VCPUS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; VCPUS];
static FLOWS: [AtomicPtr<ValueFlow>; VCPUS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; VCPUS];
/// One more than the highest number seen.
static USED: AtomicU32 = AtomicU32::new(0);

/// The thread's slot.
#[inline(always)]
pub fn slot(vcpu: u32) -> &'static Slot {
    match existing(vcpu) {
        Some(slot) => slot,
        None => first_seen(vcpu),
    }
}

#[cold]
#[inline(never)]
fn first_seen(vcpu: u32) -> &'static Slot {
    let slot = if (vcpu as usize) < VCPUS { thread::take_slot() } else { thread::no_slot() };
    set(vcpu, Some(slot));
    slot
}

/// Enters or removes a thread.
pub fn set(vcpu: u32, slot: Option<&'static Slot>) {
    if let Some(entry) = TABLE.get(vcpu as usize) {
        let pointer = slot.map_or(std::ptr::null_mut(), |slot| std::ptr::from_ref(slot).cast_mut());
        entry.store(pointer, Relaxed);
        USED.fetch_max(vcpu + 1, Relaxed);
    }
    if slot.is_some() {
        begin_flow(vcpu);
    }
}

/// A thread's registers wait for nothing at first.
fn begin_flow(vcpu: u32) {
    let Some(entry) = FLOWS.get(vcpu as usize) else { return };
    let known = entry.load(Relaxed);
    if known.is_null() {
        entry.store(Box::leak(Box::new(ValueFlow::new())), Relaxed);
    } else {
        // SAFETY: it was leaked above, and the thread that had the number before has ended.
        unsafe { *known = ValueFlow::new() };
    }
}

/// What the registers of a thread that has a slot wait for.
///
/// # Safety
/// Only the thread itself may call it, and has one at a time.
#[inline(always)]
pub unsafe fn flow<'a>(vcpu: u32) -> Option<&'a mut ValueFlow> {
    // SAFETY: null, or leaked by `begin_flow`; by this function's contract there is no other reference.
    FLOWS.get(vcpu as usize).and_then(|entry| unsafe { entry.load(Relaxed).as_mut() })
}

/// The thread's slot, if it has one.
#[inline(always)]
pub fn existing(vcpu: u32) -> Option<&'static Slot> {
    // SAFETY: entries are null or point to a slot, which stays mapped for good.
    TABLE.get(vcpu as usize).and_then(|entry| unsafe { entry.load(Relaxed).as_ref() })
}

/// All threads that have a slot.
pub fn all() -> impl Iterator<Item = (u32, &'static Slot)> {
    (0..USED.load(Relaxed)).filter_map(|vcpu| Some((vcpu, existing(vcpu)?)))
}

/// Removes all threads.
pub fn clear() {
    for entry in &TABLE[..USED.load(Relaxed) as usize] {
        entry.store(std::ptr::null_mut(), Relaxed);
    }
}
