//! Others in the way: who holds locks, and who puts back at the same time.

use pericore_doors::log::Kind;

use crate::live::rig::{Rig, msr};
use crate::live::script;

/// A session that was killed, with its journal.
const KILLED: &str = r#"
"$P" stat -e cbo0/CLOCKTICKS/ -o /dev/null & pid=$!
until ls "$XDG_STATE_HOME"/pericore/*.journal >/dev/null 2>&1; do sleep 0.01; done
kill_both $pid; wait $pid
"#;

/// One puts back, all others find nothing: neither fails, and the registers are written once.
#[test]
fn two_restores_at_once_agree() {
    let line = format!(
        r#"{KILLED}
        for n in 1 2 3 4 5 6; do {{ "$P" restore; echo status $?; }} >"$XDG_STATE_HOME.$n" 2>&1 & done; wait
        cat "$XDG_STATE_HOME".?; rm "$XDG_STATE_HOME".?"#
    );
    let (run, left) = script(&Rig::default(), &line);
    assert!(left.is_empty(), "{left:?}");
    let count = |words: &str| run.stdout.matches(words).count();
    assert_eq!(
        [count("registers and removed the journal"), count("status 0\n")],
        [1, 6],
        "{}{}",
        run.stdout,
        run.stderr
    );
    let kinds: Vec<Kind> = run.all(msr(0xd10)).into_iter().map(|access| access.entry.kind).collect();
    let zeros = |kinds: &[Kind]| kinds.iter().filter(|kind| **kind == Kind::Write(0)).count();
    match kinds.iter().rposition(|kind| matches!(kind, Kind::Write(value) if *value != 0)) {
        Some(counts) => assert_eq!(zeros(&kinds[counts..]), 1, "control 0 of CBo 0 is put back once"),
        // Killed before it counted: the session's first write changes nothing.
        None => assert!((1..=2).contains(&zeros(&kinds)), "control 0 of CBo 0 is put back once"),
    }
}

/// A copy of a journal outlives its session; a later session counts with the same registers, and keeps them.
#[test]
fn a_journal_from_before_does_not_undo_a_session_that_began_since() {
    let line = format!(
        r#"{KILLED}
        old="$XDG_STATE_HOME.old.journal"; cp "$XDG_STATE_HOME"/pericore/*.journal "$old"; "$P" restore
        "$P" stat -j -e cbo0/CLOCKTICKS/ & pid=$!
        until ls "$XDG_STATE_HOME"/pericore/*.journal >/dev/null 2>&1; do sleep 0.01; done; sleep 0.2
        "$P" restore --journal "$old"; echo status $?; kill -TERM $pid; wait $pid; rm "$old""#
    );
    let (run, left) = script(&Rig::default(), &line);
    assert!(left.is_empty(), "{left:?}");
    assert!(run.stdout.contains("status 255\n"), "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("has begun to count with these registers since"), "{}", run.stderr);
    assert!(
        run.stderr.contains(r#""validity":"measured""#) || run.stderr.contains("\"validity\" : \"measured\""),
        "{}",
        run.stderr
    );
}

/// Who may open the folder of the journals may lock it: that is nobody's lock. Nobody else can open our lock, or a journal.
#[test]
fn a_lock_on_the_folder_blocks_nobody() {
    let (run, left) = script(
        &Rig::default(),
        r#"umask 0; mkdir -p -m 755 "$XDG_STATE_HOME/pericore"; exec 9<"$XDG_STATE_HOME/pericore"; flock 9
        "$P" stat -e cbo0/CLOCKTICKS/ & pid=$!
        until ls "$XDG_STATE_HOME"/pericore/*.journal >/dev/null 2>&1; do sleep 0.01; done
        stat -c 'mode %a' "$XDG_STATE_HOME/pericore" "$XDG_STATE_HOME"/pericore/*.journal
        kill -TERM $pid; wait $pid; echo status $?"#,
    );
    assert!(run.stdout.contains("mode 700\nmode 600\n"), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("status 143\n") && left.is_empty(), "{}{}{left:?}", run.stdout, run.stderr);
}

/// A process that stands still in the middle of setting up: who waits says for whom, and gives up.
#[test]
fn waiting_has_a_limit_and_says_for_whom() {
    let (run, left) = script(
        &Rig::default(),
        r#"mkdir -p -m 700 "$XDG_STATE_HOME/pericore"; lock="$XDG_STATE_HOME/pericore/lock"; : >"$lock"; chmod 600 "$lock"
        sleep 1000 & holder=$!
        echo "$holder $(cut -d' ' -f22 /proc/$holder/stat)" >"$lock"; exec 9<>"$lock"; flock 9
        timeout 60 "$P" stat -e cbo0/CLOCKTICKS/ -- true; echo status $? holder $holder
        kill $holder; exec 9>&-; rm "$lock""#,
    );
    let holder = run.stdout.trim().rsplit(' ').next().expect("a number");
    assert!(run.stdout.contains("status 255 "), "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains(&format!("waiting for process {holder} to set up")), "{}", run.stderr);
    assert!(run.stderr.contains(&format!("process {holder} holds")) && left.is_empty(), "{}{left:?}", run.stderr);
}
