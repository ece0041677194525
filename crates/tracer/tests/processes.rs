//! Programs that fork, exec(), are killed, or cannot be run.

use crate::harness::{BASE, captured, contents, pattern, static_pattern, trace, trace_program, words};
use pericore_tracer::{Error, Kind, Options, Reason, Source, Tracer};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn a_forked_child_is_a_process_of_its_own() {
    let traced = trace(&["fork", "0x10000"]);
    let [parent, child] = &traced.threads[..] else { panic!("{:?}", traced.threads) };
    assert_eq!((parent.process, parent.forked_from), (0, None));
    assert_eq!((child.process, child.forked_from), (1, Some(0)));
    assert_ne!(parent.pid, child.pid);
    for (thread, start) in [(0, BASE), (1, BASE + 0x10000)] {
        let range = start..start + 0x10000;
        let own = traced.accesses.iter().filter(|access| access.thread == thread && range.contains(&access.address));
        assert_eq!(own.filter(|access| access.kind == Kind::Load).count(), 1024);
    }
}

#[test]
fn threads_that_fork_at_the_same_time() {
    let traced = trace(&["forks", "4", "50"]);
    assert_eq!(traced.finished.summary.processes, 201);
    assert_eq!(traced.counts(), [200, 0, 0, 0, 0]);
}

#[test]
fn exec_is_followed() {
    let program = pattern().to_str().expect("text");
    let traced = trace(&["exec", program, "read", "0x100000", "64", "1"]);
    assert_eq!(traced.counts(), [16384, 0, 0, 0, 0]);
    assert_eq!(traced.threads.iter().map(|thread| thread.process).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(traced.threads[0].pid, traced.threads[1].pid);
    // A static program too, and by way of a shell that forks.
    let command = format!("{} read 0x100000 64 1; {program} status 9", static_pattern().display());
    let traced = trace_program(Path::new("sh"), &["-c", &command], Options::default());
    assert_eq!(traced.finished.status.code(), Some(9));
    assert_eq!(traced.counts(), [16384, 0, 0, 0, 0]);
    assert_eq!(traced.finished.summary.notes, []);
}

#[test]
fn exec_is_reported_if_it_is_not_followed() {
    let options = Options { follow: false, ..Options::default() };
    let traced = trace_program(Path::new("sh"), &["-c", "/bin/true; exit 4"], options);
    assert_eq!(traced.finished.status.code(), Some(4));
    let [note] = &traced.finished.summary.notes[..] else { panic!("{:?}", traced.finished) };
    assert_eq!((note.reason, note.program.as_str()), (Reason::FollowingOff, "/bin/true"));
    assert!(note.reason.is_gap());
    assert!(note.to_string().contains("was not observed"), "{note}");
}

#[test]
fn a_program_that_exec_cannot_find_is_left_to_fail() {
    let traced = trace_program(Path::new("sh"), &["-c", "exec /nowhere/at/all 2>/dev/null"], Options::default());
    assert_eq!(traced.finished.status.code(), Some(127));
    assert_eq!(traced.finished.summary.notes, []);
}

fn script(folder: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let (path, draft) = (folder.join(name), folder.join("draft"));
    std::fs::write(&draft, text).expect("written");
    // Written by another process: a child that this one forks at the same time would hold the file open for writing, and nobody
    // could run it.
    let copied = std::process::Command::new("cp").args([&draft, &path]).status().expect("cp runs");
    assert!(copied.success());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
    path
}

#[test]
fn scripts_run_under_their_interpreter() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = script(folder.path(), "script", "#!/bin/sh -u\nprintf '%s|' \"$0\" \"$@\" $-\nexit 6\n");
    let (options, output) = captured();
    let traced = trace_program(&path, &["a b", "", "c"], options);
    assert_eq!(traced.finished.status.code(), Some(6));
    assert_eq!(contents(&output), format!("{}|a b||c|u|", path.display()));
    assert_eq!(traced.threads[0].program, "/bin/sh");
    // A script whose interpreter is a script, exec()ed.
    let outer = script(folder.path(), "outer", &format!("#!{} x\n", path.display()));
    let (options, output) = captured();
    let traced = trace_program(Path::new("sh"), &["-c", &format!("exec {} y", outer.display())], options);
    assert_eq!(traced.finished.status.code(), Some(6));
    assert_eq!(contents(&output), format!("{}|x|{}|y|u|", path.display(), outer.display()));
}

#[test]
fn status_and_death_pass_through() {
    let status = |arguments: &[&str]| trace_program(pattern(), arguments, Options::default()).finished.status;
    assert_eq!(status(&["status", "42"]).code(), Some(42));
    assert_eq!(status(&["killed", "64"]).signal(), Some(9));
}

#[test]
fn a_killed_program_loses_no_accesses() {
    let traced = trace_program(pattern(), &["killed", "0x100000"], Options::default());
    assert_eq!(traced.counts(), [16384, 0, 0, 0, 0]);
}

/// What is left of the process when its first thread has ended looks like one that nobody has waited for.
#[test]
fn a_program_may_outlive_its_first_thread() {
    assert_eq!(trace(&["outlive", "0x100000"]).counts(), [16384, 0, 0, 0, 0]);
}

#[test]
fn a_program_may_close_its_descriptors() {
    assert_eq!(trace(&["closed", "0x100000"]).counts(), [16384, 0, 0, 0, 0]);
}

#[test]
fn an_instruction_that_qemu_lacks_is_named() {
    let traced = trace_program(pattern(), &["evex"], Options::default());
    assert_eq!(traced.finished.status.signal(), Some(4));
    let cause = traced.finished.cause().expect("a cause");
    assert!(cause.contains("AVX-512"), "{cause}");
}

#[test]
fn children_left_behind_are_reported_and_not_waited_for() {
    let traced = trace_program(Path::new("sh"), &["-c", "sleep 1000 & exit 0"], Options::default());
    let notes = traced.finished.summary.notes;
    // The shell's child may exec() after the shell has ended: to follow it then would leave it without its plugin.
    let [note] = &notes[..] else { panic!("{notes:?}") };
    assert_eq!(note.reason, Reason::StillRunning);
    std::thread::sleep(Duration::from_millis(300));
    assert!(Path::new(&format!("/proc/{}", note.pid)).exists(), "it goes on");
    // SAFETY: a child of a program of ours.
    unsafe { libc::kill(note.pid as i32, libc::SIGKILL) };
}

#[test]
fn a_busy_child_left_behind_does_not_keep_the_reader() {
    // It would never let this end.
    let traced = trace_program(Path::new("sh"), &["-c", "while :; do :; done & exit 0"], Options::default());
    let [note] = &traced.finished.summary.notes[..] else { panic!("{:?}", traced.finished) };
    assert_eq!(note.reason, Reason::StillRunning);
    // SAFETY: a child of a program of ours.
    unsafe { libc::kill(note.pid as i32, libc::SIGKILL) };
}

#[test]
fn dropping_the_tracer_kills_the_program() {
    let (options, _output) = captured();
    let mut running = Tracer::launch(pattern().as_os_str(), &words(&["pause"]), options).expect("starts");
    let pid = running.pid();
    assert!(running.next_batch(&mut Vec::new()).expect("accesses"));
    drop(running);
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

/// Has this test run again as a process of its own, which traces and is killed.
#[test]
fn the_program_dies_with_its_tracer() {
    const AS_TRACER: &str = "PERICORE_TEST_AS_TRACER";
    if let Some(file) = std::env::var_os(AS_TRACER) {
        let (options, _output) = captured();
        let mut running = Tracer::launch(pattern().as_os_str(), &words(&["pause"]), options).expect("starts");
        std::fs::write(file, running.pid().to_string()).expect("written");
        while running.next_batch(&mut Vec::new()).expect("accesses") {}
        return;
    }
    // The killed remove no files.
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("process");
    let mut tracer = std::process::Command::new(std::env::current_exe().expect("a path"))
        .args(["processes::the_program_dies_with_its_tracer", "--exact"])
        .env(AS_TRACER, &file)
        .env("TMPDIR", folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("starts");
    let within = |condition: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !condition() {
            assert!(start.elapsed() < Duration::from_secs(60), "waited in vain");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let pid = || std::fs::read_to_string(&file).unwrap_or_default();
    within(&|| !pid().is_empty());
    let process = format!("/proc/{}", pid());
    assert!(Path::new(&process).exists());
    tracer.kill().expect("killed");
    tracer.wait().expect("reaped");
    within(&|| std::fs::read_to_string(format!("{process}/stat")).map_or(true, |stat| stat.contains(") Z ")));
}

fn refusal(program: &Path, options: Options) -> Error {
    match Tracer::launch(program.as_os_str(), &[], options) {
        Err(error) => error,
        Ok(_) => panic!("{} runs", program.display()),
    }
}

#[test]
fn what_cannot_run_is_said() {
    let of = |program: &str| refusal(Path::new(program), Options::default()).to_string();
    assert!(of("no-such-program-at-all").contains("no such program in the PATH"));
    assert!(of("/no/such/program").contains("No such file"));
    assert!(of("/tmp").contains("not a file"));
    assert!(of("/etc/passwd").contains("no execute permission"));
    let folder = tempfile::tempdir().expect("a folder");
    let text = script(folder.path(), "text", "hello\n");
    assert!(of(text.to_str().expect("text")).contains("neither an ELF program nor a script"));
    let mut header = [0_u8; 64];
    header[..6].copy_from_slice(b"\x7fELF\x01\x01");
    let foreign = script(folder.path(), "foreign", "");
    std::fs::write(&foreign, header).expect("written");
    assert!(matches!(refusal(&foreign, Options::default()), Error::Foreign { .. }));
    let with_null = Tracer::launch("a\0b".as_ref(), &[], Options::default());
    assert!(matches!(with_null, Err(Error::NullByte { .. })));
}

#[test]
fn a_qemu_that_is_missing_or_useless_is_said() {
    let with = |qemu: &str| refusal(pattern(), Options { qemu: Some(qemu.into()), ..Options::default() });
    let missing = with("qemu-not-here");
    assert!(matches!(missing, Error::QemuMissing { .. }));
    assert!(missing.to_string().contains("apt install qemu-user"), "{missing}");
    let useless = with("/bin/true");
    assert!(matches!(useless, Error::QemuWithoutPlugins { .. }), "{useless}");
}

#[test]
fn a_qemu_that_ends_before_the_program_begins_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let fake = script(folder.path(), "fake-qemu", "#!/bin/sh\ncase $1 in --help) echo -plugin;; *) exit 3;; esac\n");
    let options = Options { qemu: Some(fake), ..Options::default() };
    let running = Tracer::launch(pattern().as_os_str(), &[], options).expect("starts");
    let error = running.finish().expect_err("ends");
    assert!(matches!(error, Error::NeverBegan { status } if status.code() == Some(3)), "{error}");
}

#[test]
fn impossible_caches_are_refused() {
    for (bytes, ways) in [(32768, 7), (0, 8), (32768, 0), (1 << 20, 8), (100, 1), (48 << 10, 8)] {
        let options = Options { data_cache: pericore_tracer::Geometry { bytes, ways }, ..Options::default() };
        assert!(matches!(refusal(pattern(), options), Error::Geometry(_)), "{bytes} {ways}");
    }
}
