//! Mappings of `/dev/mem` that the kernel takes away: when a driver claims the device behind one, the next access
//! raises SIGBUS, which would end the process and leave registers as they are.
//!
//! Each access says which page it touches. A SIGBUS on that page puts an empty page there, so that the access comes to
//! an end, and marks it. What it read or wrote is nothing.

use std::cell::Cell;
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence};

/// Bytes of a page.
const PAGE: usize = 4096;

/// What an access has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Touched {
    Nothing,
    /// The page that starts here.
    Page(usize),
    /// Its mapping was gone.
    Gone,
}

thread_local! {
    /// Constant and without a destructor: a signal handler may look at it.
    static TOUCHED: Cell<Touched> = const { Cell::new(Touched::Nothing) };
}

/// What the process did at a SIGBUS before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Carries out an access to a mapped page; `None` if the mapping was gone.
pub(super) fn access<T>(page: usize, access: impl FnOnce() -> T) -> Option<T> {
    BEFORE.get_or_init(install);
    TOUCHED.set(Touched::Page(page));
    compiler_fence(Ordering::SeqCst);
    let result = access();
    compiler_fence(Ordering::SeqCst);
    (TOUCHED.replace(Touched::Nothing) != Touched::Gone).then_some(result)
}

fn install() -> libc::sigaction {
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_fault;
    // SAFETY: both actions are valid memory of the kernel's type; the handler has the signature that SA_SIGINFO asks
    // for, and makes no call that is not async-signal-safe.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        let mut before: libc::sigaction = mem::zeroed();
        libc::sigaction(libc::SIGBUS, &raw const action, &raw mut before);
        before
    }
}

extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel hands over a valid description of the fault; for SIGBUS it has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let page = address & !(PAGE - 1);
    if TOUCHED.get() == Touched::Page(page) {
        // SAFETY: the page is a mapping of ours which nothing can be read from any more; an empty one takes its place.
        let empty = unsafe {
            libc::mmap(
                ptr::without_provenance_mut(page),
                PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if empty != libc::MAP_FAILED {
            TOUCHED.set(Touched::Gone);
            return;
        }
    }
    // Not of our making: it comes again, and meets the action of before.
    // SAFETY: the action is one that the kernel gave us, or the default one.
    unsafe {
        let fallback: libc::sigaction = mem::zeroed();
        libc::sigaction(signal, BEFORE.get().map_or(&raw const fallback, ptr::from_ref), ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pericore_registers::{AccessError, Address, RegisterSpace, Width};

    use super::super::{LinuxSpace, Root};
    use super::PAGE;
    use crate::session::REVOKED;

    /// A driver claims a device, and its memory is taken from us: what lay there is refused from then on, and all the
    /// rest is read and written as before. A file that is cut off raises the same SIGBUS.
    #[test]
    fn memory_that_is_taken_away_is_refused_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dev/mem");
        fs::create_dir(folder.path().join("dev")).unwrap();
        fs::write(&path, (0..3 * PAGE).map(|byte| byte as u8).collect::<Vec<u8>>()).unwrap();
        let mut space = LinuxSpace::new(Root::at(folder.path()));
        let at = |physical| Address::Mmio { physical };
        let value = |physical: u64| {
            let byte = |n: u64| (physical + n) % 256;
            (0..4).fold(0, |value, n| value | byte(n) << (8 * n))
        };
        for physical in [0x10, 0x1010, 0x2010] {
            assert_eq!(space.read(at(physical), Width::B4), Ok(value(physical)));
        }
        space.write(at(0x2020), Width::B4, 7).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_len(0x1000).unwrap();
        let gone = |physical| Err(AccessError::Permission { address: at(physical), remedy: REVOKED });
        assert_eq!(space.read(at(0x1010), Width::B4), gone(0x1010));
        assert_eq!(space.write(at(0x2020), Width::B4, 7), gone(0x2020).map(|_: u64| ()));
        // Not for a moment: also where it is asked for anew.
        assert_eq!(space.read(at(0x1010), Width::B8), gone(0x1010));
        assert_eq!(space.read(at(0x2010), Width::B4), gone(0x2010));
        assert_eq!(space.read(at(0x10), Width::B4), Ok(value(0x10)));
        // Given back: it is mapped again.
        fs::File::options().write(true).open(&path).unwrap().set_len(0x3000).unwrap();
        assert_eq!(space.read(at(0x1010), Width::B4), Ok(0));
    }
}
