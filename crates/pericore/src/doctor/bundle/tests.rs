//! A bundle boots as the machine that it is of, however broken.

use pericore_machine::MachineSpec;
use pericore_observe::linux::Processor;
use pericore_registers::Outcome;

use super::super::{cpus_of, emulated, software_bundle};
use super::*;

/// What doctor finds on a machine.
fn found(mut chassis: Chassis) -> Vec<(String, String)> {
    let cpus = cpus_of(chassis.shape());
    let processor = Processor::read(|leaf| chassis.cpuid(0, leaf, 0));
    let findings = emulated(&mut chassis, &processor, &cpus);
    findings.iter().map(|finding| (format!("{:?}", (finding.check(), finding.state())), finding.words())).collect()
}

fn booted(bundle: &str) -> Chassis {
    MachineSpec::of_snapshot(bundle).unwrap().chassis().unwrap()
}

/// Every fault that a look can tell, alone and together: hidden units and U-Boxes, units of ones, each kind of bad
/// table.
#[test]
fn a_bundle_boots_as_the_machine_that_it_is_of() {
    let alone = [
        "e5-2600:sockets=2,cores=6",
        "e5-2600:sockets=2,hidden=1/imc3,all-ones=0/cbo2",
        "e5-2600:hidden=ubox",
        "e5-2600:sockets=2,hidden=1/ubox",
        "e5-2600:all-ones=ubox",
        "nehalem:sockets=2,hidden=1/uncore",
        "emerald-rapids:hidden=cha7,all-ones=imc3",
        "emerald-rapids:sockets=2,segment=1,discovery=absent",
        "emerald-rapids:discovery=all-ones",
        "emerald-rapids:discovery=zeros",
        "emerald-rapids:discovery=no-stride",
        "emerald-rapids:discovery=wrong-blocks",
        "emerald-rapids:discovery=truncated:20",
        "emerald-rapids:discovery=count:9",
    ];
    let hostile =
        (0..24).map(|seed| format!("{}:sockets=2,hostile={seed}", ["e5-2600", "nehalem", "emerald-rapids"][seed % 3]));
    for machine in alone.into_iter().map(str::to_owned).chain(hostile) {
        let original = MachineSpec::parse(&machine).unwrap().chassis().unwrap();
        let bundle = software_bundle(&machine, &[]).unwrap();
        assert_eq!(found(booted(&bundle)), found(original), "{machine}");
    }
}

/// Counters and controls that others have left are in it: imc channel 0 of socket 0 counts reads (0x304) and stands at
/// 77.
#[test]
fn registers_in_use_are_in_a_bundle() {
    let text = "pericore-machine 1\nmachine e5-2600 sockets=1 cores=8 threads=1 slices=8 rules=documented\n\
                block 0/imc0\n  ctl1 = 0x400304\n  counter 1 value=0x4d\nend\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("taken.machine");
    std::fs::write(&file, text).unwrap();
    let mut machine = booted(&software_bundle(file.to_str().unwrap(), &[]).unwrap());
    let mut read = |offset| -> Outcome<u64> {
        let bdf = Bdf { segment: 0, bus: 0xff, device: 16, function: 0 };
        machine.read(Address::Pci { bdf, offset }, Width::B4)
    };
    let channel: Vec<_> = [0xdc, 0xa8].into_iter().map(&mut read).collect();
    assert_eq!(channel, [Ok(0x40_0304), Ok(77)]);
}

/// Lines for people cannot end the comment that they stand in.
#[test]
fn what_a_system_reports_stays_a_comment() {
    let mut machine = MachineSpec::parse("nehalem").unwrap().chassis().unwrap();
    let cpus = cpus_of(machine.shape());
    let cores = CoreCount { cores: 4, threads: 2 };
    let about = ["kernel 6.1\nend\n".to_owned()];
    let family = machine.shape().family;
    let bundle = capture(&mut machine, family, &cpus, cores, &about).unwrap();
    assert!(bundle.starts_with("# kernel 6.1\\nend\\n\n") && MachineSpec::of_snapshot(&bundle).is_ok(), "{bundle}");
}
