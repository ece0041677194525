//! From which CPU a socket's registers are reached, and a thread's place on it.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use rustix::thread::{CpuSet, sched_setaffinity};

use super::Root;
use super::cpu_list::cpu_list;
use crate::discover::Cpu;

/// Where the kernel has its PMUs.
const PMUS: &str = "sys/bus/event_source/devices";

/// What the names of its uncore PMUs begin with.
const UNCORE: &str = "uncore_";

/// The CPUs that are kept free of everybody's work.
const ISOLATED: &str = "sys/devices/system/cpu/isolated";

/// The CPUs, of each package the one first from which its registers are reached: the one that the kernel's uncore PMUs
/// use, so that one CPU is disturbed, but no isolated one if the package has another.
pub(super) fn reading_first(root: &Root, cpus: Vec<Cpu>) -> Vec<Cpu> {
    let isolated = list(root, ISOLATED);
    let of_kernel = of_kernel(root);
    let rank = |cpu: &Cpu| (isolated.contains(&cpu.number), !of_kernel.contains(&cpu.number));
    let packages: BTreeSet<u16> = cpus.iter().map(|cpu| cpu.package).collect();
    let first = |package: u16| {
        let of_package = cpus.iter().filter(move |cpu| cpu.package == package);
        // Of equals the one that comes first.
        of_package.min_by_key(|cpu| rank(cpu)).map(|cpu| cpu.number)
    };
    let firsts: BTreeSet<u32> = packages.into_iter().filter_map(first).collect();
    let mut cpus = cpus;
    cpus.sort_by_key(|cpu| !firsts.contains(&cpu.number));
    cpus
}

/// The CPUs on which the kernel reads its uncore PMUs, one for each package or die.
fn of_kernel(root: &Root) -> Vec<u32> {
    let entries = fs::read_dir(root.join(PMUS)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // The least, so that it is the same from run to run.
    let pmu = names.filter(|name| name.starts_with(UNCORE)).min();
    pmu.map_or_else(Vec::new, |pmu| list(root, &format!("{PMUS}/{pmu}/cpumask")))
}

fn list(root: &Root, file: &str) -> Vec<u32> {
    let text = fs::read_to_string(root.join(file)).unwrap_or_default();
    cpu_list(text.trim()).unwrap_or_default()
}

/// Binds this thread to a CPU.
///
/// # Errors
/// The system's: a container may not use the CPU, or it has gone offline.
pub fn stay_on(cpu: u32) -> io::Result<()> {
    let number = usize::try_from(cpu).unwrap_or(usize::MAX);
    if number >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut set = CpuSet::new();
    set.set(number);
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that stands for the system's, with these files.
    fn first_of(files: &[(&str, &str)], cpus: &[(u32, u16)]) -> Vec<u32> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let cpus = cpus.iter().map(|&(number, package)| Cpu { number, package }).collect();
        let found = reading_first(&Root::at(folder.path()), cpus);
        let mut firsts: Vec<u32> = Vec::new();
        let mut known = BTreeSet::new();
        for cpu in found {
            if known.insert(cpu.package) {
                firsts.push(cpu.number);
            }
        }
        firsts
    }

    const FOUR: [(u32, u16); 4] = [(0, 0), (1, 0), (2, 1), (3, 1)];

    #[test]
    fn the_kernels_cpu_is_taken() {
        assert_eq!(first_of(&[], &FOUR), [0, 2]);
        let mask = ("sys/bus/event_source/devices/uncore_cha_0/cpumask", "1,3\n");
        assert_eq!(first_of(&[mask], &FOUR), [1, 3]);
        let core = ("sys/bus/event_source/devices/cpu/cpumask", "1,3\n");
        assert_eq!(first_of(&[core], &FOUR), [0, 2], "not an uncore PMU");
    }

    /// `isolcpus=1-3`: socket 0 has another CPU than the kernel's, socket 1 has none but isolated ones.
    #[test]
    fn no_isolated_cpu_is_taken_if_another_serves() {
        let isolated = ("sys/devices/system/cpu/isolated", "1-3\n");
        let mask = ("sys/bus/event_source/devices/uncore_imc_0/cpumask", "1,3\n");
        assert_eq!(first_of(&[isolated, mask], &FOUR), [0, 3]);
        assert_eq!(first_of(&[("sys/devices/system/cpu/isolated", "0\n")], &FOUR), [1, 2]);
        assert_eq!(first_of(&[("sys/devices/system/cpu/isolated", "\n")], &FOUR), [0, 2]);
    }

    #[test]
    fn a_thread_stays_where_it_is_put() {
        std::thread::spawn(|| {
            let before = rustix::thread::sched_getaffinity(None).unwrap();
            let cpu = (0..CpuSet::MAX_CPU).rev().find(|&cpu| before.is_set(cpu)).unwrap();
            stay_on(u32::try_from(cpu).unwrap()).unwrap();
            assert_eq!(rustix::thread::sched_getcpu(), cpu);
            assert!(stay_on(60_000).is_err() && stay_on(1023).is_err(), "there is no such CPU");
        })
        .join()
        .unwrap();
    }
}
