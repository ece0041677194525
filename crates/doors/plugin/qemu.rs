//! QEMU's plugin interface: what is used of it, declared from its documentation (QEMU 7.2 and later).

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};

/// The plugin's identity, from QEMU.
pub type Id = u64;

/// A translation block while it is translated.
pub enum Block {}
/// One of its instructions.
pub enum Instruction {}

pub type BlockTranslated = extern "C" fn(Id, *mut Block);
pub type OnExecution = extern "C" fn(c_uint, *mut c_void);
type Add = unsafe extern "C" fn(*mut Instruction, c_int, *mut c_void, u64);

const NO_REGISTERS: c_int = 0;
const ADD: c_int = 0;

#[link(name = "c")]
unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: Id, callback: BlockTranslated);
    fn qemu_plugin_register_vcpu_tb_exec_cb(block: *mut Block, callback: OnExecution, flags: c_int, data: *mut c_void);
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut Instruction,
        callback: OnExecution,
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut Instruction;
    fn qemu_plugin_insn_vaddr(instruction: *const Instruction) -> u64;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn mmap(
        address: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn malloc(bytes: usize) -> *mut c_void;
    #[cfg(embedded)]
    fn abort() -> !;
}

/// Read by QEMU: the version of the interface that the plugin was made for.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: AtomicI32 = AtomicI32::new(1);

/// Runs when QEMU opens the plugin, before it looks at the version. Version 2 removed the function asked for, and QEMU
/// refuses version 1 since.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = choose_version;

extern "C" fn choose_version() {
    let version = if symbol(c"qemu_plugin_n_vcpus").is_null() { 2 } else { 1 };
    qemu_plugin_version.store(version, Relaxed);
}

fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: a null handle asks for the default search order.
    unsafe { dlsym(core::ptr::null_mut(), name.as_ptr()) }
}

/// The function with which QEMU's code adds by itself, if this QEMU has it.
fn adder() -> Option<Add> {
    let found = symbol(c"qemu_plugin_register_vcpu_insn_exec_inline");
    // SAFETY: the function has had this type as long as there has been one of that name.
    NonNull::new(found).map(|found| unsafe { core::mem::transmute::<*mut c_void, Add>(found.as_ptr()) })
}

/// True if [`Instruction::add`] adds.
pub fn can_add() -> bool {
    adder().is_some()
}

/// Has a function called for each block that is translated.
pub fn on_translation(id: Id, callback: BlockTranslated) {
    // SAFETY: the function is static.
    unsafe { qemu_plugin_register_vcpu_tb_trans_cb(id, callback) }
}

/// Maps the first page of a file that is open, shared and writable.
pub fn map_page(file: c_int) -> Option<NonNull<u8>> {
    const READ_WRITE: c_int = 3;
    const SHARED: c_int = 1;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base = unsafe { mmap(core::ptr::null_mut(), 4096, READ_WRITE, SHARED, file, 0) };
    if base as isize == -1 { None } else { NonNull::new(base.cast()) }
}

/// Keeps a value for as long as QEMU runs; null without memory for it.
pub fn keep<T>(value: T) -> *mut T {
    // SAFETY: memory of malloc() is aligned for everything; it is written before anybody reads it.
    unsafe {
        let place: *mut T = malloc(size_of::<T>()).cast();
        if !place.is_null() {
            place.write(value);
        }
        place
    }
}

/// Ends QEMU.
#[cfg(embedded)]
pub fn give_up() -> ! {
    // SAFETY: takes no arguments and does not return.
    unsafe { abort() }
}

impl Block {
    /// Has a function called each time the block is about to run.
    pub fn on_execution(&mut self, callback: OnExecution, data: *mut c_void) {
        // SAFETY: `self` is the block being translated; `data` is only handed back.
        unsafe { qemu_plugin_register_vcpu_tb_exec_cb(self, callback, NO_REGISTERS, data) }
    }

    /// The instructions, in order.
    pub fn instructions(&mut self) -> impl Iterator<Item = &mut Instruction> {
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

    /// Has a function called each time the instruction is about to run.
    pub fn on_execution(&mut self, callback: OnExecution, data: *mut c_void) {
        // SAFETY: `self` belongs to the block being translated; `data` is only handed back.
        unsafe { qemu_plugin_register_vcpu_insn_exec_cb(self, callback, NO_REGISTERS, data) }
    }

    /// Has QEMU's code add 1 each time the instruction is about to run, if it can.
    pub fn add(&mut self, counter: &'static AtomicU64) {
        if let Some(add) = adder() {
            // SAFETY: `self` belongs to the block being translated; the counter stays.
            unsafe { add(self, ADD, counter.as_ptr().cast(), 1) }
        }
    }
}
