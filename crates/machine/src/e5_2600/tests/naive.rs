//! Counters that look at every change: what exact hardware would make of the emitted signals.

use pericore_hardware::signal::{Tick, Wire, Wiring};

use crate::uncore::tests::recorder::{Change, Emission};

/// What a counter takes from a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    Arrivals,
    Occupancy,
    NonEmpty,
}

/// An event in terms of signals: hand-written, like the ledger's names, but from the other side.
pub struct Meaning {
    pub signal: String,
    pub measure: Measure,
    pub wanted: Box<dyn Fn(u64) -> bool>,
}

/// The meaning of an event; `None` for clocks.
pub fn meaning(
    wiring: &mut Wiring,
    unit: &str,
    event: &str,
    subevent: &str,
    filters: &[(&str, u64)],
) -> Option<Meaning> {
    let filter = |name: &str| filters.iter().find(|(key, _)| *key == name).map(|&(_, value)| value);
    let (state, tid, nid, opc) =
        (filter("state").unwrap_or(0x1F), filter("tid"), filter("nid").unwrap_or(0), filter("opc"));
    let get = |signal: &str, name: &str| {
        let bits = wiring.attribute(unit, signal, name).unwrap();
        move |tag: u64| bits.get(tag)
    };
    let measure = match event {
        "TxR_AD_CYCLES_FULL" | "TxR_BL_CYCLES_FULL" => Measure::NonEmpty,
        _ if event.contains("OCCUPANCY") || event == "MAJOR_MODES" || event.ends_with("CYCLES_FULL") => {
            Measure::Occupancy
        }
        _ if event.ends_with("FLITS_G0") || event.ends_with("POWER_CYCLES") => Measure::Occupancy,
        _ if event.starts_with("VNA_CREDIT_CYCLES") || event.contains("_CYCLES_NO_") => Measure::Occupancy,
        "RING_SRC_THRTL" | "RxL_STALLS" | "TxL_CRC_NO_CREDITS" | "DIRECT2CORE_CYCLES_DISABLED" => Measure::Occupancy,
        "CONFLICT_CYCLES" | "IGR_NO_CREDIT_CYCLES" => Measure::Occupancy,
        _ if event.ends_with("CYCLES_NE") || event.ends_with("CKE_CYCLES") || event == "POWER_THROTTLE_CYCLES" => {
            Measure::NonEmpty
        }
        "RxR_EXT_STARVED" | "ISMQ_DRD_MISS_OCC" => Measure::Occupancy,
        "TxR_CYCLES_FULL" | "IIO_CREDITS_USED" => Measure::Occupancy,
        "PHOLD_CYCLES" => Measure::NonEmpty,
        _ if unit == "pcu" && !event.starts_with("DEMOTIONS") => Measure::Occupancy,
        _ if event.starts_with("POWER_") => Measure::Occupancy,
        _ => Measure::Arrivals,
    };
    let made =
        |signal: &str, wanted: Box<dyn Fn(u64) -> bool>| Some(Meaning { signal: signal.to_owned(), measure, wanted });
    let thread_is = move |thread: u64| tid.is_none_or(|tid| tid == thread);
    match event {
        "CLOCKTICKS" => None,
        "LLC_LOOKUP" => {
            let (read, write, snoop) =
                (get("llc_lookup", "read"), get("llc_lookup", "write"), get("llc_lookup", "snoop"));
            let (line, node, thread) = (get("llc_lookup", "state"), get("llc_lookup", "nid"), get("llc_lookup", "tid"));
            let subevent = subevent.to_owned();
            made(
                "llc_lookup",
                Box::new(move |tag| {
                    let kind = match subevent.as_str() {
                        "DATA_READ" => read(tag) == 1,
                        "WRITE" => write(tag) == 1,
                        "REMOTE_SNOOP" => snoop(tag) == 1,
                        "NID" => nid >> node(tag) & 1 == 1,
                        _ => true,
                    };
                    kind && state >> line(tag) & 1 == 1 && thread_is(thread(tag))
                }),
            )
        }
        "LLC_VICTIMS" => {
            let (line, node, thread) = (get("llc_victim", "state"), get("llc_victim", "nid"), get("llc_victim", "tid"));
            let wanted = match subevent {
                "MISS" => Some(0),
                "S_STATE" => Some(1),
                "E_STATE" => Some(2),
                "M_STATE" => Some(3),
                _ => None,
            };
            made(
                "llc_victim",
                Box::new(move |tag| {
                    wanted.map_or(nid >> node(tag) & 1 == 1, |wanted| line(tag) == wanted) && thread_is(thread(tag))
                }),
            )
        }
        "TOR_INSERTS" | "TOR_OCCUPANCY" => {
            let (opcode, irq, miss) = (get("tor", "opc"), get("tor", "irq"), get("tor", "miss"));
            let (eviction, writeback) = (get("tor", "eviction"), get("tor", "writeback"));
            let (node, thread) = (get("tor", "nid"), get("tor", "tid"));
            let subevent = subevent.to_owned();
            made(
                "tor",
                Box::new(move |tag| {
                    (!subevent.contains("OPCODE") || (irq(tag) == 1 && Some(opcode(tag)) == opc))
                        && (!subevent.contains("EVICTION") || eviction(tag) == 1)
                        && (!subevent.contains("WB") || writeback(tag) == 1)
                        && (!subevent.contains("MISS") || miss(tag) == 1)
                        && (!subevent.contains("NID") || nid >> node(tag) & 1 == 1)
                        && thread_is(thread(tag))
                }),
            )
        }
        "TxL_INSERTS" | "TxL_OCCUPANCY" | "TxL_CYCLES_NE" => made("txq", Box::new(|_| true)),
        "RxL_INSERTS" | "RxL_OCCUPANCY" | "RxL_CYCLES_NE" => made("rxq", Box::new(|_| true)),
        "CTO_COUNT" => {
            let field = |name: &str| {
                let filter = |of: &str| filter(&format!("{of}_{name}")).unwrap_or(0);
                (get("packets", name), filter("match"), filter("mask"))
            };
            let fields = ["vnw", "opc", "mc", "dnid", "rnid30", "rnid4", "rds"].map(field);
            let agrees = move |tag| fields.iter().all(|(value, wanted, mask)| value(tag) & mask == wanted & mask);
            made("packets", Box::new(agrees))
        }
        "RxR_INSERTS" | "RxR_OCCUPANCY" | "RxR_CYCLES_NE" if unit == "r3qpi" => {
            let class = get("ingress", "sub");
            let wanted = ["HOM", "SNP", "NDR", "DRS", "NCB", "NCS"].iter().position(|&name| name == subevent).unwrap();
            made("ingress", Box::new(move |tag| class(tag) == 1 << wanted))
        }
        "TxR_CYCLES_NE" | "RxR_CYCLES_NE" => {
            let signal = if event.starts_with('T') { "egress" } else { "ingress" };
            let queue = get(signal, "sub");
            let wanted = match subevent {
                "AD" => 1,
                "AK" => 2,
                "BL" => 4,
                "DRS" => 8,
                "NCB" => 16,
                _ => 32,
            };
            made(signal, Box::new(move |tag| queue(tag) == wanted))
        }
        "RxR_INSERTS" | "RxR_OCCUPANCY" => {
            let (thread, queue) = (get("ingress", "tid"), get("ingress", "sub"));
            let wanted = match subevent {
                "IRQ" => 1,
                "IRQ_REJECTED" => 2,
                "IPQ" => 4,
                _ => 16,
            };
            made("ingress", Box::new(move |tag| queue(tag) == wanted && thread_is(thread(tag))))
        }
        "TRACKER_INSERTS" | "TRACKER_OCCUPANCY" => made("tracker", Box::new(|_| true)),
        "RPQ_INSERTS" | "RPQ_OCCUPANCY" | "RPQ_CYCLES_NE" => made("rpq", Box::new(|_| true)),
        "WPQ_INSERTS" | "WPQ_OCCUPANCY" | "WPQ_CYCLES_NE" => made("wpq", Box::new(|_| true)),
        "POWER_STATE_OCCUPANCY" => {
            let state = get("cores", "state");
            let wanted = match subevent {
                "CORES_C0" => 1,
                "CORES_C3" => 2,
                _ => 3,
            };
            made("cores", Box::new(move |tag| state(tag) == wanted))
        }
        _ if event.starts_with("FREQ_BAND") => {
            let ratio = get("frequency", "ratio");
            let least = filters.first().map_or(0, |&(_, value)| value);
            made("frequency", Box::new(move |tag| ratio(tag) >= least))
        }
        // The two banks are told apart; what is full has a signal of its own.
        _ if unit == "ha"
            && event.contains("_AD_") | event.contains("_AK_") | event.contains("_BL_")
            && event.starts_with("TxR")
            && !event.ends_with("FULL")
            && event != "TxR_AK_NDR" =>
        {
            let signal = format!("egress_{}", event[4..6].to_lowercase());
            let (bank, of) = (
                get(&signal, "sub"),
                match subevent {
                    "SCHED0" => 1,
                    "SCHED1" => 2,
                    _ => 3,
                },
            );
            made(&signal, Box::new(move |tag| bank(tag) & of != 0))
        }
        _ if subevent.is_empty() => made(event, Box::new(|_| true)),
        _ => {
            let (_, selected) = wiring.subevent(0, unit, 0, event, subevent).unwrap();
            made(event, Box::new(move |tag| tag & selected != 0))
        }
    }
}

/// Counts an event change by change, from the beginning of time up to each of the `cuts`, which must rise.
pub fn count(emissions: &[Emission], wire: Wire, period: Tick, meaning: &Meaning, cuts: &[Tick]) -> Vec<u64> {
    let mine: Vec<&Emission> = emissions.iter().filter(|e| e.wire == wire && (meaning.wanted)(e.tag)).collect();
    if meaning.measure == Measure::Arrivals {
        let arrivals = |e: &&Emission| match e.change {
            Change::Pulse(count) => u64::from(count),
            Change::Enter => 1,
            Change::Leave => 0,
        };
        return cuts.iter().map(|&cut| mine.iter().take_while(|e| e.tick < cut).map(arrivals).sum()).collect();
    }
    let mut counts = Vec::new();
    let mut changes = mine.iter().peekable();
    // Signed, so that a level below zero shows in the sum.
    let (mut cycle, mut level, mut sum) = (0, 0_i64, 0_i64);
    for cut in cuts {
        while cycle < cut / period {
            // Counters sample at the end of a cycle, so a change shows in its own cycle.
            while let Some(emission) = changes.next_if(|e| e.tick < (cycle + 1) * period) {
                level += match emission.change {
                    Change::Enter => 1,
                    Change::Leave => -1,
                    Change::Pulse(_) => panic!("pulse on a level"),
                };
            }
            // Nothing changes before the cycle of the next change.
            let until = changes.peek().map_or(u64::MAX, |e| e.tick / period).clamp(cycle + 1, cut / period);
            let each = if meaning.measure == Measure::NonEmpty { i64::from(level > 0) } else { level };
            sum += each * (until - cycle) as i64;
            cycle = until;
        }
        counts.push(sum as u64);
    }
    counts
}

/// The greatest sum of arrivals in a cycle, and the greatest and the last level, over all tags of a wire.
pub fn peaks(emissions: &[Emission], wire: Wire, period: Tick) -> (u64, i64, i64) {
    let (mut cycle, mut arrivals, mut most_arrivals) = (u64::MAX, 0, 0);
    let (mut level, mut most) = (0_i64, 0_i64);
    let mut within = 0_i64;
    for emission in emissions.iter().filter(|e| e.wire == wire) {
        if emission.tick / period != cycle {
            cycle = emission.tick / period;
            arrivals = 0;
            most = most.max(level);
        }
        match emission.change {
            Change::Pulse(count) => arrivals += u64::from(count),
            Change::Enter => {
                arrivals += 1;
                level += 1;
            }
            Change::Leave => level -= 1,
        }
        within = within.min(level);
        most_arrivals = most_arrivals.max(arrivals);
    }
    assert!(within >= 0, "a level fell below zero");
    (most_arrivals, most.max(level), level)
}
