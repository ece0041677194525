//! Samples wait until no later one can withdraw their counts.

use std::collections::VecDeque;
use std::io;

use pericore_metrics::Validity;
use pericore_observe::record::{AHEAD, Header, Recorded};
use pericore_observe::session::Sample;

/// Samples that wait.
#[derive(Debug)]
pub struct Held {
    /// Event, socket and instance of each number of a sample.
    order: Vec<(usize, u16, u16)>,
    waiting: VecDeque<Settled>,
    /// Samples that were given back.
    given: u64,
}

/// A sample of which all is known.
#[derive(Debug)]
pub struct Settled {
    /// Its number, from 0.
    pub number: u64,
    /// As it was taken.
    pub recorded: Recorded,
    /// The validities of its counts, with what was withdrawn since.
    pub grades: Vec<Validity>,
}

impl Held {
    /// None yet, of a recording that begins so.
    pub fn new(header: &Header) -> Self {
        let place = |&(event, instance): &(usize, usize)| {
            let place = &header.instances[instance];
            (event, place.socket, place.number)
        };
        Self { order: header.counts.iter().map(place).collect(), waiting: VecDeque::new(), given: 0 }
    }

    /// Takes a sample, and gives back the one that need not wait any more.
    ///
    /// # Errors
    /// It is not of the header's plan.
    pub fn take(&mut self, end: f64, sample: &Sample, truth: Option<&Sample>) -> io::Result<Option<Settled>> {
        let order = sample.counts.iter().map(|count| (count.event, count.socket, count.instance));
        if !order.eq(self.order.iter().copied()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a sample of another plan"));
        }
        if let Some(withdrawn) = &sample.withdrawn {
            for earlier in self.waiting.range_mut(withdrawn.among(self.waiting.len())) {
                for (count, grade) in earlier.recorded.sample.counts.iter().zip(&mut earlier.grades) {
                    if let Some(doubt) = withdrawn.validity_of(count.event, count.socket, count.instance) {
                        *grade = std::mem::take(grade).and(&doubt);
                    }
                }
            }
        }
        let number = self.taken();
        let grades = sample.counts.iter().map(|count| count.validity.clone()).collect();
        let recorded = Recorded { end, sample: sample.clone(), truth: truth.cloned() };
        self.waiting.push_back(Settled { number, recorded, grades });
        Ok(if self.waiting.len() > AHEAD { self.release() } else { None })
    }

    /// Gives back the oldest: no more will come.
    pub fn release(&mut self) -> Option<Settled> {
        let settled = self.waiting.pop_front()?;
        self.given += 1;
        Some(settled)
    }

    /// Samples taken.
    pub fn taken(&self) -> u64 {
        self.given + self.waiting.len() as u64
    }

    /// Samples given back.
    pub const fn given(&self) -> u64 {
        self.given
    }
}
