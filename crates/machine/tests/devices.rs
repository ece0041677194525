//! Devices of a named socket, on every machine: their data goes through that socket's input-output, and to or from the named memory.

use pericore_machine::ledger::Question;
use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec};

/// An event of a unit, its subevent if it has one, and the unit's instances of a socket.
type Count = (&'static str, u16, &'static str, Option<&'static str>);

/// Lines that devices read from memory, and what shows at their socket: a count that is not nothing there, and nothing elsewhere.
const MACHINES: [(&str, Count, Count); 3] = [
    ("e5-2600:sockets=2", ("imc", 4, "CAS_COUNT", Some("RD")), ("r2pcie", 1, "TxR_CYCLES_NE", Some("AD"))),
    (
        "nehalem:sockets=2",
        ("uncore", 1, "QHL_REQUESTS", Some("IOH_READS")),
        // A device is seen by the cores that speak to it.
        ("uncore", 1, "GQ_ALLOC", Some("READ_TRACKER")),
    ),
    (
        "emerald-rapids:sockets=2",
        ("imc", 8, "CAS_COUNT", Some("RD")),
        ("iio", 10, "DATA_REQ_OF_CPU", Some("MEM_READ.ALL_PARTS")),
    ),
];

fn of_socket(machine: &Machine, socket: u16, (unit, instances, event, subevent): Count) -> u64 {
    let at = machine.snapshot();
    (0..instances)
        .map(|instance| at.count(socket, instance, Question::new(unit, event).subevent(subevent)).expect("a truth"))
        .sum()
}

fn ran(machine: &str, workload: &str) -> Machine {
    let spec = MachineSpec::parse(machine).expect("a machine");
    let scenario = Scenario::of(workload, &spec.limits().expect("a model")).expect("a workload");
    let mut machine = Machine::for_scenario(&spec, &scenario).expect("a machine");
    let microsecond = machine.clocks().ticks_per_second() / 1_000_000;
    while !machine.finished() {
        machine.run_for(microsecond);
        assert!(machine.now() < 10_000 * microsecond, "{workload} does not end");
    }
    machine
}

#[test]
fn devices_of_a_socket_read_the_memory_that_is_named() {
    for (name, reads, device) in MACHINES {
        for (socket, memory) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let workload = format!("dma-read:requests=2000,threads=8,footprint=1M,socket={socket},memory={memory}");
            let machine = ran(name, &workload);
            assert_eq!(of_socket(&machine, memory, reads), 2000, "{name} {workload}: lines read there");
            assert_eq!(of_socket(&machine, 1 - memory, reads), 0, "{name} {workload}: lines read elsewhere");
            assert!(of_socket(&machine, socket, device) > 0, "{name} {workload}: devices");
            assert_eq!(of_socket(&machine, 1 - socket, device), 0, "{name} {workload}: devices of the other socket");
        }
    }
}

#[test]
fn without_a_name_devices_use_their_own_memory() {
    for (name, reads, _) in MACHINES {
        let machine = ran(name, "dma-read:requests=2000,threads=8,footprint=1M,socket=1");
        assert_eq!((of_socket(&machine, 0, reads), of_socket(&machine, 1, reads)), (0, 2000), "{name}");
    }
}
