//! What an event is told, by the event texts; chance from a seed; and a session's way to the machine.

use pericore_observe::session::Moment;
use pericore_registers::{Address, Outcome, RegisterSpace, Width};

use crate::pmon::raw::{CYCLE, Raw};
use crate::pmon::rows::Row;
use crate::pmon::tags;

/// Pseudo-random numbers from a seed.
pub struct Random(pub u64);

impl Random {
    /// The next number, below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % limit
    }
}

/// The session's way to the machine.
pub struct Registers<'a>(pub &'a mut Raw);

impl RegisterSpace for Registers<'_> {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.0.machine.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.0.machine.write(address, width, value)
    }
}

/// The time as of now.
pub fn moment(raw: &Raw) -> Moment {
    let cycle = raw.machine.now() / CYCLE;
    Moment { seconds: cycle as f64 / 1024.0, tsc: cycle }
}

/// Events that count clocks.
pub fn is_clock(row: &Row) -> bool {
    row.event.to_ascii_uppercase().ends_with("CLOCKTICKS")
}

/// What an event is told.
pub enum Feed {
    /// Nothing: it counts cycles.
    Clock,
    /// Nothing: it counts every second cycle.
    HalfClock,
    /// Nothing can make it count by itself.
    Deaf,
    /// A signal with this tag; and with another that it must not count.
    Signal {
        /// Its name.
        name: String,
        /// The tag.
        tag: u64,
        /// The other, where there is one.
        other: Option<u64>,
    },
}

/// What an event is told.
pub fn feed(raw: &Raw, family: &str, row: &Row) -> Feed {
    if is_clock(row) {
        return if row.event == "HCLOCKTICKS" { Feed::HalfClock } else { Feed::Clock };
    }
    if row.event.eq_ignore_ascii_case("nothing") {
        return Feed::Deaf;
    }
    match tags::matching(raw, family, row) {
        Some(tag) => Feed::Signal { name: tags::signal(family, row), tag, other: tags::other(raw, family, row) },
        None => Feed::Deaf,
    }
}
