use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use pericore_machine::MachineSpec;
use pericore_registers::{Address, Operation, Width};

use super::*;
use crate::Idle;
use crate::guest::gdb::packet::{Decoder, encode};
use crate::guest::gdb::reply::{hex, to_hex};

const PATIENCE: Duration = Duration::from_secs(60);

/// Where functions, the stack and memory of a caller lie.
const READ_MSR: u64 = 0xffff_ffff_8107_e7c0;
const READ_SAFE: u64 = 0xffff_ffff_8107_e780;
const WRITE_MSR: u64 = 0xffff_ffff_8107_e910;
const CPUID: u64 = 0xffff_ffff_8107_e590;
const STACK: u64 = 0xffff_c900_0000_0ff0;
const CALLER: u64 = 0xffff_ffff_8100_0123;
const RESULT: u64 = 0xffff_c900_0000_2000;

/// Registers by their numbers in gdb's list.
const RAX: usize = 0;
const RDX: usize = 3;
const RSI: usize = 4;
const RDI: usize = 5;
const RSP: usize = 7;
const RIP: usize = 16;

/// A guest that stands at a breakpoint, as QEMU's stub tells of it.
#[derive(Debug, Default)]
struct Guest {
    registers: [u64; 24],
    memory: HashMap<u64, u8>,
    /// The HPET's main counter; the stub reads it while `physical` is on.
    hpet: u64,
    physical: bool,
    steps: u32,
    received: Vec<String>,
}

impl Guest {
    /// At a function, called from [`CALLER`].
    fn at(function: u64, arguments: &[(usize, u64)]) -> Self {
        let mut guest = Self::default();
        (guest.registers[RIP], guest.registers[RSP]) = (function, STACK);
        arguments.iter().for_each(|&(register, value)| guest.registers[register] = value);
        guest.store(STACK, &CALLER.to_le_bytes());
        guest
    }

    fn store(&mut self, at: u64, bytes: &[u8]) {
        self.memory.extend((at..).zip(bytes.iter().copied()));
    }

    fn load(&self, at: u64, bytes: u64) -> Option<Vec<u8>> {
        (at..at + bytes).map(|at| self.memory.get(&at).copied()).collect()
    }

    /// The stub's reply; none to what lets the guest run.
    fn reply(&mut self, question: &str) -> Option<String> {
        let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let place = |text: &str| {
            let (at, bytes) = text.split_once(',').unwrap();
            (number(at), number(bytes))
        };
        let ok = || Some("OK".to_owned());
        if question.starts_with("qSupported") {
            return Some("PacketSize=1000".to_owned());
        }
        if let Some(mode) = question.strip_prefix("Qqemu.PhyMemMode:") {
            self.physical = mode == "1";
            return ok();
        }
        let (first, rest) = question.split_at(1);
        match first {
            "q" => Some("l<target/>".to_owned()),
            "Z" => ok(),
            "g" => Some(self.registers.iter().map(|value| to_hex(&value.to_le_bytes())).collect()),
            "m" if self.physical => {
                assert_eq!(
                    place(rest),
                    (0xfed0_00f0, 8),
                    "IA-PC HPET specification 1.0a, 2.3.7; QEMU has it at FED00000"
                );
                Some(to_hex(&self.hpet.to_le_bytes()))
            }
            "m" => {
                let (at, bytes) = place(rest);
                Some(self.load(at, bytes).map_or_else(|| "E14".to_owned(), |bytes| to_hex(&bytes)))
            }
            "M" => {
                let (at, bytes) = rest.split_once(':').unwrap();
                self.store(place(at).0, &hex(bytes.as_bytes()).unwrap());
                ok()
            }
            "P" => {
                let (register, value) = rest.split_once('=').unwrap();
                self.registers[number(register) as usize] = little_endian(&hex(value.as_bytes()).unwrap());
                ok()
            }
            "s" => {
                self.steps += 1;
                Some("T05thread:01;".to_owned())
            }
            _ => None,
        }
    }

    /// Serves the stub until the client has gone.
    fn serve(mut self) -> (UnixStream, JoinHandle<Self>) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let thread = std::thread::spawn(move || {
            let (mut decoder, mut buffer) = (Decoder::default(), [0; 4096]);
            while let Ok(count @ 1..) = theirs.read(&mut buffer) {
                decoder.push(&buffer[..count]);
                while let Some(question) = decoder.next_payload().unwrap() {
                    let question = String::from_utf8(question).unwrap();
                    if let Some(reply) = self.reply(&question) {
                        theirs.write_all(&encode(reply.as_bytes())).unwrap();
                    }
                    self.received.push(question);
                }
            }
            self
        });
        (ours, thread)
    }
}

/// A machine of an E5-2600, whose first CBo has counted five.
fn machine() -> Mutex<Hardware> {
    let chassis = MachineSpec::parse("e5-2600").unwrap().chassis().unwrap();
    let mut hardware = Hardware::new(chassis, Box::new(Idle), 1_000_000_000);
    let address = Address::Msr { cpu: 0, msr: 0xd16 };
    hardware.access(Operation::Write { address, width: Width::B8, value: 5 }, Duration::ZERO);
    Mutex::new(hardware)
}

/// The guest after its access, resumed, and what was counted.
fn after(guest: Guest, stops: usize) -> (Guest, Counts, GuestClock) {
    let (stream, thread) = guest.serve();
    let mut client = Client::connect(stream, PATIENCE).unwrap();
    let symbols = [
        (READ_MSR, Function::ReadMsr),
        (READ_SAFE, Function::ReadMsrSafe),
        (WRITE_MSR, Function::WriteMsr),
        (CPUID, Function::Cpuid),
    ];
    let mut traps = Traps::set(&mut client, symbols.into()).unwrap();
    let (hardware, clock) = (machine(), GuestClock::default());
    for _ in 0..stops {
        traps.handle(&mut client, 0, &hardware, &clock).unwrap();
        client.resume().unwrap();
    }
    drop(client);
    (thread.join().unwrap(), traps.counts(), clock)
}

/// System V ABI, AMD64 supplement, 3.2: a call has pushed where it goes on, and its result is in RAX.
#[test]
fn an_answered_read_is_over_and_its_caller_goes_on() {
    let (guest, counts, _) = after(Guest::at(READ_MSR, &[(RDI, 0xd16)]), 1);
    assert_eq!([RAX, RSP, RIP].map(|register| guest.registers[register]), [5, STACK + 8, CALLER]);
    assert_eq!(counts, Counts { answered: 1, passed_on: 0 });
    assert_eq!(guest.received.last().unwrap(), "c");
}

#[test]
fn a_safe_read_stores_that_there_was_no_error() {
    let mut guest = Guest::at(READ_SAFE, &[(RDI, 0xd16), (RSI, RESULT)]);
    guest.store(RESULT, &[0xaa; 8]);
    let (guest, ..) = after(guest, 1);
    assert_eq!(guest.load(RESULT, 8).unwrap(), [0, 0, 0, 0, 0xaa, 0xaa, 0xaa, 0xaa], "an int has four bytes");
    assert_eq!([RAX, RIP].map(|register| guest.registers[register]), [5, CALLER]);
}

/// The time-stamp counter is QEMU's. Where the kernel has put an instruction of five bytes that does nothing, the guest
/// goes on behind it, and the kernel's code is read once.
#[test]
fn what_is_not_the_machines_goes_on_behind_the_breakpoint() {
    let mut guest = Guest::at(READ_MSR, &[(RDI, 0x10)]);
    guest.store(READ_MSR, &[0x0f, 0x1f, 0x44, 0, 0]);
    let (guest, counts, _) = after(guest, 1);
    assert_eq!((guest.registers[RIP], guest.registers[RSP], guest.steps), (READ_MSR + 5, STACK, 0));
    assert_eq!(counts, Counts { answered: 0, passed_on: 1 });
}

#[test]
fn code_that_has_been_looked_at_is_not_read_again() {
    let (mut client, thread) = {
        let mut guest = Guest::at(READ_MSR, &[(RDI, 0x10)]);
        guest.store(READ_MSR, &[0xf3, 0x0f, 0x1e, 0xfa, 0x55]);
        let (stream, thread) = guest.serve();
        (Client::connect(stream, PATIENCE).unwrap(), thread)
    };
    let mut traps = Traps::set(&mut client, [(READ_MSR, Function::ReadMsr)].into()).unwrap();
    for _ in 0..3 {
        traps.handle(&mut client, 0, &machine(), &GuestClock::default()).unwrap();
        client.set_register(Register::Rip, READ_MSR);
        client.resume().unwrap();
    }
    drop(client);
    let received = thread.join().unwrap().received;
    let of_code = |question: &&String| question.starts_with(&format!("m{READ_MSR:x}"));
    assert_eq!((received.iter().filter(of_code).count(), traps.counts().passed_on), (1, 3));
}

/// Before the kernel has put it there, the first instruction does something: it is executed.
#[test]
fn an_instruction_that_does_something_is_stepped_over() {
    let mut guest = Guest::at(READ_MSR, &[(RDI, 0x10)]);
    guest.store(READ_MSR, &[0x89, 0xf9, 0x0f, 0x32, 0x48]);
    let (guest, counts, _) = after(guest, 2);
    assert_eq!((guest.registers[RIP], guest.steps, counts.passed_on), (READ_MSR, 2, 2));
}

/// EDX:EAX of `native_write_msr(msr, low, high)`; the counter has 44 bits (the guide's Table 2-10 and 2.3.3).
#[test]
fn a_write_reaches_the_machine_whole() {
    let guest = Guest::at(WRITE_MSR, &[(RDI, 0xd16), (RSI, 0x8765_4321), (RDX, 0x0abc)]);
    let (stream, thread) = guest.serve();
    let mut client = Client::connect(stream, PATIENCE).unwrap();
    let mut traps = Traps::set(&mut client, [(WRITE_MSR, Function::WriteMsr)].into()).unwrap();
    let hardware = machine();
    traps.handle(&mut client, 0, &hardware, &GuestClock::default()).unwrap();
    client.resume().unwrap();
    drop(client);
    assert_eq!(thread.join().unwrap().registers[RIP], CALLER);
    let read = Operation::Read { address: Address::Msr { cpu: 0, msr: 0xd16 }, width: Width::B8 };
    assert_eq!(hardware.lock().unwrap().access(read, Duration::ZERO), Some(Ok(0xabc_8765_4321)));
}

/// A count of QEMU's HPET takes 10 ns: 123,456 of them are 1,234,560 ns.
#[test]
fn the_guests_time_is_its_timers() {
    let mut guest = Guest::at(READ_MSR, &[(RDI, 0xd16)]);
    guest.hpet = 123_456;
    let (.., clock) = after(guest, 1);
    assert_eq!(clock.now(), Duration::from_nanos(1_234_560));
}

/// SDM volume 2, CPUID leaf 0AH: four counters of 48 bits, three fixed ones; every other leaf is QEMU's.
#[test]
fn the_leaf_of_the_counters_is_answered_and_others_are_not() {
    for (leaf, answered) in [(0xa_u32, true), (7, false)] {
        let places = [RESULT, RESULT + 0x10, RESULT + 0x20, RESULT + 0x30];
        // The third and fourth arguments are in RDX and RCX.
        let registers = [RDI, RSI, RDX, 2];
        let mut guest = Guest::at(CPUID, &[0, 1, 2, 3].map(|index| (registers[index], places[index])));
        places.iter().for_each(|&place| guest.store(place, &[0x55; 4]));
        guest.store(RESULT, &leaf.to_le_bytes());
        guest.store(CPUID, &[0x0f, 0x1f, 0x44, 0, 0]);
        let (guest, counts, _) = after(guest, 1);
        let words = places.map(|place| little_endian(&guest.load(place, 4).unwrap()));
        if answered {
            assert_eq!(words, [0x0730_0403, 0x78, 0, 0x603]);
            assert_eq!([RSP, RIP].map(|register| guest.registers[register]), [STACK + 8, CALLER]);
            assert_eq!(counts, Counts { answered: 1, passed_on: 0 });
        } else {
            assert_eq!(words, [7, 0x5555_5555, 0x5555_5555, 0x5555_5555]);
            assert_eq!([RSP, RIP].map(|register| guest.registers[register]), [STACK, CPUID + 5]);
            assert_eq!(counts, Counts { answered: 0, passed_on: 1 });
        }
    }
}

/// A stop that no breakpoint made, as one that was asked for: the guest goes on where it was.
#[test]
fn a_stop_elsewhere_changes_nothing() {
    let (guest, counts, _) = after(Guest::at(CALLER, &[]), 1);
    assert_eq!([RSP, RIP].map(|register| guest.registers[register]), [STACK, CALLER]);
    assert_eq!(counts, Counts::default());
    let breakpoints = guest.received.iter().filter(|question| question.starts_with("Z0,ffffffff8107e")).count();
    assert_eq!(breakpoints, 4, "one at each function: {:?}", guest.received);
}
