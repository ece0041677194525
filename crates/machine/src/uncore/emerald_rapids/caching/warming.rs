//! Caches, snoop filters and directories filled by function: the lines of a workload move between them as they would,
//! but take no virtual time, and neither signals nor the ledger hear of them.

use std::collections::VecDeque;

use super::super::address;
use super::super::agent::{FILTER_EXCLUSIVE, FILTER_SHARED};
use super::super::core::{EXCLUSIVE, MODIFIED, SHARED};
use super::super::event::Event;
use super::super::remote::{ELSEWHERE, NOWHERE};
use super::super::tags::sizes::L2_BYTES;
use super::super::{Model, Stores};
use pericore_facts::emerald_rapids::Found;
use pericore_parts::program::{ByFunction, Cycles, FoundIn, Program, Want};
use pericore_parts::warming::{Warming, fill};
use pericore_workload::{Access, DeviceAim};

impl Model {
    /// Fills the caches with the lines of the threads that are about to begin; their walks go on from there.
    pub(in super::super) fn warm(&mut self) {
        // Only cores with threads fill their L2.
        let all = u64::from(self.parameters.active_cores) * u64::from(self.sockets);
        let cores = if self.devices_only { 0 } else { (self.threads.len() as u64).min(all) };
        let slices = u64::from(self.parameters.slices) * u64::from(self.sockets);
        let bytes = cores * L2_BYTES + slices * self.parameters.slice_bytes();
        fill(&mut Filling { model: self, leaving: VecDeque::with_capacity(LATER) }, bytes);
    }

    /// A core loads or stores a line that is not in its L2. Returns where the line was, and the one that gives way in
    /// the L2 with its state.
    fn warm_miss(&mut self, core: u16, line: u32, store: bool) -> (FoundIn, Option<(u32, u8)>) {
        let socket = self.socket_of(core);
        let cha = self.map.agent(line);
        let own = self.core_within(core);
        let filter = self.filter(socket, cha);
        let holders = filter.find(line).map(|way| filter.get(way));
        let slice = self.slice(socket, cha);
        let kept = slice.find(line).map(|way| slice.get(way).state);
        let found = if holders.is_some() || kept.is_some() { FoundIn::Cache } else { FoundIn::Memory };
        let foreign = holders.is_some_and(|entry| entry.state == FILTER_SHARED || entry.owner != own);
        let shared = kept.is_some_and(|state| state == Found::Shared as u8 || state == Found::Forward as u8);
        if store || !(foreign || shared) {
            // It gets the line alone.
            let modified = self.warm_take(socket, cha, line);
            self.warm_home(socket, cha, line);
            self.warm_list(socket, cha, line, FILTER_EXCLUSIVE, own);
            return (found, self.l2s.at(core).fill(line, if store || modified { MODIFIED } else { EXCLUSIVE }));
        }
        // Others keep it, too, and the slice has it for all of them.
        if let Some(entry) = holders.filter(|entry| entry.state == FILTER_EXCLUSIVE) {
            let owner = self.core_number(socket, entry.owner);
            let modified = self.l2s.at(owner).snoop(line, false) == Some(MODIFIED);
            let (_, home) = address::target(line);
            let clean = if home == socket { Found::Forward } else { Found::Shared };
            self.warm_keep(socket, cha, line, if modified { Found::Modified } else { clean });
        }
        self.warm_list(socket, cha, line, FILTER_SHARED, own);
        (found, self.l2s.at(core).fill(line, SHARED))
    }

    /// A core requests a line, and what gives way for it goes to its slice.
    fn warm_request(&mut self, core: u16, line: u32, store: bool) -> FoundIn {
        let (found, old) = self.warm_miss(core, line, store);
        if let Some(old) = old {
            self.warm_leave(core, old);
        }
        found
    }

    /// A device writes a line into a slice; true if it was not there.
    fn warm_device(&mut self, core: u16, line: u32) -> bool {
        let (socket, cha) = (self.socket_of(core), self.map.agent(line));
        let found = self.slice(socket, cha).find(line).is_some();
        self.warm_take(socket, cha, line);
        self.warm_home(socket, cha, line);
        self.warm_keep(socket, cha, line, Found::Modified);
        !found
    }

    /// Takes every copy of a line out of a socket; true if one was newer than memory.
    fn warm_take(&mut self, socket: u8, cha: u8, line: u32) -> bool {
        let mut slice = self.slice(socket, cha);
        let mut modified = false;
        if let Some(way) = slice.find(line) {
            modified = slice.get(way).state == Found::Modified as u8;
            slice.clear(way);
        }
        let mut filter = self.filter(socket, cha);
        let Some(way) = filter.find(line) else { return modified };
        let entry = filter.get(way);
        filter.clear(way);
        modified | self.warm_drop(socket, line, entry.state, entry.owner)
    }

    /// Takes a line from the cores that an entry of the snoop filter names; true if it was newer than memory.
    fn warm_drop(&mut self, socket: u8, line: u32, state: u8, owner: u8) -> bool {
        let cores = if state == FILTER_EXCLUSIVE { owner..owner.saturating_add(1) } else { 0..self.parameters.cores };
        let mut modified = false;
        for core in cores.filter(|&core| core < self.parameters.cores) {
            let core = self.core_number(socket, core);
            modified |= self.l2s.at(core).snoop(line, true) == Some(MODIFIED);
        }
        modified
    }

    /// A socket gets a line alone: the other one gives its copies up, and the directory of the line's home says where
    /// it is.
    fn warm_home(&mut self, socket: u8, cha: u8, line: u32) {
        if self.sockets == 1 {
            return;
        }
        self.warm_take(1 - socket, cha, line);
        let (_, home) = address::target(line);
        self.directories[usize::from(home)].set(line, if home == socket { NOWHERE } else { ELSEWHERE });
    }

    /// Notes in the snoop filter who has a line; what gives way is taken from its cores.
    fn warm_list(&mut self, socket: u8, cha: u8, line: u32, state: u8, owner: u8) {
        let mut filter = self.filter(socket, cha);
        if let Some(way) = filter.find(line) {
            filter.set(way, state, owner);
            filter.touch(way);
        } else if let Some(old) = filter.insert(line, state, owner)
            && self.warm_drop(socket, old.line, old.state, old.owner)
        {
            self.warm_out(socket, old.line);
        }
    }

    /// What a core has given up goes to the slice, unless it has come back since.
    fn warm_leave(&mut self, core: u16, (old, state): (u32, u8)) {
        if self.has_copy(core, old) {
            return;
        }
        let (socket, own, cha) = (self.socket_of(core), self.core_within(core), self.map.agent(old));
        let mut filter = self.filter(socket, cha);
        let listed = filter.find(old).map(|way| (way, filter.get(way)));
        let Some((way, _)) = listed.filter(|(_, entry)| entry.state == FILTER_EXCLUSIVE && entry.owner == own) else {
            return;
        };
        filter.clear(way);
        self.warm_keep(socket, cha, old, if state == MODIFIED { Found::Modified } else { Found::Exclusive });
    }

    /// Puts a line into a slice; what gives way is dropped, or written to memory.
    fn warm_keep(&mut self, socket: u8, cha: u8, line: u32, state: Found) {
        let mut slice = self.slice(socket, cha);
        if let Some(way) = slice.find(line) {
            slice.set(way, state as u8, 0);
            slice.touch(way);
        } else if let Some(old) = slice.insert(line, state as u8, 0)
            && old.state == Found::Modified as u8
        {
            self.warm_out(socket, old.line);
        }
    }

    /// A modified line goes to memory: its home's directory says that nobody else has it.
    fn warm_out(&mut self, socket: u8, line: u32) {
        let (_, home) = address::target(line);
        if home != socket {
            self.directories[usize::from(home)].set(line, NOWHERE);
        }
    }
}

/// Caches that are being filled. What cores give up comes to the slices a little later, when the host has their tags.
struct Filling<'a> {
    model: &'a mut Model,
    leaving: VecDeque<(u16, (u32, u8))>,
}

/// Lines that are on their way to the slices.
const LATER: usize = 16;

impl Filling<'_> {
    /// A core loads or stores a line; true if it came from memory.
    fn reach(&mut self, core: u16, line: u32, store: bool) -> bool {
        if self.model.l2s.at(core).access(line, store) {
            return false;
        }
        let (found, old) = self.model.warm_miss(core, line, store);
        if let Some(old) = old {
            self.model.foresee_tags(core, old.0);
            self.leaving.push_back((core, old));
        }
        if self.leaving.len() >= LATER
            && let Some((core, old)) = self.leaving.pop_front()
        {
            self.model.warm_leave(core, old);
        }
        found == FoundIn::Memory
    }
}

impl Warming for Filling<'_> {
    fn threads(&self) -> usize {
        // Streaming stores leave nothing in the caches.
        if self.model.stores == Stores::Streaming { 0 } else { self.model.threads.len() }
    }

    fn aim(&mut self, thread: usize) -> (Access, u32) {
        let access = self.model.threads[thread].generator.warming_access();
        let core = self.model.threads[thread].core;
        let line = self.model.line_of(core, access);
        self.model.foresee_move(core, line);
        (access, line)
    }

    fn warm_access(&mut self, thread: usize, access: Access, line: u32) -> bool {
        let core = self.model.threads[thread].core;
        if self.model.devices_only {
            let stays = access.store && (access.whole || access.aim == DeviceAim::Part);
            return stays && self.model.warm_device(core, line);
        }
        if access.page != 0 && self.model.translation.warm(core.into(), access.page) {
            let entry = self.model.entry_of(core, access.page);
            self.reach(core, entry, false);
        }
        self.reach(core, line, access.store)
    }

    fn finish(&mut self) {
        while let Some((core, old)) = self.leaving.pop_front() {
            self.model.warm_leave(core, old);
        }
    }
}

impl ByFunction for Model {
    fn program_mut(&mut self) -> Option<&mut Program> {
        self.work.program.as_mut()
    }

    fn core_number(&self, thread: u16) -> u16 {
        self.threads[usize::from(thread)].core
    }

    fn foresee(&self, core: u16, line: u32) {
        self.foresee_move(core, line);
    }

    /// LLC hits of 73 ns and memory of 115 at 1.9 GHz (docs/calibration.md).
    fn cycles(&self) -> Cycles {
        let (l2, interval) = (self.parameters.l2_latency, self.parameters.request_interval);
        Cycles { l2, cache: 140, memory: 220, interval }
    }

    fn window(&self) -> u64 {
        self.parameters.reorder_buffer
    }

    fn reach(&mut self, core: u16, line: u32, want: Want) -> FoundIn {
        let store = want.stores();
        if self.l2s.at(core).access(line, store) { FoundIn::L2 } else { self.warm_request(core, line, store) }
    }

    fn holds(&mut self, core: u16, line: u32) -> bool {
        self.has_copy(core, line)
    }

    fn fetch(&mut self, core: u16, line: u32, want: Want) -> FoundIn {
        self.warm_request(core, line, want.stores())
    }

    fn give_up(&mut self, core: u16, line: u32) {
        self.l2s.at(core).write_back_l1(line);
    }

    fn go_around(&mut self, _: u16, line: u32) {
        let cha = self.map.agent(line);
        for socket in 0..self.sockets {
            self.warm_take(socket, cha, line);
        }
        if self.sockets > 1 {
            let (_, home) = address::target(line);
            self.directories[usize::from(home)].set(line, NOWHERE);
        }
    }

    fn wake(&mut self, thread: u16) {
        if self.threads[usize::from(thread)].state.rouse() {
            self.wheel.schedule(self.now, Event::Issue.of(thread));
        }
    }
}
