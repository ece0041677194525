//! On which CPUs our own threads run: one on each core of the first socket.

use std::path::Path;

use pericore_observe::discover::Cpu;
use rustix::thread::{CpuSet, sched_getaffinity};

use crate::failure::Failure;

/// The CPUs for threads, and that on which their memory is first touched, which decides on what node it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpus {
    /// The socket of the threads.
    pub socket: u16,
    /// One of each of its cores, as far as this process may run there.
    pub threads: Vec<u32>,
    /// A CPU of the socket whose memory they reach.
    pub touches: u32,
}

impl Cpus {
    /// Those of the first socket, and memory of its own or of the next.
    ///
    /// # Errors
    /// This process may run on no CPU that is known, or there is no other socket.
    pub fn new(root: &Path, cpus: &[Cpu], remote: bool) -> Result<Self, Failure> {
        let allowed = sched_getaffinity(None).map_err(|error| {
            Failure::failed(format!("the system does not tell on which CPUs this process may run: {error}"))
        })?;
        // The set has no room for more CPUs, and a thread cannot be bound to them either.
        let may_run = |cpu: u32| (cpu as usize) < CpuSet::MAX_CPU && allowed.is_set(cpu as usize);
        Self::among(cpus, remote, may_run, |cpu| first_of_core(root, cpu))
    }

    fn among(
        cpus: &[Cpu],
        remote: bool,
        allowed: impl Fn(u32) -> bool,
        first_of_core: impl Fn(u32) -> bool,
    ) -> Result<Self, Failure> {
        let mine: Vec<&Cpu> = cpus.iter().filter(|cpu| allowed(cpu.number)).collect();
        let socket = mine.iter().map(|cpu| cpu.package).min();
        let socket = socket.ok_or_else(|| Failure::failed("this process may run on none of the online CPUs"))?;
        let of = |package: u16| mine.iter().filter(move |cpu| cpu.package == package).map(|cpu| cpu.number);
        let mut threads: Vec<u32> = of(socket).filter(|&cpu| first_of_core(cpu)).collect();
        if threads.is_empty() {
            threads = of(socket).collect();
        }
        threads.sort_unstable();
        let other = mine.iter().filter(|cpu| cpu.package != socket).min_by_key(|cpu| (cpu.package, cpu.number));
        let touches = match (remote, other) {
            (false, _) => threads[0],
            (true, Some(cpu)) => cpu.number,
            (true, None) => {
                let why = "this process may run on one socket only: --memory remote loads the memory of another";
                return Err(Failure::usage(why));
            }
        };
        Ok(Self { socket, threads, touches })
    }
}

/// The CPU is the first hardware thread of its core; true if the kernel does not tell.
fn first_of_core(root: &Path, cpu: u32) -> bool {
    let path = root.join(format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
    let Ok(text) = std::fs::read_to_string(path) else { return true };
    let first: String = text.trim().chars().take_while(char::is_ascii_digit).collect();
    first.parse::<u32>().map_or(true, |first| first == cpu)
}

#[cfg(test)]
mod tests {
    use super::{Cpu, Cpus};

    /// Two sockets of two cores, each with two hardware threads: 0 and 4 are a core, 1 and 5, and so on.
    fn machine() -> Vec<Cpu> {
        (0..8).map(|number| Cpu { number, package: (number % 4 / 2) as u16 }).collect()
    }

    #[test]
    fn a_thread_runs_on_each_core_of_the_first_socket() {
        let of = |remote, allowed: fn(u32) -> bool| Cpus::among(&machine(), remote, allowed, |cpu| cpu < 4);
        let local = Cpus { socket: 0, threads: vec![0, 1], touches: 0 };
        assert_eq!(of(false, |_| true).unwrap(), local);
        assert_eq!(of(true, |_| true).unwrap(), Cpus { touches: 2, ..local });
        // Bound to the second socket, or to second threads of cores.
        assert_eq!(
            of(false, |cpu| [2, 3, 7].contains(&cpu)).unwrap(),
            Cpus { socket: 1, threads: vec![2, 3], touches: 2 }
        );
        assert_eq!(of(false, |cpu| cpu == 5).unwrap(), Cpus { socket: 0, threads: vec![5], touches: 5 });
        assert!(of(true, |cpu| cpu < 2).unwrap_err().to_string().contains("one socket only"));
        assert!(of(false, |_| false).unwrap_err().to_string().contains("none of the online CPUs"));
    }
}
