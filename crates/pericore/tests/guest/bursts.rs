//! A signal that a program in the guest asks for: whoever measures that program must count exactly it.

use pericore_doors::Traffic;
use pericore_machine::chassis::Chassis;
use pericore_machine::signal::{SignalSink, Tick, Wire, Wiring};
use pericore_registers::{Address, Operation};

/// A burst for each new number in an MSR that nothing else uses.
pub struct Bursts {
    request: Address,
    last: u64,
    pulses: Vec<(Wire, u64, u32)>,
}

/// Unit and instance, signal and its attributes, how many pulses.
pub type Tagged = ((&'static str, u16), (&'static str, &'static [(&'static str, u64)]), u32);

/// Unit and instance, event and subevent, how many pulses.
pub type Burst = ((&'static str, u16), (&'static str, &'static str), u32);

impl Bursts {
    pub fn new(wiring: &mut Wiring, msr: u32, bursts: &[Burst], tagged: &[Tagged]) -> Self {
        let mut pulses = Vec::new();
        for &((unit, instance), (event, subevent), count) in bursts {
            let (wire, tag) = wiring.subevent(0, unit, instance, event, subevent).unwrap();
            pulses.push((wire, tag, count));
        }
        for &((unit, instance), (signal, attributes), count) in tagged {
            let wire = wiring.signal(0, unit, instance, signal).unwrap();
            let bits = |name: &str| wiring.attribute(unit, signal, name).unwrap();
            let tag = attributes.iter().fold(0, |tag, (name, value)| bits(name).set(tag, *value));
            pulses.push((wire, tag, count));
        }
        Self { request: Address::Msr { cpu: 0, msr }, last: 0, pulses }
    }
}

impl Traffic for Bursts {
    fn advance(&mut self, chassis: &mut Chassis, operation: &Operation, to: Tick) {
        let Operation::Write { address, value, .. } = *operation else { return };
        if address == self.request && value != self.last {
            self.last = value;
            self.pulses.iter().for_each(|&(wire, tag, count)| chassis.pulse(wire, tag, to, count));
        }
    }
}
