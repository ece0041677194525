//! Steady windows that were measured before, in a folder: measuring one of a large machine takes seconds.
//!
//! A window is taken back only for the same program, machine, part, workload, seed and pace: all of them are in its
//! key, which is in the file. What is damaged, of another key or of another program is never used, and replaced.

use std::fmt::Debug;
use std::fs::{self, DirBuilder, File, FileTimes, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pericore_machine::signal::Wiring;
use pericore_machine::steady::{Pace, Steady};
use pericore_machine::workload::Workload;
use pericore_machine::{BuildError, MachineSpec};

use crate::digest::digest;

/// Bytes of all windows in a folder: beyond these, those that were used longest ago are removed.
pub const MOST_BYTES: u64 = 1 << 30;
const ENDING: &str = "window";

/// A folder of windows.
#[derive(Debug, Clone)]
pub struct WindowCache {
    folder: PathBuf,
    most: u64,
}

fn digest_of(what: impl Debug) -> String {
    format!("{:016x}", digest(&format!("{what:?}")))
}

/// What says which build of this program runs: its version, and the size and time of its file.
fn program() -> String {
    let file = std::env::current_exe().and_then(fs::metadata);
    let time = |file: &fs::Metadata| {
        let modified = file.modified().ok()?;
        modified.duration_since(SystemTime::UNIX_EPOCH).ok().map(|time| time.as_nanos())
    };
    let build = file.map_or_else(|_| String::new(), |file| format!("{} {:?}", file.len(), time(&file)));
    format!("{} {build}", env!("CARGO_PKG_VERSION"))
}

/// All that a window depends on, in lines.
///
/// # Errors
/// The machine has no model.
pub fn key(spec: &MachineSpec, workload: &Workload, pace: &Pace, grid: u64) -> Result<String, BuildError> {
    let (family, parameters) = (spec.family(), spec.parameters()?);
    let signals: Vec<_> = family.units.iter().map(|unit| (unit.name, unit.instances, unit.signals)).collect();
    let lines = [
        format!("program {}", program()),
        format!("machine {} {}", spec.preset(), digest_of(spec)),
        format!("part {}", digest_of(&parameters)),
        format!("signals {}", digest_of(&signals)),
        format!("workload {workload} {}", digest_of(workload)),
        format!("pace {pace:?} {grid}"),
    ];
    Ok(lines.join("\n"))
}

impl WindowCache {
    /// That in a folder, which is made when a window is kept.
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder, most: MOST_BYTES }
    }

    /// The same with room for so many bytes.
    #[must_use]
    pub fn with_room(self, most: u64) -> Self {
        Self { most, ..self }
    }

    fn file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{:016x}.{ENDING}", digest(key)))
    }

    /// The window that was kept under a key, if there is one; the machine has this wiring.
    ///
    /// # Errors
    /// What is there instead, in words.
    pub fn take(&self, key: &str, wiring: &Wiring) -> Result<Option<Steady>, String> {
        let path = self.file(key);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{}: {error}; the workload is warmed up anew", path.display())),
        };
        let steady = Steady::from_bytes(&bytes, key, wiring)
            .map_err(|error| format!("{}: {error}; the workload is warmed up anew", path.display()))?;
        // It is the one used last now. Where that cannot be noted, it is only removed sooner.
        let used = FileTimes::new().set_modified(SystemTime::now());
        let _ = File::options().write(true).open(&path).and_then(|file| file.set_times(used));
        Ok(Some(steady))
    }

    /// Keeps a window under a key: the file takes its name when it is whole. Then those used longest ago are removed
    /// until all have room, but never this one.
    ///
    /// # Errors
    /// A folder or file that cannot be written, with its path.
    pub fn keep(&self, key: &str, steady: &Steady) -> Result<(), String> {
        let path = self.file(key);
        self.write(&path, &steady.to_bytes(key)).map_err(|error| format!("{}: {error}", path.display()))?;
        self.make_room(&path).map_err(|error| format!("{}: {error}", self.folder.display()))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let unfinished = path.with_extension(format!("unfinished-{}", std::process::id()));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&unfinished)
            .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&unfinished, path));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    fn make_room(&self, kept: &Path) -> io::Result<()> {
        let mut windows: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let (path, file) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)))?;
            if file.is_file() && path.extension().is_some_and(|ending| ending == ENDING) {
                windows.push((file.modified()?, file.len(), path));
            }
        }
        windows.sort_unstable();
        let mut all: u64 = windows.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in windows.into_iter().filter(|(.., path)| path != kept) {
            if all <= self.most {
                break;
            }
            // Another process may have removed it.
            let _ = fs::remove_file(path);
            all -= bytes;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pericore_machine::Machine;
    use std::time::Duration;

    fn spec(machine: &str) -> MachineSpec {
        MachineSpec::parse(machine).unwrap()
    }

    fn workload(text: &str) -> Workload {
        Workload::parse(text, &spec("x5570").limits().unwrap()).unwrap()
    }

    /// A cache in a folder with a window, which is of a short time.
    fn begun() -> (tempfile::TempDir, WindowCache, Steady, Wiring) {
        let folder = tempfile::tempdir().unwrap();
        let mut machine = Machine::new(&spec("x5570"), &workload("stream:threads=2")).unwrap();
        let steady = Steady::measure(&mut machine, 1, &Pace { warm_up: Some(1), window: 2, cells: 16 });
        let cache = WindowCache::new(folder.path().join("warm"));
        (folder, cache, steady, Wiring::new(spec("x5570").family(), 1))
    }

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let (_folder, cache, steady, wiring) = begun();
        let bytes = steady.to_bytes("a").len() as u64;
        let cache = cache.with_room(2 * bytes + bytes / 2);
        assert!(cache.take("a", &wiring).unwrap().is_none(), "nothing is there");
        let has = |key| cache.take(key, &wiring).unwrap().is_some();
        let age = |key: &str, seconds| {
            let used = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
            File::options().write(true).open(cache.file(key)).unwrap().set_times(used).unwrap();
        };
        for (key, seconds) in [("a", 10), ("b", 20)] {
            cache.keep(key, &steady).unwrap();
            age(key, seconds);
        }
        // Taken now, so that the other one is the oldest.
        assert!(has("a"));
        fs::write(cache.folder.join("a note"), "not ours").unwrap();
        cache.keep("c", &steady).unwrap();
        assert_eq!(["a", "b", "c"].map(has), [true, false, true]);
        assert_eq!(fs::read_dir(&cache.folder).unwrap().count(), 3, "the note stays, nothing unfinished does");
        // One that is larger than all that there is room for stays alone.
        let full = WindowCache::new(cache.folder.clone()).with_room(1);
        full.keep("d", &steady).unwrap();
        assert_eq!(["a", "c", "d"].map(has), [false, false, true]);
    }

    #[test]
    fn everything_that_a_window_depends_on_is_in_its_key() {
        let of =
            |machine: &str, text: &str, pace: Pace, grid| key(&spec(machine), &workload(text), &pace, grid).unwrap();
        let pace = Pace::default();
        let first = of("x5570", "stream", pace, 8);
        assert_eq!(first, of("x5570", "stream", pace, 8));
        let others = [
            of("x5570:sockets=2", "stream", pace, 8),
            of("x5570:cores=2", "stream", pace, 8),
            of("x5570:rules=strict", "stream", pace, 8),
            of("x5570", "random", pace, 8),
            of("x5570", "stream:seed=2", pace, 8),
            of("x5570", "stream:footprint=300M", pace, 8),
            of("x5570", "stream", Pace { window: 99, ..pace }, 8),
            of("x5570", "stream", Pace { warm_up: Some(1), ..pace }, 8),
            of("x5570", "stream", pace, 4),
        ];
        for (index, other) in others.iter().enumerate() {
            assert!(*other != first && others[..index].iter().all(|before| before != other), "{index}: {other}");
        }
        assert!(first.contains(env!("CARGO_PKG_VERSION")), "{first}");
    }

    #[test]
    fn what_is_there_and_no_window_is_named() {
        let (_folder, cache, steady, wiring) = begun();
        cache.keep("a", &steady).unwrap();
        fs::write(cache.file("a"), "words").unwrap();
        let message = cache.take("a", &wiring).unwrap_err();
        assert!(
            message.contains(".window: no window that pericore has saved; the workload is warmed up anew"),
            "{message}"
        );
        // The name has a digest of the key only: another key with the same one is told apart by the file.
        cache.keep("a", &steady).unwrap();
        fs::rename(cache.file("a"), cache.file("b")).unwrap();
        assert!(cache.take("b", &wiring).unwrap_err().contains("another machine, workload or program"));
    }
}
