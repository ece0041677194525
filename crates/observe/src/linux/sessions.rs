//! Where the sessions of this machine's users know of each other, and what their journals call the machine: the same
//! for every program that
//! counts here, so that each sees the others and `pericore restore` finds what they leave.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::process;
use crate::session::{MeetingPlace, OtherSessions};

/// What journals call the machine that this runs on.
pub const LOCAL: &str = "local";

/// Names another folder than the usual one in which sessions of all users know of each other.
const MEETING: &str = "PERICORE_RUN";

/// The usual one.
const USUAL_MEETING: &str = "/run/pericore";

/// Names the software machine to the programs that `pericore machine run` and `machine boot` start.
pub const EMULATED: &str = "PERICORE_EMULATED";

/// The software machine whose registers are in the place of this machine's, if there is one.
pub fn emulated() -> Option<String> {
    std::env::var(EMULATED).ok().filter(|name| !name.is_empty())
}

/// What journals call the machine that this runs on. A live software machine has its own name: what it held must
/// never be written to a Xeon.
pub fn this_machine() -> String {
    emulated().unwrap_or_else(|| LOCAL.to_owned())
}

/// Tells this boot from others.
///
/// # Errors
/// The system's, with the file.
pub fn boot() -> io::Result<String> {
    const SOURCE: &str = "/proc/sys/kernel/random/boot_id";
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{SOURCE}: {error}"));
    Ok(fs::read_to_string(SOURCE).map_err(named)?.trim().to_owned())
}

/// Where journals are kept, by the XDG base directory rules; none without a home. By the rules a path that is not
/// absolute counts as none.
pub fn state_directory() -> Option<PathBuf> {
    let of = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = of("XDG_STATE_HOME").or_else(|| Some(of("HOME")?.join(".local/state")))?;
    Some(base.join("pericore"))
}

/// Where sessions of all users know of each other. A software machine is its user's own, unless a place is named.
pub fn meeting_place() -> Option<MeetingPlace> {
    let named = std::env::var_os(MEETING).map(PathBuf::from).filter(|path| path.is_absolute());
    let usual = || emulated().is_none().then(|| PathBuf::from(USUAL_MEETING));
    named.or_else(usual).map(MeetingPlace::at)
}

/// The sessions that keep their journals in `directory`, on this machine and in this boot.
///
/// # Errors
/// As [`boot`].
pub fn other_sessions(directory: PathBuf) -> io::Result<OtherSessions> {
    let sessions = OtherSessions::new(directory, this_machine(), boot()?);
    Ok(match meeting_place() {
        Some(place) => sessions.meeting_at(place),
        None => sessions,
    })
}

/// Where this process keeps the journal of a session. The name is the process's own; who it is, the journal says.
pub fn journal_of_this_process(directory: &Path, number: u32) -> PathBuf {
    let pid = process::id();
    let started = process::start_time(pid).unwrap_or(0);
    let several = if number == 0 { String::new() } else { format!("-{number}") };
    directory.join(format!("{LOCAL}-{pid}-{started}{several}.journal"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{EMULATED, this_machine};

    #[test]
    #[ignore = "runs as the child of the test below"]
    fn the_child() {
        println!("<{}>", this_machine());
    }

    /// The variable that `machine run` sets names the software machine; without it, and where it is empty, registers
    /// are this machine's.
    #[test]
    fn a_journal_is_about_this_machine_unless_a_software_machine_is_in_its_place() {
        for (variable, expected) in [(None, "<local>"), (Some(""), "<local>"), (Some("e5-2600"), "<e5-2600>")] {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "linux::sessions::tests::the_child", "--ignored", "--nocapture"]);
            match variable {
                Some(name) => child.env(EMULATED, name),
                None => child.env_remove(EMULATED),
            };
            let output = child.output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success() && printed.contains(expected), "{variable:?}: {printed}");
        }
    }

    /// The name has the process and its start, and a number where there are several.
    #[test]
    fn a_journal_is_named_after_its_process() {
        use super::{LOCAL, journal_of_this_process};
        use crate::process;
        let pid = std::process::id();
        let started = process::start_time(pid).unwrap();
        let folder = std::path::Path::new("/state");
        assert_eq!(journal_of_this_process(folder, 0), folder.join(format!("{LOCAL}-{pid}-{started}.journal")));
        assert_eq!(journal_of_this_process(folder, 2), folder.join(format!("{LOCAL}-{pid}-{started}-2.journal")));
    }
}
