//! Laws that hold when everything has drained, and the DRAM standard.

use super::truth::Digest;
use super::{WORKLOADS, model, run};
use crate::engine::Random;
use crate::ledger::emerald_rapids::Snapshot;
use crate::uncore::emerald_rapids::dram::checker;

/// An event over all instances of its unit.
fn sum(at: &Snapshot, unit: &str, event: &str) -> u64 {
    let (event, subevent) = event.split_once('.').map_or((event, None), |(event, sub)| (event, Some(sub)));
    let mut sum = 0;
    for instance in 0.. {
        match at.value(unit, instance, event, subevent, &[]) {
            Some(value) => sum += value,
            None => break,
        }
    }
    sum
}

fn check(workload: &str, at: &Snapshot) {
    let of = |unit: &str, event: &str| sum(at, unit, event);
    let cha = |event: &str| of("cha", event);
    let (m2m, imc) = (|event: &str| of("m2m", event), |event: &str| of("imc", event));
    let equal = |left: u64, right: u64, law: &str| assert_eq!(left, right, "{workload}: {law}");

    // The home side and memory. There are no scrubs in this model.
    equal(cha("IMC_READS_COUNT.NORMAL"), m2m("IMC_READS.ALL"), "every read goes through the mesh-to-memory units");
    equal(m2m("IMC_READS.ALL"), imc("RPQ_INSERTS.PCH0") + imc("RPQ_INSERTS.PCH1"), "and through a queue");
    let forwards = imc("WPQ_READ_HIT.PCH0") + imc("WPQ_READ_HIT.PCH1");
    let underfills = imc("CAS_COUNT.RD_UNDERFILL");
    equal(
        imc("CAS_COUNT.RD"),
        m2m("IMC_READS.ALL") - forwards + underfills,
        "read CAS = reads - forwards + underfills",
    );
    let merges = imc("WPQ_WRITE_HIT.PCH0") + imc("WPQ_WRITE_HIT.PCH1");
    let writes = cha("IMC_WRITES_COUNT.FULL") + cha("IMC_WRITES_COUNT.PARTIAL");
    equal(writes, m2m("IMC_WRITES.ALL"), "every write goes through the mesh-to-memory units");
    equal(imc("CAS_COUNT.WR"), writes - merges, "write CAS = writes - merges");
    equal(cha("REQUESTS.WRITES"), writes, "every request to write is carried out");
    equal(m2m("DIRECTORY_LOOKUP.ANY"), m2m("IMC_READS.ALL"), "every read brings directory bits");
    equal(m2m("TRACKER_INSERTS.CH0") + m2m("TRACKER_INSERTS.CH1"), m2m("IMC_READS.ALL"), "every read is tracked");
    equal(m2m("WR_TRACKER_INSERTS.CH0") + m2m("WR_TRACKER_INSERTS.CH1"), m2m("IMC_WRITES.ALL"), "and every write");
    // What was activated was closed, or is still open; 2048 rows at most.
    let opened = imc("ACT_COUNT.ALL");
    assert!(imc("PRE_COUNT.ALL") <= opened, "{workload}: more rows closed than opened");
    equal(opened, imc("ACT_PRIO.PCH0") + imc("ACT_PRIO.PCH1"), "activates, both ways");

    // Agents.
    let lookups = cha("LLC_LOOKUP.ALL");
    let states = ["I", "SF_S", "SF_E", "SF_H", "S", "E", "M", "F"];
    equal(lookups, states.iter().map(|state| cha(&format!("LLC_LOOKUP.{state}"))).sum(), "look-ups by state");
    let entries = cha("TOR_INSERTS.ALL");
    let no_lookup = cha("TOR_INSERTS.EVICT") + cha("TOR_INSERTS.IA_MISS_UCRDF") + cha("TOR_INSERTS.IA_MISS_WIL");
    equal(entries, lookups + no_lookup, "entries = look-ups + evictions + device accesses");
    let queues = ["IRQ", "IPQ", "PRQ", "RRQ", "WBQ"];
    let queued: u64 = queues.iter().map(|queue| cha(&format!("RxC_INSERTS.{queue}"))).sum();
    equal(entries - cha("TOR_INSERTS.EVICT"), queued, "what was queued was accepted");
    // What was turned away tried again, queue by queue; what was so twice is a part of that.
    for reason in
        ["0_REJECT.AD_REQ_VN0", "0_REJECT.AD_RSP_VN0", "0_REJECT.BL_RSP_VN0", "0_REJECT.BL_WB_VN0", "1_REJECT.PA_MATCH"]
    {
        let turned_away = ["IRQ", "IPQ", "PRQ", "RRQ", "WBQ"].map(|queue| cha(&format!("RxC_{queue}{reason}")));
        let retries = cha(&format!("RxC_REQ_Q{}", reason.replace("REJECT", "RETRY")));
        equal(turned_away.iter().sum(), retries, "what was turned away tried again");
    }
    let [credits, own] = ["RxC_ISMQ0_REJECT.BL_WB_VN0", "RxC_ISMQ1_REJECT.ANY0"].map(|event| cha(event));
    equal(credits, own, "what goes to memory waits for writeback credits only");
    equal(own, cha("RxC_ISMQ1_RETRY.ANY0"), "and tries again");
    equal(
        cha("RxC_INSERTS.IRQ_REJ"),
        cha("RxC_IRQ1_REJECT.ANY0") + cha("RxC_IRQ1_REJECT.PA_MATCH"),
        "rejects of the IRQ",
    );
    equal(cha("LLC_VICTIMS.ALL"), cha("LLC_VICTIMS.IA") + cha("LLC_VICTIMS.IO"), "victims by cause");
    equal(cha("DIRECT_GO.HA_TOR_DEALLOC"), entries, "everything inserted is removed");

    // Mesh: what the rings count at their stops adds up to hops, and what leaves a column arrives at a row.
    let bypassed = |name: &str| ["cha", "m2m", "m2pcie", "m3upi"].iter().map(|unit| of(unit, name)).sum::<u64>();
    let sent = ["AG0", "AG1"].map(|agent| {
        bypassed(&format!("TxR_VERT_BYPASS.BL_{agent}")) + bypassed(&format!("TxR_VERT_INSERTS0.BL_{agent}"))
    });
    equal(
        sent.iter().sum(),
        bypassed("RxR_BYPASS.BL_ALL") + bypassed("RxR_INSERTS.BL_ALL"),
        "every data message arrives",
    );
    for ring in ["AD_CRD", "BL_CRD", "AK", "IV"] {
        let left = of("mdf", &format!("RxR_BYPASS.{ring}")) + of("mdf", &format!("RxR_INSERTS.{ring}"));
        equal(of("mdf", &format!("CRS_TxR_INSERTS.{ring}")), left, "what leaves a die comes to the other");
    }
    for (ring, agent) in [("AD", 0), ("AD", 1), ("BL", 0), ("BL", 1)] {
        let lane = format!("{ring}_AG{agent}");
        let sent = bypassed(&format!("TxR_VERT_BYPASS.{lane}")) + bypassed(&format!("TxR_VERT_INSERTS0.{lane}"));
        let rows = (0..12).map(|row| bypassed(&format!("AG{agent}_{ring}_CRD_ACQUIRED{}.TGR{row}", row / 8)));
        equal(rows.sum(), sent, "every address and every line takes a credit");
    }

    // I/O: sixteen double words a line.
    equal(of("iio", "DATA_REQ_OF_CPU.MEM_READ.ALL_PARTS"), 16 * cha("TOR_INSERTS.IO_PCIRDCUR"), "DMA read bytes");
    let dma_writes = cha("TOR_INSERTS.IO_ITOM") + cha("TOR_INSERTS.IO_ITOMCACHENEAR") + cha("TOR_INSERTS.IO_RFO");
    equal(of("iio", "DATA_REQ_OF_CPU.MEM_WRITE.ALL_PARTS"), 16 * dma_writes, "DMA write bytes");
    equal(cha("TOR_INSERTS.IO_WBMTOI"), cha("TOR_INSERTS.IO_RFO"), "partial writes come in two steps");
    equal(of("iio", "DATA_REQ_BY_CPU.MEM_READ.ALL_PARTS"), 16 * cha("TOR_INSERTS.IA_MISS_UCRDF"), "MMIO reads");
    equal(of("irp", "IRP_ALL.INBOUND_INSERTS"), of("irp", "IRP_ALL.EVICTS"), "the write cache is empty");

    // Links.
    for class in ["REQ", "SNP", "RSP_NODATA", "RSP_DATA", "WB"] {
        let (out, back) =
            (of("upi", &format!("TxL_BASIC_HDR_MATCH.{class}")), of("upi", &format!("RxL_BASIC_HDR_MATCH.{class}")));
        equal(out, back, "what a link sends, its peer receives");
    }
    equal(of("upi", "TxL_FLITS.ALL_DATA"), of("upi", "RxL_FLITS.ALL_DATA"), "data slots sent and received");
    equal(of("upi", "TxL_BASIC_HDR_MATCH.REQ"), cha("TOR_INSERTS.RRQ"), "requests of the other socket");
    equal(of("upi", "TxL_BASIC_HDR_MATCH.SNP"), cha("TOR_INSERTS.IPQ"), "snoops of the other socket");
    equal(of("upi", "TxL_BASIC_HDR_MATCH.WB"), cha("TOR_INSERTS.WBQ"), "writebacks of the other socket");
    equal(cha("SNOOPS_SENT.ALL"), cha("TOR_INSERTS.IPQ"), "snoops sent are snoops received");
    let answers = ["RSPI", "RSPIFWD", "RSPSFWD", "RSPFWDWB"];
    equal(
        answers.iter().map(|answer| cha(&format!("SNOOP_RESP.{answer}"))).sum(),
        cha("SNOOPS_SENT.ALL"),
        "and answered",
    );
}

fn hold(workload: &str) {
    let (mut model, _) = model(workload);
    model.keep_commands();
    run(&mut model, &mut Digest::default());
    assert_eq!(model.progress().done, model.progress().total);
    check(workload, &model.snapshot());
    assert!(model.agents.iter().all(|agent| agent.links.is_idle()), "{workload}: credits are missing");
    for number in 0..32 {
        let of_subchannel = model.ledger().commands().iter().filter(|(n, _)| *n == number);
        checker::check(&of_subchannel.map(|(_, command)| *command).collect::<Vec<_>>());
    }
}

#[test]
fn laws_hold_and_the_command_streams_keep_the_standard() {
    WORKLOADS.iter().for_each(|workload| hold(workload));
}

#[test]
fn laws_hold_for_workloads_drawn_at_random() {
    let mut random = Random::new(20_240_829, 0);
    for seed in 0..8 {
        let kind = ["stream", "copy", "random", "mixed"][random.below(4) as usize];
        let footprint = 64_u64 << (12 + random.below(18));
        let (sockets, remote) = if seed % 2 == 0 { ("", 0) } else { ("two ", random.below(101)) };
        let threads = 1 + random.below(128);
        let read = if kind == "copy" { String::new() } else { format!(",read={}", random.below(101)) };
        let remote = if sockets.is_empty() { String::new() } else { format!(",remote={remote}") };
        hold(&format!(
            "{sockets}{kind}:requests=3000,footprint={footprint},threads={threads},seed={seed}{read}{remote}"
        ));
    }
}
