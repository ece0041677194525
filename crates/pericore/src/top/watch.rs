//! Takes samples and has them shown: on a terminal, or as text, one frame below the other.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use pericore_dashboard::{SCOPES, State, TimeOfDay, frame};
use pericore_observe::results::Layout;
use pericore_observe::session::Sample;
use pericore_report::fewer::Fewer;
use pericore_report::stacks::UnitStacks;
use pericore_report::{Report, rows};
use pericore_text::WIDTH;

use super::clock;
use super::live::Live;
use super::screen::Screen;
use crate::failure::Failure;
use crate::measure::{Ender, Interrupt, Receiver, Subject, Taken};

/// Between two looks at whether the user has ended it.
const LOOK: Duration = Duration::from_millis(50);

/// Shows each sample.
#[derive(Debug)]
pub struct Watch {
    place: Place,
    /// Samples that are still wanted; none if there is no end.
    wanted: Option<u64>,
    ender: Option<Ender>,
    /// What is behind the I/O stacks, if they are counted.
    stacks: Option<UnitStacks>,
    /// The last picture stays until the user ends it.
    stays: bool,
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
        Self { place, wanted, ender: None, stacks: None, stays: false }
    }

    /// The same, but the last picture stays on the terminal until the user ends it.
    pub fn staying(mut self) -> Self {
        self.stays = true;
        self
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

    /// Shows a sample.
    ///
    /// # Errors
    /// Standard output takes no more.
    pub fn show(
        &mut self,
        layout: &Layout<'_>,
        sample: &Sample,
        end: Option<f64>,
        at: TimeOfDay,
    ) -> Result<(), Failure> {
        let is_end_requested = self.ender.as_ref().is_some_and(Ender::is_requested);
        // The rest of an interval that was cut off says little, and nobody waits for it.
        if is_end_requested || self.wanted == Some(0) {
            return Ok(());
        }
        let [system, sockets, instances] = SCOPES.map(|scope| rows::report(layout, sample, None, scope, end));
        let each = rows::counters(layout, sample);
        let devices = self.stacks.as_ref().map(|stacks| devices(stacks, &instances)).transpose()?;
        let change = |state: &mut State| {
            state.take([&system, &sockets, &instances, &each], at);
            state.floorplan = layout.selection.family.floorplan;
            state.devices = devices.unwrap_or_default();
        };
        match &mut self.place {
            Place::Live(live) => live.change(change),
            Place::Text(state) => {
                change(state);
                let mut text = frame::text(state, WIDTH).join("\n");
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
        self.stacks = subject.stacks.cloned();
        let fewer = Fewer::of(&subject.plan.layout());
        self.start(subject.title.clone(), subject.plan.sockets.len(), &fewer, &subject.ender)
    }

    fn take(&mut self, taken: Taken<'_>) -> Result<(), Failure> {
        self.show(&taken.plan.layout(), taken.sample, taken.end, clock::now())
    }

    fn is_seen(&self) -> bool {
        true
    }

    fn remark(&mut self, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn interrupted(&mut self, _: i32) {
        self.stays = false;
    }

    fn finish(&mut self) -> Result<(), Failure> {
        if self.stays && self.is_on_screen() {
            let interrupt = Interrupt::watch()?;
            let is_over = || interrupt.signal().is_some() || self.ender.as_ref().is_none_or(Ender::is_requested);
            while !is_over() {
                std::thread::sleep(LOOK);
            }
        }
        self.end()
    }
}

/// The stacks with their devices, in lines.
fn devices(stacks: &UnitStacks, instances: &Report) -> Result<Vec<String>, Failure> {
    let mut text = Vec::new();
    stacks.print(&mut text, instances)?;
    Ok(String::from_utf8_lossy(&text).lines().map(|line| line.replace(char::is_control, "?")).collect())
}
