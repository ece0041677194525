//! Laws that hold when everything has drained, and the DRAM standard.

use pericore_dram::checker::{self, DDR5_5600B};
use pericore_engine::Random;
use pericore_parts::work::Worker;

use super::truth::Digest;
use super::{FOUR_DIES, WORKLOADS, model, run};
use crate::ledger::Question;
use pericore_truth::emerald_rapids::{Ledger, Snapshot};

/// An event over all instances of its unit.
pub fn sum(at: &Snapshot, unit: &str, event: &str) -> u64 {
    let (event, subevent) = event.split_once('.').map_or((event, None), |(event, sub)| (event, Some(sub)));
    let mut sum = 0;
    for instance in 0.. {
        match at.value(instance, Question::new(unit, event).subevent(subevent)) {
            Some(value) => sum += value,
            None => break,
        }
    }
    sum
}

/// The laws of a machine at rest.
pub fn check(workload: &str, at: &Snapshot) {
    let of = |unit: &str, event: &str| sum(at, unit, event);
    let cha = |event: &str| of("cha", event);
    let (m2m, imc) = (|event: &str| of("m2m", event), |event: &str| of("imc", event));
    let equal = |left: u64, right: u64, law: &str| assert_eq!(left, right, "{workload}: {law}");

    // The home side and memory. There are no scrubs in this model.
    let reads = cha("IMC_READS_COUNT.NORMAL") + cha("IMC_READS_COUNT.PRIORITY");
    equal(reads, m2m("IMC_READS.ALL"), "every read goes through the mesh-to-memory units");
    equal(m2m("IMC_READS.ALL"), imc("RPQ_INSERTS.PCH0") + imc("RPQ_INSERTS.PCH1"), "and through a queue");
    let forwards = imc("WPQ_READ_HIT.PCH0") + imc("WPQ_READ_HIT.PCH1");
    let underfills = imc("CAS_COUNT.RD_UNDERFILL");
    equal(
        imc("CAS_COUNT.RD"),
        m2m("IMC_READS.ALL") - forwards + underfills,
        "read CAS = reads - forwards + underfills",
    );
    let merges = imc("WPQ_WRITE_HIT.PCH0") + imc("WPQ_WRITE_HIT.PCH1");
    let writes =
        ["FULL", "PARTIAL", "FULL_PRIORITY"].map(|kind| cha(&format!("IMC_WRITES_COUNT.{kind}"))).iter().sum::<u64>();
    // Directory bits lie beside their line: what changes them without data writes the line again.
    let updates = cha("DIR_UPDATE.HA") + cha("DIR_UPDATE.TOR");
    equal(updates, m2m("DIRECTORY_UPDATE.ANY"), "changes of the directory, by agent and by memory unit");
    equal(m2m("IMC_WRITES.ALL"), writes + updates, "memory units write lines of agents, and directory bits");
    equal(m2m("IMC_WRITES.ALL"), imc("WPQ_INSERTS.PCH0") + imc("WPQ_INSERTS.PCH1") + merges, "all through a queue");
    equal(imc("CAS_COUNT.WR"), m2m("IMC_WRITES.ALL") - merges, "write CAS = writes - merges");
    let cxl = |event: &str| of("cxlcm", event);
    let (cxl_reads, cxl_writes) = (cxl("TxC_PACK_BUF_INSERTS.MEM_REQ"), cxl("TxC_PACK_BUF_INSERTS.MEM_DATA"));
    equal(cha("REQUESTS.WRITES"), writes + cxl_writes, "every request to write is carried out, behind CXL, too");
    equal(of("cxldp", "TxC_AGF_INSERTS.M2S_REQ"), cxl_reads, "reads behind CXL cross the clocks");
    equal(of("cxldp", "TxC_AGF_INSERTS.M2S_DATA"), cxl_writes, "and so do writes");
    equal(cxl("RxC_PACK_BUF_INSERTS.MEM_DATA"), cxl_reads, "every read behind CXL brings data");
    equal(cxl("RxC_PACK_BUF_INSERTS.MEM_REQ"), cxl_writes, "every write there is acknowledged");
    equal(cxl("RxC_FLITS.VALID_MSG"), cxl_reads + cxl_writes, "and nothing else comes");
    equal(cxl("TxC_FLITS.VALID"), cxl_reads + 2 * cxl_writes, "a line takes a flit of its own");
    equal(cxl("RxC_FLITS.VALID"), 2 * cxl_reads + cxl_writes, "on the way back, too");
    equal(cxl("TxC_FLITS.NO_HDR"), cxl_writes, "which has no header");
    equal(m2m("DIRECTORY_LOOKUP.ANY"), m2m("IMC_READS.ALL"), "every read brings directory bits");
    equal(m2m("TRACKER_INSERTS.CH0") + m2m("TRACKER_INSERTS.CH1"), m2m("IMC_READS.ALL"), "every read is tracked");
    equal(m2m("WR_TRACKER_INSERTS.CH0") + m2m("WR_TRACKER_INSERTS.CH1"), m2m("IMC_WRITES.ALL"), "and every write");
    // What was activated was closed, or is still open; 2048 rows at most.
    let opened = imc("ACT_COUNT.ALL");
    assert!(imc("PRE_COUNT.ALL") <= opened, "{workload}: more rows closed than opened");
    equal(opened, imc("ACT_PRIO.PCH0") + imc("ACT_PRIO.PCH1"), "activates, both ways");

    // Memory's side of the mesh.
    let told = m2m("IMC_READS.ALL") + writes - cha("DIR_LOOKUP.SNP") - m2m("DIRECT2UPI_NOT_TAKEN_CREDITS.EGRESS");
    equal(
        m2m("TxC_EGRESS_AK.INSERTS"),
        told,
        "agents hear of all but what another socket answers, and what comes to them as data",
    );
    for (path, ports) in [("AD", &[""] as &[&str]), ("BL", &["_CMS0", "_CMS1"])] {
        let both = |event: &str| ports.iter().map(|port| m2m(&format!("{event}{port}"))).sum::<u64>();
        let sent = both(&format!("TxC_{path}.INSERTS"));
        equal(both(&format!("TxC_{path}_CREDITS.RETURNED")), sent, "every credit comes back");
        let agents = (0..24).map(|n| (n % 2, n / 2));
        let held = agents.map(|(agent, row)| m2m(&format!("AG{agent}_{path}_CRD_OCCUPANCY{}.TGR{row}", row / 8)));
        equal(held.sum(), m2m(&format!("TGR_{path}_CREDITS")), "credits in use, row by row");
    }
    let [of_agents, of_links] = ["XPT", "UPI"].map(|sender| m2m(&format!("PREFCAM_INSERTS.{sender}_ALLCH")));
    let prefetches = of_agents + of_links;
    let sent = cha("XPT_PREF.SENT0") + cha("XPT_PREF.SENT1");
    equal(sent, of_agents + m2m("PREFCAM_DEMAND_DROPS.XPT_ALLCH"), "what agents send runs ahead or is dropped");
    for (sender, ahead) in [("XPT", of_agents), ("UPI", of_links)] {
        let merged = m2m(&format!("PREFCAM_DEMAND_MERGE.{sender}_ALLCH"));
        equal(merged, ahead, "each prefetch in the CAM has its read");
    }
    equal(m2m("PREFCAM_RxC_DEALLOCS.1LM_POSTED"), prefetches, "prefetches leave the ingress for memory");
    equal(m2m("PREFCAM_RESP_MISS.ALLCH"), m2m("IMC_READS.ALL") - prefetches, "the others find no prefetch");
    let deadlines = m2m("IMC_READS.ISOCH");
    equal(cha("IMC_READS_COUNT.PRIORITY"), deadlines, "isochronous reads of agents come to memory");
    equal(cha("IMC_WRITES_COUNT.FULL_PRIORITY"), m2m("IMC_WRITES.FULL_ISOCH"), "and so do writes");
    let [critical, low] =
        ["CRIT", "LOW"].map(|of| imc(&format!("RPQ_PRIO.PCH0_{of}")) + imc(&format!("RPQ_PRIO.PCH1_{of}")));
    equal(critical, deadlines, "they are critical in the queues");
    equal(critical + low, imc("RPQ_INSERTS.PCH0") + imc("RPQ_INSERTS.PCH1"), "a read is either");

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
    let of_set_0 = ["AD_REQ_VN0", "AD_RSP_VN0", "BL_RSP_VN0", "BL_WB_VN0", "AK_NON_UPI", "IV_NON_UPI"];
    let of_set_0 = of_set_0.map(|reason| format!("0_REJECT.{reason}"));
    for reason in of_set_0.iter().map(String::as_str).chain(["1_REJECT.PA_MATCH"]) {
        let turned_away = queues.map(|queue| cha(&format!("RxC_{queue}{reason}")));
        let retries = cha(&format!("RxC_REQ_Q{}", reason.replace("REJECT", "RETRY")));
        equal(turned_away.iter().sum(), retries, "what was turned away tried again");
    }
    for queue in queues {
        let each = of_set_0.iter().map(|reason| cha(&format!("RxC_{queue}{reason}"))).sum();
        equal(each, cha(&format!("RxC_{queue}1_REJECT.ANY0")), "reasons of set 0, one at a time");
    }
    let own = cha("RxC_ISMQ1_REJECT.ANY0");
    let credits = cha("RxC_ISMQ0_REJECT.BL_WB_VN0") + cha("RxC_ISMQ0_REJECT.BL_RSP_VN0");
    equal(credits, own, "the agents' own work waits for credits for writebacks and data");
    let answers = m2m("DIRECT2UPI_TAKEN") + m2m("DIRECT2UPI_NOT_TAKEN_CREDITS.EGRESS");
    equal(cha("RxC_ISMQ0_REJECT.BL_RSP_VN0"), m2m("DIRECT2UPI_NOT_TAKEN_CREDITS.EGRESS"), "data that finds no credit");
    equal(answers, cha("REQUESTS.READS_REMOTE"), "every read of the other socket is answered with data");
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
    // The system agent sits at a stop that no unit counts: what it takes, and the data that it answers with.
    let asked = of("ubox", "RACU_REQUESTS") + of("ubox", "RACU_DRNG.RDRAND") + of("ubox", "RACU_DRNG.RDSEED");
    let told = ["VLW_RCVD", "MSI_RCVD", "IPI_RCVD", "DOORBELL_RCVD", "INT_PRIO"];
    let taken = asked + told.iter().map(|name| of("ubox", &format!("EVENT_MSG.{name}"))).sum::<u64>();
    equal(
        sent.iter().sum::<u64>() + asked,
        bypassed("RxR_BYPASS.BL_ALL") + bypassed("RxR_INSERTS.BL_ALL") + taken,
        "every data message arrives",
    );
    for ring in ["AD_CRD", "BL_CRD", "AK", "IV"] {
        let left = of("mdf", &format!("RxR_BYPASS.{ring}")) + of("mdf", &format!("RxR_INSERTS.{ring}"));
        equal(of("mdf", &format!("CRS_TxR_INSERTS.{ring}")), left, "what leaves a die comes to the other");
    }
    for (ring, uncounted) in [("AD", 0), ("BL", taken)] {
        let of_agent = |agent: u8| {
            let lane = format!("{ring}_AG{agent}");
            let sent = bypassed(&format!("TxR_VERT_BYPASS.{lane}")) + bypassed(&format!("TxR_VERT_INSERTS0.{lane}"));
            let rows = (0..12).map(|row| bypassed(&format!("AG{agent}_{ring}_CRD_ACQUIRED{}.TGR{row}", row / 8)));
            (sent, rows.sum::<u64>())
        };
        let [(first, credits), (second, more)] = [0, 1].map(of_agent);
        let free = bypassed(&format!("RxR_BYPASS.{ring}_UNCRD")) + bypassed(&format!("RxR_INSERTS.{ring}_UNCRD"));
        let off = (first + second).abs_diff(credits + more + free);
        assert!(off <= uncounted, "{workload}: {ring} takes a credit, or stays in its row: off by {off}");
    }

    // I/O: sixteen double words a line, four of one that is written in part.
    equal(of("iio", "DATA_REQ_OF_CPU.MEM_READ.ALL_PARTS"), 16 * cha("TOR_INSERTS.IO_PCIRDCUR"), "DMA read bytes");
    let lines = cha("TOR_INSERTS.IO_ITOM");
    let by_part = |event: &str| (0..8).map(|part| of("iio", &format!("{event}.PART{part}"))).sum::<u64>();
    let atomic = of("irp", "TRANSACTIONS.ATOMIC");
    let parts = cha("TOR_INSERTS.IO_RFO") - atomic + cha("TOR_INSERTS.IO_ITOMCACHENEAR");
    equal(of("iio", "DATA_REQ_OF_CPU.MEM_WRITE.ALL_PARTS"), 16 * lines + 4 * parts, "DMA write bytes");
    let by_target =
        ["MEM", "UBOX", "LOC_P2P", "REM_P2P"].map(|name| of("iio", &format!("NUM_REQ_OF_CPU_BY_TGT.{name}")));
    equal(of("iio", "NUM_REQ_OF_CPU.COMMIT.ALL"), by_target.iter().sum(), "requests by target");
    equal(of("irp", "FAF_TRANSACTIONS"), cha("TOR_INSERTS.IO_PCIRDCUR"), "reads are passed on");
    let outbound = of("irp", "TxS_DATA_INSERTS_NCB") + of("irp", "TxS_DATA_INSERTS_NCS");
    equal(of("iio", "OUTBOUND_CL_REQS_ISSUED.TO_IO"), outbound, "what comes for devices is issued to them");
    equal(by_part("TXN_REQ_OF_CPU.ATOMIC"), atomic, "atomic operations, by part");
    equal(by_part("DATA_REQ_OF_CPU.ATOMIC"), 2 * atomic, "their operands");
    let device_reads = cha("TOR_INSERTS.IA_MISS_UCRDF") + of("irp", "P2P_TRANSACTIONS.CMPL");
    equal(by_part("TXN_REQ_OF_CPU.CMPD"), device_reads, "reads of devices are completed with data");
    equal(of("iio", "DATA_REQ_OF_CPU.CMPD.ALL_PARTS"), 16 * device_reads, "of a line each");
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
    links(workload, at);
    peers(workload, at);
    equal(of("upi", "TxL_BASIC_HDR_MATCH.REQ"), cha("TOR_INSERTS.RRQ"), "requests of the other socket");
    equal(of("upi", "TxL_BASIC_HDR_MATCH.SNP"), cha("TOR_INSERTS.IPQ"), "snoops of the other socket");
    equal(of("upi", "TxL_BASIC_HDR_MATCH.WB"), cha("TOR_INSERTS.WBQ"), "writebacks of the other socket");
    equal(cha("SNOOPS_SENT.ALL"), cha("TOR_INSERTS.IPQ"), "snoops sent are snoops received");
    let answers = ["RSPI", "RSPIFWD", "RSPSFWD", "RSPWB"];
    equal(
        answers.iter().map(|answer| cha(&format!("SNOOP_RESP.{answer}"))).sum(),
        cha("SNOOPS_SENT.ALL"),
        "and answered",
    );
}

/// An event's subevents, added up over all instances.
fn total(at: &Snapshot, unit: &str, event: &str, subevents: &[&str]) -> u64 {
    subevents.iter().map(|subevent| sum(at, unit, &format!("{event}.{subevent}"))).sum()
}

/// What messages between sockets take, wait for and give back.
fn links(workload: &str, at: &Snapshot) {
    let equal = |left: u64, right: u64, law: &str| assert_eq!(left, right, "{workload}: {law}");
    let m3 = |event: &str, subevents: &[&str]| total(at, "m3upi", event, subevents);
    let upi = |event: &str| sum(at, "upi", event);
    let classes = ["AD_REQ", "AD_SNP", "AD_RSP", "BL_RSP", "BL_WB", "BL_NCB", "BL_NCS"];
    let own = ["REQ", "SNP", "RSP", "WB", "NCB", "NCS"];
    let headers = upi("TxL_FLITS.ALL_PROTHDR");
    let queued = m3("RxC_INSERTS_VN0", &classes) + m3("RxC_INSERTS_VN1", &classes);
    let past = m3("RxC_BYPASSED", &["AD_S0_IDLE", "AD_S0_BL_ARB", "AD_S1_BL_SLOT", "AD_S2_BL_SLOT"]);
    equal(queued + past, headers, "what came off the mesh went into flits");
    let sizes = ["1_MSG", "2_MSGS", "3_MSGS"].map(|size| m3("RxC_HDR_FLITS_SENT", &[size]));
    equal(sizes[0] + 2 * sizes[1] + 3 * sizes[2], headers, "flits by size");
    let flits = sizes.iter().sum::<u64>() + upi("TxL_FLITS.ALL_DATA") / 3;
    equal(flits, upi("TxL_INSERTS") + upi("TxL_BYPASSED"), "flits sent, at once or later");
    let consumed = ["VNA", "VN0", "VN1"].map(|pool| upi(&format!("RxL_CREDITS_CONSUMED_{pool}")));
    equal(consumed.iter().sum(), headers, "every message travels on a credit");
    equal(m3("VN0_CREDITS_USED", &own), consumed[1], "credits of the first network");
    equal(m3("VN1_CREDITS_USED", &own), consumed[2], "credits of the second network");
    let slots = ["AD_SLOT0", "AD_SLOT1", "AD_SLOT2", "BL_SLOT0", "AK_SLOT0", "AK_SLOT2"];
    equal(m3("MULTI_SLOT_RCVD", &slots), headers, "messages by slot");
    let addresses = ["VN0_REQ", "VN0_SNP", "VN0_RSP", "VN1_REQ", "VN1_SNP", "VN1_RSP"];
    let lines = ["VN0_RSP", "VN0_WB", "VN0_NCB", "VN0_NCS", "VN1_RSP", "VN1_WB", "VN1_NCB", "VN1_NCS"];
    let flows = m3("TxC_AD_FLQ_INSERTS", &addresses)
        + m3("TxC_AD_FLQ_BYPASS", &["AD_SLOT0", "AD_SLOT1", "AD_SLOT2"])
        + m3("TxC_BL_FLQ_INSERTS", &lines)
        + sum(at, "m3upi", "TxC_AK_FLQ_INSERTS");
    equal(flows, headers, "what a link brings goes through a flow queue or past it");
    let receive = |event: &str| total(at, "upi", event, &["SLOT0", "SLOT1", "SLOT2"]);
    let filled = headers + upi("RxL_FLITS.ALL_DATA");
    equal(receive("RxL_INSERTS") + receive("RxL_BYPASSED"), filled, "slots that waited, and that did not");
    equal(upi("TxL_FLITS.ALL_LLCRD"), upi("RxL_FLITS.NON_DATA") - headers, "credits sent and received");
    equal(upi("TxL_FLITS.ALL_LLCRD"), m3("RxC_FLITS_MISC", &["S2REQ_RECEIVED"]), "credits take slot 2");
    let served = m3("RxC_FLITS_MISC", &["S2REQ_WITHDRAWN", "S2REQ_IN_HOLDOFF", "S2REQ_IN_SERVICE"]);
    equal(upi("TxL_FLITS.ALL_LLCRD"), served, "which each request for it gets in one way");
    for kind in ["ALL_NULL", "IDLE"] {
        let of = |event: &str| upi(&format!("{event}.{kind}"));
        equal(of("TxL_FLITS"), of("RxL_FLITS"), "idle links send what their peers receive");
    }
    let any = total(at, "upi", "TxL_ANY_FLITS", &["SLOT0", "SLOT1", "SLOT2"]);
    let all =
        ["ALL_DATA", "ALL_PROTHDR", "ALL_LLCRD", "ALL_NULL", "IDLE"].map(|kind| upi(&format!("TxL_FLITS.{kind}")));
    equal(any, all.iter().sum(), "slots, by what is in them");
    // A line takes four shared credits of the peer, anything else one; the block ring is given four at once.
    let shared = m3("RxC_CRD_OCC", &["CONSUMED"]) - m3("RxC_VNA_CRD", &["CORRECTED"]);
    let own_lines = m3("VN0_CREDITS_USED", &["WB", "NCB"]) + m3("VN1_CREDITS_USED", &["WB", "NCB"]);
    equal(shared, consumed[0] + upi("TxL_FLITS.ALL_DATA") / 3 - 3 * own_lines, "shared credits for headers and lines");
    let entered = m3("TxC_BL_FLQ_INSERTS", &["VN0_WB"]);
    equal(m3("TxC_AD_FLQ_INSERTS", &["VN0_WB"]), entered, "homes hear of each writeback");
    let blocks = ["BL_RSP", "BL_WB", "BL_NCB", "BL_NCS"];
    let slotted = m3("RxC_INSERTS_VN0", &blocks) + m3("RxC_INSERTS_VN1", &blocks);
    equal(m3("RxC_FLITS_SLOT_BL", &["ALL"]), slotted, "what comes off the block ring is slotted");
    let bypass = upi("TxL_BASIC_HDR_MATCH.NCB");
    equal(m3("RxC_FLITS_SLOT_BL", &["P1_NOT_REQ"]), slotted - bypass, "bypass messages need both halves");
}

/// What devices write and read of each other.
fn peers(workload: &str, at: &Snapshot) {
    let equal = |left: u64, right: u64, law: &str| assert_eq!(left, right, "{workload}: {law}");
    let m2 = |event: &str, subevents: &[&str]| total(at, "m2pcie", event, subevents);
    let parts = |event: &str, kind: &str| -> u64 {
        (0..8).map(|part| sum(at, "iio", &format!("{event}.{kind}.PART{part}"))).sum()
    };
    let writes = parts("TXN_REQ_OF_CPU", "PEER_WRITE");
    let lines = writes + parts("TXN_REQ_OF_CPU", "PEER_READ");
    equal(parts("DATA_REQ_OF_CPU", "PEER_WRITE"), 16 * writes, "16 double words a line");
    equal(parts("DATA_REQ_BY_CPU", "PEER_WRITE"), 16 * writes, "what one device writes, another gets");
    equal(parts("DATA_REQ_BY_CPU", "PEER_READ"), 16 * (lines - writes), "what one asks for, another is asked for");
    equal(sum(at, "irp", "P2P_INSERTS"), lines, "all through the coherent port");
    equal(total(at, "irp", "P2P_TRANSACTIONS", &["LOC", "REM"]), lines, "near and far");
    equal(total(at, "irp", "P2P_TRANSACTIONS", &["CMPL"]), lines - writes, "every read is answered");
    equal(m2("P2P_SHAR_RECEIVED", &["ALL"]) + m2("P2P_DED_RECEIVED", &["ALL"]), lines, "credits that came with them");
    let stacks = |event: &str, name: &str| {
        let of =
            |stack: usize, class: &str| m2(&format!("{event}_{}", stack / 4), &[&format!("{name}{stack}_{class}")]);
        (0..6).map(|stack| of(stack, "NCB") + of(stack, "NCS")).sum::<u64>()
    };
    let ways = |event: &str| {
        let of = |link: usize, class: &str| m2(&format!("{event}_{}", link / 2), &[&format!("UPI{link}_{class}")]);
        (0..3).map(|link| of(link, "NCB") + of(link, "NCS")).sum::<u64>()
    };
    let shared = stacks("LOCAL_SHAR_P2P_CRD_TAKEN", "M2IOSF") + ways("REMOTE_SHAR_P2P_CRD_TAKEN");
    let kept = stacks("LOCAL_DED_P2P_CRD_TAKEN", "M2IOSF") + ways("REMOTE_DED_P2P_CRD_TAKEN");
    equal(shared + kept, lines, "every line takes a credit");
    let three = ["AGENT_0", "AGENT_1", "AGENT_2"];
    let six = ["AGENT_0", "AGENT_1", "AGENT_2", "AGENT_3", "AGENT_4", "AGENT_5"];
    equal(
        m2("LOCAL_P2P_SHAR_RETURNED", &three) + m2("REMOTE_P2P_SHAR_RETURNED", &three),
        shared,
        "shared ones go back",
    );
    let back = m2("LOCAL_SHAR_P2P_CRD_RETURNED", &six) + m2("REMOTE_SHAR_P2P_CRD_RETURNED", &three);
    equal(back, shared, "and into their pools");
    let links = ["UPI0_NCB", "UPI0_NCS", "UPI1_NCB", "UPI1_NCS", "UPI2_NCB", "UPI2_NCS"];
    let returned = stacks("LOCAL_P2P_DED_RETURNED", "MS2IOSF") + m2("REMOTE_P2P_DED_RETURNED", &links);
    equal(returned, kept, "so do those that are kept for a destination");
    equal(m2("RxC_INSERTS", &["IIO_NCB", "IIO_NCS", "UPI_NCB", "UPI_NCS"]), lines, "all come to the other stack");
}

fn hold(workload: &str) -> Snapshot {
    let (mut model, _) = model(workload);
    model.keep_commands();
    run(&mut model, &mut Digest::default());
    assert_eq!(model.progress().done, model.progress().total);
    check(workload, &model.snapshot());
    assert!(model.agents.iter().all(|agent| agent.has_all_credits()), "{workload}: credits are missing");
    // The checker's standard is that of DDR5-5600.
    if model.parameters.memory_mhz == 2800 {
        // Memory that refreshes itself gets no commands for it: that of a package in C6, for longer than at the end.
        let rests = sum(&model.snapshot(), "pcu", "PKG_RESIDENCY_C6_CYCLES") > u64::from(model.sockets) * 5000;
        standard(model.ledger(), !workload.contains("self-refresh") && !rests);
    }
    model.snapshot()
}

/// Every subchannel's commands keep the standard, refreshes included if memory does not refresh itself.
pub fn standard(truth: &Ledger, refreshed: bool) {
    for number in 0..32 {
        let of_subchannel = truth.commands().iter().filter(|(n, _)| *n == number);
        let commands: Vec<_> = of_subchannel.map(|(_, command)| *command).collect();
        checker::check(&DDR5_5600B, &commands, Some(DDR5_5600B.refi).filter(|_| refreshed));
    }
}

#[test]
fn laws_hold_and_the_command_streams_keep_the_standard() {
    WORKLOADS.iter().chain(FOUR_DIES).for_each(|workload| {
        hold(workload);
    });
}

/// So many invalidations that requests and snoops of the other socket find no way onto the mesh, and have to try again.
#[test]
fn laws_hold_for_all_threads_at_few_lines() {
    let at = hold("two mixed:requests=300000,threads=256,footprint=256k,read=70,remote=50");
    for queue in ["IPQ", "RRQ"] {
        assert!(sum(&at, "cha", &format!("RxC_{queue}0_REJECT.IV_NON_UPI")) > 0, "{queue}");
    }
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
