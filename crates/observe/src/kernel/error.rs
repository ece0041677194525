//! Why the kernel does not count.

use crate::plan::PlanError;

/// What the kernel tells of a PMU cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PmuError {
    /// The kernel lists no PMUs.
    #[error(
        "the kernel lists no PMUs in /sys/bus/event_source/devices ({why}); mount sysfs, or boot a kernel with \
         CONFIG_PERF_EVENTS"
    )]
    NoDevices {
        /// The system's words.
        why: String,
    },
    /// A file of a PMU is missing or says what it cannot.
    #[error("/sys/bus/event_source/devices/{pmu}/{file}: {why}; report the fault of this kernel's driver")]
    File {
        /// PMU.
        pmu: String,
        /// File.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// The PMU has no such term.
    #[error("{pmu} has no term {term} (={value:#x}); it has {known}")]
    NoTerm {
        /// PMU.
        pmu: String,
        /// Term.
        term: String,
        /// Its value.
        value: u64,
        /// The terms that it has.
        known: String,
    },
    /// The value has more bits than the term.
    #[error("{pmu}: {term}={value:#x} does not fit; format/{term} says {format}")]
    TooWide {
        /// PMU.
        pmu: String,
        /// Term.
        term: String,
        /// Its value.
        value: u64,
        /// Where the term lies.
        format: String,
    },
}

/// Why a selection is not counted through the kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// There is no driver.
    #[error(
        "the kernel drives no uncore PMU: load its driver with `modprobe intel-uncore` as root; if that fails, this \
         kernel does not know the processor, or a hypervisor hides the uncore"
    )]
    NoDriver,
    /// No PMU of the unit.
    #[error("the kernel's driver has no {pmu} for {unit}; it has {known}")]
    NoPmu {
        /// Unit.
        unit: &'static str,
        /// The PMU that was looked for.
        pmu: String,
        /// Kinds of PMUs that there are.
        known: String,
    },
    /// No PMU of the instance.
    #[error("{label}: the kernel's driver has no {pmu}{instance} in any socket; it has {known}; leave the event out")]
    NoInstance {
        /// Event.
        label: String,
        /// The PMU, without a number.
        pmu: String,
        /// Instance.
        instance: u16,
        /// Those that there are.
        known: String,
    },
    /// The catalogue names no PMU of the unit.
    #[error("the kernel has no PMU for {unit}, so its events cannot be counted with --through kernel")]
    NoSuchKind {
        /// Unit.
        unit: &'static str,
    },
    /// The PMU has no terms for the event.
    #[error("{label}: {pmu} cannot count this: {why}; leave the event out")]
    Inexpressible {
        /// Event.
        label: String,
        /// PMU.
        pmu: String,
        /// What has no place.
        why: String,
    },
    /// A PMU's files.
    #[error(transparent)]
    Pmu(PmuError),
    /// The selection does not fit.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A CPU of a PMU's mask belongs to no package that is known.
    #[error("{pmu} counts on cpu {cpu}, which is offline or hidden; bring it online, and try again")]
    NoCpu {
        /// PMU.
        pmu: String,
        /// CPU.
        cpu: u32,
    },
    /// The kernel asks for rights.
    #[error(
        "the kernel does not let this user count for the whole system (perf_event_paranoid is {level}): run with \
         CAP_PERFMON (`setcap cap_perfmon+ep` on the binary, or `sudo`), or write 0 to \
         /proc/sys/kernel/perf_event_paranoid as root"
    )]
    Paranoid {
        /// What `perf_event_paranoid` says.
        level: i32,
    },
    /// The kernel asks for all rights: a level that only distributions have.
    #[error(
        "perf_event_paranoid is {level}, a level of this distribution's kernel at which CAP_PERFMON is not enough: \
         write 2 to /proc/sys/kernel/perf_event_paranoid as root, and it is; or run with CAP_SYS_ADMIN"
    )]
    Restricted {
        /// What `perf_event_paranoid` says.
        level: i32,
    },
    /// A filter of system calls or a security module is in the way.
    #[error(
        "perf_event_open is forbidden here ({why}) although this process may count: a container's filter of system \
         calls or a security module forbids it; allow perf_event_open in the container's seccomp profile, or count \
         on the host"
    )]
    Forbidden {
        /// The system's words.
        why: String,
    },
    /// There is no such system call.
    #[error(
        "this system has no perf_event_open: the kernel lacks CONFIG_PERF_EVENTS, or a container's filter of system \
         calls hides it; allow it in the container's seccomp profile, or count on the host"
    )]
    NoSystemCall,
    /// Too few files may be open.
    #[error(
        "{needed} counters need as many open files, and this process may have {limit}; raise the hard limit (`ulimit \
         -Hn`, or LimitNOFILE= of the service), or count fewer events"
    )]
    Files {
        /// Files that are needed.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// The whole system has too many files open.
    #[error("the whole system has as many files open as it may (ENFILE); raise fs.file-max with `sysctl` as root")]
    SystemFiles,
    /// No memory for the kernel's side of the counters.
    #[error("no memory for {needed} counters in the kernel (ENOMEM); raise the container's limit, or count less")]
    Memory {
        /// Counters that are needed.
        needed: u64,
    },
    /// The PMU's files are there, and the kernel knows nobody who counts for its number.
    #[error(
        "{pmu}: nobody in the kernel counts for its type {kind}, although sysfs has its files; load the uncore driver \
         again, or mount the host's own /sys in the container"
    )]
    Unregistered {
        /// PMU.
        pmu: String,
        /// Its number.
        kind: u32,
    },
    /// Somebody holds the counters for himself.
    #[error("{label}: the counters of {pmu} are held by others (EBUSY); stop the tools that pin events there")]
    Busy {
        /// Event.
        label: String,
        /// PMU.
        pmu: String,
    },
    /// The PMU cannot count in this way.
    #[error("{label}: {pmu} does not count {terms} for the whole system (EOPNOTSUPP); leave the event out")]
    Unsupported {
        /// Event.
        label: String,
        /// PMU.
        pmu: String,
        /// What it was asked for.
        terms: String,
    },
    /// The PMU was there a moment ago.
    #[error("{pmu} has disappeared: somebody has unloaded the kernel's uncore driver; load it again, and try again")]
    Disappeared {
        /// PMU.
        pmu: String,
    },
    /// The CPU that counts for a PMU is offline.
    #[error("cpu {cpu}, which counts for {pmu}, went offline; try again")]
    Offline {
        /// PMU.
        pmu: String,
        /// CPU.
        cpu: u32,
    },
    /// The kernel refuses a term.
    #[error("{label}: {pmu} refuses {terms}: {why}; leave the event out")]
    Refused {
        /// Event.
        label: String,
        /// PMU.
        pmu: String,
        /// What it was asked for.
        terms: String,
        /// Which part of it.
        why: String,
    },
    /// Another failure.
    #[error("{label} on {pmu}: perf_event_open: {why}; `pericore doctor` says what else is missing")]
    System {
        /// Event.
        label: String,
        /// PMU.
        pmu: String,
        /// The system's words.
        why: String,
    },
}
