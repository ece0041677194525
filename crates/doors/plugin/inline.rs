//! Counting in the code that QEMU makes, without a call: QEMU before 9.1 has it.

use core::ffi::{c_int, c_void};
use core::ptr::NonNull;
use core::sync::atomic::AtomicU64;

use super::os;
use super::qemu::Instruction;

type Add = unsafe extern "C" fn(*mut Instruction, c_int, *mut c_void, u64);

const ADD: c_int = 0;

/// The function with which QEMU's code adds by itself, if this QEMU has it.
fn adder() -> Option<Add> {
    let found = os::symbol(c"qemu_plugin_register_vcpu_insn_exec_inline");
    // SAFETY: the function has had this type as long as there has been one of that name.
    NonNull::new(found).map(|found| unsafe { core::mem::transmute::<*mut c_void, Add>(found.as_ptr()) })
}

/// True if [`add`] adds.
pub fn can_add() -> bool {
    adder().is_some()
}

/// Has QEMU's code add 1 each time the instruction is about to run, if it can.
pub fn add(instruction: &mut Instruction, counter: &'static AtomicU64) {
    if let Some(add) = adder() {
        // SAFETY: the instruction belongs to the block being translated; the counter stays.
        unsafe { add(instruction, ADD, counter.as_ptr().cast(), 1) }
    }
}
