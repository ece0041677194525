//! Addresses and bits by hand from the guides: 327043-001 for the E5-2600, and the fake machine's buses.

use pericore_registers::{Address, Bdf, Operation, Width};

use super::*;
use crate::discover::discover;
use crate::plan::Plan;
use crate::selection::Selection;
use crate::testing::{CPUS, Fake, e5_2600};

fn permits(wanted: impl Fn(&str) -> bool) -> Permits {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| wanted(unit.name)).unwrap();
    let mut permits = Permits::new(&CPUS);
    permits.add(&topology);
    permits
}

const fn msr(cpu: u32, msr: u32) -> Address {
    Address::Msr { cpu, msr }
}

const fn channel(offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset }
}

const fn write(address: Address, width: Width, value: u64) -> Operation {
    Operation::Write { address, width, value }
}

const fn read(address: Address, width: Width) -> Operation {
    Operation::Read { address, width }
}

/// Table 2-11: the control of a CBo, at 0xd10 for CBo 0; its counter at 0xd16; Table 2-66: of a channel at 0xd8, the
/// counter at 0xa0 in two halves.
#[test]
fn a_session_may_write_controls_and_counters_of_units() {
    let permits = permits(|name| ["cbo", "imc"].contains(&name));
    for allowed in [
        write(msr(0, 0xd10), Width::B8, 0x0040_0334),
        // Through any CPU of either socket.
        write(msr(3, 0xd10), Width::B8, 0),
        write(msr(1, 0xd04), Width::B8, 0x1_0102),
        write(msr(0, 0xd16), Width::B8, 0xfff_ffff_ffff),
        write(channel(0xd8), Width::B4, 0x0040_0304),
        write(channel(0xf4), Width::B4, 0x1_0100),
        write(channel(0xa0), Width::B8, 0),
        write(channel(0xa4), Width::B4, 0xffff),
        read(channel(0xa0), Width::B8),
    ] {
        assert_eq!(permits.check(allowed), Ok(()), "{allowed:?}");
    }
}

/// IA32_MISC_ENABLE, IA32_PERF_CTL, SMI_COUNT, the command register of a PCI function, memory, CPUs that there are not,
/// other widths, and places between registers.
#[test]
fn nothing_else_may_be_read_or_written() {
    let permits = permits(|_| true);
    for address in [msr(0, 0x1a0), msr(0, 0x199), msr(0, 0x34), msr(0, 0xd1f), msr(0, 0xd0f)] {
        assert_eq!(permits.check(write(address, Width::B8, 0)), Err(NotPermitted::NoRegister), "{address}");
        assert_eq!(permits.check(read(address, Width::B8)), Err(NotPermitted::NoRegister), "{address}");
    }
    assert_eq!(permits.check(write(msr(4, 0xd10), Width::B8, 0)), Err(NotPermitted::NoCpu));
    for (address, width) in [
        (channel(0x04), Width::B4),
        (channel(0x04), Width::B2),
        (channel(0xd9), Width::B1),
        (channel(0xd8), Width::B2),
        (channel(0xd8), Width::B8),
        (Address::Pci { bdf: Bdf::new(0xff, 16, 2), offset: 0xd8 }, Width::B4),
        (Address::Pci { bdf: Bdf::new(0x00, 16, 0), offset: 0xd8 }, Width::B4),
        (Address::Mmio { physical: 0xfe00_2800 }, Width::B4),
        (Address::Mmio { physical: 0 }, Width::B8),
    ] {
        assert_eq!(permits.check(write(address, width, 0)), Err(NotPermitted::NoRegister), "{address}");
        assert_eq!(permits.check(read(address, width)), Err(NotPermitted::NoRegister), "{address}");
    }
}

/// What was not looked for is not allowed, and what does not answer is not written.
#[test]
fn only_units_that_were_found_are_written() {
    let permits = permits(|name| name == "cbo");
    assert_eq!(permits.check(read(channel(0xd8), Width::B4)), Err(NotPermitted::NoRegister));
    let mut broken = Fake::two_sockets();
    broken.msrs.retain(|&(socket, msr), _| socket == 0 || !(0xd20..0xd40).contains(&msr));
    let topology = discover(&mut broken, e5_2600(), &CPUS, |unit| unit.name == "cbo").unwrap();
    let mut part = Permits::new(&CPUS);
    part.add(&topology);
    assert_eq!(part.check(write(msr(0, 0xd30), Width::B8, 0)), Ok(()));
    assert_eq!(part.check(write(msr(2, 0xd30), Width::B8, 0)), Err(NotPermitted::ReadOnly));
    assert_eq!(part.check(read(msr(2, 0xd30), Width::B8)), Ok(()));
    // It came back, and was looked for again.
    part.add(&discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |_| true).unwrap());
    assert_eq!(part.check(write(msr(2, 0xd30), Width::B8, 0)), Ok(()));
}

/// Table 2-11: bits 63:32 of a CBo's control are in no document. Hardware may hold some: they go back as they were.
#[test]
fn undocumented_bits_are_written_only_as_they_were_seen() {
    let permits = permits(|name| ["cbo", "imc"].contains(&name));
    let control = |value| permits.check(write(msr(0, 0xd10), Width::B8, value));
    assert_eq!(control(0x100_0040_0334), Err(NotPermitted::Undocumented(0x100_0000_0000)));
    permits.note_read(msr(1, 0xd10), Width::B8, 0x100_0000_0000);
    assert_eq!(control(0x100_0040_0334), Ok(()));
    assert_eq!(control(0x300_0040_0334), Err(NotPermitted::Undocumented(0x200_0000_0000)));
    // All ones are no value of a register; another socket's register is another one.
    permits.note_read(msr(0, 0xd11), Width::B8, u64::MAX);
    assert!(permits.check(write(msr(0, 0xd11), Width::B8, 1 << 40)).is_err());
    assert!(permits.check(write(msr(2, 0xd10), Width::B8, 1 << 40)).is_err());
    // Bit 3 of a channel's unit control (Table 2-60).
    assert!(permits.check(write(channel(0xf4), Width::B4, 0x8)).is_err());
}

/// Every operation of every plan is allowed: of sessions that freeze, filter, and take turns.
#[test]
fn all_that_a_plan_does_is_allowed() {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut permits = Permits::new(&CPUS);
    permits.add(&topology);
    for events in [
        "cbo/LLC_VICTIMS.M_STATE/,imc/CAS_COUNT.RD/",
        "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/",
        "imc/CLOCKTICKS/",
    ] {
        let mut selection = Selection::new(e5_2600());
        selection.add_events(events).unwrap();
        let plan = Plan::new(&topology, selection).unwrap();
        let operations: Vec<Operation> = plan.operations().collect();
        assert!(operations.len() > 2, "{events}");
        for operation in operations {
            assert_eq!(permits.check(operation), Ok(()), "{events}: {operation:?}");
        }
    }
}

/// What shows which units there are may be read, and not written: vendor and device of a channel's function, but of no
/// other one; the qwords of Emerald Rapids' discovery table (1.10.1: 512 KB from its base), and nothing behind it.
#[test]
fn what_shows_which_units_there_are_may_be_read() {
    let permits = permits(|name| name == "imc");
    let other = Address::Pci { bdf: Bdf::new(0xff, 16, 2), offset: 0 };
    assert_eq!(permits.check(read(channel(0), Width::B4)), Ok(()));
    assert_eq!(permits.check(write(channel(0), Width::B4, 0)), Err(NotPermitted::NoRegister));
    assert_eq!(permits.check(read(channel(0), Width::B2)), Err(NotPermitted::NoRegister));
    assert_eq!(permits.check(read(other, Width::B4)), Err(NotPermitted::NoRegister));

    const BASE: u64 = 0xe000_0000;
    let with_table = Permits { tables: std::iter::once(BASE..BASE + 0x8_0000).collect(), ..Permits::new(&CPUS) };
    let memory = |physical| Address::Mmio { physical };
    for inside in [BASE, BASE + 8, BASE + 0x7_fff8] {
        assert_eq!(with_table.check(read(memory(inside), Width::B8)), Ok(()));
        assert_eq!(with_table.check(write(memory(inside), Width::B8, 0)), Err(NotPermitted::NoRegister));
    }
    for (place, width) in
        [(BASE - 8, Width::B8), (BASE + 0x8_0000, Width::B8), (BASE + 4, Width::B8), (BASE, Width::B4)]
    {
        assert_eq!(with_table.check(read(memory(place), width)), Err(NotPermitted::NoRegister), "{place:#x}");
    }
}
