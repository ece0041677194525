//! Programs of the host that come along into the guest, with their libraries.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cpio::Archive;
use super::error::GuestError;

/// Where the host's programs and their libraries lie in the guest; both come from the host, whose C library may be newer.
pub const FOLDER: &str = "/opt/host";

/// Bytes of a program or library at most: the guest has them in memory.
const MOST_BYTES: u64 = 256 << 20;

/// Adds a program under its own name, to be found by PATH.
///
/// # Errors
/// [`GuestError::Program`] if it or a library of it cannot be read.
pub fn add(archive: &mut Archive, program: &Path) -> Result<(), GuestError> {
    let failed = |source| GuestError::Program { program: program.to_owned(), source };
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let mut content = whole(program).map_err(failed)?;
    drop_unloaded(&mut content);
    let listing = Command::new("ldd").arg(program).output().map_err(failed)?;
    let libraries = libraries(&String::from_utf8_lossy(&listing.stdout));
    if libraries.is_empty() {
        archive.file(&format!("/usr/bin/{name}"), 0o755, &content);
        return Ok(());
    }
    archive.file(&format!("{FOLDER}/{name}"), 0o755, &content);
    let mut loader = String::new();
    for library in libraries {
        let content = whole(&library).map_err(failed)?;
        let file = library.file_name().unwrap_or_default().to_string_lossy();
        if file.starts_with("ld-linux") {
            loader = format!("{FOLDER}/{file}");
        }
        archive.file(&format!("{FOLDER}/{file}"), 0o755, &content);
    }
    let start = format!("#!/bin/sh\nexec {loader} --library-path {FOLDER} {FOLDER}/{name} \"$@\"\n");
    archive.file(&format!("/usr/bin/{name}"), 0o755, start.as_bytes());
    Ok(())
}

/// What is in a program or library: a regular file with an end, that is not waited for.
fn whole(path: &Path) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut content = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut content)?;
    match content.len() as u64 > MOST_BYTES {
        true => Err(io::Error::other(format!("it has more than {} MB, too much for a guest", MOST_BYTES >> 20))),
        false => Ok(content),
    }
}

/// Paths in the output of ldd: `name => path (address)`, or `path (address)` for the loader.
fn libraries(listing: &str) -> Vec<PathBuf> {
    let paths = listing.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
    paths.map(PathBuf::from).collect()
}

/// Drops what an executable has for debuggers only: a file system in memory is no place for it, and the guest unpacks slowly.
/// Everything else is left as it is. Places of the ELF-64 header: System V ABI, AMD64 supplement, chapter 4.
fn drop_unloaded(content: &mut Vec<u8>) {
    const SECTION_TABLE: Range<usize> = 0x28..0x30;
    const SECTION_COUNTS: Range<usize> = 0x3c..0x40;
    if let Some(end) = loaded_end(content) {
        content.truncate(end);
        // The table of sections lay at the end.
        content[SECTION_TABLE].fill(0);
        content[SECTION_COUNTS].fill(0);
    }
}

/// Where the last byte ends that any segment needs; `None` if this is not a whole 64-bit executable.
fn loaded_end(content: &[u8]) -> Option<usize> {
    let number = |at: usize, bytes: usize| -> Option<usize> {
        let bytes = content.get(at..at.checked_add(bytes)?)?;
        usize::try_from(bytes.iter().rev().fold(0, |value: u64, &byte| value << 8 | u64::from(byte))).ok()
    };
    if !content.starts_with(b"\x7fELF\x02\x01") || content.len() < 0x40 {
        return None;
    }
    let (table, each, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
    let mut end = table.checked_add(each * count)?.max(0x40);
    for index in 0..count {
        let header = table + each * index;
        end = end.max(number(header + 8, 8)?.checked_add(number(header + 0x20, 8)?)?);
    }
    (end <= content.len()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe that nobody writes to, a device without an end, and a file that is too long (a hole: it takes no space).
    #[test]
    fn what_is_no_program_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [&pipe, Path::new("/dev/zero")] {
            assert_eq!(whole(path).unwrap_err().to_string(), "it is no regular file");
        }
        let long = folder.path().join("long");
        std::fs::File::create(&long).unwrap().set_len(MOST_BYTES + 1).unwrap();
        assert_eq!(whole(&long).unwrap_err().to_string(), "it has more than 256 MB, too much for a guest");
    }

    #[test]
    fn libraries_and_loader_of_a_listing() {
        let listing = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x7f)\n\t/lib64/ld-linux-x86-64.so.2 (0x7f)\n";
        let expected = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from);
        assert_eq!(libraries(listing), expected);
        assert_eq!(libraries("\tstatically linked\n"), Vec::<PathBuf>::new());
    }

    /// An executable with one segment: 16 bytes at 0x78, then 8 that nobody loads.
    fn executable() -> Vec<u8> {
        let mut file = vec![0; 0x78 + 16 + 8];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[0x20] = 0x40;
        (file[0x28], file[0x36], file[0x38], file[0x3c]) = (0x88, 56, 1, 3);
        (file[0x40 + 8], file[0x40 + 0x20]) = (0x78, 16);
        file
    }

    #[test]
    fn what_no_segment_loads_is_dropped() {
        let mut file = executable();
        drop_unloaded(&mut file);
        assert_eq!(file.len(), 0x78 + 16);
        assert_eq!((file[0x28], file[0x3c]), (0, 0));
    }

    /// Numbers of the header have several bytes: two segments, the first of which ends last, at 0x1_0203, and a table
    /// of headers behind all that they load.
    #[test]
    fn the_last_segment_to_end_decides() {
        let mut file = vec![0; 0x2_0000];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        let mut put =
            |at: usize, value: u64, bytes: usize| file[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        put(0x20, 0x140, 8);
        put(0x36, 56, 2);
        put(0x38, 2, 2);
        put(0x140 + 8, 0x1_0000, 8);
        put(0x140 + 0x20, 0x203, 8);
        put(0x140 + 56 + 8, 0x300, 8);
        put(0x140 + 56 + 0x20, 0x10, 8);
        assert_eq!(loaded_end(&file), Some(0x1_0203));
        // The table itself ends at 0x1_5000 and 112.
        let table = file[0x140..0x140 + 112].to_vec();
        file[0x1_5000..0x1_5000 + 112].copy_from_slice(&table);
        file[0x20..0x28].copy_from_slice(&0x1_5000_u64.to_le_bytes());
        assert_eq!(loaded_end(&file), Some(0x1_5070));
        file.truncate(0x1_5070);
        assert_eq!(loaded_end(&file), Some(0x1_5070), "nothing follows");
        file.truncate(0x1_506f);
        assert_eq!(loaded_end(&file), None);
    }

    /// Sizes and places that no file has, and files that are shorter than their header.
    #[test]
    fn absurd_headers_are_no_executables() {
        for (at, bytes) in [(0x20, 8), (0x48, 8), (0x60, 8)] {
            let mut file = executable();
            file[at..at + bytes].fill(0xff);
            assert_eq!(loaded_end(&file), None, "{at:#x}");
        }
        let mut file = executable();
        // Without segments, the header is all that there is.
        file[0x38] = 0;
        assert_eq!(loaded_end(&file), Some(0x40));
        file.truncate(0x40);
        assert_eq!(loaded_end(&file), Some(0x40));
        file.truncate(0x3f);
        assert_eq!(loaded_end(&file), None);
        let mut of_32_bits = executable();
        of_32_bits[4] = 1;
        assert_eq!(loaded_end(&of_32_bits), None);
    }

    #[test]
    fn other_files_stay_as_they_are() {
        let mut cut = executable();
        cut.truncate(0x80);
        for file in [b"#!/bin/sh\n".to_vec(), b"\x7fELF\x02\x01".to_vec(), cut] {
            let mut after = file.clone();
            drop_unloaded(&mut after);
            assert_eq!(after, file);
        }
    }

    #[test]
    fn a_program_runs_without_what_was_dropped() {
        let mut content = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let before = content.len();
        drop_unloaded(&mut content);
        assert!(content.len() < before);
        let file = super::super::process::nameless_file(&[&content]).unwrap();
        let path = format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(&file));
        let output = Command::new(path).arg("--list").output().unwrap();
        let listing = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(listing.contains("a_program_runs_without_what_was_dropped"), "{listing}");
    }
}
