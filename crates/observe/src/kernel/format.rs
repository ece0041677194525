//! Where a term lies in the attributes of an event: what `/sys/bus/event_source/devices/PMU/format/TERM` says.
//!
//! The text is `WORD:RANGES`, such as `config:8-15,32-55`. The lowest bits of a term's value go into the first range.

use std::fmt;
use std::str::FromStr;

use pericore_registers::BitRange;

/// More ranges than a word can have.
const MOST_RANGES: usize = 64;

/// The words of an event's attributes (`perf_event_attr`) that select what is counted.
const WORDS: [&str; 4] = ["config", "config1", "config2", "config3"];

/// What selects an event of a PMU: the words that formats name, and whose occurrences count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Attributes {
    /// `config`, `config1`, `config2` and `config3`.
    pub words: [u64; WORDS.len()],
    /// Whose occurrences count.
    pub privilege: Privilege,
}

/// Whose occurrences of an event of the cores count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Privilege {
    /// All.
    #[default]
    All,
    /// Those of users' code: `exclude_kernel`.
    User,
    /// Those of the kernel: `exclude_user`.
    Kernel,
}

/// Where a term lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermFormat {
    /// Index in [`Attributes::words`].
    word: usize,
    /// From the value's lowest bits up.
    ranges: Vec<BitRange>,
}

/// A format file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// It is no `WORD:RANGES`.
    #[error("{text:?} is no place in an event's attributes, such as config:8-15,32-55")]
    Form {
        /// What it says.
        text: String,
    },
    /// A bit stands in two ranges.
    #[error("{text:?} has bit {bit} twice")]
    Twice {
        /// What it says.
        text: String,
        /// The bit.
        bit: u8,
    },
}

impl FromStr for TermFormat {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let shown = || text.chars().take(80).collect::<String>();
        let form = || FormatError::Form { text: shown() };
        let (word, places) = text.trim_end().split_once(':').ok_or_else(form)?;
        let word = WORDS.iter().position(|known| *known == word).ok_or_else(form)?;
        let mut ranges: Vec<BitRange> = Vec::new();
        for place in places.split(',') {
            let range = range(place).filter(|_| ranges.len() < MOST_RANGES).ok_or_else(form)?;
            let seen = ranges.iter().fold(0, |mask, range| mask | range.mask()) & range.mask();
            if seen != 0 {
                let bit = seen.trailing_zeros() as u8;
                return Err(FormatError::Twice { text: shown(), bit });
            }
            ranges.push(range);
        }
        Ok(Self { word, ranges })
    }
}

/// `8-15`, or one bit.
fn range(text: &str) -> Option<BitRange> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let bit = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u8>().ok().filter(|bit| is_number && *bit < 64)
    };
    let (low, high) = (bit(low)?, bit(high)?);
    (low <= high).then(|| BitRange::new(high, low))
}

impl TermFormat {
    /// How many bits a value may have.
    pub fn width(&self) -> u32 {
        self.ranges.iter().map(|range| u32::from(range.width)).sum()
    }

    /// The largest value.
    pub fn max(&self) -> u64 {
        if self.width() >= 64 { u64::MAX } else { (1 << self.width()) - 1 }
    }

    /// The attributes with this term set to `value`, which replaces what the term's bits hold; nothing if it has too
    /// many bits.
    pub fn set(&self, attributes: Attributes, value: u64) -> Option<Attributes> {
        if value > self.max() {
            return None;
        }
        let mut words = attributes.words;
        let mut rest = value;
        for range in &self.ranges {
            words[self.word] = range.set(words[self.word], rest);
            rest = rest.checked_shr(u32::from(range.width)).unwrap_or(0);
        }
        Some(Attributes { words, ..attributes })
    }

    /// The term's value in attributes.
    pub fn get(&self, attributes: Attributes) -> u64 {
        let mut value = 0;
        let mut at = 0;
        for range in &self.ranges {
            value |= range.get(attributes.words[self.word]) << at;
            at += u32::from(range.width);
        }
        value
    }
}

impl fmt::Display for TermFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORDS[self.word])?;
        for (number, range) in self.ranges.iter().enumerate() {
            let mark = if number == 0 { ':' } else { ',' };
            match range.width {
                1 => write!(f, "{mark}{}", range.lsb)?,
                _ => write!(f, "{mark}{}-{}", range.lsb, range.msb())?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "config={:#x}", self.words[0])?;
        for (name, word) in WORDS.iter().zip(self.words).skip(1).filter(|(_, word)| *word != 0) {
            write!(f, ",{name}={word:#x}")?;
        }
        match self.privilege {
            Privilege::All => Ok(()),
            Privilege::User => f.write_str(", of users' code"),
            Privilege::Kernel => f.write_str(", of the kernel's code"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(format: &str, value: u64) -> Option<[u64; 4]> {
        let format: TermFormat = format.parse().unwrap();
        format.set(Attributes::default(), value).map(|attributes| attributes.words)
    }

    /// Formats of Linux 6.1's uncore drivers; values placed by hand.
    #[test]
    fn values_go_where_the_format_places_them() {
        assert_eq!(set("config:0-7\n", 0x35), Some([0x35, 0, 0, 0]));
        assert_eq!(set("config:0-7,21", 0x102), Some([0x20_0002, 0, 0, 0]));
        assert_eq!(set("config:8-15,32-55", 0xc8_17fe01), Some([0x00c8_17fe_0000_0100, 0, 0, 0]));
        assert_eq!(set("config:8-15,32-43,45-55", 0x1f_ffff), Some([0x3fff_0000_ff00 & !(1 << 44) | 1 << 45, 0, 0, 0]));
        assert_eq!(set("config1:23-31", 0x182), Some([0, 0xc100_0000, 0, 0]));
        assert_eq!(set("config2:13-17", 0x1f), Some([0, 0, 0x3_e000, 0]));
        assert_eq!(set("config:0-63", u64::MAX), Some([u64::MAX, 0, 0, 0]));
        // The ranges' order is the value's, wherever they lie.
        assert_eq!(set("config:32-35,0-3", 0x21), Some([0x1_0000_0002, 0, 0, 0]));
    }

    #[test]
    fn values_that_are_too_wide_have_no_place() {
        assert_eq!(set("config:0-7", 0x100), None);
        assert_eq!(set("config:8-15,32-39", 0x1_0000), None);
        assert_eq!(set("config:18", 2), None);
        assert_eq!(set("config:18", 1), Some([1 << 18, 0, 0, 0]));
    }

    #[test]
    fn formats_read_back_and_print_as_they_came() {
        for text in ["config:0-7,21", "config1:0", "config:8-15,32-55", "config3:0-63"] {
            let format: TermFormat = text.parse().unwrap();
            assert_eq!(format.to_string(), text);
            let some = Attributes { words: [0x1234_5678_9abc_def0; 4], ..Attributes::default() };
            for value in [0, 1, format.max()] {
                let placed = format.set(some, value).unwrap();
                assert_eq!(format.get(placed), value);
                assert_eq!(format.set(placed, format.get(some)), Some(some), "other bits stay");
            }
        }
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in [
            "",
            "config",
            "config:",
            "config4:0",
            "conf:0-7",
            "config:7-0",
            "config:0-64",
            "config:0-",
            "config:+1",
            "config:0-7,",
            "config:0 - 7",
        ] {
            assert!(matches!(text.parse::<TermFormat>(), Err(FormatError::Form { .. })), "{text:?}");
        }
        let twice = "config:0-7,4-9".parse::<TermFormat>().unwrap_err();
        assert_eq!(twice.to_string(), "\"config:0-7,4-9\" has bit 4 twice");
    }

    /// As `perf stat -e` takes them: the first word always, the others where they say something.
    #[test]
    fn attributes_print_the_words_that_are_set() {
        let printed = |words, privilege| Attributes { words, privilege }.to_string();
        for (words, text) in [
            ([0, 0, 0, 0], "config=0x0"),
            ([0x304, 0, 0, 0], "config=0x304"),
            ([0x304, 0x1f, 0, 0], "config=0x304,config1=0x1f"),
            ([0x35, 0, 0xa0, 0x7], "config=0x35,config2=0xa0,config3=0x7"),
        ] {
            assert_eq!(printed(words, Privilege::All), text);
        }
        assert_eq!(printed([0xc0, 0, 0, 0], Privilege::User), "config=0xc0, of users' code");
        assert_eq!(printed([0xc0, 0, 0, 0], Privilege::Kernel), "config=0xc0, of the kernel's code");
    }
}
