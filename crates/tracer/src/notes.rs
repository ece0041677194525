//! What the plugin has to say about a process besides its accesses.

use crate::layout;
use std::fmt;

/// Something that was not observed, or a reason for how a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The process as the kernel numbers it; 0 if the note is about none in particular.
    pub pid: u32,
    /// The program.
    pub program: String,
    /// What happened.
    pub reason: Reason,
}

/// What happened to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// An exec()ed program was not observed: following is switched off.
    FollowingOff,
    /// … it has set-user-ID, set-group-ID or capabilities, which it would lose under QEMU.
    Privileged,
    /// … it is not for x86-64.
    Foreign,
    /// … it was given as a descriptor, not as a path.
    Descriptor,
    /// … QEMU and the plugin cannot be opened from where it was (chroot, another mount namespace, another user).
    Unreachable,
    /// … QEMU did not start, with this error number.
    ExecFailed(i32),
    /// … its arguments could not be read.
    Arguments,
    /// The program came to an instruction with an EVEX prefix (AVX-512), at this address. QEMU does not know these.
    Evex(u64),
    /// The process was still running when the first program ended, and was not observed from then on.
    StillRunning,
    /// So many threads were not observed because 1024 others were at that moment.
    TooManyThreads(u32),
    /// So many further notes were not kept.
    More(u32),
}

impl Reason {
    pub(crate) fn of(note: &layout::Note) -> Option<Self> {
        use std::sync::atomic::Ordering::Relaxed;
        Self::from_code(note.what.load(Relaxed), note.errno.load(Relaxed), note.address.load(Relaxed))
    }

    fn from_code(code: u32, errno: i32, address: u64) -> Option<Self> {
        Some(match code {
            layout::NOTE_FOLLOWING_OFF => Self::FollowingOff,
            layout::NOTE_PRIVILEGED => Self::Privileged,
            layout::NOTE_FOREIGN => Self::Foreign,
            layout::NOTE_DESCRIPTOR => Self::Descriptor,
            layout::NOTE_UNREACHABLE => Self::Unreachable,
            layout::NOTE_EXEC_FAILED => Self::ExecFailed(errno),
            layout::NOTE_ARGUMENTS => Self::Arguments,
            layout::NOTE_EVEX => Self::Evex(address),
            layout::NOTE_TOO_LATE => Self::StillRunning,
            TOO_MANY_THREADS => Self::TooManyThreads(address as u32),
            MORE => Self::More(address as u32),
            _ => return None,
        })
    }

    /// A code and a number, as trace files hold it.
    pub(crate) const fn code(self) -> (u32, u64) {
        match self {
            Self::FollowingOff => (layout::NOTE_FOLLOWING_OFF, 0),
            Self::Privileged => (layout::NOTE_PRIVILEGED, 0),
            Self::Foreign => (layout::NOTE_FOREIGN, 0),
            Self::Descriptor => (layout::NOTE_DESCRIPTOR, 0),
            Self::Unreachable => (layout::NOTE_UNREACHABLE, 0),
            Self::ExecFailed(errno) => (layout::NOTE_EXEC_FAILED, errno as u32 as u64),
            Self::Arguments => (layout::NOTE_ARGUMENTS, 0),
            Self::Evex(address) => (layout::NOTE_EVEX, address),
            Self::StillRunning => (layout::NOTE_TOO_LATE, 0),
            Self::TooManyThreads(count) => (TOO_MANY_THREADS, count as u64),
            Self::More(count) => (MORE, count as u64),
        }
    }

    /// The reverse of [`Self::code`].
    pub(crate) fn from_saved(code: u32, number: u64) -> Option<Self> {
        Self::from_code(code, number as u32 as i32, number)
    }

    /// True if accesses are missing for this reason.
    pub const fn is_gap(self) -> bool {
        !matches!(self, Self::Evex(_) | Self::More(_))
    }
}

const TOO_MANY_THREADS: u32 = 33;
const MORE: u32 = 34;

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, program, reason } = self;
        let not_observed =
            |f: &mut fmt::Formatter<'_>, why: &str| write!(f, "process {pid} ({program}) was not observed: {why}");
        match reason {
            Reason::FollowingOff => not_observed(f, "following exec() is switched off"),
            Reason::Privileged => {
                not_observed(f, "it has set-user-ID, set-group-ID or capabilities and would lose them under QEMU")
            }
            Reason::Foreign => not_observed(f, "it is not a program for x86-64"),
            Reason::Descriptor => not_observed(f, "it was exec()ed by descriptor, not by path"),
            Reason::Unreachable => {
                not_observed(f, "QEMU and its plugin cannot be opened from its root directory or as its user")
            }
            Reason::ExecFailed(errno) => {
                not_observed(f, &format!("QEMU did not start for it: {}", std::io::Error::from_raw_os_error(*errno)))
            }
            Reason::Arguments => not_observed(f, "its arguments could not be read"),
            Reason::Evex(address) => write!(
                f,
                "process {pid} ({program}) came to an AVX-512 instruction at {address:#x}, which QEMU cannot translate: use a build without AVX-512, \
                 or a library that chooses by CPUID"
            ),
            Reason::StillRunning => {
                write!(
                    f,
                    "process {pid} ({program}) was still running when the first program ended; it was not observed from then on"
                )
            }
            Reason::TooManyThreads(count) => {
                write!(f, "{count} threads were not observed: no more than {} can be at a time", layout::SLOTS)
            }
            Reason::More(count) => write!(f, "{count} further notes were not kept"),
        }
    }
}
