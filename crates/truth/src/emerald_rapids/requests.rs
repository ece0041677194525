//! What the names of the events about requests mean: `TOR_INSERTS`, `TOR_OCCUPANCY`, `LLC_LOOKUP`, `LLC_VICTIMS`; an
//! independent reading of Tables 2-89, 2-90, 2-130 and 2-131 and of Intel's event file, without the catalogue's masks.

use super::cells::AgentCells;
use pericore_facts::emerald_rapids::{Class, Found, Kind, Lookup, Queue, Target};

/// Which entries of the table of requests a subevent's name means.
pub fn tor(cells: &AgentCells, cycle: u64, name: &str, opcode: Option<u64>, codes: &[u64]) -> Option<(u64, u64)> {
    let wanted = selection(name, opcode, codes)?;
    let mut sum = (0, 0);
    for (index, stay) in cells.tor.iter().enumerate() {
        if stay.entries > 0 && wanted(Class::of(index)) {
            sum.0 += stay.entries;
            sum.1 += stay.occupied(cycle);
        }
    }
    Some(sum)
}

pub type Wanted = Box<dyn Fn(Class) -> bool>;

/// The classes that a subevent's name means.
pub fn selection(name: &str, opcode: Option<u64>, codes: &[u64]) -> Option<Wanted> {
    let io = |kind: Kind| kind.queue() == Queue::Io;
    let ia = |kind: Kind| kind.queue() == Queue::Core;
    Some(match name {
        // A property without a queue selects nothing: the queue mask of these is empty (Table 2-130).
        "CXL_MEM_ACC" | "DDR" | "HBM" | "HIT" | "ISOC" | "LOCAL_TGT" | "MISS" | "MMCFG" | "MMIO" | "NEARMEM"
        | "NONCOH" | "NOT_NEARMEM" | "PMM" | "REMOTE_TGT" => Box::new(|_| false),
        "MATCH_OPC" | "PREMORPH_OPC" => {
            let _ = (opcode, codes);
            Box::new(|_| false)
        }
        "EVICT" => Box::new(|class| class.kind.queue() == Queue::Evict),
        "IPQ" | "REM_SNPS" | "SNPS_FROM_REM" => Box::new(|class| class.kind.queue() == Queue::Snoop),
        "RRQ" => Box::new(|class| class.kind.queue() == Queue::Remote),
        "WBQ" => Box::new(|class| class.kind.queue() == Queue::RemoteWriteback),
        "REM_ALL" => {
            Box::new(|class| matches!(class.kind.queue(), Queue::Snoop | Queue::Remote | Queue::RemoteWriteback))
        }
        "IRQ_NON_IA" | "PRQ_NON_IOSF" => Box::new(|_| false),
        "PRQ" | "PRQ_IOSF" | "IO" => Box::new(move |class| io(class.kind)),
        "IRQ_IA" | "IA" => Box::new(move |class| ia(class.kind)),
        "ALL" => Box::new(|_| true),
        "LOC_IA" => Box::new(move |class| ia(class.kind) && !class.remote),
        "LOC_IO" => Box::new(move |class| io(class.kind) && !class.remote),
        "LOC_ALL" => Box::new(move |class| (ia(class.kind) || io(class.kind)) && !class.remote),
        _ => return words(name),
    })
}

/// Names made of words: origin, hit or miss, opcode, home, memory.
fn words(name: &str) -> Option<Wanted> {
    let (origin, rest) = name.split_once('_')?;
    let queue = match origin {
        "IA" => Queue::Core,
        "IO" => Queue::Io,
        "RRQ" => Queue::Remote,
        _ => return None,
    };
    let (mut hit, mut remote, mut target) = (None, None, None);
    let mut opcode = Vec::new();
    let mut words = rest.split('_').peekable();
    while let Some(word) = words.next() {
        match word {
            "HIT" => hit = Some(true),
            "MISS" => hit = Some(false),
            "LOCAL" => remote = Some(false),
            "REMOTE" => remote = Some(true),
            "DDR" => target = Some(Some(Target::Ddr)),
            "PMM" => target = Some(None),
            "CXL" => {
                target = Some(Some(if words.next()? == "EXP" { Target::Expander } else { Target::Accelerator }));
            }
            _ => opcode.push(word),
        }
    }
    let opcode = opcode.join("_");
    let opcode = match opcode.as_str() {
        // Intel's texts of these names have the two exchanged where the memory is CXL's.
        "LLCPREFRFO" if rest.contains("_CXL_") => "RFO_PREF",
        "RFO_PREF" if rest.contains("_CXL_") => "LLCPREFRFO",
        opcode => opcode,
    };
    let kinds: Vec<Kind> = opcodes(queue, opcode)?;
    // Uncacheable accesses by these names are those to devices.
    let device = matches!(opcode, "UCRDF" | "WIL");
    Some(Box::new(move |class| {
        let memory = match target {
            None => !device || class.target == Target::Device,
            Some(Some(target)) => class.target == target,
            Some(None) => false,
        };
        kinds.contains(&class.kind)
            && hit.is_none_or(|hit| class.hit == hit)
            && remote.is_none_or(|remote| class.remote == remote)
            && memory
    }))
}

/// The kinds that an opcode's name in Intel's spelling means. Empty for opcodes that the model does not send.
fn opcodes(queue: Queue, name: &str) -> Option<Vec<Kind>> {
    use Kind as K;
    let of = |kinds: &[Kind]| Some(kinds.to_vec());
    match (queue, name) {
        (_, "") => Some(Kind::ALL.iter().copied().filter(|kind| kind.queue() == queue).collect()),
        // The opcode that a request has before its agent turns it into another (Table 2-73): here they keep theirs.
        (Queue::Core, "DRD" | "DRDMORPH") => of(&[K::DataRead]),
        (Queue::Core, "DRD_PREF") => of(&[K::DataPrefetch]),
        (Queue::Core, "DRD_OPT") => of(&[K::DataReadOpt]),
        (Queue::Core, "DRD_OPT_PREF") => of(&[K::DataPrefetchOpt]),
        (Queue::Core, "DRDPTE") => of(&[K::PageWalk]),
        (Queue::Core, "RFO" | "RFOMORPH") => of(&[K::Ownership]),
        (Queue::Core, "RFO_PREF") => of(&[K::OwnershipPrefetch]),
        (Queue::Core, "CRD" | "CRDMORPH") => of(&[K::CodeRead]),
        (Queue::Core, "CRD_PREF") => of(&[K::CodePrefetch]),
        (Queue::Core, "ITOM") => of(&[K::FullStore]),
        (Queue::Core, "SPECITOM") => of(&[K::FullStoreSpeculative]),
        (Queue::Core, "WCILF") => of(&[K::StreamFull]),
        (Queue::Core, "WCIL") => of(&[K::StreamPart]),
        (Queue::Core, "UCRDF") => of(&[K::DeviceRead]),
        (Queue::Core, "WIL") => of(&[K::DeviceWrite]),
        (Queue::Core, "CLFLUSH") => of(&[K::Flush]),
        (Queue::Core, "CLFLUSHOPT") => of(&[K::FlushOpt]),
        (Queue::Core, "LLCPREFDATA") => of(&[K::LlcData]),
        (Queue::Core, "LLCPREFRFO") => of(&[K::LlcOwnership]),
        (Queue::Core, "LLCPREFCODE") => of(&[K::LlcCode]),
        (Queue::Core, "WBMTOI") => of(&[K::WritebackModified]),
        (Queue::Core, "WBEFTOI") => of(&[K::WritebackClean]),
        (Queue::Core, "WBSTOI") => of(&[K::WritebackShared]),
        (Queue::Io, "PCIRDCUR") => of(&[K::DmaRead]),
        (Queue::Io, "ITOM") => of(&[K::DmaWrite, K::DmaWriteAround]),
        (Queue::Io, "ITOMCACHENEAR") => of(&[K::DmaWriteNear]),
        (Queue::Io, "RFO") => of(&[K::DmaPartial, K::DmaAtomic]),
        (Queue::Io, "WBMTOI") => of(&[K::DmaWriteback]),
        (Queue::Remote, "RDDATA") => of(&[K::RemoteData]),
        (Queue::Remote, "RDCODE") => of(&[K::RemoteCode]),
        (Queue::Remote, "RDCUR") => of(&[K::RemoteCurrent]),
        // The model sends none of these.
        (Queue::Core, "ITOMCACHENEAR" | "WBMTOE" | "WBEFTOE")
        | (Queue::Io, "CLFLUSH")
        | (Queue::Remote, "INVXTOM" | "RDINVOWN_OPT") => of(&[]),
        _ => None,
    }
}

/// Look-ups that a subevent of `LLC_LOOKUP` means.
pub fn lookups(cells: &AgentCells, name: &str) -> Option<u64> {
    use Lookup as L;
    let any = [L::Data, L::Write, L::Flush, L::Ownership, L::Code, L::None];
    let snoop = |kind: Kind| kind.queue() == Queue::Snoop;
    let other = |kind: Kind| matches!(kind.queue(), Queue::Remote | Queue::RemoteWriteback);
    let local = |kind: Kind| !snoop(kind) && !other(kind);
    let core_prefetch = |kind: Kind| kind.is_llc_prefetch();
    let sum = |kinds: &[Lookup], from: &dyn Fn(Kind) -> bool, remote: Option<bool>, states: &[usize]| {
        let mut sum = 0;
        for &kind in Kind::ALL.iter().filter(|&&kind| kinds.contains(&kind.lookup()) && from(kind)) {
            for &state in states {
                for home in (0..2).filter(|&home| remote.is_none_or(|remote| usize::from(remote) == home)) {
                    sum += cells.lookups[kind as usize][state][home];
                }
            }
        }
        Some(sum)
    };
    let all: [usize; Found::COUNT] = [0, 1, 2, 3, 4, 5, 6, 7];
    let nothing = [Found::Nothing as usize];
    let anyone = |_: Kind| true;
    let not_snoop = |kind: Kind| !snoop(kind);
    match name {
        // Filters without a state count nothing.
        _ if name.ends_with("_F") || name.starts_with("IIO_PORT") => Some(0),
        // States without a request take every request.
        "I" => sum(&any, &anyone, None, &nothing),
        "SF_S" => sum(&any, &anyone, None, &[1]),
        "SF_E" => sum(&any, &anyone, None, &[2]),
        "SF_H" => sum(&any, &anyone, None, &[3]),
        "S" => sum(&any, &anyone, None, &[4]),
        "E" => sum(&any, &anyone, None, &[5]),
        "M" => sum(&any, &anyone, None, &[6]),
        "F" => sum(&any, &anyone, None, &[7]),
        "DATA_READ_MISS" => sum(&[L::Data], &anyone, None, &nothing),
        "MISS_ALL" => sum(&any, &anyone, None, &nothing),
        "ALL_REMOTE" => sum(&any, &anyone, Some(true), &all),
        "DATA_READ_ALL" => sum(&[L::Data], &anyone, None, &all),
        "DATA_READ_LOCAL" => sum(&[L::Data], &local, Some(false), &all),
        "RFO" => sum(&[L::Ownership], &not_snoop, None, &all),
        "RFO_LOCAL" => sum(&[L::Ownership], &local, Some(false), &all),
        "WRITE_LOCAL" => sum(&[L::Write], &local, Some(false), &all),
        "WRITE_REMOTE" => sum(&[L::Write], &not_snoop, Some(true), &all),
        "ALL" => sum(&any, &anyone, None, &all),
        "CODE" => sum(&[L::Code], &not_snoop, None, &all),
        "DATA_RD" => sum(&[L::Data], &not_snoop, None, &all),
        "FLUSH_INV" => sum(&[L::Flush], &not_snoop, None, &all),
        "LOCALLY_HOMED_ADDRESS" => sum(&any, &not_snoop, Some(false), &all),
        "REMOTELY_HOMED_ADDRESS" => sum(&any, &|kind| !other(kind), Some(true), &all),
        "LOCAL_CODE" => sum(&[L::Code], &local, None, &all),
        "LOCAL_DATA_RD" => sum(&[L::Data], &local, None, &all),
        // Demand requests: the selected origin takes the core's prefetches in.
        "LOCAL_DMND_CODE" => sum(&[L::Code], &local, None, &all),
        "LOCAL_DMND_DATA_RD" => sum(&[L::Data], &local, None, &all),
        "LOCAL_DMND_RFO" => sum(&[L::Ownership], &local, None, &all),
        "LOCAL_FLUSH_INV" => sum(&[L::Flush], &local, None, &all),
        "LOCAL_LLC_PF" => Some(0),
        "LOCAL_PF" => sum(&[L::Data, L::Flush, L::Ownership, L::Code], &core_prefetch, None, &all),
        "LOCAL_PF_CODE" => sum(&[L::Code], &core_prefetch, None, &all),
        "LOCAL_PF_DATA_RD" => sum(&[L::Data], &core_prefetch, None, &all),
        "LOCAL_PF_RFO" => sum(&[L::Ownership], &core_prefetch, None, &all),
        "LOCAL_RFO" => sum(&[L::Ownership], &local, None, &all),
        "REMOTE_CODE" => sum(&[L::Code], &other, None, &all),
        "REMOTE_DATA_RD" => sum(&[L::Data], &other, None, &all),
        "REMOTE_FLUSH_INV" => sum(&[L::Flush], &other, None, &all),
        "REMOTE_OTHER" => sum(&[L::Write], &other, None, &all),
        "REMOTE_RFO" => sum(&[L::Ownership], &other, None, &all),
        "REMOTE_SNP" => sum(&[L::Data, L::Ownership, L::Code], &snoop, None, &all),
        _ => None,
    }
}

/// Victims that a subevent of `LLC_VICTIMS` means.
pub fn victims(cells: &AgentCells, name: &str) -> Option<u64> {
    let (m, e, s, f) =
        (Found::Modified as usize, Found::Exclusive as usize, Found::Shared as usize, Found::Forward as usize);
    let sum = |states: &[usize], io: Option<bool>, remote: Option<bool>| {
        let mut sum = 0;
        for &state in states {
            for for_io in (0..2).filter(|&x| io.is_none_or(|io| usize::from(io) == x)) {
                for home in (0..2).filter(|&x| remote.is_none_or(|remote| usize::from(remote) == x)) {
                    sum += cells.victims[(state * 2 + for_io) * 2 + home];
                }
            }
        }
        Some(sum)
    };
    let every = [m, e, s, f];
    match name {
        "LOCAL_ONLY" | "LOCAL_ALL" => sum(&every, None, Some(false)),
        "REMOTE_ONLY" | "REMOTE_ALL" => sum(&every, None, Some(true)),
        "ALL" => sum(&every, None, None),
        "M_STATE" | "TOTAL_M" => sum(&[m], None, None),
        "E_STATE" | "TOTAL_E" => sum(&[e], None, None),
        "S_STATE" | "TOTAL_S" => sum(&[s], None, None),
        "LOCAL_M" => sum(&[m], None, Some(false)),
        "REMOTE_M" => sum(&[m], None, Some(true)),
        "LOCAL_E" => sum(&[e], None, Some(false)),
        "REMOTE_E" => sum(&[e], None, Some(true)),
        "LOCAL_S" => sum(&[s], None, Some(false)),
        "REMOTE_S" => sum(&[s], None, Some(true)),
        "LOCAL_F" => sum(&[f], None, Some(false)),
        "IO" => sum(&every, Some(true), None),
        "IA" => sum(&every, Some(false), None),
        "IO_M" => sum(&[m], Some(true), None),
        "IO_E" => sum(&[e], Some(true), None),
        "IO_FS" => sum(&[s, f], Some(true), None),
        "IO_MESF" => sum(&every, Some(true), None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Kind, Target, selection};

    #[test]
    fn memory_behind_cxl_links_is_of_an_expander_or_an_accelerator() {
        let takes = |name: &str, kind: Kind, target: Target| {
            selection(name, None, &[]).unwrap()(Class { kind, hit: false, remote: false, target })
        };
        // Intel's event file: names end with the device whose memory the line lies in.
        for (name, kind) in [
            ("IA_MISS_DRD_CXL", Kind::DataRead),
            ("IA_MISS_CXL", Kind::CodeRead),
            // Exchanged with the next in the file.
            ("IA_MISS_RFO_PREF_CXL", Kind::LlcOwnership),
            ("IA_MISS_LLCPREFRFO_CXL", Kind::OwnershipPrefetch),
        ] {
            let of = |device: &str, target: Target| takes(&format!("{name}_{device}"), kind, target);
            assert!(
                of("ACC", Target::Accelerator) && !of("ACC", Target::Expander) && !of("ACC", Target::Ddr),
                "{name}"
            );
            assert!(of("EXP_LOCAL", Target::Expander) && !of("EXP_LOCAL", Target::Accelerator), "{name}");
        }
        // The opcode as it came, of a request that nothing has turned into another.
        assert!(takes("IA_MISS_RFOMORPH_CXL_ACC", Kind::Ownership, Target::Accelerator));
        assert!(!takes("IA_MISS_RFOMORPH_CXL_ACC", Kind::DataRead, Target::Accelerator));
    }
}
