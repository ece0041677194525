//! Memory-mapped registers through /dev/mem, one page at a time.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::ptr::NonNull;

use pericore_registers::{AccessError, Address, Outcome, Width};

use super::refusal::{REMEDY_MEM, REMEDY_NO_MEM, meaning};
use super::{Root, revoked};
use crate::session::REVOKED;

/// Bytes of a page; registers never cross one.
const PAGE: u64 = 4096;

/// The mapped pages.
#[derive(Debug, Default)]
pub(super) struct Memory {
    file: Option<Open>,
    pages: HashMap<u64, Page>,
    /// Those that the kernel has taken away.
    lost: HashSet<u64>,
}

#[derive(Debug)]
struct Open {
    file: File,
    writable: bool,
}

impl Memory {
    pub(super) fn read(&mut self, root: &Root, physical: u64, width: Width) -> Outcome<u64> {
        let offset = check(physical, width)?;
        let page = self.page(root, physical, false)?;
        let value = revoked::access(page.address(), || page.read(offset, width));
        value.ok_or_else(|| self.lost(physical))
    }

    pub(super) fn write(&mut self, root: &Root, physical: u64, width: Width, value: u64) -> Outcome<()> {
        let offset = check(physical, width)?;
        let page = self.page(root, physical, true)?;
        let written = revoked::access(page.address(), || page.write(offset, width, value));
        written.ok_or_else(|| self.lost(physical))
    }

    /// A page whose mapping the kernel has taken away. The next access asks for it again.
    fn lost(&mut self, physical: u64) -> AccessError {
        self.pages.remove(&(physical / PAGE));
        self.lost.insert(physical / PAGE);
        AccessError::Permission { address: Address::Mmio { physical }, remedy: REVOKED }
    }

    pub(super) fn hold_open(&mut self, root: &Root, physical: u64, write: bool) {
        let _ = self.page(root, physical, write);
    }

    fn page(&mut self, root: &Root, physical: u64, write: bool) -> Outcome<&Page> {
        let address = Address::Mmio { physical };
        let number = physical / PAGE;
        if self.pages.get(&number).is_none_or(|page| write && !page.writable) {
            let file = self.open(root, address, write)?;
            let page = Page::map(file, number * PAGE, write);
            let page = page.map_err(|error| match self.lost.contains(&number) {
                true => AccessError::Permission { address, remedy: REVOKED },
                false => meaning(address, &error, REMEDY_MEM),
            })?;
            self.pages.insert(number, page);
        }
        self.pages.get(&number).ok_or(AccessError::Unreachable { address })
    }

    fn open(&mut self, root: &Root, address: Address, write: bool) -> Outcome<&File> {
        if self.file.as_ref().is_none_or(|open| write && !open.writable) {
            // With O_SYNC the kernel maps registers uncached, whatever firmware's memory types say of their place.
            let mut options = OpenOptions::new();
            options.read(true).write(write).custom_flags(libc::O_SYNC);
            let file = options.open(root.join("dev/mem"));
            let file = file.map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => AccessError::Permission { address, remedy: REMEDY_NO_MEM },
                _ => meaning(address, &error, REMEDY_MEM),
            })?;
            self.file = Some(Open { file, writable: write });
        }
        self.file.as_ref().map(|open| &open.file).ok_or(AccessError::Unreachable { address })
    }
}

/// The place in its page, if the cycle is possible.
fn check(physical: u64, width: Width) -> Outcome<usize> {
    if !physical.is_multiple_of(u64::from(width.bytes())) {
        return Err(AccessError::BadCycle { address: Address::Mmio { physical }, width });
    }
    Ok((physical % PAGE) as usize)
}

/// A mapped page of registers.
#[derive(Debug)]
struct Page {
    start: NonNull<u8>,
    writable: bool,
}

// SAFETY: the mapping belongs to the process, not to a thread, and nothing else holds the pointer.
unsafe impl Send for Page {}

impl Page {
    fn map(file: &File, physical: u64, write: bool) -> io::Result<Self> {
        let length = file.metadata().map_or(0, |data| data.len());
        // /dev/mem has no length; a file that has one would raise SIGBUS beyond it.
        if length != 0 && physical + PAGE > length {
            return Err(io::Error::from_raw_os_error(libc::ENXIO));
        }
        let offset = libc::off_t::try_from(physical).map_err(|_| io::Error::from_raw_os_error(libc::ENXIO))?;
        let protection = if write { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        // SAFETY: a fresh shared mapping of one page at an address of the kernel's choice touches no memory of ours; the file is
        // open with the rights that the protection asks for.
        let start = unsafe {
            libc::mmap(std::ptr::null_mut(), PAGE as usize, protection, libc::MAP_SHARED, file.as_raw_fd(), offset)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::from_raw_os_error(libc::ENXIO))?;
        Ok(Self { start, writable: write })
    }

    fn address(&self) -> usize {
        self.start.addr().get()
    }

    fn read(&self, offset: usize, width: Width) -> u64 {
        // SAFETY: `offset` is below the page's size and aligned to the width (`check`), so the cycle stays within the mapping.
        // Volatile: registers change by themselves, and each read must be one cycle of this width.
        unsafe {
            let at = self.start.as_ptr().add(offset);
            match width {
                Width::B1 => at.read_volatile().into(),
                Width::B2 => at.cast::<u16>().read_volatile().into(),
                Width::B4 => at.cast::<u32>().read_volatile().into(),
                Width::B8 => at.cast::<u64>().read_volatile(),
            }
        }
    }

    fn write(&self, offset: usize, width: Width, value: u64) {
        debug_assert!(self.writable, "the page was mapped for reading");
        // SAFETY: as in `read`; `Memory::page` maps a page for writing before it hands it out to write.
        unsafe {
            let at = self.start.as_ptr().add(offset);
            match width {
                Width::B1 => at.write_volatile(value as u8),
                Width::B2 => at.cast::<u16>().write_volatile(value as u16),
                Width::B4 => at.cast::<u32>().write_volatile(value as u32),
                Width::B8 => at.cast::<u64>().write_volatile(value),
            }
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: `start` is a mapping of one page that this value made, and no reference to it is left.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), PAGE as usize);
        }
    }
}
