//! Takes samples and has them shown: on a terminal, or as text, one frame below the other.

use std::io::{self, Write};
use std::sync::Arc;

use pericore_report::fewer::Fewer;
use pericore_report::{Report, rows};
use pericore_text::WIDTH;

use super::clock::TimeOfDay;
use super::frame::frame;
use super::live::Live;
use super::screen::Screen;
use super::state::{SCOPES, State};
use crate::failure::Failure;
use crate::measure::{Ender, Receiver, Subject, Taken};

/// Shows each sample.
#[derive(Debug)]
pub struct Watch {
    place: Place,
    /// Samples that are still wanted; none if there is no end.
    wanted: Option<u64>,
    ender: Option<Ender>,
}

/// Where frames go.
#[derive(Debug)]
enum Place {
    /// A terminal, when the measurement begins.
    Screen(Arc<Screen>, State),
    /// A terminal that was taken over.
    Live(Live),
    /// Standard output.
    Text(State),
    /// Nothing is shown any more.
    Nowhere,
}

impl Watch {
    /// Nothing is taken over before the measurement begins. Without a terminal there is text.
    pub fn new(state: State, screen: Option<Arc<Screen>>, wanted: Option<u64>) -> Self {
        let place = match screen {
            Some(screen) => Place::Screen(screen, state),
            None => Place::Text(state),
        };
        Self { place, wanted, ender: None }
    }

    /// Takes the terminal over, if there is one; `ender` ends what is shown.
    ///
    /// # Errors
    /// The terminal cannot be used.
    pub fn start(&mut self, title: String, sockets: usize, fewer: &[Fewer], ender: &Ender) -> Result<(), Failure> {
        self.ender = Some(ender.clone());
        let name = |mut state: State| {
            state.name(title, sockets);
            state.fewer = fewer.iter().map(ToString::to_string).collect();
            state
        };
        self.place = match std::mem::replace(&mut self.place, Place::Nowhere) {
            Place::Screen(screen, state) => Place::Live(Live::start(name(state), screen, ender)?),
            Place::Text(state) => Place::Text(name(state)),
            other => other,
        };
        Ok(())
    }

    /// Says how far samples lie apart, in seconds.
    pub fn set_interval(&mut self, seconds: f64) {
        match &mut self.place {
            Place::Screen(_, state) | Place::Text(state) => state.interval = seconds,
            Place::Live(live) => live.change(|state| state.interval = seconds),
            Place::Nowhere => {}
        }
    }

    /// Shows a sample: a report for each of [`SCOPES`].
    ///
    /// # Errors
    /// Standard output takes no more.
    pub fn show(&mut self, reports: &[Report; 3], at: TimeOfDay) -> Result<(), Failure> {
        let is_end_requested = self.ender.as_ref().is_some_and(Ender::is_requested);
        // The rest of an interval that was cut off says little, and nobody waits for it.
        if is_end_requested || self.wanted == Some(0) {
            return Ok(());
        }
        match &mut self.place {
            Place::Live(live) => live.change(|state| state.take(reports, at)),
            Place::Text(state) => {
                state.take(reports, at);
                let mut text = frame(state, WIDTH, usize::MAX).join("\n");
                text.push_str("\n\n");
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            Place::Screen(..) | Place::Nowhere => {}
        }
        self.wanted = self.wanted.map(|wanted| wanted - 1);
        if let Some(ender) = self.ender.as_ref().filter(|_| self.wanted == Some(0)) {
            ender.end();
        }
        Ok(())
    }

    /// True if there is a terminal with somebody in front of it.
    pub const fn is_on_screen(&self) -> bool {
        matches!(self.place, Place::Live(_))
    }

    /// Gives the terminal back.
    ///
    /// # Errors
    /// The display failed, and said why on its way.
    pub fn end(&mut self) -> Result<(), Failure> {
        match std::mem::replace(&mut self.place, Place::Nowhere) {
            Place::Live(live) => live.end(),
            _ => Ok(()),
        }
    }
}

impl Receiver for Watch {
    fn open(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn begin(&mut self, subject: &Subject<'_>) -> Result<(), Failure> {
        let fewer = Fewer::of(&subject.plan.layout());
        self.start(subject.title.clone(), subject.plan.sockets.len(), &fewer, &subject.ender)
    }

    fn take(&mut self, taken: Taken<'_>) -> Result<(), Failure> {
        let reports = SCOPES.map(|scope| rows::report(&taken.plan.layout(), taken.sample, None, scope, taken.end));
        self.show(&reports, TimeOfDay::now())
    }

    fn is_seen(&self) -> bool {
        true
    }

    fn remark(&mut self, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.end()
    }
}
