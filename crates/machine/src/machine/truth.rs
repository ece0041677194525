//! What a machine's ledger says, whichever family it is of.

use pericore_engine::{ClockDomains, Tick};

use pericore_truth::{Question, e5_2600, emerald_rapids, nehalem};

/// The ledger's account at one instant.
#[derive(Debug, Clone)]
pub enum Snapshot {
    /// Of the E5-2600.
    E5(Box<e5_2600::Snapshot>),
    /// Of the Xeon 5500 series.
    Nehalem(Box<nehalem::Snapshot>),
    /// Of Emerald Rapids.
    EmeraldRapids(Box<emerald_rapids::Snapshot>),
}

impl Snapshot {
    /// When it was taken: everything before this tick is in it.
    pub const fn now(&self) -> Tick {
        match self {
            Self::E5(at) => at.now(),
            Self::Nehalem(at) => at.now(),
            Self::EmeraldRapids(at) => at.now(),
        }
    }

    /// What an event has counted since reset in an instance of a socket's unit. `None` if the ledger has no truth for the event, or
    /// there is no such instance.
    pub fn count(&self, socket: u16, instance: u16, question: Question<'_>) -> Option<u64> {
        match self {
            Self::E5(at) => at.count(socket, instance, question),
            Self::Nehalem(at) => at.count(socket, instance, question),
            Self::EmeraldRapids(at) => at.count(socket, instance, question),
        }
    }
}

/// A kind of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKind {
    /// Behind the memory controllers.
    Dram,
    /// Behind CXL links.
    Expander,
}

impl Snapshot {
    /// Lines that memory of a kind has read and written since reset, over the machine's sockets.
    pub fn memory_lines(&self, kind: MemoryKind, sockets: u16) -> [u64; 2] {
        const CHANNELS: [&str; 3] = ["CH0", "CH1", "CH2"];
        let (unit, [read, write], subevents): (_, _, &[[&str; 2]]) = match (self, kind) {
            (Self::EmeraldRapids(_), MemoryKind::Expander) => {
                ("cxldp", ["TxC_AGF_INSERTS"; 2], &[["M2S_REQ", "M2S_DATA"]])
            }
            (_, MemoryKind::Expander) => return [0; 2],
            (Self::Nehalem(_), MemoryKind::Dram) => {
                ("uncore", ["DRAM_READ_CAS", "DRAM_WRITE_CAS"], &CHANNELS.map(|channel| [channel; 2]))
            }
            _ => ("imc", ["CAS_COUNT"; 2], &[["RD", "WR"]]),
        };
        let lines = |event, direction: usize| {
            let of = |socket, subevent| {
                let question = Question::new(unit, event).subevent(subevent);
                (0..).map_while(|instance| self.count(socket, instance, question)).sum::<u64>()
            };
            (0..sockets).map(|socket| subevents.iter().map(|of_both| of(socket, of_both[direction])).sum::<u64>()).sum()
        };
        [lines(read, 0), lines(write, 1)]
    }
}

/// The span `[from, to)` between two snapshots of one machine.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    from: &'a Snapshot,
    to: &'a Snapshot,
}

impl<'a> Window<'a> {
    /// The span between two snapshots; `from` must be the earlier one.
    pub const fn between(from: &'a Snapshot, to: &'a Snapshot) -> Self {
        Self { from, to }
    }

    /// Length in ticks.
    pub const fn ticks(&self) -> Tick {
        self.to.now() - self.from.now()
    }

    /// Length in virtual seconds.
    pub fn seconds(&self, clocks: &ClockDomains) -> f64 {
        clocks.seconds(self.from.now(), self.to.now())
    }

    /// What an event's counter must read after the window; see [`Snapshot::count`].
    pub fn count(&self, socket: u16, instance: u16, question: Question<'_>) -> Option<u64> {
        let before = self.from.count(socket, instance, question)?;
        Some(self.to.count(socket, instance, question)? - before)
    }
}
