//! Emerald Rapids: everything that the driver finds by our discovery table.

use std::collections::BTreeSet;
use std::sync::Mutex;

use pericore_doors::guest::Hardware;
use pericore_machine::signal::Wiring;
use pericore_registers::Address;

use super::boot::{self, Run};
use super::cases::{Case, case, events, perf_counts_the_truth};
use super::decoding::{count_writes, oddities};
use super::injection::Injection;
use super::sections::{count, section};
use super::switch::switched_off;
use super::truth::{Block, Happening, before, between, free_running_truth, mmio, msr, pci};
use Happening::{EachCycle, Never, Rate};

/// Guide, 1.6: bit 0 of the unit control freezes; an event select other than 0 counts.
pub const fn block(unit_control: Address, controls: Address, stride: u16, count: u16) -> Block {
    Block { unit_control: Some(unit_control), freeze: 1, controls: (controls, stride, count), enable: 0 }
}

const fn in_msrs(unit_control: u32, counters: u16) -> Block {
    block(msr(unit_control), msr(unit_control + 2), 1, counters)
}

// Tables 1-9 to 1-14. The first unit of each kind.
const CHA: Block = in_msrs(0x2000, 4);
const MDF: Block = in_msrs(0x2800, 4);
const PCU: Block = in_msrs(0x2fc0, 4);
const UBOX: Block = in_msrs(0x2fd0, 2);
const IIO: Block = in_msrs(0x3000, 4);
const M2PCIE: Block = in_msrs(0x3200, 4);
const IRP: Block = in_msrs(0x3400, 2);
const M2M: Block = block(pci(0xfe, 12, 0, 0x438), pci(0xfe, 12, 0, 0x468), 8, 4);
const UPI: Block = block(pci(0xfe, 1, 1, 0x318), pci(0xfe, 1, 1, 0x350), 8, 4);
const M3UPI: Block = block(pci(0xfe, 5, 1, 0xa0), pci(0xfe, 5, 1, 0xd8), 8, 4);
/// The emulated machine's memory windows: MMIO_BASE 0xf0000000; CXL blocks, which the guide gives no place, at 0xe8000000.
const IMC: Block = block(mmio(0xf002_2800), mmio(0xf002_2840), 4, 4);
const CXLCM: Block = block(mmio(0xe800_0000), mmio(0xe800_0050), 8, 1);
const CXLDP: Block = block(mmio(0xe808_0000), mmio(0xe808_0050), 8, 1);

/// Codes and umasks: chapter 2 of the guide; CXLCM's clock as in Intel's event file (catalog/blocks/cxlcm-v1/deviations.toml). The driver of Linux 6.1 gives UBox and CXL blocks no names of their own.
pub const CASES: &[Case] = &[
    case("uncore_cha_0/event=0x1/", CHA, 0x01, EachCycle(1)),
    case("uncore_cha_0/event=0x50,umask=0x1/", CHA, 0x0150, Rate(1_000_003)),
    case("uncore_cha_0/event=0x53,umask=0x2/", CHA, 0x0253, Rate(30_011)),
    case("uncore_cha_0/event=0x53,umask=0x1/", CHA, 0x0153, Never),
    case("uncore_imc_0/event=0x1,umask=0x1/", IMC, 0x0101, EachCycle(1)),
    case("uncore_imc_0/event=0x2,umask=0x11/", IMC, 0x1102, Rate(70_001)),
    case("uncore_imc_0/event=0x5,umask=0xc1/", IMC, 0xc105, Rate(2_000_003)),
    case("uncore_imc_0/event=0x5,umask=0xf0/", IMC, 0xf005, Rate(500_009)),
    case("uncore_m2m_0/event=0x1/", M2M, 0x01, EachCycle(1)),
    case("uncore_m2m_0/event=0x20,umask=0x2/", M2M, 0x0220, Rate(40_009)),
    case("uncore_m2m_0/event=0x17,umask=0x1/", M2M, 0x0117, Rate(50_021)),
    case("uncore_iio_0/event=0x1/", IIO, 0x01, EachCycle(1)),
    case("uncore_iio_0/event=0x40,umask=0x1/", IIO, 0x0140, Rate(10_007)),
    case("uncore_iio_0/event=0x40,umask=0x8/", IIO, 0x0840, Rate(20_011)),
    case("uncore_irp_0/event=0x1/", IRP, 0x01, EachCycle(1)),
    case("uncore_irp_0/event=0x11,umask=0x2/", IRP, 0x0211, Rate(60_013)),
    case("uncore_m2pcie_0/event=0x1/", M2PCIE, 0x01, EachCycle(1)),
    case("uncore_m2pcie_0/event=0x33,umask=0x1/", M2PCIE, 0x0133, Rate(80_021)),
    case("uncore_m2pcie_0/event=0x34,umask=0x8/", M2PCIE, 0x0834, Rate(90_001)),
    case("uncore_upi_0/event=0x1/", UPI, 0x01, EachCycle(1)),
    case("uncore_upi_0/event=0xb/", UPI, 0x0b, Rate(3_001)),
    case("uncore_upi_0/event=0x12,umask=0x2/", UPI, 0x0212, Rate(110_017)),
    case("uncore_m3upi_0/event=0x1/", M3UPI, 0x01, EachCycle(1)),
    // Seven credits are missing all the time, then a threshold on them.
    case("uncore_m3upi_0/event=0x20,umask=0x1/", M3UPI, 0x0120, EachCycle(1)),
    case("uncore_m3upi_0/event=0x20,umask=0x1,thresh=2,inv=1/", M3UPI, 0x0280_0120, EachCycle(1)),
    case("uncore_pcu/event=0x1/", PCU, 0x01, EachCycle(1)),
    case("uncore_pcu/event=0x5/", PCU, 0x05, EachCycle(1)),
    case("uncore_pcu/event=0x30/", PCU, 0x30, Rate(4_003)),
    case("uncore_mdf_0/event=0x1/", MDF, 0x01, EachCycle(1)),
    case("uncore_mdf_0/event=0x16/", MDF, 0x16, Rate(5_003)),
    case("uncore_mdf_0/event=0x47,umask=0x1/", MDF, 0x0147, Rate(6_007)),
    case("uncore_type_5/event=0x42,umask=0x8/", UBOX, 0x0842, Rate(7_001)),
    case("uncore_type_5/event=0x46/", UBOX, 0x46, Rate(8_009)),
    case("uncore_type_12_0/event=0x1,umask=0x2/", CXLCM, 0x0201, EachCycle(1)),
    case("uncore_type_13_0/event=0x1,umask=0x1/", CXLDP, 0x0101, EachCycle(1)),
];

/// Events for whose counters the others leave no room. Of a CXL block only counter 0 can be used: Linux's generic driver takes the
/// controls of memory-mapped blocks to lie four bytes apart, where these have eight.
const MORE_CASES: &[Case] = &[
    case("uncore_irp_0/event=0x11,umask=0x8/", IRP, 0x0811, Rate(13_001)),
    case("uncore_type_5/event=0x42,umask=0x2/", UBOX, 0x0242, Rate(14_009)),
    case("uncore_type_12_0/event=0x2,umask=0x1/", CXLCM, 0x0102, Rate(9_001)),
    case("uncore_type_13_0/event=0x2,umask=0x1/", CXLDP, 0x0102, Rate(12_007)),
];

/// One more of the CXL blocks.
const LAST_CASES: &[Case] = &[
    case("uncore_type_12_0/event=0x5,umask=0x2/", CXLCM, 0x0205, Rate(11_003)),
    case("uncore_type_13_0/event=0x2,umask=0x2/", CXLDP, 0x0202, Never),
];

/// Counters that always run: the event as perf is told, the register, and what happens meanwhile. Registers: Tables 1-9, 1-10, 1-12.
const FREE_CASES: &[(&str, Address, Happening)] = &[
    ("uncore_imc_free_running_0/dclk/", mmio(0xf000_22b0), EachCycle(1)),
    ("uncore_imc_free_running_0/rpq_cycles/", mmio(0xf000_2318), EachCycle(1)),
    ("uncore_imc_free_running_0/wpq_cycles/", mmio(0xf000_2320), Never),
    ("uncore_iio_free_running_0/ioclk/", msr(0x340e), EachCycle(1)),
    // The plain event: the named one is scaled to MiB.
    ("uncore_iio_free_running_0/event=0xff,umask=0x20/", msr(0x3800), Rate(600_011)),
    ("uncore_iio_free_running_0/event=0xff,umask=0x23/", msr(0x3803), Rate(700_001)),
    ("uncore_iio_free_running_0/event=0xff,umask=0x24/", msr(0x3804), Never),
];

pub fn inject(wiring: &mut Wiring) -> Injection {
    let mut injection = Injection::default();
    let pulses = [
        ("cha", "REQUESTS", "READS_LOCAL", 1_000_003),
        ("cha", "DIR_LOOKUP", "NO_SNP", 30_011),
        ("imc", "ACT_COUNT", "RD_PCH0", 70_001),
        ("m2m", "DIRECTORY_LOOKUP", "STATE_I", 40_009),
        ("m2m", "DIRECT2CORE_NOT_TAKEN_DIRSTATE", "EGRESS", 50_021),
        ("iio", "IOMMU0", "FIRST_LOOKUPS", 10_007),
        ("iio", "IOMMU0", "2M_HITS", 20_011),
        ("irp", "TRANSACTIONS", "WRITES", 60_013),
        ("irp", "TRANSACTIONS", "WR_PREF", 13_001),
        ("m2pcie", "IIO_CREDITS_ACQUIRED", "DRS_0", 80_021),
        ("m2pcie", "IIO_CREDITS_REJECT", "DRS", 90_001),
        ("upi", "RxL_CRC_ERRORS", "", 3_001),
        ("upi", "DIRECT_ATTEMPTS", "D2K", 110_017),
        ("pcu", "DEMOTIONS", "", 4_003),
        ("mdf", "GV_BLOCK", "", 5_003),
        ("mdf", "CRS_TxR_INSERTS", "AD_BNC", 6_007),
        ("ubox", "EVENT_MSG", "DOORBELL_RCVD", 7_001),
        ("ubox", "EVENT_MSG", "MSI_RCVD", 14_009),
        ("ubox", "RACU_REQUESTS", "", 8_009),
        ("cxlcm", "TxC_PACK_BUF_INSERTS", "CACHE_REQ0", 9_001),
        ("cxlcm", "TxC_FLITS", "PROT", 11_003),
        ("cxldp", "TxC_AGF_INSERTS", "U2C_REQ", 12_007),
    ];
    for (unit, event, subevent, per_second) in pulses {
        injection.pulses(wiring, unit, (event, subevent), per_second);
    }
    // Kinds: 0 a read, 4 a write.
    injection.tagged(wiring, ("imc", 0), "cas", &[("kind", 0)], 2_000_003);
    injection.tagged(wiring, ("imc", 0), "cas", &[("kind", 4), ("pch", 1)], 500_009);
    injection.level(wiring, ("m3upi", 0), "UPI_PEER_AD_CREDITS_EMPTY", &[("sub", 1)], 1);
    // Ports 0 and 3 of the first stack bring in data; the read queue is never empty.
    for (port, per_second) in [(0, 600_011), (3, 700_001)] {
        injection.tagged(wiring, ("iio", 0), "FRCTR_BW_IN_P", &[("member", port)], per_second);
    }
    injection.level(wiring, ("imc", 0), "FRCTR_RPQ_ACTIVE", &[], 1);
    injection.level(wiring, ("pcu", 0), "FREQ_MAX_POWER_CYCLES", &[], 1);
    injection
}

/// The last CHA's filter, by which the script says how far it is.
const NOTE: u32 = 0x23fe;

fn script() -> String {
    format!(
        "echo '@@ pmus'; ls -1 /sys/bus/event_source/devices
        echo '@@ perf 1'; wrmsr 0x23fe 1; perf stat -a -x, -o /dev/stdout{} -- sleep 0.2
        echo '@@ perf 2'; wrmsr 0x23fe 2; perf stat -a -x, -o /dev/stdout{} -- sleep 0.2
        echo '@@ perf 3'; wrmsr 0x23fe 3; perf stat -a -x, -o /dev/stdout{} -- sleep 0.2
        echo '@@ free'; wrmsr 0x23fe 4; perf stat -a -x, -o /dev/stdout{} -- sleep 0.2
        wrmsr 0x23fe 5
        echo '@@ registers'; rdmsr 0x2ffe; rdmsr 0x2000; setpci -s fe:0c.0 438.l; setpci -s 00:03.1 0.l 100.l
        echo '@@ end'",
        events(CASES),
        events(MORE_CASES),
        events(LAST_CASES),
        FREE_CASES.iter().map(|(perf, ..)| format!(" -e {perf}")).collect::<String>()
    )
}

/// The driver is that of Sapphire Rapids, which is in each run; so is this family's bandwidth.
#[test]
#[ignore = "long form: half a minute"]
fn the_driver_counts_what_happened() {
    if switched_off() {
        return;
    }
    let hardware = boot::hardware("emerald-rapids", inject);
    let run = boot::run(&hardware, &script());
    eprintln!("{:?}", run.report);
    every_pmu_registers(&run);
    perf_counts_the_truth(&run, "perf 1", (NOTE, 1), CASES);
    perf_counts_the_truth(&run, "perf 2", (NOTE, 2), MORE_CASES);
    perf_counts_the_truth(&run, "perf 3", (NOTE, 3), LAST_CASES);
    free_running_counts_are_the_truth(&run);
    what_the_driver_wrote_is_known(&hardware, &run);
    // 64 CHAs; not frozen; the table's owner and its DVSEC.
    assert_eq!(section(&run.output, "registers"), ["40", "0", "00000000", "09a78086", "00010023"]);
}

/// Kind of PMU and number of its instances: Table 1-1, and what the driver makes of free-running counters.
fn every_pmu_registers(run: &Run) {
    pmus_are(
        run,
        &[
            ("cha", 64),
            ("imc", 8),
            ("imc_free_running", 4),
            ("m2m", 4),
            ("iio", 10),
            ("iio_free_running", 10),
            ("irp", 10),
            ("m2pcie", 10),
            ("upi", 4),
            ("m3upi", 4),
            ("mdf", 14),
            ("type_12", 6),
            ("type_13", 6),
        ],
    );
}

/// The driver has made so many PMUs of each kind, one of the power unit and one of the U-Box, and no others.
pub fn pmus_are(run: &Run, kinds: &[(&str, u16)]) {
    let mut expected: Vec<String> =
        kinds.iter().flat_map(|(kind, count)| (0..*count).map(move |index| format!("uncore_{kind}_{index}"))).collect();
    expected.extend(["uncore_pcu", "uncore_type_5"].map(str::to_owned));
    expected.sort_unstable();
    let mut found: Vec<&str> =
        section(&run.output, "pmus").into_iter().filter(|name| name.starts_with("uncore_")).collect();
    found.sort_unstable();
    assert_eq!(found, expected);
}

fn free_running_counts_are_the_truth(run: &Run) {
    let (lines, accesses) = (section(&run.output, "free"), between(&run.accesses, NOTE, 4));
    let counted: Vec<(&str, u64)> = FREE_CASES.iter().map(|&(perf, ..)| (perf, count(&lines, perf))).collect();
    let truth: Vec<(&str, u64)> = FREE_CASES
        .iter()
        .map(|&(perf, counter, happening)| (perf, free_running_truth(accesses, counter, happening)))
        .collect();
    assert_eq!(counted, truth);
}

fn what_the_driver_wrote_is_known(hardware: &Mutex<Hardware>, run: &Run) {
    let writes = before(&run.accesses, NOTE, 5);
    assert!(count_writes(writes) > 300, "{} writes", count_writes(writes));
    assert_eq!(oddities(hardware, writes), BTreeSet::new());
}

/// PCM of Debian 12 knows the forerunner (model 143) and not this family; their memory controllers are alike. It reads MMIO_BASE
/// and MEM_BAR in configuration space and maps /dev/mem.
#[test]
#[ignore = "long form"]
fn pcm_memory_reads_the_bandwidth() {
    if switched_off() {
        return;
    }
    let script = "echo '@@ pcm'; pcm-memory -csv -i=1 2";
    let run = boot::run_with(&boot::hardware("emerald-rapids", inject), script, |boot| boot.cpu_model = Some(143));
    let lines = section(&run.output, "pcm");
    // 2,000,003 reads and 500,009 writes of 64 bytes a second. PCM divides by the time that it slept, though reading took time too:
    // only the lower bound and the proportion are sure.
    let last: Vec<f64> = lines.last().unwrap().split(',').map(|cell| cell.trim().parse().unwrap_or(0.0)).collect();
    let (read, written) = (last[2], last[3]);
    assert!(read > 127.0 && (read / written - 4.0).abs() < 0.02, "{lines:#?}\n{}", run.errors);
    assert!(last[6..].iter().take(40).all(|&rate| rate == 0.0), "{lines:#?}");
}
