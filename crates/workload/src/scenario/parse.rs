//! Reading a scenario's text, word by word.

use super::error::Fault;
use super::phase_settings::Subject;
use super::{Conditions, CoreSleep, Errand, HotPart, Phase, PhaseSetting, Scenario, ScenarioError};
use super::{Limits, Workload};

/// Phases of a scenario at most: more than anyone writes, and memory stays small.
const MOST_PHASES: usize = 1000;
/// Nanoseconds of a duration at most: ten virtual seconds.
const LONGEST: u64 = 10_000_000_000;
/// Nanoseconds between errands at least.
const SHORTEST: u64 = 100;

/// The words for ranks of a channel, with a bit for each rank.
const RANKS: [(&str, u8); 9] = [
    ("rank0", 1),
    ("rank1", 1 << 1),
    ("rank2", 1 << 2),
    ("rank3", 1 << 3),
    ("rank4", 1 << 4),
    ("rank5", 1 << 5),
    ("rank6", 1 << 6),
    ("rank7", 1 << 7),
    ("ranks", u8::MAX),
];

/// A word and where it begins in its line.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    at: usize,
}

/// A line that is being read.
struct Line<'a> {
    number: usize,
    text: &'a str,
    /// Without the comment.
    end: usize,
    position: usize,
    limits: &'a Limits,
}

impl<'a> Line<'a> {
    fn word(&mut self) -> Option<Word<'a>> {
        let rest = &self.text[self.position..self.end];
        let start = self.position + rest.find(|c: char| !c.is_whitespace())?;
        let length = self.text[start..self.end].find(char::is_whitespace).unwrap_or(self.end - start);
        self.position = start + length;
        Some(Word { text: &self.text[start..start + length], at: start })
    }

    fn fault(&self, fault: Fault, word: Option<Word<'_>>) -> ScenarioError {
        let (at, length) = word.map_or((self.text.trim_end().len(), 1), |word| (word.at, word.text.chars().count()));
        let lead: String = self.text[..at].chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let mark = format!("{lead}{}", "^".repeat(length.max(1)));
        let column = self.text[..at].chars().count() + 1;
        ScenarioError { line: self.number, column, fault: Box::new(fault), text: self.text.trim_end().to_owned(), mark }
    }

    fn expect(&mut self, what: &'static str, example: &'static str) -> Result<Word<'a>, ScenarioError> {
        self.word().ok_or_else(|| self.fault(Fault::Missing { what, example }, None))
    }

    /// What a word asks for needs a second socket.
    fn needs_peer(&self, word: Word<'a>) -> Result<(), ScenarioError> {
        let alone = self.limits.sockets < 2;
        if alone { Err(self.fault(Fault::NeedsPeer { word: word.text.to_owned() }, Some(word))) } else { Ok(()) }
    }

    fn keyword(&mut self, keyword: &'static str, example: &'static str) -> Result<(), ScenarioError> {
        let word = self.expect(keyword, example)?;
        if word.text == keyword {
            return Ok(());
        }
        let value = word.text.to_owned();
        Err(self.fault(Fault::BadValue { value, what: keyword, example }, Some(word)))
    }

    fn end(&mut self) -> Result<(), ScenarioError> {
        match self.word() {
            None => Ok(()),
            Some(word) => Err(self.fault(Fault::TooMuch, Some(word))),
        }
    }

    /// A number with one of some units: their names and how many of the smallest each is.
    fn quantity(
        &mut self,
        what: &'static str,
        example: &'static str,
        units: &[(&str, u64)],
        range: (u64, u64),
    ) -> Result<u64, ScenarioError> {
        let word = self.expect(what, example)?;
        let digits = word.text.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.text.len());
        let unit = units.iter().find(|(name, _)| *name == &word.text[digits..]);
        let number = word.text[..digits].parse::<u64>().ok();
        let value = unit.zip(number).map(|(&(_, factor), number)| number.saturating_mul(factor));
        let Some(value) = value else {
            return Err(self.fault(Fault::BadValue { value: word.text.to_owned(), what, example }, Some(word)));
        };
        let (least, most) = range;
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        let show = |value: u64| {
            let (unit, factor) =
                units.iter().rev().find(|(_, factor)| value.is_multiple_of(*factor)).unwrap_or(&("", 1));
            format!("{}{unit}", value / factor)
        };
        let (least, most) = (show(least), show(most));
        Err(self.fault(Fault::OutOfRange { value: word.text.to_owned(), what, least, most }, Some(word)))
    }

    fn duration(&mut self, what: &'static str, example: &'static str, least: u64) -> Result<u64, ScenarioError> {
        self.quantity(what, example, &[("ns", 1), ("us", 1000), ("ms", 1_000_000)], (least, LONGEST))
    }

    fn ratio(&mut self, example: &'static str) -> Result<Option<u8>, ScenarioError> {
        let [least, _, most] = self.limits.phase_settings.ratios;
        let range = (u64::from(least) * 100, u64::from(most) * 100);
        let megahertz = self.quantity("the frequency", example, &[("MHz", 1), ("GHz", 1000)], range)?;
        Ok(Some((megahertz / 100) as u8))
    }

    fn per_cent(&mut self, example: &'static str) -> Result<u8, ScenarioError> {
        Ok(self.quantity("the share of the time", example, &[("%", 1)], (1, 90))? as u8)
    }

    fn one_of<T: Copy>(
        &mut self,
        what: &'static str,
        example: &'static str,
        choices: &[(&str, T)],
    ) -> Result<T, ScenarioError> {
        let word = self.expect(what, example)?;
        let found = choices.iter().find(|(name, _)| *name == word.text).map(|&(_, value)| value);
        found.ok_or_else(|| self.fault(Fault::BadValue { value: word.text.to_owned(), what, example }, Some(word)))
    }
}

pub fn parse(text: &str, limits: &Limits) -> Result<Scenario, ScenarioError> {
    let mut phases: Vec<Phase> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    // Where the last phase began, to point at it if it is empty.
    let mut opened: Option<(usize, &str)> = None;
    for (index, text) in text.lines().enumerate() {
        let end = text.find('#').unwrap_or(text.len());
        let mut line = Line { number: index + 1, text, end, position: 0, limits };
        let Some(word) = line.word() else { continue };
        if word.text == "phase" {
            close(&phases, opened, limits)?;
            let name = line.expect("the phase's name", "phase NAME")?;
            line.end()?;
            if phases.len() == MOST_PHASES {
                return Err(line.fault(Fault::TooManyPhases { most: MOST_PHASES }, Some(word)));
            }
            phases.push(Phase {
                name: name.text.to_owned(),
                workload: None,
                goes_on: false,
                idle: false,
                nanoseconds: None,
                conditions: Conditions::default(),
            });
            seen.clear();
            opened = Some((index + 1, text));
            continue;
        }
        let Some(phase) = phases.last_mut() else {
            return Err(line.fault(Fault::OutsidePhase { word: word.text.to_owned() }, Some(word)));
        };
        if seen.contains(&word.text) {
            return Err(line.fault(Fault::Repeated { word: word.text.to_owned() }, Some(word)));
        }
        let subject = limits.phase_settings.subject(word.text).map_err(|fault| line.fault(fault, Some(word)))?;
        set(phase, subject, word, &mut line)?;
        line.end()?;
        seen.push(word.text);
        if seen.contains(&"workload") && seen.contains(&"idle") {
            return Err(line.fault(Fault::WorkloadAndIdle, Some(word)));
        }
    }
    close(&phases, opened, limits)?;
    if phases.is_empty() {
        let line = Line { number: 1, text: text.lines().next().unwrap_or(""), end: 0, position: 0, limits };
        return Err(line.fault(Fault::NoPhase, None));
    }
    Ok(Scenario { phases })
}

/// A phase is complete: it must do something.
fn close(phases: &[Phase], opened: Option<(usize, &str)>, limits: &Limits) -> Result<(), ScenarioError> {
    let (Some(phase), Some((number, text))) = (phases.last(), opened) else { return Ok(()) };
    if phase.workload.is_some() || phase.idle {
        return Ok(());
    }
    let mut line = Line { number, text, end: text.len(), position: 0, limits };
    let word = line.word();
    Err(line.fault(Fault::EmptyPhase { name: phase.name.clone() }, word))
}

fn set<'a>(phase: &mut Phase, subject: Subject, word: Word<'a>, line: &mut Line<'a>) -> Result<(), ScenarioError> {
    match subject {
        Subject::Workload => {
            let text = line.expect("the workload", "workload stream:requests=20k")?;
            let workload = Workload::parse(text.text, line.limits);
            let workload = workload.map_err(|error| line.fault(Fault::Workload(error), Some(text)))?;
            if workload.warm_up.is_some() {
                return Err(line.fault(Fault::WarmUp, Some(text)));
            }
            phase.workload = Some(workload);
        }
        Subject::Idle => {
            phase.nanoseconds = Some(line.duration("the pause's length", "idle 200us", SHORTEST)?);
            phase.idle = true;
        }
        Subject::For => phase.nanoseconds = Some(line.duration("the phase's length", "for 200us", SHORTEST)?),
        Subject::Setting(setting) => condition(&mut phase.conditions, setting, word, line)?,
        Subject::Errand(kind) => {
            if kind.is_remote() {
                line.needs_peer(word)?;
            }
            line.keyword("every", "msi every 20us")?;
            let every = line.duration("the mean time between them", "msi every 20us", SHORTEST)?;
            phase.conditions.errands.push(Errand { kind, every });
        }
    }
    Ok(())
}

fn condition<'a>(
    conditions: &mut Conditions,
    setting: PhaseSetting,
    word: Word<'a>,
    line: &mut Line<'a>,
) -> Result<(), ScenarioError> {
    let (frequency, memory) = (&mut conditions.frequency, &mut conditions.memory);
    match setting {
        PhaseSetting::Frequency => frequency.request = line.ratio("frequency 2100MHz")?,
        PhaseSetting::ThermalLimit => frequency.thermal = line.ratio("thermal-limit 2100MHz")?,
        PhaseSetting::PowerLimit => frequency.power = line.ratio("power-limit 2100MHz")?,
        PhaseSetting::CurrentLimit => frequency.current = line.ratio("current-limit 2100MHz")?,
        PhaseSetting::IoFloor => frequency.io_floor = line.ratio("io-floor 2100MHz")?,
        PhaseSetting::PeerFloor => frequency.peer_floor = line.ratio("peer-floor 2100MHz")?,
        PhaseSetting::Prochot => {
            let example = "prochot internal, or external";
            let internal = line.one_of("the sensor", example, &[("internal", true), ("external", false)])?;
            *(if internal { &mut frequency.prochot_internal } else { &mut frequency.prochot_external }) = true;
        }
        PhaseSetting::RegulatorHot => frequency.regulator_hot = true,
        PhaseSetting::Hot => {
            let parts = [
                ("core", HotPart::Core),
                ("uncore", HotPart::Uncore),
                ("die", HotPart::Die),
                ("memory", HotPart::Memory),
            ];
            frequency.hot = Some(line.one_of("the part", "hot core, or uncore, or die, or memory", &parts)?);
        }
        PhaseSetting::PeakPower => frequency.peak_power = true,
        PhaseSetting::CrossThrottle => {
            let kinds = [("light", false), ("hard", true)];
            let example = "cross-throttle light, or hard";
            frequency.cross_throttle = Some(line.one_of("the strength", example, &kinds)?);
        }
        PhaseSetting::Vectors => {
            let widths = [("256", 256), ("512", 512)];
            frequency.vectors = Some(line.one_of("the width in bits", "vectors 256, or 512", &widths)?);
        }
        PhaseSetting::Air => {
            conditions.air = Some(line.quantity("the temperature", "air 40C", &[("C", 1)], (10, 60))? as u8);
        }
        PhaseSetting::Sleep => {
            let states = [("c0", CoreSleep::Awake), ("c3", CoreSleep::C3), ("c6", CoreSleep::C6)];
            conditions.sleep = line.one_of("the C-state", "sleep c3, or c6", &states)?;
        }
        PhaseSetting::Wake => {
            line.keyword("every", "wake every 50us")?;
            conditions.wake = Some(line.duration("the time between wake-ups", "wake every 50us", 10_000)?);
        }
        PhaseSetting::PowerDown => {
            let choices = [("fast", false), ("slow", true)];
            memory.slow_power_down = line.one_of("the kind of exit", "power-down slow, or fast", &choices)?;
        }
        PhaseSetting::SelfRefresh => {
            line.keyword("after", "self-refresh after 10us")?;
            memory.self_refresh = Some(line.duration("the idle time", "self-refresh after 10us", SHORTEST)?);
        }
        PhaseSetting::LinkHalf | PhaseSetting::LinkOff => {
            line.needs_peer(word)?;
            line.keyword("after", "link-half after 1us, or link-off after 10us")?;
            let rest = line.duration("the time of rest", "link-half after 1us, or link-off after 10us", SHORTEST)?;
            let links = &mut conditions.links;
            *(if setting == PhaseSetting::LinkHalf { &mut links.half_after } else { &mut links.off_after }) =
                Some(rest);
        }
        PhaseSetting::System => conditions.system = true,
        PhaseSetting::LinkError => {
            line.needs_peer(word)?;
            let example = "link-error every 500packets";
            line.keyword("every", example)?;
            let units = [("packets", 1)];
            conditions.links.error_every = line.quantity("the number of packets", example, &units, (1, 1 << 40))?;
        }
        PhaseSetting::Throttle => {
            let ranks = line.one_of("the rank", "throttle rank0 30%, or rank1 to rank7, or ranks", &RANKS)?;
            memory.throttle = Some((ranks, line.per_cent("throttle rank0 30%")?));
        }
        PhaseSetting::Critical => memory.critical = Some(line.per_cent("critical 50%")?),
        PhaseSetting::MemoryError => {
            let example = "memory-error every 500reads";
            line.keyword("every", example)?;
            memory.error_every = line.quantity("the number of reads", example, &[("reads", 1)], (1, 1 << 40))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
