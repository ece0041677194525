//! The machine that this runs on: its processor, its CPUs, and the way to its registers.

use std::fs;

use pericore_catalog::{Family, kernel};

use super::cpu_list::cpu_list;
use super::place::{reading_first, stay_on};
use super::processor::INTEL;
use super::{LinuxSpace, Processor, Root};
use crate::discover::Cpu;

/// Why this machine's uncore cannot be observed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The catalogue does not have the processor.
    #[error(
        "this processor ({vendor}, family {family}, model {model}{}) has no uncore that pericore knows; name a software machine \
         instead, for example --machine e5-2600, or see `pericore doctor`",
        if *.is_virtual { ", in a virtual machine" } else { "" }
    )]
    UnknownProcessor {
        /// CPUID vendor.
        vendor: String,
        /// Display family.
        family: u16,
        /// Display model.
        model: u16,
        /// True in a virtual machine.
        is_virtual: bool,
    },
    /// The system does not tell which CPUs there are.
    #[error("cannot tell the online CPUs and their packages from {path}: {why}; mount sysfs and try again")]
    NoTopology {
        /// File.
        path: String,
        /// What is wrong.
        why: String,
    },
}

/// This machine.
#[derive(Debug, Clone)]
pub struct Host {
    root: Root,
    /// Processor.
    pub processor: Processor,
    /// Online logical CPUs, of each package the one first from which its registers are reached.
    pub cpus: Vec<Cpu>,
}

impl Host {
    /// Looks at the processor and at the CPUs; opens no register.
    ///
    /// # Errors
    /// [`HostError::NoTopology`] if sysfs does not tell.
    pub fn new(root: Root, processor: Processor) -> Result<Self, HostError> {
        let cpus = reading_first(&root, online(&root)?);
        Ok(Self { root, processor, cpus })
    }

    /// The family of the catalogue that the processor belongs to; where the catalogue has none of its registers, its
    /// PMUs as the kernel's driver offers them ([`kernel::counts_alone`]).
    ///
    /// # Errors
    /// [`HostError::UnknownProcessor`] if it belongs to none.
    pub fn family(&self) -> Result<&'static Family, HostError> {
        let Processor { vendor, family, model, is_virtual, stepping, .. } = &self.processor;
        let of_kernel = || kernel::family_of_cpu(*family, *model, *stepping).filter(|_| vendor == INTEL);
        let known = self.processor.known_as().or_else(|| of_kernel().map(kernel::ShippedKernel::family));
        known.ok_or_else(|| HostError::UnknownProcessor {
            vendor: vendor.clone(),
            family: *family,
            model: *model,
            is_virtual: *is_virtual,
        })
    }

    /// The registers. Nothing is opened yet.
    pub fn space(&self) -> LinuxSpace {
        LinuxSpace::of(self.root.clone(), self.cpus.clone())
    }

    /// The same for a thread that reads one socket: see [`stay_near`](Self::stay_near).
    pub fn space_of(&self, socket: u16) -> LinuxSpace {
        self.stay_near(socket);
        self.space()
    }

    /// Keeps this thread on the CPU from which a socket's registers are reached, so that no access interrupts another
    /// CPU. Where that may not be, registers are reached all the same.
    pub fn stay_near(&self, socket: u16) {
        if let Some(cpu) = self.cpus.iter().find(|cpu| cpu.package == socket) {
            // A container may be kept from the CPU. Counts do not depend on it.
            let _ = stay_on(cpu.number);
        }
    }

    /// Logical CPUs of a core, as the first one that is online tells; 1 if it does not.
    pub fn threads_per_core(&self) -> u16 {
        let of = |cpu: &Cpu| {
            let path = format!("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu.number);
            cpu_list(fs::read_to_string(self.root.join(path)).ok()?.trim())
        };
        let siblings = self.cpus.first().and_then(of).map_or(1, |cpus| cpus.len());
        u16::try_from(siblings).unwrap_or(1).max(1)
    }

    /// Where the system's files are.
    pub const fn root(&self) -> &Root {
        &self.root
    }
}

/// The online CPUs and their packages. Packages, not dies nor memory nodes: a part of several dies or clusters is one socket.
fn online(root: &Root) -> Result<Vec<Cpu>, HostError> {
    let read = |path: &str| {
        let text = fs::read_to_string(root.join(path));
        text.map_err(|error| HostError::NoTopology { path: format!("/{path}"), why: error.to_string() })
    };
    let path = "sys/devices/system/cpu/online";
    let text = read(path)?;
    let not_understood =
        |path: &str, text: &str| HostError::NoTopology { path: format!("/{path}"), why: format!("it reads {text:?}") };
    let numbers = cpu_list(text.trim()).ok_or_else(|| not_understood(path, &text))?;
    let mut cpus = Vec::with_capacity(numbers.len());
    for number in numbers {
        let path = format!("sys/devices/system/cpu/cpu{number}/topology/physical_package_id");
        let text = read(&path)?;
        let package = text.trim().parse().map_err(|_| not_understood(&path, &text))?;
        cpus.push(Cpu { number, package });
    }
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(files: &[(&str, &str)], processor: Processor) -> (tempfile::TempDir, Result<Host, HostError>) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join("sys/devices/system/cpu").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let host = Host::new(Root::at(folder.path()), processor);
        (folder, host)
    }

    const ONE: [(&str, &str); 2] = [("online", "3\n"), ("cpu3/topology/physical_package_id", "0\n")];

    /// The list of siblings of the first CPU tells; without one, and with one that cannot be, a core has one thread.
    #[test]
    fn the_threads_of_a_core_are_its_siblings() {
        for (siblings, threads) in
            [(None, 1), (Some("3,7\n"), 2), (Some("0-3\n"), 4), (Some("3\n"), 1), (Some("x\n"), 1), (Some("\n"), 1)]
        {
            let file = siblings.map(|text| ("cpu3/topology/thread_siblings_list", text));
            let files: Vec<_> = ONE.into_iter().chain(file).collect();
            let (_folder, host) = host(&files, Processor::default());
            assert_eq!(host.unwrap().threads_per_core(), threads, "{siblings:?}");
        }
    }

    /// Family, model and whether it is a guest are told to the user, and the file that does not say what it should.
    #[test]
    fn a_machine_that_cannot_be_observed_is_refused_with_the_reason() {
        let unknown = |is_virtual| {
            let vendor = "AuthenticAMD".to_owned();
            let processor = Processor { vendor, family: 6, model: 45, is_virtual, ..Processor::default() };
            let (_folder, host) = host(&ONE, processor);
            host.unwrap().family().unwrap_err().to_string()
        };
        assert!(unknown(false).starts_with("this processor (AuthenticAMD, family 6, model 45) has no uncore"));
        assert!(
            unknown(true).starts_with("this processor (AuthenticAMD, family 6, model 45, in a virtual machine) has")
        );
        let intel = Processor { vendor: INTEL.to_owned(), family: 6, model: 45, ..Processor::default() };
        assert_eq!(host(&ONE, intel).1.unwrap().family().unwrap().name, "e5-2600");
        for (files, words) in [
            (&[][..], "/sys/devices/system/cpu/online: "),
            (&[("online", "3-\n")], "online: it reads \"3-\\n\""),
            (&[("online", "3\n")], "/sys/devices/system/cpu/cpu3/topology/physical_package_id: "),
            (&[ONE[0], ("cpu3/topology/physical_package_id", "-1\n")], "physical_package_id: it reads \"-1\\n\""),
        ] {
            let (_folder, refused) = host(files, Processor::default());
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }
}
