//! MSRs through the msr driver: a file for each CPU, whose position is the MSR number.
//!
//! The MSRs of an uncore belong to the package. So where a CPU has gone offline in the middle of a session, the last one of its package stands in for it:
//! a counter goes on counting meanwhile, and what was overwritten can still be put back.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

use pericore_registers::{AccessError, Address, Outcome, Width};

use super::Root;
use super::refusal::{REMEDY_MSR, REMEDY_MSR_MODULE, meaning};
use crate::discover::Cpu;

/// The open files.
#[derive(Debug, Default)]
pub(super) struct Msrs {
    files: HashMap<u32, Open>,
    /// The CPUs that were online at first, with their packages.
    cpus: Vec<Cpu>,
}

#[derive(Debug)]
struct Open {
    file: File,
    writable: bool,
}

impl Msrs {
    pub(super) fn of(cpus: Vec<Cpu>) -> Self {
        Self { files: HashMap::new(), cpus }
    }

    pub(super) fn read(&mut self, root: &Root, cpu: u32, msr: u32, width: Width) -> Outcome<u64> {
        self.reach(cpu, |msrs, cpu| {
            let address = check(cpu, msr, width)?;
            let open = msrs.open(root, cpu, address, false)?;
            let mut bytes = [0; 8];
            // The driver moves 8 bytes at a time; a longer read would read the same MSR again.
            match open.file.read_exact_at(&mut bytes, msr.into()) {
                Ok(()) => Ok(u64::from_le_bytes(bytes)),
                Err(error) => Err(meaning(address, &error, REMEDY_MSR)),
            }
        })
    }

    pub(super) fn write(&mut self, root: &Root, cpu: u32, msr: u32, width: Width, value: u64) -> Outcome<()> {
        self.reach(cpu, |msrs, cpu| {
            let address = check(cpu, msr, width)?;
            let open = msrs.open(root, cpu, address, true)?;
            open.file
                .write_all_at(&value.to_le_bytes(), msr.into())
                .map_err(|error| meaning(address, &error, REMEDY_MSR))
        })
    }

    pub(super) fn hold_open(&mut self, root: &Root, cpu: u32, msr: u32, write: bool) {
        for cpu in [Some(cpu), self.stand_in(cpu)].into_iter().flatten() {
            let _ = self.open(root, cpu, Address::Msr { cpu, msr }, write);
        }
    }

    /// Carries an access out on a CPU, or on its stand-in if that is offline.
    fn reach<T>(&mut self, cpu: u32, mut access: impl FnMut(&mut Self, u32) -> Outcome<T>) -> Outcome<T> {
        match access(self, cpu) {
            Err(gone @ AccessError::Unreachable { .. }) => match self.stand_in(cpu) {
                Some(other) => access(self, other).map_err(|_| gone),
                None => Err(gone),
            },
            outcome => outcome,
        }
    }

    /// True if the driver is there: some CPU has a file.
    fn has_files(&self, root: &Root) -> bool {
        self.cpus.iter().any(|cpu| root.join(format!("dev/cpu/{}/msr", cpu.number)).exists())
    }

    /// The last CPU of the same package, unless it is this one: first threads and cores are the ones that a session takes.
    fn stand_in(&self, cpu: u32) -> Option<u32> {
        let package = self.cpus.iter().find(|known| known.number == cpu)?.package;
        let of_package = self.cpus.iter().filter(|known| known.package == package).map(|known| known.number);
        of_package.max().filter(|&last| last != cpu)
    }

    fn open(&mut self, root: &Root, cpu: u32, address: Address, write: bool) -> Outcome<&Open> {
        let known = self.files.get(&cpu).is_some_and(|open| open.writable || !write);
        if !known {
            let path = root.join(format!("dev/cpu/{cpu}/msr"));
            let file = OpenOptions::new().read(true).write(write).open(&path).map_err(|error| match error.kind() {
                // A CPU that goes offline takes its file along.
                io::ErrorKind::NotFound if self.has_files(root) => AccessError::Unreachable { address },
                io::ErrorKind::NotFound => AccessError::Permission { address, remedy: REMEDY_MSR_MODULE },
                _ => meaning(address, &error, REMEDY_MSR),
            })?;
            self.files.insert(cpu, Open { file, writable: write });
        }
        self.files.get(&cpu).ok_or(AccessError::Unreachable { address })
    }
}

fn check(cpu: u32, msr: u32, width: Width) -> Outcome<Address> {
    let address = Address::Msr { cpu, msr };
    if width == Width::B8 { Ok(address) } else { Err(AccessError::BadCycle { address, width }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a package the last CPU serves for another: not for itself, nor for one of another package, nor for one that
    /// nobody knew.
    #[test]
    fn another_cpu_of_the_package_serves() {
        let cpus = [(0, 0), (4, 1), (1, 0), (5, 1), (3, 0), (9, 2)];
        let msrs = Msrs::of(cpus.map(|(number, package)| Cpu { number, package }).to_vec());
        let stand_ins = [0, 1, 3, 4, 5, 9, 7].map(|cpu| msrs.stand_in(cpu));
        assert_eq!(stand_ins, [Some(3), Some(3), None, Some(5), None, None, None]);
    }

    /// The driver moves 8 bytes, and no other cycle reaches an MSR.
    #[test]
    fn an_msr_has_eight_bytes() {
        let address = Address::Msr { cpu: 2, msr: 0xd10 };
        assert_eq!(check(2, 0xd10, Width::B8), Ok(address));
        for width in [Width::B1, Width::B2, Width::B4] {
            assert_eq!(check(2, 0xd10, width), Err(AccessError::BadCycle { address, width }));
        }
    }
}
