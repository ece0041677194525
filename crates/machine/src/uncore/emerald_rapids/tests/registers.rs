//! The whole machine, by raw registers and values that stand here by hand from the guide (Tables 1-3 to 1-9, 2-76, 2-89, 2-130).

use crate::ledger::Question;
use crate::machine::{Machine, MachineSpec};
use pericore_registers::{Address, RegisterSpace, Width};
use pericore_workload::Workload;

/// `TOR_INSERTS.ALL`: event 0x35, umask 0xFF, extension 0x00C001FF.
const ALL_ENTRIES: u64 = 0x00C0_01FF_0000_FF35;
/// `LLC_LOOKUP.MISS_ALL`: event 0x34, umask 0x01, extension 0x00001FE0.
const ALL_MISSES: u64 = 0x0000_1FE0_0000_0134;

fn write(machine: &mut Machine, msr: u32, value: u64) {
    machine.write(Address::Msr { cpu: 0, msr }, Width::B8, value).unwrap();
}

fn read(machine: &mut Machine, msr: u32) -> u64 {
    machine.read(Address::Msr { cpu: 0, msr }, Width::B8).unwrap()
}

/// The counters of all agents of a part, of which it has so many, against the ledger's figures.
fn counters_equal_the_ledger(part: &str, agents: u32) {
    let spec = MachineSpec::parse(part).unwrap();
    let workload = Workload::parse("mixed:requests=6000,threads=56,read=60", &spec.limits().unwrap()).unwrap();
    let mut machine = Machine::new(&spec, &workload).unwrap();
    let agents = (0..agents).map(|agent| 0x2000 + 0x10 * agent);
    // Global control, then each agent's unit control, its controls 0 and 1.
    write(&mut machine, 0x2FF0, 0);
    for agent in agents.clone() {
        write(&mut machine, agent, 0);
        write(&mut machine, agent + 2, ALL_ENTRIES);
        write(&mut machine, agent + 3, ALL_MISSES);
    }
    while !machine.finished() {
        machine.run_for(70_000);
        assert!(machine.now() < 140_000_000, "the workload does not end");
    }
    let at = machine.snapshot();
    for (number, agent) in agents.enumerate() {
        let truth =
            |event, subevent| at.count(0, number as u16, Question::new("cha", event).subevent(subevent)).unwrap();
        assert_eq!(read(&mut machine, agent + 8), truth("TOR_INSERTS", "ALL"), "entries of agent {number}");
        assert_eq!(read(&mut machine, agent + 9), truth("LLC_LOOKUP", "MISS_ALL"), "misses of agent {number}");
        assert!(truth("TOR_INSERTS", "ALL") > 50, "agent {number} is idle");
    }
}

#[test]
fn counters_of_the_whole_machine_equal_the_ledger() {
    counters_equal_the_ledger("8592+", 64);
}

/// Linux (spr_uncore_cha) and LIKWID: the agents' registers lie where the successor's do. 105 MB are 56 slices of
/// 1.875 MB.
#[test]
fn so_do_those_of_sapphire_rapids() {
    counters_equal_the_ledger("8480+", 56);
}
