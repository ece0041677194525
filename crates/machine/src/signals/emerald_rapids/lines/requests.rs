//! Tags of the caching agents' request signals, worked out once for every class of request; their bits are the
//! catalogue's.

use pericore_hardware::signal::{Wiring, WiringError};

use super::binding::{Line, bind_signal, named};
use pericore_facts::emerald_rapids::{Class, Found, Kind, Lookup, Queue, Target, Victim};

/// Signals of the table of requests, the look-ups and the victims, with the tags of all that can happen.
#[derive(Debug, Clone)]
pub struct RequestLines {
    pub tor: Line,
    pub lookup: Line,
    pub victim: Line,
    tor_tags: Vec<u64>,
    lookup_tags: Vec<u64>,
    victim_tags: Vec<u64>,
}

/// Name of a queue among the catalogue's `tor-queues`.
const fn queue_name(queue: Queue) -> &'static str {
    match queue {
        Queue::Core => "IRQ_IA",
        Queue::Evict => "EVICT",
        Queue::Io => "PRQ_IOSF",
        Queue::Snoop => "IPQ",
        Queue::Remote => "RRQ",
        Queue::RemoteWriteback => "WBQ",
    }
}

/// Name of a state among the catalogue's `llc-states`.
const fn state_name(found: Found) -> &'static str {
    match found {
        Found::Nothing => "I",
        Found::FilterShared => "SF_S",
        Found::FilterExclusive => "SF_E",
        Found::FilterHitme => "SF_H",
        Found::Shared => "S",
        Found::Exclusive => "E",
        Found::Modified => "M",
        Found::Forward => "F",
    }
}

/// Name of a look-up's purpose among the catalogue's `lookup-kinds`.
const fn purpose_name(lookup: Lookup) -> Option<&'static str> {
    match lookup {
        Lookup::Data => Some("DATA_READ"),
        Lookup::Write => Some("WRITE"),
        Lookup::Flush => Some("FLUSH"),
        Lookup::Ownership => Some("RFO"),
        Lookup::Code => Some("CODE"),
        Lookup::None => None,
    }
}

/// Names of the origins of a request, among the catalogue's `lookup-origins`.
const fn origin_names(kind: Kind) -> &'static [&'static str] {
    match kind.queue() {
        Queue::Snoop => &["REMOTE_SNOOP"],
        Queue::Remote | Queue::RemoteWriteback => &["REMOTE"],
        _ if kind.is_llc_prefetch() => &["LOCAL", "CORE_PREFETCH"],
        _ => &["LOCAL"],
    }
}

/// A number for a look-up, below `Kind::COUNT * 2 * Found::COUNT`.
const fn lookup_index(kind: Kind, found: Found, remote: bool) -> usize {
    (kind as usize * Found::COUNT + found as usize) * 2 + remote as usize
}

impl RequestLines {
    /// Binds the signals. `opcode` gives the catalogue's value of an opcode's name.
    pub fn bind(wiring: &mut Wiring, opcode: impl Fn(&str) -> Option<u64>) -> Result<Self, WiringError> {
        let (tor_tags, lookup_tags, victim_tags) =
            (tor_tags(wiring, opcode)?, lookup_tags(wiring)?, victim_tags(wiring)?);
        let mut bind = |signal, tags: &[u64]| bind_signal(wiring, "cha", signal, tags.iter().copied());
        Ok(Self {
            tor: bind("tor", &tor_tags)?,
            lookup: bind("llc_lookup", &lookup_tags)?,
            victim: bind("LLC_VICTIMS", &victim_tags)?,
            tor_tags,
            lookup_tags,
            victim_tags,
        })
    }

    /// The tag of an entry in the table of requests.
    #[inline]
    pub fn tor_tag(&self, class: Class) -> u64 {
        self.tor_tags[class.index()]
    }

    /// The tag of a look-up.
    #[inline]
    pub fn lookup_tag(&self, class: Class, found: Found) -> u64 {
        self.lookup_tags[lookup_index(class.kind, found, class.remote)]
    }

    /// The tag of a victim.
    #[inline]
    pub fn victim_tag(&self, victim: Victim) -> u64 {
        self.victim_tags[victim.index()]
    }
}

fn tor_tags(wiring: &Wiring, opcode: impl Fn(&str) -> Option<u64>) -> Result<Vec<u64>, WiringError> {
    let attribute = |name: &str| wiring.attribute("cha", "tor", name);
    let (sub, opc, premorph) = (attribute("sub")?, attribute("opc")?, attribute("premorph_opc")?);
    let (hit, remote, target, cxl) = (attribute("hit")?, attribute("remote")?, attribute("target")?, attribute("cxl")?);
    let (ddr, mmio) = (named(wiring, "tor-targets", "DDR")?, named(wiring, "tor-targets", "MMIO")?);
    let (expander, accelerator) =
        (named(wiring, "cxl-memories", "EXPANDER")?, named(wiring, "cxl-memories", "ACCELERATOR")?);
    let tag = |index: usize| {
        let class = Class::of(index);
        // An opcode that the catalogue does not have is no request of this socket: nothing selects it.
        let code = opcode(class.kind.opcode()).unwrap_or(0);
        let (memory, device) = match class.target {
            Target::Ddr => (ddr, 0),
            Target::Device => (mmio, 0),
            // Intel's rows of CXL memory leave the bit of DDR out and set one of their own; rows of all targets have
            // such requests, too (choice, see `catalog/undefined.toml`).
            Target::Expander => (mmio, expander),
            Target::Accelerator => (mmio, accelerator),
        };
        let mut tag = sub.set(0, named(wiring, "tor-queues", queue_name(class.kind.queue()))?);
        tag = premorph.set(opc.set(tag, code), code);
        tag = remote.set(hit.set(tag, class.hit.into()), class.remote.into());
        Ok(cxl.set(target.set(tag, memory), device))
    };
    (0..Class::COUNT).map(tag).collect()
}

fn lookup_tags(wiring: &Wiring) -> Result<Vec<u64>, WiringError> {
    let attribute = |name: &str| wiring.attribute("cha", "llc_lookup", name);
    let (sub, purpose, origin, home) =
        (attribute("sub")?, attribute("kind")?, attribute("origin")?, attribute("home")?);
    let homes = [named(wiring, "lookup-homes", "LOCAL")?, named(wiring, "lookup-homes", "REMOTE")?];
    let mut tags = Vec::with_capacity(Kind::COUNT * Found::COUNT * 2);
    for &kind in Kind::ALL {
        let wanted = purpose_name(kind.lookup()).map(|name| named(wiring, "lookup-kinds", name)).transpose()?;
        let mut from = 0;
        for name in origin_names(kind) {
            from |= named(wiring, "lookup-origins", name)?;
        }
        let tag = origin.set(purpose.set(0, wanted.unwrap_or(0)), from);
        for found in Found::ALL {
            let state = named(wiring, "llc-states", state_name(found))?;
            tags.extend(homes.map(|place| home.set(sub.set(tag, state), place)));
        }
    }
    Ok(tags)
}

fn victim_tags(wiring: &mut Wiring) -> Result<Vec<u64>, WiringError> {
    let mut tag = |name: &str| Ok(wiring.tagged(0, "cha", 0, "LLC_VICTIMS", Some(name))?.1);
    let homes = [tag("LOCAL_ONLY")?, tag("REMOTE_ONLY")?];
    let fillers = [tag("IA")?, tag("IO")?];
    let (modified, exclusive, shared) = (tag("M_STATE")?, tag("E_STATE")?, tag("S_STATE")?);
    // No subevent has this state without a home.
    let forward = tag("LOCAL_F")? & !homes[0];
    let all = (0..Victim::COUNT).map(|index| {
        let victim = Victim::of(index);
        let state = match victim.state {
            Found::Modified => modified,
            Found::Exclusive => exclusive,
            Found::Shared => shared,
            _ => forward,
        };
        state | homes[usize::from(victim.remote)] | fillers[usize::from(victim.for_io)]
    });
    Ok(all.collect())
}
