//! DRAM timing and controller policies, in DRAM clock cycles.

use crate::uncore::ParameterError;

/// Ranks of a channel.
pub const RANKS: usize = 2;
/// Banks of a rank (guide 2.5.2: eight independent banks per rank).
pub const BANKS_PER_RANK: usize = 8;
/// Banks of a channel; bank `b` of rank `r` has the number `8 r + b`.
pub const BANKS: usize = RANKS * BANKS_PER_RANK;
/// Lines of an open row: 8 KiB over a rank of eight x8 devices with 1 KiB pages each (JESD79-3, addressing).
pub const LINES_PER_ROW: u64 = 128;
/// Entries that the read queue's data structures have room for (guide Table 2-64: `RPQ_OCCUPANCY` counts up to 22).
pub const MOST_READS: usize = 22;
/// Entries that the write queue's data structures have room for (guide Table 2-64: `WPQ_OCCUPANCY` counts up to 32).
pub const MOST_WRITES: usize = 32;

/// Timing of a speed grade, and the policies of the controller. The names are those of JESD79-3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// Read command to first data.
    pub cl: u64,
    /// Write command to first data.
    pub cwl: u64,
    /// Data cycles of a burst of eight transfers.
    pub burst: u64,
    /// Activate to read or write, same bank.
    pub trcd: u64,
    /// Precharge to activate, same bank.
    pub trp: u64,
    /// Activate to precharge, same bank.
    pub tras: u64,
    /// Activate to activate, same bank.
    pub trc: u64,
    /// Activate to activate, other bank of the rank.
    pub trrd: u64,
    /// Window in which a rank takes at most four activates.
    pub tfaw: u64,
    /// Column command to column command of the same direction, same rank.
    pub tccd: u64,
    /// Last write data to read, same rank.
    pub twtr: u64,
    /// Last write data to precharge, same bank.
    pub twr: u64,
    /// Read to precharge, same bank.
    pub trtp: u64,
    /// Gap on the data bus between ranks, and between read and write data.
    pub trtrs: u64,
    /// Refresh to the next command of the rank.
    pub trfc: u64,
    /// Average time between refreshes of a rank.
    pub trefi: u64,
    /// Refreshes that may be owed before one is forced.
    pub refresh_debt: u64,
    /// Entries of the read pending queue.
    pub reads: u8,
    /// Entries of the write pending queue.
    pub writes: u8,
    /// Writes pending at which write major mode starts.
    pub write_high: u8,
    /// Writes pending at which it ends.
    pub write_low: u8,
    /// Cycles without any read pending before writes are sent in read major mode.
    pub write_patience: u64,
    /// Cycles after its last use at which an open row without pending requests is closed.
    pub page_idle: u64,
    /// Age in cycles at which the oldest request of a bank goes before younger row hits.
    pub starvation: u64,
    /// Cycles to answer a read from a pending write.
    pub forward: u64,
    /// Age in cycles at which an underfill read goes before everything else.
    pub underfill_patience: u64,
    /// Cycles of idleness after which a rank is powered down.
    pub power_idle: u64,
    /// Power-down exit to the next command, DLL on.
    pub txp: u64,
    /// Power-down exit to the next command, DLL off.
    pub txpdll: u64,
    /// Self-refresh exit to the next command.
    pub txs: u64,
}

impl Timing {
    /// DDR3-1600 11-11-11 with 4 Gbit x8 devices.
    pub const fn ddr3_1600() -> Self {
        Self {
            cl: 11,                  // JESD79-3, DDR3-1600K speed bin
            cwl: 8,                  // JESD79-3, mode register 2 at 1.25 ns
            burst: 4,                // burst length 8 at two transfers a cycle
            trcd: 11,                // 13.75 ns
            trp: 11,                 // 13.75 ns
            tras: 28,                // 35 ns
            trc: 39,                 // 48.75 ns
            trrd: 5,                 // JESD79-3: max(4 cycles, 6 ns) with 1 KiB pages
            tfaw: 24,                // JESD79-3: 30 ns with 1 KiB pages
            tccd: 4,                 // JESD79-3
            twtr: 6,                 // max(4 cycles, 7.5 ns)
            twr: 12,                 // 15 ns
            trtp: 6,                 // max(4 cycles, 7.5 ns)
            trtrs: 2,                // assumption: two cycles of turnaround, usual for registered modules
            trfc: 208,               // JESD79-3: 260 ns for 4 Gbit
            trefi: 6240,             // JESD79-3: 7.8 us
            refresh_debt: 4,         // JESD79-3 allows eight; assumption: half of it
            reads: 22,               // guide Table 2-64: RPQ_OCCUPANCY counts up to 22
            writes: 32,              // guide Table 2-64: WPQ_OCCUPANCY counts up to 32
            write_high: 26,          // assumption: room for the writes under way when the mode starts
            write_low: 10,           // assumption: two thirds of the queue are written at a time
            write_patience: 24, // assumption: about a row miss, so that a pause between reads is not mistaken for idleness
            page_idle: 200,     // assumption: 250 ns
            starvation: 2000,   // fitted: copy of 26.5 GB/s (published-numbers, E5-2680)
            forward: 4,         // assumption: a burst's time
            underfill_patience: 400, // assumption: 500 ns, below the starvation limit of ordinary reads
            power_idle: 600,    // assumption: 750 ns; long enough not to touch the idle latency
            txp: 5,             // JESD79-3: max(3 cycles, 6 ns)
            txpdll: 20,         // JESD79-3: max(10 cycles, 24 ns)
            txs: 216,           // JESD79-3: tRFC + 10 ns
        }
    }

    /// Checks what the scheduler takes for granted.
    ///
    /// # Errors
    /// [`ParameterError`] for the first value that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let range = |name: &'static str, value: u64, least: u64, most: u64| {
            let ok = (least..=most).contains(&value);
            if ok { Ok(()) } else { Err(ParameterError { name, value, least, most }) }
        };
        for (name, value) in [
            ("cl", self.cl),
            ("cwl", self.cwl),
            ("burst", self.burst),
            ("trcd", self.trcd),
            ("trp", self.trp),
            ("trrd", self.trrd),
            ("tccd", self.tccd),
            ("twtr", self.twtr),
            ("twr", self.twr),
            ("trtp", self.trtp),
            ("forward", self.forward),
            ("page_idle", self.page_idle),
            ("starvation", self.starvation),
            ("underfill_patience", self.underfill_patience),
            ("power_idle", self.power_idle),
            ("txp", self.txp),
            ("txpdll", self.txpdll),
            ("txs", self.txs),
        ] {
            range(name, value, 1, 100_000)?;
        }
        range("cl", self.cl, self.cwl, 100)?;
        range("tccd", self.tccd, self.burst, 100)?;
        range("tras", self.tras, self.trcd, 10_000)?;
        range("trc", self.trc, self.tras + self.trp, 10_000)?;
        range("tfaw", self.tfaw, self.trrd, 10_000)?;
        range("trtrs", self.trtrs, 0, 100)?;
        range("trfc", self.trfc, 1, 100_000)?;
        range("trefi", self.trefi, 2 * self.trfc + self.trc, 1 << 32)?;
        range("refresh_debt", self.refresh_debt, 1, 8)?;
        range("reads", self.reads.into(), 1, MOST_READS as u64)?;
        range("writes", self.writes.into(), 2, MOST_WRITES as u64)?;
        range("write_high", self.write_high.into(), 1, self.writes.into())?;
        range("write_low", self.write_low.into(), 0, u64::from(self.write_high) - 1)
    }
}
