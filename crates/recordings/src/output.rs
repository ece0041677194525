//! Where a recording goes: a file, or an object in a store.

use std::io::{self, Write};
use std::path::Path;

use crate::file::RecordFile;
#[cfg(feature = "s3")]
use crate::object::RecordObject;

/// How the names of objects begin.
const OBJECTS: &str = "s3://";

/// What a recording is written to.
#[derive(Debug)]
pub enum RecordOutput {
    /// A file.
    File(RecordFile),
    /// An object, which is there when it is complete.
    #[cfg(feature = "s3")]
    Object(Box<RecordObject>),
}

/// True for the name of an object in a store: `s3://BUCKET/KEY`.
pub fn is_object(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().starts_with(OBJECTS.as_bytes())
}

impl RecordOutput {
    /// Opens it for its owner alone; nothing is in its place yet.
    ///
    /// # Errors
    /// It cannot be written, or another process writes to it.
    pub fn open(path: &Path) -> io::Result<Self> {
        if !is_object(path) {
            return RecordFile::open_private(path).map(Self::File);
        }
        #[cfg(feature = "s3")]
        {
            RecordObject::open(path).map(|object| Self::Object(Box::new(object)))
        }
        #[cfg(not(feature = "s3"))]
        {
            Err(not_built())
        }
    }

    /// Puts a file in its place, if it is not there yet. An object has to be complete first.
    ///
    /// # Errors
    /// As [`RecordFile::put_in_place`].
    pub fn put_in_place(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.put_in_place(),
            #[cfg(feature = "s3")]
            Self::Object(_) => Ok(()),
        }
    }

    /// All is written that belongs to it: puts it in its place.
    ///
    /// # Errors
    /// As [`RecordFile::put_in_place`], and what the store says.
    pub fn complete(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.put_in_place(),
            #[cfg(feature = "s3")]
            Self::Object(object) => object.put(),
        }
    }

    /// True if what is written can be read under its name.
    pub const fn is_in_place(&self) -> bool {
        match self {
            Self::File(file) => file.is_in_place(),
            #[cfg(feature = "s3")]
            Self::Object(object) => object.is_there(),
        }
    }

    /// The folder in which it is put in its place later on.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::File(file) => file.folder(),
            #[cfg(feature = "s3")]
            Self::Object(_) => None,
        }
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        match self {
            Self::File(file) => file.path(),
            #[cfg(feature = "s3")]
            Self::Object(object) => object.path(),
        }
    }

    /// Cuts off what is behind so many bytes: half a line.
    pub fn cut(&mut self, bytes: u64) {
        match self {
            Self::File(file) => file.cut(bytes),
            #[cfg(feature = "s3")]
            Self::Object(object) => object.cut(bytes),
        }
    }
}

impl Write for RecordOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            #[cfg(feature = "s3")]
            Self::Object(object) => object.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            #[cfg(feature = "s3")]
            Self::Object(_) => Ok(()),
        }
    }
}

/// The bytes of an object.
///
/// # Errors
/// The store has none, refuses it, or cannot be reached.
pub fn read_object(path: &Path) -> io::Result<Vec<u8>> {
    #[cfg(feature = "s3")]
    {
        crate::object::read(path)
    }
    #[cfg(not(feature = "s3"))]
    {
        let _ = path;
        Err(not_built())
    }
}

#[cfg(not(feature = "s3"))]
fn not_built() -> io::Error {
    io::Error::other("this pericore was built without stores of objects: build it with --features s3, or name a file")
}
