//! Two users on one machine, each with a folder for journals of its own: their sessions know of each other.

use pericore_doors::Outcome;

use super::rig::Rig;
use super::script;

/// The first user counts in all channels, and the second comes, waits, and is there when the first one is killed.
const SCRIPT: &str = r#"
first() { "$P" "$@"; }
second() { XDG_STATE_HOME="$XDG_STATE_HOME.second" "$P" "$@"; }
until_note() { until ls "$PERICORE_RUN"/*.note >/dev/null 2>&1; do kill -0 $1 || exit 9; sleep 0.01; done; }
begin() { "$P" stat -e imc/CAS_COUNT.RD/ -- sleep 1000 >/dev/null 2>&1 & pid=$!; until_note $pid; }
begin
second stat -j -e imc/ACT_COUNT/ -- true 2>&1; echo "refused $?"
second stat -j -e cbo0/CLOCKTICKS/ -- true 2>&1; echo "elsewhere $?"
second doctor 2>&1 | grep "of user"
second stat --wait -j -e imc0/CLOCKTICKS/ -- true 2>&1 & waiting=$!
sleep 0.3; kill -TERM $pid; wait $pid; wait $waiting; echo "waited $?"
begin; kill_both $pid; wait $pid
second stat -j -e imc/ACT_COUNT/ -- true 2>&1; echo "left $?"
second restore; echo "not its own $?"
first restore >/dev/null; echo "restored $?"
second stat -j -e imc0/CLOCKTICKS/ -- true 2>&1; echo "free $?"
ls -A "$PERICORE_RUN"; ls "$XDG_STATE_HOME.second/pericore"; rm -r "$XDG_STATE_HOME.second"
"#;

#[test]
fn sessions_of_two_users_know_of_each_other() {
    let (run, left) = script(&Rig::default(), SCRIPT);
    assert_eq!(run.outcome, Outcome::Exited(0), "{}\n{}", run.stdout, run.stderr);
    assert!(left.is_empty(), "{left:?}");
    let printed = |end: &str| -> &str {
        let (before, _) = run.stdout.split_once(end).unwrap_or_else(|| panic!("{end}\n{}\n{}", run.stdout, run.stderr));
        before.rsplit_once("\n@").map_or(before, |(_, last)| last)
    };
    let refused = printed("refused 255");
    assert!(
        refused.contains("pericore is counting there already, in process") && refused.contains("--wait"),
        "{refused}"
    );
    let elsewhere = printed("elsewhere 0");
    assert!(elsewhere.contains(r#""event":"cbo0/CLOCKTICKS/""#), "units that the first leaves alone: {elsewhere}");
    assert!(printed("waited 0").contains(" of user "), "doctor names the user: {}", run.stdout);
    assert!(printed("waited 0").contains("waiting for process"), "{}", run.stdout);
    let killed = printed("left 255");
    assert!(killed.contains("was killed while it was counting here; that user puts its registers back"), "{killed}");
    assert!(printed("not its own 0").contains("that user puts its registers back"), "{}", run.stdout);
    assert!(
        printed("restored 0").len() < printed("free 0").len() && run.stdout.trim_end().ends_with("free 0"),
        "{}",
        run.stdout
    );
}
