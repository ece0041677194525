//! The guest's serial ports on the host's side: a thread reads each of them.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Bytes kept of a log.
const KEPT: usize = 2000;
/// The longest line that the guest's first process sends.
const LONGEST_LINE: usize = 200;

/// The end of a log that somebody else writes.
#[derive(Debug, Clone, Default)]
pub struct Tail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
}

impl Tail {
    /// Keeps the last of what `source` says.
    pub fn follow(&self, mut source: impl Read + Send + 'static) -> JoinHandle<()> {
        let tail = self.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 1024];
            while let Ok(count @ 1..) = source.read(&mut buffer) {
                let mut bytes = tail.bytes.lock().unwrap_or_else(PoisonError::into_inner);
                bytes.extend(&buffer[..count]);
                let excess = bytes.len().saturating_sub(KEPT);
                bytes.drain(..excess);
            }
        })
    }

    /// The last of it, without control characters.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.chars().filter(|&c| c == '\n' || !c.is_control()).collect::<String>().trim().to_owned()
    }
}

/// Passes everything on until the guest is gone.
pub fn pass_on(mut source: impl Read + Send + 'static, mut sink: impl Write + Send + 'static) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        let mut is_open = true;
        while let Ok(count @ 1..) = source.read(&mut buffer) {
            // A closed sink must not stop the guest, whose status is still to come.
            is_open = is_open && sink.write_all(&buffer[..count]).and_then(|()| sink.flush()).is_ok();
        }
    })
}

/// What the guest's first process says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// The command starts.
    Ready,
    /// The command ended.
    Exit(u8),
    /// Something else.
    Unknown(String),
}

impl Word {
    /// Reads a line.
    pub fn parse(line: &str) -> Self {
        let line = line.trim();
        if line == "ready" {
            return Self::Ready;
        }
        let status = line.strip_prefix("exit ").and_then(|number| number.parse().ok());
        status.map_or_else(|| Self::Unknown(line.to_owned()), Self::Exit)
    }
}

/// Sends each line of the talk until the guest is gone.
pub fn listen(mut source: impl Read + Send + 'static, sender: Sender<Word>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let (mut line, mut byte) = (Vec::new(), [0]);
        while let Ok(1) = source.read(&mut byte) {
            if byte != *b"\n" {
                line.push(byte[0]);
            }
            if byte == *b"\n" || line.len() == LONGEST_LINE {
                // Nobody may listen any more.
                let _ = sender.send(Word::parse(&String::from_utf8_lossy(&line)));
                line.clear();
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_talk() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let text = format!("ready\r\nexit 3\nexit 300\n\n{}\n", "x".repeat(300));
        listen(std::io::Cursor::new(text), sender).join().unwrap();
        let words: Vec<_> = receiver.iter().collect();
        assert_eq!(words[..2], [Word::Ready, Word::Exit(3)]);
        assert_eq!(words[2..4], [Word::Unknown("exit 300".into()), Word::Unknown(String::new())]);
        assert_eq!(words[4..], [Word::Unknown("x".repeat(200)), Word::Unknown("x".repeat(100))]);
    }

    /// A guest whose output nobody takes runs on, and nobody is asked again.
    #[test]
    fn a_closed_sink_does_not_stop_the_guest() {
        struct Closed(Sender<usize>);
        impl Write for Closed {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.send(bytes.len()).unwrap();
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        pass_on(std::io::Cursor::new(vec![b'x'; 3 * 4096]), Closed(sender)).join().unwrap();
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [4096]);
    }

    #[test]
    fn a_tail_keeps_the_end() {
        let tail = Tail::default();
        tail.follow(std::io::Cursor::new(format!("{}\u{1b}[0mlast\n", "a".repeat(5000)))).join().unwrap();
        let text = tail.text();
        assert!(text.ends_with("a[0mlast") && text.len() <= KEPT, "{text}");
    }
}
