//! Every signal of a window, instance by instance.

use std::collections::HashMap;

use pericore_hardware::chassis::Chassis;
use pericore_hardware::pmon::{Bank, Entries};
use pericore_hardware::signal::{SignalSink, Tick, Wire};

pub mod saved;

/// How a signal changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Change {
    Pulse(u32),
    Enter,
    Leave,
}

/// What was emitted, but for the time: most of a window's emissions are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Emitted {
    wire: Wire,
    tag: u64,
    change: Change,
}

/// An emission of an instance.
#[derive(Debug, Clone, Copy)]
pub struct Emission {
    /// Ticks since the start of the window.
    offset: u32,
    /// Index into what the instance says.
    emitted: u32,
    /// Place among the emissions of all instances.
    pub order: u32,
}

/// What one instance hears in a window.
#[derive(Debug, Default)]
struct Stream {
    emitted: Vec<Emitted>,
    /// In order of time.
    emissions: Vec<Emission>,
    /// The first emission of each cell, and the end of the last.
    cells: Vec<u32>,
    /// What is in the levels at the start of each cell.
    levels: Vec<Vec<Entries>>,
}

/// A window of signals.
#[derive(Debug)]
pub struct Recording {
    cell: Tick,
    cells: u32,
    streams: Vec<Stream>,
}

impl Recording {
    /// Length of the window, in ticks.
    pub fn window(&self) -> Tick {
        self.cell * u64::from(self.cells)
    }

    /// Length of a cell: a whole number of cycles of every clock.
    pub const fn cell(&self) -> Tick {
        self.cell
    }

    /// Cells of the window.
    pub const fn cells(&self) -> u32 {
        self.cells
    }

    /// PMON instances that the window is of.
    pub const fn instances(&self) -> u16 {
        self.streams.len() as u16
    }

    /// Emissions of all instances.
    pub fn emissions(&self) -> usize {
        self.streams.iter().map(|stream| stream.emissions.len()).sum()
    }

    /// What is in an instance's levels at the start of a cell.
    pub fn levels(&self, instance: u16, cell: u32) -> &[Entries] {
        &self.streams[usize::from(instance)].levels[cell as usize]
    }

    /// What is in an instance's levels at a time of the live machine, everything before it done.
    pub fn levels_at(&self, instance: u16, tick: Tick) -> Vec<Entries> {
        let stream = &self.streams[usize::from(instance)];
        let phase = tick % self.window();
        let cell = phase / self.cell;
        let mut levels = stream.levels[cell as usize].clone();
        for emission in self.emissions_between(instance, tick - phase + cell * self.cell, tick) {
            stream.emitted[emission.emitted as usize].apply(&mut levels);
        }
        levels
    }

    /// What an instance hears in `[from, to)`, times of the live machine in one cell.
    pub fn emissions_between(&self, instance: u16, from: Tick, to: Tick) -> &[Emission] {
        let stream = &self.streams[usize::from(instance)];
        let start = from - from % self.window();
        let cell = ((from - start) / self.cell) as usize;
        let here = &stream.emissions[stream.cells[cell] as usize..stream.cells[cell + 1] as usize];
        let before = |tick: Tick| here.partition_point(|emission| u64::from(emission.offset) < tick - start);
        &here[before(from)..before(to)]
    }

    /// Tells a bank of an emission of an instance, in the window that starts at `start`, if a counter listens to the signal. Levels
    /// that nobody listens to stay behind.
    #[inline]
    pub fn tell(&self, bank: &mut Bank, instance: u16, emission: Emission, start: Tick) {
        let Emitted { wire, tag, change } = self.streams[usize::from(instance)].emitted[emission.emitted as usize];
        if !bank.observes(wire) {
            return;
        }
        let tick = start + u64::from(emission.offset);
        match change {
            Change::Pulse(count) => bank.pulse(wire, tag, tick, count),
            Change::Enter => bank.enter(wire, tag, tick),
            Change::Leave => bank.leave(wire, tag, tick),
        }
    }
}

impl Emitted {
    /// What it makes of levels.
    fn apply(&self, levels: &mut Vec<Entries>) {
        let here = levels.iter().position(|entries| (entries.signal, entries.tag) == (self.wire.signal, self.tag));
        match (self.change, here) {
            (Change::Pulse(_), _) | (Change::Leave, None) => {}
            (Change::Enter, Some(here)) => levels[here].count += 1,
            (Change::Enter, None) => levels.push(Entries { signal: self.wire.signal, tag: self.tag, count: 1 }),
            (Change::Leave, Some(here)) if levels[here].count > 1 => levels[here].count -= 1,
            (Change::Leave, Some(here)) => _ = levels.swap_remove(here),
        }
    }
}

/// Takes down what a model says.
#[derive(Debug)]
pub struct Recorder {
    base: Tick,
    recording: Recording,
    known: HashMap<Emitted, u32>,
    next: u32,
}

impl Recorder {
    /// A recorder of `cells` cells of `cell` ticks from `base` on. `before` has heard what it hears until then; the model
    /// says what else stands.
    pub fn new(before: &Chassis, base: Tick, cell: Tick, cells: u32) -> Self {
        let levels = (0..before.wiring().instances()).map(|number| before.bank().levels(number));
        let streams = levels.map(|levels| Stream { levels: vec![levels], ..Stream::default() }).collect();
        Self { base, recording: Recording { cell, cells, streams }, known: HashMap::new(), next: 0 }
    }

    fn keep(&mut self, wire: Wire, tag: u64, tick: Tick, change: Change) {
        let emitted = Emitted { wire, tag, change };
        let stream = &mut self.recording.streams[usize::from(wire.instance)];
        let emitted = *self.known.entry(emitted).or_insert_with(|| {
            stream.emitted.push(emitted);
            stream.emitted.len() as u32 - 1
        });
        stream.emissions.push(Emission { offset: (tick - self.base) as u32, emitted, order: self.next });
        self.next += 1;
    }

    /// The recording, with what readers need to start in its middle.
    pub fn finish(self) -> Recording {
        self.recording.finished()
    }
}

impl Recording {
    /// The same with what readers need to start in its middle, which follows from emissions and the first levels.
    fn finished(mut self) -> Self {
        let (cell, cells) = (self.cell, self.cells);
        for stream in &mut self.streams {
            let starts = (0..=u64::from(cells)).map(|number| {
                stream.emissions.partition_point(|emission| u64::from(emission.offset) < number * cell) as u32
            });
            stream.cells = starts.collect();
            let mut levels = stream.levels[0].clone();
            for number in 1..cells as usize {
                let (from, to) = (stream.cells[number - 1] as usize, stream.cells[number] as usize);
                for emission in &stream.emissions[from..to] {
                    stream.emitted[emission.emitted as usize].apply(&mut levels);
                }
                stream.levels.push(levels.clone());
            }
        }
        self
    }
}

impl SignalSink for Recorder {
    /// What the hardware before did not hear: emitted at the start of the window.
    fn occupancy(&mut self, wire: Wire, entries: &[(u64, u32)], _: Tick) {
        let levels = &mut self.recording.streams[usize::from(wire.instance)].levels[0];
        levels.retain(|entries| entries.signal != wire.signal);
        for &(tag, count) in entries {
            match levels.iter_mut().find(|entries| (entries.signal, entries.tag) == (wire.signal, tag)) {
                Some(entries) => entries.count += count,
                None => levels.push(Entries { signal: wire.signal, tag, count }),
            }
        }
        levels.retain(|entries| entries.count > 0);
    }

    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        self.keep(wire, tag, tick, Change::Pulse(count));
    }

    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.keep(wire, tag, tick, Change::Enter);
    }

    fn leave(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.keep(wire, tag, tick, Change::Leave);
    }
}
