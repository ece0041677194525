//! exec(): QEMU would run the new program on the bare processor. This runs it under QEMU again, with the same plugin.
//!
//! Just before QEMU makes the system call, the call is made here, for QEMU with the program as its argument. If it cannot be, QEMU goes
//! on with its own, the program runs unobserved, and a note says so.

use super::layout::{
    NOTE_ARGUMENTS, NOTE_DESCRIPTOR, NOTE_EXEC_FAILED, NOTE_FOLLOWING_OFF, NOTE_FOREIGN, NOTE_PRIVILEGED,
    NOTE_TOO_LATE, NOTE_UNREACHABLE,
};
use super::program::{self, Unfit};
use super::{os, process};
use std::ffi::{CString, OsStr, c_char};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const UNKNOWN: u64 = u64::MAX;
/// Longest string that the kernel takes.
const LONGEST_STRING: usize = 128 << 10;
/// Most strings: the kernel's limit on bytes is reached before.
const MOST_STRINGS: usize = 1 << 20;
const AT_FDCWD: u64 = -100_i32 as u32 as u64;
const NANOSECONDS: u64 = 1_000_000_000;
const READ: i32 = 4;
const EXECUTE: i32 = 1;

/// What to add to the program's addresses to have QEMU's.
static GUEST_BASE: AtomicU64 = AtomicU64::new(UNKNOWN);

/// Told at every translation; the same each time.
pub fn learn_guest_base(base: u64) {
    // A difference that is not of whole pages is no mapping (the vsyscall page has no memory behind it).
    if base.is_multiple_of(4096) && GUEST_BASE.load(Relaxed) == UNKNOWN {
        GUEST_BASE.store(base, Relaxed);
    }
}

/// execve(path, argv, envp) is about to be called.
pub fn exec(path: u64, argv: u64, envp: u64) {
    // Where there is no string, the kernel faults, and the program has its error.
    if let Some(path) = string(path) {
        run(&path, argv, envp);
    }
}

/// execveat(directory, path, argv, envp, flags) is about to be called.
pub fn exec_at(directory: u64, path: u64, argv: u64, envp: u64, flags: u64) {
    let Some(path) = string(path) else { return };
    let from_here = directory & 0xFFFF_FFFF == AT_FDCWD || path.first() == Some(&b'/');
    if from_here && flags == 0 {
        run(&path, argv, envp);
    } else {
        process::note(NOTE_DESCRIPTOR, &path, 0, 0);
    }
}

fn run(path: &[u8], argv: u64, envp: u64) {
    if let Err((what, errno)) = try_run(path, argv, envp) {
        process::note(what, path, errno, 0);
    }
}

/// Returns only if the program was not started: with a reason if QEMU's own attempt will start it all the same.
fn try_run(path: &[u8], argv: u64, envp: u64) -> Result<(), (u32, i32)> {
    let header = process::shared().header();
    let itself = [&b"/proc/self/exe"[..], format!("/proc/{}/exe", std::process::id()).as_bytes()].contains(&path);
    let path = if itself { process::program() } else { path.to_vec() };
    let image = match program::image(OsStr::from_bytes(&path).as_ref()) {
        Ok(image) => image,
        Err(Unfit::Foreign) => return Err((NOTE_FOREIGN, 0)),
        Err(Unfit::Privileged) => return Err((NOTE_PRIVILEGED, 0)),
        // The system call fails by itself.
        Err(_) => return Ok(()),
    };
    let file = c_string(image.program.as_os_str().as_bytes());
    if !os::may(&file, EXECUTE) {
        return Ok(());
    }
    if os::has_capabilities(&file) && program::user() != 0 {
        return Err((NOTE_PRIVILEGED, 0));
    }
    if header.closed.load(Relaxed) != 0 {
        // The tracer is about to go, and its plugin with it.
        return Err((NOTE_TOO_LATE, 0));
    }
    if header.follow == 0 {
        return Err((NOTE_FOLLOWING_OFF, 0));
    }
    let (qemu, plugin, memory) = (c_string(&header.qemu.get()), header.plugin.get(), header.memory.get());
    if !os::may(&qemu, EXECUTE) || !os::may(&c_string(&plugin), READ) || !os::may(&c_string(&memory), READ) {
        return Err((NOTE_UNREACHABLE, 0));
    }
    let (Some(given), Some(environment)) = (strings(argv), strings(envp)) else {
        return Err((NOTE_ARGUMENTS, 0));
    };
    let plugin = [&plugin[..], b",memory=", &memory[..]].concat();
    let arguments = program::arguments(&image, given.into_iter().map(std::ffi::OsString::from_vec).collect(), &path);
    let line = program::command_line(&header.qemu.get(), &plugin, &header.cpu.get(), &image, &arguments);
    let line: Vec<CString> = line.iter().map(|argument| c_string(argument)).collect();
    let environment: Vec<CString> = environment.iter().map(|variable| c_string(variable)).collect();
    // SAFETY: `pointers` ends both lists with a null pointer, and the strings outlive the call.
    let errno = unsafe { os::exec(&qemu, &pointers(&line), &pointers(&environment)) };
    Err((NOTE_EXEC_FAILED, errno))
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}

/// The bytes up to the first 0.
fn c_string(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

/// Nanoseconds of a time in the program's memory, seconds and the rest; none if there is no such time.
pub fn time(address: u64) -> Option<u64> {
    let mut both = [[0; 8]; 2];
    if os::read_own_memory(host(address)?, both.as_flattened_mut()) != 16 {
        return None;
    }
    let [seconds, rest] = both.map(u64::from_le_bytes);
    // No record has room for more than two years.
    let most = (1 << super::layout::ADDRESS_BITS) - 1;
    (seconds >> 63 == 0 && rest < NANOSECONDS)
        .then(|| seconds.saturating_mul(NANOSECONDS).saturating_add(rest).min(most))
}

/// A list of strings in the program's memory.
fn strings(list: u64) -> Option<Vec<Vec<u8>>> {
    if list == 0 {
        return Some(Vec::new());
    }
    let mut found = Vec::new();
    for index in 0..MOST_STRINGS as u64 {
        let mut pointer = [0; 8];
        if os::read_own_memory(host(list + index * 8)?, &mut pointer) != 8 {
            return None;
        }
        match u64::from_le_bytes(pointer) {
            0 => return Some(found),
            address => found.push(string(address)?),
        }
    }
    None
}

/// A string in the program's memory.
fn string(address: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    while text.len() < LONGEST_STRING {
        let from = host(address + text.len() as u64)?;
        // To the end of the page and no further: the next may not be there.
        let mut piece = [0; 4096];
        let wanted = (4096 - from % 4096) as usize;
        let read = os::read_own_memory(from, &mut piece[..wanted]);
        if let Some(end) = piece[..read].iter().position(|&byte| byte == 0) {
            text.extend_from_slice(&piece[..end]);
            return Some(text);
        }
        if read < wanted {
            return None;
        }
        text.extend_from_slice(&piece[..read]);
    }
    None
}

fn host(address: u64) -> Option<u64> {
    let base = GUEST_BASE.load(Relaxed);
    (base != UNKNOWN).then(|| address.wrapping_add(base))
}
