//! Workers that are killed, results that are lost, partitions of another time: the data set is as if nothing had been.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::{files, tables, write};
use crate::recordings::folder::{Folder, stderr_of};

/// 200 runs of 2 machines x 2 workloads x 50 seeds.
const FILE: &str = r#"
[[grid]]
machines = ["e5-2600", "x5570"]
workloads = ["stream", "random"]
cold = true
workload = { requests = 400, seed = { from = 1, to = 50 } }
"#;

/// The processes that a process has started and that have not ended.
fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>()).collect()
}

/// Waits until something holds, and fails with its name if it never does.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < patience, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn kill(process: u32, signal: i32) {
    let process = i32::try_from(process).expect("a process number");
    // SAFETY: no memory is involved.
    unsafe { libc::kill(process, signal) };
}

fn begin(folder: &Folder, arguments: &[&str]) -> Child {
    let stderr = fs::File::create(folder.file("stderr")).expect("a file");
    let mut command = folder.command(&[&["sweep"], arguments]);
    command.stdout(Stdio::null()).stderr(stderr).spawn().expect("it starts")
}

#[test]
fn two_hundred_runs_come_out_the_same_whatever_happens() {
    let folder = Folder::new();
    write(&folder, "calm.toml", FILE);
    write(&folder, "disturbed.toml", FILE);
    let calm = folder.run(&[&["sweep", "calm.toml", "--jobs", "2"]]);
    assert!(stderr_of(&calm).contains("200 of 200 runs done"), "{}", stderr_of(&calm));

    // Two partitions of another time: their names tell nothing of it, since a time limit is no column.
    let stale = FILE.replace("cold = true", "cold = true\ntimeout = 0.0001").replace("to = 50", "to = 1");
    write(&folder, "stale.toml", &stale.replace(r#", "x5570""#, ""));
    assert!(folder.run(&[&["sweep", "stale.toml", "-o", "disturbed"]]).status.success());
    assert_eq!(tables(&files(&folder, "disturbed")).len(), 2);

    let mut sweep = begin(&folder, &["disturbed.toml", "--jobs", "2"]);
    let words = || fs::read_to_string(folder.file("stderr")).expect("a file");
    until("a worker is killed", || {
        children(sweep.id()).first().is_some_and(|worker| {
            kill(*worker, libc::SIGKILL);
            std::thread::sleep(Duration::from_millis(50));
            words().contains("its worker was killed (signal: 9 (SIGKILL)); it runs again")
        })
    });
    assert!(sweep.wait().expect("it ends").success(), "{}", words());
    assert_eq!(
        words().matches("stale, of other parameters or another version; it runs again").count(),
        2,
        "{}",
        words()
    );
    assert!(words().contains("200 of 200 runs done") && words().contains("attempts were repeated"), "{}", words());
    assert!(files(&folder, "disturbed") == files(&folder, "calm"));

    // A result is lost, one is cut, one has another bit, one is unfinished.
    let names: Vec<String> =
        tables(&files(&folder, "disturbed")).iter().map(|name| format!("disturbed/{name}")).collect();
    fs::remove_file(folder.file(&names[0])).expect("ours");
    let cut = fs::read(folder.file(&names[50])).expect("a table");
    fs::write(folder.file(&names[50]), &cut[..cut.len() - 9]).expect("written");
    let mut changed = fs::read(folder.file(&names[120])).expect("a table");
    changed[99] ^= 4;
    fs::write(folder.file(&names[120]), changed).expect("written");
    let (path, name) = names[199].rsplit_once('/').expect("a folder");
    fs::write(folder.file(&format!("{path}/.{name}.part")), "half").expect("written");
    let states = folder.shown(&[&["sweep", "disturbed.toml", "--dry-run"]]);
    let count = |state: &str| states.lines().filter(|line| line.starts_with(state)).count();
    assert_eq!((count("whole"), count("missing"), count("damaged"), count("stale")), (197, 1, 2, 0), "{states}");
    let again = folder.run(&[&["sweep", "disturbed.toml"]]);
    assert!(stderr_of(&again).contains("3 of 200 runs done"), "{}", stderr_of(&again));
    assert_eq!(stderr_of(&again).matches("damaged, its bytes were cut or changed; it runs again").count(), 2);
    assert!(files(&folder, "disturbed") == files(&folder, "calm"));
}

/// SIGTERM to the command alone: its workers end, too, and what is there is kept.
#[test]
fn a_sweep_that_is_ended_goes_on_where_it_was() {
    use std::os::unix::process::ExitStatusExt;

    let folder = Folder::new();
    write(&folder, "run.toml", FILE);
    for signal in [libc::SIGTERM, libc::SIGKILL] {
        let mut sweep = begin(&folder, &["run.toml", "--jobs", "2"]);
        let before = tables(&files(&folder, "")).len();
        until("tables", || folder.file("run").exists() && tables(&files(&folder, "")).len() > before + 5);
        let workers = children(sweep.id());
        kill(sweep.id(), signal);
        assert_eq!(sweep.wait().expect("it ends").signal(), Some(signal));
        until("workers end", || {
            workers.iter().all(|worker| {
                let command = fs::read_to_string(format!("/proc/{worker}/cmdline"));
                !command.is_ok_and(|command| command.contains("--worker"))
            })
        });
        if signal == libc::SIGTERM {
            let words = fs::read_to_string(folder.file("stderr")).expect("a file");
            assert!(words.contains("interrupted: ") && words.contains("run the same command to go on"), "{words}");
        }
    }
    let there = tables(&files(&folder, "run")).len();
    let rest = stderr_of(&folder.run(&[&["sweep", "run.toml"]]));
    assert!(there < 200 && rest.contains(&format!("{} of 200 runs done", 200 - there)), "{there}, {rest}");
    assert_eq!(tables(&files(&folder, "run")).len(), 200);
    let part = files(&folder, "run").into_keys().find(|name| name.ends_with(".part"));
    assert_eq!(part, None);
}

/// A sweep and its workers, which nothing else would end for hours.
struct LongSweep {
    sweep: Child,
    workers: Vec<u32>,
}

impl LongSweep {
    fn running_workers(&self) -> impl Iterator<Item = u32> {
        let is_worker = |worker: &u32| {
            let command = fs::read_to_string(format!("/proc/{worker}/cmdline"));
            command.is_ok_and(|command| command.contains("--worker"))
        };
        self.workers.iter().copied().filter(is_worker)
    }
}

impl Drop for LongSweep {
    fn drop(&mut self) {
        let _ = self.sweep.kill();
        let _ = self.sweep.wait();
        self.running_workers().for_each(|worker| kill(worker, libc::SIGKILL));
    }
}

/// Runs of hours: who ends the sweep need not wait for them, as their workers are ended, too.
#[test]
fn a_sweep_that_is_ended_does_not_wait_for_its_runs() {
    use std::os::unix::process::ExitStatusExt;

    let folder = Folder::new();
    write(&folder, "long.toml", &FILE.replace("requests = 400", "requests = 4000000000"));
    let sweep = begin(&folder, &["long.toml", "--jobs", "2"]);
    let mut long = LongSweep { sweep, workers: Vec::new() };
    until("two workers", || {
        long.workers = children(long.sweep.id());
        long.running_workers().count() == 2
    });
    kill(long.sweep.id(), libc::SIGTERM);
    let mut status = None;
    until("the sweep ends", || {
        status = long.sweep.try_wait().expect("a child");
        status.is_some()
    });
    assert_eq!(status.and_then(|status| status.signal()), Some(libc::SIGTERM));
    until("workers end", || long.running_workers().next().is_none());
}
