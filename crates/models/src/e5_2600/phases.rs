//! Phases of a scenario: what begins and ends with them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use pericore_engine::{NEVER, Tick};
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::agent::Outgoing;
use crate::e5_2600::cores::{Thread, ThreadKind};
use crate::e5_2600::device::{NO_DEVICE, TRY_AGAIN};
use crate::e5_2600::event::Event;
use crate::e5_2600::latency::CorePace;
use crate::e5_2600::power::Sensed;
use pericore_facts::e5_2600::RingKind;
use pericore_parts::core::ThreadState;
use pericore_parts::translation::Translation;
use pericore_workload::{Conditions, CoreSleep, Generator, Kind, MessageKind, Placement, Workload};

/// Microseconds without work for which C3 and C6 are worth their exit: target residencies of Linux's `intel_idle`,
/// Sandy Bridge. Shorter ones are C1's, in which the power unit counts a core as in C0.
const WORTH_C3: u64 = 211;
const WORTH_C6: u64 = 345;

impl Model {
    /// The first phase begins, at tick 0.
    pub(in crate::e5_2600) fn start_phases<R: E5Reader>(&mut self, reader: &mut R) {
        for unit in &mut self.power {
            unit.start(reader);
        }
        self.begin_phase(reader);
    }

    fn begin_phase<R: E5Reader>(&mut self, reader: &mut R) {
        let Some((workload, conditions)) = self.work.course.begin(self.now) else {
            // Its messages belong to their phase: with more of them, nothing would come to rest.
            for socket in 0..self.agents.len() {
                self.agents[socket].begin(&[], self.now);
                self.schedule_units(socket as u16);
            }
            return;
        };
        if self.work.course.goes_on() {
            let left = Arc::new(AtomicU64::new(workload.map_or(0, |workload| workload.requests)));
            for thread in &mut self.threads {
                thread.generator.go_on(&left);
                thread.state = ThreadState::Running;
            }
        } else {
            self.assignment = self.assignment.on(workload.as_ref().and_then(Workload::socket_of_threads));
            self.threads = workload.as_ref().map_or_else(Vec::new, |workload| self.make_threads(workload));
            self.translation =
                workload.as_ref().map_or_else(Translation::off, |workload| self.translation_for(workload));
            if workload.is_some_and(|workload| workload.warm) {
                self.warm();
            }
        }
        self.apply_conditions(&conditions, reader);
        for thread in 0..self.threads.len() as u16 {
            let state = &self.threads[usize::from(thread)];
            let (socket, core) = self.socket_and_core(state.core.into());
            // Devices wait for no core.
            let on_core = state.kind != ThreadKind::Device;
            let awake = if on_core { self.power[usize::from(socket)].awake_at(core) } else { 0 };
            let from = awake.max(self.now);
            self.threads[usize::from(thread)].ready = from;
            self.wheel.schedule(from, Event::Issue.of(thread));
        }
        if !self.work.course.is_last_and_open() {
            self.look_later();
        }
    }

    /// A socket's number, and a core's within it.
    fn socket_and_core(&self, core: u16) -> (u16, u8) {
        (self.map.socket(core).into(), self.map.within(core))
    }

    fn apply_conditions<R: E5Reader>(&mut self, conditions: &Conditions, reader: &mut R) {
        let mut power = conditions.clone();
        if power.sleep == CoreSleep::Unset {
            power.sleep = self.sleep_for(self.work.course.length(self.now));
        }
        let mut busy = vec![0_u8; self.power.len()];
        for thread in self.threads.iter().filter(|thread| thread.kind != ThreadKind::Device) {
            let (socket, core) = self.socket_and_core(thread.core.into());
            busy[usize::from(socket)] |= 1 << core;
        }
        self.system = conditions.system;
        for (socket, busy) in busy.into_iter().enumerate() {
            let sensed = self.sensed(socket as u16);
            // With the same threads, nothing changes for the cores.
            if self.work.course.goes_on() {
                self.power[socket].watch(sensed, self.now);
            } else {
                self.power[socket].begin(&power, busy, sensed, self.now, reader);
                self.set_pace(socket);
            }
            self.agents[socket].begin(&conditions.errands, self.now);
            self.schedule_units(socket as u16);
        }
        self.links.error_every = conditions.links.error_every;
        (self.phase.memory, self.phase.links) = (conditions.memory, conditions.links);
        self.phase.in_force = None;
        self.follow_power();
    }

    /// The C-state that the operating system asks for on cores without work that it expects to stay so for some ticks.
    const fn sleep_for(&self, length: Tick) -> CoreSleep {
        match length.saturating_mul(1_000_000) / self.clocks.ticks_per_second {
            WORTH_C6.. => CoreSleep::C6,
            WORTH_C3.. => CoreSleep::C3,
            _ => CoreSleep::Awake,
        }
    }

    /// What a socket's sensors measure.
    fn sensed(&self, socket: u16) -> Sensed {
        let (mut busy, mut devices, mut works) = (0_u16, false, false);
        for thread in &self.threads {
            let (of, core) = self.socket_and_core(thread.core.into());
            let at_work = thread.state != ThreadState::Finished || thread.outstanding > 0;
            works |= at_work;
            match thread.kind {
                ThreadKind::Device => devices |= at_work && of == socket,
                ThreadKind::Cached | ThreadKind::Streaming => busy |= u16::from(at_work && of == socket) << core,
            }
        }
        let index = usize::from(socket);
        let (carried, requested) = (self.lines_moved[index], self.remote_requests[index]);
        Sensed { carried, requested, busy: busy.count_ones() as u16, devices, works }
    }

    /// The cores of a socket go on at the frequency that it runs at now.
    fn set_pace(&mut self, socket: usize) {
        self.latency.paces[socket] = CorePace::new(&self.parameters, self.latency.uclk, self.power[socket].ratio());
    }

    /// Sets the next events of a socket's power unit and system agent.
    fn schedule_units(&mut self, socket: u16) {
        let index = usize::from(socket);
        for (event, at) in
            [(Event::Power, self.power[index].next_tick()), (Event::Agent, self.agents[index].next_tick())]
        {
            if at != Tick::MAX {
                self.wheel.schedule(at.max(self.now + 1), event.of(socket));
            }
        }
    }

    /// The power unit's next change is due, unless the event is stale.
    pub(in crate::e5_2600) fn step_power<R: E5Reader>(&mut self, socket: u16, reader: &mut R) {
        let index = usize::from(socket);
        if self.power[index].next_tick() <= self.now {
            let sensed = self.sensed(socket);
            // A core that becomes hot is an event for cores.
            if self.power[index].step(sensed, self.now, reader) {
                self.send_to_agent(socket, MessageKind::Other);
            }
            self.set_pace(index);
            self.follow_power();
            let next = self.power[index].next_tick();
            if next != Tick::MAX {
                self.wheel.schedule(next.max(self.now + 1), Event::Power.of(socket));
            }
        }
    }

    /// The system agent's next message is due, unless the event is stale.
    pub(in crate::e5_2600) fn step_agent<R: E5Reader>(&mut self, socket: u16, reader: &mut R) {
        let index = usize::from(socket);
        if self.agents[index].next_tick() <= self.now {
            if !self.devices[index].takes_more() {
                self.wheel.schedule(self.now + TRY_AGAIN * self.latency.uclk, Event::Agent.of(socket));
                return;
            }
            let outgoing = self.agents[index].step(self.now, reader);
            // The cores take turns.
            let turn = self.agents[index].turn();
            match outgoing {
                Some(Outgoing::Device(class)) => {
                    let from = self.assignment.in_turn(turn.into()) as u8;
                    self.travel(socket as u8, RingKind::Block, from, self.rings.io(), reader);
                    self.device_packet(index, class, NO_DEVICE, reader);
                }
                Some(Outgoing::Far(kind)) => self.far_begins(socket as u8, kind, turn, reader),
                None => {}
            }
            let next = self.agents[index].next_tick();
            if next != Tick::MAX {
                self.wheel.schedule(next.max(self.now + 1), Event::Agent.of(socket));
            }
        }
    }

    fn look_later(&mut self) {
        self.wheel.schedule(self.work.course.next_look(self.now, self.threads.is_empty()), Event::Phase.of(0));
    }

    /// Looks whether the phase is over, and begins the next.
    pub(in crate::e5_2600) fn step_phase<R: E5Reader>(&mut self, reader: &mut R) {
        if self.work.course.expires(self.now) {
            let left = self.threads.iter_mut().map(|thread| thread.generator.stop()).sum::<u64>();
            self.work.forgo(left);
        }
        let finished = |thread: &Thread| thread.state == ThreadState::Finished && thread.outstanding == 0;
        let at_rest = self.threads.iter().all(finished) && self.pool.is_empty();
        if !self.work.course.ends(self.threads.is_empty(), at_rest) {
            if !self.work.course.is_parked() {
                self.look_later();
            }
            return;
        }
        if !self.work.course.goes_on() {
            self.threads.clear();
        }
        self.begin_phase(reader);
    }

    /// The hardware threads of a workload, ready to run.
    pub(in crate::e5_2600) fn make_threads(&self, workload: &Workload) -> Vec<Thread> {
        let (sockets, node) = (self.parameters.sockets, self.parameters.node());
        let kind = match workload.kind {
            Kind::NtStore => ThreadKind::Streaming,
            Kind::DmaRead | Kind::DmaWrite => ThreadKind::Device,
            _ => ThreadKind::Cached,
        };
        let thread = |number: u16| {
            // A device belongs to its core's socket.
            let core = match workload.socket.filter(|_| kind == ThreadKind::Device) {
                Some(socket) => self.map.first_stop(socket) + self.assignment.in_turn(number),
                None => self.assignment.core(number),
            };
            Thread {
                generator: Generator::new(workload, number),
                placement: Placement::new(workload, number, self.map.socket(core), sockets, node),
                core: core as u8,
                tid: self.map.within(core) * 2 + self.assignment.place(number) as u8,
                ready: 0,
                delayed_since: NEVER,
                held: None,
                state: ThreadState::Running,
                kind,
                isochronous: number * 100 < u16::from(workload.isochronous) * workload.threads,
                outstanding: 0,
                accesses: 0,
            }
        };
        (0..workload.threads).map(thread).collect()
    }
}
