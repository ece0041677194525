//! The prepared guest: kernel, file system and symbols, made once from Debian's packages and kept in the user's cache.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::GuestError;
use super::process;
use super::traps::{Function, SYMBOLS};
use crate::digest::digest;

/// Downloads the packages and makes the files.
const PREPARE: &str = include_str!("prepare.sh");

/// A directory with a guest's files.
#[derive(Debug, Clone)]
pub struct Prepared {
    directory: PathBuf,
}

impl Prepared {
    /// The guest of this version in the user's cache; made now if it is not there, which downloads 110 MB.
    ///
    /// # Errors
    /// [`GuestError`] if it cannot be made, or is damaged.
    pub fn get() -> Result<Self, GuestError> {
        Self::at(Self::place()?)
    }

    /// Where [`get`](Self::get) has the guest of this version.
    ///
    /// # Errors
    /// [`GuestError::NoCache`] if the environment names no directory.
    pub fn place() -> Result<PathBuf, GuestError> {
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let cache =
            absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache"))).ok_or(GuestError::NoCache)?;
        // A changed script makes other files.
        let version = digest(PREPARE);
        Ok(cache.join("pericore").join(format!("guest-{version:016x}")))
    }

    /// The guest in a directory; made now if the directory does not exist.
    ///
    /// # Errors
    /// [`GuestError`] if it cannot be made, or is damaged.
    pub fn at(directory: PathBuf) -> Result<Self, GuestError> {
        let prepared = Self { directory };
        if !prepared.directory.exists() {
            prepared.prepare()?;
        }
        prepared.check()?;
        Ok(prepared)
    }

    /// The kernel, unpacked: QEMU starts it by its PVH entry.
    pub fn kernel(&self) -> PathBuf {
        self.directory.join("vmlinux")
    }

    /// The file system, as an archive.
    pub fn file_system(&self) -> PathBuf {
        self.directory.join("initramfs.cpio")
    }

    /// Where it lies.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn prepare(&self) -> Result<(), GuestError> {
        let parent = self.directory.parent().unwrap_or(Path::new("/"));
        let failed = |source| GuestError::File { path: parent.to_owned(), source };
        // What root will boot from is nobody else's to change, nor to read.
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
        // Who comes second waits for what the first makes. The lock goes with the file, however we end.
        let turn = File::open(parent).map_err(failed)?;
        process::lock(&turn).map_err(failed)?;
        if self.directory.exists() {
            return Ok(());
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", PREPARE, "prepare.sh"]).arg(&self.directory).stdin(Stdio::null()).stdout(Stdio::null());
        // A group of its own, which the script ends as a whole when it is asked to.
        shell.process_group(0);
        process::end_with_us(&mut shell, libc::SIGTERM);
        let output = shell.output().map_err(|source| GuestError::System { call: "running sh", source })?;
        if output.status.success() {
            return Ok(());
        }
        let messages = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(GuestError::Prepare { directory: self.directory.clone(), messages })
    }

    /// Compares every file with its checksum.
    fn check(&self) -> Result<(), GuestError> {
        let mut check = Command::new("sha256sum");
        check.args(["--check", "--quiet", "SHA256SUMS"]).current_dir(&self.directory);
        let output = check.output().map_err(|source| GuestError::System { call: "running sha256sum", source })?;
        if output.status.success() {
            return Ok(());
        }
        let messages = [output.stdout, output.stderr].concat();
        let messages = String::from_utf8_lossy(&messages).trim().replace('\n', "; ");
        Err(GuestError::Damaged { directory: self.directory.clone(), messages })
    }

    fn symbols_file(&self) -> PathBuf {
        self.directory.join("symbols")
    }

    /// Addresses of the trapped functions, if an earlier boot has learnt them.
    pub fn symbols(&self) -> Option<Symbols> {
        parse_symbols(&fs::read_to_string(self.symbols_file()).ok()?).ok()
    }

    /// Keeps what a first boot read of `/proc/kallsyms`.
    ///
    /// # Errors
    /// [`GuestError::NoSymbols`] if a function is missing; [`GuestError::File`] if it cannot be kept.
    pub fn learn_symbols(&self, text: &str) -> Result<Symbols, GuestError> {
        let symbols = parse_symbols(text)
            .map_err(|missing| GuestError::NoSymbols { missing, directory: self.directory.clone() })?;
        let path = self.symbols_file();
        let partial = self.directory.join(format!("symbols.{}", std::process::id()));
        let write = || {
            // One of a process of the same number, which was killed.
            let _ = fs::remove_file(&partial);
            let mut file = File::create_new(&partial)?;
            file.write_all(text.as_bytes())?;
            fs::rename(&partial, &path)
        };
        write().map_err(|source| {
            // Nothing half-written stays.
            let _ = fs::remove_file(&partial);
            GuestError::File { path, source }
        })?;
        Ok(symbols)
    }
}

/// What is known of the kernel's code.
#[derive(Debug, Clone)]
pub struct Symbols {
    /// Functions that accesses go through, by address.
    pub functions: HashMap<u64, Function>,
    /// Where the kernel comes in after a page fault.
    pub page_fault: u64,
}

/// The name of that place.
const PAGE_FAULT: &str = "asm_exc_page_fault";

/// Reads lines of `/proc/kallsyms`: address, type, name. The error lists the names without an address.
fn parse_symbols(text: &str) -> Result<Symbols, Vec<String>> {
    let find = |name: &str| {
        text.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let address = words.next().and_then(|word| u64::from_str_radix(word, 16).ok());
            let is_code = words.next().is_some_and(|kind| kind.eq_ignore_ascii_case("t"));
            // A reader without rights sees zeros.
            address.filter(|&address| is_code && words.next() == Some(name) && address != 0)
        })
    };
    let names = SYMBOLS.iter().map(|(name, _)| *name).chain([PAGE_FAULT]);
    let missing: Vec<String> = names.filter(|name| find(name).is_none()).map(str::to_owned).collect();
    let functions = SYMBOLS.iter().filter_map(|&(name, function)| Some((find(name)?, function))).collect();
    match find(PAGE_FAULT) {
        Some(page_fault) if missing.is_empty() => Ok(Symbols { functions, page_fault }),
        _ => Err(missing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ffffffff8107e740 t native_write_msr_safe\nffffffff8107e780 t native_read_msr_safe\n\
        ffffffff8107e7c0 t native_read_msr\nffffffff8107e910 T native_write_msr\nffffffff819cebe0 t pci_mmcfg_read\n\
        ffffffff819cecc0 t pci_mmcfg_write\nffffffff819cee40 t pci_conf1_read\nffffffff819cef30 t pci_conf1_write\n\
        ffffffff8107e590 t native_cpuid\nffffffff8107e700 t native_read_pmc\nffffffff81c00be0 T asm_exc_page_fault\n";

    #[test]
    fn every_function_is_found_at_its_address() {
        let symbols = parse_symbols(TEXT).unwrap();
        assert_eq!(symbols.functions.len(), SYMBOLS.len());
        assert_eq!(symbols.functions[&0xffff_ffff_8107_e910], Function::WriteMsr);
        assert_eq!(symbols.page_fault, 0xffff_ffff_81c0_0be0);
    }

    /// A file that is not the one that was made is named.
    #[test]
    fn a_damaged_guest_is_not_booted() {
        let folder = tempfile::tempdir().unwrap();
        // The checksum of nothing: FIPS 180-4.
        let of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        fs::write(folder.path().join("SHA256SUMS"), format!("{of_nothing}  vmlinux\n")).unwrap();
        fs::write(folder.path().join("vmlinux"), "").unwrap();
        assert!(Prepared::at(folder.path().to_owned()).is_ok());
        fs::write(folder.path().join("vmlinux"), "x").unwrap();
        let error = Prepared::at(folder.path().to_owned()).unwrap_err();
        let GuestError::Damaged { messages, .. } = &error else { panic!("{error}") };
        assert!(messages.contains("vmlinux: FAILED"), "{messages}");
    }

    #[test]
    fn missing_and_hidden_symbols_are_named() {
        let text = TEXT.replace("pci_mmcfg_read", "pci_mmcfg_reader").replace("ffffffff8107e7c0", "0000000000000000");
        assert_eq!(parse_symbols(&text).unwrap_err(), ["native_read_msr", "pci_mmcfg_read"]);
    }
}
