//! Signals at known rates.

use pericore_doors::Traffic;
use pericore_machine::chassis::Chassis;
use pericore_machine::signal::{SignalSink, Tick, Wire, Wiring};
use pericore_registers::Operation;

use super::boot::TICKS_PER_SECOND;

/// A signal that pulses, or a level that entries pass through, so often in a second.
struct Stream {
    wire: Wire,
    tag: u64,
    per_second: u64,
    emitted: u64,
    through_level: bool,
}

/// Everything that happens on the machine.
#[derive(Default)]
pub struct Injection {
    streams: Vec<Stream>,
    levels: Vec<(Wire, u64, u32)>,
}

/// How many events of a rate have happened by a tick.
pub fn due(per_second: u64, tick: Tick) -> u64 {
    (u128::from(per_second) * u128::from(tick) / u128::from(TICKS_PER_SECOND)) as u64
}

impl Injection {
    /// Pulses of an event's subevent; `""` for events without.
    pub fn pulses(&mut self, wiring: &mut Wiring, unit: &str, (event, subevent): (&str, &str), per_second: u64) {
        let (wire, tag) = if subevent.is_empty() {
            (wiring.signal(0, unit, 0, event).unwrap(), 0)
        } else {
            wiring.subevent(0, unit, 0, event, subevent).unwrap()
        };
        self.streams.push(Stream { wire, tag, per_second, emitted: 0, through_level: false });
    }

    /// Pulses of a signal with attributes, on one instance.
    pub fn tagged(
        &mut self,
        wiring: &mut Wiring,
        (unit, instance): (&str, u16),
        signal: &str,
        tags: &[(&str, u64)],
        per_second: u64,
    ) {
        let wire = wiring.signal(0, unit, instance, signal).unwrap();
        let tag = tag(wiring, unit, signal, tags);
        self.streams.push(Stream { wire, tag, per_second, emitted: 0, through_level: false });
    }

    /// Entries that pass through a level in no time.
    pub fn arrivals(
        &mut self,
        wiring: &mut Wiring,
        (unit, instance): (&str, u16),
        signal: &str,
        tags: &[(&str, u64)],
        per_second: u64,
    ) {
        self.tagged(wiring, (unit, instance), signal, tags, per_second);
        self.streams.last_mut().unwrap().through_level = true;
    }

    /// Entries that stay.
    pub fn level(
        &mut self,
        wiring: &mut Wiring,
        (unit, instance): (&str, u16),
        signal: &str,
        tags: &[(&str, u64)],
        entries: u32,
    ) {
        let wire = wiring.signal(0, unit, instance, signal).unwrap();
        self.levels.push((wire, tag(wiring, unit, signal, tags), entries));
    }
}

fn tag(wiring: &Wiring, unit: &str, signal: &str, tags: &[(&str, u64)]) -> u64 {
    let set = |tag, &(name, value): &(&str, u64)| wiring.attribute(unit, signal, name).unwrap().set(tag, value);
    tags.iter().fold(0, set)
}

impl Traffic for Injection {
    fn advance(&mut self, chassis: &mut Chassis, _: &Operation, to: Tick) {
        for (wire, tag, entries) in self.levels.drain(..) {
            (0..entries).for_each(|_| chassis.enter(wire, tag, to));
        }
        for stream in &mut self.streams {
            let total = due(stream.per_second, to);
            let missing = (total - stream.emitted) as u32;
            stream.emitted = total;
            if stream.through_level {
                for _ in 0..missing {
                    chassis.enter(stream.wire, stream.tag, to);
                    chassis.leave(stream.wire, stream.tag, to);
                }
            } else if missing > 0 {
                chassis.pulse(stream.wire, stream.tag, to, missing);
            }
        }
    }
}
