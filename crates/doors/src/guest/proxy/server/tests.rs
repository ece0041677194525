use std::thread::JoinHandle;
use std::time::Duration;

use pericore_machine::MachineSpec;
use pericore_registers::Bdf;

use super::super::config::Window;
use super::*;
use crate::Idle;

/// QEMU's commands, by their numbers (include/hw/remote/mpqemu-link.h of QEMU 7.2).
const SYNC_MEMORY: i32 = 0;
const CONFIG_WRITE: i32 = 2;
const CONFIG_READ: i32 = 3;
const BAR_WRITE: i32 = 4;
const BAR_READ: i32 = 5;
const SET_INTERRUPT: i32 = 6;
const RESET: i32 = 7;

/// QEMU's end of a proxy, and the machine behind the other.
struct Qemu {
    stream: UnixStream,
    server: JoinHandle<Result<(), ProxyError>>,
    hardware: std::sync::Arc<Mutex<Hardware>>,
}

impl Qemu {
    fn start() -> Self {
        let chassis = MachineSpec::parse("emerald-rapids").unwrap().chassis().unwrap();
        let mut hardware = Hardware::new(chassis, Box::new(Idle), 1_000_000_000);
        hardware.keep_accesses();
        let hardware = std::sync::Arc::new(Mutex::new(hardware));
        let (stream, theirs) = UnixStream::pair().unwrap();
        let config = ConfigSpace::new(&[Window { first: 0xe000_0000, bytes: 0x80_0000 }]);
        let behind = std::sync::Arc::clone(&hardware);
        let server = std::thread::spawn(move || serve(theirs, config, &behind, &GuestClock::default()));
        Self { stream, server, hardware }
    }

    fn send(&mut self, command: i32, data: &[u8]) {
        let mut message = command.to_le_bytes().to_vec();
        message.extend([0; 4]);
        message.extend((data.len() as u64).to_le_bytes());
        message.extend(data);
        self.stream.write_all(&message).unwrap();
    }

    fn reply(&mut self) -> u64 {
        let mut reply = [0; 24];
        self.stream.read_exact(&mut reply).unwrap();
        assert_eq!(reply[..16], [1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0], "a reply of eight bytes");
        u64::from_le_bytes(*reply.last_chunk().unwrap())
    }

    /// A load or store of a BAR: address, value, size, is-memory.
    fn bar(&mut self, command: i32, physical: u64, bytes: u32, value: u64) -> u64 {
        let data = [&physical.to_le_bytes()[..], &value.to_le_bytes(), &bytes.to_le_bytes(), &[1, 0, 0, 0]].concat();
        self.send(command, &data);
        self.reply()
    }

    /// A configuration cycle: address, value, length.
    fn config(&mut self, command: i32, offset: u32, bytes: u32, value: u32) -> u64 {
        self.send(command, &[offset, value, bytes].map(u32::to_le_bytes).concat());
        self.reply()
    }

    /// Where the first channel's registers are (the guide's 1.8.2): two bases of the uncore bus' D0:F1.
    fn channel(&self) -> u64 {
        let mut hardware = self.hardware.lock().unwrap();
        let mut dword = |offset| {
            let address = Address::Pci { bdf: Bdf::new(0xfe, 0, 1), offset };
            hardware.access(Operation::Read { address, width: Width::B4 }, Duration::ZERO).unwrap().unwrap()
        };
        ((dword(0xd0) & 0x1fff_ffff) << 23) + ((dword(0xd8) & 0x7ff) << 12)
    }

    fn end(self) -> Result<(), ProxyError> {
        drop(self.stream);
        self.server.join().unwrap()
    }
}

/// Table 1-12: the channel's first counter is at 0x22808 and has 48 bits; controls of 32 bits begin at 0x22840. What
/// QEMU's message has beyond the bytes of a store is no part of it.
#[test]
fn stores_and_loads_reach_the_machines_memory() {
    let mut qemu = Qemu::start();
    let channel = qemu.channel();
    assert_eq!(qemu.bar(BAR_WRITE, channel + 0x22808, 8, 0x8765_4321_0fed), 0);
    assert_eq!(qemu.bar(BAR_READ, channel + 0x22808, 8, 0), 0x8765_4321_0fed);
    assert_eq!(qemu.bar(BAR_READ, channel + 0x22808, 4, 0), 0x4321_0fed);
    assert_eq!(qemu.bar(BAR_READ, channel + 0x2280c, 2, 0), 0x8765);
    assert_eq!(qemu.bar(BAR_WRITE, channel + 0x22840, 4, 0xffff_ffff_0000_0305), 0);
    assert_eq!(qemu.bar(BAR_READ, channel + 0x22840, 4, 0), 0x305);
    let hardware = std::sync::Arc::clone(&qemu.hardware);
    assert!(qemu.end().is_ok());
    let address = Address::Mmio { physical: channel + 0x22840 };
    let store = Operation::Write { address, width: Width::B4, value: 0x305 };
    assert!(hardware.lock().unwrap().accesses().iter().any(|access| access.operation == store));
}

/// A load that nothing responds to is all ones, as on a bus (PCI Local Bus 3.0, 3.3.3.4).
#[test]
fn a_load_that_nobody_claims_is_all_ones() {
    let mut qemu = Qemu::start();
    assert_eq!(qemu.bar(BAR_READ, 0x1000, 4, 0), u64::MAX);
    assert_eq!(qemu.bar(BAR_WRITE, 0x1000, 4, 7), 0);
    assert!(qemu.end().is_ok());
}

#[test]
fn configuration_cycles_find_the_device() {
    let mut qemu = Qemu::start();
    assert_eq!(qemu.config(CONFIG_READ, 0, 4, 0), 0x0fac_1b36);
    assert_eq!(qemu.config(CONFIG_WRITE, 0x10, 4, 0xe000_0000), 0);
    assert_eq!(qemu.config(CONFIG_READ, 0x10, 4, 0), 0xe000_0000);
    assert_eq!(qemu.config(CONFIG_READ, 0x12, 2, 0), 0xe000);
    assert!(qemu.end().is_ok());
}

/// QEMU waits for an reply to a reset, and for none to what it tells of memory and interrupts.
#[test]
fn what_wants_no_reply_gets_none() {
    let mut qemu = Qemu::start();
    qemu.send(SYNC_MEMORY, &[0; 192]);
    qemu.send(SET_INTERRUPT, &[]);
    qemu.send(RESET, &[]);
    assert_eq!(qemu.reply(), 0);
    assert_eq!(qemu.config(CONFIG_READ, 2, 2, 0), 0x0fac, "no reply was left over");
    assert!(qemu.end().is_ok());
}

/// unix(7): who closes a socket with something unread in it resets the connection. QEMU ends so when it is killed.
#[test]
fn a_qemu_that_is_gone_is_no_failure() {
    let mut qemu = Qemu::start();
    qemu.send(CONFIG_READ, &[0, 0, 4].map(u32::to_le_bytes).concat());
    qemu.stream.read_exact(&mut [0]).unwrap();
    assert!(qemu.end().is_ok());
}

/// Half a message, and one of another protocol.
#[test]
fn a_message_that_is_none_ends_the_service() {
    let mut broken = Qemu::start();
    broken.stream.write_all(&[3, 0, 0, 0]).unwrap();
    assert!(matches!(broken.end(), Err(ProxyError::Io(_))));
    let mut other = Qemu::start();
    other.send(8, &[]);
    assert!(matches!(other.end(), Err(ProxyError::Message(MessageError::Command(8)))));
}

/// QEMU's message has bytes, and nothing else comes through [`super::message`]'s check of them.
#[test]
fn widths_are_those_of_their_bytes() {
    assert_eq!([1, 2, 4, 8].map(|bytes| width(bytes).bytes()), [1, 2, 4, 8]);
}
