//! Reads the files under a folder: only regular ones of a reasonable size, and only those of users who are trusted.

use std::fs::{self, File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Bytes of a file at most. The largest shipped one has some 200,000.
const MOST_BYTES: u64 = 4 << 20;

/// Mode bits that let the group or others write.
const OTHERS_WRITE: u32 = 0o022;

/// Whose files are read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trust {
    Anybody,
    /// Those that root or this user owns, and nobody else can write.
    RootAnd(u32),
}

impl Trust {
    /// Why a file or folder is not read.
    fn refusal(self, metadata: &Metadata) -> Option<String> {
        let Self::RootAnd(user) = self else { return None };
        let owner = metadata.uid();
        if owner != 0 && owner != user {
            return Some(format!("not read: it belongs to user {owner}, and decides which registers are written"));
        }
        (metadata.mode() & OTHERS_WRITE != 0)
            .then(|| "not read: other users can write it, and it decides which registers are written".to_owned())
    }
}

/// What stands under a folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WalkedFile {
    /// Its path, with `/` between the parts.
    pub path: String,
    /// What it holds, or why it is not read.
    pub text: Result<String, String>,
}

/// The TOML files under a folder, and the folders that are not read, sorted.
pub(super) fn walk(root: &Path, trust: Trust) -> Vec<WalkedFile> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_owned(), String::new())];
    while let Some((folder, below)) = folders.pop() {
        if let Some(refusal) = fs::metadata(&folder).ok().and_then(|metadata| trust.refusal(&metadata)) {
            found.push(WalkedFile { path: below, text: Err(refusal) });
            continue;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() {
                folders.push((path, format!("{below}{name}/")));
            } else if name.ends_with(".toml") {
                found.push(WalkedFile { path: format!("{below}{name}"), text: read(&path, trust) });
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path, trust: Trust) -> Result<String, String> {
    let plain = |error: std::io::Error| error.to_string();
    // Asked before it is opened: a pipe would wait for a writer.
    if !fs::metadata(path).map_err(plain)?.is_file() {
        return Err("not read: a pipe, a device or a socket, and no file".to_owned());
    }
    let file = File::open(path).map_err(plain)?;
    if let Some(refusal) = trust.refusal(&file.metadata().map_err(plain)?) {
        return Err(refusal);
    }
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(plain)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(format!("not read: more than {} MB, too much for data of a catalogue", MOST_BYTES >> 20));
    }
    Ok(text)
}
