//! Registers through the register process: the way for all who hold none themselves.

use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use pericore_registers::{AccessError, Address, Operation, Outcome, RegisterSpace, Width};

use super::message::{Frame, MessageKind};
use super::transcript::DiscoveryReplay;

/// How long a reply may take: thousands of registers behind memory that is powered down take a second.
const PATIENCE: Duration = Duration::from_secs(60);

/// What it means that no reply comes any more.
const GONE: &str = "the process that holds the registers is gone, or does not reply";

/// A connection to the register process. It has a thread there.
#[derive(Debug)]
pub struct RemoteSpace {
    /// Nothing once a reply has failed: what comes next could be the rest of it.
    stream: Option<UnixStream>,
    frame: Frame,
    replay: DiscoveryReplay,
    segments: Option<Vec<u16>>,
}

impl RemoteSpace {
    /// Through this socket; without one every access fails, and says why.
    pub(super) fn new(stream: Option<UnixStream>) -> Self {
        let in_time = |stream: &UnixStream| {
            let limits = stream.set_read_timeout(Some(PATIENCE)).and(stream.set_write_timeout(Some(PATIENCE)));
            limits.is_ok()
        };
        let stream = stream.filter(in_time);
        Self { stream, frame: Frame::default(), replay: DiscoveryReplay::default(), segments: None }
    }

    /// Has the files opened that these operations need, so that none is opened later.
    ///
    /// # Errors
    /// The process does not reply. What cannot be opened says so when it is accessed.
    pub fn hold_open(&mut self, operations: impl IntoIterator<Item = Operation>) -> io::Result<()> {
        self.frame.begin();
        operations.into_iter().for_each(|operation| self.frame.push_operation(operation, 0));
        self.done(MessageKind::Hold)
    }

    /// Has the thread at the other end give up every right that its accesses take no more.
    ///
    /// # Errors
    /// The process does not reply, or cannot.
    pub fn give_up_rights(&mut self) -> io::Result<()> {
        self.frame.begin();
        self.done(MessageKind::GiveUp)
    }

    fn done(&mut self, kind: MessageKind) -> io::Result<()> {
        match self.exchange(kind)? {
            MessageKind::Done if self.frame.text().is_empty() => Ok(()),
            MessageKind::Done => Err(io::Error::other(String::from_utf8_lossy(self.frame.text()).into_owned())),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Sends the frame and receives the reply in its place.
    fn exchange(&mut self, kind: MessageKind) -> io::Result<MessageKind> {
        let stream = self.stream.as_mut().ok_or_else(|| io::Error::other(GONE))?;
        let sent = self.frame.send(kind, stream);
        let reply = sent.and_then(|()| self.frame.receive(stream));
        let reply = reply.and_then(|kind| kind.ok_or_else(|| io::Error::other(GONE)));
        if reply.is_err() {
            self.stream = None;
        }
        reply
    }

    /// Has a list carried out; one outcome each is appended.
    fn carry_out_there(&mut self, operations: &[Operation], keeps: &[u64], outcomes: &mut Vec<Outcome<u64>>) {
        self.replay.end();
        self.frame.begin();
        for (at, operation) in operations.iter().enumerate() {
            self.frame.push_operation(*operation, keeps.get(at).copied().unwrap_or(0));
        }
        let reply = self.exchange(MessageKind::Operations);
        let is_whole = matches!(reply, Ok(MessageKind::Outcomes)) && self.frame.records() == operations.len();
        let mut read = 0;
        for (index, operation) in operations.iter().enumerate() {
            let outcome = match is_whole {
                true => self.frame.outcome(index, *operation, &mut read),
                false => Err(io::Error::other(GONE)),
            };
            outcomes.push(outcome.unwrap_or_else(|error| {
                self.stream = None;
                Err(AccessError::Io { address: operation.address(), message: error.to_string() })
            }));
        }
    }

    /// What discovery read there.
    fn found(&mut self) -> io::Result<()> {
        if self.exchange(MessageKind::Discover)? != MessageKind::Found {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // The segments, and behind them the messages of errors.
        let text = self.frame.text();
        let end = text.iter().position(|&byte| byte == b'\n').ok_or(io::ErrorKind::InvalidData)?;
        let segments = String::from_utf8_lossy(&text[..end]).into_owned();
        let segments: Option<Vec<u16>> = segments.split(' ').map(|segment| segment.parse().ok()).collect();
        let mut read = end + 1;
        let mut reads = VecDeque::with_capacity(self.frame.records() / 2);
        for index in (0..self.frame.records()).step_by(2) {
            let (operation, _) = self.frame.operation(index)?;
            reads.push_back((operation, self.frame.outcome(index + 1, operation, &mut read)?));
        }
        // Megabytes, and no later reply is as long.
        self.frame = Frame::default();
        self.segments = Some(segments.ok_or(io::ErrorKind::InvalidData)?);
        self.replay = DiscoveryReplay::of(reads);
        Ok(())
    }
}

impl RegisterSpace for RemoteSpace {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.carry_out(Operation::Read { address, width })
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.carry_out(Operation::Write { address, width, value }).map(|_| ())
    }

    fn carry_out(&mut self, operation: Operation) -> Outcome<u64> {
        if let Some(outcome) = self.replay.next(operation) {
            return outcome;
        }
        let mut outcomes = Vec::with_capacity(1);
        self.carry_out_there(&[operation], &[], &mut outcomes);
        outcomes.remove(0)
    }

    fn batch(&mut self, operations: &[Operation], outcomes: &mut Vec<Outcome<u64>>) {
        let before = outcomes.len();
        for operation in operations {
            match self.replay.next(*operation) {
                Some(outcome) => outcomes.push(outcome),
                None => break,
            }
        }
        let known = outcomes.len() - before;
        if known < operations.len() {
            self.carry_out_there(&operations[known..], &[], outcomes);
        }
    }

    fn carry_out_list(&mut self, operations: &[Operation], keeps: &[u64], outcomes: &mut Vec<Outcome<u64>>) {
        self.carry_out_there(operations, keeps, outcomes);
    }

    fn merge(&mut self, operation: Operation, keeps: u64) -> Outcome<u64> {
        let mut outcomes = Vec::with_capacity(1);
        self.carry_out_there(&[operation], &[keeps], &mut outcomes);
        outcomes.remove(0)
    }

    fn pci_segments(&mut self) -> Vec<u16> {
        self.segments.clone().unwrap_or_else(|| vec![0])
    }

    fn expect_discovery(&mut self, _: &str, units: &[&str]) {
        self.frame.begin();
        self.frame.push_text(units.join("\n").as_bytes());
        // Without a reply each read fails, and says why.
        let _ = self.found();
    }
}
