use std::sync::Mutex;
use std::time::Duration;

use pericore_machine::chassis::Shape;
use pericore_registers::{Address, Bdf, Operation, Outcome, Width};

use super::*;
use crate::backend::Response;
use crate::platform::{Cpu, Function};

/// Replies each access with the next of what was prepared, and keeps what was requested.
struct Prepared {
    platform: Platform,
    replies: Mutex<Vec<Outcome<u64>>>,
    requested: Mutex<Vec<Operation>>,
}

impl Prepared {
    fn of(family: &str, replies: impl IntoIterator<Item = Outcome<u64>>) -> Self {
        let function = Function {
            bdf: Bdf::new(0x7f, 0x13, 1),
            id: 0x3cb0_8086,
            class: 0x1101_0007,
            subsystem: 0x0611_15d9,
            config_bytes: 4096,
        };
        let elsewhere = Function { bdf: Bdf { segment: 1, ..function.bdf }, config_bytes: 256, ..function };
        let platform = Platform {
            shape: Shape::new(pericore_catalog::family(family).unwrap(), 1, 2, 1).unwrap(),
            cpus: vec![Cpu { number: 4, machine: 1, socket: 0, core: 1 }],
            functions: vec![function, elsewhere],
            allows_memory: false,
            hertz: 2_700_000_000,
            origin: 0x0102_0304,
        };
        let mut replies: Vec<Outcome<u64>> = replies.into_iter().collect();
        replies.reverse();
        Self { platform, replies: Mutex::new(replies), requested: Mutex::default() }
    }

    fn requested(&self) -> Vec<Operation> {
        std::mem::take(&mut self.requested.lock().unwrap())
    }
}

impl Backend for Prepared {
    fn platform(&self) -> &Platform {
        &self.platform
    }

    fn access(&self, operation: Operation) -> Response {
        self.requested.lock().unwrap().push(operation);
        let outcome = self.replies.lock().unwrap().pop().expect("an access more than was prepared");
        Response { outcome, at: Duration::ZERO }
    }

    /// A leaf that says which it is; leaf 4 says that there are no caches.
    fn cpuid(&self, cpu: u32, leaf: u32, subleaf: u32) -> [u32; 4] {
        if leaf == 4 { [0; 4] } else { [leaf, subleaf, cpu, 0] }
    }
}

const MSR: Address = Address::Msr { cpu: 1, msr: 0xd10 };
const PLACE: Bdf = Bdf::new(0x7f, 0x13, 1);

fn fault<T>(address: Address) -> Outcome<T> {
    Err(AccessError::GeneralProtection { address })
}

fn denied<T>(address: Address) -> Outcome<T> {
    Err(AccessError::Permission { address, remedy: "be root" })
}

/// Linux's drivers/char: `msr_write` stores each eight bytes to the same register, and gives the bytes that it stored
/// before the first fault; without any, EIO.
#[test]
fn values_are_written_one_by_one_until_a_fault() {
    let content = Content::Msr { cpu: 1 };
    let bytes = [0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 1, 0, 0, 0, 0, 0, 0, 0x80, 2, 0, 0, 0, 0, 0, 0, 0];
    let write = |value| Operation::Write { address: MSR, width: Width::B8, value };
    let values = [0xfedc_ba98_7654_3210, 0x8000_0000_0000_0001, 2].map(write);
    let well = Prepared::of("e5-2600", [Ok(0), Ok(0), Ok(0)]);
    // The driver keeps the low half of the offset.
    assert_eq!(super::write(&well, &content, 0x7_0000_0d10, &bytes), Ok(24));
    assert_eq!(well.requested(), values);
    let third = Prepared::of("e5-2600", [Ok(0), Ok(0), fault(MSR)]);
    assert_eq!(super::write(&third, &content, 0xd10, &bytes), Ok(16));
    let first = Prepared::of("e5-2600", [fault(MSR)]);
    assert_eq!(super::write(&first, &content, 0xd10, &bytes), Err(libc::EIO));
    let forbidden = Prepared::of("e5-2600", [denied(MSR)]);
    assert_eq!(super::write(&forbidden, &content, 0xd10, &bytes), Err(libc::EPERM));
    assert_eq!(super::write(&forbidden, &content, 0xd10, &bytes[..9]), Err(libc::EINVAL));
}

#[test]
fn a_value_is_read_as_often_as_there_is_room_until_a_fault() {
    let content = Content::Msr { cpu: 1 };
    let read = Operation::Read { address: MSR, width: Width::B8 };
    let well = Prepared::of("e5-2600", [Ok(0x0102_0304_0506_0708), Ok(9)]);
    let bytes = vec![8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(super::read(&well, &content, 0x7_0000_0d10, 16), Ok(bytes.clone()));
    assert_eq!(well.requested(), [read; 2]);
    let second = Prepared::of("e5-2600", [Ok(0x0102_0304_0506_0708), fault(MSR)]);
    assert_eq!(super::read(&second, &content, 0xd10, 24), Ok(bytes[..8].to_vec()));
    assert_eq!(super::read(&Prepared::of("e5-2600", [fault(MSR)]), &content, 0xd10, 8), Err(libc::EIO));
    assert_eq!(super::read(&Prepared::of("e5-2600", [denied(MSR)]), &content, 0xd10, 8), Err(libc::EPERM));
    assert_eq!(super::read(&Prepared::of("e5-2600", []), &content, 0xd10, 12), Err(libc::EINVAL));
}

/// cpuid(4): the low half of the position is EAX, the high half ECX; a longer read goes on to the next leaf.
#[test]
fn a_leaf_is_read_by_its_position() {
    let backend = Prepared::of("e5-2600", []);
    let words = |words: [u32; 8]| words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    let content = Content::Cpuid { cpu: 1 };
    assert_eq!(super::read(&backend, &content, 3 << 32 | 6, 32), Ok(words([6, 3, 1, 0, 7, 3, 1, 0])));
    assert_eq!(super::read(&backend, &content, 6, 24), Err(libc::EINVAL));
    assert_eq!(super::write(&backend, &content, 6, &[0; 16]), Err(libc::EACCES));
}

/// A load or store of 1, 2, 4 or 8 bytes is one; what nothing replies is EFAULT, as mem(4) has it.
#[test]
fn memory_is_accessed_in_one_cycle() {
    let content = Content::Memory { is_open: true };
    let address = Address::Mmio { physical: 0xfb02_2808 };
    let widths = [Width::B1, Width::B2, Width::B4, Width::B8];
    let backend = Prepared::of("emerald-rapids", [const { Ok(0x0807_0605_0403_0201) }; 8]);
    for (size, width) in [1, 2, 4, 8].into_iter().zip(widths) {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(super::read(&backend, &content, 0xfb02_2808, size), Ok(bytes[..size].to_vec()));
        assert_eq!(super::write(&backend, &content, 0xfb02_2808, &bytes[..size]), Ok(size));
        let value = 0x0807_0605_0403_0201 & width.mask();
        let both = [Operation::Read { address, width }, Operation::Write { address, width, value }];
        assert_eq!(backend.requested(), both);
    }
    for size in [0, 3, 16] {
        assert_eq!(super::read(&backend, &content, 0xfb02_2808, size), Err(libc::EINVAL));
        assert_eq!(super::write(&backend, &content, 0xfb02_2808, &vec![0; size]), Err(libc::EINVAL));
    }
    let nobody = Prepared::of("emerald-rapids", [fault(address), fault(address), denied(address), denied(address)]);
    let mut errors = Vec::new();
    for _ in 0..2 {
        errors.extend(super::read(&nobody, &content, 0xfb02_2808, 4).err());
        errors.extend(super::write(&nobody, &content, 0xfb02_2808, &[0; 4]).err());
    }
    assert_eq!(errors, [libc::EFAULT, libc::EFAULT, libc::EPERM, libc::EPERM]);
}

/// Seven bytes from 0xd7 on: a byte, a dword, a word. A cycle that nobody claims reads as all ones and is lost when
/// written (PCI Local Bus 3.0, 3.3.3.4).
#[test]
fn a_span_of_configuration_space_is_cut_into_cycles() {
    let content = Content::Config { bdf: PLACE, bytes: 256 };
    let at = |offset| Address::Pci { bdf: PLACE, offset };
    let cycles = [(0xd7, Width::B1), (0xd8, Width::B4), (0xdc, Width::B2)];
    let backend = Prepared::of("e5-2600", [Ok(0x11), fault(at(0xd8)), Ok(0x7766)]);
    let bytes = vec![0x11, 0xff, 0xff, 0xff, 0xff, 0x66, 0x77];
    assert_eq!(super::read(&backend, &content, 0xd7, 7), Ok(bytes));
    assert_eq!(backend.requested(), cycles.map(|(offset, width)| Operation::Read { address: at(offset), width }));
    let backend = Prepared::of("e5-2600", [Ok(0), fault(at(0xd8)), Ok(0)]);
    assert_eq!(super::write(&backend, &content, 0xd7, &[1, 2, 3, 4, 5, 6, 7]), Ok(7));
    let writes = cycles.into_iter().zip([1, 0x0504_0302, 0x0706]);
    let writes = writes.map(|((offset, width), value)| Operation::Write { address: at(offset), width, value });
    assert_eq!(backend.requested(), writes.collect::<Vec<_>>());
    let backend = Prepared::of("e5-2600", [Ok(0), Ok(0)]);
    assert_eq!(super::write(&backend, &content, 0xfd, &[1, 2, 3, 4]), Ok(3), "the space ends after three bytes");
}

/// Without CAP_SYS_ADMIN, a file of configuration space ends after what may be read, and nothing is written.
#[test]
fn configuration_space_that_is_denied_ends_early() {
    let content = Content::Config { bdf: PLACE, bytes: 256 };
    let address = Address::Pci { bdf: PLACE, offset: 0x40 };
    let backend = Prepared::of("e5-2600", [Ok(0x4433_2211), denied(address)]);
    assert_eq!(super::read(&backend, &content, 0x3c, 12), Ok(vec![0x11, 0x22, 0x33, 0x44]));
    let backend = Prepared::of("e5-2600", [Ok(0), denied(address)]);
    assert_eq!(super::write(&backend, &content, 0x3c, &[0; 12]), Err(libc::EPERM));
}

fn text(tree: &Tree, path: &str) -> String {
    match tree.find(path).map(|node| &node.content) {
        Some(Content::Text(bytes)) => String::from_utf8(bytes.clone()).unwrap(),
        other => panic!("{path}: {other:?}"),
    }
}

/// Of the header's dwords (PCI Local Bus 3.0, 6.1): device and vendor; class and revision; both of the subsystem.
#[test]
fn a_function_shows_its_header_in_parts() {
    let tree = super::tree(&Prepared::of("e5-2600", []));
    for (name, shown) in [
        ("vendor", "0x8086\n"),
        ("device", "0x3cb0\n"),
        ("class", "0x110100\n"),
        ("revision", "0x07\n"),
        ("subsystem_vendor", "0x15d9\n"),
        ("subsystem_device", "0x0611\n"),
    ] {
        assert_eq!(text(&tree, &format!("/sys/bus/pci/devices/0000:7f:13.1/{name}")), shown, "{name}");
    }
    // Bus 7F, device 13, function 1 in one number: 0111 1111 10011 001.
    let list = text(&tree, "/proc/bus/pci/devices");
    let lines: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], [&["7f99", "80863cb0", "0"][..], &["0"; 14]].concat());
}

/// A file of configuration space is as long as it; other segments are in sysfs alone.
#[test]
fn files_are_where_the_system_has_them() {
    let tree = super::tree(&Prepared::of("e5-2600", []));
    let found = |path: &str| tree.find(path).map(|node| (node.mode, node.size()));
    for (path, mode_and_size) in [
        ("/proc/bus/pci/7f/13.1", Some((0o644, 4096))),
        ("/sys/bus/pci/devices/0000:7f:13.1/config", Some((0o644, 4096))),
        ("/sys/bus/pci/devices/0001:7f:13.1/config", Some((0o644, 256))),
        ("/sys/bus/pci/devices/0001:7f:13.1/vendor", Some((0o444, 7))),
        ("/dev/cpu/4/msr", Some((0o600, 0))),
        ("/dev/cpu/4/cpuid", Some((0o400, 0))),
        ("/dev/cpu/1/msr", None),
        // No unit of an E5-2600 is in memory.
        ("/dev/mem", None),
    ] {
        assert_eq!(found(path), mode_and_size, "{path}");
    }
    assert!(matches!(tree.find("/dev/cpu/4/msr").unwrap().content, Content::Msr { cpu: 1 }));
    let tree = super::tree(&Prepared::of("emerald-rapids", []));
    assert!(matches!(tree.find("/dev/mem").unwrap().content, Content::Memory { is_open: false }));
}

#[test]
fn constant_files_are_read_in_pieces_and_never_written() {
    let backend = Prepared::of("e5-2600", []);
    let content = Content::Text(b"0-3,5\n".to_vec());
    for (offset, size, piece) in [(0, 100, "0-3,5\n"), (2, 3, "3,5"), (5, 1, "\n"), (6, 4, ""), (u64::MAX, 9, "")] {
        assert_eq!(super::read(&backend, &content, offset, size), Ok(piece.as_bytes().to_vec()), "{offset} {size}");
    }
    assert_eq!(super::read(&backend, &Content::Mapped(b"abc"), 1, usize::MAX), Ok(b"bc".to_vec()));
    assert_eq!(super::write(&backend, &content, 0, b"x"), Err(libc::EACCES));
    let folder = Content::Folder(std::collections::BTreeMap::new());
    assert_eq!(super::read(&backend, &folder, 0, 1), Err(libc::EISDIR));
    assert_eq!(super::write(&backend, &folder, 0, b"x"), Err(libc::EISDIR));
}

/// ld.so(8): the loader takes every library that the file names, ours before those of the host.
#[test]
fn the_loaders_list_names_our_library_first() {
    let mut tree = Tree::default();
    load_always(&mut tree);
    assert!(text(&tree, LOADERS_LIST).starts_with("/dev/cpu/.pericore/door.so\n"));
    assert_eq!(tree.find(LOADERS_LIST).unwrap().mode, 0o644);
}
