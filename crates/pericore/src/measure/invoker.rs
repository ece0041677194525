//! The user who called sudo. The measured program is this user's: it runs with this user's rights.

use std::ffi::{CString, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::unistd::{Gid, Uid, User, geteuid, getgrouplist, setgid, setgroups, setuid};

/// A user other than root, with the groups and the home folder of the system's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invoker {
    user: Uid,
    group: Gid,
    groups: Vec<Gid>,
    name: OsString,
    home: Option<OsString>,
}

impl Invoker {
    /// The user whom sudo names; none where we are not root, sudo was not called, or root called it.
    pub fn of_sudo() -> Option<Self> {
        let number = |name: &str| std::env::var(name).ok()?.parse().ok();
        let (user, group) = (Uid::from_raw(number("SUDO_UID")?), Gid::from_raw(number("SUDO_GID")?));
        let name = std::env::var_os("SUDO_USER").unwrap_or_default();
        (geteuid().is_root() && !user.is_root()).then(|| Self::of(user, group, name))
    }

    /// A user with all groups that the system's records give, and only `group` where they give none.
    fn of(user: Uid, group: Gid, name: OsString) -> Self {
        let groups = CString::new(name.as_bytes()).ok().and_then(|name| getgrouplist(&name, group).ok());
        let home = User::from_uid(user).ok().flatten().map(|record| record.dir.into_os_string());
        Self { user, group, groups: groups.unwrap_or_else(|| vec![group]), home, name }
    }

    /// Has a command run as this user.
    pub fn become_in(&self, command: &mut Command) {
        for variable in ["USER", "LOGNAME"].iter().filter(|_| !self.name.is_empty()) {
            command.env(variable, &self.name);
        }
        if let Some(home) = &self.home {
            command.env("HOME", home);
        }
        let Self { user, group, groups, .. } = self.clone();
        let change = move || {
            // Groups go first: a user may not change them.
            setgroups(&groups)?;
            setgid(group)?;
            Ok(setuid(user)?)
        };
        // SAFETY: system calls only, and nothing is allocated between fork and exec.
        unsafe { command.pre_exec(change) };
    }
}

impl fmt::Display for Invoker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.is_empty() {
            true => write!(f, "user {}", self.user),
            false => write!(f, "{}", self.name.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only root may become another user. 65534 is nobody on every Linux; the group 12345 has no name.
    #[test]
    fn a_command_runs_as_the_user_and_in_the_groups() {
        if !geteuid().is_root() {
            eprintln!("SKIPPED: a command that runs as another user, which takes root");
            return;
        }
        let nobody = Invoker::of(Uid::from_raw(65_534), Gid::from_raw(65_534), "nobody".into());
        let invoker = Invoker { groups: vec![Gid::from_raw(12_345)], ..nobody };
        let mut command = Command::new("sh");
        command.args(["-c", "id -u; id -g; id -G; echo $USER; grep CapEff /proc/self/status"]);
        invoker.become_in(&mut command);
        let output = command.output().expect("sh runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(text, "65534\n65534\n65534 12345\nnobody\nCapEff:\t0000000000000000\n");
    }

    #[test]
    fn a_user_has_a_name_or_a_number() {
        let of = |name: &str| Invoker {
            user: Uid::from_raw(7),
            group: Gid::from_raw(7),
            groups: Vec::new(),
            name: name.into(),
            home: None,
        };
        assert_eq!([of("ann").to_string(), of("").to_string()], ["ann", "user 7"]);
    }
}
