//! The mesh by hand: a few messages over a quiet mesh, and what each stop must have seen of them.
//!
//! Memory unit 0 lies in row 3, column 0. Slices 0 to 6 are row 1, 7 to 13 row 2, 26 is row 5, column 0, and 32 right below it on the
//! other die. A message is two cycles on its way onto the mesh, one to each stop, and nine over the bridge.

use pericore_hardware::signal::{SignalSink, Tick, Wire, Wiring};

use super::evaluate::{Case, Counters};
use super::truth::{cases, differences};
use super::{model, run, with};
use crate::emerald_rapids::EmeraldRapids;
use crate::ledger::Question;
use pericore_facts::emerald_rapids::Ring;

/// A cycle of the mesh of an 8592+.
const CYCLE: Tick = 28;

/// A machine without a workload, whose mesh is sent messages by hand.
pub struct Bench {
    pub model: EmeraldRapids,
    cycle: Tick,
    wiring: Wiring,
    counters: Counters,
}

impl Bench {
    fn new() -> Self {
        Self::of("idle")
    }

    pub fn of(workload: &str) -> Self {
        let (model, wiring) = model(workload);
        let clocks = *model.clocks();
        let mesh = |case: &Case| ["cha", "m2m", "mdf"].contains(&wiring.family().units[case.unit].name);
        let cases = cases(&wiring, &model.snapshot()).into_iter().filter(mesh).collect();
        let counters = Counters::new(super::model(workload).1, cases, |unit| clocks.of_unit(unit).ticks());
        Self { model, cycle: clocks.uclk.ticks(), wiring, counters }
    }

    /// Sends a message, and gives the cycle at which it has arrived.
    pub fn send(&mut self, ring: Ring, agent: u8, from: u8, to: u8) -> Tick {
        with(&mut self.model, &mut self.counters, |model, readers| model.mesh_send(0, ring, agent, from, to, readers))
            / self.cycle
    }

    /// Checks figures by hand, and the counters against the ledger.
    #[track_caller]
    pub fn check(&self, figures: &[(&str, u16, &str, u64)]) {
        let at = self.model.snapshot();
        for &(unit, instance, name, expected) in figures {
            let (event, subevent) = name.split_once('.').map_or((name, None), |(event, sub)| (event, Some(sub)));
            assert_eq!(
                at.value(instance, Question::new(unit, event).subevent(subevent)),
                Some(expected),
                "{unit}{instance}/{name}"
            );
        }
        let found = differences(&self.counters, &self.wiring, &at, 10);
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn a_burst_waits_for_the_credits_of_its_row() {
    let mut bench = Bench::new();
    let (memory, goal) = (bench.model.places.m2m[0], bench.model.places.cha[3]);
    let arrived: Vec<Tick> = (0..8).map(|_| bench.send(Ring::Address, 0, memory, goal)).collect();
    // Six leave one after the other. The first credit is back when its message has turned (cycle 4), gone back two stops, and been
    // taken: in cycle 7. The eighth leaves right after the seventh. Two stops up, three to the right, two cycles on and off each.
    assert_eq!(arrived, [9, 10, 11, 12, 13, 14, 16, 17]);
    bench.check(&[
        ("m2m", 0, "AG0_AD_CRD_ACQUIRED0.TGR1", 8),
        ("m2m", 0, "AG0_AD_CRD_OCCUPANCY0.TGR1", 8 * 7),
        ("m2m", 0, "STALL0_NO_TxR_HORZ_CRD_AD_AG0.TGR1", 1),
        // They wait 1 to 5, 7 and 8 cycles: seven at once in cycle 0, four of them still in cycle 3. Four fill the queue, so that it
        // holds four in cycles 0 to 3, then three, two, two and one.
        ("m2m", 0, "TxR_VERT_BYPASS.AD_AG0", 1),
        ("m2m", 0, "TxR_VERT_INSERTS0.AD_AG0", 7),
        ("m2m", 0, "TxR_VERT_OCCUPANCY0.AD_AG0", 24),
        ("m2m", 0, "TxR_VERT_CYCLES_NE0.AD_AG0", 8),
        ("m2m", 0, "TxR_VERT_CYCLES_FULL0.AD_AG0", 4),
        // The ring has a slot for each when its turn has come and its credit is there.
        ("m2m", 0, "TxR_VERT_NACK0.AD_AG0", 0),
        ("m2m", 0, "TxR_VERT_STARVED0.AD_AG0", 0),
        ("m2m", 0, "DISTRESS_ASSERTED.VERT", 4),
        // The way, and the credits' way back. They leave in cycles 0 to 5, 7 and 8, turn four later, and their credits
        // are back seven later: at each stop, half of them pass in even cycles and half in odd ones.
        ("cha", 7, "VERT_RING_AD_IN_USE.UP_EVEN", 4),
        ("cha", 7, "VERT_RING_AD_IN_USE.UP_ODD", 4),
        ("cha", 0, "VERT_RING_AD_IN_USE.UP_EVEN", 4),
        ("cha", 0, "VERT_RING_AD_IN_USE.UP_ODD", 4),
        ("cha", 7, "VERT_RING_TGC_IN_USE.DN_EVEN", 4),
        ("m2m", 0, "VERT_RING_TGC_IN_USE.DN_ODD", 4),
        ("cha", 0, "TxR_HORZ_BYPASS.AD_ALL", 8),
        ("cha", 1, "HORZ_RING_AD_IN_USE.RIGHT_EVEN", 4),
        ("cha", 2, "HORZ_RING_AD_IN_USE.RIGHT_ODD", 4),
        ("cha", 3, "RxR_BYPASS.AD_CRD", 8),
    ]);
}

/// One message that leaves in cycle 0 and turns in cycle 3, and one that does so three cycles later.
#[test]
fn a_message_has_the_polarity_of_the_cycles_in_which_it_leaves_and_turns() {
    let mut bench = Bench::new();
    let (above, goal) = (bench.model.places.cha[0], bench.model.places.cha[9]);
    bench.send(Ring::Address, 0, above, goal);
    // Two cycles on and a stop down: it turns in cycle 3.
    bench.check(&[
        ("cha", 7, "VERT_RING_AD_IN_USE.DN_EVEN", 1),
        ("cha", 7, "VERT_RING_AD_IN_USE.DN_ODD", 0),
        ("cha", 8, "HORZ_RING_AD_IN_USE.RIGHT_EVEN", 0),
        ("cha", 8, "HORZ_RING_AD_IN_USE.RIGHT_ODD", 1),
        ("cha", 9, "HORZ_RING_AD_IN_USE.RIGHT_ODD", 1),
        // Its credit goes back a stop, and is there a cycle later: in cycle 5.
        ("cha", 0, "VERT_RING_TGC_IN_USE.UP_EVEN", 0),
        ("cha", 0, "VERT_RING_TGC_IN_USE.UP_ODD", 1),
    ]);
    bench.model.run_until_any(3 * CYCLE, &mut bench.counters);
    bench.send(Ring::Address, 0, above, goal);
    bench.check(&[
        ("cha", 7, "VERT_RING_AD_IN_USE.DN_EVEN", 1),
        ("cha", 7, "VERT_RING_AD_IN_USE.DN_ODD", 1),
        ("cha", 9, "HORZ_RING_AD_IN_USE.RIGHT_EVEN", 1),
    ]);
}

#[test]
fn a_stop_is_in_distress_once_however_many_of_its_queues_are_full() {
    let mut bench = Bench::new();
    let (memory, above, below) = (bench.model.places.m2m[0], bench.model.places.cha[3], bench.model.places.cha[19]);
    for _ in 0..6 {
        bench.send(Ring::Address, 0, memory, above);
        bench.send(Ring::Address, 1, memory, below);
    }
    // Of each agent one leaves in each cycle, up and down: five wait in cycle 0, four in cycle 1, three in cycle 2.
    bench.check(&[
        ("m2m", 0, "TxR_VERT_CYCLES_FULL0.AD_AG0", 2),
        ("m2m", 0, "TxR_VERT_CYCLES_FULL0.AD_AG1", 2),
        ("m2m", 0, "DISTRESS_ASSERTED.VERT", 2),
    ]);
}

#[test]
fn a_bridge_of_half_the_width_takes_a_message_every_other_cycle() {
    let mut bench = Bench::of("bridge=2 idle");
    let (upper, lower) = (bench.model.places.cha[26], bench.model.places.cha[32]);
    let arrived: Vec<Tick> = (0..2).map(|_| bench.send(Ring::Address, 1, upper, lower)).collect();
    // At the bridge in cycles 2 and 3; the second waits one.
    assert_eq!(arrived, [13, 15]);
    bench.check(&[
        ("mdf", 0, "RxR_BYPASS.AD_CRD", 1),
        ("mdf", 0, "RxR_INSERTS.AD_CRD", 1),
        ("mdf", 0, "RxR_OCCUPANCY.AD_CRD", 1),
        ("mdf", 7, "CRS_TxR_INSERTS.AD_CRD", 2),
        ("cha", 26, "AG1_AD_CRD_ACQUIRED0.TGR6", 2),
        // Sent in cycles 0 and 1, taken off in 11 and 13; then the bridge and a stop back, and a cycle.
        ("cha", 26, "AG1_AD_CRD_OCCUPANCY0.TGR6", 22 + 23),
    ]);
    // Six acknowledgements, which need no credits.
    for _ in 0..6 {
        bench.send(Ring::Acknowledge, 0, upper, lower);
    }
    // They come in cycles 2 to 7 and go in 2, 4, ... 12: they wait 0 to 5 cycles, never four at once.
    bench.check(&[("mdf", 0, "RxR_INSERTS.AK", 5), ("mdf", 0, "RxR_OCCUPANCY.AK", 15), ("mdf", 0, "RxR_FULL.AK", 0)]);
}

#[test]
fn an_invalidation_keeps_its_place_behind_acknowledgements() {
    let mut bench = Bench::new();
    let places = &bench.model.places;
    let (above, here, goal) = (places.cha[0], places.cha[7], places.cha[10]);
    // From above, it turns in cycle 3; two from here want the same slot, and get the next two.
    bench.send(Ring::Acknowledge, 0, above, goal);
    bench.model.run_until_any(CYCLE, &mut bench.counters);
    bench.send(Ring::Acknowledge, 0, here, goal);
    bench.send(Ring::Acknowledge, 1, here, goal);
    // It comes to turn in cycle 4, and the last of them turns in cycle 5.
    bench.send(Ring::Invalidate, 0, above, goal);
    bench.check(&[
        ("cha", 7, "TxR_HORZ_INSERTS.AK", 2),
        ("cha", 7, "TxR_HORZ_OCCUPANCY.AK", 1 + 2),
        ("cha", 7, "TxR_HORZ_CYCLES_NE.AK", 2),
        // Both of here are refused the slot that they want, and the invalidation gets the first that it may take.
        ("cha", 7, "TxR_HORZ_NACK.AK", 2),
        ("cha", 7, "TxR_HORZ_NACK.IV", 0),
        ("cha", 7, "EGRESS_ORDERING.IV_SNOOPGO_DN", 1),
        ("cha", 7, "EGRESS_ORDERING.IV_SNOOPGO_UP", 0),
        ("cha", 7, "TxR_HORZ_INSERTS.IV", 1),
    ]);
}

#[test]
fn a_full_queue_into_a_row_holds_the_addresses_of_its_stop_back() {
    let mut bench = Bench::new();
    let places = bench.model.places.clone();
    // Requests of row 2 fill the slots to the right, so that what comes from above and below cannot turn there.
    let (goal, here) = (places.cha[13], places.cha[7]);
    for from in [0, 7, 14] {
        let from = if from == 14 { places.m2m[0] } else { places.cha[from] };
        for agent in 0..2 {
            for _ in 0..4 {
                bench.send(Ring::Address, agent, from, goal);
            }
        }
    }
    let before = bench.model.snapshot();
    let full = before.value(7, Question::new("cha", "DISTRESS_ASSERTED").subevent("HORZ")).unwrap();
    // Twenty-four come to turn in eight cycles, one a cycle leaves.
    assert!(full > 8, "{full}");
    assert_eq!(before.value(7, Question::new("cha", "TxR_HORZ_CYCLES_FULL").subevent("AD_CRD")), Some(full));
    // The queue starves for as long as one or more of its messages do, not once for each.
    let of = |event: &'static str, name| before.value(7, Question::new("cha", event).subevent(name)).unwrap();
    assert!((1..full).contains(&of("RxR_CRD_STARVED", "AD_CRD")));
    assert!((8..of("TxR_HORZ_CYCLES_NE", "AD_ALL")).contains(&of("TxR_HORZ_STARVED", "AD_ALL")));
    bench.send(Ring::Address, 0, here, places.cha[14]);
    let after = bench.model.snapshot();
    assert!(after.since(&before, 7, Question::new("cha", "RING_SRC_THRTL")).unwrap() > 0);
    bench.check(&[]);
}

/// Takes the pulses of a few instances down.
struct Listener {
    instances: Vec<u16>,
    /// It says that it hears nothing else.
    says_so: bool,
    pulses: Vec<(Wire, u64, Tick, u32)>,
    others: u64,
}

impl SignalSink for Listener {
    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        if self.instances.contains(&wire.instance) {
            self.pulses.push((wire, tag, tick, count));
        } else {
            self.others += 1;
        }
    }

    fn enter(&mut self, _: Wire, _: u64, _: Tick) {}
    fn leave(&mut self, _: Wire, _: u64, _: Tick) {}

    fn observes(&self, wire: Wire) -> bool {
        self.observes_any(wire.instance)
    }

    fn observes_any(&self, instance: u16) -> bool {
        !self.says_so || self.instances.contains(&instance)
    }
}

#[test]
fn who_listens_at_a_few_stops_misses_nothing_there() {
    let listen = |stops: &[(u16, &str, u16)], says_so: bool| {
        let (mut model, wiring) = model("two mixed:requests=4000,threads=128,read=50,remote=40,footprint=64M");
        let unit = |name: &str| wiring.family().unit_index(name).unwrap();
        let number = |&(socket, name, index): &(u16, &str, u16)| wiring.instance(socket, unit(name), index);
        let instances = stops.iter().map(number).collect();
        let mut listener = Listener { instances, says_so, pulses: Vec::new(), others: 0 };
        run(&mut model, &mut listener);
        listener
    };
    let places: [&[(u16, &str, u16)]; 4] = [
        &[(1, "cha", 26), (0, "m2m", 2)],
        &[(0, "mdf", 0), (0, "mdf", 6), (0, "mdf", 12), (1, "mdf", 7)],
        &[(0, "m2pcie", 1), (0, "m3upi", 3), (1, "m3upi", 0)],
        &[],
    ];
    for stops in places {
        let (all, some) = (listen(stops, false), listen(stops, true));
        assert_eq!(all.pulses.is_empty(), stops.is_empty());
        assert!(all.pulses == some.pulses, "{stops:?}: {} pulses, {} heard", all.pulses.len(), some.pulses.len());
        assert!(some.others < all.others * 2 / 3, "{stops:?}: {} of {} for nobody", some.others, all.others);
    }
}

#[test]
fn the_ledger_is_the_same_whoever_listens() {
    let figures = |says_so: bool| {
        let (mut model, wiring) = model("two mixed:requests=4000,threads=128,read=50,remote=40,footprint=64M");
        run(&mut model, &mut Listener { instances: Vec::new(), says_so, pulses: Vec::new(), others: 0 });
        let at = model.snapshot();
        let values = |case: &Case| {
            let unit = wiring.family().units[case.unit];
            let value = |instance| at.value(instance, Question::new(unit.name, case.event).subevent(case.subevent));
            (0..unit.instances * wiring.sockets()).map(value).collect::<Vec<_>>()
        };
        cases(&wiring, &at).iter().map(values).collect::<Vec<_>>()
    };
    // To nobody, most messages are not told in full.
    assert!(figures(true) == figures(false));
}
