//! What devices do: I/O stacks, lines between devices, and memory behind CXL links.

use pericore_dram::Pending;

use super::{
    DeviceRequest, DeviceStation, ExpanderFact, Fact, Kind, MemoryAction, MemoryRequest, PeerLine, PeerStation,
    StackFact, counts, of,
};
use pericore_facts::emerald_rapids::{MemoryFact, MemoryUnitFact, SubchannelPlace};

#[test]
fn a_device_reads_and_writes() {
    let read = DeviceRequest { kind: Kind::DmaRead, port: 2, walk: 1 };
    let write = DeviceRequest { kind: Kind::DmaWrite, port: 5, walk: 0 };
    let facts = [
        (10, DeviceStation::Enters, read),
        (11, DeviceStation::Enters, write),
        (12, DeviceStation::Leaves, read),
        (13, DeviceStation::Leaves, write),
        (30, DeviceStation::DataComes(false), read),
        (30, DeviceStation::DataEnters, read),
        (35, DeviceStation::DataGoesUp, read),
        (41, DeviceStation::Permitted, write),
        (50, DeviceStation::Completes, read),
        (60, DeviceStation::Completes, write),
    ];
    let mut facts = facts.map(|(at, station, request)| (at, Fact::Device((0, 0), station, request))).to_vec();
    facts.push((61, Fact::Responds((0, 0), 2, 1)));
    let at = of(&facts, 100);
    for (name, expected) in [
        ("iio/DATA_REQ_OF_CPU.MEM_READ.PART2", 16),
        ("iio/TXN_REQ_OF_CPU.MEM_WRITE.ALL_PARTS", 1),
        ("iio/COMP_BUF_OCCUPANCY.CMPD.PART2", 15),
        ("iio/IOMMU0.FIRST_LOOKUPS", 2),
        ("iio/IOMMU0.4K_HITS", 1),
        ("iio/IOMMU0.MISSES", 1),
        ("iio/FASTPATH.ACCEPT", 1),
        ("iio/INBOUND_ARB_WON.DATA", 1),
        ("iio/REQ_FROM_PCIE_CL_CMPL.NP", 1),
        ("iio/REQ_FROM_PCIE_PASS_CMPL.NP", 1),
        ("iio/REQ_FROM_PCIE_CL_CMPL.REQ_OWN", 1),
        ("iio/REQ_FROM_PCIE_CMPL.IOMMU_REQ", 2),
        ("iio/REQ_FROM_PCIE_CMPL.IOMMU_HIT", 2),
        ("iio/REQ_FROM_PCIE_CMPL.FINAL_RD_WR", 2),
        ("iio/PWT_OCCUPANCY", 40),
        ("irp/CACHE_TOTAL_OCCUPANCY.MEM", 40 + 49),
        ("irp/CACHE_TOTAL_OCCUPANCY.ANY", 40 + 49),
        ("irp/FAF_OCCUPANCY", 20),
        ("irp/TRANSACTIONS.WR_PREF", 1),
        ("irp/TxC_BL_DRS_OCCUPANCY", 5),
        ("irp/IRP_ALL.EVICTS", 2),
        // The read's data, the write's permission, and a snoop.
        ("irp/IRP_ALL.OUTBOUND_INSERTS", 3),
        ("irp/MISC1.LOST_FWD", 1),
        ("irp/SNOOP_RESP.HIT_ES", 1),
        // Port 2 has the first port to the mesh stop, port 5 the second.
        ("m2pcie/TxC_INSERTS_AD.AGT_1", 1),
        ("m2pcie/TxC_INSERTS_AD.AGT_4", 1),
        ("m2pcie/TxC_INSERTS_AK.AGT_1", 1),
        ("m2pcie/IIO_CREDITS_USED.DRS_0", 5),
        // Data that finds its credit at once stays for no cycle.
        ("m2pcie/RxC_CYCLES_NE.CHA_IDI", 0),
        ("irp/FAF_TRANSACTIONS", 1),
    ] {
        counts(&at, 0, name, expected);
    }
}

#[test]
fn a_core_reads_a_device_and_rings_a_doorbell() {
    let facts = [
        (10, StackFact::CoreComes { port: 1, reads: true }),
        (12, StackFact::CoreComes { port: 1, reads: false }),
        (14, StackFact::CoreComes { port: 2, reads: false }),
        (18, StackFact::CorePasses { port: 2, reads: false }),
        (18, StackFact::CoreAnswered { port: 2, reads: false }),
        (20, StackFact::CorePasses { port: 1, reads: false }),
        (20, StackFact::CoreAnswered { port: 1, reads: false }),
        (22, StackFact::CorePasses { port: 1, reads: true }),
        (40, StackFact::CoreAnswered { port: 1, reads: true }),
    ];
    let at = of(&facts.map(|(at, fact)| (at, Fact::Stack((0, 0), fact))), 50);
    counts(&at, 0, "iio/DATA_REQ_BY_CPU.MEM_READ.PART1", 16);
    counts(&at, 0, "iio/DATA_REQ_BY_CPU.MEM_WRITE.PART1", 2);
    // The device completes the read with its data; nothing comes back of the write.
    counts(&at, 0, "iio/DATA_REQ_OF_CPU.CMPD.PART1", 16);
    counts(&at, 0, "iio/TXN_REQ_OF_CPU.CMPD.PART1", 1);
    counts(&at, 0, "iio/DATA_REQ_OF_CPU.CMPD.ALL_PARTS", 16);
    counts(&at, 0, "iio/NUM_OUSTANDING_REQ_FROM_CPU.TO_IO", 30 + 8 + 4);
    // Writes are in the port from 12 to 20, two of them from 14 to 18; a read from 10 to 22, and then at the device.
    counts(&at, 0, "m2pcie/RxC_INSERTS.ALL", 3);
    counts(&at, 0, "m2pcie/RxC_CYCLES_NE.ALL", 12);
    counts(&at, 0, "irp/TxC_BL_NCS_OCCUPANCY", 12);
    counts(&at, 0, "m2pcie/IIO_CREDITS_USED.NCB_0", 8);
    counts(&at, 0, "m2pcie/IIO_CREDITS_USED.NCS_0", 12);
    counts(&at, 0, "m2pcie/TxC_INSERTS_BL.AGT_0", 1);
}

#[test]
fn a_line_goes_to_another_stack_of_the_other_socket() {
    let line = PeerLine { reads: false, socket: 1, stack: 0, link: Some(2), to: 0, port: 3, shared: false };
    let stations = [
        (10, PeerStation::Enters),
        (11, PeerStation::Waits),
        (15, PeerStation::Leaves(true)),
        (50, PeerStation::Arrives),
        (58, PeerStation::Passes),
        (58, PeerStation::Taken),
        (90, PeerStation::Back),
    ];
    let at = of(&stations.map(|(at, station)| (at, Fact::Peer(station, line))), 100);
    counts(&at, 1, "iio/DATA_REQ_OF_CPU.PEER_WRITE.PART3", 16);
    // It is a request of PCIe like others, and posted; nobody owns its line.
    counts(&at, 1, "iio/REQ_FROM_PCIE_PASS_CMPL.FINAL_RD_WR", 1);
    counts(&at, 1, "iio/REQ_FROM_PCIE_CMPL.IOMMU_HIT", 1);
    counts(&at, 1, "iio/REQ_FROM_PCIE_CL_CMPL.WR", 1);
    counts(&at, 1, "iio/INBOUND_ARB_WON.REQ_OWN", 0);
    counts(&at, 0, "iio/TXN_REQ_BY_CPU.PEER_WRITE.PART3", 1);
    counts(&at, 1, "irp/P2P_OCCUPANCY", 5);
    counts(&at, 1, "irp/P2P_TRANSACTIONS.REM", 1);
    counts(&at, 1, "m2pcie/REMOTE_SHAR_P2P_CRD_WAIT_1.UPI2_NCB", 4);
    counts(&at, 1, "m2pcie/REMOTE_DED_P2P_CRD_TAKEN_1.UPI2_NCB", 1);
    counts(&at, 0, "m2pcie/REMOTE_P2P_DED_RETURNED.UPI2_NCB", 1);
    counts(&at, 0, "m2pcie/P2P_CRD_OCCUPANCY.REMOTE_NCB", 8);
    // The ingress receives it with the line (2.8.4).
    counts(&at, 0, "m2pcie/P2P_DED_RECEIVED.REMOTE_NCB", 1);
    counts(&at, 0, "m2pcie/IIO_CREDITS_ACQUIRED.NCB_0", 1);
    counts(&at, 0, "m2pcie/IIO_CREDITS_USED.NCB_0", 8);
    counts(&at, 0, "irp/TxS_DATA_INSERTS_NCB", 1);
    counts(&at, 0, "irp/TxS_REQUEST_OCCUPANCY", 8);
    counts(&at, 0, "iio/OUTBOUND_CL_REQS_ISSUED.TO_IO", 1);
    counts(&at, 1, "iio/NUM_REQ_OF_CPU_BY_TGT.REM_P2P", 1);
    counts(&at, 1, "iio/NUM_REQ_OF_CPU.COMMIT.ALL", 1);
    counts(&at, 1, "m2pcie/P2P_SHAR_RECEIVED.ALL", 0);
    counts(&at, 0, "iio/TXN_REQ_OF_CPU.CMPD.PART3", 0);
}

#[test]
fn a_device_that_another_one_reads_completes_with_data() {
    let line = PeerLine { reads: true, socket: 0, stack: 1, link: None, to: 0, port: 5, shared: true };
    let stations = [
        (10, PeerStation::Enters),
        (11, PeerStation::Leaves(false)),
        (20, PeerStation::Arrives),
        (30, PeerStation::Passes),
        (60, PeerStation::Taken),
        (70, PeerStation::Back),
    ];
    let at = of(&stations.map(|(at, station)| (at, Fact::Peer(station, line))), 100);
    // Table 2-204; Intel's file: a device completes what was requested of it.
    counts(&at, 0, "iio/TXN_REQ_OF_CPU.CMPD.PART5", 1);
    counts(&at, 0, "iio/DATA_REQ_OF_CPU.CMPD.PART5", 16);
    counts(&at, 0, "m2pcie/RxC_INSERTS.ALL", 1);
    // It is in the mesh stop until it has gone on to its device, as a core's read is, and holds its credit until that
    // has answered.
    counts(&at, 0, "m2pcie/RxC_CYCLES_NE.ALL", 10);
    counts(&at, 0, "m2pcie/RxC_CYCLES_NE.IIO_NCS", 10);
    counts(&at, 0, "m2pcie/P2P_CRD_OCCUPANCY.LOCAL_NCS", 40);
    // Port 5 has the second port to the mesh stop; the other stack is of the same socket.
    counts(&at, 0, "m2pcie/IIO_CREDITS_USED.NCS_0", 0);
    counts(&at, 0, "m2pcie/IIO_CREDITS_USED.NCS_1", 10);
    counts(&at, 1, "iio/NUM_REQ_OF_CPU_BY_TGT.REM_P2P", 0);
}

#[test]
fn writes_to_an_expander_take_two_flits() {
    let facts = [
        (1, ExpanderFact::Sends { writes: false, partial: false }),
        (2, ExpanderFact::Sends { writes: true, partial: true }),
        (10, ExpanderFact::Comes { writes: false, credits: true }),
        (18, ExpanderFact::Unpacked { writes: false }),
    ];
    let at = of(&facts.map(|(at, fact)| (at, Fact::Expander((0, 0), fact))), 20);
    counts(&at, 0, "cxlcm/TxC_FLITS.VALID", 3);
    counts(&at, 0, "cxlcm/TxC_FLITS.BE_HDR", 1);
    counts(&at, 0, "cxldp/TxC_AGF_INSERTS.M2S_DATA", 1);
    counts(&at, 0, "cxlcm/RxC_FLITS.VALID", 2);
    counts(&at, 0, "cxlcm/RxC_PACK_BUF_NE.MEM_DATA", 8);
    counts(&at, 0, "cxlcm/RxC_MISC.LLCRD", 1);
    // Table 2-366: the data goes on to the mesh by the stack's stop; the write is not acknowledged yet.
    counts(&at, 0, "m2pcie/TxC_INSERTS_BL.AGT_4", 1);
    counts(&at, 0, "m2pcie/TxC_INSERTS_AK.AGT_5", 0);
}

#[test]
fn an_atomic_operation_is_a_write_whose_device_gets_what_was_there() {
    let add = DeviceRequest { kind: Kind::DmaAtomic, port: 6, walk: 0 };
    let data = DeviceRequest { kind: Kind::DmaWriteback, port: 6, walk: 0 };
    let stations = [
        (10, DeviceStation::Enters, add),
        (12, DeviceStation::Leaves, add),
        (30, DeviceStation::DataComes(false), add),
        (30, DeviceStation::DataEnters, add),
        (40, DeviceStation::Permitted, add),
        (55, DeviceStation::Completes, add),
        (55, DeviceStation::Leaves, data),
    ];
    let at = of(&stations.map(|(at, station, request)| (at, Fact::Device((0, 0), station, request))), 100);
    for (name, expected) in [
        // Table 2-204: atomic requests to memory, no writes; an operand of eight bytes is two double words.
        ("iio/TXN_REQ_OF_CPU.ATOMIC.PART6", 1),
        ("iio/TXN_REQ_OF_CPU.MEM_WRITE.PART6", 0),
        ("iio/DATA_REQ_OF_CPU.ATOMIC.PART6", 2),
        ("iio/DATA_REQ_OF_CPU.MEM_WRITE.ALL_PARTS", 0),
        ("irp/TRANSACTIONS.ATOMIC", 1),
        ("irp/TRANSACTIONS.WRITES", 0),
        // Intel's file: only posted requests bid for ownership and to write; an atomic operation wants completion.
        ("iio/INBOUND_ARB_WON.REQ_OWN", 0),
        ("iio/INBOUND_ARB_REQ.WR", 0),
        ("iio/REQ_FROM_PCIE_CMPL.REQ_OWN", 0),
        ("iio/REQ_FROM_PCIE_PASS_CMPL.NP", 1),
        // Table 2-364: both go into the second address queue, that of ports 4 to 7.
        ("m2pcie/TxC_INSERTS_AD.AGT_1", 0),
        ("m2pcie/TxC_INSERTS_AD.AGT_4", 2),
        // Its data goes to the slice.
        ("m2pcie/TxC_INSERTS_BL.AGT_0", 1),
        ("iio/COMP_BUF_INSERTS.CMPD.PART6", 1),
        ("iio/COMP_BUF_OCCUPANCY.CMPD.PART6", 15),
        // The line that it changes comes as data (DRS), not as a permission, and on a credit of the second port.
        ("m2pcie/RxC_INSERTS.CHA_IDI", 1),
        ("m2pcie/IIO_CREDITS_USED.DRS_1", 10),
        ("irp/TxC_BL_DRS_INSERTS", 1),
        ("irp/TxC_BL_DRS_OCCUPANCY", 10),
        ("irp/TxC_AK_INSERTS", 0),
        ("irp/IRP_ALL.OUTBOUND_INSERTS", 1),
        ("irp/FAF_INSERTS", 0),
        // The stack acknowledges it to the agent.
        ("m2pcie/TxC_INSERTS_AK.AGT_1", 1),
    ] {
        counts(&at, 0, name, expected);
    }
}

/// Tables 2-190 and 2-204: messages are transactions, and their data are double words. A tolerated latency has none.
#[test]
fn messages_are_transactions_with_or_without_data() {
    let message = |port, words| Fact::Stack((0, 0), StackFact::Message { port, words });
    let at = of(&[(1, message(3, 0)), (2, message(3, 1)), (3, message(7, 0))], 10);
    counts(&at, 0, "iio/TXN_REQ_OF_CPU.MSG.PART3", 2);
    counts(&at, 0, "iio/DATA_REQ_OF_CPU.MSG.PART3", 1);
    counts(&at, 0, "iio/TXN_REQ_OF_CPU.MSG.PART7", 1);
    counts(&at, 0, "iio/DATA_REQ_OF_CPU.MSG.PART7", 0);
    counts(&at, 0, "iio/TXN_REQ_OF_CPU.MEM_WRITE.PART3", 0);
}

/// Intel's event file: a transaction that misses looks up the cache of page walks, and hits at the level whose table
/// the walk goes on from: with the entry for 2 MiB it reads one more level in memory, without any of its pages three.
#[test]
fn a_walk_begins_below_the_level_that_is_cached() {
    let of_walk = |walk| DeviceRequest { kind: Kind::DmaRead, port: 0, walk };
    let walks = [0, 1, 1, 2, 3].map(|walk| (1, Fact::Device((0, 0), DeviceStation::Enters, of_walk(walk))));
    let at = of(&walks, 10);
    for (name, expected) in [
        ("iio/IOMMU0.MISSES", 4),
        ("iio/IOMMU1.SLPWC_CACHE_LOOKUPS", 4),
        ("iio/IOMMU1.PWC_2M_HITS", 2),
        ("iio/IOMMU1.SLPWC_1G_HITS", 1),
        ("iio/IOMMU1.SLPWC_512G_HITS", 1),
        ("iio/IOMMU1.NUM_MEM_ACCESSES", 7),
        ("iio/IOMMU1.SLPWC_CACHE_FILLS", 4),
    ] {
        counts(&at, 0, name, expected);
    }
}

/// Tables 2-84, 2-260, 2-165 and 2-162: isochronous requests are counted apart at the agent and where mesh and memory
/// meet, and are critical in the queue and at the command.
#[test]
fn what_has_a_deadline_is_counted_apart() {
    let request = |action, isochronous| MemoryRequest { unit: 0, half: 1, action, ahead: None, isochronous };
    let requests = [
        request(MemoryAction::Read, true),
        request(MemoryAction::Read, false),
        request(MemoryAction::Read, false),
        request(MemoryAction::Write, true),
        request(MemoryAction::Write, true),
        request(MemoryAction::Write, false),
    ];
    let sent = requests.map(|request| (1, Fact::Sends((0, 0), request, false, true)));
    let came = requests.map(|request| (3, Fact::ComesToMemory((0, 0), request)));
    let place = SubchannelPlace { channel: (0, 0), half: 1 };
    let enters = [(Pending::Reads, true), (Pending::Reads, false), (Pending::Writes, true)];
    let enters = enters.map(|(queue, isochronous)| (5, Fact::Memory(place, MemoryFact::Enters(queue, isochronous))));
    let waits = [(6, true), (9, false)];
    let waits = waits.map(|(at, gone)| (at, Fact::MemoryUnit((0, 0), MemoryUnitFact::NoSpecialCredit(1, gone))));
    let at = of(&[&sent[..], &came, &enters, &waits].concat(), 12);
    for (name, expected) in [
        ("cha/IMC_READS_COUNT.PRIORITY", 1),
        ("cha/IMC_READS_COUNT.NORMAL", 2),
        ("cha/IMC_WRITES_COUNT.FULL_PRIORITY", 2),
        ("cha/IMC_WRITES_COUNT.FULL", 1),
        ("m2m/IMC_READS.CH1_ISOCH", 1),
        ("m2m/IMC_READS.CH1_NORMAL", 2),
        ("m2m/IMC_READS.ALL", 3),
        ("m2m/IMC_WRITES.CH1_FULL_ISOCH", 2),
        ("m2m/IMC_WRITES.CH1_FULL", 1),
        ("m2m/IMC_WRITES.CH0_FULL_ISOCH", 0),
        ("m2m/WPQ_NO_SPEC_CRD.CHN1", 3),
        ("m2m/WPQ_NO_SPEC_CRD.CHN0", 0),
        ("imc/RPQ_PRIO.PCH1_CRIT", 1),
        ("imc/RPQ_PRIO.PCH1_LOW", 1),
        ("imc/WPQ_PRIO.PCH1_CRIT", 1),
        ("imc/WPQ_PRIO.PCH1_LOW", 0),
    ] {
        counts(&at, 0, name, expected);
    }
}
