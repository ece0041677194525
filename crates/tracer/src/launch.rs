//! Starting a program under QEMU.

use crate::child::Child;
use crate::layout::Shape;
use crate::memory::{Configuration, PluginFile, SharedMemory};
use crate::program::{self, Unfit};
use crate::{Error, Geometry, Options, Running, signals};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The QEMU to look for.
const QEMU: &str = "qemu-x86_64";

/// Starts programs so that their accesses can be read.
#[derive(Debug)]
pub struct Tracer;

impl Tracer {
    /// Starts a program, a name to look for in the PATH or a path, with its arguments (without its name).
    ///
    /// The program has this process's standard streams, unless the options say otherwise, its environment and its directory. If this
    /// process dies, the program is killed.
    ///
    /// # Errors
    /// QEMU or the program is not there or not usable, or a system call failed.
    pub fn launch(program: &OsStr, arguments: &[OsString], options: Options) -> Result<Running, Error> {
        no_null_bytes(program, arguments)?;
        let (data, fetch) = (shape(options.data_cache)?, shape(options.fetch_cache)?);
        let path = Self::find(program)?;
        let image = program::image(&path).map_err(|unfit| refused(&path, unfit))?;
        let qemu = qemu(options.qemu)?;
        let plugin = PluginFile::new()?;
        let memory = Arc::new(SharedMemory::new(&Configuration {
            data,
            fetch,
            follow: options.follow,
            qemu: qemu.as_os_str().as_bytes(),
            plugin: plugin.path().as_bytes(),
            cpu: options.cpu.as_bytes(),
        })?);

        let given = [program.to_owned()].into_iter().chain(arguments.iter().cloned()).collect();
        let arguments = program::arguments(&image, given, path.as_os_str().as_bytes());
        let line = program::command_line(
            qemu.as_os_str().as_bytes(),
            memory.plugin_argument().as_bytes(),
            options.cpu.as_bytes(),
            &image,
            &arguments,
        );
        let mut command = Command::new(&qemu);
        command.args(line[1..].iter().map(|argument| OsStr::from_bytes(argument)));
        let [stdin, stdout, stderr] = options.streams.map(|stream| stream.map(Stdio::from));
        stdin.map(|stream| command.stdin(stream));
        stdout.map(|stream| command.stdout(stream));
        stderr.map(|stream| command.stderr(stream));

        let forwarding = options.forward_signals.then(signals::Forwarding::begin);
        let child = Child::start(command, &memory).map_err(|source| Error::Start { qemu, source })?;
        if let Some(forwarding) = &forwarding {
            forwarding.to(child.pid());
        }
        Ok(Running::new(memory, plugin, child, forwarding))
    }

    /// The file of a program: a path as it is, a name where the PATH has it.
    ///
    /// # Errors
    /// A name that the PATH does not have.
    pub fn find(program: &OsStr) -> Result<PathBuf, Error> {
        if program.as_bytes().contains(&b'/') {
            return Ok(PathBuf::from(program));
        }
        in_path(program).ok_or_else(|| Error::NotInPath { program: program.into() })
    }
}

fn shape(geometry: Geometry) -> Result<Shape, Error> {
    Ok(Shape { sets: geometry.sets()?, ways: geometry.ways })
}

fn no_null_bytes(program: &OsStr, arguments: &[OsString]) -> Result<(), Error> {
    match [program]
        .into_iter()
        .chain(arguments.iter().map(OsString::as_os_str))
        .find(|word| word.as_bytes().contains(&0))
    {
        Some(word) => Err(Error::NullByte { name: word.to_string_lossy().into_owned() }),
        None => Ok(()),
    }
}

/// The file that a name stands for, as a shell would find it.
fn in_path(name: &OsStr) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    std::env::split_paths(&path)
        .map(
            |directory| if directory.as_os_str().is_empty() { Path::new(".").join(name) } else { directory.join(name) },
        )
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

fn refused(path: &Path, unfit: Unfit) -> Error {
    let program = path.to_owned();
    match unfit {
        Unfit::Missing(errno) => Error::Unreadable { program, source: std::io::Error::from_raw_os_error(errno) },
        Unfit::NotAFile => Error::NotAFile { program },
        Unfit::NotExecutable => Error::NotExecutable { program },
        Unfit::Foreign => Error::Foreign { program },
        Unfit::Privileged => Error::Privileged { program },
        Unfit::UnknownFormat => Error::UnknownFormat { program },
    }
}

/// A QEMU that can load plugins. Its help says whether it can: without the option, it would end with a usage text in the program's name.
fn qemu(given: Option<PathBuf>) -> Result<PathBuf, Error> {
    let name = given.as_deref().unwrap_or(Path::new(QEMU));
    let missing = || Error::QemuMissing { name: name.display().to_string() };
    let qemu = match Tracer::find(name.as_os_str()) {
        Ok(path) if is_executable(&path) => path,
        _ => return Err(missing()),
    };
    // The path has to hold wherever the program changes its directory to.
    let qemu = std::path::absolute(&qemu).map_err(|_| missing())?;
    let unusable = |reason: String| Error::QemuWithoutPlugins { qemu: qemu.clone(), reason };
    let help = Command::new(&qemu)
        .arg("--help")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| unusable(format!("it does not start: {error}")))?;
    if String::from_utf8_lossy(&help.stdout).contains("-plugin") {
        Ok(qemu)
    } else {
        Err(unusable("its --help has no -plugin".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    /// A file that nobody may execute is not found in PATH, as a shell would not find it.
    #[test]
    fn only_what_somebody_may_execute_is_executable() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        for (mode, is_executable) in [(0o644, false), (0o666, false), (0o100, true), (0o651, true), (0o755, true)] {
            fs::set_permissions(file.path(), Permissions::from_mode(mode)).expect("it is ours");
            assert_eq!(super::is_executable(file.path()), is_executable, "{mode:o}");
        }
        assert!(!super::is_executable(std::path::Path::new("/")), "a folder");
    }
}
