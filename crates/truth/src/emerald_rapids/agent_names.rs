//! What the guide's events of caching agents mean, beside those of their tables of requests (section 2.1).

use pericore_facts::emerald_rapids::{Found, Kind, Queue, SnoopCause, SnoopReply};

use super::caching::CachingCells;
use super::cells::AgentCells;

/// Look-ups for requests of a queue of the other socket that find a line in the states chosen.
fn looked_up(cells: &AgentCells, kinds: impl Fn(Kind) -> bool, found: impl Fn(Found) -> bool) -> u64 {
    let of_kind = |&kind: &Kind| {
        let states = Found::ALL.iter().filter(|&&state| found(state));
        states.map(|&state| cells.lookups[kind as usize][state as usize].iter().sum::<u64>()).sum::<u64>()
    };
    Kind::ALL.iter().filter(|&&kind| kinds(kind)).map(of_kind).sum()
}

/// The count of an event.
pub fn value(cells: &AgentCells, event: &str, subevent: &str) -> Option<u64> {
    let CachingCells { ingress, outside: [snoops, reads, writebacks], snooped, dropped, answered, .. } = &cells.caching;
    let of = |cause: SnoopCause, all: usize| snooped[cause as usize][all];
    let [modified, exclusive, shared] = *dropped;
    let any = |_: Found| true;
    let remote = |kind: Kind| kind.queue() == Queue::Remote;
    // Stores around the caches come through the same queue, and are no writebacks.
    let written = |kind: Kind| kind.queue() == Queue::RemoteWriteback && kind != Kind::RemoteWrite;
    // Tables 2-85 and 2-86 put claims and all else beside reads for ownership.
    let owned = |kind: Kind| kind == Kind::RemoteOwnership;
    let shares = |found: Found| matches!(found, Found::Shared | Found::Forward | Found::FilterShared);
    let gauge = |name: &str| match name {
        "IRQ" => Some(ingress),
        "IPQ" => Some(snoops),
        "RRQ" => Some(reads),
        "WBQ" => Some(writebacks),
        _ => None,
    };
    let granted = |chosen: &dyn Fn(Kind) -> bool| {
        Kind::ALL.iter().filter(|&&kind| chosen(kind)).map(|&kind| cells.caching.granted[kind as usize]).sum()
    };
    let streams = |kind: Kind| matches!(kind, Kind::StreamFull | Kind::StreamPart);
    Some(match (event, subevent) {
        ("RxC_INSERTS", "PRQ") => cells.caching.devices,
        ("RxC_INSERTS", name) => gauge(name)?.entries,
        ("RxC_OCCUPANCY", name) => gauge(name)?.occupied,
        ("SF_EVICTION", "M_STATE") => modified,
        ("SF_EVICTION", "E_STATE") => exclusive,
        ("SF_EVICTION", "S_STATE") => shared,
        ("CORE_SNP", name) => {
            let (cause, many) = name.split_once('_')?;
            let all = ["ONE", "GTONE"].iter().position(|known| *known == many)?;
            match cause {
                "CORE" => of(SnoopCause::Core, all),
                "EXT" => of(SnoopCause::External, all),
                "EVICT" => of(SnoopCause::Evict, all),
                "REMOTE" => of(SnoopCause::Remote, all),
                "ANY" => snooped.iter().map(|cause| cause[all]).sum(),
                _ => return None,
            }
        }
        // Table 2-91: reads for ownership that hit in S; snoops that hit and drop their line silently.
        ("MISC", "RFO_HIT_S") => {
            looked_up(cells, Kind::reads_for_ownership, |found| matches!(found, Found::Shared | Found::FilterShared))
        }
        ("MISC", "RSPI_WAS_FSE") => cells.caching.dropped_silently,
        ("DIRECT_GO_OPC", "PULL") => granted(&streams),
        ("DIRECT_GO_OPC", "GO_PULL") => granted(&Kind::is_writeback),
        ("DIRECT_GO_OPC", "EXTCMP") => granted(&Kind::is_device),
        ("DIRECT_GO_OPC", "GO") => granted(&|kind| !streams(kind) && !kind.is_writeback() && !kind.is_device()),
        ("DIRECT_GO", "HA_TOR_DEALLOC") => cells.tor.iter().map(|stay| stay.entries - stay.live).sum(),
        ("DIRECT_GO", "HA_SUPPRESS_NO_D2C") => cells.caching.took_data,
        // Every snoop of the other socket is a home agent's for one of this socket's requests.
        ("SNOOPS_SENT", "ALL" | "LOCAL" | "DIRECT_LOCAL") => cells.home.value("DIR_LOOKUP", "SNP")?,
        ("SNOOP_RESP" | "SNOOP_RESP_LOCAL", name) => {
            let reply = match name {
                "RSPI" => SnoopReply::Nothing,
                "RSPIFWD" => SnoopReply::Forwards,
                "RSPSFWD" => SnoopReply::Shares,
                // Of what had been modified (Table 2-123).
                "RSPWB" => SnoopReply::WritesBack,
                _ => return None,
            };
            answered[reply as usize]
        }
        ("HITME_LOOKUP", "READ") => looked_up(cells, remote, any),
        ("HITME_LOOKUP", "WRITE") => looked_up(cells, written, any),
        ("HITME_HIT", "WBMTOE") => looked_up(cells, |kind| kind == Kind::RemoteWritebackExclusive, any),
        ("HITME_HIT", "WBMTOI_OR_S") => {
            looked_up(cells, |kind| written(kind) && kind != Kind::RemoteWritebackExclusive, any)
        }
        ("HITME_MISS", "SHARED_RDINVOWN") => looked_up(cells, owned, shares),
        ("HITME_MISS", "NOTSHARED_RDINVOWN") => looked_up(cells, owned, |found| !shares(found)),
        ("HITME_MISS", "READ_OR_INV") => looked_up(cells, |kind| remote(kind) && !owned(kind), any),
        ("HITME_UPDATE", "RDINVOWN") => looked_up(cells, owned, any),
        _ => return None,
    })
}
