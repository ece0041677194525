//! QEMU's plugin interface: what is used of it, declared from its documentation.
//!
//! The functions used here have had the same signatures since version 1 of the interface (QEMU 4.2 to 8.2) and have
//! them in version 2 and later (QEMU 9.0 on). A plugin states one version: [`choose_version`] asks QEMU which it is.
//!
//! Two plugins have this file: the tracer's, and that of the guest's cores, which is compiled without the standard
//! library.

use super::os;
use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// The plugin's identity, from QEMU.
pub type Id = u64;

/// What QEMU says about itself. Not used.
pub enum Info {}
/// A translation block while it is translated.
pub enum Block {}
/// One of its instructions.
pub enum Instruction {}

pub type BlockTranslated = extern "C" fn(Id, *mut Block);
pub type Executed = extern "C" fn(c_uint, *mut c_void);
pub type Accessed = extern "C" fn(c_uint, u32, u64, *mut c_void);
pub type SystemCall = extern "C" fn(Id, c_uint, i64, u64, u64, u64, u64, u64, u64, u64, u64);
pub type SystemCallReturned = extern "C" fn(Id, c_uint, i64, i64);

const NO_REGISTERS: c_int = 0;
const READS_AND_WRITES: c_int = 3;

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: Id, callback: BlockTranslated);
    fn qemu_plugin_register_vcpu_tb_exec_cb(block: *mut Block, callback: Executed, flags: c_int, data: *mut c_void);
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut Instruction,
        callback: Executed,
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_register_vcpu_mem_cb(
        instruction: *mut Instruction,
        callback: Accessed,
        flags: c_int,
        kinds: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_register_vcpu_syscall_cb(id: Id, callback: SystemCall);
    fn qemu_plugin_register_vcpu_syscall_ret_cb(id: Id, callback: SystemCallReturned);
    fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut Instruction;
    fn qemu_plugin_insn_vaddr(instruction: *const Instruction) -> u64;
    fn qemu_plugin_insn_haddr(instruction: *const Instruction) -> *const u8;
    fn qemu_plugin_insn_size(instruction: *const Instruction) -> usize;
    fn qemu_plugin_mem_size_shift(info: u32) -> c_uint;
    fn qemu_plugin_mem_is_store(info: u32) -> bool;
}

/// Read by QEMU: the version of the interface that the plugin was made for.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: AtomicI32 = AtomicI32::new(1);

/// Sets the version. Version 2 removed the function asked for, and QEMU refuses version 1 since.
pub extern "C" fn choose_version() {
    let version = if os::symbol(c"qemu_plugin_n_vcpus").is_null() { 2 } else { 1 };
    qemu_plugin_version.store(version, Relaxed);
}

/// Has a function called for each block that is translated.
pub fn on_translation(id: Id, callback: BlockTranslated) {
    // SAFETY: the function is static.
    unsafe { qemu_plugin_register_vcpu_tb_trans_cb(id, callback) }
}

/// Has functions called before and after each system call.
pub fn on_system_calls(id: Id, before: SystemCall, after: SystemCallReturned) {
    // SAFETY: the functions are static.
    unsafe {
        qemu_plugin_register_vcpu_syscall_cb(id, before);
        qemu_plugin_register_vcpu_syscall_ret_cb(id, after);
    }
}

/// True if an access's description says that it stores.
pub fn is_store(info: u32) -> bool {
    // SAFETY: looks at bits of the number.
    unsafe { qemu_plugin_mem_is_store(info) }
}

/// Log2 of an access's bytes.
pub fn log2_size(info: u32) -> u64 {
    // SAFETY: looks at bits of the number.
    u64::from(unsafe { qemu_plugin_mem_size_shift(info) })
}

impl Block {
    /// Has a function called each time the block is about to run.
    pub fn on_execution(&mut self, callback: Executed, data: u64) {
        // SAFETY: `self` is the block being translated; `data` is only handed back.
        unsafe { qemu_plugin_register_vcpu_tb_exec_cb(self, callback, NO_REGISTERS, data as *mut c_void) }
    }

    /// The instructions, in order.
    pub fn instructions(&mut self) -> impl ExactSizeIterator<Item = &mut Instruction> {
        // SAFETY: `self` is the block being translated.
        let count = unsafe { qemu_plugin_tb_n_insns(self) };
        let block: *const Self = self;
        // SAFETY: the index is below the count; each instruction is handed out once.
        (0..count).map(move |index| unsafe { &mut *qemu_plugin_tb_get_insn(block, index) })
    }
}

impl Instruction {
    /// Its address.
    pub fn address(&self) -> u64 {
        // SAFETY: `self` comes from QEMU and is in use.
        unsafe { qemu_plugin_insn_vaddr(self) }
    }

    /// Its bytes' address in QEMU's own memory; 0 if QEMU does not tell.
    pub fn host_address(&self) -> u64 {
        // SAFETY: `self` comes from QEMU and is in use.
        unsafe { qemu_plugin_insn_haddr(self) as u64 }
    }

    /// Its bytes' number.
    pub fn size(&self) -> usize {
        // SAFETY: `self` comes from QEMU and is in use.
        unsafe { qemu_plugin_insn_size(self) }
    }

    /// Has a function called each time the instruction is about to run.
    pub fn on_execution(&mut self, callback: Executed, data: u64) {
        // SAFETY: `self` belongs to the block being translated; `data` is only handed back.
        unsafe { qemu_plugin_register_vcpu_insn_exec_cb(self, callback, NO_REGISTERS, data as *mut c_void) }
    }

    /// Has a function called after each of its loads and stores.
    pub fn on_access(&mut self, callback: Accessed, data: u64) {
        // SAFETY: `self` belongs to the block being translated; `data` is only handed back.
        unsafe { qemu_plugin_register_vcpu_mem_cb(self, callback, NO_REGISTERS, READS_AND_WRITES, data as *mut c_void) }
    }
}
