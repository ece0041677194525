//! Which CPUs of the host stand for which CPUs of the machine, and which PCI functions the machine shows.
//!
//! Tools bind a thread to a CPU before they read its MSRs, so only CPUs that are really there can be shown.

use pericore_machine::chassis::Shape;
use pericore_registers::Bdf;

use crate::error::DoorsError;

/// A CPU of the host and what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// The host's number: the N of `/dev/cpu/N`.
    pub number: u32,
    /// The machine's number.
    pub machine: u32,
    /// Socket.
    pub socket: u16,
    /// Core within the socket.
    pub core: u16,
}

/// A PCI function with the values that sysfs shows of its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// Where.
    pub bdf: Bdf,
    /// Vendor ID in the low half, device ID in the high half.
    pub id: u32,
    /// Revision in the low byte, class above it.
    pub class: u32,
    /// Subsystem vendor in the low half, subsystem in the high half.
    pub subsystem: u32,
    /// Bytes of configuration space: 256, or 4096 with a PCI Express capability or extended registers.
    pub config_bytes: u16,
}

/// What tools can discover of a machine.
#[derive(Debug, Clone)]
pub struct Platform {
    /// Family, sockets and cores.
    pub shape: Shape,
    /// CPUs, in the host's order.
    pub cpus: Vec<Cpu>,
    /// PCI functions, in the order of their addresses.
    pub functions: Vec<Function>,
    /// False if the system refuses `/dev/mem` to everybody.
    pub allows_memory: bool,
    /// Nominal frequency of the cores, and of their time-stamp counters.
    pub hertz: u64,
    /// When the machine's time started: nanoseconds of CLOCK_MONOTONIC.
    pub origin: u64,
}

/// Spreads the host's CPUs evenly over the sockets of a machine: the first CPUs belong to socket 0.
///
/// # Errors
/// [`DoorsError::TooFewCpus`] if a socket would have none.
pub fn place_cpus(host: &[u32], shape: &Shape) -> Result<Vec<Cpu>, DoorsError> {
    let sockets = usize::from(shape.sockets);
    if host.len() < sockets {
        return Err(DoorsError::TooFewCpus { sockets: shape.sockets, cpus: host.len() });
    }
    let (each, extra) = (host.len() / sockets, host.len() % sockets);
    let mut cpus = Vec::with_capacity(host.len());
    let mut remaining = host.iter();
    for socket in 0..sockets {
        let share = each + usize::from(socket < extra);
        for (core, &number) in remaining.by_ref().take(share).enumerate() {
            // A host larger than the machine: the CPUs beyond it stay unused.
            if core < usize::from(shape.cores) {
                let (socket, core) = (socket as u16, core as u16);
                let machine = shape.first_cpu(socket) + u32::from(core);
                cpus.push(Cpu { number, machine, socket, core });
            }
        }
    }
    Ok(cpus)
}

/// The CPUs that this process may run on.
///
/// # Errors
/// [`DoorsError::System`] if the kernel does not say.
pub fn usable_cpus() -> Result<Vec<u32>, DoorsError> {
    // SAFETY: cpu_set_t is plain bits; all zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is valid for writes of its size.
    let status = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) };
    if status != 0 {
        return Err(DoorsError::System { call: "sched_getaffinity", source: std::io::Error::last_os_error() });
    }
    // SAFETY: CPU_SETSIZE bounds the index.
    Ok((0..libc::CPU_SETSIZE as usize)
        .filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) })
        .map(|cpu| cpu as u32)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(sockets: u16, cores: u16) -> Shape {
        Shape::new(pericore_catalog::family("e5-2600").unwrap(), sockets, cores, 1).unwrap()
    }

    #[test]
    fn cpus_are_spread_evenly_and_each_socket_has_one() {
        let places: Vec<_> = place_cpus(&[0, 1, 2, 5, 6], &shape(4, 8)).unwrap();
        let sockets: Vec<_> = places.iter().map(|cpu| (cpu.number, cpu.socket, cpu.core, cpu.machine)).collect();
        assert_eq!(sockets, [(0, 0, 0, 0), (1, 0, 1, 1), (2, 1, 0, 8), (5, 2, 0, 16), (6, 3, 0, 24)]);
    }

    #[test]
    fn a_host_with_fewer_cpus_than_sockets_is_refused() {
        let error = place_cpus(&[0], &shape(2, 8)).unwrap_err();
        assert!(error.to_string().contains("2 sockets need as many CPUs, and 1"), "{error}");
    }

    #[test]
    fn cpus_beyond_the_machine_stay_unused() {
        let host: Vec<u32> = (0..40).collect();
        assert_eq!(place_cpus(&host, &shape(2, 8)).unwrap().len(), 16);
    }
}
