//! rdmsr and wrmsr.

use pericore_doors::Outcome;

use super::rig::{Rig, Source, assert_counted, msr, reads, require, writes};

fn rig() -> Rig {
    require("rdmsr", "msr-tools");
    Rig::default()
}

#[test]
fn rdmsr_reads_and_wrmsr_writes_an_uncore_register() {
    // CBo 3's filter: MSR 0xD74.
    let run = rig().succeed("sh", &["-c", "rdmsr 0xd74 && wrmsr 0xd74 0x7c0000 && rdmsr -p 1 0xd74"]);
    assert_eq!(run.stdout, "0\n7c0000\n", "uncore registers belong to the socket, whichever CPU asks");
}

/// msr.ko turns #GP into EIO, of which rdmsr says "cannot read".
#[test]
fn a_register_that_is_not_there_is_eio() {
    let run = rig().run("sh", &["-c", "rdmsr 0xdead; wrmsr 0xdead 1; rdmsr -p 200 0xce"]);
    assert!(matches!(run.outcome, Outcome::Exited(1..)), "{:?}: {}", run.outcome, run.stderr);
    assert!(run.stderr.contains("rdmsr: CPU 0 cannot read MSR 0x0000dead"), "{}", run.stderr);
    assert!(run.stderr.contains("wrmsr: CPU 0 cannot set MSR 0x0000dead"), "{}", run.stderr);
    assert!(run.text.contains("rdmsr cpu0 0xdead fault"), "{}", run.text);
}

/// A count that eight does not divide is EINVAL; n times eight bytes read the same register n times.
#[test]
fn counts_follow_the_msr_drivers_rules() {
    let dd = "dd if=/dev/cpu/0/msr iflag=skip_bytes,count_bytes skip=206 count=";
    let script = format!("{dd}16 bs=16 status=none | od -An -tx8; {dd}7 bs=7 2>&1; {dd}12 bs=12 2>&1; true");
    let run = rig().succeed("sh", &["-c", &script]);
    let ratio = "00000c0000001b00";
    assert!(run.stdout.starts_with(&format!(" {ratio} {ratio}\n")), "{}", run.stdout);
    assert_eq!(run.stdout.matches("Invalid argument").count(), 2, "{}", run.stdout);
    assert_eq!(run.log.len(), 2);
}

/// The counter is programmed, started, stopped and read by hand with nothing but wrmsr and rdmsr.
#[test]
fn wrmsr_counts_look_ups() {
    let look_ups = Source::Signal("cbo", 2, "llc_lookup", &[("read", 1), ("state", 2)]);
    let rig = Rig { rates: vec![(look_ups, 7_000_000)], ..rig() };
    // CBo 2: control 0xD50, filter 0xD54 with all states, box control 0xD44, counter 0xD56.
    let script = "wrmsr 0xd44 0x10103 && wrmsr 0xd54 0x7c0000 && wrmsr 0xd50 0x400334 && wrmsr 0xd44 0x10000 && sleep 0.2 \
                  && wrmsr 0xd44 0x10100 && rdmsr -u 0xd56 && sleep 0.05 && rdmsr -u 0xd56";
    let run = rig.succeed("sh", &["-c", script]);
    let shown: Vec<u64> = run.stdout.lines().map(|line| line.parse().unwrap()).collect();
    let expected = run.counted(7_000_000, writes(0x10000, msr(0xd44)), writes(0x10100, msr(0xd44)));
    assert!(expected > 1_000_000);
    assert_counted("look-ups", shown[0], expected);
    assert_eq!(shown[0], shown[1], "frozen");
    assert_eq!(run.all(reads(msr(0xd56)))[0].value, shown[0]);
}
