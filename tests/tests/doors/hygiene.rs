//! Nothing leaks to the host, nothing stays, and what goes wrong is said.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pericore_doors::{DoorsError, Outcome};
use tempfile::TempDir;

use super::rig::{Rig, require};

/// Set in a copy of this test program that is to run a program on a machine and be treated badly.
const VICTIM: &str = "PERICORE_VICTIM";
/// Sockets of the copy's machine, if not one.
const VICTIM_SOCKETS: &str = "PERICORE_VICTIM_SOCKETS";

/// Not a test by itself: what the others start in a process of its own.
#[test]
fn victim() {
    if let Ok(script) = std::env::var(VICTIM) {
        let sockets = std::env::var(VICTIM_SOCKETS).map_or(1, |sockets| sockets.parse().unwrap());
        match (Rig { sockets, ..Rig::default() }).try_run("sh", &["-c", &script]) {
            Ok(run) => print!("{}[{:?}]", run.stdout, run.outcome),
            Err(error) => print!("error: {error}"),
        }
    }
}

/// The killed leave their scratch files behind: they get a folder for them.
fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn victim_command(script: &str, before: &[&str], folder: &TempDir) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut words = before.iter().map(std::ffi::OsString::from).collect::<Vec<_>>();
    words.push(program.into());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["--exact", "doors::hygiene::victim", "--nocapture", "--test-threads=1"]);
    command
        .env(VICTIM, script)
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// How long a sleep that a test looks for lasts: not as long as that of any other, nor of those of a run beside this one.
fn sleep(number: u32) -> String {
    format!("7123{number}.{}", std::process::id())
}

/// True if a process with a word on its command line is there.
fn is_running(word: &str) -> bool {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| line.split(|&byte| byte == 0).any(|argument| argument == word.as_bytes()))
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "still not: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn host_mounts() -> usize {
    fs::read_to_string("/proc/self/mounts").unwrap().matches("pericore").count()
}

#[test]
fn the_exit_status_passes_through() {
    assert_eq!(Rig::default().run("sh", &["-c", "exit 42"]).outcome, Outcome::Exited(42));
    let killed = Rig::default().run("sh", &["-c", "kill -SEGV $$"]).outcome;
    assert_eq!((killed, killed.shell_status()), (Outcome::Killed(11), 139));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let error = Rig::default().try_run("no-such-tool", &[]).unwrap_err();
    assert!(matches!(&error, DoorsError::Program { program, .. } if program == "no-such-tool"), "{error}");
    assert!(error.to_string().contains("check the name"), "{error}");
    let error = Rig::default().try_run("pcm-no-such-tool", &[]).unwrap_err();
    assert!(error.to_string().contains("apt-get install pcm"), "{error}");
    let error = Rig::default().try_run("/etc/passwd", &[]).unwrap_err();
    assert!(error.to_string().contains("Permission denied"), "{error}");
}

#[test]
fn a_program_that_hangs_is_killed_with_all_its_children() {
    let mut rig = Rig::default();
    rig.options.timeout = Some(Duration::from_millis(700));
    let [one, two, three] = [1, 2, 3].map(sleep);
    let script = format!("trap '' TERM INT; sleep {one} & setsid sleep {two} & sleep {three}");
    let error = rig.try_run("sh", &["-c", &script]).unwrap_err();
    assert!(matches!(error, DoorsError::TimedOut(_)), "{error}");
    assert!(!is_running(&one) && !is_running(&two) && !is_running(&three));
}

#[test]
fn what_a_program_leaves_behind_ends_with_it() {
    let left = sleep(4);
    let run = Rig::default().succeed("sh", &["-c", &format!("setsid sleep {left} >/dev/null 2>&1 & echo started")]);
    assert_eq!(run.stdout, "started\n");
    assert!(!is_running(&left));
}

/// While a tool runs, its view is its own.
#[test]
fn the_host_sees_no_mount_and_no_file() {
    let had = fs::exists("/etc/likwid_topo.cfg").unwrap();
    let before = host_mounts();
    let folder = folder();
    let tool = sleep(5);
    let script = format!("test -e /etc/likwid_topo.cfg && sleep {tool}");
    let mut child = victim_command(&script, &[], &folder).spawn().unwrap();
    wait_until("the tool runs", || is_running(&tool));
    assert_eq!(host_mounts(), before);
    assert_eq!(fs::exists("/etc/likwid_topo.cfg").unwrap(), had);
    assert!(!fs::exists("/dev/cpu/.pericore").unwrap());
    child.kill().unwrap();
    child.wait().unwrap();
}

/// SIGKILL leaves no time to clean up: the kernel does it.
#[test]
fn after_sigkill_of_the_server_nothing_is_left() {
    let folder = folder();
    let [beside, tool] = [6, 7].map(sleep);
    // The kernel names a connection by the device number of its file system.
    let device = folder.path().join("device");
    let script = format!("stat -c %d /dev/cpu/0/msr >{}; setsid sleep {beside} & sleep {tool}", device.display());
    let mut child = victim_command(&script, &[], &folder).spawn().unwrap();
    wait_until("the tool runs", || is_running(&beside) && is_running(&tool));
    let connection = Path::new("/sys/fs/fuse/connections").join(fs::read_to_string(&device).unwrap().trim());
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("all processes are gone", || !is_running(&beside) && !is_running(&tool));
    // Hosts need not show connections.
    wait_until("the FUSE connection is gone", || !connection.exists());
}

/// Reads of absurd places and sizes give errors or nothing, and the door stays open.
#[test]
fn absurd_accesses_do_no_harm() {
    require("rdmsr", "msr-tools");
    let script = "cd /dev/cpu/0; for skip in 9223372036854775800 4294967296 99999999999; do \
                    dd if=msr bs=8 count=1 iflag=skip_bytes skip=$skip 2>&1 >/dev/null | tail -1; done; \
                  dd if=msr bs=1048576 count=1 iflag=skip_bytes skip=206 2>/dev/null | wc -c; \
                  echo x > cpuid; echo x > /proc/bus/pci/devices; mkdir d; rm msr; : > msr; cat /dev/cpu; rdmsr 0xce";
    let run = Rig::default().succeed("sh", &["-c", script]);
    assert!(run.stdout.ends_with("c0000001b00\n"), "{}{}", run.stdout, run.stderr);
}

/// Without capabilities the run goes through a user namespace, in which the program is root.
#[test]
fn without_privileges_a_user_namespace_serves() {
    require("setpriv", "util-linux");
    require("rdmsr", "msr-tools");
    // Root without capabilities can open /dev/fuse, and nothing else that is needed. CAP_SETFCAP lets it map itself.
    let without = ["setpriv", "--bounding-set", "-all,+setfcap", "--inh-caps", "-all"];
    let output = victim_command("id -u; rdmsr 0xce", &without, &folder()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("0\nc0000001b00\n[Exited(0)]"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

/// Where /dev/fuse is closed to a user, the message says what to do.
#[test]
fn a_closed_fuse_device_is_named() {
    require("setpriv", "util-linux");
    // Anybody may go in.
    let folder = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().unwrap();
    let copy = folder.path().join("nobody");
    let open = fs::metadata("/dev/fuse").map(|data| data.permissions().mode() & 0o006 == 0o006);
    // Copied by another process: a child that this one forks at the same time would hold the file open for writing, and nobody could run it.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&copy).status().unwrap();
    assert!(copied.success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps", "-all"]).arg(&copy);
    command.args(["--exact", "doors::hygiene::victim", "--nocapture"]).env(VICTIM, "rdmsr 0xce").stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    let is_open = open.unwrap_or(false);
    let expected = if is_open { "c0000001b00" } else { "cannot open /dev/fuse" };
    assert!(text.contains(expected), "{text}");
}

/// A host without the module has no device at all.
#[test]
fn a_missing_fuse_device_is_named() {
    require("unshare", "util-linux");
    require("mount", "mount");
    // In a mount namespace of its own, /dev has what a shell needs, and no more.
    let script = "mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && exec \"$@\"";
    let output = victim_command("true", &["unshare", "-m", "sh", "-ec", script, "sh"], &folder()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("cannot open /dev/fuse") && text.contains("modprobe fuse"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A tool that dies of a signal in the middle of its accesses leaves the door as it was for the next.
#[test]
fn a_tool_that_is_killed_leaves_the_others_alone() {
    require("rdmsr", "msr-tools");
    let script = "(while :; do rdmsr 0xd16 >/dev/null; done) & sleep 0.3; kill -9 $!; wait; dd if=/dev/cpu/0/msr of=/dev/null \
                  bs=8 count=1 iflag=skip_bytes skip=206 status=none; rdmsr 0xce";
    let run = Rig::default().succeed("sh", &["-c", script]);
    assert!(run.stdout.ends_with("c0000001b00\n"), "{}{}", run.stdout, run.stderr);
}

/// On one CPU, however many the host has.
#[test]
fn more_sockets_than_cpus_are_refused() {
    require("taskset", "util-linux");
    let cpu = pericore_doors::usable_cpus().unwrap()[0].to_string();
    let folder = folder();
    let mut victim = victim_command("true", &["taskset", "-c", &cpu], &folder);
    let output = victim.env(VICTIM_SOCKETS, "2").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("error: ") && text.contains("2 sockets") && text.contains("CPU"), "{text}");
}
