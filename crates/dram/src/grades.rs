//! Speed grades, each number with its source.

use super::timing::Timing;

impl Timing {
    /// DDR3-1600 11-11-11 with 4 Gbit x8 devices, two ranks.
    pub const fn ddr3_1600() -> Self {
        Self {
            ranks: 2,                // two single-rank modules, or one with two
            groups: 1,               // DDR3 has none
            banks_per_group: 8,      // guide 2.5.2: eight independent banks per rank
            lines_per_row: 128,      // JESD79-3, addressing: 8 KiB over eight x8 devices with 1 KiB pages each
            command: 1,              // JESD79-3
            cl: 11,                  // JESD79-3, DDR3-1600K speed bin
            cwl: 8,                  // JESD79-3, mode register 2 at 1.25 ns
            burst: 4,                // burst length 8 at two transfers a cycle
            trcd: 11,                // 13.75 ns
            trp: 11,                 // 13.75 ns
            tras: 28,                // 35 ns
            trc: 39,                 // 48.75 ns
            trrd_s: 5,               // JESD79-3: max(4 cycles, 6 ns) with 1 KiB pages
            trrd_l: 5,               // the same: no groups
            tfaw: 24,                // JESD79-3: 30 ns with 1 KiB pages
            tccd_s: 4,               // JESD79-3
            tccd_l: 4,               // the same
            tccd_l_wr: 4,            // the same
            twtr_s: 6,               // max(4 cycles, 7.5 ns)
            twtr_l: 6,               // the same
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
            closes_pages: false, // assumption: as servers are delivered
            starvation: 2000,   // fitted: copy of 26.5 GB/s (published-numbers, E5-2680)
            forward: 4,         // assumption: a burst's time
            underfill_patience: 400, // assumption: 500 ns, below the starvation limit of ordinary reads
            power_idle: 600,    // assumption: 750 ns; long enough not to touch the idle latency
            txp: 5,             // JESD79-3: max(3 cycles, 6 ns)
            txpdll: 20,         // JESD79-3: max(10 cycles, 24 ns)
            txs: 216,           // JESD79-3: tRFC + 10 ns
        }
    }

    /// DDR4-3200 22-22-22 with 8 Gbit x8 devices, two ranks, and queues as in the simulators that it is compared with.
    pub const fn ddr4_3200() -> Self {
        Self {
            ranks: 2,
            groups: 4,               // JESD79-4: four groups of four banks in a x8 device
            banks_per_group: 4,      // same
            lines_per_row: 128,      // 8 KiB over eight x8 devices with 1 KiB pages each
            command: 1,              // JESD79-4
            cl: 22,                  // JESD79-4, DDR4-3200AA speed bin
            cwl: 16,                 // JESD79-4, mode register 2 at 0.625 ns, first set
            burst: 4,                // burst length 8
            trcd: 22,                // 13.75 ns
            trp: 22,                 // 13.75 ns
            tras: 52,                // 32 ns
            trc: 74,                 // tRAS + tRP
            trrd_s: 4,               // max(4 cycles, 2.5 ns) with 1 KiB pages
            trrd_l: 8,               // max(4 cycles, 4.9 ns)
            tfaw: 34,                // max(20 cycles, 21 ns)
            tccd_s: 4,               // JESD79-4
            tccd_l: 8,               // max(5 cycles, 5 ns)
            tccd_l_wr: 8,            // same
            twtr_s: 4,               // max(2 cycles, 2.5 ns)
            twtr_l: 12,              // max(4 cycles, 7.5 ns)
            twr: 24,                 // 15 ns
            trtp: 12,                // max(4 cycles, 7.5 ns)
            trtrs: 2,                // assumption: as for DDR3
            trfc: 560,               // 350 ns for 8 Gbit
            trefi: 12480,            // 7.8 us
            refresh_debt: 4,         // JESD79-4 allows eight; assumption: half of it
            reads: 32,               // the simulators' usual size
            writes: 32,              // same
            write_high: 26,          // assumption: as for DDR3
            write_low: 10,           // assumption: as for DDR3
            write_patience: 48,      // assumption: about a row miss
            page_idle: 400,          // assumption: 250 ns
            closes_pages: false,     // assumption: as servers are delivered
            starvation: 4000,        // as for DDR3: 2.5 us
            forward: 4,              // assumption: a burst's time
            underfill_patience: 800, // assumption: 500 ns
            power_idle: 1200,        // assumption: 750 ns
            txp: 10,                 // max(4 cycles, 6 ns)
            txpdll: 39,              // assumption: max(10 cycles, 24 ns), as for DDR3: DDR4 keeps its DLL on
            txs: 576,                // tRFC + 10 ns
        }
    }

    /// DDR5-5600B 46-45-45 with 16 Gbit x8 devices: one of the two subchannels of a channel with two ranks.
    pub const fn ddr5_5600() -> Self {
        Self {
            ranks: 2,                 // each has a half in either subchannel
            groups: 8,                // JESD79-5, 16 Gbit x8: eight groups of four banks
            banks_per_group: 4,       // same
            lines_per_row: 64,        // four x8 devices with 1 KiB pages each
            command: 2,               // JESD79-5: activates, reads and writes are two-cycle commands
            cl: 46,                   // JESD79-5, speed bin 5600B
            cwl: 44,                  // JESD79-5: CL - 2
            burst: 8,                 // burst length 16 at two transfers a cycle
            trcd: 45,                 // 16 ns
            trp: 45,                  // 16 ns
            tras: 90,                 // 32 ns
            trc: 135,                 // tRAS + tRP
            trrd_s: 8,                // 8 cycles
            trrd_l: 14,               // max(8 cycles, 5 ns)
            tfaw: 32,                 // max(32 cycles, 11.4 ns) with 1 KiB pages
            tccd_s: 8,                // JESD79-5
            tccd_l: 14,               // max(8 cycles, 5 ns)
            tccd_l_wr: 28,            // max(16 cycles, 10 ns), devices that need no read to write
            twtr_s: 7,                // max(4 cycles, 2.5 ns)
            twtr_l: 28,               // max(16 cycles, 10 ns)
            twr: 84,                  // 30 ns
            trtp: 21,                 // max(12 cycles, 7.5 ns)
            trtrs: 2,                 // assumption: two cycles of turnaround, usual for registered modules
            trfc: 826,                // 295 ns for 16 Gbit
            trefi: 10920,             // 3.9 us
            refresh_debt: 4,          // JESD79-5 allows four
            reads: 48, // assumption: the published occupancy of 52.7 of a channel needs more than 26 a subchannel
            writes: 48, // assumption: as many
            write_high: 36, // assumption: three quarters
            write_low: 12, // assumption: a quarter
            write_patience: 60, // assumption: about a row miss
            page_idle: 400, // assumption: 143 ns
            closes_pages: false, // assumption: as servers are delivered
            starvation: 2800, // assumption: 1 us
            forward: 8, // assumption: a burst's time
            underfill_patience: 1400, // assumption: 500 ns
            power_idle: 1400, // assumption: 500 ns
            txp: 21,   // max(8 cycles, 7.5 ns)
            txpdll: 21, // DDR5 keeps its DLL on
            txs: 854,  // tRFC + 10 ns
        }
    }

    /// DDR5-4800B 40-39-39, otherwise as [`Timing::ddr5_5600`]: what is given in nanoseconds takes fewer cycles.
    pub const fn ddr5_4800() -> Self {
        Self {
            cl: 40,                   // JESD79-5, speed bin 4800B
            cwl: 38,                  // JESD79-5: CL - 2
            trcd: 39,                 // 16 ns
            trp: 39,                  // 16 ns
            tras: 77,                 // 32 ns
            trc: 116,                 // tRAS + tRP
            trrd_l: 12,               // max(8 cycles, 5 ns)
            tccd_l: 12,               // max(8 cycles, 5 ns)
            tccd_l_wr: 24,            // max(16 cycles, 10 ns), devices that need no read to write
            twtr_s: 6,                // max(4 cycles, 2.5 ns)
            twtr_l: 24,               // max(16 cycles, 10 ns)
            twr: 72,                  // 30 ns
            trtp: 18,                 // max(12 cycles, 7.5 ns)
            trfc: 708,                // 295 ns
            trefi: 9360,              // 3.9 us
            write_patience: 52,       // assumption: about a row miss
            page_idle: 343,           // assumption: 143 ns
            closes_pages: false,      // assumption: as servers are delivered
            starvation: 2400,         // assumption: 1 us
            underfill_patience: 1200, // assumption: 500 ns
            power_idle: 1200,         // assumption: 500 ns
            txp: 18,                  // max(8 cycles, 7.5 ns)
            txpdll: 18,               // DDR5 keeps its DLL on
            txs: 732,                 // tRFC + 10 ns
            ..Self::ddr5_5600()
        }
    }
}
