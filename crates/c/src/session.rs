//! Sessions: counters that run from open to close.

use std::ffi::c_char;
use std::time::Duration;

use crate::code::{CallFailure, Code, guarded};
use crate::counting::{CountedEvents, CountedMachine, CountingThread};
use crate::look_up::hand_over;
use crate::text::{optional, required};

/// Counters that run. All functions may be called from any thread.
pub struct SessionHandle {
    counting: CountingThread,
}

impl SessionHandle {
    pub(crate) const fn counting(&self) -> &CountingThread {
        &self.counting
    }
}

/// A session of the caller's.
///
/// # Safety
/// `session` is null, or came from an open that succeeded and was not closed since.
///
/// # Errors
/// It is null.
pub unsafe fn opened<'a>(session: *const SessionHandle) -> Result<&'a SessionHandle, CallFailure> {
    // SAFETY: the caller's promise.
    unsafe { session.as_ref() }.ok_or_else(|| CallFailure::invalid("session is null; open one"))
}

/// Begins to count on this machine: through the kernel's driver if it counts all that is wanted, else by registers.
///
/// `events` is a list as for `pericore stat -e`, `metrics` one as for `-M`; one of them may be null. Registers that
/// are overwritten are put
/// back by `pericore_close`, when the process exits, and by `pericore restore` if it is killed.
///
/// Returns `PERICORE_CODE_UNAVAILABLE` without rights, without a processor that is known, and while another tool
/// counts.
///
/// # Safety
/// The texts are null or end with a zero; `session` is null or has room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pericore_open(
    events: *const c_char,
    metrics: *const c_char,
    session: *mut *mut SessionHandle,
) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let wanted = unsafe { wanted(events, metrics)? };
        // SAFETY: the caller's promise.
        unsafe { open(CountedMachine::Local, wanted, session) }
    })
}

/// Begins to count on a software machine, which belongs to this session alone: time passes there in `pericore_run`,
/// and at no other time.
///
/// `machine` is a family or a preset with its settings, `workload` what runs there, both as for `pericore stat
/// --machine --workload`. Counts are the
/// same in each run.
///
/// # Safety
/// As `pericore_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pericore_open_machine(
    machine: *const c_char,
    workload: *const c_char,
    events: *const c_char,
    metrics: *const c_char,
    session: *mut *mut SessionHandle,
) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (machine, workload) = unsafe { (required(machine, "machine")?, required(workload, "workload")?) };
        // SAFETY: the caller's promise.
        let wanted = unsafe { wanted(events, metrics)? };
        let target = CountedMachine::Software { machine: machine.to_owned(), workload: workload.to_owned() };
        // SAFETY: the caller's promise.
        unsafe { open(target, wanted, session) }
    })
}

/// Lets so many seconds pass: on a software machine its workload runs, on this machine the calling thread sleeps.
///
/// Returns `PERICORE_CODE_ENDED` if the workload has ended before.
///
/// # Safety
/// `session` is null, or came from an open that succeeded and was not closed since.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pericore_run(session: *mut SessionHandle, seconds: f64) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let handle = unsafe { opened(session)? };
        let length = Duration::try_from_secs_f64(seconds);
        let length = length.map_err(|_| CallFailure::invalid(format!("{seconds} seconds; give a length from 0 on")))?;
        handle.counting.run(length)
    })
}

/// The number of events that were asked for by name.
///
/// # Safety
/// As `pericore_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pericore_events(session: *const SessionHandle) -> usize {
    // SAFETY: the caller's promise.
    unsafe { session.as_ref() }.map_or(0, |handle| handle.counting.events())
}

/// The number of metrics.
///
/// # Safety
/// As `pericore_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pericore_metrics(session: *const SessionHandle) -> usize {
    // SAFETY: the caller's promise.
    unsafe { session.as_ref() }.map_or(0, |handle| handle.counting.metrics())
}

/// Ends counting and puts every register back. The session is gone afterwards, also if that has failed; null is no
/// session and is ignored.
///
/// # Safety
/// As `pericore_run`; no other call with this session is under way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pericore_close(session: *mut SessionHandle) -> Code {
    guarded(|| {
        if session.is_null() {
            return Ok(Code::Ok);
        }
        // SAFETY: it came from `Box::into_raw` in `open`, and the caller gives it up.
        let handle = unsafe { Box::from_raw(session) };
        handle.counting.close().map(|()| Code::Ok)
    })
}

/// # Safety
/// As [`optional`].
unsafe fn wanted(events: *const c_char, metrics: *const c_char) -> Result<CountedEvents, CallFailure> {
    // SAFETY: the caller's promise.
    let (events, metrics) = unsafe { (optional(events, "events")?, optional(metrics, "metrics")?) };
    if events.is_none() && metrics.is_none() {
        return Err(CallFailure::invalid("both events and metrics are null; name what to count"));
    }
    Ok(CountedEvents { events: events.map(str::to_owned), metrics: metrics.map(str::to_owned) })
}

/// # Safety
/// As [`hand_over`].
unsafe fn open(
    target: CountedMachine,
    wanted: CountedEvents,
    session: *mut *mut SessionHandle,
) -> Result<Code, CallFailure> {
    if session.is_null() {
        return Err(CallFailure::invalid("session is null; give the address of a pointer"));
    }
    let handle = Box::new(SessionHandle { counting: CountingThread::begin(target, wanted)? });
    // SAFETY: the caller's promise.
    unsafe { hand_over(session, Box::into_raw(handle), "session") }
}
