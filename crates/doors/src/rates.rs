//! Traffic at known, constant rates: what a counter must show can be worked out by hand.

use pericore_machine::chassis::Chassis;
use pericore_machine::signal::{SignalSink, Tick, Wire, Wiring, WiringError};
use pericore_registers::Operation;

use crate::paced::Traffic;

/// A signal that pulses at a constant rate.
#[derive(Debug, Clone, Copy)]
struct Stream {
    wire: Wire,
    tag: u64,
    per_second: u64,
    emitted: u64,
}

/// Signals at constant rates, and levels that hold.
#[derive(Debug)]
pub struct ConstantRates {
    ticks_per_second: u64,
    streams: Vec<Stream>,
    /// Levels to raise when time starts.
    levels: Vec<(Wire, u64, u32)>,
}

impl ConstantRates {
    /// No traffic yet.
    pub const fn new(ticks_per_second: u64) -> Self {
        Self { ticks_per_second, streams: Vec::new(), levels: Vec::new() }
    }

    /// Pulses of one subevent, in every socket on one instance of a unit.
    ///
    /// # Errors
    /// [`WiringError`] if the catalogue has no such names.
    pub fn subevent(
        &mut self,
        wiring: &mut Wiring,
        (unit, instance): (&str, u16),
        (event, subevent): (&str, &str),
        per_second: u64,
    ) -> Result<(), WiringError> {
        for socket in 0..wiring.sockets() {
            let (wire, tag) = wiring.subevent(socket, unit, instance, event, subevent)?;
            self.streams.push(Stream { wire, tag, per_second, emitted: 0 });
        }
        Ok(())
    }

    /// Pulses of a signal with a tag, on one instance of a unit of one socket.
    pub fn pulses(&mut self, wire: Wire, tag: u64, per_second: u64) {
        self.streams.push(Stream { wire, tag, per_second, emitted: 0 });
    }

    /// `entries` that stay in a level from the start.
    pub fn level(&mut self, wire: Wire, tag: u64, entries: u32) {
        self.levels.push((wire, tag, entries));
    }
}

impl Traffic for ConstantRates {
    fn advance(&mut self, chassis: &mut Chassis, _: &Operation, to: Tick) {
        for (wire, tag, entries) in self.levels.drain(..) {
            (0..entries).for_each(|_| chassis.enter(wire, tag, chassis.now()));
        }
        for stream in &mut self.streams {
            let due = u128::from(stream.per_second) * u128::from(to) / u128::from(self.ticks_per_second);
            let mut missing = due as u64 - stream.emitted;
            stream.emitted = due as u64;
            while missing > 0 {
                let count = missing.min(u64::from(u32::MAX)) as u32;
                chassis.pulse(stream.wire, stream.tag, to, count);
                missing -= u64::from(count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pericore_machine::MachineSpec;
    use pericore_registers::{Address, RegisterSpace as _, Width};

    use super::*;

    /// RxR_INSERTS.IRQ (0x13, umask 0x01) of CBo 0 on its counter 1 (the guide's Tables 2-8 and 2-14). Three million
    /// arrivals a second, for 1.5 s at 10 GHz: in steps of uneven lengths as in one.
    #[test]
    fn as_much_comes_as_the_rate_and_the_time_make() {
        for steps in [&[15_000_000_000][..], &[1, 3334, 7_000_000_001, 15_000_000_000]] {
            let mut chassis = MachineSpec::parse("e5-2600").unwrap().chassis().unwrap();
            let mut wiring = Wiring::new(chassis.shape().family, 1);
            let mut rates = ConstantRates::new(10_000_000_000);
            rates.subevent(&mut wiring, ("cbo", 0), ("RxR_INSERTS", "IRQ"), 3_000_000).unwrap();
            let address = |msr| Address::Msr { cpu: 0, msr };
            chassis.write(address(0xd11), Width::B8, 0x40_0113).unwrap();
            let read = Operation::Read { address: address(0xd17), width: Width::B8 };
            for &to in steps {
                rates.advance(&mut chassis, &read, to);
                chassis.set_now(to);
            }
            assert_eq!(chassis.read(address(0xd17), Width::B8), Ok(4_500_000), "{steps:?}");
        }
    }
}
