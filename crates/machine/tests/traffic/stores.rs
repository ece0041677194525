//! Stores that write a part of a line, whole lines, or go past the caches: what they are sent as, and what memory does.

use pericore_machine::Machine;
use pericore_registers::{Address, Bdf};

use super::raw::{between, count_on_emr_channel, emr_channel_count, finish, machine, msr, read, write};

/// Counter `n` of all caching agents of a lone 8592+ (1.4.1: controls from 0x2002, counters from 0x2008).
fn count_at_agents(machine: &mut Machine, n: u32, event: u64) {
    (0..64).for_each(|agent| write(machine, msr(0x2002 + n + 0x10 * agent), event));
}

fn agents_count(machine: &mut Machine, n: u32) -> u64 {
    (0..64).map(|agent| read(machine, msr(0x2008 + n + 0x10 * agent))).sum()
}

/// Lines of an 8592+ that memory reads and is written over a workload, and what its agents count of four events.
fn emerald_rapids(workload: &str, events: [u64; 4]) -> ([u64; 2], [u64; 4]) {
    let mut machine = machine("8592+", workload);
    for channel in 0..8 {
        // CAS_COUNT, 0x05: reads 0xcf, writes 0xf0 (Table 2-138).
        count_on_emr_channel(&mut machine, channel, 0, 0xcf05);
        count_on_emr_channel(&mut machine, channel, 1, 0xf005);
    }
    for (n, event) in (0..).zip(events) {
        count_at_agents(&mut machine, n, event);
    }
    finish(&mut machine);
    let memory = [0, 1].map(|n| (0..8).map(|channel| emr_channel_count(&mut machine, channel, n)).sum());
    (memory, [0, 1, 2, 3].map(|n| agents_count(&mut machine, n)))
}

/// TOR_INSERTS, 0x35, of cores (umask 0x01) and of devices (0x04) by opcode: the umask's extension (Table 2-124).
const fn of_cores(extension: u64) -> u64 {
    extension << 32 | 0x0135
}

const fn of_devices(extension: u64) -> u64 {
    extension << 32 | 0x0435
}

const STREAMS_WHOLE: u64 = of_cores(0xc8_67ff);
const STREAMS_PART: u64 = of_cores(0xc8_6fff);
const RFO: u64 = of_cores(0xc8_07ff);
const RFO_PREFETCH: u64 = of_cores(0xc8_87ff);
const SPECULATIVE_ITOM: u64 = of_cores(0xcc_57ff);
const DEVICE_ITOM: u64 = of_devices(0xcc_43ff);
const DEVICE_ITOM_NEAR: u64 = of_devices(0xcd_43ff);
const DEVICE_RFO: u64 = of_devices(0xc8_03ff);

/// Streaming stores to whole lines and to parts, of 20,000.
fn streaming(name: &str, partial: u8) -> [u64; 2] {
    let workload = format!("ntstore:requests=20000,partial={partial},threads=4,footprint=256M");
    if name == "8592+" {
        let (_, [whole, part, ..]) = emerald_rapids(&workload, [STREAMS_WHOLE, STREAMS_PART, RFO, SPECULATIVE_ITOM]);
        return [whole, part];
    }
    let mut machine = machine(name, &workload);
    if name == "x5570" {
        // QMC_WRITES, 0x2f: FULL 0x07, PARTIAL 0x38.
        write(&mut machine, msr(0x3c0), 0x40_072f);
        write(&mut machine, msr(0x3c1), 0x40_382f);
        write(&mut machine, msr(0x391), 0x3);
        finish(&mut machine);
        return [0, 1].map(|n| read(&mut machine, msr(0x3b0 + n)));
    }
    // The home agent's IMC_WRITES, 0x1a: FULL 0x01, PARTIAL 0x02 (Table 2-40).
    let agent = |offset: u16| Address::Pci { bdf: Bdf::new(0xff, 14, 1), offset };
    write(&mut machine, agent(0xd8), 0x40_011a);
    write(&mut machine, agent(0xdc), 0x40_021a);
    finish(&mut machine);
    [0, 1].map(|n| read(&mut machine, agent(0xa0 + 8 * n)))
}

#[test]
fn as_many_streaming_stores_write_a_part_as_are_to() {
    for name in ["e5-2680", "x5570", "8592+"] {
        assert_eq!(streaming(name, 0), [20_000, 0], "{name}");
        assert_eq!(streaming(name, 100), [0, 20_000], "{name}");
        let [whole, part] = streaming(name, 30);
        assert_eq!(whole + part, 20_000, "{name}");
        between(&format!("{name}: parts"), 5_700.0, part as f64, 6_300.0);
    }
}

/// A device's 16,000 lines, each written once: 64 MB fit the LLC of 320 MB.
#[test]
fn what_devices_write_past_the_llc_goes_to_memory() {
    let events = [DEVICE_ITOM, DEVICE_ITOM_NEAR, DEVICE_RFO, STREAMS_WHOLE];
    for (allocate, least, most) in [(100, 0.0, 0.0), (50, 7_600.0, 8_400.0), (0, 16_000.0, 16_000.0)] {
        let workload = format!("dma-write:requests=16000,threads=4,footprint=64M,allocate={allocate}");
        let ([read, written], requests) = emerald_rapids(&workload, events);
        assert_eq!((read, requests), (0, [16_000, 0, 0, 0]), "{allocate}");
        between(&format!("allocate={allocate}: lines written"), least, written as f64, most);
    }
}

/// Table 2-124: ItoMCacheNear is a request to write a part of a line. What else is in the line comes from memory.
#[test]
fn a_device_that_writes_a_part_of_a_line_has_the_rest_read() {
    let events = [DEVICE_ITOM, DEVICE_ITOM_NEAR, DEVICE_RFO, STREAMS_WHOLE];
    let workload = "dma-write:requests=16000,threads=4,footprint=64M,partial=30";
    let ([read, written], [whole, part, others, _]) = emerald_rapids(workload, events);
    between("parts", 4_500.0, part as f64, 5_100.0);
    assert_eq!((whole + part, others, read, written), (16_000, 0, part, 0));
}

/// Intel at Hot Chips 2020, and arXiv 2311.04797: reads for ownership are converted while memory is heavily loaded.
#[test]
fn a_copy_reads_its_target_unless_memory_is_busy() {
    let events = [RFO, RFO_PREFETCH, SPECULATIVE_ITOM, STREAMS_WHOLE];
    let ([read, _], [owned, ahead, speculative, _]) =
        emerald_rapids("copy:requests=20000,threads=1,footprint=4G", events);
    // The L2's prefetcher runs some lines past the end.
    between("lines read for ownership", 10_000.0, (owned + ahead) as f64, 10_010.0);
    between("lines read", 20_000.0, read as f64, 20_020.0);
    assert_eq!(speculative, 0);
    let ([read, _], [owned, ahead, speculative, _]) =
        emerald_rapids("copy:requests=200000,threads=64,footprint=4G", events);
    between("lines owned", 99_000.0, (owned + ahead + speculative) as f64, 101_000.0);
    between("of these without a read", 10_000.0, speculative as f64, 100_000.0);
    between("lines read", 199_000.0 - speculative as f64, read as f64, 202_000.0 - speculative as f64);
}

/// Intel's event file: the *_LOCAL_DDR rows set the filter of DDR (bit 34), those of CXL memory (bit 61) leave it out.
#[test]
fn memory_behind_cxl_is_no_ddr_of_the_socket() {
    let events = [of_cores(0xc8_1786), of_cores(0xc8_1686), of_cores(0x20c8_1682), of_cores(0xc8_17fe)];
    let workload = "chase:requests=8000,threads=8,footprint=16G,cxl=40";
    let ([read, _], [ddr, local_ddr, expander, missed]) = emerald_rapids(workload, events);
    assert_eq!((ddr, local_ddr), (read, read));
    assert_eq!(ddr + expander, missed);
    between("reads of CXL memory", 3_000.0, expander as f64, 3_400.0);
}
