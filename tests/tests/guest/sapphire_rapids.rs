//! Sapphire Rapids: the family that the driver of Linux 6.1 was written for. Its blocks are those of Emerald Rapids in
//! other numbers, and the first of each kind has the same registers (Linux's spr_uncore_*, PCM).

use super::boot;
use super::cases::{events, perf_counts_the_truth};
use super::emerald_rapids::{CASES, inject, pmus_are};
use super::sections::section;
use super::switch::switched_off;

/// The filter of the last of 60 CHAs, by which the script says how far it is.
const NOTE: u32 = 0x2000 + 0x10 * 59 + 0xe;

#[test]
fn the_driver_counts_what_happened() {
    if switched_off() {
        return;
    }
    let script = format!(
        "echo '@@ pmus'; ls -1 /sys/bus/event_source/devices
        echo '@@ perf 1'; wrmsr {NOTE:#x} 1; perf stat -a -x, -o /dev/stdout{} -- sleep 0.2
        wrmsr {NOTE:#x} 2
        echo '@@ registers'; rdmsr 0x2ffe; rdmsr 0x2000; setpci -s 00:03.1 0.l
        echo '@@ end'",
        events(CASES)
    );
    let run = boot::run(&boot::hardware("sapphire-rapids", inject), &script);
    eprintln!("{:?}", run.report);
    // Twelve I/O stacks (PCM), forty blocks of the fabric (LIKWID).
    pmus_are(
        &run,
        &[
            ("cha", 60),
            ("imc", 8),
            ("imc_free_running", 4),
            ("m2m", 4),
            ("iio", 12),
            ("iio_free_running", 12),
            ("irp", 12),
            ("m2pcie", 12),
            ("upi", 4),
            ("m3upi", 4),
            ("mdf", 40),
            ("type_12", 6),
            ("type_13", 6),
        ],
    );
    perf_counts_the_truth(&run, "perf 1", (NOTE, 1), CASES);
    // 60 CHAs; not frozen; the table's owner.
    assert_eq!(section(&run.output, "registers"), ["3c", "0", "09a78086"]);
}
