//! What a core looks pages up with.

use pericore_parts::translation::{TlbSize, TranslationSizes};

/// Of a Sandy Bridge core.
pub const SANDY_BRIDGE: TranslationSizes = TranslationSizes {
    // Intel optimization manual, Sandy Bridge core, its table of TLBs: entries and ways; the second level has pages of
    // 4 KiB alone.
    first: [TlbSize { entries: 64, ways: 4 }, TlbSize { entries: 32, ways: 4 }],
    second: [TlbSize { entries: 512, ways: 4 }, TlbSize::NONE],
    second_cycles: 7, // Intel's event file of Sandy Bridge, DTLB_LOAD_MISSES.STLB_HIT
    walk_cycles: 19,  // assumption: as on the predecessor, where it is fitted
    walkers: 1,       // assumption: more than one is documented from Broadwell on
};
