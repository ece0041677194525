//! Instructions and cycles that stock perf counts in a guest, beside counters of the uncore.

use std::path::{Path, PathBuf};
use std::process::Command;

use pericore_tracer::{Options, Source, Tracer};

use super::{boot, switched_off};

/// The programs of tests/clients/instructions.c.
const PROGRAMS: [&str; 5] = ["counted", "pages", "calls", "stack", "heap"];

fn compile(folder: &Path) -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients/instructions.c");
    let program = |(number, name): (usize, &&str)| {
        let program = folder.join(name);
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-fno-stack-protector", "-nostdlib", "-static"]).arg(format!("-DPROGRAM={}", number + 1));
        let status = cc.arg("-o").arg(&program).arg(&source).status().expect("cc runs");
        assert!(status.success(), "{name} does not compile");
        program
    };
    PROGRAMS.iter().enumerate().map(program).collect()
}

/// What the tracer's plugin counts of a program outside the guest, block by block.
fn outside(program: &Path) -> u64 {
    let mut running = Tracer::launch(program.as_os_str(), &[], Options::default()).unwrap();
    let mut batch = Vec::new();
    while running.next_batch(&mut batch).unwrap() {}
    let finished = running.finish().unwrap();
    assert!(finished.status.success(), "{}", program.display());
    finished.summary.total.instructions
}

/// Lines of `perf stat -x,`: the event, its count (nothing where it is not supported), and the nanoseconds that it ran.
fn counts(printed: &str) -> Vec<(String, Option<u64>, f64)> {
    let rows = printed.lines().map(|line| line.split(',').collect::<Vec<_>>()).filter(|cells| cells.len() > 5);
    // Terms of an event have commas of their own: what follows the name is told from the end of `/`.
    let row = |cells: Vec<&str>| {
        let after = cells.iter().rposition(|cell| cell.contains('/')).unwrap_or(2) + 1;
        (cells[2..after].join(","), cells[0].parse().ok(), cells[after].parse().unwrap_or(0.0))
    };
    rows.map(row).collect()
}

/// A guest of a family with counters of its cores: five programs, and all of the guest for two seconds.
fn in_guest(machine: &str, signal: &str, event: &str) {
    if switched_off() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let programs = compile(folder.path());
    let script = format!(
        "for program in {}; do perf stat -x, -o /dev/stdout -e instructions:u $program; done
        perf stat -a -x, -o /dev/stdout -e instructions,cycles,ref-cycles,{event} -- sleep 2
        perf stat -x, -o /dev/stdout -e branches -e r1d1 true",
        PROGRAMS.join(" ")
    );
    let mut arguments = vec!["--machine", machine, "--core-pmu", "--inject", signal, "--timeout", "900"];
    programs.iter().for_each(|program| arguments.extend(["--bring", program.to_str().unwrap()]));
    let output = boot(&[&arguments[..], &["--", "sh", "-c", &script]].concat()).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{machine}: {printed}{}", String::from_utf8_lossy(&output.stderr));
    let counts = counts(&printed);
    let found: Vec<Option<u64>> = counts.iter().take(5).map(|(_, count, _)| *count).collect();
    let judged: Vec<Option<u64>> = programs.iter().map(|program| Some(outside(program))).collect();
    assert_eq!(found, judged, "{machine}: {printed}");
    // One instruction, two for each of a million turns, three to end.
    assert_eq!(found[0], Some(2_000_004));
    let rate = |name: &str| {
        let (_, count, nanoseconds) = counts[5..].iter().find(|(event, ..)| event.starts_with(name)).unwrap();
        count.unwrap() as f64 / nanoseconds
    };
    eprintln!(
        "{machine}: {found:?}; a nanosecond: {:.3} instructions, {:.3} cycles",
        rate("instructions"),
        rate("cycles")
    );
    // Nominal clocks of the parts: 2.93, 2.7 and 1.9 GHz. perf's time and a counter's differ by its set-up.
    let nominal = match machine {
        "nehalem" => 2.93,
        "e5-2600" => 2.7,
        _ => 1.9,
    };
    for event in ["cycles", "ref-cycles"] {
        assert!((0.85..1.15).contains(&(rate(event) / nominal)), "{machine}: {event}: {printed}");
    }
    assert!(rate("instructions") > 0.0 && rate("uncore") > 0.0, "{machine}: {printed}");
    // What CPUID marks as not there perf does not count; of what it programs all the same, our program says so.
    let last: Vec<Option<u64>> = counts.iter().rev().take(2).map(|(_, count, _)| *count).collect();
    assert_eq!(last, [Some(0), None], "{machine}: {printed}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("0xd1 with umask 0x01"), "{machine}: {errors}");
}

#[test]
#[ignore = "long form: a minute for each boot"]
fn five_programs_have_as_many_instructions_in_the_guest_as_outside() {
    in_guest("e5-2600", "imc/CAS_COUNT.RD_REG=1000000", "uncore_imc/event=0x4,umask=0x3/");
    in_guest("nehalem", "uncore/QMC_NORMAL_READS.ANY=1000000", "uncore/event=0x2c,umask=0x7/");
    in_guest("emerald-rapids", "imc/cas=1000000", "uncore_imc/event=0x5,umask=0xcf/");
}
