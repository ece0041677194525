//! Warm-ups: what is measured after one is the workload's requests, at the rates of a long run.

use pericore_machine::workload::{Scenario, Workload};
use pericore_machine::{Machine, MachineSpec, MemoryKind, Snapshot, WarmUp};

/// A machine after its warm-up, which must have settled.
fn warmed(machine: &str, workload: &str) -> (Machine, WarmUp) {
    let spec = MachineSpec::parse(machine).unwrap();
    let scenario = Scenario::from(Workload::parse(workload, &spec.limits().unwrap()).unwrap()).warmed();
    let mut machine = Machine::for_scenario(&spec, &scenario).unwrap();
    let warm_up = machine.warm_up(&scenario).unwrap();
    (machine, warm_up)
}

/// Runs to the end. Lines that memory has read and written since `from`.
fn lines_to_the_end(machine: &mut Machine, from: &Snapshot) -> [u64; 2] {
    let second = machine.clocks().ticks_per_second();
    while !machine.finished() {
        machine.run_for(second / 1_000_000);
    }
    let [before, after] = [from, &machine.snapshot()].map(|at| at.memory_lines(MemoryKind::Dram, 1));
    std::array::from_fn(|index| after[index] - before[index])
}

/// Of lines that come once in 256 MB no cache of 22 MB has one: each access reads its line, and nothing else does.
#[test]
fn so_many_requests_are_measured_and_no_more() {
    for (machine, workload) in [("e5-2600", "stream:requests=30011"), ("nehalem", "stream:requests=30011,threads=3")] {
        let (mut machine, warm_up) = warmed(machine, workload);
        assert!(warm_up.settled && warm_up.ticks > 0, "{warm_up:?}");
        assert_eq!(machine.progress().done, 0);
        let from = machine.snapshot();
        assert_eq!(lines_to_the_end(&mut machine, &from), [30011, 0]);
        assert_eq!((machine.progress().done, machine.progress().total), (30011, 30011));
    }
}

/// A copy reads a line of each array and writes one of them back. The caches' 22 MB hold more lines than are copied
/// here: only those that were stored before the measurement can be written in it.
#[test]
fn a_copy_writes_from_the_start() {
    for machine in ["e5-2600", "nehalem"] {
        let (mut machine, _) = warmed(machine, "copy:requests=200000");
        let from = machine.snapshot();
        let [reads, writes] = lines_to_the_end(&mut machine, &from);
        assert_eq!(reads, 200_000);
        let written = writes as f64 / reads as f64;
        assert!((0.46..=0.54).contains(&written), "{written}");
    }
}

/// Lines written for each that is read of the first socket's memory, by a workload on two sockets that half of the
/// threads have there. Both sockets' caches hold 900 MB.
fn written_for_each_read(traffic: &str) -> f64 {
    let workload = format!("stream:requests=60000,threads=64,footprint=1500M{traffic}");
    let (mut machine, _) = warmed("emerald-rapids:sockets=2", &workload);
    let from = machine.snapshot();
    let [reads, writes] = lines_to_the_end(&mut machine, &from);
    assert!((27_000..33_000).contains(&reads), "{workload}: {reads} {writes}");
    writes as f64 / reads as f64
}

/// The other socket's directory knows from earlier passes that its lines were taken: reading them again changes no
/// bits, and so writes nothing.
#[test]
fn streams_over_the_other_sockets_memory_find_its_directory_as_they_left_it() {
    let written = written_for_each_read(",remote=100");
    assert!(written <= 0.03, "{written}");
}

#[test]
fn streams_over_their_own_memory_change_no_directory() {
    let written = written_for_each_read("");
    assert!(written <= 0.03, "{written}");
}

/// A line that is stored to is nobody's once it is written back: its bits change when it is read (one write), and go
/// with its data (another).
#[test]
fn half_of_the_other_sockets_lines_are_written_twice() {
    let written = written_for_each_read(",remote=100,read=50");
    assert!((0.85..=1.1).contains(&written), "{written}");
}

/// Forty devices bring more than eight channels of DDR5-5600 (358.4 GB/s) take: what gives way to their lines cannot
/// leave faster, and so they wait.
#[test]
fn devices_that_are_faster_than_memory_wait_for_it() {
    let (mut machine, _) = warmed("8592+", "dma-write:threads=40,requests=300000,footprint=4000M");
    let (from, began) = (machine.snapshot(), machine.now());
    let [reads, writes] = lines_to_the_end(&mut machine, &from);
    let seconds = (machine.now() - began) as f64 / machine.clocks().ticks_per_second() as f64;
    assert!(reads == 0 && (290_000..310_000).contains(&writes), "{reads} {writes}");
    let rate = writes as f64 * 64.0 / seconds;
    assert!((100e9..358.4e9).contains(&rate), "{rate:e} B/s");
}

/// A device's writes stay in the LLC, and drive as many out.
#[test]
fn a_devices_writes_drive_out_as_many() {
    let (mut machine, _) = warmed("e5-2600", "dma-write:requests=60000");
    let from = machine.snapshot();
    let [reads, writes] = lines_to_the_end(&mut machine, &from);
    assert!(reads == 0 && (58_000..62_000).contains(&writes), "{reads} {writes}");
}

/// What devices read of memory goes past the LLC: 1 MiB that would fit a device's ways of it is read anew in each pass.
#[test]
fn a_devices_reads_find_nothing_of_earlier_passes() {
    let (mut machine, _) = warmed("e5-2600", "dma-read:requests=60000,footprint=1M");
    let from = machine.snapshot();
    assert_eq!(lines_to_the_end(&mut machine, &from), [60_000, 0]);
}

/// What fits the caches is in them.
#[test]
fn what_fits_reads_no_memory() {
    for machine in ["e5-2600", "nehalem"] {
        let (mut machine, _) = warmed(machine, "random:requests=20000,footprint=1M");
        let from = machine.snapshot();
        assert_eq!(lines_to_the_end(&mut machine, &from), [0, 0]);
    }
}

/// Half of the cores read from the other socket's memory, which is slower: with a share of the requests of its own,
/// each would leave the others idle for half of the time.
#[test]
fn all_threads_work_until_the_end() {
    let (mut machine, _) = warmed("e5-2600", "mixed:requests=100k,threads=7");
    let second = machine.clocks().ticks_per_second();
    let mut done = vec![0];
    while !machine.finished() {
        machine.run_for(second / 1_000_000);
        done.push(machine.progress().done);
    }
    // The last microsecond in which an access is done ends somewhere; the one before is as busy as any.
    let mut rates: Vec<u64> = done.windows(2).map(|pair| pair[1] - pair[0]).collect();
    rates.truncate(rates.iter().rposition(|&rate| rate > 0).map_or(0, |last| last + 1));
    let mean = done[done.len() - 1] / rates.len() as u64;
    assert!(rates[rates.len() - 2] * 10 > mean * 7, "{mean}: {rates:?}");
}

#[test]
fn a_warm_up_is_as_long_as_its_key_has_it() {
    let (machine, warm_up) = warmed("e5-2600", "stream:warmup=70");
    let microsecond = machine.clocks().ticks_per_second() / 1_000_000;
    assert!(warm_up.settled && (70 * microsecond..75 * microsecond).contains(&warm_up.ticks), "{warm_up:?}");
}

/// Other seeds are other runs: a repetition tells how far they lie apart.
#[test]
fn seeds_begin_elsewhere() {
    let done = [1, 2, 3].map(|seed| {
        let (mut machine, _) = warmed("e5-2600", &format!("stream:seed={seed}"));
        machine.run_for(machine.clocks().ticks_per_second() / 50_000);
        machine.progress().done
    });
    assert!(done[0] != done[1] || done[1] != done[2], "{done:?}");
}

/// Scenarios of several phases, and pauses, begin as they are.
#[test]
fn only_workloads_are_warmed() {
    let spec = MachineSpec::parse("e5-2600").unwrap();
    let limits = spec.limits().unwrap();
    let pause = Scenario::of("idle", &limits).unwrap();
    assert_eq!(pause.clone().warmed(), pause);
    let text = "phase a\nworkload stream\nphase b\nworkload chase\n";
    let phases = Scenario::parse(text, &limits).unwrap();
    assert_eq!(phases.clone().warmed(), phases);
    assert!(phases.begins_warm().is_none());
    for held in ["for 3us", "msi every 20us"] {
        let phase = Scenario::parse(&format!("phase a\nworkload stream\n{held}\n"), &limits).unwrap();
        assert_eq!(phase.clone().warmed(), phase);
    }
    let wrong = Scenario::parse("phase a\nworkload stream:warmup=3\n", &limits).unwrap_err().to_string();
    assert!(wrong.contains("leave out warmup="), "{wrong}");
}
