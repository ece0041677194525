//! `pericore stat` on machines whose platform is odd or denies something: the true reason and a status, no journal, and
//! the next run counts.

use crate::ours::{WITHOUT_SECOND_UNCORE, command};

/// Status, what was printed, and which journals are left, of a run on a live machine.
fn stat(machine: &str, events: &str, limit: &str) -> (i32, String) {
    let state = tempfile::tempdir().expect("a folder");
    let script = format!(
        "{limit} \"$P\" machine run --timeout 100 --machine {machine} -- sh -c '\
         \"$P\" stat -j -e {events} --timeout 30; status=$?; ls \"$XDG_STATE_HOME\"/pericore 2>/dev/null; \
         \"$P\" restore >&2 || exit 99; exit $status'"
    );
    let output = command("sh").args(["-c", &script]).env("XDG_STATE_HOME", state.path()).output().expect("sh starts");
    let left = String::from_utf8_lossy(&output.stdout).into_owned();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!left.contains(".journal"), "{machine}: {left}{printed}");
    assert!(printed.contains("no session left anything to restore"), "{machine}: {printed}");
    (output.status.code().unwrap_or(-1), printed)
}

fn counts(machine: &str, events: &str, limit: &str) {
    let (status, printed) = stat(machine, events, limit);
    let rows = printed.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let count = |row: &serde_json::Value| row["counter-value"].as_str().and_then(|count| count.parse::<f64>().ok());
    let counts: Vec<_> = rows.map(|row| count(&row)).collect();
    assert!(status == 0 && !counts.is_empty() && counts.iter().all(|count| *count > Some(0.0)), "{machine}: {printed}");
}

fn is_refused(machine: &str, events: &str, words: &[&str]) {
    let (status, printed) = stat(machine, events, "");
    assert!(status == 255 && words.iter().all(|word| printed.contains(word)), "{machine}: {status}, {printed}");
}

#[test]
fn thousands_of_functions_take_no_files() {
    counts("emerald-rapids:functions=2000", "cha0/CLOCKTICKS/,imc0/CLOCKTICKS/", "ulimit -n 1024;");
    counts("e5-2600:functions=2000", "imc/CLOCKTICKS/,qpi/CLOCKTICKS/", "ulimit -n 1024;");
}

#[test]
fn units_on_another_segment_count() {
    counts("e5-2600:segment=1", "imc/CLOCKTICKS/", "");
    counts("emerald-rapids:segment=1", "imc0/CLOCKTICKS/,m2m0/CLOCKTICKS/", "");
}

#[test]
fn what_is_denied_is_named_and_all_else_counts() {
    is_refused("emerald-rapids:denied=mem", "imc0/CLOCKTICKS/", &["CAP_SYS_RAWIO", "lockdown"]);
    counts("emerald-rapids:denied=mem", "cha0/CLOCKTICKS/", "");
    is_refused("e5-2600:denied=msr-write", "cbo0/CLOCKTICKS/", &["msr.allow_writes=off", "nothing was written"]);
    counts("e5-2600:denied=msr-write", "imc0/CLOCKTICKS/", "");
    is_refused("e5-2600:denied=pci", "imc0/CLOCKTICKS/", &["CAP_SYS_ADMIN"]);
    counts("e5-2600:denied=pci", "cbo0/CLOCKTICKS/", "");
}

/// Half of the machine is no machine of one socket.
#[test]
fn a_hidden_socket_is_named() {
    if crate::ours::live_sockets() > 1 {
        is_refused(WITHOUT_SECOND_UNCORE, "imc0/CLOCKTICKS/", &["socket 1", "nothing is counted"]);
    }
}
