//! What a machine's name can set.

use pericore_dram::Layout;
use pericore_parts::llc;
use pericore_parts::settings::{CLOSED_PAGES, CORES, SLICES, Settable, Setting};

use super::parameters::{MOST_CORES, MOST_REGIONS, Parameters};

/// The settings of the E5-2600.
pub const SETTINGS: &[Settable<Parameters>] = &[
    (Setting::range(CORES, 1, MOST_CORES), |part, value| part.active_cores = value as u8),
    (Setting::range(SLICES, 1, MOST_CORES), |part, value| part.slices = value as u8),
    (Setting::range("regions", 1, MOST_REGIONS as u64), |part, value| part.regions = value as u8),
    (Setting::range("directory", 0, 1), |part, value| part.directory = value != 0),
    (Setting::range("isochronous", 0, 8), |part, value| part.isochronous_entries = value as u8),
    (Setting::range("direct2core", 0, 1), |part, value| part.direct_to_core = value != 0),
    (Setting::range("ddio", 1, llc::MOST_WAYS as u64), |part, value| part.device_ways = value as u8),
    (Setting::range(CLOSED_PAGES, 0, 1), |part, value| part.dram.closes_pages = value == 1),
    (Setting::doubles("ranks", Layout::RANKS as u64), |part, value| part.dram.ranks = value as u8),
];
