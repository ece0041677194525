//! Files that exist in memory only: the plugin, and what is shared with it.

use crate::Error;
use crate::drain::text;
use crate::layout::{self, Header, Shape, Shared};
use std::ffi::CStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::MetadataExt;
use std::ptr::NonNull;

/// The plugin, as `build.rs` has built it.
static PLUGIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libpericore_plugin.so"));

fn failed(what: &'static str) -> Error {
    Error::Memory { what, source: std::io::Error::last_os_error() }
}

fn memory_file(name: &CStr, executable: bool) -> Result<File, Error> {
    // Kernels before 6.3 do not know these two; there, memory files are executable.
    let kind = if executable { libc::MFD_EXEC } else { libc::MFD_NOEXEC_SEAL };
    for flags in [libc::MFD_CLOEXEC | kind, libc::MFD_CLOEXEC] {
        // SAFETY: a valid string; the result is checked.
        let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
        if fd >= 0 {
            // SAFETY: a new descriptor that nobody else owns.
            return Ok(unsafe { File::from_raw_fd(fd) });
        }
    }
    Err(failed("memfd_create"))
}

/// The path under which other processes of the same user open a file of this process.
fn path(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

/// The plugin's file, open as long as programs may be exec()ed.
pub struct PluginFile(File);

impl PluginFile {
    pub fn new() -> Result<Self, Error> {
        let mut file = memory_file(c"pericore-plugin", true)?;
        file.write_all(PLUGIN).map_err(|source| Error::Memory { what: "writing the plugin", source })?;
        Ok(Self(file))
    }

    pub fn path(&self) -> String {
        path(&self.0)
    }
}

/// The memory shared with the plugin; unmapped when dropped.
pub struct SharedMemory {
    file: File,
    base: NonNull<u8>,
}

// SAFETY: the mapping belongs to no thread in particular.
unsafe impl Send for SharedMemory {}
// SAFETY: what is in it is shared with other processes anyway: atomics throughout.
unsafe impl Sync for SharedMemory {}

/// What the header says from the start.
pub struct Configuration<'a> {
    pub data: Shape,
    pub fetch: Shape,
    pub follow: bool,
    pub qemu: &'a [u8],
    pub plugin: &'a [u8],
    pub cpu: &'a [u8],
}

impl SharedMemory {
    pub fn new(configuration: &Configuration<'_>) -> Result<Self, Error> {
        let file = memory_file(c"pericore-trace", false)?;
        file.set_len(layout::BYTES as u64).map_err(|source| Error::Memory { what: "its size", source })?;
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_NORESERVE);
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), layout::BYTES, protection, flags, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(failed("mmap"));
        }
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(|| failed("mmap"))?;
        let memory = Self { file, base };
        // SAFETY: the mapping begins with a header; nobody else has it yet.
        let header: &mut Header = unsafe { base.cast().as_mut() };
        header.magic = layout::MAGIC;
        header.tracer = std::process::id() as i32;
        header.follow = u32::from(configuration.follow);
        (header.data, header.fetch) = (configuration.data, configuration.fetch);
        header.qemu.set(configuration.qemu);
        header.plugin.set(configuration.plugin);
        header.memory.set(path(&memory.file).as_bytes());
        header.cpu.set(configuration.cpu);
        Ok(memory)
    }

    /// What QEMU is told about the plugin: its file, and where it finds this memory.
    pub fn plugin_argument(&self) -> String {
        let header = self.shared().header();
        format!("{},memory={}", text(&header.plugin.get()), text(&header.memory.get()))
    }

    /// The file's number; 0 if the system does not tell.
    pub fn inode(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.ino())
    }

    /// The mapping. Its contents must not be used once `self` is dropped.
    pub const fn shared(&self) -> Shared {
        // SAFETY: mapped by `new`, of the right size, and unmapped only by `drop`.
        unsafe { Shared::new(self.base) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length; users of `shared` are gone, by its documentation.
        unsafe { libc::munmap(self.base.as_ptr().cast(), layout::BYTES) };
    }
}

/// Sleeps while a futex holds a value, for some milliseconds at most.
pub fn wait(futex: &std::sync::atomic::AtomicU32, value: u32, milliseconds: i64) {
    let timeout = libc::timespec { tv_sec: 0, tv_nsec: milliseconds * 1_000_000 };
    // SAFETY: the word and the time are valid.
    unsafe { libc::syscall(libc::SYS_futex, futex.as_ptr(), libc::FUTEX_WAIT, value, &raw const timeout, 0usize, 0) };
}

/// Wakes all who sleep on a futex.
pub fn wake(futex: *const u32) {
    // SAFETY: the kernel uses the address as a key only.
    unsafe { libc::syscall(libc::SYS_futex, futex, libc::FUTEX_WAKE, i32::MAX, 0usize, 0usize, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that is started inherits none of them.
    #[test]
    fn memory_files_are_closed_when_a_program_is_executed() {
        for executable in [false, true] {
            let file = memory_file(c"test", executable).expect("a file");
            // SAFETY: only reads flags of an open descriptor.
            let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFD) };
            assert_eq!(flags & libc::FD_CLOEXEC, libc::FD_CLOEXEC, "executable: {executable}");
        }
    }
}
