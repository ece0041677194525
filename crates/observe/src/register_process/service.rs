//! The register process from within: a thread for each connection, which checks each operation and carries it out.

use std::io::{self, Read, Write};
use std::sync::{Arc, PoisonError, RwLock};

use pericore_catalog::Family;
use pericore_registers::{AccessError, Address, Operation, Outcome, RegisterSpace, Width};

use super::message::{Frame, MessageKind};
use super::transcript::Transcribed;
use crate::discover::{Cpu, discover};
use crate::linux::privileges::{self, Needs};
use crate::linux::{LinuxSpace, NOT_PERMITTED};
use crate::permits::Permits;
use crate::process;

/// What all connections of a machine share.
#[derive(Debug, Clone)]
pub(super) struct ServiceState {
    family: &'static Family,
    cpus: Arc<[Cpu]>,
    permits: Arc<RwLock<Permits>>,
}

/// Registers whose files can be opened beforehand.
pub(super) trait Holds: RegisterSpace {
    /// Opens what these operations need.
    fn hold(&mut self, operations: Vec<Operation>);

    /// Gives up what accesses take no more.
    fn give_up(&mut self) -> io::Result<()>;
}

impl Holds for LinuxSpace {
    fn hold(&mut self, operations: Vec<Operation>) {
        self.hold_open(operations);
    }

    fn give_up(&mut self) -> io::Result<()> {
        privileges::keep_only(Needs { reads_through_proc: self.reads_through_proc(), ..Needs::default() })
    }
}

/// Registers that are in no files.
struct Unfiled<S>(S);

impl<S: RegisterSpace> RegisterSpace for Unfiled<S> {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.0.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.0.write(address, width, value)
    }
}

impl<S: RegisterSpace> Holds for Unfiled<S> {
    fn hold(&mut self, _: Vec<Operation>) {}

    fn give_up(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Serves a connection over registers that are in no files, as the register process does: for tests of what a peer
/// that has gone wrong could have done. Messages are in `message.rs`.
///
/// # Errors
/// What came was no message.
pub fn serve_over(
    space: impl RegisterSpace,
    family: &'static Family,
    cpus: &[Cpu],
    stream: impl Read + Write,
) -> io::Result<()> {
    ServiceState::new(family, cpus).serve(stream, Unfiled(space))
}

/// A connection, from within.
struct Service<S> {
    shared: ServiceState,
    space: S,
    request: Frame,
    reply: Frame,
    operations: Vec<Operation>,
    keeps: Vec<u64>,
    outcomes: Vec<Outcome<u64>>,
}

impl ServiceState {
    pub(super) fn new(family: &'static Family, cpus: &[Cpu]) -> Self {
        Self { family, cpus: cpus.into(), permits: Arc::new(RwLock::new(Permits::new(cpus))) }
    }

    /// Serves a connection until its other end is closed, or sends what is no message.
    pub(super) fn serve(self, mut stream: impl Read + Write, space: impl Holds) -> io::Result<()> {
        let mut service = Service {
            shared: self,
            space,
            request: Frame::default(),
            reply: Frame::default(),
            operations: Vec::new(),
            keeps: Vec::new(),
            outcomes: Vec::new(),
        };
        while let Some(kind) = service.request.receive(&mut stream)? {
            service.reply.begin();
            let kind = service.reply_to(kind)?;
            service.reply.send(kind, &mut stream)?;
            if kind == MessageKind::Found {
                // Megabytes, and no later reply is as long.
                service.reply = Frame::default();
            }
        }
        Ok(())
    }
}

impl<S: Holds> Service<S> {
    fn reply_to(&mut self, kind: MessageKind) -> io::Result<MessageKind> {
        match kind {
            MessageKind::Operations => self.carry_out(),
            MessageKind::Discover => Ok(self.discover()),
            MessageKind::Hold => self.hold(),
            MessageKind::GiveUp => {
                // What discovery and the check of what is in use took is needed no more.
                process::give_back_memory();
                if let Err(error) = self.space.give_up() {
                    self.reply.push_text(error.to_string().as_bytes());
                }
                Ok(MessageKind::Done)
            }
            _ => Ok(MessageKind::Refused),
        }
    }

    /// Carries out what is permitted, in order; what is not has an outcome that says so.
    fn carry_out(&mut self) -> io::Result<MessageKind> {
        self.operations.clear();
        self.keeps.clear();
        self.outcomes.clear();
        for index in 0..self.request.records() {
            let (operation, keeps) = self.request.operation(index)?;
            self.operations.push(operation);
            self.keeps.push(keeps);
        }
        let permits = self.shared.permits.read().unwrap_or_else(PoisonError::into_inner);
        let is_permitted = |operation: &Operation| permits.check(*operation).is_ok();
        if self.operations.iter().all(is_permitted) {
            self.space.carry_out_list(&self.operations, &self.keeps, &mut self.outcomes);
        } else {
            for (operation, keeps) in self.operations.iter().zip(&self.keeps) {
                let outcome = match (is_permitted(operation), *keeps) {
                    (false, _) => Err(AccessError::Permission { address: operation.address(), remedy: NOT_PERMITTED }),
                    (true, 0) => self.space.carry_out(*operation),
                    (true, keeps) => self.space.merge(*operation, keeps),
                };
                self.outcomes.push(outcome);
            }
        }
        for ((operation, keeps), outcome) in self.operations.iter().zip(&self.keeps).zip(&self.outcomes) {
            if let (Operation::Read { address, width }, Ok(value)) = (*operation, outcome) {
                permits.note_read(address, width, *value);
            } else if let (Operation::Write { address, width, .. }, Ok(held), true) = (*operation, outcome, *keeps != 0)
            {
                permits.note_read(address, width, *held);
            }
            self.reply.push_outcome(outcome);
        }
        Ok(MessageKind::Outcomes)
    }

    fn hold(&mut self) -> io::Result<MessageKind> {
        let all: io::Result<Vec<Operation>> =
            (0..self.request.records()).map(|index| Ok(self.request.operation(index)?.0)).collect();
        let permits = self.shared.permits.read().unwrap_or_else(PoisonError::into_inner);
        // The value does not matter to the file.
        let is_known = |operation: &Operation| {
            let (address, width) = (operation.address(), operation.width());
            permits.check(Operation::Read { address, width }).is_ok()
        };
        let operations = all?.into_iter().filter(is_known).collect();
        drop(permits);
        self.space.hold(operations);
        Ok(MessageKind::Done)
    }

    /// Looks for units, which may be accessed from then on.
    fn discover(&mut self) -> MessageKind {
        let text = String::from_utf8_lossy(self.request.text()).into_owned();
        let names: Vec<&str> = text.split('\n').collect();
        let mut space = Transcribed::new(&mut self.space);
        let found = discover(&mut space, self.shared.family, &self.shared.cpus, |unit| names.contains(&unit.name));
        // What is wrong is found again at the other end, from the same reads.
        if let Ok(topology) = found {
            self.shared.permits.write().unwrap_or_else(PoisonError::into_inner).add(&topology);
        }
        let segments: Vec<String> = space.segments.iter().map(u16::to_string).collect();
        self.reply.push_text(segments.join(" ").as_bytes());
        self.reply.push_text(b"\n");
        for (operation, outcome) in &space.reads {
            self.reply.push_operation(*operation, 0);
            self.reply.push_outcome(outcome);
        }
        MessageKind::Found
    }
}
