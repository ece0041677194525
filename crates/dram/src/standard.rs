//! What the JEDEC standards demand of speed grades, written from the standards: the scheduler has its own numbers.

/// What a standard demands of a speed grade, in cycles of the DRAM clock.
#[derive(Debug, Clone, Copy)]
pub struct Standard {
    /// Ranks of the channel.
    pub ranks: usize,
    /// Bank groups of a rank; bank `b` belongs to group `b` modulo the groups.
    pub groups: usize,
    /// Banks of a rank.
    pub banks: usize,
    /// Cycles of the command bus that an activate, a read or a write takes.
    pub long_command: u64,
    /// From a read to its data (CL).
    pub cl: u64,
    /// From a write to its data (CWL).
    pub cwl: u64,
    /// Cycles of the data bus that a line takes.
    pub burst: u64,
    /// From an activate to a read or write of the bank (tRCD).
    pub rcd: u64,
    /// From a precharge to an activate of the bank (tRP).
    pub rp: u64,
    /// From an activate to a precharge of the bank (tRAS).
    pub ras: u64,
    /// Between activates of a bank (tRC).
    pub rc: u64,
    /// Between activates of different groups of a rank (tRRD_S).
    pub rrd_s: u64,
    /// The same for banks of one group (tRRD_L).
    pub rrd_l: u64,
    /// Window with four activates of a rank at most (tFAW).
    pub faw: u64,
    /// Between reads, or writes, to different groups (tCCD_S).
    pub ccd_s: u64,
    /// Between reads of one group (tCCD_L).
    pub ccd_l: u64,
    /// Between writes of one group (tCCD_L_WR).
    pub ccd_l_wr: u64,
    /// From the end of written data to a read of another group (tWTR_S).
    pub wtr_s: u64,
    /// From the end of written data to a read of the group (tWTR_L).
    pub wtr_l: u64,
    /// From the end of written data to a precharge of the bank (tWR).
    pub wr: u64,
    /// From a read to a precharge of the bank (tRTP).
    pub rtp: u64,
    /// From a refresh to the next command of the rank (tRFC).
    pub rfc: u64,
    /// Between refreshes of a rank (tREFI).
    pub refi: u64,
    /// Refreshes that may be put off.
    pub postponed: u64,
}

/// JESD79-3, DDR3-1333H, 2 Gbit x8: a cycle is 1.5 ns.
pub const DDR3_1333H: Standard = Standard {
    ranks: 2,
    groups: 1,
    banks: 8,
    long_command: 1,
    cl: 9,
    cwl: 7,
    burst: 4,
    rcd: 9,
    rp: 9,
    ras: 24,
    rc: 33,
    rrd_s: 4,
    rrd_l: 4,
    faw: 20,
    ccd_s: 4,
    ccd_l: 4,
    ccd_l_wr: 4,
    wtr_s: 5,
    wtr_l: 5,
    wr: 10,
    rtp: 5,
    rfc: 107,
    refi: 5200,
    postponed: 8,
};

/// JESD79-3, DDR3-1600K, 4 Gbit x8: a cycle is 1.25 ns.
pub const DDR3_1600K: Standard = Standard {
    ranks: 2,
    groups: 1,
    banks: 8,
    long_command: 1,
    cl: 11,
    cwl: 8,
    burst: 4,
    rcd: 11,
    rp: 11,
    ras: 28,
    rc: 39,
    rrd_s: 5,
    rrd_l: 5,
    faw: 24,
    ccd_s: 4,
    ccd_l: 4,
    ccd_l_wr: 4,
    wtr_s: 6,
    wtr_l: 6,
    wr: 12,
    rtp: 6,
    rfc: 208,
    refi: 6240,
    postponed: 8,
};

/// JESD79-4, DDR4-3200AA, 8 Gbit x8: a cycle is 0.625 ns.
pub const DDR4_3200AA: Standard = Standard {
    ranks: 2,
    groups: 4,
    banks: 16,
    long_command: 1,
    cl: 22,
    cwl: 16,
    burst: 4,
    rcd: 22,
    rp: 22,
    ras: 52,
    rc: 74,
    rrd_s: 4,
    rrd_l: 8,
    faw: 34,
    ccd_s: 4,
    ccd_l: 8,
    ccd_l_wr: 8,
    wtr_s: 4,
    wtr_l: 12,
    wr: 24,
    rtp: 12,
    rfc: 560,
    refi: 12480,
    postponed: 8,
};

/// JESD79-5, DDR5-4800B, 16 Gbit x8: a cycle is 0.417 ns.
pub const DDR5_4800B: Standard = Standard {
    ranks: 2,
    groups: 8,
    banks: 32,
    long_command: 2,
    cl: 40,
    cwl: 38,
    burst: 8,
    rcd: 39,
    rp: 39,
    ras: 77,
    rc: 116,
    rrd_s: 8,
    rrd_l: 12,
    faw: 32,
    ccd_s: 8,
    ccd_l: 12,
    ccd_l_wr: 24,
    wtr_s: 6,
    wtr_l: 24,
    wr: 72,
    rtp: 18,
    rfc: 708,
    refi: 9360,
    postponed: 4,
};

/// JESD79-5, DDR5-5600B, 16 Gbit x8: a cycle is 0.357 ns.
pub const DDR5_5600B: Standard = Standard {
    ranks: 2,
    groups: 8,
    banks: 32,
    long_command: 2,
    cl: 46,
    cwl: 44,
    burst: 8,
    rcd: 45,
    rp: 45,
    ras: 90,
    rc: 135,
    rrd_s: 8,
    rrd_l: 14,
    faw: 32,
    ccd_s: 8,
    ccd_l: 14,
    ccd_l_wr: 28,
    wtr_s: 7,
    wtr_l: 28,
    wr: 84,
    rtp: 21,
    rfc: 826,
    refi: 10920,
    postponed: 4,
};
