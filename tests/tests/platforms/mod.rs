//! Platforms that differ around the uncore: PCI segments, a socket whose U-Box is hidden, thousands of other
//! functions, and systems that deny accesses.

mod tables;

use pericore_catalog::{AddressSpace, Unit};
use pericore_machine::MachineSpec;
use pericore_machine::chassis::Chassis;
use pericore_observe::discover::{Cpu, DiscoverError, Topology, discover};
use pericore_registers::{AccessError, Address, Bdf, RegisterSpace, Width};

fn machine(name: &str) -> Chassis {
    MachineSpec::parse(name).expect("a machine").chassis().expect("it can be built")
}

fn topology(machine: &mut Chassis) -> Result<Topology, DiscoverError> {
    let shape = machine.shape().clone();
    let package = |number| shape.socket_of_cpu(number).expect("a CPU");
    let cpus: Vec<Cpu> = (0..shape.cpus()).map(|number| Cpu { number, package: package(number) }).collect();
    discover(machine, shape.family, &cpus, |_| true)
}

/// A machine of two sockets, the second without any function in PCI configuration space.
fn without_pci(family: &str) -> Chassis {
    let units = MachineSpec::parse(family).expect("a family").chassis().expect("it can be built").shape().family.units;
    let in_pci = |unit: &&&Unit| unit.placements[0].space == AddressSpace::PciConfig;
    let hidden: Vec<String> = units.iter().filter(in_pci).map(|unit| format!("hidden=1/{}", unit.name)).collect();
    machine(&format!("{family}:sockets=2,hidden=1/ubox,{}", hidden.join(",")))
}

/// Units and how many of each are present, by socket.
fn found(topology: &Topology) -> Vec<Vec<usize>> {
    let units = topology.family.units;
    topology.sockets.iter().map(|socket| units.iter().map(|unit| socket.present(unit).len()).collect()).collect()
}

/// The second socket's buses are on segment 3: everything is found, and its functions are asked for there.
#[test]
fn sockets_on_other_segments_are_found() {
    for family in ["e5-2600", "emerald-rapids"] {
        let sound = topology(&mut machine(&format!("{family}:sockets=2"))).expect("two sockets");
        let apart = topology(&mut machine(&format!("{family}:sockets=2,segment=3"))).expect("two sockets, too");
        assert_eq!(found(&apart), found(&sound), "{family}");
        let segments: Vec<u16> = apart.sockets.iter().map(|socket| socket.segment).collect();
        assert_eq!(segments, [0, 3], "{family}");
        assert!(apart.sockets.iter().all(|socket| socket.table().is_none_or(|table| table.is_sound())), "{family}");
    }
    // E5-2600, Table 2-58: channel 1 of socket 1 is 16.1 of bus 0xff.
    let channel = |segment| Address::Pci { bdf: Bdf { segment, ..Bdf::new(0xff, 16, 1) }, offset: 0 };
    let mut machine = machine("e5-2600:sockets=2,segment=3");
    let ids = [0, 3, 1].map(|segment| machine.read(channel(segment), Width::B4).expect("a cycle"));
    assert_eq!(ids, [0xffff_ffff, 0x3cb1_8086, 0xffff_ffff]);
}

/// The bus of a socket without a U-Box is the one that is left; where two are left, neither is believed.
#[test]
fn a_socket_without_its_u_box_has_the_bus_that_is_left() {
    for family in ["e5-2600", "emerald-rapids"] {
        let sound = topology(&mut machine(&format!("{family}:sockets=2"))).expect("sound");
        let buses = |topology: &Topology| topology.sockets.iter().map(|socket| socket.bus).collect::<Vec<_>>();
        for hidden in ["0/ubox", "1/ubox"] {
            let found = topology(&mut machine(&format!("{family}:sockets=2,hidden={hidden}")));
            assert_eq!(buses(&found.expect(hidden)), buses(&sound), "{family} without {hidden}");
        }
        let refused =
            topology(&mut machine(&format!("{family}:sockets=2,hidden=ubox"))).expect_err("no bus has an owner");
        assert!(matches!(refused, DiscoverError::NoUncoreBus { .. }), "{family}: {refused}");
        topology(&mut machine(&format!("{family}:sockets=1,hidden=ubox"))).expect("one socket and one bus");
    }
}

/// Half of the machine is no machine of one socket.
#[test]
fn a_socket_without_its_uncore_is_named() {
    for family in ["e5-2600", "emerald-rapids"] {
        let refused = topology(&mut without_pci(family)).expect_err("half is missing");
        assert!(matches!(refused, DiscoverError::NoUncoreOf { socket: 1, .. }), "{family}: {refused}");
        let text = refused.to_string();
        assert!(text.contains("socket 1 (cpu ") && text.contains("nothing is counted"), "{text}");
    }
}

/// 2,000 functions of a network adapter: all answer, on buses that nobody else has, and the uncore is found among them.
#[test]
fn other_functions_are_in_nobodys_way() {
    let mut machine = machine("emerald-rapids:sockets=2,functions=2000");
    let all = (0..=255).flat_map(|bus| (0..=255).map(move |slot: u8| Bdf::new(bus, slot >> 3, slot & 7)));
    let adapters = all.filter(|&bdf| machine.read(Address::Pci { bdf, offset: 0 }, Width::B4) == Ok(0x1889_8086));
    assert_eq!(adapters.count(), 2000);
    assert_eq!(topology(&mut machine).expect("two sockets").sockets.len(), 2);
}

/// The system says EPERM where it denies, and nothing else changes.
#[test]
fn what_is_denied_is_refused() {
    let config = |offset| Address::Pci { bdf: Bdf::new(0xff, 16, 1), offset };
    let msr = Address::Msr { cpu: 0, msr: 0xd10 };
    for (denied, [header, register, write, msr_read, msr_write]) in [
        ("denied=pci", [true, false, false, true, true]),
        ("denied=msr-write", [true, true, true, true, false]),
        ("denied=pci,denied=msr-write", [true, false, false, true, false]),
    ] {
        let mut machine = machine(&format!("e5-2600:{denied}"));
        let is_refused = |error: &AccessError| matches!(error, AccessError::Permission { .. });
        let outcomes = [
            machine.read(config(0), Width::B4).map(|_| ()),
            machine.read(config(0xd8), Width::B4).map(|_| ()),
            machine.write(config(0xd8), Width::B4, 0),
            machine.read(msr, Width::B8).map(|_| ()),
            machine.write(msr, Width::B8, 0),
        ];
        assert_eq!(outcomes.clone().map(|one| one.is_ok()), [header, register, write, msr_read, msr_write], "{denied}");
        assert!(outcomes.iter().filter_map(|one| one.as_ref().err()).all(is_refused), "{denied}");
    }
    let mut machine = machine("emerald-rapids:denied=mem");
    // 1.10.3: the first controller's window.
    let memory = Address::Mmio { physical: 0xf002_2800 };
    assert!(matches!(machine.read(memory, Width::B4), Err(AccessError::Permission { .. })));
}
