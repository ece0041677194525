//! The folder of journals: what other processes have left there, and what they hold at the moment.

use std::fs::{self, File};

use super::files::text_of;
use super::*;
use crate::process;

fn journal(pid: u32, started: u64) -> Journal {
    Journal { pid, started, boot: "boot".to_owned(), machine: "local".to_owned(), saved: Vec::new() }
}

/// Nobody has made the folder: nobody is there. What cannot be looked into is an error, not an empty folder.
#[test]
fn where_no_session_has_been_nobody_is() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(journals_in(&directory.path().join("journals")).others(), Ok(vec![]));
    File::create(directory.path().join("journals")).unwrap();
    let refused = journals_in(&directory.path().join("journals")).others().unwrap_err();
    assert!(matches!(refused, JournalError::Directory { .. }), "{refused}");
}

/// A session that waits for the lock gets the name of the process once; it is this one here.
#[test]
fn a_waiting_session_learns_which_process_has_the_lock() {
    let directory = tempfile::tempdir().unwrap();
    let (sessions, mut names) = (journals_in(&directory.path().join("journals")), Vec::new());
    let entrance = sessions.enter().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| sessions.enter_telling(|holder| sender.send(holder.to_owned()).unwrap()));
        names.extend(receiver.recv());
        drop(entrance);
        waiting.join().unwrap().unwrap();
        names.extend(receiver.try_recv());
    });
    assert_eq!(names, [format!("process {}", std::process::id())]);
}

/// A process that no longer runs has left a part of a journal, and so has one that does: this one.
#[test]
fn what_a_killed_process_was_writing_is_swept_away() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = journals_in(&directory.path().join("journals"));
    drop(sessions.enter().unwrap());
    let folder = directory.path().join("journals");
    let (own, started) = (process::id(), process::start_time(process::id()).unwrap());
    let parts = [
        format!(".a.journal.{own}-{}.part", started + 1),
        format!(".b.journal.{own}-{started}.part"),
        format!("c.journal.{own}-{}.part", started + 1),
        ".d.journal.part".to_owned(),
    ];
    parts.iter().for_each(|part| drop(File::create(folder.join(part)).unwrap()));
    drop(journal(own, started).write(&folder.join("own.journal")).unwrap());
    let left = parts.iter().map(|part| folder.join(part).exists());
    assert_eq!(left.collect::<Vec<_>>(), [false, true, true, true]);
}

/// The journal of a killed session is one process's to put back. Who comes second looks for a second, and says so.
#[test]
fn a_left_journal_has_one_taker_and_goes_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("left.journal");
    drop(journal(process::id(), process::start_time(process::id()).unwrap() + 1).write(&path).unwrap());
    let taken = Left::open(&path).unwrap().expect("its session has ended");
    assert!(matches!(Left::open(&path), Err(JournalError::Restored { .. })));
    taken.remove().unwrap();
    assert!(!path.exists());
    assert!(Left::open(&path).unwrap().is_none());
}

/// 16 MiB are more than any journal has. A file of that size is read whole, one byte more is refused.
#[test]
fn a_journal_that_grows_while_it_is_read_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("grown.journal");
    for (bytes, is_read) in [(16 << 20, true), ((16 << 20) + 1, false)] {
        let file = File::create(&path).unwrap();
        file.set_len(bytes).unwrap();
        let text = text_of(&File::open(&path).unwrap(), &path);
        assert_eq!(text.is_ok_and(|text| text.len() as u64 == bytes), is_read, "{bytes}");
    }
    fs::remove_file(&path).unwrap();
}

/// A session disturbs the registers of a journal if it runs and has overwritten one of them, through whichever CPU.
#[test]
fn only_a_running_session_on_the_same_registers_disturbs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("left.journal");
    let saved = |cpu, msr| Saved {
        socket: 0,
        instance: "cbo0".to_owned(),
        register: "ctl0".to_owned(),
        address: Address::Msr { cpu, msr },
        width: Width::B8,
        value: 0,
        written: Vec::new(),
    };
    let of = |saved: Saved| Journal { saved: vec![saved], ..journal(1, 1) };
    drop(of(saved(0, 0xd10)).write(&path).unwrap());
    let left = Left::open(&path).unwrap().expect("its session has ended");
    let sessions = journals_in(directory.path());
    for (msr, disturbs) in [(0xd10, true), (0xd11, false)] {
        let other = directory.path().join("other.journal");
        let running = of(saved(1, msr)).write(&other).unwrap();
        assert_eq!(left.disturbs(&sessions.others().unwrap()).is_some(), disturbs, "{msr:#x}");
        drop(running);
        let ended = sessions.others().unwrap();
        assert_eq!((ended.len(), left.disturbs(&ended)), (2, None));
        fs::remove_file(&other).unwrap();
    }
}

/// A link in the folder's place leads to a folder that is no session's: its mode stays.
#[test]
fn a_link_in_the_place_of_the_folder_is_not_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let directory = tempfile::tempdir().unwrap();
    let (elsewhere, link) = (directory.path().join("elsewhere"), directory.path().join("journals"));
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o755)).unwrap();
    symlink(&elsewhere, &link).unwrap();
    assert!(journals_in(&link).enter().is_err());
    assert_eq!(fs::metadata(&elsewhere).unwrap().permissions().mode() & 0o777, 0o755);
}

/// Where no folder is there is no journal, and where no file is neither. What is there must be a file of this user or
/// root that nobody else writes, and no link to one.
#[test]
fn only_a_file_that_nobody_else_writes_is_a_journal() {
    use super::super::files::open_journal;
    use std::os::unix::fs::{PermissionsExt, symlink};

    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let outcome = |path: &Path| match open_journal(path) {
        Ok(found) => Ok(found.is_some()),
        Err(JournalError::Unsafe { why, .. }) => Err(why),
        Err(JournalError::Io { .. }) => Err("system".to_owned()),
        Err(other) => panic!("{other}"),
    };
    let put = |name: &str, mode: u32| {
        fs::write(at(name), "x").unwrap();
        fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
        at(name)
    };
    assert_eq!(outcome(&at("missing/a.journal")), Ok(false));
    assert_eq!(outcome(&at("a.journal")), Ok(false));
    for mode in [0o600, 0o644, 0o400] {
        assert_eq!(outcome(&put("a.journal", mode)), Ok(true), "{mode:o}");
    }
    for mode in [0o660, 0o602, 0o666] {
        assert_eq!(outcome(&put("a.journal", mode)), Err(format!("others can write it (mode {mode:o})")));
    }
    put("a.journal", 0o600);
    symlink(at("a.journal"), at("link.journal")).unwrap();
    assert_eq!(outcome(&at("link.journal")), Err("it is a symbolic link".to_owned()));
    fs::create_dir(at("folder.journal")).unwrap();
    assert_eq!(outcome(&at("folder.journal")), Err("it is no regular file".to_owned()));
    assert_eq!(outcome(&at("a.journal/b.journal")), Err("system".to_owned()), "a file is no folder");
    assert_eq!(outcome(&at("a.journal").join("..")), Err("system".to_owned()), "no name");
    // One byte more than any journal has.
    let large = File::create(at("large.journal")).unwrap();
    for (bytes, expected) in [(16 << 20, Ok(true)), ((16 << 20) + 1, Err(()))] {
        large.set_len(bytes).unwrap();
        assert_eq!(outcome(&at("large.journal")).map_err(|why| assert!(why.contains("16777217 bytes"))), expected);
    }
    // The folder's own mode: others may make files in it, but if it is sticky, not remove ours.
    for (mode, is_refused) in [(0o755, false), (0o777, true), (0o775, true), (0o1777, false)] {
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(outcome(&at("a.journal")).is_err(), is_refused, "{mode:o}");
    }
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
}
