//! Finds the instructions that tell processors apart, and makes them fault: the first byte, 0F, becomes 27, which 64-bit mode does not
//! have. The handler knows the instruction by the bytes that stay.

use core::ffi::{CStr, c_int, c_void};
use core::slice;

use crate::sys::{self, LoadedObject, ProgramHeader};
use crate::text::Text;
use crate::unwind::Functions;
use crate::x86;

/// First byte of the instructions, and what takes its place.
const ESCAPE: u8 = 0x0F;
pub const PATCHED: u8 = 0x27;
/// The bytes after it.
pub const CPUID: &[u8] = &[0xA2];
pub const RDTSC: &[u8] = &[0x31];
pub const RDTSCP: &[u8] = &[0x01, 0xF9];

const PAGE: usize = 4096;
const LOADABLE: u32 = 1;
const EXECUTABLE: u32 = 1;

/// Libraries that chose their code by the host's features when they were loaded, and must keep doing so.
const HOSTS_OWN: [&[u8]; 7] =
    [b"ld-linux", b"libc.so", b"libm.so", b"libgcc_s", b"libstdc++", b"linux-vdso", b"door.so"];

/// Patches all code that is loaded now; CPUID only if the processor cannot be told to fault on it.
pub fn patch_all(with_cpuid: bool) {
    let mut with_cpuid = with_cpuid;
    // SAFETY: the callback follows the protocol of dl_iterate_phdr; the flag outlives the call.
    unsafe { sys::dl_iterate_phdr(patch_object, (&raw mut with_cpuid).cast()) };
}

unsafe extern "C" fn patch_object(object: *const LoadedObject, _: usize, with_cpuid: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid object with `count` headers and a name that may be null; the flag is `patch_all`'s.
    let (object, headers, name, with_cpuid) = unsafe {
        let object = &*object;
        let name = if object.name.is_null() { &[] } else { CStr::from_ptr(object.name).to_bytes() };
        (object, slice::from_raw_parts(object.headers, usize::from(object.count)), name, *with_cpuid.cast::<bool>())
    };
    let file = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    if HOSTS_OWN.iter().any(|own| file.starts_with(own)) {
        return 0;
    }
    if let Some(functions) = Functions::of(object.base, headers) {
        for header in headers.iter().filter(|header| header.kind == LOADABLE && header.flags & EXECUTABLE != 0) {
            patch_segment(object.base, header, &functions, with_cpuid);
        }
    }
    0
}

fn patch_segment(base: usize, header: &ProgramHeader, functions: &Functions, with_cpuid: bool) {
    let start = base + header.address as usize;
    // SAFETY: the loader has mapped the segment, readable and executable, for good.
    let code = unsafe { slice::from_raw_parts(start as *const u8, header.memory_size as usize) };
    let mut end = code.len();
    // Backwards: the walk to an instruction must not meet patched ones.
    while let Some(offset) = code[..end].iter().rposition(|&byte| byte == ESCAPE) {
        end = offset;
        let rest = &code[offset + 1..];
        let is_wanted = rest.starts_with(RDTSC) || rest.starts_with(RDTSCP) || (with_cpuid && rest.starts_with(CPUID));
        if !is_wanted {
            continue;
        }
        // The bytes may be part of another instruction: walk to them from the start of the function.
        let is_instruction = functions.containing(start + offset).is_some_and(|function| {
            function >= start && is_boundary(&code[function - start..], offset - (function - start))
        });
        if is_instruction {
            patch(start + offset);
        }
    }
}

/// True if an instruction starts `target` bytes after the start of `code`.
fn is_boundary(code: &[u8], target: usize) -> bool {
    let mut at = 0;
    while at < target {
        match x86::length(&code[at..]) {
            Some(length) => at += length,
            None => return false,
        }
    }
    at == target
}

fn patch(address: usize) {
    let page = (address & !(PAGE - 1)) as *mut c_void;
    // SAFETY: the page is mapped code, and no thread but this one runs yet.
    unsafe {
        if sys::mprotect(page, PAGE, sys::PROT_READ | sys::PROT_WRITE | sys::PROT_EXEC) != 0 {
            Text::new(format_args!(
                "pericore: cannot patch the code at {address:#x}; the program sees the host's processor\n"
            ))
            .show();
            return;
        }
        (address as *mut u8).write_volatile(PATCHED);
        sys::mprotect(page, PAGE, sys::PROT_READ | sys::PROT_EXEC);
    }
}
