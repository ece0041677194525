//! A terminal with nobody in front of it: a pseudo-terminal, a program on it, and what its screen shows.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Longer than anything takes here, however busy the host is.
const PATIENCE: Duration = Duration::from_secs(90);
/// Between two looks.
const MOMENT: Duration = Duration::from_millis(20);

/// A program on a terminal of its own.
pub struct Terminal {
    /// None once it is hung up.
    master: Option<File>,
    slave: File,
    program: Child,
    /// Its settings before the program started.
    before: Vec<u32>,
    pub screen: Screen,
}

fn check(status: libc::c_int) {
    assert!(status >= 0, "{}", io::Error::last_os_error());
}

fn settings_of(terminal: &File) -> Vec<u32> {
    // SAFETY: a structure of numbers.
    let mut settings: libc::termios = unsafe { std::mem::zeroed() };
    // SAFETY: an open descriptor and a structure valid for writes.
    check(unsafe { libc::tcgetattr(terminal.as_raw_fd(), &raw mut settings) });
    let flags = [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag];
    flags.into_iter().chain(settings.c_cc.map(u32::from)).collect()
}

impl Terminal {
    /// Starts a program on a terminal of `columns` by `lines`, as the leader of its session.
    pub fn start(mut command: Command, (columns, lines): (u16, u16)) -> Self {
        // Closed on exec from the start: in another test's program they would keep the terminal alive.
        // SAFETY: a system call with flags only.
        let master = unsafe { libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC) };
        check(master);
        // SAFETY: it is open and nobody else's.
        let master = unsafe { File::from_raw_fd(master) };
        let mut name = [0; 64];
        let size = libc::winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = master.as_raw_fd();
        // SAFETY: the descriptor is open, the name has room, and the size is valid.
        unsafe {
            check(libc::grantpt(terminal));
            check(libc::unlockpt(terminal));
            assert_eq!(libc::ptsname_r(terminal, name.as_mut_ptr(), name.len()), 0, "the terminal has a name");
            check(libc::ioctl(terminal, libc::TIOCSWINSZ, &raw const size));
        }
        // SAFETY: ptsname_r has ended the name with 0.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_str().expect("a path");
        let mut options = File::options();
        let slave = options.read(true).write(true).custom_flags(libc::O_NOCTTY).open(name).expect("a terminal");
        let end = || slave.try_clone().expect("a descriptor");
        command.stdin(end()).stdout(end()).stderr(end()).env("TERM", "xterm");
        // SAFETY: system calls only.
        unsafe {
            command.pre_exec(|| {
                // The tests may have been started with it ignored, as by `nohup`, and programs keep that.
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                libc::setsid();
                if libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
            });
        }
        let before = settings_of(&slave);
        let program = command.spawn().expect("the program starts");
        Self { master: Some(master), slave, program, before, screen: Screen::default() }
    }

    /// Presses keys.
    pub fn press(&self, keys: &str) {
        self.master.as_ref().expect("not hung up").write_all(keys.as_bytes()).expect("it takes keys");
    }

    /// Waits until the screen shows something. Nobody reads what the program writes but while somebody waits.
    #[track_caller]
    pub fn until(&mut self, what: &str, mut shows: impl FnMut(&Screen) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !shows(&self.screen) {
            assert!(Instant::now() < end, "no {what}:\n{}", self.screen.text());
            self.read();
        }
    }

    /// Waits for the program's end.
    #[track_caller]
    pub fn status(&mut self) -> ExitStatus {
        let status = self.status_unread();
        while self.read() {}
        status
    }

    /// The same on a terminal that takes no more than what fits into its buffers.
    #[track_caller]
    pub fn status_unread(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.program.try_wait().expect("a child") {
                return status;
            }
            assert!(
                Instant::now() < end,
                "it does not end:\n{}\n{}",
                self.screen.text(),
                threads_of(self.program.id())
            );
            std::thread::sleep(MOMENT);
        }
    }

    /// Takes what was written, after a moment if there is nothing yet. True if there was something.
    fn read(&mut self) -> bool {
        let Some(master) = &mut self.master else { return false };
        let mut entry = libc::pollfd { fd: master.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid entry.
        check(unsafe { libc::poll(&raw mut entry, 1, MOMENT.as_millis() as libc::c_int) });
        let mut bytes = [0; 4096];
        let count = if entry.revents & libc::POLLIN != 0 { master.read(&mut bytes).expect("output") } else { 0 };
        self.screen.take(&bytes[..count]);
        count > 0
    }

    /// Another size; the program is told.
    pub fn resize(&self, columns: u16, lines: u16) {
        let size = libc::winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: an open descriptor and a valid size.
        check(unsafe { libc::ioctl(self.slave.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) });
    }

    /// The settings of the line, all that there are.
    pub fn settings(&self) -> Vec<u32> {
        settings_of(&self.slave)
    }

    /// The settings before the program started: it may change them at any time after that.
    pub fn settings_before(&self) -> Vec<u32> {
        self.before.clone()
    }

    /// Sends a signal to the program alone.
    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: no memory is involved, and the child has not been waited for.
        check(unsafe { libc::kill(self.program.id().cast_signed(), signal) });
    }

    /// Sends a signal to all programs of the job that has the terminal.
    pub fn signal_job(&self, signal: libc::c_int) {
        // SAFETY: an open descriptor, and no memory is involved. The job is a child's or the child's own, and has not been waited for.
        unsafe {
            // Of the other end only programs in its session may ask.
            let job = libc::tcgetpgrp(self.master.as_ref().expect("not hung up").as_raw_fd());
            check(job);
            check(libc::kill(-job, signal));
        }
    }

    /// The terminal goes away.
    pub fn hang_up(&mut self) {
        self.master = None;
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Where the threads of a process and of its children wait, for people.
fn threads_of(process: u32) -> String {
    let folder = format!("/proc/{process}/task");
    let mut text = String::new();
    for thread in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let read = |name: &str| std::fs::read_to_string(thread.path().join(name)).unwrap_or_default();
        let [name, call, children] = ["comm", "syscall", "children"].map(read);
        text += &format!("{process} {}: {call}", name.trim());
        text.extend(children.split_whitespace().filter_map(|child| child.parse().ok()).map(threads_of));
    }
    text
}

/// The second place of a wide character.
const BEHIND: char = '\0';

/// What a terminal shows, as far as this program asks for.
#[derive(Default)]
pub struct Screen {
    /// The lines of the other screen.
    pub lines: Vec<String>,
    /// All that was written to the usual screen.
    pub before: String,
    pub is_other: bool,
    pub is_cursor_hidden: bool,
    /// What stands in them: a wide character takes two places, the second is [`BEHIND`].
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    rest: Vec<u8>,
}

impl Screen {
    fn take(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.rest);
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        // What is cut off is for the next time.
        if let Err(error) = std::str::from_utf8(&bytes) {
            let valid = error.valid_up_to();
            self.rest = bytes[valid..].to_vec();
            text = String::from_utf8_lossy(&bytes[..valid]).into_owned();
        }
        self.carry_out(&text);
        let shown = |cells: &Vec<char>| {
            let line: String = cells.iter().filter(|sign| **sign != BEHIND).collect();
            line.trim_end().to_owned()
        };
        self.lines = self.cells.iter().map(shown).collect();
    }

    fn carry_out(&mut self, text: &str) {
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            if character != '\x1b' {
                self.put(character);
                continue;
            }
            let sequence: String = characters.clone().collect();
            let Some(end) = sequence.find(|letter: char| letter.is_ascii_alphabetic()) else {
                self.rest.splice(0..0, format!("\x1b{sequence}").into_bytes());
                return;
            };
            self.obey(&sequence[..=end]);
            characters = text[text.len() - sequence.len() + end + 1..].chars();
        }
    }

    fn put(&mut self, character: char) {
        if !self.is_other {
            self.before.push(character);
            return;
        }
        assert!(!character.is_control(), "{character:?} on the screen:\n{}", self.text());
        if self.cells.len() <= self.row {
            self.cells.resize(self.row + 1, Vec::new());
        }
        // Of what is not ASCII only scripts of East Asia are wide here.
        let width = if matches!(character, '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}') { 2 } else { 1 };
        let line = &mut self.cells[self.row];
        if line.len() < self.column + width {
            line.resize(self.column + width, ' ');
        }
        line[self.column] = character;
        if width == 2 {
            line[self.column + 1] = BEHIND;
        }
        self.column += width;
    }

    fn obey(&mut self, sequence: &str) {
        match sequence {
            "[?1049h" => (self.is_other, self.cells) = (true, Vec::new()),
            "[?1049l" => self.is_other = false,
            "[?25l" => self.is_cursor_hidden = true,
            "[?25h" => self.is_cursor_hidden = false,
            "[2J" => self.cells.clear(),
            _ if sequence.ends_with('H') => {
                let mut numbers = sequence[1..sequence.len() - 1].split(';').map(|number| number.parse::<usize>());
                let mut next = || numbers.next().expect("two numbers").expect("a number") - 1;
                (self.row, self.column) = (next(), next());
            }
            // Together, and colours.
            "[?2026h" | "[?2026l" => {}
            _ if sequence.ends_with('m') => {}
            _ => panic!("an unknown sequence: {sequence:?}"),
        }
    }

    /// All of it, for people.
    pub fn text(&self) -> String {
        format!("{}\n--\n{}", self.before, self.lines.join("\n"))
    }

    /// The first line with these words.
    pub fn line(&self, words: &str) -> Option<&str> {
        self.lines.iter().map(String::as_str).find(|line| line.contains(words))
    }
    /// The first row of the table that begins with these words.
    pub fn row(&self, words: &str) -> Option<&str> {
        let begins = |line: &&str| line.strip_prefix([' ', '>']).is_some_and(|row| row.starts_with(words));
        self.lines.iter().map(String::as_str).find(begins)
    }
}
