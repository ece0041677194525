//! Machines that are strict or broken, because their name says so. Runs of other programs need /dev/fuse, root or user namespaces, and
//! msr-tools.

mod ours;

use ours::pericore;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The lines that a shell script prints on a live machine, errors among them.
fn on(machine: &[&str], script: &str) -> Vec<String> {
    let arguments =
        [&["machine", "run", "--timeout", "60", "--machine"], machine, &["--", "sh", "-c", script]].concat();
    let output = pericore(&arguments);
    assert!(output.status.success(), "{machine:?}: {}", text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

/// MSR 0xd16 is counter 0 of CBo 0, 0xd36 of CBo 1; bit 21 of a control is reserved (Table 2-10).
#[test]
fn tools_meet_the_machine_that_was_named() {
    let cannot = "rdmsr: CPU 0 cannot read MSR 0x00000d16";
    assert_eq!(on(&["e5-2600:hidden=0/cbo0"], "rdmsr 0xd16 2>&1; rdmsr 0xd36"), [cannot, "0"]);
    assert_eq!(on(&["e5-2600:all-ones=cbo0"], "rdmsr 0xd16; rdmsr 0xd36"), ["ffffffffffffffff", "0"]);
    let reserved = "wrmsr 0xd10 0x200000 2>&1; rdmsr 0xd10";
    assert_eq!(on(&["e5-2600"], reserved), ["0"]);
    let refused = "wrmsr: CPU 0 cannot set MSR 0x00000d10 to 0x0000000000200000";
    assert_eq!(on(&["e5-2600:rules=strict"], reserved), [refused, "0"]);
    // Under a workload, too: clocks on both counters.
    let clocks = "wrmsr 0xd10 0x400000; wrmsr 0xd11 0x400000; rdmsr -d 0xd16; rdmsr -d 0xd17";
    let counts = on(&["e5-2600:stuck=0/cbo0/ctr0", "--workload", "stream"], clocks);
    assert!(matches!(&counts[..], [stuck, runs] if stuck == "0" && runs != "0"), "{counts:?}");
}

/// Channel 1 is not there, channel 2 cannot be read, and the others count as ever: nobody adds up what was not measured.
#[test]
fn stat_counts_what_is_whole_and_names_what_is_not() {
    let stat =
        ["stat", "--workload", "stream:requests=20k", "--per-unit", "-j", "-e", "imc/CAS_COUNT.RD/", "--machine"];
    let rows = |machine: &str| -> Vec<(String, String)> {
        let output = pericore(&[&stat[..], &[machine]].concat());
        let said = text(&output.stderr);
        assert!(output.status.success(), "{machine}: {said}");
        let row = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|_| panic!("{line}"));
        let told = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        said.lines().map(row).map(|row| (told(&row, "instance"), told(&row, "counter-value"))).collect()
    };
    let sound = rows("e5-2600");
    let broken = rows("e5-2600:hidden=imc1,all-ones=imc2");
    for place in [0, 3] {
        assert!(broken.contains(&sound[place]), "{broken:?}");
    }
    assert!(broken.contains(&("imc2".to_owned(), "<not supported>".to_owned())), "{broken:?}");
    assert!(
        broken.iter().all(|row| sound.contains(row) || !row.1.starts_with(|c: char| c.is_ascii_digit())),
        "{broken:?}"
    );
}

/// A sum over three channels is no sum over four.
#[test]
fn stat_says_of_which_units_there_are_fewer() {
    let stat = |machine: &str| {
        let line =
            ["stat", "--workload", "stream:requests=20k", "-e", "imc/CAS_COUNT.RD/,cbo0/CLOCKTICKS/", "--machine"];
        text(&pericore(&[&line[..], &[machine]].concat()).stderr).to_owned()
    };
    let fewer = "socket 1: 3 imc answer, where such a machine has up to 4";
    let broken = stat("e5-2600:sockets=2,hidden=1/imc3");
    assert!(broken.contains(fewer) && !broken.contains("socket 0:") && !broken.contains("cbo answer"), "{broken}");
    assert!(!stat("e5-2600:sockets=2").contains("answer"));
}

#[test]
fn doctor_and_show_find_what_is_broken() {
    let output = pericore(&["doctor", "--machine", "emerald-rapids:discovery=truncated:5"]);
    let said = text(&output.stdout);
    assert!(said.contains("This software machine has faults"), "{said}");
    let output = pericore(&["machine", "show", "--machine", "e5-2600:hidden=cbo"]);
    assert!(text(&output.stdout).contains("do not answer"), "{}", text(&output.stderr));
}

#[test]
fn what_a_machine_has_not_is_refused_with_what_it_has() {
    for (machine, words) in [
        ("e5-2600:hidden=cha", "hidden=cha: give blocks of this machine"),
        ("e5-2600:discovery=absent", "on a machine with discovery tables"),
    ] {
        let output = pericore(&["stat", "--machine", machine]);
        assert_eq!(output.status.code(), Some(129));
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    }
}
