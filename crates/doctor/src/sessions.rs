//! Other sessions of ours: those that count, and those that were killed and keep every later one from beginning.

use std::fmt::Display;

use std::path::Path;

use pericore_observe::session::{OtherSessions, Seen};

use crate::finding::Finding;

/// Looks for the journals of all sessions on this machine.
pub fn examine(other_sessions: &Result<OtherSessions, impl Display>) -> Vec<Finding> {
    let seen = match other_sessions {
        Ok(other_sessions) => other_sessions.look(),
        Err(error) => return vec![Finding::refused("sessions", error)],
    };
    let Seen { sessions, left_aside } = match seen {
        Ok(seen) => seen,
        Err(error) => return vec![Finding::refused("sessions", &error)],
    };
    let mut findings: Vec<Finding> =
        sessions.iter().map(|one| session(one.pid, &one.path, one.runs, one.user)).collect();
    if findings.is_empty() {
        findings.push(Finding::good("sessions", "no other pericore session is running"));
    }
    findings.extend(left_aside.iter().map(|error| Finding::note("sessions", format!("left aside: {error}"))));
    findings
}

fn session(pid: u32, path: &Path, is_running: bool, user: Option<u32>) -> Finding {
    let whose = user.map_or_else(String::new, |user| format!(" of user {user}"));
    if is_running {
        let text = format!("pericore process {pid}{whose} is counting; its counters are in use");
        return Finding::note("sessions", text);
    }
    Finding::bad(
        "sessions",
        format!("pericore process {pid}{whose} was killed while counting and left {}", path.display()),
        match user {
            None => "restore its registers with `pericore restore`",
            Some(_) => "restore its registers with `pericore restore` as that user",
        },
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pericore_observe::session::Journal;

    use super::*;

    fn words(other_sessions: &OtherSessions) -> Vec<String> {
        examine(&Ok::<_, String>(other_sessions.clone())).iter().map(Finding::words).collect()
    }

    #[test]
    fn a_killed_session_is_a_problem_and_a_running_one_is_none() {
        let folder = std::env::temp_dir().join(format!("pericore-doctor-sessions-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let other_sessions = OtherSessions::new(&folder, "local", "boot");
        let alone = words(&other_sessions);
        let place = other_sessions.journal(0);
        let journal = Journal { pid: 4711, started: 0, boot: place.boot, machine: place.machine, saved: Vec::new() };
        let held = journal.write(&place.path).unwrap();
        let counting = words(&other_sessions);
        drop(held);
        // A child that another test starts has the lock, too, until it is its program.
        let left = loop {
            let left = words(&other_sessions);
            if left != counting {
                break left;
            }
            std::thread::yield_now();
        };
        fs::write(&place.path, "pericore journal 1\n").unwrap();
        let damaged = words(&other_sessions);
        fs::write(&place.path, "no journal").unwrap();
        let garbage = words(&other_sessions);
        fs::remove_dir_all(&folder).unwrap();
        assert!(alone[0].contains("no other pericore"), "{alone:?}");
        assert!(counting[0].contains("4711") && !counting[0].contains("restore"), "{counting:?}");
        assert!(left[0].contains("4711") && left[0].contains("pericore restore"), "{left:?}");
        assert!(damaged[0].contains("0.journal") && damaged[0].contains("remove the file"), "{damaged:?}");
        assert!(
            garbage[0].contains("no other pericore") && garbage[1].contains("0.journal is no journal"),
            "{garbage:?}"
        );
        let nowhere = examine(&Err::<OtherSessions, _>("no folder; set XDG_STATE_HOME"));
        assert!(nowhere[0].is_problem() && nowhere[0].words().contains("XDG_STATE_HOME"));
    }
}
