//! A family without a traffic model: all that needs no traffic works, and all that does says what is missing.

use std::fs;
use std::process::Command;

use crate::ours::{PERICORE, command};

/// Exit status, standard output and standard error, beside a family of one's own: all shipped ones have a model.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    const SHIPPED: &str = include_str!("../../../catalog/families/sapphire-rapids.toml");
    let own = SHIPPED
        .replace("family = \"sapphire-rapids\"", "family = \"own-rapids\"")
        .replace("aliases = [\"spr\"]", "aliases = [\"own\"]")
        .replace("model = 143", "model = 243");
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("families")).expect("a folder");
    fs::write(folder.path().join("families/own-rapids.toml"), own).expect("written");
    finish(command(PERICORE).env("PERICORE_CATALOG", folder.path()).args(arguments))
}

fn finish(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn commands_that_count_name_the_families_with_a_software_machine() {
    let commands: [&[&str]; 6] = [
        &["stat", "--machine", "own", "-e", "cha/CLOCKTICKS/"],
        &["stat", "--machine", "own-rapids", "--workload", "stream"],
        &["record", "--machine", "own", "-o", "/nowhere/counts.rec"],
        &["top", "--machine", "own"],
        &["serve", "--machine", "own"],
        &["machine", "run", "--machine", "own", "--workload", "stream", "--", "true"],
    ];
    for arguments in commands {
        let (status, _, errors) = run(arguments);
        assert_ne!(status, Some(0), "{arguments:?}: {errors}");
        assert!(status.is_some() && !errors.contains("panicked"), "{arguments:?}: {errors}");
        for part in [
            "no software own-rapids yet",
            "nehalem (x5570)",
            "e5-2600 (e5-2680)",
            "emerald-rapids (8592+)",
            "sapphire-rapids (8480+)",
        ] {
            assert!(errors.contains(part), "{arguments:?}: {errors}");
        }
    }
}

/// Codes of Intel's event files; 0x05 with umask 0xCF is CAS_COUNT.RD.
#[test]
fn plans_registers_and_look_ups_need_no_traffic() {
    let (status, _, plan) = run(&["stat", "--machine", "own", "--dry-run", "-e", "imc/CAS_COUNT.RD/"]);
    assert_eq!(status, Some(0), "{plan}");
    assert_eq!(plan.matches("<- 0xcf05  (select and enable)").count(), 8, "{plan}");
    let (status, machine, _) = run(&["machine", "show", "--machine", "own:sockets=2"]);
    assert!(status == Some(0) && machine.contains("cha       60 a socket"), "{machine}");
    let (status, health, _) = run(&["doctor", "--machine", "own:sockets=2"]);
    assert!(status == Some(0) && health.contains("own-rapids"), "{health}");
    let (_, sheet, _) = run(&["explain", "--machine", "own", "CAS_COUNT.RD"]);
    assert!(sheet.contains("no: there is no software own-rapids yet") && sheet.contains("--dry-run"), "{sheet}");
}

/// What two families have in common needs no `--machine`; what differs does.
#[test]
fn the_blocks_that_siblings_share_are_not_ambiguous() {
    let (status, sheet, errors) = finish(command(PERICORE).args(["explain", "m3upi/RxC_HELD"]));
    assert_eq!(status, Some(0), "{errors}");
    assert!(sheet.contains("Also in     sapphire-rapids"), "{sheet}");
    let (status, words, errors) = finish(command(PERICORE).args(["decode", "cha0.ctl0", "0xc001fe00000135"]));
    assert!(status == Some(0) && words.contains("TOR_INSERTS.IA_MISS"), "{words}{errors}");
    let (status, _, errors) = finish(command(PERICORE).args([
        "explain",
        "--why-not",
        "cha/TOR_OCCUPANCY.IA_MISS/",
        "cha/TOR_OCCUPANCY.IA_HIT/",
    ]));
    assert_eq!(status, Some(0), "{errors}");
    // The sixth block of the fabric lies elsewhere on each.
    let (status, _, errors) = finish(command(PERICORE).args(["decode", "mdf5.ctl0", "0x1"]));
    assert!(status != Some(0) && errors.contains("--machine sapphire-rapids"), "{errors}");
}
