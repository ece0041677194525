//! A machine whose virtual time follows wall time, for tools that measure while they sleep.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::signal::Tick;
use pericore_machine::steady::Replay;
use pericore_registers::{AccessError, Address, Bdf, Operation, RegisterSpace, Width};

use crate::backend::{Backend, Response};
use crate::clock;
use crate::error::DoorsError;
use crate::platform::{Function, Platform, place_cpus};
use crate::stubs;

/// An access happens when its response is ready, as far as a client can tell: it asks for the time before and after. To
/// bring the traffic up to an access may take the host longer than that, so it is brought up again to the time that it
/// is then; the second time there is far less to do.
const PROMPT: Duration = Duration::from_micros(20);
/// Times that traffic is brought up to one access at most.
const MOST_ROUNDS: usize = 4;

/// What happens on the machine while time passes.
pub trait Traffic: Send {
    /// Brings what the hardware has seen up to `to`, as far as `operation` could notice: it comes next. The chassis'
    /// own time is moved afterwards.
    fn advance(&mut self, chassis: &mut Chassis, operation: &Operation, to: Tick);
}

/// Nothing happens: only clocks run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Idle;

impl Traffic for Idle {
    fn advance(&mut self, _: &mut Chassis, _: &Operation, _: Tick) {}
}

/// A window of a workload's steady phase, again and again.
impl Traffic for Replay {
    fn advance(&mut self, chassis: &mut Chassis, operation: &Operation, to: Tick) {
        Self::advance(self, chassis, operation, to);
    }
}

impl Traffic for Box<dyn Traffic> {
    fn advance(&mut self, chassis: &mut Chassis, operation: &Operation, to: Tick) {
        (**self).advance(chassis, operation, to);
    }
}

/// A machine in real time.
#[derive(Debug)]
pub struct Paced<T> {
    platform: Platform,
    ticks_per_second: u64,
    live: Mutex<Live<T>>,
}

#[derive(Debug)]
struct Live<T> {
    chassis: Chassis,
    traffic: T,
}

impl<T: Traffic> Paced<T> {
    /// Starts the machine's time now. `host` lists the CPUs of the host to show, `hertz` is the cores' nominal
    /// frequency.
    ///
    /// # Errors
    /// [`DoorsError::TooFewCpus`] if a socket would have no CPU.
    pub fn start(
        mut chassis: Chassis,
        traffic: T,
        ticks_per_second: u64,
        hertz: u64,
        host: &[u32],
    ) -> Result<Self, DoorsError> {
        let shape = chassis.shape().clone();
        let cpus = place_cpus(host, &shape)?;
        let functions = find_functions(&mut chassis);
        let origin = clock::monotonic();
        let nowhere = chassis.read(Address::Mmio { physical: 0 }, Width::B4);
        let allows_memory = !matches!(nowhere, Err(AccessError::Permission { .. }));
        let platform = Platform { shape, cpus, functions, allows_memory, hertz, origin };
        let live = Mutex::new(Live { chassis, traffic });
        Ok(Self { platform, ticks_per_second, live })
    }

    fn live(&self) -> MutexGuard<'_, Live<T>> {
        // A panic elsewhere leaves registers readable; the tool's run is lost anyway.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time since the machine was started.
    fn age(&self) -> Duration {
        Duration::from_nanos(clock::monotonic() - self.platform.origin)
    }

    fn ticks(&self, at: Duration) -> Tick {
        (at.as_nanos() * u128::from(self.ticks_per_second) / 1_000_000_000) as Tick
    }
}

impl<T: Traffic> Backend for Paced<T> {
    fn platform(&self) -> &Platform {
        &self.platform
    }

    fn access(&self, operation: Operation) -> Response {
        let mut live = self.live();
        let Live { chassis, traffic } = &mut *live;
        // Read under the lock, so that time goes forward.
        let mut at = self.age();
        let mut rounds = 1;
        loop {
            traffic.advance(chassis, &operation, self.ticks(at));
            let now = self.age();
            if now - at < PROMPT || rounds == MOST_ROUNDS {
                break;
            }
            (at, rounds) = (now, rounds + 1);
        }
        chassis.set_now(self.ticks(at));
        let of_stub = match operation {
            Operation::Read { address, width } => stub(&self.platform.shape, address, width),
            Operation::Write { .. } => None,
        };
        let outcome = of_stub.map_or_else(|| chassis.carry_out(operation), Ok);
        Response { outcome, at }
    }

    fn cpuid(&self, cpu: u32, leaf: u32, subleaf: u32) -> [u32; 4] {
        self.live().chassis.cpuid(cpu, leaf, subleaf)
    }
}

/// What a read of a stub function returns.
fn stub(shape: &Shape, address: Address, width: Width) -> Option<u64> {
    let Address::Pci { bdf, offset } = address else { return None };
    let dword = |offset| stubs::dword(shape, bdf, offset);
    let low = u64::from(dword(offset & !3)?) >> (8 * (offset % 4));
    let high = if width == Width::B8 { u64::from(dword(offset + 4)?) << 32 } else { 0 };
    Some((low | high) & width.mask())
}

/// All functions that response on any bus of the machine.
fn find_functions(chassis: &mut Chassis) -> Vec<Function> {
    let shape = chassis.shape().clone();
    let segments = chassis.pci_segments();
    let bdfs =
        (0..=u8::MAX).flat_map(|bus| (0..32).flat_map(move |device| (0..8).map(move |f| Bdf::new(bus, device, f))));
    let bdfs: Vec<Bdf> = bdfs.collect();
    let bdfs = segments.into_iter().flat_map(|segment| bdfs.iter().map(move |&bdf| Bdf { segment, ..bdf }));
    bdfs.filter_map(|bdf| find_function(chassis, &shape, bdf)).collect()
}

fn find_function(chassis: &mut Chassis, shape: &Shape, bdf: Bdf) -> Option<Function> {
    let mut dword = |offset| {
        let address = Address::Pci { bdf, offset };
        let value = match stub(shape, address, Width::B4) {
            Some(value) => value,
            None => chassis.read(address, Width::B4).unwrap_or(u64::MAX),
        };
        value as u32
    };
    let id = dword(0);
    if id == u32::MAX {
        return None;
    }
    let is_express = dword(0x34) != 0;
    let registers =
        shape.family.units.iter().flat_map(|unit| unit.registers).filter(|register| register.offset >= 0x100);
    let is_extended = is_express || registers.count() > 0;
    let config_bytes = if is_extended { 4096 } else { 256 };
    Some(Function { bdf, id, class: dword(8), subsystem: dword(0x2c), config_bytes })
}

#[cfg(test)]
pub mod tests {
    use pericore_machine::MachineSpec;

    use super::*;

    /// Takes the host a while the first time, as traffic does that nobody has asked about for long.
    pub struct Slow {
        /// How long the first time.
        pub costs: Duration,
    }

    impl Traffic for Slow {
        fn advance(&mut self, _: &mut Chassis, _: &Operation, _: Tick) {
            std::thread::sleep(std::mem::take(&mut self.costs));
        }
    }

    /// A freeze that took effect before its traffic was worked out would stop the counters long before the client reads
    /// the clock.
    #[test]
    fn an_access_happens_when_its_answer_is_ready() {
        let spec = MachineSpec::parse("e5-2600").unwrap();
        let costs = Duration::from_millis(40);
        let paced = Paced::start(spec.chassis().unwrap(), Slow { costs }, 1_000_000_000, 2_700_000_000, &[0]).unwrap();
        let operation =
            Operation::Write { address: Address::Msr { cpu: 0, msr: 0xd04 }, width: Width::B8, value: 0x10100 };
        let before = paced.age();
        let response = paced.access(operation);
        assert!(response.outcome.is_ok() && response.at >= before + costs, "{:?} after {before:?}", response.at);
        assert_eq!(paced.live().chassis.now(), paced.ticks(response.at), "hardware and log tell the same time");
    }

    /// 2.5 ticks a nanosecond.
    #[test]
    fn time_is_in_the_machines_ticks() {
        let spec = MachineSpec::parse("e5-2600").unwrap();
        let paced = Paced::start(spec.chassis().unwrap(), Idle, 2_500_000_000, 2_700_000_000, &[0]).unwrap();
        let ticks = [2, 4_000_000_001].map(|nanoseconds| paced.ticks(Duration::from_nanos(nanoseconds)));
        assert_eq!(ticks, [5, 10_000_000_002]);
    }

    /// The U-Box of an E5-2600 is D11:F0 of the uncore bus, 8086:3CE0; its header reads the same by bytes and words.
    #[test]
    fn a_function_without_counters_reads_in_parts() {
        let spec = MachineSpec::parse("e5-2600").unwrap();
        let slow = Slow { costs: Duration::ZERO };
        let paced = Paced::start(spec.chassis().unwrap(), slow, 1_000_000_000, 2_700_000_000, &[0]).unwrap();
        let functions = paced.platform().functions.clone();
        let stubs: Vec<Function> = functions
            .into_iter()
            .filter(|function| stubs::dword(&paced.platform().shape, function.bdf, 0).is_some())
            .collect();
        assert!(!stubs.is_empty());
        for Function { bdf, id, .. } in stubs {
            let read = |offset, width| {
                let operation = Operation::Read { address: Address::Pci { bdf, offset }, width };
                paced.access(operation).outcome.unwrap()
            };
            assert_eq!((read(0, Width::B4), id & 0xffff), (id.into(), 0x8086), "{bdf}");
            assert_eq!([read(0, Width::B2), read(2, Width::B2)], [0x8086, u64::from(id >> 16)], "{bdf}");
            assert_eq!([0, 1, 2, 3].map(|at| read(at, Width::B1)), id.to_le_bytes().map(u64::from), "{bdf}");
            assert_eq!(read(0, Width::B8), read(0, Width::B4) | read(4, Width::B4) << 32, "{bdf}");
        }
    }
}
