//! Files that are created: for whom, and what becomes of unfinished ones.

use super::inputs::shell;

/// Each kind of file that has what somebody measured, with a umask that takes nothing away: its owner alone may read
/// and write it (mode 0600).
#[test]
fn files_of_measurements_are_their_owners_alone() {
    let (output, text) = shell(
        r#"umask 0; mkdir files; cd files
        "$P" stat --machine e5-2600 -e imc/CAS_COUNT.RD/ --save-trace trace -- true &&
        "$P" record --machine e5-2600 --workload random:requests=1000 -e imc/CAS_COUNT.RD/ -o lines.rec &&
        "$P" record --machine e5-2600 --workload random:requests=1000 -e imc/CAS_COUNT.RD/ -o table.parquet &&
        "$P" machine dump --machine e5-2600 -o snapshot &&
        "$P" machine poke --machine e5-2600 cbo0/ctl0=0x334 -o poked &&
        "$P" machine run --machine e5-2600 --log log -- true &&
        "$P" doctor --machine e5-2600 --bundle bundle >/dev/null &&
        { for file in *; do stat -c 'mode %a %n' "$file"; done; }"#,
    );
    assert!(output.status.success(), "{text}");
    let modes: Vec<&str> = text.lines().filter(|line| line.starts_with("mode ")).collect();
    let all = ["bundle", "lines.rec", "log", "poked", "snapshot", "table.parquet", "trace"];
    assert_eq!(modes, all.map(|name| format!("mode 600 {name}")), "{text}");
}

/// A program's trace that is being written, SIGKILL, and the next trace in that folder: the first one is there as far
/// as it goes, and of neither is there a part.
#[test]
fn a_killed_trace_leaves_what_it_has_and_no_part() {
    let (output, text) = shell(
        r#"mkdir files; cd files; echo before >trace
        "$P" stat --machine e5-2600 -e imc/CAS_COUNT.RD/ --save-trace trace -- \
            sh -c 'echo $PPID >../pid; while :; do :; done' &
        tries=0; until [ -s ../pid ] || [ $tries -gt 3000 ]; do sleep 0.01; tries=$((tries + 1)); done
        kill -9 $!; wait $!
        "$P" stat --machine e5-2600 -e imc/CAS_COUNT.RD/ --save-trace other -- true || exit
        ls -A | tr '\n' ' '; cat trace.old"#,
    );
    assert!(output.status.success(), "{text}");
    assert!(text.contains("other trace trace.old before\n"), "{text}");
}
