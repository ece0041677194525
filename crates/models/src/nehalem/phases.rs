//! Phases of a scenario: what begins and ends with them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use pericore_engine::NEVER;

use super::device::Device;
use super::event::Event;
use super::parameters::CORES;
use super::{Model, Thread};
use pericore_parts::core::ThreadState;
use pericore_workload::{Generator, Kind, Placement, Workload};

impl Model {
    /// The phase whose turn it is begins.
    pub(super) fn begin_phase(&mut self) {
        let Some((workload, _)) = self.work.course.begin(self.now) else { return };
        if self.work.course.goes_on() {
            self.go_on(workload.map_or(0, |workload| workload.requests));
        } else if let Some(workload) = workload {
            self.set_to_work(&workload);
        }
        if !self.work.course.is_last_and_open() {
            self.look_later();
        }
    }

    /// The hardware threads or devices of a workload begin.
    pub(super) fn set_to_work(&mut self, workload: &Workload) {
        let (sockets, node) = (self.parameters.sockets, self.parameters.node());
        self.assignment = self.assignment.on(workload.socket_of_threads());
        let placement = |number, socket| Placement::new(workload, number, socket, sockets, node);
        let thread = |number: u16| {
            let core = self.assignment.core(number) as u8;
            Thread {
                generator: Generator::new(workload, number),
                placement: placement(number, core / CORES as u8),
                core,
                ready: self.now,
                delayed_since: NEVER,
                held: None,
                state: ThreadState::Running,
            }
        };
        let device = |number: u16| {
            let socket = workload.socket.unwrap_or((number % u16::from(sockets)) as u8);
            // The first so many of the devices.
            let isochronous = number * 100 < u16::from(workload.isochronous) * workload.threads;
            Device::new(Generator::new(workload, number), placement(number, socket), socket, isochronous)
        };
        let (threads, devices) = match workload.kind {
            Kind::Idle => (0, 0),
            Kind::DmaRead | Kind::DmaWrite => (0, workload.threads),
            _ => (workload.threads, 0),
        };
        self.around = workload.kind == Kind::NtStore;
        self.threads = (0..threads).map(thread).collect();
        self.devices = (0..devices).map(device).collect();
        self.translation = self.translation_for(workload);
        if workload.warm {
            self.warm();
        }
        self.wake();
    }

    /// The threads and devices of the phase before make so many more accesses.
    fn go_on(&mut self, requests: u64) {
        let left = Arc::new(AtomicU64::new(requests));
        for thread in &mut self.threads {
            thread.generator.go_on(&left);
            thread.state = ThreadState::Running;
            thread.ready = self.now;
        }
        self.devices.iter_mut().for_each(|device| device.go_on(&left));
        self.wake();
    }

    /// All threads and devices begin.
    fn wake(&mut self) {
        (0..self.threads.len()).for_each(|thread| self.wheel.schedule(self.now, Event::Issue.of(thread as u16)));
        (0..self.devices.len()).for_each(|device| self.wheel.schedule(self.now, Event::Device.of(device as u16)));
    }

    /// Nobody works in this phase.
    const fn pauses(&self) -> bool {
        self.threads.is_empty() && self.devices.is_empty()
    }

    fn look_later(&mut self) {
        self.wheel.schedule(self.work.course.next_look(self.now, self.pauses()), Event::Phase.of(0));
    }

    /// Looks whether the phase is over, and begins the next.
    pub(super) fn step_phase(&mut self) {
        if self.work.course.expires(self.now) {
            let threads = self.threads.iter_mut().map(|thread| thread.generator.stop());
            let left = threads.chain(self.devices.iter_mut().map(Device::stop)).sum::<u64>();
            self.work.forgo(left);
        }
        let finished = self.threads.iter().all(|thread| thread.state == ThreadState::Finished)
            && self.devices.iter().all(Device::is_idle);
        if !self.work.course.ends(self.pauses(), finished && self.requests.is_empty() && self.probes.is_empty()) {
            if !self.work.course.is_parked() {
                self.look_later();
            }
            return;
        }
        if !self.work.course.goes_on() {
            self.threads.clear();
            self.devices.clear();
        }
        self.begin_phase();
    }
}
