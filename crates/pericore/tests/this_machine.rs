//! `pericore stat` on what it takes for this machine: the emulated hardware behind /dev/cpu, /proc/bus/pci, sysfs and /dev/mem, with
//! traffic at constant rates. Nothing but Linux's own ways lead to the registers. Needs root or user namespaces, and /dev/fuse.

use std::collections::BTreeMap;

use crate::live::rig::{Access, Rig, Run, Source, assert_counted, config, msr, ticks};
use crate::live::{running, script};
use pericore_doors::Outcome;
use pericore_doors::log::Kind;
use pericore_registers::Address;

/// Counter values by instance and event, from JSON lines.
fn counts(run: &Run) -> BTreeMap<(String, String), u64> {
    let mut counts = BTreeMap::new();
    for line in run.stderr.lines().filter(|line| line.starts_with('{')) {
        let row: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
        // On a busy host it may take long to stop one unit after the other: their counts are exact all the same.
        let is_uneven = row["concerns"].as_str().is_some_and(|why| why.contains("one after the other"));
        assert!(row["validity"] == "measured" || is_uneven, "{line}");
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let value: f64 = text("counter-value").parse().expect("a count");
        counts.insert((text("instance"), text("event")), value as u64);
    }
    counts
}

/// The count of a signal of `rate` a second in a unit with this control register: from the first write of `running` after its
/// counters were reset to the next of `frozen`. The log has one digit less than the machine's clock.
fn expected(run: &Run, rate: u64, control: impl Fn(&Access) -> bool, [reset, running, frozen]: [u64; 3]) -> u64 {
    let all = run.all(control);
    let mut writes = all.iter().filter_map(|access| match access.entry.kind {
        Kind::Write(value) => Some((access.at, value)),
        Kind::Read => None,
    });
    let mut next = |wanted| writes.by_ref().find(|(_, value)| *value == wanted).expect("the session writes it").0;
    let (_, began, ended) = (next(reset), next(running), next(frozen));
    ticks(rate, ended) - ticks(rate, began)
}

/// Tables 2-9 and 2-60 of the guide: freeze enable is bit 16, freeze bit 8, and bit 1 resets the counters of a CBo; the memory
/// controller's have no reset bit and get a written 0, so its counting begins with the last write before it is frozen.
#[test]
fn counts_on_an_e5_2600_are_what_the_traffic_was() {
    const ACTS: u64 = 3_000_000;
    const LOOK_UPS: u64 = 7_000_000;
    let act = |instance| (Source::Signal("imc", instance, "ACT_COUNT", &[]), ACTS + u64::from(instance));
    let look_ups = (Source::Signal("cbo", 2, "llc_lookup", &[("read", 1), ("state", 2)]), LOOK_UPS);
    let rig = Rig { rates: (0..4).map(act).chain([look_ups]).collect(), ..Rig::default() };
    let events = "imc/ACT_COUNT/,cbo2/LLC_LOOKUP.DATA_READ/";
    let (run, left) = script(&rig, &format!(r#""$P" stat -j --per-unit -e {events} -- sh -c 'sleep 0.2; exit 5'"#));
    assert_eq!(run.outcome, Outcome::Exited(5), "the program's own status: {}", run.stderr);
    assert!(left.is_empty(), "the journal goes when everything is put back: {left:?}");
    let counts = counts(&run);
    let of = |instance: &str, event: &str| counts[&(instance.to_owned(), event.to_owned())];
    let shown = of("cbo2", "cbo2/LLC_LOOKUP.DATA_READ/");
    let cbo = expected(&run, LOOK_UPS, msr(0xd44), [0x10102, 0x10000, 0x10100]);
    assert!(cbo > 1_000_000);
    assert_counted("look-ups", shown, cbo);
    for channel in 0..4_u8 {
        // Functions 0, 1, 4 and 5 of device 16; the uncore bus of a single socket is the last one.
        let function = [0, 1, 4, 5][usize::from(channel)];
        let rate = ACTS + u64::from(channel);
        let count = expected(&run, rate, config(0xff, 16, function, 0xf4), [0x10100, 0x10000, 0x10100]);
        assert_counted("activates", of(&format!("imc{channel}"), "imc/ACT_COUNT/"), count);
    }
}

/// 1.9 of the guide: unit controls of the memory channels lie in memory, where bit 9 resets the counters; bit 0 of MSR 0x2FF0 freezes the
/// socket (1.10.4). One free-running clock serves the two channels of a controller, and is counted once.
#[test]
fn counts_on_an_emerald_rapids_go_through_memory() {
    const ACTS: u64 = 3_000_000;
    let act = |instance| (Source::Subevent("imc", instance, "ACT_COUNT", "RD_PCH0"), ACTS + u64::from(instance));
    let rig = Rig { family: "emerald-rapids", rates: (0..8).map(act).collect(), ..Rig::default() };
    let (run, left) = script(&rig, r#""$P" stat -j --per-unit -e imc/ACT_COUNT.RD_PCH0/,imc/FRCTR_DCLK/ sleep 0.2"#);
    assert_eq!(run.outcome, Outcome::Exited(0), "{}", run.stderr);
    assert!(left.is_empty(), "{left:?}");
    let counts = counts(&run);
    let is_reset = |access: &Access| {
        let value = if let Kind::Write(value) = access.entry.kind { value } else { 0 };
        value & 0x200 != 0 && matches!(access.entry.address, Address::Mmio { .. })
    };
    assert_eq!(run.all(is_reset).len(), 8, "each of the eight channels");
    for channel in 0..8 {
        let rate = ACTS + channel;
        let count = expected(&run, rate, msr(0x2ff0), [1, 0, 1]);
        assert!(count > 500_000);
        let shown = counts[&(format!("imc{channel}"), "imc/ACT_COUNT.RD_PCH0/".to_owned())];
        assert_counted("activates", shown, count);
    }
    let clocks: Vec<&str> =
        counts.keys().filter(|(_, event)| event == "imc/FRCTR_DCLK/").map(|(instance, _)| instance.as_str()).collect();
    assert_eq!(clocks, ["imc0", "imc2", "imc4", "imc6"]);
}

/// The JSON lines of a run: on a busy host there are words beside them.
fn rows_of(run: &Run) -> Vec<serde_json::Value> {
    let lines = run.stderr.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

/// Intervals follow wall time, their counts add up, and an end by the clock ends the program too.
#[test]
fn intervals_add_up_to_the_whole() {
    const RATE: u64 = 5_000_000;
    let rig = Rig { rates: vec![(Source::Signal("imc", 0, "ACT_COUNT", &[]), RATE)], ..Rig::default() };
    let (run, left) = script(&rig, r#""$P" stat -I 50 --timeout 220 -j -e imc0/ACT_COUNT/ -- sleep 1000"#);
    assert_eq!(run.outcome, Outcome::Exited(128 + 15), "the program was asked to end: {}", run.stderr);
    assert!(left.is_empty(), "{left:?}");
    let rows: Vec<serde_json::Value> = rows_of(&run);
    let ends: Vec<f64> = rows.iter().map(|row| row["interval"].as_f64().expect("a time")).collect();
    // A very busy host may come too late for all intervals but the last.
    assert!(ends.is_sorted_by(|one, next| one < next), "{ends:?}");
    assert!(ends[0] >= 0.050 && *ends.last().unwrap() >= 0.220, "{ends:?}");
    let counted = |row: &serde_json::Value| row["counter-value"].as_str().and_then(|text| text.parse::<f64>().ok());
    let total: f64 = rows.iter().map(|row| counted(row).expect("a count")).sum();
    let spans = running(&run);
    let [_before_the_reset, sampled @ .., _after_the_last_sample] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!(sampled.len(), rows.len());
    let traffic: u64 = sampled.iter().map(|&(began, ended)| ticks(RATE, ended) - ticks(RATE, began)).sum();
    // An increment at each end of a span may be cut off.
    assert!((total as u64).abs_diff(traffic) <= 2 * sampled.len() as u64, "{total} of {traffic} in {spans:?}");
}

/// What is counted begins with the end of the delay, and so does the time limit; a program that ends before is not measured.
#[test]
fn a_delay_is_not_counted() {
    const RATE: u64 = 5_000_000;
    let rig = Rig { rates: vec![(Source::Signal("imc", 0, "ACT_COUNT", &[]), RATE)], ..Rig::default() };
    let (run, left) = script(&rig, r#""$P" stat -D 100 --timeout 50 -j -e imc0/ACT_COUNT/ -- sleep 1000"#);
    assert!(left.is_empty(), "{left:?}");
    let spans = running(&run);
    let [_before_the_reset, delay, sampled, _after_the_sample] = spans[..] else { panic!("{spans:?}") };
    assert!(delay.1 - delay.0 >= 100_000_000 && sampled.1 - sampled.0 >= 50_000_000, "{spans:?}");
    let [(_, &shown)] = counts(&run).iter().collect::<Vec<_>>()[..] else { panic!("one count: {}", run.stderr) };
    assert_counted("activates", shown, ticks(RATE, sampled.1) - ticks(RATE, sampled.0));
    let (run, left) = script(&rig, r#""$P" stat -D 60000 -j -e imc0/ACT_COUNT/ -- sh -c 'exit 5'"#);
    assert_eq!(run.outcome, Outcome::Exited(5), "the program's own status: {}", run.stderr);
    assert!(
        run.stderr.contains("nothing was measured") && counts(&run).is_empty() && left.is_empty(),
        "{}",
        run.stderr
    );
}

/// SIGKILL leaves counters running and a journal; `restore` puts everything back, and says that there is nothing to do for a session
/// that still runs.
#[test]
fn a_killed_run_is_undone_from_its_default_journal() {
    let rig = Rig::default();
    let (run, left) = script(
        &rig,
        r#""$P" stat -e cbo0/CLOCKTICKS/ -o /dev/null & pid=$!
         until ls "$XDG_STATE_HOME"/pericore/*.journal 2>/dev/null; do sleep 0.01; done
         "$P" restore
         kill_both $pid; wait $pid; "$P" restore; "$P" restore"#,
    );
    assert_eq!(run.outcome, Outcome::Exited(0), "{}{}", run.stdout, run.stderr);
    assert!(left.is_empty(), "{left:?}");
    for part in [
        "is still counting; it restores everything",
        "registers and removed the journal",
        "no session left anything to restore",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}{}", run.stdout, run.stderr);
    }
    assert_eq!(last_write(&run, 0xd10), Some(0), "control 0 of CBo 0 holds what it held before");
}

/// What was written to a register at last.
fn last_write(run: &Run, number: u32) -> Option<u64> {
    run.all(msr(number)).iter().rev().find_map(|access| match access.entry.kind {
        Kind::Write(value) => Some(value),
        Kind::Read => None,
    })
}

/// SIGTERM ends the measurement: what was counted is printed, everything is put back, and the signal takes its course.
#[test]
fn a_signal_ends_the_measurement_in_order() {
    let (run, left) = script(
        &Rig::default(),
        r#""$P" stat -e cbo0/CLOCKTICKS/ & pid=$!
         until ls "$XDG_STATE_HOME"/pericore/*.journal >/dev/null 2>&1; do sleep 0.01; done
         kill -TERM $pid; wait $pid; echo status $?"#,
    );
    assert!(run.stdout.contains("status 143"), "{}{}", run.stdout, run.stderr);
    // As short as this run is, a busy machine may spoil its only number, which is said then.
    assert!(run.stderr.contains("cbo0/CLOCKTICKS/") && run.stderr.contains("measured, over"), "{}", run.stderr);
    assert!(left.is_empty(), "{left:?}");
}

/// Who ends a command after a time may send the signal twice at once, to the process and to its group. That is one wish: the
/// recording gets its end, also if the program takes its time to end, and the signal takes its course.
#[test]
fn a_signal_that_is_doubled_ends_the_measurement_in_order_too() {
    let rig = Rig::default();
    let (run, left) = script(
        &rig,
        r#"at=$XDG_STATE_HOME.at; export at
         "$P" record -o $at.rec -e cbo0/CLOCKTICKS/ -- sh -c 'trap "echo >$at.end; sleep 0.3; exit" TERM; echo >$at; while :; do sleep 0.01; done' & pid=$!
         until [ -e $at ]; do sleep 0.01; done; kill -TERM $pid
         until [ -e $at.end ]; do sleep 0.01; done; kill -TERM $pid; wait $pid; echo status $?; tail -n 1 $at.rec; rm $at $at.*"#,
    );
    assert!(run.stdout.contains("status 143"), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains(r#""ended":"interrupted""#), "{}{}", run.stdout, run.stderr);
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(last_write(&run, 0xd10), Some(0), "control 0 of CBo 0 holds what it held before");
}

/// A sample cannot be written: the run fails, and takes its program along.
#[test]
fn an_error_in_between_leaves_no_program_behind() {
    let (run, left) = script(
        &Rig::default(),
        r#"trap '' XFSZ; ulimit -f 8
         timeout 60 "$P" record -I 1 -o "$XDG_STATE_HOME.rec" -e cbo/CLOCKTICKS/ -- sh -c 'echo $$ >"$XDG_STATE_HOME.pid"; exec sleep 1000'
         echo status $?; kill -0 "$(cat "$XDG_STATE_HOME.pid")" && echo still there; rm "$XDG_STATE_HOME".*"#,
    );
    assert!(run.stdout.contains("status 255") && run.stderr.contains("cannot write"), "{}{}", run.stdout, run.stderr);
    assert!(!run.stdout.contains("still there"), "{}", run.stdout);
    assert!(left.is_empty(), "{left:?}");
}

/// So many intervals in real time, then all of them together; the program is asked to end, as it is by a time that is over.
#[test]
fn it_ends_after_so_many_intervals_and_adds_them_up() {
    let rig = Rig { rates: vec![(Source::Signal("imc", 0, "ACT_COUNT", &[]), 5_000_000)], ..Rig::default() };
    let line = r#""$P" stat -I 30 --interval-count 3 --summary -j -e imc0/ACT_COUNT/ -- sleep 1000"#;
    let (run, left) = script(&rig, line);
    assert_eq!(run.outcome, Outcome::Exited(128 + 15), "{}", run.stderr);
    assert!(left.is_empty(), "{left:?}");
    let rows: Vec<serde_json::Value> = rows_of(&run);
    let [intervals @ .., whole] = &rows[..] else { panic!("{rows:?}") };
    assert!(intervals.len() == 3 && whole["interval"].is_null(), "{rows:?}");
    let of = |row: &serde_json::Value| row["counter-value"].as_str().and_then(|text| text.parse::<f64>().ok());
    let sum: f64 = intervals.iter().map(|row| of(row).expect("a count")).sum();
    assert!(sum > 0.0 && of(whole) == Some(sum), "{rows:?}");
    // No interval is longer than the time from the start to its end, however busy the host is.
    let length = |row: &serde_json::Value| row["event-runtime"].as_f64().expect("nanoseconds") * 1e-9;
    assert!(intervals.iter().all(|row| length(row) <= row["interval"].as_f64().expect("seconds") + 1e-6), "{rows:?}");
}

/// Who waits for another run has no file or socket yet, and goes at the first signal.
#[test]
fn a_signal_while_waiting_leaves_nothing_behind() {
    let (run, left) = script(
        &Rig::default(),
        r#"mkdir "$XDG_STATE_HOME.own"; cd "$XDG_STATE_HOME.own"
         "$P" stat -e cbo0/CLOCKTICKS/ 2>/dev/null & first=$!
         until ls "$XDG_STATE_HOME"/pericore/*.journal >/dev/null 2>&1; do sleep 0.01; done
         for command in 'record -o own.rec' "serve --listen unix:$PWD/own.socket"; do
             "$P" $command --wait -e cbo0/CLOCKTICKS/ 2>said & pid=$!
             until grep -q 'waiting for process' said; do kill -0 $pid || exit 9; sleep 0.01; done
             kill -TERM $pid; wait $pid; echo status $?
         done
         rm said; echo files $(ls -A) end; kill -TERM $first; wait $first; cd /; rm -r "$XDG_STATE_HOME.own""#,
    );
    assert_eq!(run.stdout, "status 143\nstatus 143\nfiles end\n", "{}", run.stderr);
    assert!(left.is_empty(), "{left:?}");
}

/// The program of a run, when it is asked to end, starts a session that the next run then has to wait for. On a busy host it may not be ready to be
/// asked in the first.
#[test]
fn a_signal_ends_a_wait_between_two_runs() {
    let (run, left) = script(
        &Rig::default(),
        r#"at="$XDG_STATE_HOME"; export at
         cat >"$at.program" <<'END'
trap '"$P" stat -e cbo0/CLOCKTICKS/ -- sh -c "touch $at.begun; exec sleep 1000" 2>/dev/null & echo $! >"$at.neighbour"
      until test -e "$at.begun"; do sleep 0.01; done; exit 0' TERM
while :; do sleep 0.01; done
END
         "$P" stat -r 50 --timeout 100 --wait -x, -e cbo0/CLOCKTICKS/ -- sh "$at.program" 2>"$at.said" & pid=$!
         until grep -q 'waiting for process' "$at.said"; do kill -0 $pid || exit 9; sleep 0.01; done
         kill -TERM $pid; wait $pid; echo status $?; kill -0 $(cat "$at.neighbour") && echo neighbour counts
         kill -TERM $(cat "$at.neighbour")
         until ! ls "$at"/pericore/*.journal "$PERICORE_RUN"/lock >/dev/null 2>&1; do sleep 0.01; done
         cat "$at.said"; rm "$at".*"#,
    );
    assert!(run.stdout.starts_with("status 143\nneighbour counts\n"), "{}{}", run.stdout, run.stderr);
    // Measured, or in doubt on a busy host, where each run's counters are read too far apart.
    let is_counted = |line: &str| {
        let count = line.split_once(",,cbo0/CLOCKTICKS/,").map(|(count, _)| count.parse::<u64>());
        count.is_some_and(|count| count.is_ok_and(|count| count > 0))
    };
    assert!(run.stdout.lines().any(is_counted), "the runs before: {}", run.stdout);
    assert!(left.is_empty(), "{left:?}");
}

/// Two runs that freeze nothing share a unit: the second takes the counters that the first has left, and neither touches the other's
/// controls.
#[test]
fn two_runs_share_a_unit() {
    let (run, left) = script(
        &Rig::default(),
        r#""$P" stat --no-freeze -j -e cbo0/CLOCKTICKS/ -o "$XDG_STATE_HOME.first" & pid=$!
         until ls "$XDG_STATE_HOME"/pericore/*.journal >/dev/null 2>&1; do sleep 0.01; done
         "$P" stat --no-freeze -j -e cbo0/CLOCKTICKS,thresh=1/ --timeout 50; echo second $?
         kill -TERM $pid; wait $pid; echo first $?; cat "$XDG_STATE_HOME.first"; rm "$XDG_STATE_HOME.first""#,
    );
    assert!(run.stdout.contains("second 0") && run.stdout.contains("first 143"), "{}{}", run.stdout, run.stderr);
    let rows = run.stdout.lines().chain(run.stderr.lines()).filter(|line| line.starts_with('{'));
    // Counters that run while they are read: on a busy host that is said of them.
    let is_right = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let is_uneven = row["concerns"].as_str().is_some_and(|why| why.contains("one after the other"));
        row["validity"] == "measured" || is_uneven
    };
    assert_eq!(rows.map(is_right).collect::<Vec<_>>(), [true, true], "{}{}", run.stdout, run.stderr);
    let selected = |number: u32| {
        let writes = run.all(msr(number)).into_iter().filter_map(|access| match access.entry.kind {
            Kind::Write(value) if value != 0 => Some(value),
            _ => None,
        });
        writes.collect::<Vec<u64>>()
    };
    // Table 2-11: bit 22 enables, bits 31:24 are the threshold; CLOCKTICKS is event 0.
    assert_eq!((selected(0xd10), selected(0xd11)), (vec![0x40_0000], vec![0x140_0000]));
    assert!(left.is_empty(), "{left:?}");
}

/// The second of three runs is ended by Ctrl-C: the means are those of the first, and that is said.
#[test]
fn a_run_that_is_cut_short_is_left_out_of_the_means() {
    let program =
        "if [ -e $XDG_STATE_HOME/ran ]; then kill -INT $PPID; sleep 9; else : >$XDG_STATE_HOME/ran; sleep 0.1; fi";
    let rig = Rig::default();
    let (run, _) = script(&rig, &format!(r#""$P" stat -r 3 -e imc/CLOCKTICKS/ -- sh -c '{program}'"#));
    assert_eq!(run.outcome, Outcome::Exited(128 + 2), "{}", run.stderr);
    for words in ["the interrupted run is not part of the means", "in the only run", "imc/CLOCKTICKS/"] {
        assert!(run.stderr.contains(words), "no {words:?} in {}", run.stderr);
    }
}

/// Waits until process `$1` has given up the capabilities that it can, and prints what is left to each of its threads.
const RIGHTS: &str = r#"
rights() { until test "$(sed -n 's/^CapPrm:\t//p' /proc/$1/status)" = $2; do kill -0 $1 || exit 9; sleep 0.02; done
    cat /proc/$1/task/*/status | grep -E '^Cap(Prm|Eff)' | sort | uniq -c | tr -s ' \t' ' '; }
"#;

/// Nothing is left to a run that has opened what it needs, but what the end takes; and the end comes about with it. A program has what it would have
/// had without us. Capabilities as capability.h numbers them: DAC_OVERRIDE is bit 1, KILL bit 5.
#[test]
fn rights_are_given_up_once_they_are_used() {
    const NONE: &str = "0000000000000000";
    const KILL: &str = "0000000000000020";
    const DAC_OVERRIDE: &str = "0000000000000002";
    let (run, left) = script(
        &Rig::default(),
        &format!(
            r#"{RIGHTS}
            echo "own $(grep CapEff /proc/self/status)"
            "$P" stat -e cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/ & pid=$!
            rights $pid {NONE}; kill -TERM $pid; wait $pid; echo status $?
            "$P" stat -e cbo0/CLOCKTICKS/ -- sh -c 'echo "program $(grep CapEff /proc/self/status)"; kill -STOP $$' & pid=$!
            rights $pid {KILL}; kill -TERM $pid; for child in $(cat /proc/$pid/task/*/children); do kill -CONT $child; done; wait $pid
            chmod 555 "$XDG_STATE_HOME/pericore"
            "$P" stat -e cbo0/CLOCKTICKS/ & pid=$!
            rights $pid {DAC_OVERRIDE}; kill -TERM $pid; wait $pid; echo status $?
            "$P" stat -r 2 -e cbo0/CLOCKTICKS/ -- true; echo status $?"#
        ),
    );
    // One thread waits, the other is the socket's, to which nothing is left in any case.
    let threads = |capabilities: &str| {
        let of = |set: &str| match capabilities {
            NONE => format!(" 2 {set}: {NONE}\n"),
            other => format!(" 1 {set}: {NONE}\n 1 {set}: {other}\n"),
        };
        of("CapEff") + &of("CapPrm")
    };
    for (capabilities, after) in [(NONE, "status 143\n"), (KILL, ""), (DAC_OVERRIDE, "status 143\nstatus 0\n")] {
        let expected = threads(capabilities) + after;
        assert!(run.stdout.contains(&expected), "{expected}: {}{}", run.stdout, run.stderr);
    }
    let own = run.stdout.lines().find_map(|line| line.strip_prefix("own ")).expect("the shell says");
    assert!(run.stdout.contains(&format!("program {own}\n")) && !own.ends_with(NONE), "{}", run.stdout);
    assert!(!run.stderr.contains("given up"), "{}", run.stderr);
    assert!(left.is_empty(), "{left:?}");
    for control in [0xd10, 0xd11, 0xd14] {
        let writes = run.all(|access| msr(control)(access) && access.entry.kind != Kind::Read);
        let last = writes.last().map(|access| access.entry.kind);
        assert!(last.is_none_or(|kind| kind == Kind::Write(0)), "{control:#x} is put back: {last:?}");
    }
}
