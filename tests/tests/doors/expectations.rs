//! The access logs of LIKWID and PCM, kept as golden files: what these tools do to the hardware.
//!
//! `PERICORE_BLESS=1` writes them anew.

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use pericore_doors::DoorsError;
use pericore_doors::log::{Entry, Kind};
use pericore_registers::Address;

use super::rig::{Rig, require};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden/doors").join(name)
}

/// The log without times, values read and threads.
fn stable(text: &str, keep: impl Fn(&Entry) -> bool) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        match Entry::parse(line) {
            Some(entry) if keep(&entry) => {
                let meaning = line.split_once("  ; ").map_or("", |(_, meaning)| meaning);
                // Which thread of the tool it was is another in each run.
                let meaning = meaning.rsplit_once("; thread ").map_or(meaning, |(meaning, _)| meaning.trim_end());
                // The meaning of a read is its value.
                let meaning = if line.contains(" -> ") {
                    let name = meaning.split(" = ").next().unwrap_or("");
                    name.split(": ").next().unwrap_or("").trim_end()
                } else {
                    meaning
                };
                let _ = writeln!(lines, "{:<44}  ; {meaning}", entry.to_string());
            }
            Some(_) => {}
            None => {
                let _ = writeln!(lines, "{line}");
            }
        }
    }
    lines
}

fn check(name: &str, text: &str, keep: impl Fn(&Entry) -> bool) {
    let (path, found) = (golden(name), stable(text, keep));
    if env::var_os("PERICORE_BLESS").is_some() {
        fs::write(path, found).expect("golden files are writable");
        return;
    }
    let expected = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; PERICORE_BLESS=1 writes it", path.display()));
    for (number, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        assert_eq!(found, expected, "{} line {}", path.display(), number + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{}", path.display());
}

#[test]
fn likwids_mem_group_does_what_it_did() {
    require("likwid-perfctr", "likwid");
    // With a program to run, LIKWID sometimes reads once more at the start.
    let arguments = ["-M", "0", "-C", "0", "-g", "MEM", "-S", "100ms"];
    let run = Rig::default().succeed("likwid-perfctr", &arguments);
    check("likwid-mem.log", &run.text, |_| true);
    // The same file serves --expect.
    let mut rig = Rig::default();
    rig.options.expect = Some(golden("likwid-mem.log"));
    rig.succeed("likwid-perfctr", &arguments);
}

/// PCM's MSR accesses depend on the number of CPUs; those to the memory channels do not.
#[test]
fn pcm_memory_does_what_it_did() {
    require("pcm-memory", "pcm");
    let run = Rig::default().succeed("pcm-memory", &["0.1", "-i=2"]);
    check("pcm-memory.log", &run.text, |entry| matches!(entry.address, Address::Pci { bdf, .. } if bdf.device == 16));
}

/// A person reads from each line who was asked and what was meant: a place on every line, an event on every line that selects one,
/// and no value whose bits are left unexplained.
#[test]
fn every_line_of_the_golden_logs_says_where_and_what() {
    const PLACES: [&str; 4] = ["socket 0 ", "cpu 0 ", "configuration header", "no such register"];
    let mut events = 0;
    for name in ["likwid-mem.log", "likwid-boxes.log", "pcm-memory.log"] {
        let text = fs::read_to_string(golden(name)).expect("a golden file");
        for line in text.lines().skip(1) {
            let (_, meaning) = line.split_once("  ; ").unwrap_or_else(|| panic!("no meaning: {line}"));
            assert!(PLACES.iter().any(|place| meaning.starts_with(place)), "{line}");
            assert_eq!(meaning == "no such register", line.contains(" fault"), "{line}");
            let entry = Entry::parse(line).unwrap_or_else(|| panic!("not an access: {line}"));
            let control = meaning.split_whitespace().nth(3).is_some_and(|register| register.starts_with("ctl"));
            // Event selects are the low byte of controls in all units of the family.
            match entry.kind {
                Kind::Write(value) if control && value & 0xff != 0 => {
                    let event =
                        meaning.split(": ").nth(1).and_then(|text| text.split_whitespace().next()).unwrap_or("");
                    let named = event.starts_with(|c: char| c.is_ascii_uppercase()) && event.len() > 3;
                    assert!(named, "which event? {line}");
                    events += 1;
                }
                Kind::Write(0) | Kind::Read => {}
                Kind::Write(_) => assert!(!meaning.ends_with(": 0"), "{line}"),
            }
        }
    }
    assert!(events > 25, "{events} events");
}

/// Every kind of box that LIKWID knows.
#[test]
fn likwids_boxes_are_programmed_as_they_were() {
    require("likwid-perfctr", "likwid");
    let events = "CAS_COUNT_RD:MBOX0C0,DRAM_CLOCKTICKS:MBOX0FIX,LLC_LOOKUP_DATA_READ:CBOX0C0:STATE=0x3F,\
                  LLC_VICTIMS_M_STATE:CBOX1C1,REQUESTS_READS:BBOX0,EVENT_MSG_DOORBELL_RCVD:UBOX0,UNCORE_CLOCK:UBOXFIX,\
                  VOLT_TRANS_CYCLES_INCREASE:WBOX1,TXL_FLITS_G0_DATA:SBOX1C1";
    let run = Rig::default().succeed("likwid-perfctr", &["-M", "0", "-C", "0", "-g", events, "-S", "100ms"]);
    check("likwid-boxes.log", &run.text, |_| true);
}

#[test]
fn a_difference_fails_the_run_and_says_where() {
    require("rdmsr", "msr-tools");
    let expected = tempfile::NamedTempFile::new().unwrap();
    let mut rig = Rig::default();
    rig.options.expect = Some(expected.path().to_owned());
    fs::write(&expected, "# two accesses\nrdmsr cpu0 0xd16\nwrmsr cpu0 0xd10 <- 0x1\n").unwrap();
    rig.succeed("sh", &["-c", "rdmsr 0xd16; wrmsr 0xd10 1"]);
    let error = rig.try_run("sh", &["-c", "rdmsr 0xd16; wrmsr 0xd10 2"]).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("line 3") && message.contains("found wrmsr cpu0 0xd10 <- 0x2"), "{message}");
    let error = rig.try_run("rdmsr", &["0xd16"]).unwrap_err();
    assert!(error.to_string().contains("no further access"), "{error}");
    fs::write(&expected, "rdmsr cpu0\n").unwrap();
    let error = rig.try_run("true", &[]).unwrap_err();
    assert!(matches!(error, DoorsError::BadExpectation { line: 1, .. }), "{error}");
}
