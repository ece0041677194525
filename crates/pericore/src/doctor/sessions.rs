//! Other sessions of ours: those that count, and those that were killed and keep every later one from beginning.

use std::fmt::Display;

use pericore_observe::session::{Neighbour, Neighbourhood, Seen};

use super::finding::Finding;

/// Looks for the journals of all sessions on this machine.
pub fn examine(neighbourhood: &Result<Neighbourhood, impl Display>) -> Vec<Finding> {
    let seen = match neighbourhood {
        Ok(neighbourhood) => neighbourhood.look(),
        Err(error) => return vec![Finding::refused("sessions", error)],
    };
    let Seen { sessions, left_aside } = match seen {
        Ok(seen) => seen,
        Err(error) => return vec![Finding::refused("sessions", &error)],
    };
    let mut findings: Vec<Finding> = sessions.iter().map(session).collect();
    if findings.is_empty() {
        findings.push(Finding::good("sessions", "no other pericore counts here"));
    }
    findings.extend(left_aside.iter().map(|error| Finding::note("sessions", format!("left aside: {error}"))));
    findings
}

fn session(Neighbour { pid, path, runs, .. }: &Neighbour) -> Finding {
    if *runs {
        return Finding::note("sessions", format!("process {pid} of pericore is counting; what it uses is its own"));
    }
    Finding::bad(
        "sessions",
        format!("process {pid} of pericore was killed while it was counting, and left {}", path.display()),
        "put its registers back with `pericore restore`",
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pericore_observe::session::Journal;

    use super::*;

    fn words(neighbourhood: &Neighbourhood) -> Vec<String> {
        examine(&Ok::<_, String>(neighbourhood.clone())).iter().map(Finding::words).collect()
    }

    #[test]
    fn a_killed_session_is_a_problem_and_a_running_one_is_none() {
        let folder = std::env::temp_dir().join(format!("pericore-doctor-sessions-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let neighbourhood = Neighbourhood::new(&folder, "local", "boot");
        let alone = words(&neighbourhood);
        let place = neighbourhood.journal(0);
        let journal = Journal { pid: 4711, started: 0, boot: place.boot, machine: place.machine, saved: Vec::new() };
        let held = journal.write(&place.path).unwrap();
        let counting = words(&neighbourhood);
        drop(held);
        // A child that another test starts has the lock, too, until it is its program.
        let left = loop {
            let left = words(&neighbourhood);
            if left != counting {
                break left;
            }
            std::thread::yield_now();
        };
        fs::write(&place.path, "pericore journal 1\n").unwrap();
        let damaged = words(&neighbourhood);
        fs::write(&place.path, "no journal").unwrap();
        let garbage = words(&neighbourhood);
        fs::remove_dir_all(&folder).unwrap();
        assert!(alone[0].contains("no other pericore"), "{alone:?}");
        assert!(counting[0].contains("4711") && !counting[0].contains("restore"), "{counting:?}");
        assert!(left[0].contains("4711") && left[0].contains("pericore restore"), "{left:?}");
        assert!(damaged[0].contains("0.journal") && damaged[0].contains("remove the file"), "{damaged:?}");
        assert!(
            garbage[0].contains("no other pericore") && garbage[1].contains("0.journal is no journal"),
            "{garbage:?}"
        );
        let nowhere = examine(&Err::<Neighbourhood, _>("no folder; set XDG_STATE_HOME"));
        assert!(nowhere[0].is_problem() && nowhere[0].words().contains("XDG_STATE_HOME"));
    }
}
