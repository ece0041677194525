//! The file tree as a FUSE file system. Register files are opened for direct I/O, so that each `pread` arrives as one request;
//! otherwise the kernel would read whole pages ahead.

use std::ffi::OsStr;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime};

use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEntry, ReplyOpen, ReplyWrite, Request,
    Session, SessionACL, TimeOrNow, WriteFlags,
};

use crate::backend::{Backend, FromThread};
use crate::error::DoorsError;
use crate::files::{self, Content, Node, Tree};

/// Nothing changes: the kernel may keep names and attributes.
const FOREVER: Duration = Duration::from_secs(3600);

/// The most threads that serve requests. A tool rarely reads on more CPUs at once, and accesses take turns at the machine.
const MOST_THREADS: usize = 4;

struct Doors<B> {
    backend: B,
    tree: Tree,
}

/// Serves the tree over an open FUSE device until it is unmounted.
///
/// # Errors
/// [`DoorsError::Serve`] if the kernel and we do not understand each other.
pub fn serve<B: Backend + 'static>(backend: B, tree: Tree, device: OwnedFd) -> Result<BackgroundSession, DoorsError> {
    let mut config = Config::default();
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    config.n_threads = Some(threads.min(MOST_THREADS));
    let session =
        Session::from_fd(Doors { backend, tree }, device, SessionACL::All, config).map_err(DoorsError::Serve)?;
    session.spawn().map_err(DoorsError::Serve)
}

impl<B> Doors<B> {
    /// The machine as the thread reaches it that has made a request.
    fn of(&self, request: &Request) -> FromThread<'_, B> {
        FromThread { backend: &self.backend, thread: request.pid() }
    }

    fn node(&self, number: INodeNo) -> Option<&Node> {
        self.tree.node(number.0)
    }
}

fn kind(content: &Content) -> FileType {
    if matches!(content, Content::Folder(_)) { FileType::Directory } else { FileType::RegularFile }
}

fn attributes(number: u64, node: &Node) -> FileAttr {
    let epoch = SystemTime::UNIX_EPOCH;
    let size = node.size();
    FileAttr {
        ino: INodeNo(number),
        size,
        blocks: size.div_ceil(512),
        atime: epoch,
        mtime: epoch,
        ctime: epoch,
        crtime: epoch,
        kind: kind(&node.content),
        perm: node.mode,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

impl<B: Backend + 'static> Filesystem for Doors<B> {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let number = name.to_str().and_then(|name| self.tree.child(parent.0, name));
        match number.and_then(|number| Some((number, self.tree.node(number)?))) {
            Some((number, node)) => reply.entry(&FOREVER, &attributes(number, node), Generation(0)),
            // A node of number 0 tells the kernel to remember that the name is missing: PCM asks for 65536 functions.
            None => match self.node(parent) {
                Some(folder) => reply.entry(&FOREVER, &attributes(0, folder), Generation(0)),
                None => reply.error(Errno::ENOENT),
            },
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.node(number) {
            Some(node) => reply.attr(&FOREVER, &attributes(number.0, node)),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Programs truncate what they open for writing; device files ignore it.
    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        _size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match self.node(number) {
            Some(node) => reply.attr(&FOREVER, &attributes(number.0, node)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let Some(node) = self.node(number) else { return reply.error(Errno::ENOENT) };
        let writes = flags.0 & libc::O_ACCMODE != libc::O_RDONLY;
        match &node.content {
            Content::Folder(_) => reply.error(Errno::EISDIR),
            Content::Text(_) | Content::Mapped(_) | Content::Cpuid { .. } if writes => reply.error(Errno::EACCES),
            // As a kernel under lockdown does: what was opened could be mapped.
            Content::Memory { is_open: false } => reply.error(Errno::EPERM),
            // Mapping needs the page cache.
            Content::Mapped(_) => reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE),
            _ => reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO),
        }
    }

    fn read(
        &self,
        request: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(node) = self.node(number) else { return reply.error(Errno::ENOENT) };
        match files::read(&self.of(request), &node.content, offset, size as usize) {
            Ok(data) => reply.data(&data),
            Err(errno) => reply.error(Errno::from_i32(errno)),
        }
    }

    fn write(
        &self,
        request: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let Some(node) = self.node(number) else { return reply.error(Errno::ENOENT) };
        match files::write(&self.of(request), &node.content, offset, data) {
            Ok(written) => reply.written(written as u32),
            Err(errno) => reply.error(Errno::from_i32(errno)),
        }
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let Some(node) = self.node(number) else { return reply.error(Errno::ENOENT) };
        let Content::Folder(names) = &node.content else { return reply.error(Errno::ENOTDIR) };
        let own = [(number.0, FileType::Directory, "."), (node.parent, FileType::Directory, "..")];
        let children = names.iter().map(|(name, &child)| {
            let kind = self.tree.node(child).map_or(FileType::RegularFile, |node| kind(&node.content));
            (child, kind, name.as_str())
        });
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        for (index, (child, kind, name)) in own.into_iter().chain(children).enumerate().skip(from) {
            if reply.add(INodeNo(child), index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
