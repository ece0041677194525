//! A register's name as one command prints it is understood by the others.

use crate::ours::{PERICORE, command};

fn pericore(arguments: &[&str]) -> String {
    let output = command(PERICORE).args(arguments).output().expect("the program starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Table 2-8 has CBo 0's control 1 at 0xd11; 0x400137 is LLC_VICTIMS.M_STATE, enabled.
#[test]
fn names_go_from_one_command_to_the_next() {
    let of = |command: &[&str], rest: &[&str]| pericore(&[command, &["--machine", "e5-2600"], rest].concat());
    for name in ["cbo0.ctl1", "cbo0/ctl1", "0/cbo0/ctl1"] {
        assert!(of(&["decode"], &[name, "0x400137"]).contains("Counts cbo/LLC_VICTIMS.M_STATE"), "{name}");
        let encoded = of(&["encode"], &[name, "ev_sel=0x37", "umask=1", "en=1"]);
        assert!(encoded.contains("cbo0.ctl1  0x400137"), "{encoded}");
        let peeked = of(&["machine", "peek"], &[name]);
        assert!(peeked.starts_with("0/cbo0/ctl1 "), "{peeked}");
    }
    // Events are still events.
    assert!(of(&["encode"], &["cbo/LLC_VICTIMS.M_STATE/"]).contains("control        0x137"));
}
