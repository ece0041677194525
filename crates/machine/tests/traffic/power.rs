//! Power units and what cores do meanwhile: overheating slows them, and those without work sleep.

use super::raw::{between, finish, machine, msr, read, run, write};
use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec};

/// The power unit counts at 800 MHz, the fixed counter of the system agent at the 2.7 GHz of the uncore.
const POWER_MHZ: f64 = 800.0;
const UNCORE_MHZ: f64 = 2700.0;

/// Accesses that hit the L1, one in a cycle of the core, after 60 us in which frequencies can change: uncore cycles
/// that they took, microseconds in all, and the power unit's counts of those: at 1.2 GHz or more, 1.3 or more, PROCHOT.
fn hits(condition: &str, thousands: u32) -> ([f64; 2], [f64; 3]) {
    let spec = MachineSpec::parse("e5-2680").expect("a machine");
    let work = format!("workload stream:threads=1,footprint=16k,requests={}", thousands * 1000);
    let text = format!("phase before\nidle 60us\n{condition}\nphase work\n{work}\n{condition}\n");
    let scenario = Scenario::parse(&text, &spec.limits().expect("a model")).expect("a scenario");
    let mut machine = Machine::for_scenario(&spec, &scenario).expect("a machine");
    // UCLK; FREQ_BAND0 and FREQ_BAND1, 0x0b and 0x0c, with their filter; PROCHOT_EXTERNAL, 0x0a (Tables 2-73 to 2-76).
    write(&mut machine, msr(0xc08), 0x40_0000);
    write(&mut machine, msr(0xc34), 0x0d0c);
    for (n, event) in [(0, 0x0b), (1, 0x0c), (2, 0x0a)] {
        write(&mut machine, msr(0xc30 + n), 0x40_0000 | event);
    }
    let _ = finish(&mut machine);
    let cycles = read(&mut machine, msr(0xc09)) as f64;
    let counted = [0, 1, 2].map(|n| read(&mut machine, msr(0xc36 + n)) as f64 / POWER_MHZ);
    ([cycles - 60.0 * UNCORE_MHZ, cycles / UNCORE_MHZ], counted)
}

#[test]
fn overheating_slows_the_cores_as_the_power_unit_counts() {
    // What comes before and after the hits is as long in both.
    let ([few, _], _) = hits("", 200);
    let ([cycles, all], [least, more, hot]) = hits("", 600);
    between("an access, in uncore cycles", 0.998, (cycles - few) / 4e5, 1.002);
    between("not below 1.2 GHz", all - 0.2, least, all);
    between("nor below 1.3 GHz", all - 0.2, more, all);
    between("no PROCHOT", 0.0, hot, 0.0);

    // At 1.2 GHz an access takes 2.25 cycles of 2.7 GHz. The clocks lock for 10 us first.
    let ([few, _], _) = hits("prochot external", 200);
    let ([cycles, all], [least, more, hot]) = hits("prochot external", 600);
    between("a hot access, in uncore cycles", 2.245, (cycles - few) / 4e5, 2.255);
    between("1.2 GHz", all - 10.2, least, all - 9.8);
    between("never 1.3 GHz", 0.0, more, 0.1);
    between("PROCHOT", all - 0.2, hot, all);
}

/// Nanoseconds of an access of an Emerald Rapids core that hits its L2, under a condition of the whole scenario.
fn emerald_rapids_hit(condition: &str) -> f64 {
    let microseconds = |thousands: u32| {
        let spec = MachineSpec::parse("8592+").expect("a machine");
        let work = format!("workload stream:threads=1,footprint=16k,requests={}", thousands * 1000);
        let text = format!("phase work\n{work}\n{condition}\n");
        let scenario = Scenario::parse(&text, &spec.limits().expect("a model")).expect("a scenario");
        let mut machine = Machine::for_scenario(&spec, &scenario).expect("a machine");
        let mut passed = 0;
        while !machine.finished() {
            machine.run_for(machine.clocks().ticks_per_second() / 1_000_000);
            passed += 1;
        }
        f64::from(passed)
    };
    (microseconds(600) - microseconds(200)) / 400.0
}

#[test]
fn overheating_slows_an_emerald_rapids() {
    // Two cycles of a core each: of 2.8 GHz, of 1.2, and of the least, 0.8.
    between("an access", 0.709, emerald_rapids_hit(""), 0.719);
    between("at a limit", 1.65, emerald_rapids_hit("thermal-limit 1200MHz"), 1.68);
    between("too hot", 2.49, emerald_rapids_hit("prochot external"), 2.51);
}

#[test]
fn cores_without_work_sleep() {
    let mut machine = machine("e5-2680", "stream:threads=2,footprint=16k,requests=1M");
    // POWER_STATE_OCCUPANCY, 0x80: cores in C0, 0x4000, and in C6, 0xc000.
    write(&mut machine, msr(0xc30), 0x40_4080);
    write(&mut machine, msr(0xc31), 0x40_c080);
    run(&mut machine, 150_000);
    let [awake, asleep] = [0, 1].map(|n| read(&mut machine, msr(0xc36 + n)) as f64 / POWER_MHZ / 150.0);
    between("cores in C0", 1.99, awake, 2.01);
    // Falling asleep takes some of the time.
    between("cores in C6", 5.0, asleep, 6.0);
}
