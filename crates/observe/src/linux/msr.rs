//! MSRs through the msr driver: a file for each CPU, whose position is the MSR number.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

use pericore_registers::{AccessError, Address, Outcome, Width};

use super::Root;
use super::refusal::{REMEDY_MSR, REMEDY_MSR_MODULE, meaning};

/// The open files.
#[derive(Debug, Default)]
pub(super) struct Msrs {
    files: HashMap<u32, Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    writable: bool,
}

impl Msrs {
    pub(super) fn read(&mut self, root: &Root, cpu: u32, msr: u32, width: Width) -> Outcome<u64> {
        let address = check(cpu, msr, width)?;
        let open = self.open(root, cpu, address, false)?;
        let mut bytes = [0; 8];
        // The driver moves 8 bytes at a time; a longer read would read the same MSR again.
        match open.file.read_exact_at(&mut bytes, msr.into()) {
            Ok(()) => Ok(u64::from_le_bytes(bytes)),
            Err(error) => Err(meaning(address, &error, REMEDY_MSR)),
        }
    }

    pub(super) fn write(&mut self, root: &Root, cpu: u32, msr: u32, width: Width, value: u64) -> Outcome<()> {
        let address = check(cpu, msr, width)?;
        let open = self.open(root, cpu, address, true)?;
        open.file.write_all_at(&value.to_le_bytes(), msr.into()).map_err(|error| meaning(address, &error, REMEDY_MSR))
    }

    pub(super) fn hold_open(&mut self, root: &Root, cpu: u32, msr: u32, write: bool) {
        let _ = self.open(root, cpu, Address::Msr { cpu, msr }, write);
    }

    fn open(&mut self, root: &Root, cpu: u32, address: Address, write: bool) -> Outcome<&Open> {
        let known = self.files.get(&cpu).is_some_and(|open| open.writable || !write);
        if !known {
            let path = root.join(format!("dev/cpu/{cpu}/msr"));
            let file = OpenOptions::new().read(true).write(write).open(&path).map_err(|error| match error.kind() {
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
