//! Sessions of several users: folders of their own for journals, and one place where they know of each other.

use super::*;
use crate::process;
use std::fs::{self, DirBuilder, File, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, symlink};

/// No process has the highest number: Linux counts to 4194304 at most.
const NOBODY: u32 = u32::MAX;

/// What a user's sessions know, with journals in a folder of the user's own.
fn user(folder: &Path, name: &str) -> OtherSessions {
    OtherSessions::new(folder.join(name), "local", "boot").meeting_at(MeetingPlace::at(folder.join("run")))
}

fn journal(pid: u32, started: u64, machine: &str) -> Journal {
    Journal { pid, started, boot: "boot".to_owned(), machine: machine.to_owned(), saved: Vec::new() }
}

/// Puts a text where notes are.
fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join("run").join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("run")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The journal lies where only its user looks; the other user sees the session all the same, and what it uses.
#[test]
fn a_session_of_another_user_is_seen_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (user(folder.path(), "one"), user(folder.path(), "other"));
    let entrance = one.enter().unwrap();
    assert!(entrance.is_among_all());
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo3/CLOCKTICKS/");
    let options = Options { journal: Some(one.journal(0)), other_sessions: Some(one.clone()), ..Options::default() };
    let session = Session::start(space, plan, options, at(1.0)).unwrap();
    drop(entrance);
    let [seen] = &other.others().unwrap()[..] else { panic!("one session") };
    assert_eq!((seen.pid, seen.runs), (process::id(), true));
    assert_eq!(seen.user, Some(fs::metadata(folder.path()).unwrap().uid()));
    let names: Vec<&str> = seen.journal.saved.iter().map(|saved| saved.instance.as_str()).collect();
    assert!(!names.is_empty() && names.iter().all(|name| *name == "cbo3"), "{names:?}");
    assert_eq!(seen.has_ended(), Ok(false));
    // Its own user knows it once, by its journal.
    let [own] = &one.others().unwrap()[..] else { panic!("one session") };
    assert_eq!((own.runs, own.user), (true, None));
    session.stop().unwrap();
    assert_eq!((seen.has_ended(), seen.wait()), (Ok(true), Ok(())));
    assert_eq!((other.others(), one.others()), (Ok(vec![]), Ok(vec![])));
    assert_eq!(entries(folder.path()), [""; 0]);
}

/// Users set up and put back one at a time, as sessions of one user do.
#[test]
fn users_enter_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (user(folder.path(), "one"), user(folder.path(), "other"));
    let entrance = one.enter().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.enter_telling(|holder| sender.send(holder.to_owned()).unwrap()));
        assert_eq!(receiver.recv(), Ok(format!("process {}", std::process::id())));
        drop(entrance);
        assert!(waiting.join().unwrap().unwrap().is_among_all());
    });
    assert_eq!(entries(folder.path()), [""; 0]);
}

/// The lock of a process that was killed is nobody's, and one whose text names no process neither.
#[test]
fn a_lock_that_was_left_behind_keeps_nobody_out() {
    for left in [format!("{NOBODY} 17"), format!("{} 1", std::process::id()), "nonsense".to_owned()] {
        let folder = tempfile::tempdir().unwrap();
        let one = user(folder.path(), "one");
        drop(one.enter().unwrap());
        symlink(&left, folder.path().join("run/lock")).unwrap();
        assert!(one.enter().unwrap().is_among_all(), "{left}");
        assert_eq!(entries(folder.path()), [""; 0], "{left}");
    }
}

/// Of another machine, another boot, cut, or no note at all: none is believed, and none is in the way.
#[test]
fn notes_of_other_machines_and_boots_are_left_aside() {
    let folder = tempfile::tempdir().unwrap();
    let one = user(folder.path(), "one");
    drop(one.enter().unwrap());
    let text = journal(NOBODY, 17, "local").to_text();
    put(folder.path(), "1-1.note", &journal(NOBODY, 1, "e5-2600").to_text());
    put(folder.path(), "1-2.note", &Journal { boot: "other".to_owned(), ..journal(NOBODY, 2, "local") }.to_text());
    put(folder.path(), "1-3.note", &text[..text.len() - 4]);
    put(folder.path(), "other", &text);
    put(folder.path(), "1-5.note", &text);
    fs::set_permissions(folder.path().join("run/1-5.note"), Permissions::from_mode(0o666)).unwrap();
    put(folder.path(), "target", &text);
    symlink("target", folder.path().join("run/1-6.note")).unwrap();
    assert_eq!(one.others(), Ok(vec![]));
    put(folder.path(), "1-7.note", &text);
    let [left] = &one.others().unwrap()[..] else { panic!("the last one") };
    assert_eq!((left.pid, left.runs, left.user.is_some()), (NOBODY, false, true));
}

/// A journal that its user has removed by hand is settled, and the note goes; one that is there is not.
#[test]
fn a_note_goes_with_a_journal_that_was_removed_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (user(folder.path(), "one"), user(folder.path(), "other"));
    drop(one.enter().unwrap());
    let kept = folder.path().join("kept.journal");
    fs::write(&kept, "").unwrap();
    put(folder.path(), &format!("{NOBODY}-17.note"), &journal(NOBODY, 17, "local").to_text());
    symlink(&kept, folder.path().join(format!("run/{NOBODY}-17.at"))).unwrap();
    assert_eq!(other.others().unwrap().len(), 1);
    fs::remove_file(&kept).unwrap();
    assert_eq!(other.others(), Ok(vec![]));
    assert_eq!(entries(folder.path()), [""; 0]);
    // This process runs: its note stays, whatever has become of its journal.
    let (own, started) = (process::id(), process::start_time(process::id()).unwrap());
    put(folder.path(), &format!("{own}-{started}.note"), &journal(own, started, "local").to_text());
    symlink(&kept, folder.path().join(format!("run/{own}-{started}.at"))).unwrap();
    assert_eq!(other.others().unwrap().len(), 1);
}

/// A session of another user that was killed keeps others from counting, and the refusal names who is to put back; a
/// note goes with the registers, and so does what was written of one.
#[test]
fn a_killed_session_of_another_user_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (user(folder.path(), "one"), user(folder.path(), "other"));
    drop(one.enter().unwrap());
    let killed = journal(NOBODY, 17, "local");
    put(folder.path(), &format!("{NOBODY}-17.note"), &killed.to_text());
    let mut space = Fake::two_sockets();
    let topology = discover(&mut space, e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut selection = Selection::new(e5_2600());
    selection.add_events("cbo0/CLOCKTICKS/").unwrap();
    let refused = prepare(&mut space, &topology, selection, Default::default(), Some(&other)).unwrap_err();
    let Refusal::LeftByOther { pid: NOBODY, user, .. } = &refused else { panic!("{refused}") };
    assert!(refused.to_string().contains(&format!("of user {user}")) && refused.to_string().contains("restore"));
    put(folder.path(), &format!(".{NOBODY}-17.note.{NOBODY}-17.part"), "half a no");
    one.remove_note(&killed).unwrap();
    assert_eq!(entries(folder.path()), [""; 0]);
    one.remove_note(&killed).unwrap();
    assert_eq!(other.others(), Ok(vec![]));
}

/// Where others can write nobody meets; a folder that another user owns is a place if this one or root has chosen it.
#[test]
fn nobody_meets_where_others_could_have_written() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let one = user(folder.path(), "one");
    DirBuilder::new().mode(0o755).create(&run).unwrap();
    fs::set_permissions(&run, Permissions::from_mode(0o777)).unwrap();
    let refused = [one.enter().map(|_| ()), one.others().map(|_| ())];
    assert!(refused.iter().all(|refused| matches!(refused, Err(JournalError::Meeting { .. }))), "{refused:?}");
    fs::remove_dir(&run).unwrap();
    // A link may lead anywhere.
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &run).unwrap();
    assert!(one.enter().is_err());
    fs::remove_file(&run).unwrap();
    File::create(&run).unwrap();
    assert!(one.enter().is_err());
    fs::remove_file(&run).unwrap();
    if fs::metadata(folder.path()).unwrap().uid() != 0 {
        println!("SKIPPED: folders of other users: only root can make them");
        return;
    }
    DirBuilder::new().mode(0o755).create(&run).unwrap();
    chown(&run, Some(1000), Some(1000)).unwrap();
    drop(one.enter().unwrap());
    put(folder.path(), "a.note", &journal(NOBODY, 17, "local").to_text());
    let whose = |user: u32| {
        chown(run.join("a.note"), Some(user), None).unwrap();
        one.others().unwrap().iter().map(|seen| seen.user).collect::<Vec<_>>()
    };
    assert_eq!([whose(1000), whose(0), whose(1001)], [vec![Some(1000)], vec![Some(0)], vec![]]);
    // A folder in one that anybody can write may be anybody's choice.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    assert!(one.enter().is_err());
}

/// Where there is no such place, and none can be made, sessions of this user begin all the same.
#[test]
fn without_a_place_sessions_begin_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let place = MeetingPlace::at(folder.path().join("missing/run"));
    let one = OtherSessions::new(folder.path().join("one"), "local", "boot").meeting_at(place);
    assert!(!one.enter().unwrap().is_among_all());
    assert_eq!(one.others(), Ok(vec![]));
}

/// A note is left with a link to the journal, unless nobody knows the journal's place; where the kernel lets nobody
/// make files, none is, and that is no error. What stands in its way is one.
#[test]
fn a_note_leads_to_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let place = MeetingPlace::at(folder.path().join("run"));
    let journal = journal(process::id(), 17, "local");
    let name = |ending: &str| folder.path().join("run").join(format!("{}-17.{ending}", process::id()));
    assert_eq!(place.leave_note(&journal, Some(Path::new("relative.journal"))), Ok(vec![name("note")]));
    assert_eq!(fs::read_to_string(name("note")).unwrap(), journal.to_text());
    assert_eq!(fs::metadata(name("note")).unwrap().permissions().mode() & 0o777, 0o644);
    place.remove_note(&journal).unwrap();
    assert_eq!(place.leave_note(&journal, Some(Path::new("/a.journal"))), Ok(vec![name("at"), name("note")]));
    assert_eq!(fs::read_link(name("at")).unwrap(), Path::new("/a.journal"));
    let refused = place.leave_note(&journal, Some(Path::new("/a.journal"))).unwrap_err();
    assert!(matches!(refused, JournalError::Meeting { .. }), "{refused}");
    place.remove_note(&journal).unwrap();
    assert_eq!(entries(folder.path()), [""; 0]);
    assert_eq!(place.remove_note(&journal), Ok(()), "it is gone already");
    let missing = MeetingPlace::at(folder.path().join("missing/run"));
    assert_eq!(missing.leave_note(&journal, None), Ok(vec![]));
    assert_eq!(place.path(), folder.path().join("run"));
    // Sysfs lets nobody make files, root neither.
    if fs::metadata("/sys/kernel").map_or(true, |found| found.uid() != 0) {
        println!("SKIPPED: a folder in which nobody may make files: in this container sysfs is not root's");
        return;
    }
    let sysfs = MeetingPlace::at("/sys/kernel");
    assert_eq!(sysfs.leave_note(&journal, Some(Path::new("/a.journal"))), Ok(vec![]));
}
