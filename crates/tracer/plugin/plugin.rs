//! The QEMU plugin: an L1 filter for each thread, and a ring to the tracer for what the filter does not hold.
//!
//! Runs inside `qemu-x86_64` and depends on nothing but the standard library. `qemu` and `os` are the doors to the
//! outside; `observe` hears of every access; `filter` decides; `thread` records; `operands` and `flow` know which
//! access an address comes from; `sharing` keeps the filters of threads that share lines true to each other;
//! `overwrite` holds a line back that a string instruction has begun to fill; `process`, `follow` and `mapping` look
//! after forks, exec() and memory that goes away.

mod decode;
#[allow(dead_code, reason = "the build script's half")]
mod effect;
mod filter;
mod flow;
mod follow;
#[path = "../src/layout.rs"]
#[allow(dead_code, reason = "the reader's half")]
mod layout;
mod mapping;
mod observe;
mod operands;
mod os;
mod overwrite;
mod process;
#[path = "../src/program.rs"]
#[allow(dead_code, reason = "the launcher's half")]
mod program;
mod qemu;
mod sharing;
mod syscalls;
mod table;
mod thread;

use std::ffi::{CStr, c_char, c_int};

/// Runs when QEMU opens the plugin, before it looks at the version.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = qemu::choose_version;

/// QEMU's entry point. Anything but 0 makes QEMU give up.
///
/// # Safety
/// Called by QEMU, once, with `argc` strings in `argv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: qemu::Id,
    _info: *const qemu::Info,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    let memory = (0..argc as usize).find_map(|index| {
        // SAFETY: QEMU passes `argc` strings that stay valid.
        unsafe { CStr::from_ptr(*argv.add(index)) }.to_bytes().strip_prefix(b"memory=")
    });
    let Some(shared) = memory.and_then(process::join) else {
        eprintln!("pericore: the plugin found no tracer to report to");
        return 1;
    };
    sharing::begin();
    observe::begin(id, shared);
    syscalls::begin(id);
    0
}
