//! DRAM timing and controller policies, in DRAM clock cycles.

use crate::uncore::ParameterError;

/// Ranks of a channel; each has a half in either subchannel.
pub const RANKS: usize = 2;
/// Bank groups of a rank (JESD79-5, 16 Gbit x8: eight groups of four banks).
pub const GROUPS_PER_RANK: usize = 8;
/// Banks of a rank.
pub const BANKS_PER_RANK: usize = 32;
/// Banks of a subchannel; bank `b` of rank `r` has the number `32 r + b`, and belongs to group `b % 8`.
pub const BANKS: usize = RANKS * BANKS_PER_RANK;
/// Lines of an open row: four x8 devices with 1 KiB pages each (JESD79-5, addressing).
pub const LINES_PER_ROW: u32 = 64;
/// Entries that the queues' data structures have room for.
pub const MOST_ENTRIES: usize = 64;

/// Timing of a speed grade, and the policies of the controller. The names are those of JESD79-5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// Read command to first data.
    pub cl: u64,
    /// Write command to first data.
    pub cwl: u64,
    /// Data cycles of a burst of sixteen transfers.
    pub burst: u64,
    /// Activate to read or write, same bank.
    pub trcd: u64,
    /// Precharge to activate, same bank.
    pub trp: u64,
    /// Activate to precharge, same bank.
    pub tras: u64,
    /// Activate to activate, same bank.
    pub trc: u64,
    /// Activate to activate, other bank group of the rank.
    pub trrd_s: u64,
    /// The same, same bank group.
    pub trrd_l: u64,
    /// Window in which a rank takes at most four activates.
    pub tfaw: u64,
    /// Column command to column command, other bank group of the rank.
    pub tccd_s: u64,
    /// Read to read, same bank group.
    pub tccd_l: u64,
    /// Write to write, same bank group.
    pub tccd_l_wr: u64,
    /// Last write data to read, other bank group of the rank.
    pub twtr_s: u64,
    /// The same, same bank group.
    pub twtr_l: u64,
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
    /// Power down exit to the next command.
    pub txp: u64,
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
    /// Cycles without requests and open rows before the subchannel powers down.
    pub power_down: u64,
    /// Age in cycles at which the oldest request of a bank goes before younger row hits.
    pub starvation: u64,
    /// Cycles to answer a read from a pending write.
    pub forward: u64,
}

impl Timing {
    /// DDR5-5600B 46-45-45 with 16 Gbit x8 devices, two ranks.
    pub const fn ddr5_5600() -> Self {
        Self {
            cl: 46,             // JESD79-5, speed bin 5600B
            cwl: 44,            // JESD79-5: CL - 2
            burst: 8,           // burst length 16 at two transfers a cycle
            trcd: 45,           // 16 ns
            trp: 45,            // 16 ns
            tras: 90,           // 32 ns
            trc: 135,           // tRAS + tRP
            trrd_s: 8,          // JESD79-5: 8 cycles
            trrd_l: 14,         // JESD79-5: max(8 cycles, 5 ns)
            tfaw: 32,           // JESD79-5: max(32 cycles, 11.4 ns) with 1 KiB pages
            tccd_s: 8,          // JESD79-5
            tccd_l: 14,         // JESD79-5: max(8 cycles, 5 ns)
            tccd_l_wr: 28,      // JESD79-5: max(16 cycles, 10 ns), devices that need no read to write
            twtr_s: 7,          // JESD79-5: max(4 cycles, 2.5 ns)
            twtr_l: 28,         // JESD79-5: max(16 cycles, 10 ns)
            twr: 84,            // JESD79-5: 30 ns
            trtp: 21,           // JESD79-5: max(12 cycles, 7.5 ns)
            trtrs: 2,           // assumption: two cycles of turnaround, usual for registered modules
            trfc: 826,          // JESD79-5: 295 ns for 16 Gbit
            trefi: 10920,       // JESD79-5: 3.9 us
            txp: 21,            // JESD79-5: max(8 cycles, 7.5 ns)
            refresh_debt: 4,    // JESD79-5 allows four
            reads: 48, // assumption: the published occupancy of 52.7 of a channel needs more than 26 a subchannel
            writes: 48, // assumption: as many
            write_high: 36, // assumption: three quarters
            write_low: 12, // assumption: a quarter
            write_patience: 60, // assumption: about a row miss
            page_idle: 400, // assumption: 143 ns
            power_down: 1400, // assumption: 500 ns
            starvation: 2800, // assumption: 1 us
            forward: 8, // assumption: a burst's time
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
            ("cwl", self.cwl),
            ("burst", self.burst),
            ("trcd", self.trcd),
            ("trp", self.trp),
            ("trrd_s", self.trrd_s),
            ("twtr_s", self.twtr_s),
            ("twr", self.twr),
            ("trtp", self.trtp),
            ("txp", self.txp),
            ("forward", self.forward),
            ("page_idle", self.page_idle),
            ("power_down", self.power_down),
            ("starvation", self.starvation),
        ] {
            range(name, value, 1, 100_000)?;
        }
        range("cl", self.cl, self.cwl, 100)?;
        range("tccd_s", self.tccd_s, self.burst, 100)?;
        range("tccd_l", self.tccd_l, self.tccd_s, 100)?;
        range("tccd_l_wr", self.tccd_l_wr, self.tccd_s, 100)?;
        range("twtr_l", self.twtr_l, self.twtr_s, 1000)?;
        range("trrd_l", self.trrd_l, self.trrd_s, 1000)?;
        range("tras", self.tras, self.trcd, 10_000)?;
        range("trc", self.trc, self.tras + self.trp, 10_000)?;
        range("tfaw", self.tfaw, self.trrd_s, 10_000)?;
        range("trtrs", self.trtrs, 0, 100)?;
        range("trfc", self.trfc, 1, 100_000)?;
        range("trefi", self.trefi, 2 * self.trfc + self.trc, 1 << 32)?;
        range("refresh_debt", self.refresh_debt, 1, 4)?;
        range("reads", self.reads.into(), 1, MOST_ENTRIES as u64)?;
        range("writes", self.writes.into(), 2, MOST_ENTRIES as u64)?;
        range("write_high", self.write_high.into(), 1, self.writes.into())?;
        range("write_low", self.write_low.into(), 0, u64::from(self.write_high) - 1)
    }
}
