//! The user who called sudo. The measured program is this user's: it runs with this user's rights.

use std::ffi::{CStr, CString, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Most groups that a user can be in, as Linux has it (`NGROUPS_MAX`).
const MOST_GROUPS: usize = 65_536;

/// A user other than root, with the groups and the home folder of the system's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invoker {
    user: libc::uid_t,
    group: libc::gid_t,
    groups: Vec<libc::gid_t>,
    name: OsString,
    home: Option<OsString>,
}

impl Invoker {
    /// The user whom sudo names; none where we are not root, sudo was not called, or root called it.
    pub fn of_sudo() -> Option<Self> {
        // SAFETY: no memory is involved.
        let is_root = unsafe { libc::geteuid() } == 0;
        let number = |name: &str| std::env::var(name).ok()?.parse().ok();
        let (user, group) = (number("SUDO_UID")?, number("SUDO_GID")?);
        (is_root && user != 0).then(|| Self::of(user, group, std::env::var_os("SUDO_USER").unwrap_or_default()))
    }

    fn of(user: libc::uid_t, group: libc::gid_t, name: OsString) -> Self {
        let known = CString::new(name.clone().into_vec()).ok();
        let groups = known.as_deref().map_or_else(|| vec![group], |name| groups(name, group));
        Self { user, group, groups, home: home(user), name }
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
            let done = |status: libc::c_int| if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
            // SAFETY: the list is as long as it says, and the others involve no memory. Groups go first: a user may not
            // change them.
            unsafe {
                done(libc::setgroups(groups.len(), groups.as_ptr()))?;
                done(libc::setgid(group))?;
                done(libc::setuid(user))
            }
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

/// All groups of a user; the one given where the system has no record.
fn groups(name: &CStr, group: libc::gid_t) -> Vec<libc::gid_t> {
    let mut found = vec![group; 64];
    loop {
        let mut count = libc::c_int::try_from(found.len()).unwrap_or(libc::c_int::MAX);
        // SAFETY: the name ends with 0, and the list is as long as it says.
        let status = unsafe { libc::getgrouplist(name.as_ptr(), group, found.as_mut_ptr(), &raw mut count) };
        if status >= 0 {
            found.truncate(usize::try_from(count).unwrap_or(0));
            return found;
        }
        if found.len() >= MOST_GROUPS {
            return vec![group];
        }
        found.resize(found.len() * 4, group);
    }
}

/// The home folder of a user in the system's records.
fn home(user: libc::uid_t) -> Option<OsString> {
    let mut text = vec![0; 4096];
    // SAFETY: a structure of numbers and pointers, which the call fills in.
    let mut record: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: the text is as long as it says, and lives as long as what points into it.
    let status = unsafe { libc::getpwuid_r(user, &raw mut record, text.as_mut_ptr(), text.len(), &raw mut found) };
    if status != 0 || found.is_null() || record.pw_dir.is_null() {
        return None;
    }
    // SAFETY: the call has ended the text with 0.
    let home = unsafe { CStr::from_ptr(record.pw_dir) };
    Some(OsString::from_vec(home.to_bytes().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only root may become another user. 65534 is nobody on every Linux; the group 12345 has no name.
    #[test]
    fn a_command_runs_as_the_user_and_in_the_groups() {
        // SAFETY: no memory is involved.
        if unsafe { libc::geteuid() } != 0 {
            return;
        }
        let invoker = Invoker { groups: vec![12_345], ..Invoker::of(65_534, 65_534, "nobody".into()) };
        let mut command = Command::new("sh");
        command.args(["-c", "id -u; id -g; id -G; echo $USER; grep CapEff /proc/self/status"]);
        invoker.become_in(&mut command);
        let output = command.output().expect("sh runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(text, "65534\n65534\n65534 12345\nnobody\nCapEff:\t0000000000000000\n");
    }

    #[test]
    fn a_user_has_a_name_or_a_number() {
        let of = |name: &str| Invoker { user: 7, group: 7, groups: vec![7], name: name.into(), home: None };
        assert_eq!([of("ann").to_string(), of("").to_string()], ["ann", "user 7"]);
    }
}
