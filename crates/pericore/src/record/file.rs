//! The file of a recording. It takes the place of an older one when its first line is written, not before.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file that is written to at its end.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    file: File,
    /// Where it is until it is put in its place.
    part: Option<PathBuf>,
}

impl RecordFile {
    /// Creates it beside its place; what is no ordinary file, such as a pipe, is opened as it is.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let refuse =
            |error| Failure::failed(format!("cannot write {}: {error}; name another file with -o", path.display()));
        match fs::metadata(path) {
            Ok(known) if known.is_dir() => Err(Failure::failed(format!(
                "{} is a folder; name a file, such as -o {}",
                path.display(),
                path.join(super::FILE).display()
            ))),
            Ok(known) if !known.is_file() => {
                let file = OpenOptions::new().append(true).open(path).map_err(refuse)?;
                Ok(Self { path: path.to_owned(), file, part: None })
            }
            _ => {
                let part = beside(path, &format!(".{}.part", std::process::id()));
                let file = OpenOptions::new().append(true).create_new(true).open(&part).map_err(refuse)?;
                Ok(Self { path: path.to_owned(), file, part: Some(part) })
            }
        }
    }

    /// Puts it in its place. What was there becomes FILE.old.
    fn put_in_place(&mut self) -> io::Result<()> {
        let Some(part) = &self.part else { return Ok(()) };
        match fs::rename(&self.path, beside(&self.path, ".old")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::rename(part, &self.path)?,
        }
        self.part = None;
        Ok(())
    }

    /// Its place.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Cuts off what is behind so many bytes: half a line. A pipe keeps it.
    pub fn cut(&self, bytes: u64) {
        let _ = self.file.set_len(bytes);
    }
}

impl Write for RecordFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.put_in_place()?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for RecordFile {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            let _ = fs::remove_file(part);
        }
    }
}

/// The same path with something more to its name.
fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(more);
    name.into()
}
