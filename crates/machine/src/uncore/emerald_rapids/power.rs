//! The power control unit: frequencies and who bounds them, C-states of cores and package, the regulators' states.
//!
//! Most of what counts here is a fact about a package that holds or does not. The facts follow from the state: after every change of it
//! those that differ are told. Cores run at the frequency that is decided; the mesh keeps its own.

mod bounds;

use std::collections::VecDeque;

use bounds::Decision;
use pericore_engine::Tick;

use super::Model;
use super::Parameters;
use super::event::Event;
use super::times::CoreTimes;
use pericore_facts::emerald_rapids::{CState, Fact, PackageCondition, Readers};
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

/// A package.
#[derive(Debug)]
struct Package {
    active: u16,
    light: u16,
    deep: u16,
    decision: Decision,
    /// Facts that have been told, a bit each.
    told: u32,
    /// When it goes on into the deep state, and when its frequency has changed.
    deep_at: Tick,
    changed_at: Tick,
    /// Cores that sleep are woken one by one, at this interval.
    wakes_every: Tick,
    next_wake: Tick,
    /// When cores that were woken sleep again.
    sleep_at: VecDeque<Tick>,
    /// When those that change their states have changed.
    cores_changed_at: VecDeque<Tick>,
    /// State that cores ask for, and whether they are sent to a lighter one.
    asks_light: bool,
    demotes: bool,
    /// The tick of the look at it that counts.
    watched: Tick,
}

/// The power units of all sockets.
#[derive(Debug)]
pub struct Power {
    packages: Vec<Package>,
    /// Least and highest frequency, and between them the one that cores run at if nobody says otherwise, in 100 MHz.
    ratios: [u8; 3],
    microsecond: Tick,
}

impl Package {
    fn facts(&self, now: Tick) -> u32 {
        let mut facts = self.decision.facts();
        let mut holds = |fact: PackageCondition, on: bool| facts |= u32::from(on) << fact as u32;
        let (runs, deep) = (self.active > 0, self.active == 0 && now >= self.deep_at);
        // From three quarters of its cores on (assumption) power limits the frequency, from half of them on (assumption) the regulators
        // work with all their phases.
        let cores = self.active + self.light + self.deep;
        let full_load = runs && 2 * self.active >= cores;
        if runs && 4 * self.active >= 3 * cores && !self.decision.is_bounded() {
            holds(PackageCondition::PowerLimit, true);
        }
        holds(PackageCondition::Changes, now < self.changed_at);
        holds(PackageCondition::PackageRuns, runs);
        holds(PackageCondition::PackageLight, !runs && !deep);
        holds(PackageCondition::PackageDeep, deep);
        holds(PackageCondition::MemorySheds, deep);
        holds(PackageCondition::RegulatorFull, full_load);
        holds(PackageCondition::RegulatorPart, runs && !full_load);
        holds(PackageCondition::RegulatorLight, !runs && !deep);
        holds(PackageCondition::RegulatorDeep, deep);
        facts
    }

    fn next_tick(&self, now: Tick) -> Tick {
        let deep = if self.active == 0 && now < self.deep_at { self.deep_at } else { Tick::MAX };
        let changed = if now < self.changed_at { self.changed_at } else { Tick::MAX };
        let sleeps = self.sleep_at.front().copied().unwrap_or(Tick::MAX);
        let core_changed = self.cores_changed_at.front().copied().unwrap_or(Tick::MAX);
        self.next_wake.min(deep).min(changed).min(sleeps).min(core_changed)
    }
}

impl Power {
    /// Sockets on which no core runs.
    pub fn new(sockets: u8, parameters: &Parameters, microsecond: Tick) -> Self {
        let [least, _, highest] = parameters.phases.ratios;
        let ratios = [least, (parameters.core_mhz / 100) as u8, highest];
        let package = |_| Package {
            active: 0,
            light: 0,
            deep: 0,
            decision: Decision::of(&Default::default(), ratios),
            told: 0,
            deep_at: 0,
            changed_at: 0,
            wakes_every: 0,
            next_wake: Tick::MAX,
            sleep_at: VecDeque::new(),
            cores_changed_at: VecDeque::new(),
            asks_light: false,
            demotes: false,
            watched: 0,
        };
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
            self.tell(socket, 0, reader);
        }
    }

    /// Tells the facts that have changed.
    fn tell<R: Readers>(&mut self, socket: u16, now: Tick, reader: &mut R) {
        let package = &mut self.packages[usize::from(socket)];
        let facts = package.facts(now);
        let before = std::mem::replace(&mut package.told, facts);
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
        let demoted = package.demotes && !package.asks_light;
        let (sleepers, state) = if package.asks_light || demoted {
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
        let decision = Decision::of(&conditions.frequency, self.ratios);
        if decision.ratio != package.decision.ratio {
            package.changed_at = now + CHANGE * microsecond;
        }
        package.decision = decision;
        package.asks_light = conditions.sleep == CoreSleep::C3;
        let wake = conditions.wake.map(|nanoseconds| nanoseconds * microsecond / 1000);
        package.demotes = wake.is_some_and(|every| every < TOO_SOON * microsecond);
        // The cores' timers are spread evenly.
        package.wakes_every = wake.map_or(0, |every| (every / cores).max(1));
        package.next_wake = if wake.is_some() { now + package.wakes_every } else { Tick::MAX };
        self.tell(socket, now, reader);
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
        self.tell(socket, now, reader);
    }
}

impl Model {
    /// The power units learn what holds in a phase.
    pub(super) fn begin_power<R: Readers>(&mut self, conditions: &Conditions, reader: &mut R) {
        for socket in 0..u16::from(self.sockets) {
            self.power.begin(socket, conditions, self.now, reader);
            self.watch_package(socket);
            let mhz = self.power.mhz(socket, self.parameters.core_mhz);
            let pace = CoreTimes::new(&self.parameters, self.clocks.ticks_per_second, mhz);
            self.times.paces[usize::from(socket)] = pace;
        }
    }

    /// A core has nothing more to do.
    pub(super) fn core_sleeps<R: Readers>(&mut self, socket: u16, reader: &mut R) {
        self.power.core_sleeps(socket, self.now, reader);
        self.watch_package(socket);
    }

    /// A power unit's next change may be due.
    pub(super) fn step_power<R: Readers>(&mut self, socket: u16, reader: &mut R) {
        self.power.step(socket, self.now, reader);
        self.watch_package(socket);
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
