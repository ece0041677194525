//! The power control unit: frequencies and who bounds them, C-states of cores and package, the regulators' states.
//!
//! Most of what counts here is a fact about a package that holds or does not. The facts follow from the state: after every change of it
//! those that differ are told. Cores run at the frequency that is decided; the mesh keeps its own. What heats the package is what its
//! cores, mesh and memory do, and heat lowers the frequency and holds memory back.

mod bounds;
mod package;

use package::Package;
use pericore_engine::Tick;

use super::Model;
use super::Parameters;
use super::event::Event;
use super::times::CoreTimes;
use pericore_facts::emerald_rapids::{CState, Fact, PackageCondition, Readers};
use pericore_parts::heat::{AIR, HeatLoad, LOOK};
use pericore_workload::{Conditions, CoreSleep};

/// Microseconds that a package without running cores stays in C2E before it goes on to C6 (assumption).
const BEFORE_DEEP: Tick = 5;
/// Microseconds of a change of frequency (assumption: the usual order of clocks that lock anew).
const CHANGE: Tick = 10;
/// Microseconds of a core's way into a state of sleep or out of it (assumption).
const CORE_CHANGE: Tick = 10;
/// Microseconds that a core woken by its timer works, and between wake-ups below which it is sent to a lighter state than it asks for
/// (assumptions).
const TIMER_WORK: Tick = 2;
const TOO_SOON: Tick = 100;
/// Microseconds after a device's last request for which the frequency stays above what devices need (assumption).
const DEVICES_NEED: Tick = 10;
/// Microseconds of a package's way into C2E or C6, or back (assumption).
const CHANGE_OF_PACKAGE: Tick = 1;

/// The power units of all sockets.
#[derive(Debug)]
pub struct Power {
    packages: Vec<Package>,
    /// Least and highest frequency, and between them the one that cores run at if nobody says otherwise, in 100 MHz.
    ratios: [u8; 3],
    microsecond: Tick,
}

impl Power {
    /// Sockets on which no core runs.
    pub fn new(sockets: u8, parameters: &Parameters, microsecond: Tick) -> Self {
        let [least, _, highest] = parameters.phases.ratios;
        let ratios = [least, (parameters.core_mhz / 100) as u8, highest];
        let package = |_| Package::new(ratios, DEVICES_NEED * microsecond, CHANGE_OF_PACKAGE * microsecond);
        Self { packages: (0..sockets).map(package).collect(), ratios, microsecond }
    }

    /// The frequency of a socket's cores, from the first tick of a phase on, though the clocks lock anew meanwhile;
    /// `own` is the one that they run at if nobody says otherwise.
    fn mhz(&self, socket: u16, own: u64) -> u64 {
        let ratio = self.packages[usize::from(socket)].decision.ratio;
        if ratio == self.ratios[1] { own } else { u64::from(ratio) * 100 }
    }

    /// Emits what holds from the start, with so many running cores on each socket.
    pub fn start<R: Readers>(&mut self, active: Vec<u16>, cores: u16, reader: &mut R) {
        for (socket, active) in (0..).zip(active) {
            let package = &mut self.packages[usize::from(socket)];
            (package.active, package.deep) = (active, cores - active);
            (0..active).for_each(|_| reader.read(0, Fact::Core(socket, None, CState::Runs, false)));
            (active..cores).for_each(|_| reader.read(0, Fact::Core(socket, None, CState::Deep, false)));
            // What it is in, it has been in before.
            package.follow(0);
            package.settles_at = 0;
            self.tell(socket, 0, reader);
        }
    }

    /// Tells the facts that have changed.
    fn tell<R: Readers>(&mut self, socket: u16, now: Tick, reader: &mut R) {
        let package = &mut self.packages[usize::from(socket)];
        package.follow(now);
        let facts = package.facts(now);
        let before = std::mem::replace(&mut package.reported, facts);
        for &condition in PackageCondition::ALL {
            let held = |facts: u32| facts >> condition as u32 & 1 == 1;
            if held(before) != held(facts) {
                reader.read(now, Fact::Package(socket, condition, held(facts)));
            }
        }
    }

    /// A core has something to do again.
    pub fn core_wakes<R: Readers>(&mut self, socket: u16, now: Tick, reader: &mut R) {
        let package = &mut self.packages[usize::from(socket)];
        if package.light + package.deep == 0 {
            // Its timer has woken it, and it does not sleep again.
            package.sleep_at.pop_front();
            return;
        }
        package.active += 1;
        let (sleepers, state) =
            if package.deep > 0 { (&mut package.deep, CState::Deep) } else { (&mut package.light, CState::Light) };
        *sleepers -= 1;
        reader.read(now, Fact::Core(socket, Some(state), CState::Runs, false));
        self.core_changes(socket, now, reader);
        self.tell(socket, now, reader);
    }

    /// A core is on its way into sleep or out of it. One that turns back on its way goes on changing.
    fn core_changes<R: Readers>(&mut self, socket: u16, now: Tick, reader: &mut R) {
        let package = &mut self.packages[usize::from(socket)];
        if package.cores_changed_at.len() < usize::from(package.active + package.light + package.deep) {
            package.cores_changed_at.push_back(now + CORE_CHANGE * self.microsecond);
            reader.read(now, Fact::CoreChanges(socket, true));
        }
    }

    /// A core has nothing more to do.
    pub fn core_sleeps<R: Readers>(&mut self, socket: u16, now: Tick, reader: &mut R) {
        let package = &mut self.packages[usize::from(socket)];
        package.active -= 1;
        if package.active == 0 {
            package.deep_at = now + BEFORE_DEEP * self.microsecond;
        }
        let demoted = package.demotes && !package.requests_light;
        let (sleepers, state) = if package.requests_light || demoted {
            (&mut package.light, CState::Light)
        } else {
            (&mut package.deep, CState::Deep)
        };
        *sleepers += 1;
        reader.read(now, Fact::Core(socket, Some(CState::Runs), state, demoted));
        self.core_changes(socket, now, reader);
        self.tell(socket, now, reader);
    }

    /// A phase begins.
    fn begin<R: Readers>(&mut self, socket: u16, conditions: &Conditions, now: Tick, reader: &mut R) {
        let microsecond = self.microsecond;
        let package = &mut self.packages[usize::from(socket)];
        let cores = Tick::from(package.active + package.light + package.deep);
        let air = conditions.air.unwrap_or(AIR);
        package.heat.move_air(i32::from(air) - i32::from(package.air));
        (package.bounds, package.air) = (conditions.frequency, air);
        package.requests_light = conditions.sleep == CoreSleep::C3;
        let wake = conditions.wake.map(|nanoseconds| nanoseconds * microsecond / 1000);
        package.demotes = wake.is_some_and(|every| every < TOO_SOON * microsecond);
        // The cores' timers are spread evenly.
        package.wakes_every = wake.map_or(0, |every| (every / cores).max(1));
        package.next_wake = if wake.is_some() { now + package.wakes_every } else { Tick::MAX };
        self.look_again(socket, now);
        self.decide(socket, now, reader);
    }

    /// Decides anew how fast cores run.
    fn decide<R: Readers>(&mut self, socket: u16, now: Tick, reader: &mut R) {
        let package = &mut self.packages[usize::from(socket)];
        let decision = package.decide(self.ratios);
        if decision.ratio != package.decision.ratio {
            package.changed_at = now + CHANGE * self.microsecond;
        }
        package.decision = decision;
        self.tell(socket, now, reader);
    }

    /// Looks at the sensors again, since something that heats the package has changed.
    fn look_again(&mut self, socket: u16, now: Tick) {
        let package = &mut self.packages[usize::from(socket)];
        package.look_at = package.look_at.min(now + LOOK * self.microsecond);
    }

    /// A core of a die, the power unit's own (0) or another, begins or ends to work.
    fn works(&mut self, socket: u16, die: usize, begins: bool, now: Tick) {
        let busy = &mut self.packages[usize::from(socket)].busy[die];
        *busy = if begins { *busy + 1 } else { *busy - 1 };
        self.look_again(socket, now);
    }

    /// Looks at the sensors if that is due; `carried` is what the mesh and memory have carried so far.
    fn look(&mut self, socket: u16, carried: [u64; 2], now: Tick) {
        let (ratios, interval) = (self.ratios, LOOK * self.microsecond);
        let package = &mut self.packages[usize::from(socket)];
        if now < package.look_at {
            return;
        }
        let [messages, lines] = [0, 1].map(|which| carried[which] - package.carried[which]);
        package.carried = carried;
        let load = HeatLoad { messages, lines, ..package.load(package.decision.ratio, ratios) };
        let wanted = bounds::requested(&package.bounds, ratios[1]).min(ratios[2]);
        let rests = package.heat.look(&load, wanted, ratios[0]) && messages == 0 && package.busy == [0; 2];
        package.look_at = if rests { Tick::MAX } else { now + interval };
    }

    /// Devices of a socket ask for something. True if they did not before.
    fn devices_request(&mut self, socket: u16, now: Tick) -> bool {
        let package = &mut self.packages[usize::from(socket)];
        package.devices_requested = now;
        !std::mem::replace(&mut package.devices_work, true)
    }

    /// Makes the changes that are due.
    fn step<R: Readers>(&mut self, socket: u16, now: Tick, reader: &mut R) {
        let work = TIMER_WORK * self.microsecond;
        loop {
            let package = &mut self.packages[usize::from(socket)];
            if package.next_wake <= now {
                package.next_wake += package.wakes_every;
                if package.light + package.deep > 0 {
                    package.sleep_at.push_back(now + work);
                    self.core_wakes(socket, now, reader);
                }
            } else if package.sleep_at.front().is_some_and(|&at| at <= now) {
                package.sleep_at.pop_front();
                self.core_sleeps(socket, now, reader);
            } else if package.cores_changed_at.front().is_some_and(|&at| at <= now) {
                package.cores_changed_at.pop_front();
                reader.read(now, Fact::CoreChanges(socket, false));
            } else {
                break;
            }
        }
        let package = &mut self.packages[usize::from(socket)];
        package.devices_work &= now < package.devices_requested + package.devices_need;
        self.decide(socket, now, reader);
    }
}

impl Model {
    /// The power units learn what holds in a phase.
    pub(super) fn begin_power<R: Readers>(&mut self, conditions: &Conditions, reader: &mut R) {
        for socket in 0..u16::from(self.sockets) {
            self.power.packages[usize::from(socket)].vectors = self.vectors;
            self.power.begin(socket, conditions, self.now, reader);
            self.package_changes(socket);
        }
    }

    /// Cores run as the power unit has decided, and memory does what it asks for.
    fn package_changes(&mut self, socket: u16) {
        self.watch_package(socket);
        let mhz = self.power.mhz(socket, self.parameters.core_mhz);
        if mhz != self.times.mhz[usize::from(socket)] {
            let pace = CoreTimes::new(&self.parameters, self.clocks.ticks_per_second, mhz);
            (self.times.mhz[usize::from(socket)], self.times.paces[usize::from(socket)]) = (mhz, pace);
        }
        let rests = self.power.packages.iter().all(Package::is_deep);
        for socket in 0..u16::from(self.sockets) {
            let memory = self.power.packages[usize::from(socket)].memory(&self.memory, rests);
            self.set_memory(socket, memory);
        }
    }

    /// A core, numbered over the machine, begins or ends to work.
    pub(super) fn core_works(&mut self, core: u16, begins: bool) {
        let socket = u16::from(self.socket_of(core));
        let tile = self.core_tile(core);
        let is_other = self.places.is_of_other_die(tile);
        self.power.works(socket, usize::from(is_other), begins, self.now);
        self.watch_package(socket);
    }

    /// A device of a socket asks for something: the frequency stays above what devices need.
    pub(super) fn devices_request<R: Readers>(&mut self, socket: u8, reader: &mut R) {
        let socket = u16::from(socket);
        if self.power.devices_request(socket, self.now) {
            self.power.decide(socket, self.now, reader);
            self.package_changes(socket);
        }
    }

    /// A core has nothing more to do.
    pub(super) fn core_sleeps<R: Readers>(&mut self, socket: u16, reader: &mut R) {
        self.power.core_sleeps(socket, self.now, reader);
        self.watch_package(socket);
    }

    /// A power unit's next change may be due.
    pub(super) fn step_power<R: Readers>(&mut self, socket: u16, reader: &mut R) {
        let carried = [self.mesh.carried(socket), self.lines_moved[usize::from(socket)]];
        self.power.look(socket, carried, self.now);
        self.power.step(socket, self.now, reader);
        self.package_changes(socket);
    }

    fn watch_package(&mut self, socket: u16) {
        let package = &mut self.power.packages[usize::from(socket)];
        let next = package.next_tick(self.now);
        // One look ahead is enough; an earlier change goes before it.
        if next != Tick::MAX && (package.watched <= self.now || next < package.watched) {
            package.watched = next.max(self.now + self.times.uclk);
            self.wheel.schedule(package.watched, Event::Power.of(socket));
        }
    }
}
