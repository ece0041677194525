//! What the exporter itself takes of the machine.

use std::fs;

/// Bytes of a KiB.
const KIB: u64 = 1024;

/// CPU time and memory of this process.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Process {
    /// Seconds that its threads have run, in user and kernel mode.
    pub cpu_seconds: Option<f64>,
    /// Bytes of memory that it has in use.
    pub memory: Option<u64>,
}

impl Process {
    /// As the kernel has it now; nothing where it does not tell.
    pub fn now() -> Self {
        // Of all threads, to the microsecond: /proc/self/stat only has hundredths of a second.
        let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).ok();
        let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
        Self {
            cpu_seconds: usage.map(|usage| seconds(usage.user_time()) + seconds(usage.system_time())),
            memory: fs::read_to_string("/proc/self/status").ok().as_deref().and_then(resident),
        }
    }
}

/// The memory in use, of the text of /proc/self/status.
fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(KIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// proc(5): `VmRSS:` is in kB, which are KiB.
    #[test]
    fn memory_and_cpu_time_are_the_kernels() {
        let status = "Name:\tpericore\nVmHWM:\t   9999 kB\nVmRSS:\t   4321 kB\nRssAnon:\t  7 kB\n";
        assert_eq!(resident(status), Some(4321 * 1024));
        assert_eq!((resident("Name:\tx\n"), resident("VmRSS:\t12\n")), (None, None));
        let (before, mut sum) = (Process::now(), 0_u64);
        while Process::now().cpu_seconds <= before.cpu_seconds {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(before.memory.is_some_and(|bytes| bytes > 100_000 && bytes < 1 << 34), "{before:?}");
    }
}
