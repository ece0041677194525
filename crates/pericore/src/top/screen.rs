//! The terminal: taken over, drawn on, and always given back as it was. ratatui finds out what has changed; the calls
//! and the few escape sequences are ours, since its backends bring threads and signal handlers of their own
//! (`docs/decisions/display/0027-dashboard.md`).

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ratatui_core::buffer::Buffer;
use ratatui_core::terminal::{Terminal, TerminalOptions, Viewport};

use super::pen::Pen;

/// The other screen, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
/// The cursor again, and the screen as it was.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// What is between these appears at once, where a terminal can do that; others pass over them.
const TOGETHER: [&str; 2] = ["\x1b[?2026h", "\x1b[?2026l"];

/// How long to wait at the end for a frame that is being written: a terminal that takes nothing any more should not hold us.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(10);

/// Where a terminal's size is not known.
const USUAL: (usize, usize) = (80, 24);

/// A terminal that can be drawn on.
#[derive(Debug)]
pub struct Screen {
    keys: File,
    output: File,
    /// As it was when we came.
    before: Settings,
    is_ours: AtomicBool,
    /// What stands on it; nothing that is known, at first.
    shown: Mutex<Option<Terminal<Pen>>>,
}

/// The settings of a terminal's line.
#[derive(Clone, Copy)]
struct Settings(libc::termios);

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Settings({:#x}, {:#x})", self.0.c_iflag, self.0.c_lflag)
    }
}

impl Settings {
    fn of(terminal: &File) -> io::Result<Self> {
        // SAFETY: a structure of numbers.
        let mut settings = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open, and the structure valid for writes.
        if unsafe { libc::tcgetattr(terminal.as_raw_fd(), &raw mut settings) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self(settings))
    }

    /// At once: what waits to be written may wait for ever.
    fn apply(&self, terminal: &File) -> io::Result<()> {
        // SAFETY: the descriptor is open, and the structure valid.
        if unsafe { libc::tcsetattr(terminal.as_raw_fd(), libc::TCSANOW, &raw const self.0) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// The same, but keys come one by one, without an echo, and none of them is a signal.
    fn by_key(mut self) -> Self {
        self.0.c_lflag &= !(libc::ICANON | libc::ECHO | libc::ISIG | libc::IEXTEN);
        self.0.c_iflag &= !(libc::IXON | libc::ICRNL);
        self.0.c_cc[libc::VMIN] = 1;
        self.0.c_cc[libc::VTIME] = 0;
        self
    }
}

impl Screen {
    /// The terminal that standard input and output are; nothing if they are none, or one that cannot do what it takes.
    pub fn of_this_process() -> io::Result<Option<Arc<Self>>> {
        let (keys, output) = (io::stdin(), io::stdout());
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        if is_dumb || !keys.is_terminal() || !output.is_terminal() {
            return Ok(None);
        }
        let own = |stream: &dyn AsFd| stream.as_fd().try_clone_to_owned().map(File::from);
        Self::on(own(&keys)?, own(&output)?).map(Some)
    }

    /// A terminal that is not taken over yet.
    pub fn on(keys: File, output: File) -> io::Result<Arc<Self>> {
        let before = Settings::of(&keys)?;
        Ok(Arc::new(Self { keys, output, before, is_ours: AtomicBool::new(false), shown: Mutex::default() }))
    }

    /// Takes it over. To be called again when the program goes on after a stop: whatever stands there then is wiped off.
    pub fn enter(&self) -> io::Result<()> {
        let mut shown = self.lock();
        self.is_ours.store(true, Ordering::SeqCst);
        self.before.by_key().apply(&self.keys)?;
        *shown = None;
        (&self.output).write_all(ENTER.as_bytes())
    }

    /// Gives it back as it was, if it is ours. Nothing is reported: nobody could read it.
    pub fn leave(&self) {
        if !self.is_ours.swap(false, Ordering::SeqCst) {
            return;
        }
        let mut waited = Duration::ZERO;
        loop {
            if let Ok(_writing) = self.shown.try_lock() {
                let _ = (&self.output).write_all(LEAVE.as_bytes());
                break;
            }
            if waited >= PATIENCE {
                break;
            }
            std::thread::sleep(LOOK);
            waited += LOOK;
        }
        let _ = self.before.apply(&self.keys);
    }

    /// Columns and lines.
    pub fn size(&self) -> (usize, usize) {
        // SAFETY: a structure of numbers.
        let mut size: libc::winsize = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open, and the structure valid for writes.
        let known = unsafe { libc::ioctl(self.output.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) } == 0;
        match (size.ws_col, size.ws_row) {
            (1.., 1..) if known => (size.ws_col.into(), size.ws_row.into()),
            _ => USUAL,
        }
    }

    /// Draws a picture: what stands there already is not sent again.
    pub fn draw(&self, picture: &Buffer) -> io::Result<()> {
        let mut shown = self.lock();
        if !self.is_ours.load(Ordering::SeqCst) {
            return Ok(());
        }
        let mut terminal = match shown.take().filter(|known| known.backend().size() == picture.area.as_size()) {
            Some(known) => known,
            None => {
                let pen = Pen::new((picture.area.width, picture.area.height));
                Terminal::with_options(pen, TerminalOptions { viewport: Viewport::Fixed(picture.area) })?
            }
        };
        terminal.draw(|frame| frame.buffer_mut().clone_from(picture))?;
        let text = format!("{}{}{}", TOGETHER[0], terminal.backend_mut().take(), TOGETHER[1]);
        *shown = Some(terminal);
        (&self.output).write_all(text.as_bytes())
    }

    /// Waits for keys, at most so long, or for something to read from `other`. What is there is put into `bytes`.
    pub fn wait(&self, other: &impl AsRawFd, at_most: Option<Duration>, bytes: &mut Vec<u8>) -> io::Result<Waited> {
        let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut entries = [entry(self.keys.as_raw_fd()), entry(other.as_raw_fd())];
        let limit = at_most.map_or(-1, |wait| wait.as_millis().try_into().unwrap_or(i32::MAX));
        // SAFETY: two valid entries.
        let ready = unsafe { libc::poll(entries.as_mut_ptr(), 2, limit) };
        if ready < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(Waited::Called) } else { Err(error) };
        }
        if ready == 0 {
            return Ok(Waited::InVain);
        }
        if entries[0].revents == 0 {
            return Ok(Waited::Called);
        }
        let mut buffer = [0; 64];
        match (&self.keys).read(&mut buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                bytes.extend_from_slice(&buffer[..count]);
                Ok(Waited::Keys)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Waited::Called),
            Err(error) => Err(error),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Terminal<Pen>>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// Keys came.
    Keys,
    /// Somebody has something to say.
    Called,
    /// The time is over.
    InVain,
}
