//! What the guide's names mean for I/O stacks: their traffic controller (IIO), coherent port (IRP) and mesh stop
//! (M2PCIe) (sections 2.4, 2.5 and 2.8).

use pericore_facts::emerald_rapids::{ATOMIC_DWS, DOORBELL_DWS, LINE_DWS, PARTIAL_DWS};

use super::StackCells;
use crate::emerald_rapids::gauge::Gauge;

/// A part by its name, or all of them.
fn part(name: &str) -> Option<std::ops::Range<usize>> {
    if name == "ALL_PARTS" {
        return Some(0..8);
    }
    let part = name.strip_prefix("PART")?.parse().ok().filter(|part| *part < 8)?;
    Some(part..part + 1)
}

fn sum(of: &[[u64; 8]; 2]) -> u64 {
    of.as_flattened().iter().sum()
}

/// The count of an event of the traffic controller.
pub fn controller(cells: &StackCells, event: &str, subevent: &str) -> Option<u64> {
    let StackCells { entered, completed, of_cores, peers, .. } = cells;
    let (reads, writes) = (entered[0].iter().sum::<u64>(), entered[1].iter().sum::<u64>());
    // Atomic operations are not posted.
    let posted = writes - cells.atomic.iter().sum::<u64>();
    let written = completed[1].iter().sum::<u64>() - cells.atomic_done + peers.left[0] + cells.interrupts;
    let requests = reads + writes + sum(&peers.began) + cells.interrupts;
    Some(match (event, subevent) {
        ("DATA_REQ_OF_CPU" | "DATA_REQ_BY_CPU" | "TXN_REQ_OF_CPU" | "TXN_REQ_BY_CPU", _) => {
            let (kind, name) = subevent.split_once('.')?;
            let parts = part(name)?;
            let of_cpu = event.ends_with("OF_CPU");
            let all = name == "ALL_PARTS";
            let plain: [u64; 8] = std::array::from_fn(|part| entered[1][part] - cells.atomic[part]);
            let (of, words) = match kind {
                "MEM_READ" if of_cpu => (&entered[0], LINE_DWS),
                "MEM_WRITE" if of_cpu => (&plain, LINE_DWS),
                "ATOMIC" if of_cpu && !all => (&cells.atomic, ATOMIC_DWS),
                "MEM_READ" => (&of_cores[0], LINE_DWS),
                // A core writes a doorbell of two double words.
                "MEM_WRITE" => (&of_cores[1], DOORBELL_DWS),
                // A device answers who reads it: a core or another device.
                "CMPD" if of_cpu => {
                    let words = if event.starts_with("DATA") { u64::from(LINE_DWS) } else { 1 };
                    let of_devices = &peers.answered[parts.clone()];
                    return Some(words * (cells.sent_data[parts].iter().sum::<u64>() + of_devices.iter().sum::<u64>()));
                }
                _ if all => return None,
                "MSG" if of_cpu => {
                    let of = if event.starts_with("DATA") { &cells.message_words } else { &cells.messages };
                    return Some(of[parts].iter().sum());
                }
                "PEER_WRITE" if of_cpu => (&peers.began[0], LINE_DWS),
                "PEER_READ" if of_cpu => (&peers.began[1], LINE_DWS),
                "PEER_WRITE" => (&peers.came[0], LINE_DWS),
                // Transactions that read have no row here.
                "PEER_READ" if event.starts_with("DATA") => (&peers.came[1], LINE_DWS),
                "PEER_READ" => return Some(0),
                _ => return None,
            };
            let requests = of[parts.clone()].iter().sum::<u64>();
            match (event.starts_with("DATA"), kind) {
                (false, _) => requests,
                (true, "MEM_WRITE") if of_cpu => {
                    let partial = cells.partial[parts].iter().sum::<u64>();
                    u64::from(LINE_DWS) * (requests - partial) + u64::from(PARTIAL_DWS) * partial
                }
                (true, _) => u64::from(words) * requests,
            }
        }
        ("COMP_BUF_INSERTS", name) => {
            cells.completions[part(name.strip_prefix("CMPD.")?)?].iter().map(|gauge| gauge.entries).sum()
        }
        ("COMP_BUF_OCCUPANCY", name) => {
            cells.completions[part(name.strip_prefix("CMPD.")?)?].iter().map(|gauge| gauge.occupied).sum()
        }
        // Of any kind, as DATA_REQ_OF_CPU and TXN_REQ_OF_CPU have them.
        ("NUM_REQ_OF_CPU", "COMMIT.ALL") => requests,
        ("NUM_REQ_OF_CPU_BY_TGT", "MEM") => reads + writes,
        // Interrupts are posted.
        ("NUM_REQ_OF_CPU_BY_TGT", "UBOX" | "UBOX_POSTED") => cells.interrupts,
        ("NUM_REQ_OF_CPU_BY_TGT", "REM_P2P") => peers.far,
        ("NUM_REQ_OF_CPU_BY_TGT", "LOC_P2P") => sum(&peers.began) - peers.far,
        // All that is requested of the arbiter is won in the end.
        ("INBOUND_ARB_REQ" | "INBOUND_ARB_WON", name) => match name {
            "IOMMU_REQ" | "IOMMU_HIT" | "FINAL_RD_WR" => requests,
            "REQ_OWN" => posted,
            "WR" | "DATA" => written,
            _ => return None,
        },
        ("FASTPATH", "REJECT") => cells.walked,
        ("FASTPATH", "ACCEPT") => reads + writes - cells.walked,
        ("IOMMU0", "FIRST_LOOKUPS" | "ALL_LOOKUPS") => reads + writes,
        ("IOMMU0", "4K_HITS") => reads + writes - cells.walked,
        // The context is always cached.
        ("IOMMU0", "MISSES" | "CTXT_CACHE_LOOKUPS" | "CTXT_CACHE_HITS") => cells.walked,
        ("IOMMU1", "PWC_CACHE_FILLS" | "SLPWC_CACHE_FILLS") => cells.walked,
        // Only the low priority is used (Intel's event file).
        ("IOMMU1", "NUM_MEM_ACCESSES" | "NUM_MEM_ACCESSES_LOW") => {
            (1..).zip(&cells.walk_reads).map(|(reads, walks)| reads * walks).sum()
        }
        // Each walk looks up where it can begin: at the entry for 2 MiB it reads one level, at that for 1 GiB two.
        ("IOMMU1", "SLPWC_CACHE_LOOKUPS" | "PWT_CACHE_LOOKUPS") => cells.walked,
        ("IOMMU1", "SLPWC_2M_HITS" | "PWC_2M_HITS") => cells.walk_reads[0],
        ("IOMMU1", "SLPWC_1G_HITS" | "PWC_1G_HITS") => cells.walk_reads[1],
        ("IOMMU1", "SLPWC_512G_HITS" | "PWC_512G_HITS") => cells.walk_reads[2],
        // A buffer's translation is taken back when the next one's is fetched.
        ("IOMMU3", "NUM_INVAL_IOTLB") => cells.walked,
        ("IOMMU3", "INT_CACHE_LOOKUPS" | "INT_CACHE_HITS") => cells.interrupts,
        // Requests to memory, to other devices, and interrupts ("e.g. for posted interrupts", Intel's event file).
        ("REQ_FROM_PCIE_PASS_CMPL", "FINAL_RD_WR") => requests,
        ("REQ_FROM_PCIE_PASS_CMPL" | "REQ_FROM_PCIE_CL_CMPL" | "REQ_FROM_PCIE_CMPL", "REQ_OWN") => posted,
        // Each asks the IOMMU, and processes its response, whether the translation was cached or not.
        ("REQ_FROM_PCIE_CMPL", "IOMMU_REQ" | "IOMMU_HIT") => requests,
        ("REQ_FROM_PCIE_PASS_CMPL" | "REQ_FROM_PCIE_CL_CMPL", "WR" | "DATA") => written,
        ("REQ_FROM_PCIE_PASS_CMPL" | "REQ_FROM_PCIE_CL_CMPL", "NP") => {
            reads + cells.atomic.iter().chain(&peers.began[1]).sum::<u64>()
        }
        ("REQ_FROM_PCIE_CL_CMPL" | "REQ_FROM_PCIE_CMPL", "FINAL_RD_WR") => {
            sum(completed) + peers.left.iter().sum::<u64>() + cells.interrupts
        }
        ("OUTBOUND_CL_REQS_ISSUED" | "OUTBOUND_TLP_REQS_ISSUED", "TO_IO") => {
            cells.answered.iter().chain(&peers.taken_here).sum()
        }
        // Requests of cores and of other devices, and completions.
        ("NUM_OUSTANDING_REQ_FROM_CPU", "TO_IO") => {
            let gauges = cells.under_way.iter().chain(&cells.completions).chain([&peers.inside]);
            gauges.map(|gauge| gauge.occupied).sum()
        }
        ("PWT_OCCUPANCY", "") => cells.walks.occupied,
        _ => return None,
    })
}

/// The count of an event of the coherent port.
pub fn coherent_port(cells: &StackCells, event: &str, subevent: &str) -> Option<u64> {
    let StackCells { entered, completed, of_cores, under_way: [reads, writes], responses, peers, .. } = cells;
    let all = |of: &[u64]| of.iter().sum::<u64>();
    let snooped = responses.as_flattened().iter().sum();
    Some(match (event, subevent) {
        ("SNOOP_RESP", name) => snoop_responses(responses, name)?,
        // The line that a snoop finds is on its way to be written: it is lost, and the data comes late.
        ("MISC1", "LOST_FWD" | "SLOW_I") => snooped,
        ("MISC0", "FAST_REQ") => sum(entered),
        ("TRANSACTIONS", "WRITES" | "WR_PREF") => all(&entered[1]) - all(&cells.atomic),
        ("TRANSACTIONS", "ATOMIC") => all(&cells.atomic),
        ("TRANSACTIONS", "OTHER") => all(&entered[0]),
        ("IRP_ALL", "INBOUND_INSERTS") => sum(entered) + sum(&peers.began),
        // Towards the devices: accesses of cores and of other devices and data that was read (BL), permissions (AK),
        // and snoops.
        ("IRP_ALL", "OUTBOUND_INSERTS") => {
            sum(of_cores) + sum(&peers.came) + cells.inside.entries + cells.permitted + snooped
        }
        ("IRP_ALL", "EVICTS") => sum(completed) + all(&peers.left),
        // Passed on towards the mesh (Table 2-205).
        ("FAF_TRANSACTIONS", "") => cells.reads_out,
        ("FAF_INSERTS", "") => cells.inbound_reads.entries,
        ("FAF_OCCUPANCY", "") => cells.inbound_reads.occupied,
        ("FAF_FULL", "") => cells.inbound_reads.full,
        ("CACHE_TOTAL_OCCUPANCY", "MEM" | "ANY") => cells.lines.occupied,
        ("TxC_AK_INSERTS", "") => cells.permitted,
        ("TxC_BL_DRS_INSERTS", "") => cells.inside.entries,
        ("TxC_BL_DRS_OCCUPANCY", "") => cells.inside.occupied,
        ("TxC_BL_DRS_CYCLES_FULL", "") => cells.inside.full,
        // Cores read by standard messages, and write by bypass messages.
        ("TxC_BL_NCS_INSERTS", "") => cells.in_port[0].entries,
        ("TxC_BL_NCS_OCCUPANCY", "") => cells.in_port[0].occupied,
        ("TxC_BL_NCB_INSERTS", "") => cells.in_port[1].entries,
        ("TxC_BL_NCB_OCCUPANCY", "") => cells.in_port[1].occupied,
        // Towards the devices, other devices' as well.
        ("TxS_DATA_INSERTS_NCS", "") => reads.entries + all(&peers.came[1]),
        ("TxS_DATA_INSERTS_NCB", "") => writes.entries + all(&peers.came[0]),
        ("TxS_REQUEST_OCCUPANCY", "") => reads.occupied + writes.occupied + peers.inside.occupied,
        ("TxR2_AD0_STALL_CREDIT_CYCLES", "") => cells.stalls[0].occupied,
        ("TxR2_AD1_STALL_CREDIT_CYCLES", "") => cells.stalls[1].occupied,
        ("TxR2_BL_STALL_CREDIT_CYCLES", "") => cells.stalls[2].occupied,
        ("TxR2_AD01_STALL_CREDIT_CYCLES", "") => cells.address_stalls.occupied,
        ("P2P_INSERTS", "") => peers.waiting.entries,
        ("P2P_OCCUPANCY", "") => peers.waiting.occupied,
        ("P2P_TRANSACTIONS", "WR") => all(&peers.began[0]),
        ("P2P_TRANSACTIONS", "RD") => all(&peers.began[1]),
        ("P2P_TRANSACTIONS", "REM") => peers.far,
        ("P2P_TRANSACTIONS", "LOC") => sum(&peers.began) - peers.far,
        ("P2P_TRANSACTIONS", "CMPL") => peers.taken_here[1],
        _ => return None,
    })
}

/// Answers of a stack's port to snoops, by result or by kind of snoop.
fn snoop_responses(responses: &[[u64; 3]; 4], subevent: &str) -> Option<u64> {
    let of = |results: std::ops::Range<usize>| responses[results].iter().flatten().sum::<u64>();
    let kind = |snoop: usize| responses.iter().map(|kinds| kinds[snoop]).sum::<u64>();
    Some(match subevent {
        "MISS" | "ALL_MISS" => of(0..1),
        "HIT_I" | "ALL_HIT_I" => of(1..2),
        "HIT_ES" | "ALL_HIT_ES" => of(2..3),
        "HIT_M" | "ALL_HIT_M" => of(3..4),
        "ALL_HIT" => of(1..4),
        "SNPCODE" => kind(0),
        "SNPDATA" => kind(1),
        "SNPINV" => kind(2),
        _ => return None,
    })
}

/// The count of an event of the mesh stop.
pub fn mesh_stop(cells: &StackCells, event: &str, subevent: &str) -> Option<u64> {
    let StackCells { peers, under_way_at_stop: [reads, writes], .. } = cells;
    let class = |name: &str| ["NCB", "NCS"].iter().position(|known| *known == name);
    let place = |name: &str| ["LOCAL", "REMOTE"].iter().position(|known| *known == name);
    let of_place = |of: &[[u64; 2]; 2]| {
        if subevent == "ALL" {
            return Some(of.as_flattened().iter().sum());
        }
        let (far, name) = subevent.split_once('_')?;
        Some(of[place(far)?][class(name)?])
    };
    let figure = |event: &str, gauge: &Gauge| match event {
        "RxC_INSERTS" => Some(gauge.entries),
        "RxC_CYCLES_NE" => Some(gauge.nonempty),
        _ => None,
    };
    Some(match (event, subevent) {
        ("RxC_INSERTS" | "RxC_CYCLES_NE", "ALL") => figure(event, &cells.all_at_stop)?,
        ("RxC_INSERTS" | "RxC_CYCLES_NE", name) => match name.split_once('_')? {
            ("CHA", "IDI") => figure(event, &cells.at_stop)?,
            ("CHA", "NCB") => figure(event, writes)?,
            ("CHA", "NCS") => figure(event, reads)?,
            ("IIO", name) => figure(event, &peers.at_stop[0][class(name)?])?,
            ("UPI", name) => figure(event, &peers.at_stop[1][class(name)?])?,
            _ => return None,
        },
        // Cycles in which one or more are (2.8.4).
        ("IIO_CREDITS_ACQUIRED" | "IIO_CREDITS_USED", name) => {
            let (class, port) = name.split_once('_')?;
            let class = ["DRS", "NCB", "NCS"].iter().position(|known| *known == class)?;
            let gauge = cells.iio_credits[class].get(port.parse::<usize>().ok()?)?;
            if event == "IIO_CREDITS_USED" { gauge.nonempty } else { gauge.entries }
        }
        ("IIO_CREDITS_REJECT", "DRS") => cells.data_waited,
        ("TxC_CREDITS", "PRQ") => cells.went_out.iter().sum(),
        // Coherent requests, by port to the mesh stop (Table 2-364).
        ("TxC_INSERTS_AD", "AGT_1") => cells.went_out[0],
        ("TxC_INSERTS_AD", "AGT_4") => cells.went_out[1],
        // Responses: to permissions, to cores' writes, to other devices' writes (Table 2-365).
        ("TxC_INSERTS_AK", "AGT_1") => cells.acknowledged + cells.answered[1] + peers.taken_here[0],
        // Lines of partial writes, answers to cores, answers to other devices.
        ("TxC_INSERTS_BL", "AGT_0") => cells.lines_out + cells.answered[0] + peers.taken_here[1],
        ("TxC_INSERTS_BL", "AGT_1") => peers.left[0],
        ("TxC_INSERTS_BL", "AGT_2") => peers.left[1],
        ("P2P_CRD_OCCUPANCY", _) => of_place(&peers.here.map(|of| of.map(|gauge| gauge.occupied)))?,
        ("P2P_DED_RECEIVED", _) => of_place(&peers.back[0])?,
        ("P2P_SHAR_RECEIVED", _) => of_place(&peers.back[1])?,
        (_, name) => credits(cells, event, name)?,
    })
}

/// Credits of lines between devices, by destination.
fn credits(cells: &StackCells, event: &str, subevent: &str) -> Option<u64> {
    let peers = &cells.peers;
    // The first four stacks, and the first two links, have the first of two events.
    let (event, half) = match event.rsplit_once('_') {
        Some((event, "0")) => (event, Some(0)),
        Some((event, "1")) => (event, Some(1)),
        _ => (event, None),
    };
    let (far, kind) = event.split_once('_')?;
    let far = ["LOCAL", "REMOTE"].iter().position(|known| *known == far)?;
    if let Some(agent) = subevent.strip_prefix("AGENT_") {
        let agent: usize = agent.parse().ok()?;
        return match kind {
            "P2P_SHAR_RETURNED" => peers.gave_shared[far].get(agent).copied(),
            "SHAR_P2P_CRD_RETURNED" => {
                let agents = if far == 0 { 6 } else { 3 };
                peers.pooled[far][..agents].get(agent).copied()
            }
            _ => None,
        };
    }
    let (name, class) = subevent.split_once('_')?;
    let class = ["NCB", "NCS"].iter().position(|known| *known == class)?;
    let prefix = match (far, kind) {
        (1, _) => "UPI",
        (_, "P2P_DED_RETURNED") => "MS2IOSF",
        _ => "M2IOSF",
    };
    let number: usize = name.strip_prefix(prefix)?.parse().ok()?;
    let destinations = if far == 0 { 6 } else { 3 };
    let of_half = if far == 0 { 4 } else { 2 };
    if number >= destinations || half.is_some_and(|half| number / of_half != half) {
        return None;
    }
    Some(match kind {
        "DED_P2P_CRD_TAKEN" => peers.taken[0][far][number][class],
        "SHAR_P2P_CRD_TAKEN" => peers.taken[1][far][number][class],
        "SHAR_P2P_CRD_WAIT" => peers.waits[far][number][class].nonempty,
        "P2P_DED_RETURNED" => peers.gave_kept[far][number][class],
        _ => return None,
    })
}
