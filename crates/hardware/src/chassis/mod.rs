//! Sockets as software finds them: CPUs, uncore buses, PCI functions, MSRs; and the bus rules that decide what a cycle
//! comes to.

mod access;
mod broken;
mod carried;
mod core_msrs;
mod cpuid;
mod denied;
mod discovery;
mod extra;
mod imprint;
mod inspect;
mod later;
mod map;
mod misprogrammed;
mod mmio;
mod pci;
mod redirect;
mod shape;
mod snapshot;
mod variant;

use access::Reached;
use core_msrs::CoreMsrs;
use later::Later;
use map::AddressMap;
use pericore_engine::common_multiple;
use pericore_registers::{Address, Width};
use redirect::Redirects;
use variant::Presence;

use crate::pmon::{Bank, Interrupt};
use crate::signal::{SignalSink, Tick, Wire, Wiring, WiringError};
pub use core_msrs::CoreProgress;
pub use denied::Denied;
pub use extra::MOST as MOST_FUNCTIONS;
pub use imprint::ReadValue;
pub use inspect::RegisterPlace;
pub use map::Target;
pub use shape::{Shape, ShapeError};
pub use snapshot::{SnapshotError, VERSION as SNAPSHOT_VERSION};
pub use variant::{Block, DiscoveryFault, Faults, Intrusion, Rules, Variant};

/// A machine's registers at a moment of virtual time.
#[derive(Debug)]
pub struct Chassis {
    shape: Shape,
    wiring: Wiring,
    /// PMON instances of a socket.
    per_socket: u16,
    /// By logical CPU.
    socket_of_cpu: Vec<u8>,
    map: AddressMap,
    bank: Bank,
    /// Discovery tables, one per socket; none on families without discovery.
    tables: Vec<Vec<u64>>,
    core: CoreMsrs,
    rules: Rules,
    /// Whether each block answers, by its machine-wide number.
    presence: Vec<Presence>,
    discovery_fault: DiscoveryFault,
    /// PCI segment of the last socket; the others are on segment 0.
    segment: u16,
    /// PCI functions besides those of the uncore.
    functions: u16,
    denied: Denied,
    redirects: Redirects,
    write_delay: Tick,
    later: Later,
    /// When the next of `later` is due.
    next_due: Tick,
    now: Tick,
}

impl Chassis {
    /// A machine after reset. `wiring` numbers its PMON instances; `period` gives the ticks per cycle of a clock
    /// domain.
    pub fn new(shape: Shape, wiring: Wiring, period: impl Fn(&str) -> u64) -> Self {
        let mut bank = Bank::new(shape.family, &wiring, &period);
        bank.set_status_positions(discovery::status_positions(&shape, &wiring));
        pci::preset_identities(&shape, &wiring, &mut bank);
        let map = AddressMap::new(&wiring, &bank);
        let discovers = shape.family.units.iter().any(|unit| unit.discovery_type.is_some());
        let sockets = if discovers { shape.sockets } else { 0 };
        let tables = (0..sockets).map(|socket| discovery::table(&shape, &wiring, socket)).collect();
        let core = CoreMsrs::new(&shape, period(shape.family.clocks[0].name));
        let presence = (0..wiring.instances()).map(|number| presence(&shape, &wiring, number)).collect();
        Self {
            per_socket: wiring.instances() / wiring.sockets(),
            socket_of_cpu: (0..shape.cpus()).filter_map(|cpu| Some(shape.socket_of_cpu(cpu)? as u8)).collect(),
            shape,
            wiring,
            map,
            bank,
            tables,
            core,
            rules: Rules::Documented,
            presence,
            discovery_fault: DiscoveryFault::None,
            segment: 0,
            functions: 0,
            denied: Denied::default(),
            redirects: Redirects::default(),
            write_delay: 0,
            later: Later::default(),
            next_due: Tick::MAX,
            now: 0,
        }
    }

    /// The same machine as a variant of the documented one.
    ///
    /// # Errors
    /// [`WiringError`] if a fault names a block that the machine does not have.
    pub fn with_variant(mut self, variant: &Variant) -> Result<Self, WiringError> {
        let faults = &variant.faults;
        self.set_rules(variant.rules);
        for (blocks, presence) in [(&faults.all_ones, Presence::AllOnes), (&faults.hidden, Presence::Hidden)] {
            for block in blocks {
                let number = block.number(&self.wiring)?;
                self.presence[usize::from(number)] = presence;
            }
        }
        for (block, counter) in &faults.stuck {
            self.bank.update_hold(block.number(&self.wiring)?, self.now, |hold| hold.stuck |= 1 << (counter & 31));
        }
        self.misprogram(faults)?;
        (self.segment, self.functions, self.denied) = (variant.segment, variant.functions, variant.denied);
        if let Some(table) = self.tables.last_mut() {
            discovery::put_on_segment(table, variant.segment);
        }
        self.discovery_fault = faults.discovery;
        self.tables.iter_mut().for_each(|table| discovery::spoil(table, faults.discovery));
        self.write_delay = faults.write_delay;
        self.later = Later::new(&faults.intrusions);
        self.next_due = self.later.next_due();
        Ok(self)
    }

    fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
        if rules == Rules::Lenient {
            self.bank.allow_any_counter();
        }
    }

    /// Sockets, cores, buses.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The PCI segment of a socket's buses.
    pub const fn segment_of(&self, socket: u16) -> u16 {
        if socket + 1 == self.shape.sockets { self.segment } else { 0 }
    }

    /// True if the machine has discovery tables.
    pub const fn has_discovery(&self) -> bool {
        !self.tables.is_empty()
    }

    /// How PMON instances are numbered and which signals the model emits.
    pub const fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    /// Virtual time, in ticks.
    pub const fn now(&self) -> Tick {
        self.now
    }

    /// Moves virtual time forward; register accesses happen at this time.
    pub fn set_now(&mut self, now: Tick) {
        debug_assert!(now >= self.now, "time goes forward");
        if now >= self.next_due {
            self.carry_out(now);
        }
        self.now = now;
    }

    /// Carries out the writes that are due by `now`.
    fn carry_out(&mut self, now: Tick) {
        while let Some(write) = self.later.take(now) {
            let at = write.due.max(self.now);
            // What an intruder's write comes to is the intruder's business.
            let _ = self.write_at(write.address, write.width, write.value, at);
        }
        self.next_due = self.later.next_due();
    }

    /// What CPUID answers on a logical CPU: EAX, EBX, ECX, EDX.
    pub fn cpuid(&self, cpu: u32, leaf: u32, subleaf: u32) -> [u32; 4] {
        cpuid::registers(&self.shape, cpu, leaf, subleaf)
    }

    /// Says what a CPU has done until now; without a word its counters take one instruction for each cycle of the
    /// machine's time.
    pub fn set_core_progress(&mut self, cpu: u32, executed: CoreProgress) {
        self.core.set_core_progress(cpu, executed);
    }

    /// The MSR of a core's counter, by its enable bit in IA32_PERF_GLOBAL_CTRL; `None` if the family has no such
    /// counter.
    pub fn core_counter(&self, enable: u8) -> Option<u32> {
        self.core.counter(enable)
    }

    /// Umask (bits 15:8) and event (7:0) that a write to an MSR selects, if it enables a core's counter for what nobody
    /// counts here: the counter stays at 0.
    pub fn uncounted_core_event(&self, msr: u32, value: u64) -> Option<u16> {
        self.core.uncounted(msr, value)
    }

    /// Intel's name of an MSR outside the PMON; `None` if the family has no such MSR.
    pub fn core_msr_name(&self, msr: u32) -> Option<&'static str> {
        self.core.name(msr)
    }

    /// The PMON register behind an address: socket, register, and the byte of it that the address names.
    pub fn locate(&self, address: Address) -> Option<(u16, Target, u16)> {
        let width = if matches!(address, Address::Msr { .. }) { Width::B8 } else { Width::B1 };
        match self.reach(address, width) {
            Ok(Reached::Register { socket, place, byte, .. }) => {
                let (_, unit, instance) = self.wiring.locate(place.block);
                let register = self.bank.layout(place.block).register(place.slot);
                Some((socket, Target { unit: unit as u16, instance, register }, byte))
            }
            _ => None,
        }
    }

    /// The counters.
    pub const fn bank(&self) -> &Bank {
        &self.bank
    }

    /// The counters.
    pub const fn bank_mut(&mut self) -> &mut Bank {
        &mut self.bank
    }

    /// Ticks of a cycle of a clock domain; `None` if no unit runs with it.
    pub fn clock_period(&self, clock: &str) -> Option<Tick> {
        let mut instances = 0..self.wiring.instances();
        let of = |number: u16| self.shape.family.units[self.wiring.locate(number).1].clock;
        instances.find(|&number| of(number) == clock).map(|number| self.bank.sound_period(number))
    }

    /// The least number of ticks that is a whole number of cycles of every unit's clock.
    pub fn clock_grid(&self) -> Tick {
        (0..self.wiring.instances()).fold(1, |grid, number| common_multiple(grid, self.bank.period(number)))
    }

    /// Powers a unit down or up. Its clock stands while it is down: free-running counters pause (Emerald Rapids 2.3.2,
    /// 2.4.2), and so do the others.
    ///
    /// # Errors
    /// [`WiringError`] if the machine has no such block.
    pub fn set_power(&mut self, block: &Block, powered: bool) -> Result<(), WiringError> {
        let number = block.number(&self.wiring)?;
        self.bank.update_hold(number, self.now, |hold| hold.powered_down = !powered);
        Ok(())
    }

    /// The core of each socket that Emerald Rapids interrupts when a counter freezes the socket; no document has the
    /// field that selects it.
    pub fn set_interrupted_core(&mut self, core: u8) {
        self.bank.set_interrupted_core(core);
    }

    /// The interrupts that the PMON hardware has asked for since the last call.
    pub fn take_interrupts(&mut self) -> Vec<Interrupt> {
        self.bank.take_interrupts()
    }
}

/// Whether a block is there as its machine is built.
fn presence(shape: &Shape, wiring: &Wiring, number: u16) -> Presence {
    let (_, unit, instance) = wiring.locate(number);
    if shape.has(shape.family.units[unit], instance) { Presence::Present } else { Presence::Hidden }
}

impl Chassis {
    #[cold]
    fn pulse_late(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        self.carry_out(tick);
        self.bank.pulse(wire, tag, tick, count);
    }

    #[cold]
    fn enter_late(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.carry_out(tick);
        self.bank.enter(wire, tag, tick);
    }

    #[cold]
    fn leave_late(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.carry_out(tick);
        self.bank.leave(wire, tag, tick);
    }
}

/// Most of what the model says, nobody hears: that way has few instructions and saves no registers, since whatever is
/// more is called last.
impl SignalSink for Chassis {
    fn occupancy(&mut self, wire: Wire, entries: &[(u64, u32)], tick: Tick) {
        self.bank.occupancy(wire, entries, tick);
    }

    #[inline]
    fn observes(&self, wire: Wire) -> bool {
        // A write that is still to take effect may make a counter listen.
        self.next_due != Tick::MAX || self.bank.observes(wire)
    }

    #[inline]
    fn observes_any(&self, instance: u16) -> bool {
        self.next_due != Tick::MAX || self.bank.observes_any(instance)
    }

    #[inline]
    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        if tick >= self.next_due {
            return self.pulse_late(wire, tag, tick, count);
        }
        self.bank.pulse(wire, tag, tick, count);
    }

    #[inline]
    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick) {
        if tick >= self.next_due {
            return self.enter_late(wire, tag, tick);
        }
        self.bank.enter(wire, tag, tick);
    }

    #[inline]
    fn leave(&mut self, wire: Wire, tag: u64, tick: Tick) {
        if tick >= self.next_due {
            return self.leave_late(wire, tag, tick);
        }
        self.bank.leave(wire, tag, tick);
    }
}
