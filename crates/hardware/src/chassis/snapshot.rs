//! A machine's shape and all state of its registers, as text that people can read and compare.
//!
//! One line is one fact; what is as after reset is left out, and so is what is not broken (`broken` has these lines).
//! Lines that begin with `#` are for people. The last line says that nothing is missing: each line may be the last for
//! all that the others tell.
//!
//! ```text
//! pericore-machine 1
//! machine e5-2600 sockets=2 cores=6 threads=2 slices=8 rules=documented built=8
//! clock uclk 8
//! now 12345
//! block 0/cbo3
//!   ctl1 = 0x400334
//!   counter 1 value=0x12 level=0x3
//! end
//! ```

use std::collections::HashSet;
use std::fmt::Write;
use std::str::FromStr;

use pericore_engine::Period;

use super::{Chassis, Rules, Shape, ShapeError, Variant};
use crate::pmon::{CounterState, InstanceState, Interrupt};
use crate::signal::{Tick, Wiring, WiringError};

/// The format that is written, and the only one that is read.
pub const VERSION: u32 = 1;

const HEADING: &str = "pericore-machine";
/// The last line.
const END: &str = "end";

/// The latest time of a machine that is loaded: as much time again is left to it, which is years.
const LATEST: Tick = Tick::MAX >> 1;
/// The most that a counter can hold besides its register: far beyond any machine's, and sums of a few stay numbers of
/// 64 bits.
const MOST: u64 = u64::MAX >> 2;
/// The highest core that a register can have interrupted: it has six bits for it.
const MOST_CORE: u64 = 63;

/// Text that is no snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// Not the format's first line.
    #[error("not a snapshot of version {VERSION}: the first line must be \"{HEADING} {VERSION}\"")]
    Version,
    /// The last line is not the one that says so.
    #[error(
        "the last line is not {END:?}, so lines may be missing: write the file anew with pericore machine dump or poke; if you know it to be whole \
         (older versions wrote no such line), add the line"
    )]
    Cut,
    /// A line that cannot be understood.
    #[error("line {line}: {text:?} is not understood; expected {expected}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// What it says.
        text: String,
        /// What it should say.
        expected: &'static str,
    },
    /// A family that the catalogue does not have.
    #[error("no family {name:?}; known: {known}")]
    Family {
        /// What was written.
        name: String,
        /// Families that the catalogue has.
        known: String,
    },
    /// A machine that cannot be.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A name that the catalogue does not have.
    #[error(transparent)]
    Name(#[from] WiringError),
}

impl SnapshotError {
    fn family(name: &str) -> Self {
        let known: Vec<&str> = pericore_catalog::shipped().iter().map(|family| family.name).collect();
        Self::Family { name: name.to_owned(), known: known.join(", ") }
    }
}

impl Chassis {
    /// The machine as text.
    pub fn dump(&mut self) -> String {
        let mut out = format!("{HEADING} {VERSION}\n");
        let (shape, now) = (self.shape.clone(), self.now);
        let rules = self.rules.name();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "machine {} sockets={} cores={} threads={} slices={} rules={rules}{}",
            shape.family.name,
            shape.sockets,
            shape.cores,
            shape.threads,
            shape.slices,
            if shape.built > shape.cores { format!(" built={}", shape.built) } else { String::new() },
        );
        for clock in shape.family.clocks {
            if let Some(period) = self.clock_period(clock.name) {
                let _ = writeln!(out, "clock {} {period}", clock.name);
            }
        }
        let _ = writeln!(out, "core-clock {}", self.core.period());
        let _ = writeln!(out, "now {now}");
        self.dump_broken(&mut out);
        for ((scope, msr), value) in self.core.values() {
            let _ = writeln!(out, "core-msr {scope} {msr:#x} = {value:#x}");
        }
        let (interrupts, core) = self.bank.save_interrupts();
        let _ = writeln!(out, "interrupted-core {core}");
        for Interrupt { socket, cores, tick } in interrupts {
            let _ = writeln!(out, "interrupt {socket} {cores:#x} {tick}");
        }
        for number in 0..self.wiring.instances() {
            let state = self.bank.save(number, now);
            if !state.is_reset() {
                self.dump_block(&mut out, number, &state);
            }
        }
        let _ = writeln!(out, "{END}");
        out
    }

    fn dump_block(&self, out: &mut String, number: u16, state: &InstanceState) {
        let (socket, unit, instance) = self.wiring.locate(number);
        let unit = self.shape.family.units[unit];
        let layout = self.bank.layout(number);
        let _ = writeln!(out, "block {socket}/{}{instance}", unit.name);
        for &(slot, value) in &state.values {
            let register = layout.register(slot);
            let name = unit.registers[usize::from(register.register)].member_name(register.member);
            let _ = writeln!(out, "  {name} = {value:#x}");
        }
        for &(counter, state) in &state.counters {
            let CounterState { value, level, gate, pending, ahead, asserted: (asserted, open), overflowed } = state;
            let facts = [
                ("level", level),
                ("gate", gate),
                ("pending", pending),
                ("ahead", ahead),
                ("asserted", asserted.into()),
                ("open", open.into()),
                ("overflowed", overflowed.into()),
            ];
            let _ = write!(out, "  counter {counter} value={value:#x}");
            for (name, value) in facts.into_iter().filter(|&(_, value)| value != 0) {
                let _ = write!(out, " {name}={value:#x}");
            }
            out.push('\n');
        }
        let (frozen, powered_down, stuck) = state.hold;
        if (frozen, powered_down, stuck) != (false, false, 0) {
            let (frozen, down) = (u8::from(frozen), u8::from(powered_down));
            let _ = writeln!(out, "  hold frozen={frozen} down={down} stuck={stuck:#x}");
        }
        for &(signal, tag, count) in &state.live {
            let _ = writeln!(out, "  live {} {tag:#x} {count}", unit.signals[usize::from(signal)].name);
        }
    }

    /// A machine from its text.
    ///
    /// # Errors
    /// [`SnapshotError`] tells the line.
    pub fn load(text: &str) -> Result<Self, SnapshotError> {
        let numbered = text.lines().enumerate().map(|(index, line)| SnapshotLine { number: index + 1, text: line });
        let mut lines = numbered.filter(|line| !line.text.starts_with('#')).peekable();
        if lines.next().is_none_or(|line| line.text != format!("{HEADING} {VERSION}")) {
            return Err(SnapshotError::Version);
        }
        let (shape, rules) = lines.next().ok_or(SnapshotError::Cut)?.shape()?;
        let mut clocks: Vec<(String, Tick)> = Vec::new();
        let mut core_clock: Option<Tick> = None;
        let mut now: Option<Tick> = None;
        while let Some(line) = lines.next_if(|line| line.is("clock") || line.is("core-clock") || line.is("now")) {
            match line.words().as_slice() {
                ["clock", name, period] if !clocks.iter().any(|(clock, _)| clock == name) => {
                    clocks.push(((*name).to_owned(), line.period(period)?));
                }
                ["core-clock", period] if core_clock.is_none() => core_clock = Some(line.period(period)?),
                ["now", tick] if now.is_none() => now = Some(line.up_to(tick, LATEST)?),
                _ => return Err(line.error("clock NAME TICKS, core-clock TICKS or now TICK, each once")),
            }
        }
        let (core_clock, now) = (core_clock.unwrap_or(1), now.unwrap_or(0));
        let wiring = Wiring::new(shape.family, shape.sockets);
        let period =
            |name: &str| clocks.iter().find(|(clock, _)| clock == name).map_or(core_clock, |(_, period)| *period);
        let mut chassis = Self::new(shape, wiring, period).with_variant(&Variant { rules, ..Variant::default() })?;
        chassis.core.set_period(core_clock);
        chassis.now = now;
        let mut interrupts = (Vec::new(), 0);
        let mut block: Option<(u16, InstanceState)> = None;
        let mut blocks = HashSet::new();
        let mut is_whole = false;
        for line in lines {
            if is_whole {
                return Err(line.error("nothing behind the line that says the end"));
            }
            match line.words().as_slice() {
                [END] => is_whole = true,
                ["core-msr", scope, msr, "=", value] => {
                    chassis.core.restore((line.number(scope)?, line.number(msr)?), line.number(value)?);
                }
                ["interrupted-core", core] => interrupts.1 = line.up_to(core, MOST_CORE)? as u8,
                ["interrupt", socket, cores, tick] => {
                    let (socket, cores, tick) = (line.number(socket)?, line.number(cores)?, line.number(tick)?);
                    interrupts.0.push(Interrupt { socket, cores, tick });
                }
                ["block", name] => {
                    let next = (chassis.block_named(&line, name)?, InstanceState::default());
                    if !blocks.insert(next.0) {
                        return Err(line.error("each block once"));
                    }
                    if let Some((number, state)) = block.replace(next) {
                        chassis.bank.restore(number, &state, now);
                    }
                }
                words => match &mut block {
                    Some((number, state)) => chassis.load_fact(&line, words, *number, state)?,
                    None if chassis.load_broken(&line, words)? => {}
                    None => return Err(line.error("block SOCKET/UNIT")),
                },
            }
        }
        if !is_whole {
            return Err(SnapshotError::Cut);
        }
        if let Some((number, state)) = block {
            chassis.bank.restore(number, &state, now);
        }
        chassis.bank.restore_interrupts(interrupts.0, interrupts.1);
        Ok(chassis)
    }

    /// A line that belongs to a block.
    fn load_fact(
        &self,
        line: &SnapshotLine<'_>,
        words: &[&str],
        number: u16,
        state: &mut InstanceState,
    ) -> Result<(), SnapshotError> {
        let layout = self.bank.layout(number);
        match words {
            [name, "=", value] => {
                let slot = layout
                    .stored_named(name)
                    .ok_or_else(|| line.error("a register of the block that is no counter"))?;
                let most = u64::MAX >> (64 - u32::from(layout.width(slot)));
                state.values.push((slot, line.up_to(value, most)?));
            }
            ["counter", counter, facts @ ..] => {
                let counter: u8 = line.number(counter)?;
                if usize::from(counter) >= layout.counters() {
                    return Err(line.error("a counter of the block"));
                }
                let fact = |name| line.fact::<u64>(facts, name).and_then(|value| line.bounded(value, MOST));
                let flag = |name| fact(name).map(|value| value != 0);
                let asserted = (flag("asserted")?, flag("open")?);
                state.counters.push((
                    counter,
                    CounterState {
                        value: line.fact(facts, "value")?,
                        level: fact("level")?,
                        gate: fact("gate")?,
                        pending: fact("pending")?,
                        ahead: fact("ahead")?,
                        asserted,
                        overflowed: flag("overflowed")?,
                    },
                ));
            }
            ["hold", facts @ ..] => {
                let fact = |name| line.fact::<u32>(facts, name);
                state.hold = (fact("frozen")? != 0, fact("down")? != 0, fact("stuck")?);
            }
            ["live", signal, tag, count] => {
                let signals = layout.unit().signals;
                let index = signals
                    .iter()
                    .position(|s| s.name == *signal)
                    .ok_or_else(|| line.error("a signal of the block"))?;
                // More entries may come.
                let count = line.up_to(count, u64::from(u32::MAX >> 1))? as u32;
                state.live.push((index as u16, line.number(tag)?, count));
            }
            _ => return Err(line.error("REGISTER = VALUE, counter, hold or live")),
        }
        Ok(())
    }

    pub(super) fn block_named(&self, line: &SnapshotLine<'_>, name: &str) -> Result<u16, SnapshotError> {
        let (socket, block) = name.split_once('/').ok_or_else(|| line.error("SOCKET/UNIT"))?;
        let unit = self
            .shape
            .family
            .units
            .iter()
            .filter(|unit| block.starts_with(unit.name))
            .max_by_key(|unit| unit.name.len());
        let unit = unit.ok_or_else(|| line.error("a unit of the family"))?;
        let instance = line.number(&block[unit.name.len()..])?;
        let block = super::Block { socket: line.number(socket)?, unit: unit.name.to_owned(), instance };
        block.number(&self.wiring).map_err(|_| line.error("a block that the machine has: SOCKET/UNIT with a number"))
    }
}

/// A line of a snapshot.
pub(super) struct SnapshotLine<'t> {
    number: usize,
    text: &'t str,
}

impl<'t> SnapshotLine<'t> {
    fn words(&self) -> Vec<&'t str> {
        self.text.split_whitespace().collect()
    }

    fn is(&self, first: &str) -> bool {
        self.text.split_whitespace().next() == Some(first)
    }

    pub(super) fn error(&self, expected: &'static str) -> SnapshotError {
        SnapshotError::Line { line: self.number, text: self.text.to_owned(), expected }
    }

    /// A number, hexadecimal after 0x.
    pub(super) fn number<T: TryFrom<u64>>(&self, word: &str) -> Result<T, SnapshotError> {
        let value = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => u64::from_str(word),
        };
        value.ok().and_then(|value| T::try_from(value).ok()).ok_or_else(|| self.error("a number in range"))
    }

    /// A number that is no greater than `most`.
    pub(super) fn up_to(&self, word: &str, most: u64) -> Result<u64, SnapshotError> {
        self.number(word).and_then(|value| self.bounded(value, most))
    }

    fn bounded(&self, value: u64, most: u64) -> Result<u64, SnapshotError> {
        if value <= most { Ok(value) } else { Err(self.error("a number in range")) }
    }

    /// Ticks of a cycle. The bounds are those of the models' clocks: the clocks of any family have a common multiple
    /// then.
    fn period(&self, word: &str) -> Result<Tick, SnapshotError> {
        let ticks = self.number(word)?;
        let sound = (1..=Period::LONGEST).contains(&ticks);
        if sound { Ok(ticks) } else { Err(self.error("a clock's period of 1 to 255 ticks")) }
    }

    /// The value of `name=value` among words; 0 if it is not there.
    fn fact<T: TryFrom<u64> + Default>(&self, words: &[&str], name: &str) -> Result<T, SnapshotError> {
        let found = words.iter().find_map(|word| word.split_once('=').filter(|(key, _)| *key == name));
        found.map_or_else(|| Ok(T::default()), |(_, value)| self.number(value))
    }

    /// `machine FAMILY sockets=…`.
    fn shape(&self) -> Result<(Shape, Rules), SnapshotError> {
        let words = self.words();
        let ["machine", name, facts @ ..] = words.as_slice() else {
            return Err(self.error("machine FAMILY sockets=…"));
        };
        let family = pericore_catalog::family(name).ok_or_else(|| SnapshotError::family(name))?;
        let fact = |name| self.fact(facts, name);
        let (cores, built): (u16, u16) = (fact("cores")?, fact("built")?);
        // Where all take part nothing is said of how many there are.
        let built = if built == 0 { cores } else { built };
        let shape = Shape::new(family, fact("sockets")?, built, fact("threads")?)?
            .with_active_cores(cores)?
            .with_slices(fact("slices")?)?;
        let rules = facts.iter().find_map(|word| word.strip_prefix("rules="));
        let rules = rules.map_or(Some(Rules::Documented), Rules::named);
        Ok((shape, rules.ok_or_else(|| self.error("rules=documented, strict or lenient"))?))
    }
}
