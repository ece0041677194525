//! The signals of each level: of what lasts.

use pericore_catalog::BitRange;
use pericore_hardware::signal::{Wiring, WiringError};

use super::binding::{Line, bind, bind_signal};
use crate::signals::table::{Binder, FromRow};

/// A level's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelNumber(pub u16);

/// A level as the table has it: its unit, and its signals.
#[derive(Debug, Clone)]
pub struct LevelRow {
    pub unit: String,
    pub lines: LevelLines,
}

impl FromRow<LevelRow> for Line {
    fn bind(
        binder: &mut Binder<'_, LevelRow>,
        names: &mut std::vec::IntoIter<String>,
    ) -> Result<Option<Self>, WiringError> {
        names.next().map(|name| bind(binder.wiring, &name)).transpose()
    }
}

impl FromRow<LevelRow> for LevelNumber {
    fn bind(
        binder: &mut Binder<'_, LevelRow>,
        names: &mut std::vec::IntoIter<String>,
    ) -> Result<Option<Self>, WiringError> {
        let Some(name) = names.next() else { return Ok(None) };
        let lines = LevelLines::bind(binder.wiring, &name)?;
        let unit = name.trim_start_matches(['?', '!', '>']).split('/').next().unwrap_or_default().to_owned();
        binder.levels.push(LevelRow { unit, lines });
        Ok(Some(Self(binder.levels.len() as u16 - 1)))
    }
}

/// The signals of a level, all of one unit.
#[derive(Debug, Clone)]
pub struct LevelLines {
    /// They hold for every entry.
    pub each: [Option<Line>; 2],
    /// It holds while there is no room left.
    pub full: Option<Line>,
    /// It holds while there is anything.
    pub nonempty: Option<Line>,
    /// It holds for each number below that of the entries, which its tag has.
    pub deep: Option<DeepLine>,
}

/// A signal that has, for each number, whether there are more entries than that.
#[derive(Debug, Clone, Copy)]
pub struct DeepLine {
    pub line: Line,
    number: BitRange,
}

impl DeepLine {
    /// How many numbers it has: Intel's file gives a buffer 24 entries.
    pub const NUMBERS: u64 = 32;

    /// Binds `unit/signal.attribute`.
    fn bind(wiring: &mut Wiring, name: &str) -> Result<Self, WiringError> {
        let (unit, rest) = name.split_once('/').unwrap_or((name, ""));
        let (signal, attribute) = rest.split_once('.').unwrap_or((rest, ""));
        let number = wiring.attribute(unit, signal, attribute)?;
        let tags = (0..Self::NUMBERS).map(|entries| number.set(0, entries));
        Ok(Self { line: bind_signal(wiring, unit, signal, tags)?, number })
    }

    /// The tag of "more than so many".
    pub const fn tag(&self, than: u64) -> u64 {
        self.number.set(0, than)
    }
}

impl LevelLines {
    /// Binds those of a level, by its text in the table.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue does not have a name.
    pub fn bind(wiring: &mut Wiring, entry: &str) -> Result<Self, WiringError> {
        let (entry, deep) = split(entry, '>');
        let deep = deep.map(|name| DeepLine::bind(wiring, name)).transpose()?;
        let mut optional = |name: Option<&str>| name.map(|name| bind(wiring, name)).transpose();
        let (each, nonempty) = split(entry, '?');
        // The limit stands behind what comes before it, whichever that is.
        let (each, full) = split(each, '!');
        let (nonempty, full) = match nonempty.map(|names| split(names, '!')) {
            Some((nonempty, other)) => (Some(nonempty), full.or(other)),
            None => (None, full),
        };
        let mut each = each.split('|').filter(|name| !name.is_empty());
        let each = [optional(each.next())?, optional(each.next())?];
        let (full, nonempty) = (optional(full)?, optional(nonempty)?);
        Ok(Self { each, full, nonempty, deep })
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = Line> {
        self.each.into_iter().chain([self.full, self.nonempty, self.deep.map(|deep| deep.line)]).flatten()
    }
}

/// What stands before a sign, and what behind it.
fn split(names: &str, sign: char) -> (&str, Option<&str>) {
    names.split_once(sign).map_or((names, None), |(name, rest)| (name, Some(rest)))
}
