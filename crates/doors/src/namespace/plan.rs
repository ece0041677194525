//! Which mounts make the private view, as a list of steps.
//!
//! A path that the host has is mounted over. A path that it lacks needs a folder in which a name can be made without
//! the host seeing it: the nearest folder that exists is shadowed by a new one with the same entries, bound one by one.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::DoorsError;

/// Folders that may serve as a workbench while mounting; the first that exists is used and shows again afterwards.
const WORKBENCHES: [&str; 3] = ["/proc/fs/nfsd", "/proc/driver", "/mnt"];

/// One step. Strings are ready for system calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Makes later mounts invisible outside.
    Seclude,
    /// Mounts a new file system of a type.
    New {
        /// Type.
        kind: CString,
        /// Where.
        at: CString,
        /// True if the run can do without.
        optional: bool,
    },
    /// Makes a folder.
    Folder(CString),
    /// Makes an empty file.
    File(CString),
    /// Makes a symbolic link.
    Link {
        /// What it says.
        target: CString,
        /// Where.
        at: CString,
    },
    /// Opens the FUSE device, mounts it and hands it to the server.
    Fuse {
        /// Where.
        at: CString,
    },
    /// Shows a file or folder at another place too.
    Bind {
        /// What.
        from: CString,
        /// Where.
        at: CString,
    },
    /// Takes a mount away; what was bound from it stays.
    Detach(CString),
}

impl Step {
    /// What the step does, for error messages.
    pub fn describe(&self) -> String {
        let text = |path: &CString| path.to_string_lossy().into_owned();
        match self {
            Self::Seclude => "make mounts private".into(),
            Self::New { kind, at, .. } => format!("mount {} on {}", text(kind), text(at)),
            Self::Folder(at) => format!("make the folder {}", text(at)),
            Self::File(at) => format!("make the file {}", text(at)),
            Self::Link { at, .. } => format!("make the link {}", text(at)),
            Self::Fuse { at } => format!("mount the FUSE files on {}", text(at)),
            Self::Bind { at, .. } => format!("bind {}", text(at)),
            Self::Detach(at) => format!("unmount {}", text(at)),
        }
    }
}

/// The steps in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// What to do.
    pub steps: Vec<Step>,
}

/// Plans a view in which each of `doors` shows the FUSE file of the same path.
///
/// # Errors
/// [`DoorsError::Unreadable`] if a folder to shadow cannot be listed.
pub fn plan(doors: &[String]) -> Result<Plan, DoorsError> {
    let bench = WORKBENCHES.iter().copied().map(Path::new).find(|path| path.is_dir()).unwrap_or(Path::new("/tmp"));
    let (files, shadows) = (bench.join("fuse"), bench.join("shadows"));
    let mut plan = Plan::default();
    plan.steps.push(Step::Seclude);
    plan.steps.push(Step::New { kind: c"proc".into(), at: c"/proc".into(), optional: true });
    plan.steps.push(Step::New { kind: c"tmpfs".into(), at: text(bench), optional: false });
    plan.steps.push(Step::Folder(text(&files)));
    plan.steps.push(Step::Folder(text(&shadows)));
    plan.steps.push(Step::Fuse { at: text(&files) });
    plan.shadow(doors, &files, &shadows)?;
    for door in doors {
        plan.steps.push(Step::Bind { from: text(&inside(&files, door)), at: text(Path::new(door)) });
    }
    // Tools leave semaphores and shared memory behind.
    plan.steps.push(Step::New { kind: c"tmpfs".into(), at: c"/dev/shm".into(), optional: true });
    plan.steps.push(Step::Detach(text(bench)));
    Ok(plan)
}

impl Plan {
    /// Makes the doors' names where the host lacks them.
    fn shadow(&mut self, doors: &[String], files: &Path, shadows: &Path) -> Result<(), DoorsError> {
        let missing: Vec<&Path> = doors.iter().map(Path::new).filter(|door| !door.exists()).collect();
        let hosts: BTreeSet<PathBuf> = missing.iter().filter_map(|door| nearest(door)).collect();
        for (index, host) in hosts.iter().enumerate() {
            let shadow = shadows.join(index.to_string());
            self.steps.push(Step::Folder(text(&shadow)));
            self.copy_entries(host, &shadow)?;
            let mut made = BTreeSet::new();
            for door in missing.iter().filter(|door| nearest(door).as_ref() == Some(host)) {
                let Ok(rest) = door.strip_prefix(host) else { continue };
                let mut at = shadow.clone();
                let names: Vec<_> = rest.iter().collect();
                for (depth, name) in names.iter().enumerate() {
                    at.push(name);
                    let is_folder = depth + 1 < names.len() || is_folder_door(door);
                    if made.insert(at.clone()) {
                        self.steps.push(if is_folder { Step::Folder(text(&at)) } else { Step::File(text(&at)) });
                    }
                }
            }
            self.steps.push(Step::Bind { from: text(&shadow), at: text(host) });
        }
        debug_assert!(files.is_absolute());
        Ok(())
    }

    /// Shows every entry of a folder in another.
    fn copy_entries(&mut self, from: &Path, to: &Path) -> Result<(), DoorsError> {
        let unreadable = |source| DoorsError::Unreadable { path: from.to_owned(), source };
        for entry in fs::read_dir(from).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let (source, at) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type().map_err(unreadable)?;
            if kind.is_symlink() {
                // A link that vanished meanwhile is no loss.
                let Ok(target) = fs::read_link(&source) else { continue };
                self.steps.push(Step::Link { target: text(&target), at: text(&at) });
                continue;
            }
            self.steps.push(if kind.is_dir() { Step::Folder(text(&at)) } else { Step::File(text(&at)) });
            self.steps.push(Step::Bind { from: text(&source), at: text(&at) });
        }
        Ok(())
    }
}

/// The nearest folder above a path that exists.
fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|ancestor| ancestor.is_dir()).map(Path::to_owned)
}

/// Doors that are folders; the others are files.
fn is_folder_door(path: &Path) -> bool {
    ["/dev/cpu", "/proc/bus/pci", "/sys/bus/pci/devices"].iter().any(|folder| path == Path::new(folder))
}

/// An absolute path below another folder.
fn inside(folder: &Path, path: &str) -> PathBuf {
    folder.join(path.trim_start_matches('/'))
}

fn text(path: &Path) -> CString {
    // Paths come from the kernel or from constants: no zero bytes.
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binds(plan: &Plan) -> Vec<String> {
        let binds = plan.steps.iter().filter_map(|step| match step {
            Step::Bind { at, .. } => Some(at.to_string_lossy().into_owned()),
            _ => None,
        });
        binds.collect()
    }

    #[test]
    fn an_existing_path_is_mounted_over_and_nothing_is_shadowed() {
        let plan = plan(&["/proc/bus".to_owned()]).unwrap();
        assert_eq!(binds(&plan), ["/proc/bus"]);
        assert!(matches!(plan.steps.last(), Some(Step::Detach(_))));
    }

    #[test]
    fn a_missing_path_shadows_the_nearest_folder_with_all_its_entries() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        fs::create_dir(folder.join("kept")).unwrap();
        fs::write(folder.join("file"), "").unwrap();
        std::os::unix::fs::symlink("kept", folder.join("link")).unwrap();
        let door = folder.join("a/b").to_string_lossy().into_owned();
        let plan = plan(std::slice::from_ref(&door)).unwrap();
        let steps: Vec<String> = plan.steps.iter().map(Step::describe).collect();
        let has = |end: &str| steps.iter().any(|step| step.ends_with(end));
        assert!(has("shadows/0/kept") && has("shadows/0/file") && has("shadows/0/link"), "{steps:?}");
        assert!(has("make the folder /proc/fs/nfsd/shadows/0/a") || has("shadows/0/a"), "{steps:?}");
        assert!(has("shadows/0/a/b"), "{steps:?}");
        let made: Vec<&String> =
            steps.iter().filter(|step| step.starts_with("make") && step.contains("/shadows/0/a")).collect();
        assert!(made[0].starts_with("make the folder") && made[1].starts_with("make the file"), "{made:?}");
        assert_eq!(binds(&plan).last(), Some(&door));
    }
}
