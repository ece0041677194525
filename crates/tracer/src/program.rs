//! What a path would run: a program for x86-64, or a script's interpreter; and the command line that runs it under QEMU.
//!
//! The plugin compiles this file too: programs that are exec()ed take the same way as the first.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Scripts whose interpreter is a script, … : the kernel's limit.
const DEEPEST: usize = 4;
/// Bytes of a script's first line that the kernel looks at.
const FIRST_LINE: usize = 256;
const X86_64: u16 = 62;

/// A program that QEMU can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The program; for a script, its interpreter.
    pub program: PathBuf,
    /// For a script: the interpreter's name and argument and the script's path, which replace the first argument.
    pub instead_of_first: Option<Vec<OsString>>,
}

/// Why a path cannot be run under QEMU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// It is not there, or cannot be read.
    Missing(i32),
    /// It is a directory or a device.
    NotAFile,
    /// Its execute permission is not set.
    NotExecutable,
    /// It is for another processor.
    Foreign,
    /// It would lose its set-user-ID or set-group-ID.
    Privileged,
    /// It is neither an ELF file nor a script.
    UnknownFormat,
}

/// Finds out what a path would run.
pub fn image(path: &Path) -> Result<Image, Unfit> {
    let mut image = Image { program: path.to_owned(), instead_of_first: None };
    for _ in 0..=DEEPEST {
        let start = start_of(&image.program)?;
        if let Some(line) = start.strip_prefix(b"#!") {
            let (interpreter, argument) = interpreter(line).ok_or(Unfit::UnknownFormat)?;
            let mut words = vec![interpreter.clone()];
            words.extend(argument);
            match image.instead_of_first.take() {
                // The script was itself an interpreter: its name gives way to its path.
                Some(earlier) => {
                    words.extend([image.program.into_os_string()].into_iter().chain(earlier.into_iter().skip(1)))
                }
                None => words.push(image.program.into_os_string()),
            }
            image = Image { program: interpreter.into(), instead_of_first: Some(words) };
            continue;
        }
        return is_x86_64(&start).map(|()| image);
    }
    Err(Unfit::UnknownFormat)
}

/// The effective user: the owner of this process's entry in /proc.
pub fn user() -> u32 {
    std::fs::metadata("/proc/self").map_or(u32::MAX, |entry| entry.uid())
}

fn start_of(path: &Path) -> Result<Vec<u8>, Unfit> {
    let missing = |error: std::io::Error| Unfit::Missing(error.raw_os_error().unwrap_or(0));
    let metadata = std::fs::metadata(path).map_err(missing)?;
    if !metadata.is_file() {
        return Err(Unfit::NotAFile);
    }
    if metadata.mode() & 0o111 == 0 {
        return Err(Unfit::NotExecutable);
    }
    let own = std::fs::metadata("/proc/self").map_err(missing)?;
    let changes_user = metadata.mode() & 0o4000 != 0 && metadata.uid() != own.uid();
    let changes_group = metadata.mode() & 0o2010 == 0o2010 && metadata.gid() != own.gid();
    if changes_user || changes_group {
        return Err(Unfit::Privileged);
    }
    let mut start = Vec::new();
    File::open(path).map_err(missing)?.take(FIRST_LINE as u64).read_to_end(&mut start).map_err(missing)?;
    Ok(start)
}

/// The interpreter of a script's first line, and the one argument that may follow.
fn interpreter(line: &[u8]) -> Option<(OsString, Option<OsString>)> {
    let line = line.split(|&byte| byte == b'\n').next()?.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (path, rest) = (&line[..end], line[end..].trim_ascii());
    let argument = (!rest.is_empty()).then(|| OsString::from_vec(rest.to_vec()));
    (!path.is_empty()).then(|| (OsString::from_vec(path.to_vec()), argument))
}

fn is_x86_64(start: &[u8]) -> Result<(), Unfit> {
    match start {
        // Class 64 bits, little-endian; type and machine follow the identification's 16 bytes.
        [0x7F, b'E', b'L', b'F', 2, 1, ..] if start.len() >= 20 => {
            let machine = u16::from_le_bytes([start[18], start[19]]);
            if machine == X86_64 { Ok(()) } else { Err(Unfit::Foreign) }
        }
        [0x7F, b'E', b'L', b'F', ..] => Err(Unfit::Foreign),
        _ => Err(Unfit::UnknownFormat),
    }
}

/// The arguments that the program sees, the first being its name. `path` stands in for a name that is not given.
pub fn arguments(image: &Image, given: Vec<OsString>, path: &[u8]) -> Vec<OsString> {
    match &image.instead_of_first {
        Some(words) => words.iter().cloned().chain(given.into_iter().skip(1)).collect(),
        None if given.is_empty() => vec![OsString::from_vec(path.to_vec())],
        None => given,
    }
}

/// QEMU's command line. `PROGRAM_ARGUMENT` says where the program stands in it.
pub fn command_line(qemu: &[u8], plugin: &[u8], cpu: &[u8], image: &Image, arguments: &[OsString]) -> Vec<Vec<u8>> {
    let name = arguments.first().map_or(&b""[..], |name| OsStr::as_bytes(name));
    let mut line = [qemu, b"-plugin", plugin, b"-cpu", cpu, b"-0", name, image.program.as_os_str().as_bytes()]
        .map(<[u8]>::to_vec)
        .to_vec();
    line.extend(arguments.iter().skip(1).map(|argument| argument.as_bytes().to_vec()));
    line
}
