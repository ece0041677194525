//! System calls, by seccomp: what is not allowed fails with EPERM.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use super::part::ThreadPart;

/// A system call, and the values of one of its arguments to which the rule is limited; none for any.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// What every thread takes: memory, time, waiting, threads, descriptors that are open, its end.
#[cfg(target_arch = "x86_64")]
const EVERY_THREAD: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_fcntl,
    libc::SYS_dup,
    libc::SYS_lseek,
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_set_tid_address,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getppid,
    libc::SYS_geteuid,
    libc::SYS_getuid,
    libc::SYS_prctl,
    libc::SYS_prlimit64,
    libc::SYS_capget,
    libc::SYS_capset,
    libc::SYS_tgkill,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_membarrier,
];

/// Beside these what the register process takes: files of registers, journals and their locks, messages.
#[cfg(target_arch = "x86_64")]
const REGISTERS: &[i64] = &[
    libc::SYS_openat,
    libc::SYS_open,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_statx,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_newfstatat,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_getdents64,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_fchmod,
    libc::SYS_ftruncate,
    libc::SYS_fsync,
    libc::SYS_flock,
    libc::SYS_sched_setaffinity,
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_shutdown,
    // Landlock and seccomp themselves: a thread may become narrower.
    libc::SYS_seccomp,
];

/// Beside these what a server's threads take: connections.
#[cfg(target_arch = "x86_64")]
const SERVING: &[i64] = &[
    libc::SYS_accept4,
    libc::SYS_accept,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
    libc::SYS_shutdown,
    libc::SYS_getpeername,
    libc::SYS_getsockname,
    libc::SYS_setsockopt,
    libc::SYS_getsockopt,
];

/// What measuring never does once the program runs: it starts no program, looks into no process, mounts nothing, loads
/// nothing into the kernel, reaches no port of the processor, and opens no counter of the kernel.
#[cfg(target_arch = "x86_64")]
const NEVER: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_mknod,
    libc::SYS_mknodat,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// Requests that measuring makes of what is open: a terminal's modes and size, whether reads wait, a counter of the
/// kernel on and off.
#[cfg(target_arch = "x86_64")]
const REQUESTS: &[libc::Ioctl] = &[
    libc::TCGETS,
    libc::TCSETS,
    libc::TCSETSW,
    libc::TCSETSF,
    libc::TIOCGWINSZ,
    libc::TIOCGPGRP,
    libc::TIOCSPGRP,
    libc::TIOCINQ,
    libc::FIONBIO,
    libc::FIOCLEX,
    // PERF_EVENT_IOC_ENABLE, DISABLE, RESET and ID of linux/perf_event.h.
    0x2400,
    0x2401,
    0x2403,
    0x8008_2407_u32 as libc::Ioctl,
];

/// Confines this thread; false if the kernel cannot.
pub(super) fn confine(part: ThreadPart) -> io::Result<bool> {
    if !is_there() {
        return Ok(false);
    }
    let program = program(part).map_err(io::Error::other)?;
    match apply_filter(&program) {
        Ok(()) => Ok(true),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// True if the kernel has seccomp's filters.
fn is_there() -> bool {
    let action = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the action is a number that the kernel only reads.
    let known = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) };
    known == 0 && cfg!(target_arch = "x86_64")
}

#[cfg(target_arch = "x86_64")]
fn program(part: ThreadPart) -> Result<BpfProgram, seccompiler::BackendError> {
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let (rules, on_match, otherwise) = match part {
        ThreadPart::Measuring => (never()?, refuse, SeccompAction::Allow),
        ThreadPart::Registers => (allowed(REGISTERS), SeccompAction::Allow, refuse),
        ThreadPart::Serving => (allowed(SERVING), SeccompAction::Allow, refuse),
    };
    SeccompFilter::new(rules, otherwise, on_match, TargetArch::x86_64)?.try_into()
}

#[cfg(target_arch = "x86_64")]
fn allowed(of_part: &[i64]) -> Rules {
    EVERY_THREAD.iter().chain(of_part).map(|&call| (call, Vec::new())).collect()
}

/// What is refused to a thread that measures: some calls, and all requests but a few.
#[cfg(target_arch = "x86_64")]
fn never() -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = NEVER.iter().map(|&call| (call, Vec::new())).collect();
    // The kernel looks at 32 bits of it; C libraries differ in the type that they give it.
    let is_other = |&request: &libc::Ioctl| {
        SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(request as u32))
    };
    let other: Result<Vec<SeccompCondition>, _> = REQUESTS.iter().map(is_other).collect();
    rules.insert(libc::SYS_ioctl, vec![SeccompRule::new(other?)?]);
    Ok(rules)
}

#[cfg(not(target_arch = "x86_64"))]
fn program(_: Part) -> Result<BpfProgram, seccompiler::BackendError> {
    Ok(BpfProgram::new())
}
