//! System calls that fail: a seccomp filter of the thread that runs the session has the kernel refuse them. It can't be
//! taken off, so each run has a thread of its own.

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

use super::scenario::SystemCall;

/// From now on the call fails in this thread; false where the kernel has no such filters.
pub(super) fn refuse(call: SystemCall) -> bool {
    let (calls, error): (&[i64], i32) = match call {
        SystemCall::Open => (&[libc::SYS_openat, libc::SYS_open], libc::EMFILE),
        SystemCall::Write => (&[libc::SYS_write, libc::SYS_writev, libc::SYS_pwrite64], libc::ENOSPC),
        SystemCall::Sync => (&[libc::SYS_fsync, libc::SYS_fdatasync], libc::EIO),
        SystemCall::Link => (&[libc::SYS_linkat, libc::SYS_link, libc::SYS_renameat2, libc::SYS_rename], libc::EROFS),
        SystemCall::Remove => (&[libc::SYS_unlinkat, libc::SYS_unlink, libc::SYS_rmdir], libc::EROFS),
        SystemCall::Lock => (&[libc::SYS_flock], libc::ENOLCK),
        SystemCall::Mode => (&[libc::SYS_fchmod, libc::SYS_chmod, libc::SYS_fchmodat], libc::EPERM),
        SystemCall::Status => (&[libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx], libc::EIO),
        SystemCall::List => (&[libc::SYS_getdents64], libc::EIO),
    };
    let rules: BTreeMap<i64, Vec<_>> = calls.iter().map(|&call| (call, Vec::new())).collect();
    let refused = SeccompAction::Errno(error as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, TargetArch::x86_64);
    let program: Option<BpfProgram> = filter.ok().and_then(|filter| filter.try_into().ok());
    program.is_some_and(|program| apply_filter(&program).is_ok())
}
