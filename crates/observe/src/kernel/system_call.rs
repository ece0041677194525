//! `perf_event_open` and what is done with the files that it opens.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};

use perf_event_open_sys::{self as sys, bindings};

use super::format::{Attributes, Privilege};

/// What opens, reads, starts and stops the kernel's counters: the kernel, or a test's stand-in.
pub trait PerfEvents {
    /// An open counter, which is closed when it is dropped.
    type Counter;

    /// Opens a counter of the PMU of this kind, for all that goes on on a CPU. It stands until its group is started:
    /// the group of `leader`, or one of its own.
    ///
    /// # Errors
    /// The system's.
    fn open(
        &mut self,
        kind: u32,
        attributes: Attributes,
        cpu: u32,
        leader: Option<&Self::Counter>,
    ) -> io::Result<Self::Counter>;

    /// Starts the group of a leader.
    ///
    /// # Errors
    /// The system's.
    fn start(&mut self, leader: &Self::Counter) -> io::Result<()>;

    /// Stops it.
    ///
    /// # Errors
    /// The system's.
    fn stop(&mut self, leader: &Self::Counter) -> io::Result<()>;

    /// What a leader's group of so many counters holds; nothing if the kernel has taken it away.
    ///
    /// # Errors
    /// The system's.
    fn read(&mut self, leader: &Self::Counter, counters: usize) -> io::Result<Option<GroupReading>>;
}

/// What a group holds: totals since it was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupReading {
    /// Nanoseconds in which it was started.
    pub enabled: u64,
    /// Of these, in which the kernel had it on counters.
    pub running: u64,
    /// Counts, in the order in which the counters were opened.
    pub counts: Vec<u64>,
}

/// The kernel.
#[derive(Debug, Clone, Copy, Default)]
pub struct LinuxPerf;

/// For all processes.
const EVERY_PROCESS: libc::pid_t = -1;

impl PerfEvents for LinuxPerf {
    type Counter = File;

    fn open(&mut self, kind: u32, attributes: Attributes, cpu: u32, leader: Option<&File>) -> io::Result<File> {
        let mut attr = bindings::perf_event_attr {
            type_: kind,
            size: size_of::<bindings::perf_event_attr>() as u32,
            read_format: u64::from(
                bindings::PERF_FORMAT_TOTAL_TIME_ENABLED
                    | bindings::PERF_FORMAT_TOTAL_TIME_RUNNING
                    | bindings::PERF_FORMAT_GROUP,
            ),
            ..Default::default()
        };
        let [config, config1, config2, config3] = attributes.words;
        attr.config = config;
        attr.__bindgen_anon_3.config1 = config1;
        attr.__bindgen_anon_4.config2 = config2;
        attr.config3 = config3;
        attr.set_exclude_kernel(u64::from(attributes.privilege == Privilege::User));
        attr.set_exclude_user(u64::from(attributes.privilege == Privilege::Kernel));
        // A member runs when its leader does.
        attr.set_disabled(u64::from(leader.is_none()));
        let cpu = i32::try_from(cpu).map_err(|_| io::Error::from_raw_os_error(libc::ENODEV))?;
        let group = leader.map_or(-1, AsRawFd::as_raw_fd);
        // SAFETY: the attributes live until the call returns, and ask for counts alone: no memory is shared with the
        // kernel.
        let file = unsafe {
            sys::perf_event_open(&raw mut attr, EVERY_PROCESS, cpu, group, bindings::PERF_FLAG_FD_CLOEXEC.into())
        };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just opened it for us, and nobody else knows it.
        Ok(unsafe { File::from_raw_fd(file) })
    }

    fn start(&mut self, leader: &File) -> io::Result<()> {
        // SAFETY: the file is open, and the request takes no pointer.
        done(unsafe { sys::ioctls::ENABLE(leader.as_raw_fd(), 0) })
    }

    fn stop(&mut self, leader: &File) -> io::Result<()> {
        // SAFETY: as above.
        done(unsafe { sys::ioctls::DISABLE(leader.as_raw_fd(), 0) })
    }

    fn read(&mut self, leader: &File, counters: usize) -> io::Result<Option<GroupReading>> {
        // The number of counters, the two times, and the counts.
        let mut bytes = vec![0; 8 * (3 + counters)];
        let mut file = leader;
        let length = file.read(&mut bytes)?;
        let words: Vec<u64> = bytes[..length]
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()))
            .collect();
        match words[..] {
            [number, enabled, running, ref counts @ ..] if number == counters as u64 && counts.len() == counters => {
                Ok(Some(GroupReading { enabled, running, counts: counts.to_vec() }))
            }
            _ => Ok(None),
        }
    }
}

fn done(status: libc::c_int) -> io::Result<()> {
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
