//! Regions: markers by name, and the figures of what lies between them.

use std::ffi::c_char;

use crate::code::{CallFailure, Code, guarded};
use crate::counting::{FigureQuery, Which};
use crate::figure::{Figure, FigureGrade};
use crate::look_up::hand_over;
use crate::session::{SessionHandle, opened};
use crate::text::required;

/// In place of a socket: all of them.
pub const ALL_SOCKETS: i32 = -1;

/// Starts a region. It is open until it was stopped as often as it was started: by the same thread or by others, so
/// the work of several threads can
/// be one region. Regions may lie in each other or overlap; each has all that was counted while it was open, no
/// matter what caused it.
///
/// The counters are system-wide: a region has what the whole machine did meanwhile.
///
/// # Safety
/// `session` is null, or came from an open that succeeded and was not closed since; `name` is null or ends with a
/// zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pericore_start(session: *mut SessionHandle, name: *const c_char) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (handle, name) = unsafe { (opened(session)?, required(name, "name")?) };
        handle.counting().start(name)
    })
}

/// Stops a region. Returns `PERICORE_CODE_INVALID` if it is not open.
///
/// # Safety
/// As `pericore_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pericore_stop(session: *mut SessionHandle, name: *const c_char) -> Code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (handle, name) = unsafe { (opened(session)?, required(name, "name")?) };
        handle.counting().stop(name)
    })
}

/// What an event has counted in a region; of a region that is open, until now. `index` is its place among the events
/// that were asked for, `socket` a
/// number or `PERICORE_ALL_SOCKETS`.
///
/// Returns `PERICORE_CODE_NO_NUMBER` if there is no number; the figure has the reason.
///
/// # Safety
/// As `pericore_start`; `figure` is null or has room for a struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pericore_event_figure(
    session: *mut SessionHandle,
    name: *const c_char,
    index: usize,
    socket: i32,
    figure: *mut Figure,
) -> Code {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { hand_over_figure(session, name, Which::Event(index), socket, figure) })
}

/// The value of a metric in a region. As `pericore_event_figure` otherwise.
///
/// # Safety
/// As `pericore_event_figure`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pericore_metric_figure(
    session: *mut SessionHandle,
    name: *const c_char,
    index: usize,
    socket: i32,
    figure: *mut Figure,
) -> Code {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { hand_over_figure(session, name, Which::Metric(index), socket, figure) })
}

/// # Safety
/// As [`pericore_event_figure`].
unsafe fn hand_over_figure(
    session: *mut SessionHandle,
    name: *const c_char,
    which: Which,
    socket: i32,
    place: *mut Figure,
) -> Result<Code, CallFailure> {
    // SAFETY: the caller's promise.
    let (handle, name) = unsafe { (opened(session)?, required(name, "name")?) };
    let socket = match socket {
        ALL_SOCKETS => None,
        number => Some(u16::try_from(number).map_err(|_| {
            CallFailure::invalid(format!("socket {number}; give a number from 0 on, or PERICORE_ALL_SOCKETS"))
        })?),
    };
    let figure = Figure::from(&handle.counting().figure(FigureQuery { region: name.to_owned(), which, socket })?);
    let grade = figure.grade;
    // SAFETY: the caller's promise.
    unsafe { hand_over(place, figure, "figure")? };
    Ok(match grade {
        FigureGrade::Measured | FigureGrade::Scaled | FigureGrade::Suspect => Code::Ok,
        _ => Code::NoNumber,
    })
}
