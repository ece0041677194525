//! Messages from the namespace's first process to the process that serves it.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// One message. Plain numbers: the sender may not allocate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// The FUSE device is mounted; the descriptor comes with the message.
    Mounted,
    /// A step of the plan failed, with an errno.
    StepFailed {
        /// Index of the step.
        step: i32,
        /// errno.
        errno: i32,
    },
    /// The FUSE device could not be opened.
    NoFuse {
        /// errno.
        errno: i32,
    },
    /// The program could not be executed.
    NotExecuted {
        /// errno.
        errno: i32,
    },
    /// The program ended, with a wait status.
    Ended {
        /// As from `waitpid`.
        status: i32,
    },
}

const BYTES: usize = 12;

impl Report {
    fn encode(self) -> [u8; BYTES] {
        let (kind, first, second) = match self {
            Self::Mounted => (0, 0, 0),
            Self::StepFailed { step, errno } => (1, step, errno),
            Self::NoFuse { errno } => (2, errno, 0),
            Self::NotExecuted { errno } => (3, errno, 0),
            Self::Ended { status } => (4, status, 0),
        };
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&i32::to_le_bytes(kind));
        bytes[4..8].copy_from_slice(&first.to_le_bytes());
        bytes[8..].copy_from_slice(&second.to_le_bytes());
        bytes
    }

    fn decode(bytes: [u8; BYTES]) -> Option<Self> {
        let number = |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Some(match (number(0), number(4), number(8)) {
            (0, ..) => Self::Mounted,
            (1, step, errno) => Self::StepFailed { step, errno },
            (2, errno, _) => Self::NoFuse { errno },
            (3, errno, _) => Self::NotExecuted { errno },
            (4, status, _) => Self::Ended { status },
            _ => return None,
        })
    }
}

/// Room for one descriptor in a control message.
#[repr(C, align(8))]
struct Control([u8; 32]);

fn header(data: &mut libc::iovec, control: Option<&mut Control>) -> libc::msghdr {
    // SAFETY: msghdr is plain numbers and pointers; zeros mean no address and no control data.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = data;
    header.msg_iovlen = 1;
    if let Some(control) = control {
        header.msg_control = control.0.as_mut_ptr().cast();
        // Here and below: C libraries differ in the type of lengths.
        header.msg_controllen = control.0.len() as _;
    }
    header
}

/// Sends a report, with a descriptor if there is one. Safe after a fork: it does not allocate.
pub fn send(socket: RawFd, report: Report, descriptor: Option<RawFd>) {
    let mut bytes = report.encode();
    let mut data = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: BYTES };
    let mut control = Control([0; 32]);
    let mut header = header(&mut data, descriptor.is_some().then_some(&mut control));
    if let Some(descriptor) = descriptor {
        // SAFETY: the control buffer has room for one header and one descriptor, and is aligned for both.
        unsafe {
            header.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
            let message = libc::CMSG_FIRSTHDR(&raw const header);
            (*message).cmsg_level = libc::SOL_SOCKET;
            (*message).cmsg_type = libc::SCM_RIGHTS;
            (*message).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
            libc::CMSG_DATA(message).cast::<RawFd>().write_unaligned(descriptor);
        }
    }
    // SAFETY: the header points at live buffers. A lost report shows as a closed socket.
    unsafe { libc::sendmsg(socket, &raw const header, libc::MSG_NOSIGNAL) };
}

/// Receives a report and the descriptor that came with it; `None` if the sender is gone.
///
/// # Errors
/// As from `recvmsg`.
pub fn receive(socket: &OwnedFd) -> io::Result<Option<(Report, Option<OwnedFd>)>> {
    let mut bytes = [0; BYTES];
    let mut data = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: BYTES };
    let mut control = Control([0; 32]);
    let mut header = header(&mut data, Some(&mut control));
    // SAFETY: the header points at live buffers of the lengths that it says.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) };
    if received < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: recvmsg filled the header; the kernel made the descriptor for us, and nobody else owns it.
    let descriptor = unsafe {
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        let carries = !message.is_null() && (*message).cmsg_type == libc::SCM_RIGHTS;
        carries.then(|| OwnedFd::from_raw_fd(libc::CMSG_DATA(message).cast::<RawFd>().read_unaligned()))
    };
    if received as usize != BYTES {
        return Ok(None);
    }
    Ok(Report::decode(bytes).map(|report| (report, descriptor)))
}
