//! Where to listen: a TCP port, or a Unix socket that only its user and group can reach.

use std::fmt;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, TcpListener};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};

/// Connections that may wait to be accepted, as many as the standard library lets wait.
const BACKLOG: i32 = 128;

/// What a Unix socket's user and group may do, and nobody else: read and write.
const MODE: u32 = 0o660;

/// A place to listen at, as it is written: `ADDR:PORT`, `:PORT` for all addresses, `unix:/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// A TCP port; port 0 is one that is free.
    Tcp(SocketAddr),
    /// A TCP port of all addresses, IPv4 and IPv6 as far as the system has them.
    All(u16),
    /// A Unix socket.
    Unix(PathBuf),
}

/// Why nobody can listen there.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The text names no place.
    #[error(
        "{0:?}: give ADDR:PORT such as 127.0.0.1:9988 or [::1]:9988, :PORT for all addresses, or unix:/path/to/socket"
    )]
    Place(String),
    /// Somebody listens there already.
    #[error("{0} is in use: another server listens there; end it, or listen elsewhere with --listen")]
    InUse(Listen),
    /// There is a file, and no socket.
    #[error("{} exists and is no socket; name another path with --listen", .0.display())]
    NoSocket(PathBuf),
    /// The system refuses.
    #[error("cannot listen at {place}: {error}")]
    System {
        /// Where.
        place: Listen,
        /// The system's message.
        error: io::Error,
    },
}

impl FromStr for Listen {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        let wrong = || ListenError::Place(text.to_owned());
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() { Err(wrong()) } else { Ok(Self::Unix(path.into())) };
        }
        if let Some(port) = text.strip_prefix(':') {
            return port.parse().map(Self::All).map_err(|_| wrong());
        }
        text.replace("localhost:", "127.0.0.1:").parse().map(Self::Tcp).map_err(|_| wrong())
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "http://{address}"),
            Self::All(port) => write!(f, "port {port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A place that is listened at.
#[derive(Debug)]
pub struct Listener {
    pub(crate) socket: Socket,
    place: Listen,
    file: Option<SocketFile>,
}

#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Listens. A Unix socket that nobody listens at any more is replaced.
    ///
    /// # Errors
    /// [`ListenError`] if somebody else does, or if the system refuses.
    pub fn open(place: &Listen) -> Result<Self, ListenError> {
        let refuse = |error: io::Error| match error.kind() {
            io::ErrorKind::AddrInUse => ListenError::InUse(place.clone()),
            _ => ListenError::System { place: place.clone(), error },
        };
        match place {
            Listen::Tcp(address) => TcpListener::bind(address).and_then(Self::tcp).map_err(refuse),
            Listen::All(port) => all(*port, both).and_then(Self::tcp).map_err(refuse),
            Listen::Unix(path) => {
                make_room(path, refuse)?;
                let socket = bound(path).map_err(refuse)?;
                let file = SocketFile::of(path).map_err(refuse)?;
                Ok(Self { socket: Socket::Unix(socket), place: place.clone(), file: Some(file) })
            }
        }
    }

    fn tcp(socket: TcpListener) -> io::Result<Self> {
        let place = Listen::Tcp(socket.local_addr()?);
        Ok(Self { socket: Socket::Tcp(socket), place, file: None })
    }

    /// Where it listens, with the port that the system chose if it had the choice.
    pub const fn place(&self) -> &Listen {
        &self.place
    }

    /// The file of a Unix socket, for whoever outlives the listener: it is removed when this is dropped.
    pub const fn take_file(&mut self) -> Option<SocketFile> {
        self.file.take()
    }
}

/// A port of all addresses: of IPv4 alone where `both` finds no IPv6.
fn all(port: u16, both: impl Fn(u16) -> Result<TcpListener, Errno>) -> io::Result<TcpListener> {
    match both(port) {
        Err(Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)),
        bound => bound.map_err(io::Error::from),
    }
}

/// A port of IPv6 that takes connections by IPv4 as well, even where the system's default is that it does not.
fn both(port: u16) -> Result<TcpListener, Errno> {
    let socket = socket_with(AddressFamily::INET6, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_ipv6_v6only(&socket, false)?;
    // As the standard library does: a port whose last connections are still being closed is free.
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, port, 0, 0))?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// Makes sure that the path may be taken: nothing is there, or a socket at which nobody listens.
fn make_room(path: &Path, refuse: impl Fn(io::Error) -> ListenError) -> Result<(), ListenError> {
    let kind = match fs::symlink_metadata(path) {
        Ok(data) => data.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(refuse(error)),
    };
    if !kind.is_socket() {
        return Err(ListenError::NoSocket(path.to_owned()));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Ok(_) => Err(ListenError::InUse(Listen::Unix(path.to_owned()))),
        Err(error) => Err(refuse(error)),
    }
}

/// A socket that appears at the path with its mode, in place of a stale one: nobody can reach it before it has the mode.
fn bound(path: &Path) -> io::Result<UnixListener> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let aside = path.with_file_name(name);
    let socket = UnixListener::bind(&aside)?;
    let placed = fs::set_permissions(&aside, fs::Permissions::from_mode(MODE)).and_then(|()| fs::rename(&aside, path));
    if placed.is_err() {
        let _ = fs::remove_file(&aside);
    }
    placed.map(|()| socket)
}

/// The file of a socket, removed when it is dropped unless another socket has taken its place.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<Self> {
        // Whoever changes the folder before the end still has it removed.
        let path = std::path::absolute(path)?;
        let identity = identity(&path)?;
        Ok(Self { path, identity })
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|data| (data.dev(), data.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|identity| identity == self.identity) {
            // A socket that stays is stale, and the next server replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        for (text, shown) in [
            ("127.0.0.1:9988", "http://127.0.0.1:9988"),
            ("localhost:1", "http://127.0.0.1:1"),
            (":80", "port 80"),
            ("[::1]:80", "http://[::1]:80"),
            ("unix:/run/x", "unix:/run/x"),
        ] {
            assert_eq!(text.parse::<Listen>().unwrap().to_string(), shown);
        }
        for text in ["", "9988", "127.0.0.1", "127.0.0.1:99999", "unix:", ":", ":x", "example.org:80"] {
            assert!(text.parse::<Listen>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_port_in_use_is_refused() {
        let first = Listener::open(&"127.0.0.1:0".parse().unwrap()).unwrap();
        assert!(!first.place().to_string().ends_with(":0"), "{}", first.place());
        let error = Listener::open(first.place()).unwrap_err();
        assert!(matches!(&error, ListenError::InUse(place) if place == first.place()), "{error}");
    }

    /// A connection to the loopback address of IPv4, at a listener of all addresses.
    fn reaches(socket: &TcpListener) -> bool {
        let port = socket.local_addr().unwrap().port();
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
    }

    #[test]
    fn all_addresses_are_those_of_both_kinds() {
        for error in [Errno::AFNOSUPPORT, Errno::ADDRNOTAVAIL] {
            let socket = all(0, |_| Err(error)).unwrap();
            assert!(socket.local_addr().unwrap().is_ipv4() && reaches(&socket));
        }
        assert_eq!(all(0, |_| Err(Errno::ACCESS)).unwrap_err().raw_os_error(), Some(Errno::ACCESS.raw_os_error()));
        // Here there may be no IPv6.
        let socket = all(0, both).unwrap();
        assert!(reaches(&socket));
        let port = socket.local_addr().unwrap().port();
        assert!(matches!(Listener::open(&Listen::All(port)), Err(ListenError::InUse(_))));
        if let Ok(socket) = both(0) {
            assert!(!sockopt::ipv6_v6only(&socket).unwrap());
        }
    }

    #[test]
    fn a_stale_socket_is_replaced_and_a_living_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let place = Listen::Unix(path.clone());
        // Its listener is gone, its file is not.
        drop(UnixListener::bind(&path).unwrap());
        let living = Listener::open(&place).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, MODE);
        UnixStream::connect(&path).unwrap();
        assert!(matches!(Listener::open(&place), Err(ListenError::InUse(_))));
        drop(living);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is left behind");
        fs::write(&path, "a letter").unwrap();
        assert!(matches!(Listener::open(&place), Err(ListenError::NoSocket(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "a letter");
    }

    #[test]
    fn a_socket_that_took_our_place_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let ours = Listener::open(&Listen::Unix(path.clone())).unwrap();
        // Kept beside, so that its inode is not given out again.
        fs::rename(&path, folder.path().join("aside")).unwrap();
        let _theirs = UnixListener::bind(&path).unwrap();
        drop(ours);
        assert!(path.exists());
    }

    #[test]
    fn a_place_that_is_none_says_what_would_be_one() {
        let error = "example.org:80".parse::<Listen>().unwrap_err().to_string();
        assert_eq!(
            error,
            "\"example.org:80\": give ADDR:PORT such as 127.0.0.1:9988 or [::1]:9988, :PORT for all addresses, or unix:/path/to/socket"
        );
        assert_eq!(":80".parse::<Listen>().unwrap(), Listen::All(80));
        assert_eq!("unix:a".parse::<Listen>().unwrap(), Listen::Unix("a".into()));
        assert!(":65536".parse::<Listen>().is_err() && ":-1".parse::<Listen>().is_err());
    }

    /// A server that is ended while clients are connected can be started again at once: their connections are still being closed.
    #[test]
    fn a_port_is_free_as_soon_as_its_server_has_ended() {
        for place in [Listen::All(0), Listen::Tcp((Ipv4Addr::LOCALHOST, 0).into())] {
            let first = Listener::open(&place).unwrap();
            let Listen::Tcp(address) = *first.place() else { panic!("a port") };
            let Socket::Tcp(socket) = &first.socket else { panic!("a port") };
            let client = TcpStream::connect((Ipv4Addr::LOCALHOST, address.port())).unwrap();
            // The server's side closes first, so that it is the one that waits for stray packets.
            drop(socket.accept().unwrap());
            assert_eq!(io::Read::read(&mut &client, &mut [0]).unwrap(), 0);
            drop((first, client));
            let again = if place == Listen::All(0) { Listen::All(address.port()) } else { Listen::Tcp(address) };
            let again = Listener::open(&again).unwrap();
            assert_eq!(again.place(), &Listen::Tcp(address));
        }
    }

    #[test]
    fn what_the_system_refuses_is_said_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let said = |path: &Path| Listener::open(&Listen::Unix(path.to_owned())).unwrap_err().to_string();
        let path = folder.path().join("none/socket");
        assert_eq!(
            said(&path),
            format!("cannot listen at unix:{}: No such file or directory (os error 2)", path.display())
        );
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let path = file.join("socket");
        assert_eq!(said(&path), format!("cannot listen at unix:{}: Not a directory (os error 20)", path.display()));
        assert_eq!(said(&file), format!("{} exists and is no socket; name another path with --listen", file.display()));
        // A link that leads nowhere is somebody's file, too.
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("nothing"), &link).unwrap();
        assert!(said(&link).ends_with("is no socket; name another path with --listen"));
        // Whose datagrams nobody but their owner understands: it is alive all the same.
        let path = folder.path().join("datagrams");
        let _owner = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
        assert!(said(&path).starts_with("cannot listen at unix:"));
        assert!(std::os::unix::net::UnixDatagram::unbound().unwrap().connect(&path).is_ok());
        let path = folder.path().join("socket");
        let _living = Listener::open(&Listen::Unix(path.clone())).unwrap();
        let in_use = "is in use: another server listens there; end it, or listen elsewhere with --listen";
        assert_eq!(said(&path), format!("unix:{} {in_use}", path.display()));
    }

    /// A socket that cannot be put in its place leaves none beside it.
    #[test]
    fn a_socket_without_a_place_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        assert!(bound(&taken).is_err());
        let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["taken"]);
    }

    /// Taken from its listener, the file is removed when it is dropped, and not before; it knows the folder that must allow it.
    #[test]
    fn a_sockets_file_can_outlive_its_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let mut listener = Listener::open(&Listen::Unix(path.clone())).unwrap();
        assert_eq!(listener.place(), &Listen::Unix(path.clone()));
        let file = listener.take_file().expect("a file");
        assert!(listener.take_file().is_none());
        drop(listener);
        assert!(path.exists());
        assert_eq!(file.folder(), folder.path());
        drop(file);
        assert!(!path.exists());
        let mut port = Listener::open(&"127.0.0.1:0".parse().unwrap()).unwrap();
        assert!(port.take_file().is_none());
    }
}
