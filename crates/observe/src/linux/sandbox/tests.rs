//! Forbidden things, tried from inside. Each part is tried in a process of its own: the tests' threads stay free.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;

/// The variables that tell a child its part, and its folder.
const PART: &str = "PERICORE_TEST_PART";
const FOLDER: &str = "PERICORE_TEST_FOLDER";

const PARTS: [ThreadPart; 3] = [ThreadPart::Registers, ThreadPart::Measuring, ThreadPart::Serving];

fn name(part: ThreadPart) -> &'static str {
    match part {
        ThreadPart::Registers => "registers",
        ThreadPart::Measuring => "measuring",
        ThreadPart::Serving => "serving",
    }
}

/// Runs [`the_child`] in its part; what it printed.
fn confined(part: ThreadPart) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("own"), "mine").unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "linux::sandbox::tests::the_child", "--ignored", "--nocapture", "--test-threads=1"])
        .env(PART, name(part))
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// What came of an attempt, as a line.
fn tried<T>(what: &str, outcome: io::Result<T>) {
    let came = match outcome {
        Ok(_) => "done",
        Err(error) if error.kind() == ErrorKind::PermissionDenied => "refused",
        Err(error) if error.kind() == ErrorKind::NotFound => "not there",
        Err(_) => "failed",
    };
    println!("{what}: {came}");
}

fn call(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[test]
#[ignore = "runs as the child of the tests below"]
fn the_child() {
    let Ok(part) = std::env::var(PART) else { return };
    let part = PARTS.into_iter().find(|known| name(*known) == part).unwrap();
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let elsewhere = folder.with_extension("elsewhere");
    fs::write(&elsewhere, "of others").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let open = File::open("/dev/null").unwrap();
    // A thread: what is refused to it is not refused to who cleans up.
    let attempts = || {
        let missing = confine(part, std::slice::from_ref(&folder)).unwrap();
        println!("missing: {missing:?}");
        let write = |path: &Path| OpenOptions::new().append(true).open(path);
        tried("read own", File::open(folder.join("own")));
        tried("write own", write(&folder.join("own")));
        tried("make own", File::create(folder.join("new")));
        tried("read elsewhere", File::open(&elsewhere));
        tried("write elsewhere", write(&elsewhere));
        tried("read passwords", File::open("/etc/shadow"));
        tried("read memory of processes", File::open("/proc/1/mem"));
        tried("topology", File::open("/sys/devices/system/cpu/online"));
        tried("foreign device", OpenOptions::new().write(true).open("/dev/kmsg"));
        tried("switch a CPU off", OpenOptions::new().write(true).open("/sys/devices/system/cpu/cpu1/online"));
        tried("connect", TcpStream::connect(("127.0.0.1", port)));
        tried("listen", TcpListener::bind("127.0.0.1:0"));
        tried("program", Command::new("/bin/true").status());
        // SAFETY: calls on numbers, with null for what they would read: each is refused before that, or fails.
        unsafe {
            let null = std::ptr::null::<u8>();
            tried("ptrace", call(libc::syscall(libc::SYS_ptrace, libc::PTRACE_TRACEME, 0, 0, 0)));
            tried("exec", call(libc::syscall(libc::SYS_execve, null, null, null)));
            tried("terminal request", call(libc::ioctl(open.as_raw_fd(), libc::TCGETS, null).into()));
            tried("device request", call(libc::ioctl(open.as_raw_fd(), libc::TIOCSTI, c"x".as_ptr()).into()));
            tried("mount", call(libc::syscall(libc::SYS_mount, null, null, null, 0, null)));
            tried("kernel counter", call(libc::syscall(libc::SYS_perf_event_open, null, 0, -1, -1, 0)));
            tried("module", call(libc::syscall(libc::SYS_init_module, null, 0, null)));
            tried("ports", call(libc::syscall(libc::SYS_iopl, 3)));
            tried("look into", call(libc::syscall(libc::SYS_process_vm_readv, 1, null, 0, null, 0, 0)));
            tried("end others", call(libc::syscall(libc::SYS_kill, libc::getppid(), 0)));
        }
    };
    std::thread::scope(|scope| scope.spawn(attempts).join().unwrap());
    fs::remove_file(&elsewhere).unwrap();
}

/// True if the kernel says that it has Landlock: it tells the version of its interface (landlock_create_ruleset(2)).
fn has_landlock() -> bool {
    const CREATE_RULESET_VERSION: libc::c_uint = 1;
    let null = std::ptr::null::<u8>();
    // SAFETY: asked for its version, the call takes no attributes.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, null, 0, CREATE_RULESET_VERSION) > 0 }
}

/// Says loudly what could not be tried, where the kernel has no Landlock or no seccomp; true if both are there.
fn is_whole(text: &str) -> bool {
    let whole = text.contains("missing: Missing([])");
    if !whole {
        // The test's name stands in front.
        let missing = text.lines().find_map(|line| Some(line.split_once("missing: ")?.1)).expect("it was confined");
        assert!(!missing.contains("Landlock") || !has_landlock(), "this kernel has it, and did not use it: {missing}");
        eprintln!("SKIPPED: what this kernel does not refuse ({missing}), was not tried");
    }
    whole
}

/// The attempts that came to this.
fn of<'t>(text: &'t str, came: &str) -> Vec<&'t str> {
    text.lines().filter_map(|line| line.strip_suffix(came)?.strip_suffix(": ")).collect()
}

/// Everything that only an attacker would try.
const FORBIDDEN: [&str; 13] = [
    "read elsewhere",
    "write elsewhere",
    "read passwords",
    "foreign device",
    "program",
    "ptrace",
    "exec",
    "device request",
    "mount",
    "kernel counter",
    "module",
    "ports",
    "look into",
];

fn assert_refused(text: &str, what: &[&str]) {
    let refused = of(text, "refused");
    // A container may have no such file, which is as good.
    let absent = of(text, "not there");
    for what in what {
        assert!(refused.contains(what) || absent.contains(what), "{what} is not refused:\n{text}");
    }
}

#[test]
fn the_register_process_does_nothing_but_reach_registers_and_journals() {
    let text = confined(ThreadPart::Registers);
    if !is_whole(&text) {
        return;
    }
    assert_refused(&text, &FORBIDDEN);
    assert_refused(&text, &["connect", "listen", "terminal request", "switch a CPU off", "end others"]);
    let done = of(&text, "done");
    for what in ["read own", "write own", "make own", "topology"] {
        assert!(done.contains(&what), "{what} is its work:\n{text}");
    }
}

#[test]
fn who_measures_starts_nothing_and_opens_no_register() {
    let text = confined(ThreadPart::Measuring);
    if !is_whole(&text) {
        return;
    }
    assert_refused(&text, &FORBIDDEN);
    assert_refused(&text, &["switch a CPU off"]);
    let done = of(&text, "done");
    for what in ["read own", "write own", "make own", "topology", "connect"] {
        assert!(done.contains(&what), "{what} is its work:\n{text}");
    }
    // Of /dev/null, which is no terminal.
    assert!(of(&text, "failed").contains(&"terminal request"), "{text}");
}

#[test]
fn a_servers_threads_open_nothing_at_all() {
    let text = confined(ThreadPart::Serving);
    if !is_whole(&text) {
        return;
    }
    assert_refused(&text, &FORBIDDEN);
    let all = ["read own", "write own", "make own", "topology", "connect", "listen", "terminal request", "end others"];
    assert_refused(&text, &all);
    assert_eq!(of(&text, "done"), [""; 0], "{text}");
}

#[test]
fn what_is_missing_is_named() {
    let words = Missing(vec!["Landlock", "seccomp"]).words();
    assert!(words.contains("by Landlock and seccomp:") && words.contains("CONFIG_SECURITY_LANDLOCK"), "{words}");
}
