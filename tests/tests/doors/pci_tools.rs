//! lspci and setpci.

use super::rig::{Rig, Source, assert_counted, config, reads, require, writes};

fn rig() -> Rig {
    require("setpci", "pciutils");
    Rig::default()
}

#[test]
fn lspci_lists_the_functions_of_every_socket() {
    let run = Rig { sockets: 2, ..rig() }.succeed("lspci", &["-n"]);
    for bus in ["7f", "ff"] {
        for function in ["10.0 1101: 8086:3cb0", "10.1 1101: 8086:3cb1", "13.5 1101: 8086:3c44", "0b.0 1101: 8086:3ce0"]
        {
            let line = format!("{bus}:{function}");
            assert!(run.stdout.contains(&line), "{line:?} in\n{}", run.stdout);
        }
    }
    assert!(!run.stdout.contains("00:00.0"), "the host's own functions are out of sight:\n{}", run.stdout);
}

/// Both ways in: sysfs, which pciutils prefers, and the older files under /proc.
#[test]
fn setpci_writes_and_reads_in_all_widths_both_ways() {
    for access in ["linux-sysfs", "linux-proc"] {
        let setpci = format!("setpci -A {access} -s ff:10.0");
        let run = rig()
            .succeed("sh", &["-c", &format!("{setpci} f4.l=10100; {setpci} f4.l f4.w f6.b f5.b 0.l; {setpci} 40.b=1")]);
        assert_eq!(run.stdout, "00010100\n0100\n01\n01\n3cb08086\n", "{access}");
        assert!(run.text.contains("socket 0 imc0 unit_ctl: frz_en frz"), "{}", run.text);
    }
}

/// An 8-byte pread is two dwords, low first; what lies beyond the end is cut off, what is unaligned is split.
#[test]
fn spans_are_aligned_cycles() {
    let file = "/proc/bus/pci/ff/10.0";
    let dd = format!("dd if={file} status=none iflag=skip_bytes,count_bytes");
    let script = format!(
        "{dd} bs=8 skip=160 count=8 | wc -c; {dd} bs=5 skip=1 count=5 | wc -c; {dd} bs=100 skip=4090 count=100 | wc -c; \
         {dd} bs=8 skip=99999 count=8 | wc -c"
    );
    let run = rig().succeed("sh", &["-c", &script]);
    assert_eq!(run.stdout.split_whitespace().collect::<Vec<_>>(), ["8", "5", "6", "0"]);
    let places: Vec<String> = run.log.iter().map(|access| access.entry.to_string()).collect();
    let expected = ["a0.4", "a4.4", "1.1", "2.2", "4.2", "ffa.2", "ffc.4"];
    assert_eq!(places, expected.map(|place| format!("pcird 0000:ff:10.0+0x{place}")));
}

#[test]
fn setpci_counts_reads_of_a_channel() {
    let rig = Rig { rates: vec![(Source::Subevent("imc", 0, "CAS_COUNT", "RD"), 12_345_678)], ..rig() };
    let setpci = "setpci -s ff:10.0";
    let script = format!(
        "{setpci} f4.l=10100 d8.l=0 a0.l=0 a4.l=0 d8.l=400304 f4.l=10000; sleep 0.2; {setpci} f4.l=10100; {setpci} a0.l a4.l"
    );
    let run = rig.succeed("sh", &["-c", &script]);
    let halves: Vec<u64> = run.stdout.lines().map(|line| u64::from_str_radix(line, 16).unwrap()).collect();
    let box_control = || config(0xff, 16, 0, 0xf4);
    let expected = run.counted(12_345_678, writes(0x10000, box_control()), writes(0x10100, box_control()));
    assert_counted("reads", halves[0] | halves[1] << 32, expected);
    assert_eq!(run.all(reads(config(0xff, 16, 0, 0xa0))).len(), 1);
}
