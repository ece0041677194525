//! Laws that hold when everything has drained, and the DRAM standard.

use pericore_dram::CommandRecord;
use pericore_dram::checker::{self, DDR3_1600K, Standard};
use pericore_engine::Random;

use super::{WORKLOADS, model, run, sockets, trefi};
use crate::uncore::tests::recorder::Recorder;
use pericore_parts::work::Worker;
use pericore_truth::Question;
use pericore_truth::e5_2600::{Snapshot, Window};

struct Sums<'a>(Window<'a>, u8);

impl Sums<'_> {
    /// An event over all instances of its unit.
    fn of(&self, unit: &str, event: &str, filters: &[(&str, u64)]) -> u64 {
        let (event, subevent) =
            event.split_once('.').map_or((event, None), |(event, subevent)| (event, Some(subevent)));
        let instances = super::truth::instances(unit, self.1);
        (0..instances)
            .map(|i| self.0.truth(i, Question::new(unit, event).subevent(subevent).filtered(filters)).unwrap())
            .sum()
    }
}

/// Panics if a law does not hold between two moments of a machine that has drained.
fn check(workload: &str, from: &Snapshot, to: &Snapshot) {
    let sums = Sums(Window::between(from, to), sockets(workload));
    let cbo = |event| sums.of("cbo", event, &[("nid", 0xF)]);
    let (ha, imc) = (|event: &str| sums.of("ha", event, &[]), |event: &str| sums.of("imc", event, &[]));
    let opcode = |event, opc| sums.of("cbo", event, &[("opc", opc)]);
    let state = |event, state| sums.of("cbo", event, &[("state", state)]);
    let equal = |left: u64, right: u64, law: &str| assert_eq!(left, right, "{workload}: {law}");
    check_links(workload, from, to);

    // There are no scrubs or prefetches in this model.
    let underfills = imc("CAS_COUNT.RD_UNDERFILL");
    let reads = ha("REQUESTS.READS") - imc("WPQ_READ_HIT") + underfills;
    equal(imc("CAS_COUNT.RD"), reads, "read CAS = reads - forwards + underfills");
    assert!(underfills <= ha("IMC_WRITES.PARTIAL"), "{workload}: more underfills than partial writes");
    // A directory bit that changes is written with its line.
    let writes = ha("REQUESTS.WRITES") + ha("DIRECTORY_UPDATE.ANY");
    equal(imc("CAS_COUNT.WR"), writes - imc("WPQ_WRITE_HIT"), "write CAS = writes + directory updates - merges");
    equal(imc("RPQ_INSERTS"), ha("REQUESTS.READS"), "every read goes through an RPQ");
    equal(imc("WPQ_INSERTS") + imc("WPQ_WRITE_HIT"), writes, "every write goes to a WPQ");
    equal(ha("IMC_WRITES.ALL"), writes, "every write is handed on");
    // A device's write into the LLC asks the home agent for the line only.
    let claims = opcode("TOR_INSERTS.MISS_OPCODE", 0x19C);
    let requests = ha("REQUESTS.READS") + ha("REQUESTS.WRITES") + claims;
    let tracked = ha("TRACKER_INSERTS.ALL") + sums.0.snoop_writes();
    equal(tracked, requests, "every request is tracked, or came of a snoop");
    let region = |number| format!("TAD_REQUESTS_G{}.REGION{number}", number / 8);
    let by_region: u64 = (0..12).map(|number| ha(&region(number))).sum();
    equal(by_region, requests, "every request is for a region of memory");
    let responses = ha("TxR_BL.DRS_CACHE") + ha("TxR_BL.DRS_CORE") + ha("TxR_BL.DRS_QPI") + sums.0.forwards();
    equal(responses, ha("REQUESTS.READS"), "every read is answered");
    equal(cbo("TOR_INSERTS.MISS_ALL"), ha("TRACKER_INSERTS.ALL"), "an RTID is a tracker entry");
    let lookups = cbo("LLC_LOOKUP.ANY");
    equal(lookups, state("LLC_LOOKUP.ANY", 0x01) + state("LLC_LOOKUP.ANY", 0x1E), "look-ups = hits + misses");
    let snoops = cbo("RxR_INSERTS.IPQ");
    let snooping = ha("REQUESTS.READS") - opcode("TOR_INSERTS.MISS_OPCODE", 0x19E);
    let (others, snp) = (u64::from(sums.1) - 1, ha("DIRECTORY_LOOKUP.SNP"));
    if super::machine(workload).0.directory {
        equal(snp + ha("DIRECTORY_LOOKUP.NO_SNP"), snooping, "every read of a core looks its directory bit up");
        // Where the bit is clear, only reads of other sockets snoop, and only the home agent's own socket.
        let rest = snoops - others * snp;
        assert!(rest <= ha("DIRECTORY_LOOKUP.NO_SNP"), "{workload}: {rest} snoops without need");
        let (set, clear) = (ha("DIRECTORY_UPDATE.SET"), ha("DIRECTORY_UPDATE.CLEAR"));
        assert!(clear <= set, "{workload}: {clear} bits cleared, {set} set");
    } else {
        equal(snoops, others * snooping, "every read of a core snoops all other sockets");
    }
    equal(ha("TxR_AD.SNP"), snoops, "every snoop comes from a home agent");
    equal(cbo("LLC_LOOKUP.REMOTE_SNOOP"), snoops, "every snoop is looked up once");
    equal(lookups, cbo("RxR_INSERTS.IRQ") + snoops, "every request is looked up once");
    equal(lookups + cbo("TOR_INSERTS.EVICTION"), cbo("TOR_INSERTS.ALL"), "look-ups and evictions take entries");
    let from_devices = cbo("RxR_INSERTS.VFIFO");
    let sources = cbo("TxR_INSERTS.AD_CORE") + from_devices + snoops;
    equal(sources, lookups, "every request came from a core, a device or another socket's request");
    let (device_reads, device_writes) = (
        opcode("TOR_INSERTS.OPCODE", 0x19E),
        opcode("TOR_INSERTS.OPCODE", 0x19C) + opcode("TOR_INSERTS.OPCODE", 0x194),
    );
    equal(from_devices, device_reads + device_writes, "a device reads or writes");
    let r2pcie = |event| sums.of("r2pcie", event, &[]);
    // The packets of a whole line are 16 DWs.
    equal(r2pcie("IIO_CREDITS_ACQUIRED.DRS") * 16, device_reads * 64 / 4, "DWs read by devices = bytes / 4");
    // Lines of other sockets come from their links and not from a slice: no credit of a slice is given back.
    let by_links = if sums.1 == 1 { 0 } else { sums.of("r3qpi", "IIO_CREDITS_ACQUIRED.DRS", &[]) };
    let entries = 2 * device_writes + 2 * device_reads - by_links;
    equal(r2pcie("TxR_INSERTS"), entries, "a write is a request and data, a read a request and a returned credit");
    // A core sends its data with a writeback, or with the response to a snoop of a line that it has modified.
    let with_responses = cbo("TxR_INSERTS.BL_CORE").checked_sub(cbo("TOR_INSERTS.WB"));
    let responses = cbo("TxR_INSERTS.AK_CORE");
    assert!(with_responses.is_some_and(|data| data <= responses), "{workload}: every writeback brought data");
    equal(state("LLC_LOOKUP.DATA_READ", 0x01), opcode("TOR_INSERTS.MISS_OPCODE", 0x182), "read misses, both ways");
    let fills = opcode("TOR_INSERTS.MISS_OPCODE", 0x182) + opcode("TOR_INSERTS.MISS_OPCODE", 0x180);
    equal(fills + opcode("TOR_INSERTS.MISS_OPCODE", 0x19E), ha("REQUESTS.READS"), "misses go to memory");
    let (victims, filled) = (cbo("LLC_VICTIMS.NID"), fills + claims);
    // A shared line that is to be written to is filled where it is.
    assert!(if sums.1 == 1 { victims == filled } else { victims <= filled }, "{workload}: every fill has a victim");
    equal(victims - cbo("LLC_VICTIMS.MISS"), cbo("TOR_INSERTS.EVICTION"), "victims that held a line are evicted");
    let bytes = (0..super::truth::instances("imc", sums.1)).map(|channel| sums.0.bytes(channel).unwrap());
    let (read, written) = bytes.fold((0, 0), |sum, bytes| (sum.0 + bytes.read, sum.1 + bytes.written));
    equal(read, 64 * imc("CAS_COUNT.RD"), "bytes read");
    equal(written, 64 * imc("CAS_COUNT.WR"), "bytes written");
    let modes = ["READ", "WRITE", "PARTIAL", "ISOCH"].map(|mode| imc(&format!("MAJOR_MODES.{mode}")));
    equal(modes.iter().sum(), imc("CLOCKTICKS"), "a channel is always in a mode");
    check_rings(workload, &sums);
    let data = sums.0.data_reads();
    equal(data.misses, state("LLC_LOOKUP.DATA_READ", 0x01), "data read misses");
    if let Some(latency) = data.miss_latency {
        let cycles = opcode("TOR_OCCUPANCY.MISS_OPCODE", 0x182) as f64;
        assert!((latency - cycles / data.misses as f64).abs() < 1e-9, "{workload}: mean latency");
    }
}

/// What waits at the home agent for its ring are completions, each for a cycle at least; what a core does not take
/// passes every stop once more.
fn check_rings(workload: &str, sums: &Sums<'_>) {
    let (ha, cbo) = (|event: &str| sums.of("ha", event, &[]), |event: &str| sums.of("cbo", event, &[]));
    let waited = ha("TxR_AK_INSERTS.ALL");
    assert!(waited <= ha("TxR_AK_NDR"), "{workload}: {waited} acknowledgements have waited");
    assert!(waited <= ha("TxR_AK_OCCUPANCY.ALL"), "{workload}: {waited} acknowledgements have waited");
    assert!(ha("TxR_AK_CYCLES_NE.ALL") <= ha("TxR_AK_OCCUPANCY.ALL"), "{workload}: one waits in each such cycle");
    let sent_by_cores = cbo("TxR_INSERTS.AK_CORE");
    assert!(cbo("RING_BOUNCES.IV_CORE") == 0 || sent_by_cores > 0, "{workload}: snoops that bounced are answered");
    let seen: u64 =
        ["CW_EVEN", "CW_ODD", "CCW_EVEN", "CCW_ODD"].map(|way| ha(&format!("RING_BL_USED.{way}"))).iter().sum();
    assert!(2 * cbo("RING_BOUNCES.BL_CORE") <= seen, "{workload}: home agents see lines that go round");
}

/// What one end of a link sends, the other receives; flits add up; credits come back.
fn check_links(workload: &str, from: &Snapshot, to: &Snapshot) {
    let window = Window::between(from, to);
    let sockets = u16::from(sockets(workload));
    if sockets == 1 {
        return;
    }
    for link in 0..2 * sockets {
        // Port 0 leads to port 1 of the next socket.
        let (socket, port) = (link / 2, link % 2);
        let peer = (socket + if port == 0 { 1 } else { sockets - 1 }) % sockets * 2 + 1 - port;
        let of = |unit: &str, link: u16, event: &str| {
            let (event, subevent) =
                event.split_once('.').map_or((event, None), |(event, subevent)| (event, Some(subevent)));
            window.truth(link, Question::new(unit, event).subevent(subevent)).unwrap()
        };
        let (qpi, there, stop) = (
            |event: &str| of("qpi", link, event),
            |event: &str| of("qpi", peer, event),
            |event: &str| of("r3qpi", link, event),
        );
        let equal = |left: u64, right: u64, law: &str| assert_eq!(left, right, "{workload}: link {link}: {law}");
        for flits in [
            "FLITS_G0.DATA",
            "FLITS_G0.NON_DATA",
            "FLITS_G1.SNP",
            "FLITS_G1.HOM_REQ",
            "FLITS_G1.HOM_NONREQ",
            "FLITS_G1.DRS",
            "FLITS_G2.NDR_AD",
            "FLITS_G2.NDR_AK",
            "FLITS_G2.NCB_DATA",
            "FLITS_G2.NCB_NONDATA",
            "FLITS_G2.NCS",
        ] {
            equal(qpi(&format!("TxL_{flits}")), there(&format!("RxL_{flits}")), &format!("sent = received, {flits}"));
        }
        let (data, headers) = (qpi("TxL_FLITS_G0.DATA"), qpi("TxL_FLITS_G0.NON_DATA"));
        let room = 2 * qpi("TxL0_POWER_CYCLES") + qpi("TxL0P_POWER_CYCLES");
        equal(data + headers + qpi("TxL_FLITS_G0.IDLE"), room, "two flits a clock, one at half width, none when off");
        for direction in ["TxL0", "RxL0"] {
            let on = qpi(&format!("{direction}_POWER_CYCLES")) + qpi(&format!("{direction}P_POWER_CYCLES"));
            equal(on + qpi("L1_POWER_CYCLES"), qpi("CLOCKTICKS"), "a direction is always in a power state");
        }
        for class in ["HOM", "SNP", "NDR", "DRS", "NCB", "NCS"] {
            let stalled = qpi(&format!("RxL_STALLS.BGF_{class}"));
            let waited = qpi(&format!("RxL_OCCUPANCY_{class}"));
            assert!(stalled <= waited, "{workload}: link {link}: {class} stalled for {stalled}, waited for {waited}");
        }
        let no_room = qpi("TxL_CRC_NO_CREDITS.FULL") + qpi("TxL_CRC_NO_CREDITS.ALMOST_FULL");
        assert!(no_room == 0 || qpi("RxL_CRC_ERRORS.NORMAL_OP") + there("RxL_CRC_ERRORS.NORMAL_OP") > 0, "{workload}");
        equal(qpi("L1_POWER_CYCLES"), there("L1_POWER_CYCLES"), "both ends of a link are off at once");
        let (bypass, bypass_data) = (qpi("TxL_FLITS_G2.NCB_NONDATA"), qpi("TxL_FLITS_G2.NCB_DATA"));
        equal(data, qpi("TxL_FLITS_G1.DRS_DATA") + bypass_data, "payload is of data responses and non-coherent writes");
        equal(
            3 * bypass_data,
            8 * bypass,
            "eleven flits for a part of a line or an interrupt, three of them headers (Table 2-92)",
        );
        equal(qpi("TxL_FLITS_G2.NCB"), bypass + bypass_data, "non-coherent flits with data");
        // Parts of a line have two headers more (Table 2-92: eleven flits instead of nine).
        let parts = [("match_mc", 0xE), ("mask_mc", 0xF), ("match_opc", 0x8), ("mask_opc", 0x8)];
        let parts = window.truth(peer, Question::new("qpi", "CTO_COUNT").filtered(&parts)).unwrap();
        let lines = qpi("TxL_FLITS_G1.DRS_NONDATA") - 2 * parts;
        equal(data - bypass_data, 8 * lines, "eight flits of payload each");
        let classes = qpi("TxL_FLITS_G1.SNP") + qpi("TxL_FLITS_G1.HOM") + qpi("TxL_FLITS_G1.DRS_NONDATA");
        let others = qpi("TxL_FLITS_G2.NDR_AD") + qpi("TxL_FLITS_G2.NDR_AK") + bypass + qpi("TxL_FLITS_G2.NCS");
        equal(headers, classes + others, "headers by class");
        let flits = data + headers;
        let packets = headers - 2 * parts - bypass / 3 * 2;
        equal(qpi("TxL_INSERTS") + qpi("TxL_BYPASSED"), flits, "every flit waits or passes by, sending");
        equal(there("RxL_INSERTS") + there("RxL_BYPASSED"), flits, "every flit waits or passes by, receiving");
        equal(there("CTO_COUNT"), packets, "without masks every packet matches");
        let sum = |unit_event: &dyn Fn(&str) -> u64, event: &str, join: &str| -> u64 {
            ["HOM", "SNP", "NDR", "DRS", "NCB", "NCS"]
                .iter()
                .map(|class| unit_event(&format!("{event}{join}{class}")))
                .sum()
        };
        equal(sum(&there, "RxL_INSERTS", "_"), there("RxL_INSERTS"), "the receive buffer by class");
        equal(sum(&there, "RxL_OCCUPANCY", "_"), there("RxL_OCCUPANCY"), "its occupancy by class");
        equal(sum(&stop, "RxR_INSERTS", ".") + stop("RxR_BYPASSED.AD"), packets, "every packet came by the ring");
        equal(stop("VNA_CREDITS_ACQUIRED"), there("VNA_CREDIT_RETURNS"), "shared credits come back");
        let reserved = sum(&stop, "VN0_CREDITS_USED", ".");
        equal(reserved, sum(&there, "RxL_CREDITS_CONSUMED_VN0", "."), "reserved credits used and consumed");
        equal(there("RxL_CREDITS_CONSUMED_VNA") + reserved, packets, "every packet has credits");
        let direct = there("DIRECT2CORE.SUCCESS") + there("DIRECT2CORE.FAILURE_RBT");
        assert!(direct <= lines, "{workload}: only data goes straight to cores");
    }
}

/// Panics if the commands of a workload's channels break the memory's standard.
fn keeps_the_standard(workload: &str, commands: &[(u16, CommandRecord)]) {
    let parameters = super::machine(workload).0;
    let standard = Standard { ranks: parameters.dram.ranks.into(), ..DDR3_1600K };
    for channel in 0..super::truth::instances("imc", parameters.sockets) {
        let of_channel = commands.iter().filter(|(number, _)| *number == channel);
        let interval = Some(trefi(workload)).filter(|_| !workload.contains("self-refresh"));
        checker::check(&standard, &of_channel.map(|(_, command)| *command).collect::<Vec<_>>(), interval);
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
        let to = model.snapshot();
        check(workload, &from, &to);
        assert!(to.is_sound() && to.is_empty(), "{workload}: queues");
        keeps_the_standard(workload, model.commands());
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
        let machine = ["", "", "directory=1 ", "regions=5 ranks=4 "][random.below(4) as usize];
        let workload = format!(
            "{machine}{sockets} {kind}:remote={remote},requests=3000,footprint={footprint},threads={threads},\
             seed={seed}{read}"
        );
        let (mut model, _) = model(&workload);
        model.keep_commands();
        let from = model.snapshot();
        run(&mut model, &mut Recorder::default());
        check(&workload, &from, &model.snapshot());
        keeps_the_standard(&workload, model.commands());
    }
}

#[test]
fn the_same_seed_gives_the_same_signals_however_time_is_cut() {
    let run_in_steps = |workload: &str, step: u64| {
        let (mut model, _) = model(workload);
        let mut recorder = Recorder::default();
        while model.now() < 1_200_000 {
            model.run_until_any((model.now() + step).min(1_200_000), &mut recorder);
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
    // A millisecond: 128 refresh intervals, 4 channels, 2 ranks. For each refresh a rank wakes and goes to sleep again,
    // and with it ends and begins the time in which the whole channel sleeps.
    model.run_until_any(model.now() + 21_600_000, &mut recorder);
    let emitted = recorder.emissions.len() - before;
    assert!((5 * 1020..=5 * 1040).contains(&emitted), "{emitted}");
}
