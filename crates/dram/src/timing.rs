//! DRAM timing and controller policies, in DRAM clock cycles: what a generation of DRAM is, as data.

use pericore_engine::ParameterError;

use super::layout::Layout;

/// Entries that the queues' data structures have room for.
pub const MOST_ENTRIES: usize = 64;

/// How a channel is built, the timing of its speed grade, and the policies of the controller. The names of times are those of JESD79.
/// A generation without bank groups has one group, and the short times equal the long ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// Ranks of the channel: a power of two, at most eight.
    pub ranks: u8,
    /// Bank groups of a rank.
    pub groups: u8,
    /// Banks of a group.
    pub banks_per_group: u8,
    /// Lines of an open row.
    pub lines_per_row: u32,
    /// Cycles of the command bus for an activate, a read or a write; other commands take one.
    pub command: u64,
    /// Read command to first data.
    pub cl: u64,
    /// Write command to first data.
    pub cwl: u64,
    /// Data cycles of a line: half its transfers.
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
    /// Column command to column command of the same direction, other bank group of the rank.
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
    /// A row that no pending request wants, partial writes included, is closed by the column command itself: a policy
    /// of closed pages.
    pub closes_pages: bool,
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
    /// Banks of a rank.
    pub const fn banks_per_rank(&self) -> u8 {
        self.groups * self.banks_per_group
    }

    /// Checks what the scheduler takes for granted.
    ///
    /// # Errors
    /// [`ParameterError`] for the first value that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let range = ParameterError::unless_within;
        let power = |name: &'static str, value: u64, most: u64| {
            range(name, value, 1, most)?;
            range(name, value, value.next_power_of_two(), most)
        };
        let (ranks, groups, banks) = (self.ranks.into(), self.groups.into(), self.banks_per_group.into());
        power("ranks", ranks, Layout::RANKS as u64)?;
        power("groups", groups, Layout::BANKS as u64 / ranks)?;
        power("banks_per_group", banks, Layout::BANKS as u64 / (ranks * groups))?;
        power("lines_per_row", self.lines_per_row.into(), 1 << 16)?;
        for (name, value) in [
            ("cl", self.cl),
            ("cwl", self.cwl),
            ("burst", self.burst),
            ("trcd", self.trcd),
            ("trp", self.trp),
            ("trrd_s", self.trrd_s),
            ("tccd_s", self.tccd_s),
            ("twtr_s", self.twtr_s),
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
        range("command", self.command, 1, 4)?;
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
        range("refresh_debt", self.refresh_debt, 1, 8)?;
        range("reads", self.reads.into(), 1, MOST_ENTRIES as u64)?;
        range("writes", self.writes.into(), 2, MOST_ENTRIES as u64)?;
        range("write_high", self.write_high.into(), 1, self.writes.into())?;
        range("write_low", self.write_low.into(), 0, u64::from(self.write_high) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Timing;

    #[test]
    fn the_grades_are_sound_and_have_their_banks() {
        let banks = [Timing::ddr3_1600(), Timing::ddr4_3200(), Timing::ddr5_5600()].map(|grade| {
            assert_eq!(grade.check(), Ok(()));
            grade.banks_per_rank()
        });
        assert_eq!(banks, [8, 16, 32]);
    }

    #[test]
    fn ranks_are_a_power_of_two_and_have_room() {
        for (ranks, sound) in [(0, false), (1, true), (2, true), (3, false), (4, true), (8, true), (16, false)] {
            assert_eq!(Timing { ranks, ..Timing::ddr3_1600() }.check().is_ok(), sound, "{ranks}");
        }
        let error = Timing { ranks: 4, ..Timing::ddr5_5600() }.check().unwrap_err();
        assert_eq!(error.to_string(), "parameter banks_per_group is 4: it must lie between 1 and 2");
    }
}
