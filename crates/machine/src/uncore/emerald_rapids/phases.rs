//! Phases of a scenario: what begins and ends with them.

use pericore_engine::NEVER;
use pericore_facts::emerald_rapids::Readers;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::address::SUBCHANNELS;
use super::core::{Thread, ThreadState};
use super::event::Event;
use super::{Model, Stores};
use pericore_parts::channel_conditions::channel_conditions;
use pericore_workload::{Conditions, Generator, Kind, LinkConditions, MemoryConditions, Workload};

impl Model {
    /// The phase whose turn it is begins.
    pub(super) fn begin_phase<R: Readers>(&mut self, reader: &mut R) {
        let Some((workload, conditions)) = self.work.course.begin(self.now) else {
            self.vectors = 0;
            self.begin_memory(&MemoryConditions::default());
            self.begin_power(&Conditions::default(), reader);
            self.begin_errands(&[]);
            self.links.begin(LinkConditions::default());
            self.system = false;
            return;
        };
        self.vectors = workload.as_ref().map_or(0, |workload| workload.vectors);
        if let Some(workload) = workload.filter(|workload| workload.kind != Kind::Idle) {
            if self.work.course.goes_on() {
                self.go_on(&workload);
            } else {
                self.set_to_work(&workload);
                self.announce_devices(true, reader);
            }
        }
        self.wake_cores(reader);
        self.begin_memory(&conditions.memory);
        self.begin_power(&conditions, reader);
        self.begin_errands(&conditions.errands);
        self.links.begin(conditions.links);
        self.system = conditions.system;
        if !self.work.course.is_last_and_open() {
            self.look_later();
        }
    }

    /// The hardware threads or devices of a workload begin.
    pub(super) fn set_to_work(&mut self, workload: &Workload) {
        let (all, active) = (u16::from(self.sockets), u16::from(self.parameters.active_cores));
        // Threads go round the sockets, unless the workload is one of a socket's devices.
        let (first, around) = workload.socket.map_or((0, all), |socket| (u16::from(socket), 1));
        let first_core = workload.cpu % active;
        let thread = |number: u16| Thread {
            generator: Generator::new(workload, number),
            core: self.core_number((first + number % around) as u8, ((number / around + first_core) % active) as u8),
            ready: self.now,
            delayed_since: NEVER,
            held: None,
            coming: None,
            state: ThreadState::Running,
            accesses: 0,
            isochronous: number * 100 < u16::from(workload.isochronous) * workload.threads,
            last_line: u32::MAX,
            last_miss: [u32::MAX / 2; 2],
        };
        self.threads = (0..workload.threads).map(thread).collect();
        self.translation = self.translation_for(workload);
        self.remote = workload.remote;
        self.expander = workload.expander;
        self.stores = match workload.kind {
            Kind::Copy => Stores::Whole,
            Kind::NtStore => Stores::Streaming,
            _ => Stores::Plain,
        };
        self.first_core = first_core;
        self.devices_only = workload.kind.is_of_devices();
        (self.first_socket, self.around, self.named_memory) = (first as u8, around, workload.memory);
        self.stores_apart = workload.kind == Kind::Loaded;
        if workload.warm {
            self.warmed_by = Some(workload.clone());
            self.warm();
        }
        self.wake_threads(workload);
    }

    /// The threads of the phase before make more accesses.
    fn go_on(&mut self, workload: &Workload) {
        let left = Arc::new(AtomicU64::new(workload.requests));
        for thread in &mut self.threads {
            thread.generator.go_on(&left);
            (thread.state, thread.ready) = (ThreadState::Running, self.now);
        }
        self.wake_threads(workload);
    }

    /// All threads or devices begin.
    fn wake_threads(&mut self, workload: &Workload) {
        self.goal = self.work.done + workload.requests;
        let starts = if self.devices_only { Event::Device } else { Event::Issue };
        (0..workload.threads).for_each(|thread| self.wheel.schedule(self.now, starts.of(thread)));
        // A mixed workload is that of a server, with devices at work.
        if workload.kind == Kind::Mixed {
            self.at_work = u16::from(self.sockets) * self.places.stacks();
            let first = self.now + self.times.uclk;
            (0..self.at_work).for_each(|stack| self.wheel.schedule(first, Event::Device.of(stack)));
        }
    }

    /// What a phase asks of memory; power units have their say as they see it.
    fn begin_memory(&mut self, memory: &MemoryConditions) {
        self.memory = *memory;
    }

    /// Settings of a socket's memory channels hold from the next cycle on.
    pub(super) fn set_memory(&mut self, socket: u16, memory: MemoryConditions) {
        if std::mem::replace(&mut self.memory_set[usize::from(socket)], memory) == memory {
            return;
        }
        let clock = self.clocks.dclk;
        let idle = memory.self_refresh.map(|idle| self.work.course.ticks(idle) / clock.ticks());
        let (settings, cycle) = (channel_conditions(&memory, idle), clock.cycles(self.now) + 1);
        let first = usize::from(socket) * SUBCHANNELS as usize;
        for (index, subchannel) in self.subchannels.iter_mut().enumerate().skip(first).take(SUBCHANNELS as usize) {
            subchannel.set_conditions(settings, cycle);
            self.channel_next.set(index, subchannel.next_tick());
        }
    }

    /// Cores with threads run from now on.
    fn wake_cores<R: Readers>(&mut self, reader: &mut R) {
        let mut woken = vec![0; usize::from(self.sockets)];
        for index in 0..if self.devices_only { 0 } else { self.threads.len() } {
            let number = self.threads[index].core;
            let core = &mut self.cores[usize::from(number)];
            core.running += 1;
            if core.running == 1 {
                woken[usize::from(self.socket_of(number))] += 1;
                self.core_works(number, true);
            }
        }
        if self.now == 0 {
            self.power.start(woken, self.parameters.active_cores.into(), reader);
            return;
        }
        for (socket, cores) in (0..).zip(woken) {
            (0..cores).for_each(|_| self.power.core_wakes(socket, self.now, reader));
        }
    }

    fn look_later(&mut self) {
        self.wheel.schedule(self.work.course.next_look(self.now, self.threads.is_empty()), Event::Phase.of(0));
    }

    /// Looks whether the phase is over, and begins the next.
    pub(super) fn step_phase<R: Readers>(&mut self, reader: &mut R) {
        if self.work.course.expires(self.now) {
            let left = self.threads.iter_mut().map(Thread::stop).sum::<u64>();
            self.work.forgo(left);
            self.goal -= left;
        }
        let finished = self.threads.iter().all(|thread| thread.state == ThreadState::Finished);
        let at_rest = finished && self.at_work == 0 && self.pool.is_empty() && self.peers.is_workload_done();
        if !self.work.course.ends(self.threads.is_empty(), at_rest) {
            if !self.work.course.is_parked() {
                self.look_later();
            }
            return;
        }
        if !self.work.course.goes_on() {
            self.announce_devices(false, reader);
            self.threads.clear();
        }
        self.begin_phase(reader);
    }
}
