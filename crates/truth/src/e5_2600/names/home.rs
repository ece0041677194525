//! Events of the home agents: section 2.4.7.

use pericore_dram::Pending;
use pericore_facts::e5_2600::RingKind;

use crate::e5_2600::snapshot::Snapshot;

/// An event of a home agent.
pub(super) fn value(at: &Snapshot, index: usize, event: &str, subevent: &str) -> Option<u64> {
    let cells = at.cells.homes.get(index)?;
    match (event, subevent) {
        ("CLOCKTICKS", "") => Some(at.clocks.uclk.cycles(at.now)),
        ("REQUESTS", "READS") => Some(cells.reads.iter().sum()),
        ("REQUESTS", "WRITES") => Some(cells.writes.iter().sum()),
        ("TAD_REQUESTS_G0" | "TAD_REQUESTS_G1", region) => {
            cells.regions.get(region.strip_prefix("REGION")?.parse::<usize>().ok()?).copied()
        }
        ("TxR_AK_NDR", "") => Some(cells.completions),
        (_, bank) if event.strip_prefix("TxR_").is_some_and(|rest| rest.contains('_')) => {
            let (ring, figure) = event.strip_prefix("TxR_")?.split_once('_')?;
            let ring = match ring {
                "AD" => RingKind::Address,
                "AK" => RingKind::Acknowledge,
                _ => RingKind::Block,
            };
            let (queue, bank) = (&cells.egress[ring as usize], scheduler(bank)?);
            Some(match figure {
                "INSERTS" => queue.came(bank),
                "OCCUPANCY" => queue.waited(bank),
                "CYCLES_NE" => queue.some(bank),
                // The queue of acknowledgements is never full in the model.
                "CYCLES_FULL" if ring != RingKind::Acknowledge => queue.full(bank),
                _ => return None,
            })
        }
        ("TRACKER_INSERTS", "ALL") => Some(cells.tracker.entries),
        ("TxR_AD", "SNP") => Some(cells.snoops),
        ("BYPASS_IMC", "TAKEN") => Some(cells.bypasses[1]),
        ("BYPASS_IMC", "NOT_TAKEN") => Some(cells.bypasses[0]),
        ("IGR_NO_CREDIT_CYCLES", "AD_QPI0") => Some(cells.no_link[0].nonempty()),
        ("IGR_NO_CREDIT_CYCLES", "AD_QPI1") => Some(cells.no_link[1].nonempty()),
        ("IGR_NO_CREDIT_CYCLES", "BL_QPI0") => Some(cells.no_link[2].nonempty()),
        ("IGR_NO_CREDIT_CYCLES", "BL_QPI1") => Some(cells.no_link[3].nonempty()),
        ("CONFLICT_CYCLES", "CONFLICT") => Some(cells.conflicts.nonempty()),
        ("CONFLICT_CYCLES", "NO_CONFLICT") => Some(at.clocks.uclk.cycles(at.now) - cells.conflicts.nonempty()),
        ("RPQ_CYCLES_NO_REG_CREDITS", channel) => Some(cells.no_credits(Pending::Reads, channel_number(channel)?)),
        ("WPQ_CYCLES_NO_REG_CREDITS", channel) => Some(cells.no_credits(Pending::Writes, channel_number(channel)?)),
        // Where firmware keeps no entries for them, nobody asks for one.
        ("RPQ_CYCLES_NO_SPEC_CREDITS" | "WPQ_CYCLES_NO_SPEC_CREDITS", _) if at.shape.special == 0 => Some(0),
        ("RPQ_CYCLES_NO_SPEC_CREDITS", channel) => {
            Some(cells.no_special_credits(Pending::Reads, channel_number(channel)?))
        }
        ("WPQ_CYCLES_NO_SPEC_CREDITS", channel) => {
            Some(cells.no_special_credits(Pending::Writes, channel_number(channel)?))
        }
        // Not an event of the guide, but what its accumulator of 2.4.4.1 is made of, unscaled.
        ("TRACKER_OCCUPANCY", "ALL") => Some(cells.tracker.cycles),
        ("IMC_WRITES", "FULL") => Some(cells.written),
        ("IMC_WRITES", "PARTIAL") => Some(cells.written_parts),
        ("IMC_WRITES", "FULL_ISOCH") => Some(cells.written_isochronous),
        ("IMC_WRITES", "ALL") => Some(cells.written + cells.written_parts + cells.written_isochronous),
        ("DIRECT2CORE_COUNT", "") | ("TxR_BL", "DRS_CORE") => Some(cells.to_core),
        ("DIRECT2CORE_TXN_OVERRIDE", "") => Some(cells.direct_overridden),
        ("DIRECT2CORE_CYCLES_DISABLED", "") => Some(cells.direct_disabled.nonempty()),
        ("TxR_BL", "DRS_CACHE") => Some(cells.to_cache),
        ("TxR_BL", "DRS_QPI") => Some(cells.to_remote),
        ("DIRECTORY_LOOKUP", "SNP") => Some(cells.directory_lookups[1]),
        ("DIRECTORY_LOOKUP", "NO_SNP") => Some(cells.directory_lookups[0]),
        ("DIRECTORY_UPDATE", "SET") => Some(cells.directory_updates[1]),
        ("DIRECTORY_UPDATE", "CLEAR") => Some(cells.directory_updates[0]),
        ("DIRECTORY_UPDATE", "ANY") => Some(cells.directory_updates.iter().sum()),
        ("TxR_AD", "NDR") => Some(cells.completions_remote),
        _ => None,
    }
}

/// The scheduler bank of a subevent, or none for either.
fn scheduler(subevent: &str) -> Option<Option<usize>> {
    match subevent {
        "SCHED0" => Some(Some(0)),
        "SCHED1" => Some(Some(1)),
        "ALL" => Some(None),
        _ => None,
    }
}

/// The number in a subevent's name `CHNn`.
fn channel_number(subevent: &str) -> Option<usize> {
    subevent.strip_prefix("CHN")?.parse().ok().filter(|&number| number < 4)
}
