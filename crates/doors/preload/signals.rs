//! SIGILL and SIGSEGV are ours first; what we cannot explain goes to the program's own handlers, which we keep for it.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::sys::{self, Context, SIGILL, SIGSEGV, SignalAction, SignalInfo, SignalSet};
use crate::{answer, memory};

type Handler = unsafe extern "C" fn(c_int, *mut SignalInfo, *mut c_void);

/// The program's handlers for SIGILL and SIGSEGV: address (0: default, 1: ignore) and flags.
static KEPT: [[AtomicUsize; 2]; 2] = [const { [const { AtomicUsize::new(0) }; 2] }; 2];

fn kept(signal: c_int) -> &'static [AtomicUsize; 2] {
    &KEPT[usize::from(signal == SIGSEGV)]
}

static DEFAULT: SignalAction = SignalAction::DEFAULT;

/// Puts our handlers in place.
pub fn take_over() {
    let ours = SignalAction {
        handler: handle as *const () as usize,
        // A handler may be interrupted by the other's signal: CPUID inside a program's own SIGSEGV handler.
        flags: sys::SA_SIGINFO | sys::SA_NODEFER | sys::SA_ONSTACK,
        ..SignalAction::DEFAULT
    };
    // SAFETY: sigaction's type; the handler has the signature that SA_SIGINFO asks for.
    unsafe {
        for signal in [SIGILL, SIGSEGV] {
            let mut before = SignalAction::DEFAULT;
            sys::__sigaction(signal, &raw const ours, &raw mut before);
            kept(signal)[0].store(before.handler, Ordering::Relaxed);
            kept(signal)[1].store(before.flags as usize, Ordering::Relaxed);
        }
    }
}

unsafe extern "C" fn handle(signal: c_int, info: *mut SignalInfo, context: *mut c_void) {
    // SAFETY: the kernel passes valid pointers; errno's place is this thread's.
    let (errno, address, registers) =
        unsafe { (*sys::__errno_location(), (*info).address, &mut *context.cast::<Context>()) };
    // A CPUID that faults has no address; only the processor, not `kill`, reports positive codes.
    // SAFETY: as above.
    let by_processor = unsafe { (*info).code } > 0;
    let done = if signal == SIGSEGV && memory::carry_out(registers, address) {
        true
    } else {
        // Only what the processor reports at an instruction that it could fetch.
        by_processor
            && (signal == SIGILL || address == 0)
            && registers.registers[sys::REG_RIP] != 0
            && answer::answer(registers)
    };
    // SAFETY: as above.
    unsafe { *sys::__errno_location() = errno };
    if !done {
        pass_on(signal, info, context);
    }
}

/// To the program's handler, or the default action.
fn pass_on(signal: c_int, info: *mut SignalInfo, context: *mut c_void) {
    let [handler, flags] = kept(signal).each_ref().map(|value| value.load(Ordering::Relaxed));
    // SAFETY: the address came from the program as a handler of the form that its flags say.
    unsafe {
        if handler > 1 && flags as c_int & sys::SA_SIGINFO != 0 {
            core::mem::transmute::<usize, Handler>(handler)(signal, info, context);
        } else if handler > 1 {
            core::mem::transmute::<usize, unsafe extern "C" fn(c_int)>(handler)(signal);
        } else {
            // The instruction is executed again, and now ends the program.
            sys::__sigaction(signal, &raw const DEFAULT, core::ptr::null_mut());
            if (*info).code <= 0 {
                sys::raise(signal);
            }
        }
    }
}

/// Keeps the program's handlers for our signals.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(signal: c_int, new: *const SignalAction, old: *mut SignalAction) -> c_int {
    // SAFETY: the caller's pointers are valid or null, as sigaction demands.
    unsafe {
        if signal != SIGILL && signal != SIGSEGV {
            return sys::__sigaction(signal, new, old);
        }
        let [handler, flags] = kept(signal);
        if !old.is_null() {
            let (handler, flags) = (handler.load(Ordering::Relaxed), flags.load(Ordering::Relaxed) as c_int);
            *old = SignalAction { handler, flags, ..SignalAction::DEFAULT };
        }
        if !new.is_null() {
            flags.store((*new).flags as usize, Ordering::Relaxed);
            handler.store((*new).handler, Ordering::Relaxed);
        }
    }
    0
}

/// As `sigaction`, for programs that use the older call.
#[unsafe(no_mangle)]
unsafe extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    if signal != SIGILL && signal != SIGSEGV {
        // SAFETY: the caller's arguments; ssignal is another name of the C library's signal.
        return unsafe { sys::ssignal(signal, handler) };
    }
    let [kept_handler, flags] = kept(signal);
    flags.store(0, Ordering::Relaxed);
    kept_handler.swap(handler, Ordering::Relaxed)
}

/// Changes the mask, but for signals that must stay unblocked: SIGILL and SIGSEGV, which kill when an instruction raises them
/// while blocked, and the two that the C library keeps to itself.
unsafe fn set_mask(how: c_int, new: *const SignalSet, old: *mut SignalSet) -> c_int {
    const KERNEL_SET_BYTES: usize = 8;
    const UNBLOCKED: u64 = 1 << (SIGILL - 1) | 1 << (SIGSEGV - 1) | 1 << 31 | 1 << 32;
    // SAFETY: the caller's pointers are valid or null.
    unsafe {
        let mut allowed = if new.is_null() { 0 } else { (*new).bits[0] };
        if how != sys::SIG_UNBLOCK {
            allowed &= !UNBLOCKED;
        }
        let set = if new.is_null() { core::ptr::null() } else { &raw const allowed };
        if !old.is_null() {
            (*old).bits = [0; 16];
        }
        sys::syscall(sys::SYS_RT_SIGPROCMASK, i64::from(how), set, old, KERNEL_SET_BYTES) as c_int
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigprocmask(how: c_int, new: *const SignalSet, old: *mut SignalSet) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { set_mask(how, new, old) }
}

/// Unlike `sigprocmask`, returns the error and leaves errno alone.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_sigmask(how: c_int, new: *const SignalSet, old: *mut SignalSet) -> c_int {
    // SAFETY: the caller's arguments; errno's place is this thread's.
    unsafe {
        let before = *sys::__errno_location();
        let failed = set_mask(how, new, old) != 0;
        core::mem::replace(&mut *sys::__errno_location(), before) * c_int::from(failed)
    }
}
