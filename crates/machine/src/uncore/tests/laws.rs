//! Laws that hold when everything has drained, and the DRAM standard.

use super::recorder::Recorder;
use super::{WORKLOADS, model, run, sockets, trefi};
use crate::engine::Random;
use crate::ledger::{Snapshot, Window};
use crate::uncore::dram::checker;

struct Sums<'a>(Window<'a>, u8);

impl Sums<'_> {
    /// An event over all instances of its unit.
    fn of(&self, unit: &str, event: &str, filters: &[(&str, u64)]) -> u64 {
        let (event, subevent) =
            event.split_once('.').map_or((event, None), |(event, subevent)| (event, Some(subevent)));
        let instances = super::truth::instances(unit, self.1);
        (0..instances).map(|i| self.0.truth(unit, i, event, subevent, filters).unwrap().0).sum()
    }
}

fn check(workload: &str, from: &Snapshot, to: &Snapshot) {
    let sums = Sums(Window::between(from, to), sockets(workload));
    let cbo = |event| sums.of("cbo", event, &[("nid", 0xF)]);
    let (ha, imc) = (|event| sums.of("ha", event, &[]), |event| sums.of("imc", event, &[]));
    let opcode = |event, opc| sums.of("cbo", event, &[("opc", opc)]);
    let state = |event, state| sums.of("cbo", event, &[("state", state)]);
    let equal = |left: u64, right: u64, law: &str| assert_eq!(left, right, "{workload}: {law}");

    // There are no scrubs or prefetches in this model.
    let underfills = imc("CAS_COUNT.RD_UNDERFILL");
    let reads = ha("REQUESTS.READS") - imc("WPQ_READ_HIT") + underfills;
    equal(imc("CAS_COUNT.RD"), reads, "read CAS = reads - forwards + underfills");
    assert!(underfills <= ha("IMC_WRITES.PARTIAL"), "{workload}: more underfills than partial writes");
    equal(imc("CAS_COUNT.WR"), ha("REQUESTS.WRITES") - imc("WPQ_WRITE_HIT"), "write CAS = writes - merges");
    equal(imc("RPQ_INSERTS"), ha("REQUESTS.READS"), "every read goes through an RPQ");
    equal(imc("WPQ_INSERTS") + imc("WPQ_WRITE_HIT"), ha("REQUESTS.WRITES"), "every write goes to a WPQ");
    equal(ha("IMC_WRITES.ALL"), ha("REQUESTS.WRITES"), "every write is handed on");
    // A device's write into the LLC asks the home agent for the line only.
    let asked = opcode("TOR_INSERTS.MISS_OPCODE", 0x19C);
    let requests = ha("REQUESTS.READS") + ha("REQUESTS.WRITES") + asked;
    equal(ha("TRACKER_INSERTS.ALL"), requests, "every request is tracked");
    let answers = ha("TxR_BL.DRS_CACHE") + ha("TxR_BL.DRS_CORE") + ha("TxR_BL.DRS_QPI");
    equal(answers, ha("REQUESTS.READS"), "every read is answered");
    equal(cbo("TOR_INSERTS.MISS_ALL"), ha("TRACKER_INSERTS.ALL"), "an RTID is a tracker entry");
    let lookups = cbo("LLC_LOOKUP.ANY");
    equal(lookups, state("LLC_LOOKUP.ANY", 0x01) + state("LLC_LOOKUP.ANY", 0x1E), "look-ups = hits + misses");
    equal(lookups, cbo("RxR_INSERTS.IRQ"), "every request is looked up once");
    equal(lookups + cbo("TOR_INSERTS.EVICTION"), cbo("TOR_INSERTS.ALL"), "look-ups and evictions take entries");
    let from_devices = cbo("RxR_INSERTS.VFIFO");
    equal(cbo("TxR_INSERTS.AD_CORE") + from_devices, lookups, "every request came from a core or a device");
    let (device_reads, device_writes) = (
        opcode("TOR_INSERTS.OPCODE", 0x19E),
        opcode("TOR_INSERTS.OPCODE", 0x19C) + opcode("TOR_INSERTS.OPCODE", 0x194),
    );
    equal(from_devices, device_reads + device_writes, "a device reads or writes");
    let r2pcie = |event| sums.of("r2pcie", event, &[]);
    // The packets of a whole line are 16 DWs.
    equal(r2pcie("IIO_CREDITS_ACQUIRED.DRS") * 16, device_reads * 64 / 4, "DWs read by devices = bytes / 4");
    let entries = 2 * device_writes + 2 * device_reads;
    equal(r2pcie("TxR_INSERTS"), entries, "a write is a request and data, a read a request and a returned credit");
    equal(cbo("TxR_INSERTS.BL_CORE"), cbo("TOR_INSERTS.WB"), "every writeback brought data");
    equal(state("LLC_LOOKUP.DATA_READ", 0x01), opcode("TOR_INSERTS.MISS_OPCODE", 0x182), "read misses, both ways");
    let fills = opcode("TOR_INSERTS.MISS_OPCODE", 0x182) + opcode("TOR_INSERTS.MISS_OPCODE", 0x180);
    equal(fills + opcode("TOR_INSERTS.MISS_OPCODE", 0x19E), ha("REQUESTS.READS"), "misses go to memory");
    equal(cbo("LLC_VICTIMS.NID"), fills + asked, "every fill has a victim");
    let lines = cbo("LLC_VICTIMS.M_STATE") + cbo("LLC_VICTIMS.E_STATE") + cbo("LLC_VICTIMS.S_STATE");
    equal(lines, cbo("TOR_INSERTS.EVICTION"), "victims that held a line are evicted");
    let bytes = (0..super::truth::instances("imc", sums.1)).map(|channel| sums.0.bytes(channel).unwrap());
    let (read, written) = bytes.fold((0, 0), |sum, bytes| (sum.0 + bytes.read, sum.1 + bytes.written));
    equal(read, 64 * imc("CAS_COUNT.RD"), "bytes read");
    equal(written, 64 * imc("CAS_COUNT.WR"), "bytes written");
    let modes = imc("MAJOR_MODES.READ") + imc("MAJOR_MODES.WRITE") + imc("MAJOR_MODES.PARTIAL");
    equal(modes, imc("CLOCKTICKS"), "a channel is always in a mode");
    let data = sums.0.data_reads();
    equal(data.misses, state("LLC_LOOKUP.DATA_READ", 0x01), "data read misses");
    if let Some(latency) = data.miss_latency {
        let cycles = opcode("TOR_OCCUPANCY.MISS_OPCODE", 0x182) as f64;
        assert!((latency - cycles / data.misses as f64).abs() < 1e-9, "{workload}: mean latency");
    }
}

#[test]
fn laws_hold_and_the_command_streams_keep_the_standard() {
    for workload in WORKLOADS {
        let (mut model, _) = model(workload);
        model.keep_commands();
        let from = model.snapshot();
        run(&mut model, &mut Recorder::default());
        assert_eq!(model.progress().done, model.progress().total);
        check(workload, &from, &model.snapshot());
        for channel in 0..super::truth::instances("imc", sockets(workload)) {
            let of_channel = model.ledger().commands().iter().filter(|(c, _)| *c == channel);
            let interval = Some(trefi(workload)).filter(|_| !workload.contains("self-refresh"));
            checker::check(&of_channel.map(|(_, command)| *command).collect::<Vec<_>>(), interval);
        }
    }
}

#[test]
fn laws_hold_for_workloads_drawn_at_random() {
    let mut random = Random::new(20_120_306, 0);
    for seed in 0..12 {
        let kind = ["stream", "copy", "random", "mixed"][random.below(4) as usize];
        let footprint = 64_u64 << (10 + random.below(19));
        let threads = 1 + random.below(16);
        let read = if kind == "copy" { String::new() } else { format!(",read={}", random.below(101)) };
        let sockets = [1, 1, 2, 4][random.below(4) as usize];
        let remote = if sockets > 1 { random.below(101) } else { 0 };
        let workload = format!(
            "{sockets} {kind}:remote={remote},requests=3000,footprint={footprint},threads={threads},seed={seed}{read}"
        );
        let (mut model, _) = model(&workload);
        model.keep_commands();
        let from = model.snapshot();
        run(&mut model, &mut Recorder::default());
        check(&workload, &from, &model.snapshot());
        for channel in 0..super::truth::instances("imc", sockets) {
            let of_channel = model.ledger().commands().iter().filter(|(c, _)| *c == channel);
            checker::check(&of_channel.map(|(_, command)| *command).collect::<Vec<_>>(), Some(trefi(&workload)));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_signals_however_time_is_cut() {
    let run_in_steps = |workload: &str, step: u64| {
        let (mut model, _) = model(workload);
        let mut recorder = Recorder::default();
        while model.now() < 1_200_000 {
            model.run_until((model.now() + step).min(1_200_000), &mut recorder);
        }
        recorder
    };
    let whole = run_in_steps("mixed:requests=4000,seed=7", 1_200_000);
    assert!(whole.emissions.len() > 10_000);
    assert!(whole == run_in_steps("mixed:requests=4000,seed=7", 1_200_000), "a second run differs");
    assert!(whole == run_in_steps("mixed:requests=4000,seed=7", 997), "a run in steps differs");
    assert!(whole != run_in_steps("mixed:requests=4000,seed=8", 1_200_000), "the seed has no effect");
}

#[test]
fn an_idle_memory_costs_a_few_events_a_refresh() {
    let (mut model, _) = model("chase:requests=1");
    let mut recorder = Recorder::default();
    run(&mut model, &mut recorder);
    let before = recorder.emissions.len();
    // A millisecond: 128 refresh intervals, 4 channels, 2 ranks. For each refresh a rank wakes and goes to sleep again, and with
    // it ends and begins the time in which the whole channel sleeps.
    model.run_until(model.now() + 21_600_000, &mut recorder);
    let emitted = recorder.emissions.len() - before;
    assert!((5 * 1020..=5 * 1040).contains(&emitted), "{emitted}");
}
