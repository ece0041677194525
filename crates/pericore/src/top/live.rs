//! What goes on beside the measurement: one thread hears keys, another draws. A terminal that is slow delays neither
//! samples nor keys: frames that it has no time for are left out.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use pericore_dashboard::frame::{picture, room};
use pericore_dashboard::{Key, KeyCommand, State, keys};
use pericore_observe::linux::privileges::{self, Needs};
use signal_hook::consts::{SIGCONT, SIGTSTP, SIGWINCH};
use signal_hook::low_level::pipe;

use super::screen::{Screen, Waited};
use crate::confined::{ThreadPart, confine};
use crate::failure::Failure;
use crate::job;
use crate::measure::Ender;
use crate::signals;

/// Between two frames at least: eyes do not follow faster.
const LEAST_GAP: Duration = Duration::from_millis(30);
/// How long the rest of a key's bytes may take.
const REST_OF_KEY: Duration = Duration::from_millis(300);
/// How long the threads may take to end: one may be writing to a terminal that takes nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks whether a signal has come.
const LOOK: Duration = Duration::from_millis(5);
/// After a stop, how long a signal that ended it together may take to be heard.
const AFTER_STOP: Duration = Duration::from_millis(50);

/// What the threads share.
#[derive(Debug)]
struct Shared {
    board: Mutex<Board>,
    changed: Condvar,
    is_over: AtomicBool,
    /// A signal asked for the end.
    end_requested: Arc<AtomicBool>,
    /// A thread has failed.
    is_broken: AtomicBool,
}

/// What is to be drawn.
#[derive(Debug)]
struct Board {
    state: State,
    /// It is another than what stands on the screen.
    is_stale: bool,
}

/// A terminal with somebody in front of it.
#[derive(Debug)]
pub struct Live {
    shared: Arc<Shared>,
    screen: Arc<Screen>,
    call: UnixStream,
    /// Nothing is ever sent: it closes when all threads are through.
    threads: Receiver<()>,
    is_given_back: Arc<AtomicBool>,
}

impl Live {
    /// Takes the terminal over and starts the threads. `ender` ends the measurement.
    ///
    /// # Errors
    /// The system refuses a thread or a handler, or the terminal does not do as it is told.
    pub fn start(state: State, screen: Arc<Screen>, ender: &Ender) -> Result<Self, Failure> {
        Self::begin(state, screen, ender).map_err(|error| Failure::failed(format!("cannot use the terminal: {error}")))
    }

    fn begin(state: State, screen: Arc<Screen>, ender: &Ender) -> io::Result<Self> {
        let (listener, call) = UnixStream::pair()?;
        listener.set_nonblocking(true)?;
        call.set_nonblocking(true)?;
        // First, so that it comes first: when the terminal is given back, a stop is one like any other.
        let is_given_back = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register_conditional_default(SIGTSTP, Arc::clone(&is_given_back))?;
        let [told_to_stop, continued, end_requested] = [vec![SIGTSTP], vec![SIGCONT], signals::that_end().collect()]
            .map(|signals| {
                let flag = Arc::new(AtomicBool::new(false));
                let register = |&signal: &i32| signal_hook::flag::register(signal, Arc::clone(&flag)).map(|_| ());
                signals.iter().try_for_each(register).map(|()| flag)
            });
        // The size is another, a stop is wanted, or one is over.
        for signal in [SIGWINCH, SIGTSTP, SIGCONT] {
            pipe::register(signal, call.try_clone()?)?;
        }
        let shared = Arc::new(Shared {
            board: Mutex::new(Board { state, is_stale: true }),
            changed: Condvar::new(),
            is_over: AtomicBool::new(false),
            end_requested: end_requested?,
            is_broken: AtomicBool::new(false),
        });
        give_back_on_panic(&screen);
        let (alive, threads) = channel();
        let live = Self { shared: Arc::clone(&shared), screen: Arc::clone(&screen), call, threads, is_given_back };
        screen.enter()?;
        let at_end = || AtEnd { shared: Arc::clone(&shared), ender: ender.clone(), _alive: alive.clone() };
        let (hearing, drawing) = (at_end(), at_end());
        let ears = Ears {
            shared: Arc::clone(&shared),
            screen: Arc::clone(&screen),
            listener,
            told_to_stop: told_to_stop?,
            continued: continued?,
            ender: ender.clone(),
        };
        thread::Builder::new().name("keys".to_owned()).spawn(move || {
            let _at_end = hearing;
            give_up_rights();
            ears.listen();
        })?;
        thread::Builder::new().name("frames".to_owned()).spawn(move || {
            let _at_end = drawing;
            give_up_rights();
            shared.draw(&screen);
        })?;
        Ok(live)
    }

    /// Changes what is shown.
    pub fn change(&self, change: impl FnOnce(&mut State)) {
        self.shared.change(change);
    }

    /// Gives the terminal back.
    ///
    /// # Errors
    /// The display failed, and said why on its way.
    pub fn end(self) -> Result<(), Failure> {
        let shared = Arc::clone(&self.shared);
        drop(self);
        if shared.is_broken.load(Ordering::SeqCst) {
            return Err(Failure::failed("the display failed; `pericore top -b` prints plain text instead"));
        }
        Ok(())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.shared.change(|_| ());
        // A socket that is full calls, too.
        let _ = self.call.write(&[0]);
        let _ = self.threads.recv_timeout(PATIENCE);
        self.screen.leave();
        self.is_given_back.store(true, Ordering::SeqCst);
    }
}

/// A thread's last deed, however it ends: without it there is nothing to look at, so the measurement ends too.
struct AtEnd {
    shared: Arc<Shared>,
    ender: Ender,
    _alive: Sender<()>,
}

impl Drop for AtEnd {
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.is_broken.store(true, Ordering::SeqCst);
        }
        self.ender.end();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut board = self.lock();
        let result = change(&mut board.state);
        board.is_stale = true;
        self.changed.notify_all();
        result
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Uses of a terminal that goes away fail before the kernel has sent its signal, by which the program is to end. A
    /// terminal that fails for another reason sends none.
    fn wait_for_hangup(&self) {
        let mut waited = Duration::ZERO;
        while waited < PATIENCE && !self.is_over() && !self.end_requested.load(Ordering::SeqCst) {
            thread::sleep(LOOK);
            waited += LOOK;
        }
    }

    /// Draws until all is over, or the terminal is gone.
    fn draw(&self, screen: &Screen) {
        loop {
            let stale = self.changed.wait_while(self.lock(), |board| !board.is_stale);
            let mut board = stale.unwrap_or_else(PoisonError::into_inner);
            if self.is_over() {
                return;
            }
            board.is_stale = false;
            let (width, height) = screen.size();
            board.state.room = room(&board.state, width, height);
            let picture = picture(&board.state, width, height);
            drop(board);
            if screen.draw(&picture).is_err() {
                self.wait_for_hangup();
                return;
            }
            thread::sleep(LEAST_GAP);
        }
    }
}

/// The thread that hears keys.
struct Ears {
    shared: Arc<Shared>,
    screen: Arc<Screen>,
    /// Something to read means: look at everything.
    listener: UnixStream,
    /// A signal asked for a stop, as the key does.
    told_to_stop: Arc<AtomicBool>,
    /// A stop is over.
    continued: Arc<AtomicBool>,
    ender: Ender,
}

impl Ears {
    /// Listens until all is over, or the terminal is gone.
    fn listen(mut self) {
        let mut bytes = Vec::new();
        loop {
            let at_most = (!bytes.is_empty()).then_some(REST_OF_KEY);
            let waited = self.screen.wait(&self.listener, at_most, &mut bytes);
            if self.shared.is_over() {
                return;
            }
            let mut pressed = match waited {
                Err(_) => {
                    self.shared.wait_for_hangup();
                    return;
                }
                Ok(Waited::Called) => {
                    self.look_around();
                    continue;
                }
                Ok(Waited::Keys) => Vec::new(),
                // The rest did not come: a lone escape is a key.
                Ok(Waited::InVain) if std::mem::take(&mut bytes).len() == 1 => vec![Key::Escape],
                Ok(Waited::InVain) => Vec::new(),
            };
            let (more, rest) = keys(&bytes);
            bytes.drain(..bytes.len() - rest);
            pressed.extend(more);
            for key in pressed {
                match self.shared.change(|state| state.press(key)) {
                    KeyCommand::Nothing => {}
                    KeyCommand::End => self.ender.end(),
                    KeyCommand::Suspend => self.stop(),
                }
            }
        }
    }

    /// After a signal: another size, a stop, or the end of one.
    fn look_around(&mut self) {
        let mut calls = [0; 64];
        // How many called does not matter.
        let _ = self.listener.read(&mut calls);
        if self.told_to_stop.swap(false, Ordering::SeqCst) {
            self.stop();
        } else if self.continued.load(Ordering::SeqCst) {
            self.go_on();
        }
        self.shared.change(|_| ());
    }

    /// Stops as Ctrl-Z stops other programs: all of the process group, so that the shell notices.
    fn stop(&self) {
        self.screen.leave();
        self.continued.store(false, Ordering::SeqCst);
        job::stop_others();
        // On a busy machine the shell can have noticed by now, and the user can have typed `fg`: that was for us, too.
        if !self.continued.load(Ordering::SeqCst) {
            job::stop();
        }
        // Who stopped all of us has asked once.
        self.told_to_stop.store(false, Ordering::SeqCst);
        self.go_on();
    }

    /// Takes the terminal over again, unless the end was asked for meanwhile: whoever ends a stopped job keeps the
    /// terminal.
    fn go_on(&self) {
        thread::sleep(AFTER_STOP);
        self.continued.store(false, Ordering::SeqCst);
        if self.shared.end_requested.load(Ordering::SeqCst) || self.shared.is_over() {
            return;
        }
        // A terminal that is gone shows when it is read.
        let _ = self.screen.enter();
        self.shared.change(|_| ());
    }
}

/// A terminal takes none. If they cannot be given up, the measurement says so.
fn give_up_rights() {
    let _ = privileges::keep_only(Needs::default());
    confine(ThreadPart::Measuring, &[]);
}

/// A panic's message belongs on the terminal as it was.
fn give_back_on_panic(screen: &Arc<Screen>) {
    let (screen, before) = (Arc::clone(screen), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        screen.leave();
        before(panic);
    }));
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::{AsRawFd, FromRawFd};

    use pericore_dashboard::Look;

    use super::*;

    /// Both ends of a pseudo-terminal.
    fn terminal() -> (File, File) {
        let (mut master, mut slave) = (0, 0);
        let (none, no_settings, no_size) = (std::ptr::null_mut(), std::ptr::null(), std::ptr::null());
        // SAFETY: room for two descriptors.
        let status = unsafe { libc::openpty(&raw mut master, &raw mut slave, none, no_settings, no_size) };
        assert_eq!(status, 0, "{}", io::Error::last_os_error());
        // SAFETY: both are open and nobody else's.
        unsafe { (File::from_raw_fd(master), File::from_raw_fd(slave)) }
    }

    fn local_flags(terminal: &File) -> libc::tcflag_t {
        // SAFETY: a structure of numbers.
        let mut settings: libc::termios = unsafe { std::mem::zeroed() };
        // SAFETY: an open descriptor, and a structure valid for writes.
        assert_eq!(unsafe { libc::tcgetattr(terminal.as_raw_fd(), &raw mut settings) }, 0);
        settings.c_lflag
    }

    /// A panic anywhere: before its message comes, the terminal is as it was.
    #[test]
    fn a_panic_gives_the_terminal_back() {
        let (mut master, slave) = terminal();
        let own = || slave.try_clone().unwrap();
        let before = local_flags(&slave);
        let ender = Ender::default();
        let live =
            Live::start(State::new(1.0, Look::default(), None), Screen::on(own(), own()).unwrap(), &ender).unwrap();
        assert_eq!(local_flags(&slave) & (libc::ICANON | libc::ECHO), 0);
        let shared = Arc::clone(&live.shared);
        let panicked = thread::spawn(move || shared.change(|_| panic!("on purpose"))).join();
        assert!(panicked.is_err());
        assert_eq!(local_flags(&slave), before);
        live.end().unwrap();
        // The word behind all that was written.
        (&slave).write_all(b"!").unwrap();
        let mut written = Vec::new();
        while written.last() != Some(&b'!') {
            let mut bytes = [0; 4096];
            let count = master.read(&mut bytes).unwrap();
            written.extend_from_slice(&bytes[..count]);
        }
        let written = String::from_utf8(written).unwrap();
        let [entered, left] = ["\x1b[?1049h", "\x1b[?1049l"].map(|words| written.matches(words).count());
        assert_eq!((entered, left), (1, 1), "{written:?}");
        assert!(ender.is_requested());
    }

    /// Reads of a terminal that goes away fail before SIGHUP is sent: that has its time to come first.
    #[test]
    fn a_terminal_that_goes_away_leaves_the_signal_its_time() {
        let (master, slave) = terminal();
        let (ender, screen) = (Ender::default(), Screen::on(slave.try_clone().unwrap(), slave).unwrap());
        let live = Live::start(State::new(1.0, Look::default(), None), screen, &ender).unwrap();
        let began = std::time::Instant::now();
        drop(master);
        while !ender.is_requested() && began.elapsed() < 90 * PATIENCE {
            thread::sleep(LOOK);
        }
        assert!(ender.is_requested() && began.elapsed() >= PATIENCE);
        live.end().unwrap();
    }
}
