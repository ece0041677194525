//! Folders that stand for `/`, and the system's own refusals.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use pericore_registers::{AccessError, Address, Bdf, Operation, RegisterSpace, Width};
use tempfile::TempDir;

use super::refusal::meaning;
use super::*;
use crate::discover::Cpu;

/// A folder that stands for `/`.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn put(&self, path: &str, contents: &[u8]) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }

    fn space(&self) -> LinuxSpace {
        LinuxSpace::new(Root::at(self.0.path()))
    }
}

/// Bytes whose value is their offset, modulo 256.
fn ramp(length: usize) -> Vec<u8> {
    (0..length).map(|byte| byte as u8).collect()
}

const IMC: &str = "sys/bus/pci/devices/0000:ff:10.0/config";

fn imc(offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0xff, 0x10, 0), offset }
}

#[test]
fn msrs_are_8_bytes_at_their_number() {
    let folder = Folder::new();
    let path = folder.put("dev/cpu/3/msr", &[0; 0x2000]);
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .write_all_at(&0x1122_3344_5566_7788_u64.to_le_bytes(), 0xd16)
        .unwrap();
    let mut space = folder.space();
    let counter = Address::Msr { cpu: 3, msr: 0xd16 };
    assert_eq!(space.read(counter, Width::B8), Ok(0x1122_3344_5566_7788));
    space.write(counter, Width::B8, 0xabcd).unwrap();
    assert_eq!(space.read(counter, Width::B8), Ok(0xabcd));
    assert_eq!(fs::read(&path).unwrap()[0xd16..0xd1f], [0xcd, 0xab, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(space.read(counter, Width::B4), Err(AccessError::BadCycle { address: counter, width: Width::B4 }));
}

#[test]
fn without_the_module_the_remedy_is_modprobe() {
    let address = Address::Msr { cpu: 0, msr: 0xd16 };
    let error = Folder::new().space().read(address, Width::B8).unwrap_err();
    assert!(error.to_string().contains("modprobe msr"), "{error}");
}

/// Two packages; CPU 4, the first of package 1, goes offline in the middle of it, and takes its file along. What was
/// held open is open.
#[test]
fn where_a_cpu_goes_offline_another_of_its_package_serves() {
    let folder = Folder::new();
    let cpus = [(0, 0), (1, 0), (4, 1), (5, 1), (6, 1)].map(|(number, package)| Cpu { number, package });
    for Cpu { number, .. } in cpus {
        folder.put(&format!("dev/cpu/{number}/msr"), &[number as u8; 64]);
    }
    let gone = Address::Msr { cpu: 4, msr: 8 };
    let write = Operation::Write { address: gone, width: Width::B8, value: 0 };
    let mut space = LinuxSpace::of(Root::at(folder.0.path()), cpus.to_vec());
    let mut late = LinuxSpace::of(Root::at(folder.0.path()), cpus.to_vec());
    fs::remove_file(folder.0.path().join("dev/cpu/4/msr")).unwrap();
    assert_eq!(space.read(gone, Width::B8), Ok(0x0606_0606_0606_0606), "the last one of package 1");
    space.hold_open([write]);
    late.hold_open([write]);
    fs::remove_dir_all(folder.0.path().join("dev/cpu/6")).unwrap();
    assert_eq!(late.write(gone, Width::B8, 7), Ok(()));
    assert_eq!(late.read(gone, Width::B8), Ok(7));
    // With the whole package offline the driver is still there: no module is missing.
    let mut none = LinuxSpace::of(Root::at(folder.0.path()), cpus.to_vec());
    assert_eq!(none.read(gone, Width::B8), Err(AccessError::Unreachable { address: gone }));
    // Nor does another package serve.
    assert_eq!(none.read(Address::Msr { cpu: 1, msr: 8 }, Width::B8), Ok(0x0101_0101_0101_0101));
}

#[test]
fn errors_of_the_system_keep_their_meaning() {
    let msr = Address::Msr { cpu: 0, msr: 1 };
    let kind = |address, code| meaning(address, &io::Error::from_raw_os_error(code), REMEDY_MSR);
    assert_eq!(kind(msr, libc::EIO), AccessError::GeneralProtection { address: msr });
    assert_eq!(kind(msr, libc::ENXIO), AccessError::Unreachable { address: msr });
    for code in [libc::EACCES, libc::EPERM] {
        assert_eq!(kind(msr, code), AccessError::Permission { address: msr, remedy: REMEDY_MSR });
    }
    assert!(matches!(kind(imc(0), libc::EIO), AccessError::Io { .. }));
    assert!(REMEDY_MSR.contains("CAP_SYS_RAWIO"));
}

#[test]
fn a_file_without_rights_is_a_refusal() {
    let folder = Folder::new();
    let path = folder.put("dev/cpu/0/msr", &[0; 64]);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).unwrap();
    if File::open(&path).is_ok() {
        // Root, or the capability to override: nothing is refused.
        return;
    }
    let error = folder.space().read(Address::Msr { cpu: 0, msr: 0 }, Width::B8).unwrap_err();
    assert!(matches!(error, AccessError::Permission { remedy: REMEDY_MSR, .. }), "{error}");
}

#[test]
fn configuration_space_is_read_and_written_at_its_offset() {
    let folder = Folder::new();
    let path = folder.put(IMC, &ramp(4096));
    let mut space = folder.space();
    assert_eq!(space.read(imc(0xa0), Width::B8), Ok(0xa7a6_a5a4_a3a2_a1a0));
    assert_eq!(space.read(imc(0xd8), Width::B4), Ok(0xdbda_d9d8));
    assert_eq!(space.read(imc(0x3), Width::B1), Ok(0x03));
    space.write(imc(0xd8), Width::B4, 0x0040_0304).unwrap();
    assert_eq!(fs::read(&path).unwrap()[0xd7..0xdd], [0xd7, 0x04, 0x03, 0x40, 0x00, 0xdc]);
    for (offset, width) in [(0xa2, Width::B4), (0xa2, Width::B8), (0xffe, Width::B8), (0x1, Width::B2)] {
        assert!(matches!(space.read(imc(offset), width), Err(AccessError::BadCycle { .. })), "{offset:x}");
    }
}

#[test]
fn counters_side_by_side_take_one_system_call() {
    let folder = Folder::new();
    folder.put(IMC, &ramp(4096));
    folder.put("dev/cpu/0/msr", &ramp(64));
    let mut space = folder.space();
    let read = |address, width| Operation::Read { address, width };
    let batch = [
        read(imc(0xa0), Width::B8),
        read(imc(0xa8), Width::B8),
        read(imc(0xb0), Width::B4),
        // A gap, another space, and a write end a run.
        read(imc(0xc0), Width::B8),
        read(Address::Msr { cpu: 0, msr: 8 }, Width::B8),
        Operation::Write { address: imc(0xf4), width: Width::B4, value: 1 },
        read(imc(0xf4), Width::B4),
    ];
    let mut outcomes = Vec::new();
    space.batch(&batch, &mut outcomes);
    let expected =
        [0xa7a6_a5a4_a3a2_a1a0, 0xafae_adac_abaa_a9a8, 0xb3b2_b1b0, 0xc7c6_c5c4_c3c2_c1c0, 0x0f0e_0d0c_0b0a_0908, 0, 1];
    assert_eq!(outcomes, expected.map(Ok));
    assert_eq!(space.system_calls(), 5);
}

/// 0xffff_fff0 in the lower half may be about to carry into the upper half, which is read in a cycle of its own.
#[test]
fn a_counter_about_to_carry_is_read_twice() {
    let folder = Folder::new();
    let mut bytes = ramp(256);
    bytes[0xa8..0xb0].copy_from_slice(&0x0000_0001_ffff_fff0_u64.to_le_bytes());
    folder.put(IMC, &bytes);
    let mut space = folder.space();
    let read = |offset| Operation::Read { address: imc(offset), width: Width::B8 };
    let mut outcomes = Vec::new();
    space.batch(&[read(0xa0), read(0xa8), read(0xb0)], &mut outcomes);
    assert_eq!(outcomes, [0xa7a6_a5a4_a3a2_a1a0, 0x0000_0001_ffff_fff0, 0xb7b6_b5b4_b3b2_b1b0].map(Ok));
    assert_eq!(space.system_calls(), 2, "three counters in one call, and the one in doubt again");
}

#[test]
fn functions_that_are_not_there_read_as_all_ones() {
    let folder = Folder::new();
    folder.put(IMC, &ramp(256));
    let mut space = folder.space();
    let absent = Address::Pci { bdf: Bdf::new(0xff, 0x10, 1), offset: 0 };
    assert_eq!(space.read(absent, Width::B4), Ok(0xffff_ffff));
    assert_eq!(space.write(absent, Width::B4, 0), Ok(()));
    assert_eq!(space.read(imc(0x100), Width::B4), Ok(0xffff_ffff), "a conventional function ends at byte 256");
}

#[test]
fn procfs_serves_where_sysfs_is_missing() {
    let folder = Folder::new();
    folder.put("proc/bus/pci/ff/10.0", &ramp(256));
    assert_eq!(folder.space().read(imc(0x10), Width::B4), Ok(0x1312_1110));
}

/// A container's empty folder says nothing about the bus.
#[test]
fn an_empty_list_of_functions_is_no_list() {
    let folder = Folder::new();
    folder.put("proc/bus/pci/ff/10.0", &ramp(256));
    fs::create_dir_all(folder.0.path().join("sys/bus/pci/devices")).unwrap();
    assert_eq!(folder.space().read(imc(0x10), Width::B4), Ok(0x1312_1110));
}

/// Without O_SYNC the kernel leaves it to firmware's memory types whether registers are cached.
#[test]
fn memory_is_opened_for_uncached_access() {
    let folder = Folder::new();
    let path = folder.put("dev/mem", &ramp(4096)).canonicalize().unwrap();
    let mut space = folder.space();
    assert_eq!(space.read(Address::Mmio { physical: 8 }, Width::B4), Ok(0x0b0a_0908));
    let of_this = fs::read_dir("/proc/self/fd")
        .unwrap()
        .flatten()
        .filter(|fd| fs::read_link(fd.path()).is_ok_and(|to| to == path));
    let numbers: Vec<_> = of_this.map(|fd| fd.file_name()).collect();
    assert_eq!(numbers.len(), 1);
    let flags = fs::read_to_string(Path::new("/proc/self/fdinfo").join(&numbers[0])).unwrap();
    let octal = flags.lines().find_map(|line| line.strip_prefix("flags:")).unwrap().trim();
    // fcntl.h: O_SYNC is 04010000.
    assert_eq!(u32::from_str_radix(octal, 8).unwrap() & 0o401_0000, 0o401_0000);
}

#[test]
fn memory_is_mapped_page_by_page() {
    let folder = Folder::new();
    let path = folder.put("dev/mem", &ramp(3 * 4096));
    let mut space = folder.space();
    let at = |physical| Address::Mmio { physical };
    assert_eq!(space.read(at(0x1008), Width::B8), Ok(0x0f0e_0d0c_0b0a_0908));
    assert_eq!(space.read(at(0x2004), Width::B4), Ok(0x0706_0504));
    assert_eq!((space.read(at(0x2003), Width::B1), space.read(at(0x2006), Width::B2)), (Ok(3), Ok(0x0706)));
    space.write(at(0x1010), Width::B4, 0xdead_beef).unwrap();
    assert_eq!(space.read(at(0x1010), Width::B8), Ok(0x1716_1514_dead_beef));
    assert_eq!(fs::read(&path).unwrap()[0x1010..0x1014], [0xef, 0xbe, 0xad, 0xde]);
    assert!(matches!(space.read(at(0x1002), Width::B4), Err(AccessError::BadCycle { .. })));
    assert!(matches!(space.read(at(0x9000), Width::B4), Err(AccessError::Unreachable { .. })));
}

#[test]
fn nothing_is_opened_that_is_not_read() {
    let folder = Folder::new();
    folder.put(IMC, &ramp(256));
    let mut space = folder.space();
    assert_eq!(space.read(imc(0), Width::B4), Ok(0x0302_0100));
    // There is neither an msr file nor a mem file, and nobody has missed them.
    assert_eq!(space.system_calls(), 1);
}

/// Two packages of one core with two threads; CPU 2 is offline. Dies and memory nodes are there and do not matter.
#[test]
fn cpus_belong_to_packages() {
    let folder = Folder::new();
    folder.put("sys/devices/system/cpu/online", b"0-1,3\n");
    for (cpu, package) in [(0, 0), (1, 1), (3, 1)] {
        let topology = format!("sys/devices/system/cpu/cpu{cpu}/topology");
        folder.put(&format!("{topology}/physical_package_id"), format!("{package}\n").as_bytes());
        folder.put(&format!("{topology}/die_id"), format!("{cpu}\n").as_bytes());
    }
    let host = Host::new(Root::at(folder.0.path()), Processor::default()).unwrap();
    let expected = [(0, 0), (1, 1), (3, 1)].map(|(number, package)| Cpu { number, package });
    assert_eq!(host.cpus, expected);
    assert_eq!(host.threads_per_core(), 1);
    folder.put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", b"0,2\n");
    assert_eq!(host.threads_per_core(), 2);
}

#[test]
fn a_topology_that_makes_no_sense_is_refused() {
    let folder = Folder::new();
    let look = || Host::new(Root::at(folder.0.path()), Processor::default()).unwrap_err().to_string();
    assert!(look().contains("/sys/devices/system/cpu/online"), "{}", look());
    for text in ["", "3-1", "0-99999999", "x"] {
        folder.put("sys/devices/system/cpu/online", text.as_bytes());
        assert!(look().contains(&format!("{text:?}")), "{}", look());
    }
}

fn processor(vendor: &str, signature: u32) -> Processor {
    let bytes = vendor.as_bytes().to_vec();
    let word = move |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    Processor::read(move |leaf| match leaf {
        0 => [1, word(0), word(8), word(4)],
        1 => [signature, 0, 0, 0],
        _ => [0; 4],
    })
}

#[test]
fn cpuid_names_the_family() {
    let name = |signature| processor("GenuineIntel", signature).known_as().map(|family| family.name);
    assert_eq!(name(0x206d7), Some("e5-2600"));
    assert_eq!(name(0x106a5), Some("nehalem"));
    assert_eq!(name(0xc06f2), Some("emerald-rapids"));
    assert_eq!(name(0x806f8), Some("sapphire-rapids"));
    // Granite Rapids.
    assert_eq!(name(0xa06d1), None);
    assert!(processor("AuthenticAMD", 0x206d7).known_as().is_none());
    let host_error = HostError::UnknownProcessor { vendor: "x".into(), family: 25, model: 1, is_virtual: true };
    assert!(host_error.to_string().contains("virtual machine") && host_error.to_string().contains("--machine"));
}

/// Files that are gone from the folder can still be accessed, and none but those.
#[test]
fn what_is_held_open_is_not_opened_again() {
    const PROC: &str = "proc/bus/pci/ff/10.1";
    let folder = Folder::new();
    folder.put("dev/cpu/0/msr", &ramp(64));
    folder.put("dev/mem", &ramp(2 * 4096));
    folder.put(IMC, &ramp(256));
    let read = |address, width| Operation::Read { address, width };
    let write = |address, width| Operation::Write { address, width, value: 5 };
    let msr = Address::Msr { cpu: 0, msr: 16 };
    let other = Address::Msr { cpu: 1, msr: 16 };
    let memory = Address::Mmio { physical: 4096 };
    let mut space = folder.space();
    // Reading comes first, as in a session, and what is not there is no error yet.
    space.hold_open([read(msr, Width::B8), write(msr, Width::B8), write(imc(8), Width::B4), write(memory, Width::B4)]);
    space.hold_open([read(other, Width::B8)]);
    assert!(!space.reads_through_proc());
    for gone in ["dev", "sys"] {
        fs::remove_dir_all(folder.path(gone)).unwrap();
    }
    for (address, width) in [(msr, Width::B8), (imc(8), Width::B4), (memory, Width::B4)] {
        assert_eq!(space.write(address, width, 5), Ok(()));
        assert_eq!(space.read(address, width), Ok(5));
    }
    assert!(matches!(space.read(other, Width::B8), Err(AccessError::Permission { .. })));
    // Without sysfs, what /proc has.
    let mut space = folder.space();
    folder.put(PROC, &ramp(256));
    space.hold_open([read(Address::Pci { bdf: Bdf::new(0xff, 0x10, 1), offset: 0 }, Width::B4)]);
    assert!(space.reads_through_proc());
}

/// One CPU, and the kernel's rule on writes.
fn host_with(path: &str, text: &str) -> (Folder, Host) {
    let folder = Folder::new();
    folder.put("sys/devices/system/cpu/online", b"0\n");
    folder.put("sys/devices/system/cpu/cpu0/topology/physical_package_id", b"0\n");
    folder.put(path, text.as_bytes());
    let host = Host::new(Root::at(folder.0.path()), Processor::default()).unwrap();
    (folder, host)
}

/// The kernel's rule is believed before anything is written, and only where it matters.
#[test]
fn what_forbids_writes_is_found_before_the_first() {
    let write = |address| Operation::Write { address, width: Width::B4, value: 0 };
    let (msr, pci) = (Address::Msr { cpu: 0, msr: 0xd10 }, imc(0xd8));
    let (lockdown, rule) = ("sys/kernel/security/lockdown", "sys/module/msr/parameters/allow_writes");
    let integrity = || Err(Forbidden::Lockdown { mode: "integrity".to_owned() });
    for (path, text, operation, expected) in [
        (lockdown, "none [integrity] confidentiality\n", write(pci), integrity()),
        (lockdown, "none [integrity] confidentiality\n", write(msr), integrity()),
        (lockdown, "none [integrity] confidentiality\n", Operation::Read { address: msr, width: Width::B8 }, Ok(())),
        (lockdown, "[none] integrity confidentiality\n", write(msr), Ok(())),
        (rule, "off\n", write(msr), Err(Forbidden::MsrWrites)),
        (rule, "off\n", write(pci), Ok(())),
        (rule, "default\n", write(msr), Ok(())),
    ] {
        let (_folder, host) = host_with(path, text);
        assert_eq!(host.may_write([operation]), expected, "{path}: {text}");
    }
    let refused = meaning(pci, &io::Error::from_raw_os_error(libc::EROFS), REMEDY_PCI).to_string();
    assert!(refused.contains("mounted read-only"), "{refused}");
}

/// 2,000 functions leave as many files open as were wanted to stay, and few besides.
#[test]
fn discovery_keeps_few_files_open() {
    let folder = Folder::new();
    let functions =
        || (0..2000_u16).map(|number| Bdf::new((number >> 8) as u8, (number >> 3) as u8 & 31, number as u8 & 7));
    for bdf in functions() {
        folder.put(&format!("sys/bus/pci/devices/{bdf}/config"), &ramp(256));
    }
    let mut space = folder.space();
    let open = || {
        fs::read_dir("/proc/self/fd")
            .unwrap()
            .flatten()
            .filter(|entry| fs::read_link(entry.path()).is_ok_and(|path| path.starts_with(folder.0.path())))
            .count()
    };
    let kept = Address::Pci { bdf: Bdf::new(0, 0, 0), offset: 4 };
    space.hold_open([Operation::Read { address: kept, width: Width::B4 }]);
    for bdf in functions() {
        assert_eq!(space.read(Address::Pci { bdf, offset: 4 }, Width::B4), Ok(0x0706_0504));
    }
    assert!(open() <= 65, "{} files are open", open());
    fs::remove_file(folder.path("sys/bus/pci/devices/0000:00:00.0/config")).unwrap();
    assert_eq!(space.read(kept, Width::B4), Ok(0x0706_0504), "what is held needs not be opened again");
}
