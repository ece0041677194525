//! The core side of the model: threads issue accesses, misses become requests, data comes back.

mod pages;

use pericore_engine::Tick;

use super::Model;
use super::address;
use super::core::{Aimed, Buffer, EXCLUSIVE, MODIFIED, SHARED, ThreadState};
use super::event::Event;
use super::request::{Request, RequestId};
use pericore_facts::emerald_rapids::{AgentFact, Kind, Lookup, Readers, Ring};
use pericore_parts::program::Cores;
use pericore_workload::{Access, MessageKind};

/// Lines of a system's code, and of the part that runs most.
const CODE_LINES: u32 = 1 << 16;
const HOT_CODE_LINES: u32 = 1 << 9;
/// Accesses that a thread may run ahead on hits before other events get their turn.
const RUN_AHEAD: u32 = 64;

impl Model {
    /// The line of an access. Each socket, or cluster, has its own copy of the footprint in its own memory; of the lines that the workload calls
    /// remote, the other socket's memory holds the copy, and one line in 64 is one for both sockets.
    pub(super) fn line_of(&self, core: u16, access: Access) -> u32 {
        let line = (access.address >> address::LINE_SHIFT) as u32 & ((1 << address::REGION_BITS) - 1);
        let own = u32::from(self.named_memory.unwrap_or_else(|| self.socket_of(core)));
        // Whole pages lie behind CXL.
        if address::is_of_share(line, self.expander) {
            return address::expander(own as u8, line);
        }
        let line = self.map.within(self.cluster_of(core), line);
        if self.sockets == 1 || self.remote == 0 {
            return line | own << address::REGION_BITS;
        }
        let home = match address::common_home(line) {
            Some(home) => home,
            None if address::is_remote(line, self.remote) => 1 - own,
            None => own,
        };
        line | home << address::REGION_BITS
    }

    /// The access that a thread held back, or its next.
    pub(super) fn next_access(&mut self, thread: u16) -> Option<Aimed> {
        let state = &mut self.threads[usize::from(thread)];
        if state.held.is_some() {
            return state.held.take();
        }
        let coming = state.coming.take().or_else(|| self.make_access(thread));
        let after = self.make_access(thread);
        let state = &mut self.threads[usize::from(thread)];
        state.coming = after;
        if let Some((_, line)) = after {
            self.l2s.prefetch(state.core, line);
        }
        coming
    }

    fn make_access(&mut self, thread: u16) -> Option<Aimed> {
        let state = &mut self.threads[usize::from(thread)];
        let access = state.generator.next_access()?;
        let core = state.core;
        Some((access, self.line_of(core, access)))
    }

    /// Lets a thread issue until it must wait.
    pub(super) fn issue<R: Readers>(&mut self, thread: u16, reader: &mut R) {
        if self.work.program.is_some() {
            self.run_program(thread, reader);
            return;
        }
        let index = usize::from(thread);
        let pace = self.times.paces[usize::from(self.socket_of(self.threads[index].core))];
        for _ in 0..RUN_AHEAD {
            let Some((access, line)) = self.next_access(thread) else {
                self.come_to_end(thread, reader);
                return;
            };
            if access.page != 0 {
                if self.find_page(thread, (access, line), reader) {
                    continue;
                }
                return;
            }
            let state = &mut self.threads[index];
            let (core, at) = (state.core, state.ready.max(self.now));
            let again = state.last_line == line && !access.store;
            let hit = again || self.l2s.at(core).access(line, access.store);
            if hit {
                state.last_line = line;
                let began = state.began();
                state.ready = at + if access.blocking { pace.l2_latency } else { pace.hit_interval };
                if access.blocking {
                    self.work.dependent.add(began, state.ready);
                }
                let pause = self.pause_of(thread);
                self.threads[index].ready += pause;
                self.work.done += 1;
                self.background_traffic(thread, line, reader);
                continue;
            }
            if at > self.now {
                // Hits are private to the core and may run ahead of time; what others see may not. If there is no buffer for the
                // miss anyway, the thread need not wait for the time, only for the buffer.
                state.held = Some((access, line));
                if self.cores[usize::from(core)].is_full(line) {
                    state.state = ThreadState::ForBuffer;
                } else {
                    self.wheel.schedule(at, Event::Issue.of(thread));
                }
                return;
            }
            let full = self.cores[usize::from(core)].writebacks >= self.parameters.writeback_buffers;
            let own = access.store;
            let buffer = if full { Buffer::Full } else { self.cores[usize::from(core)].take_buffer(line, own) };
            match buffer {
                Buffer::Taken => {
                    let kind = self.kind_of(access, line);
                    let request = self.request(kind, core, line, thread, reader);
                    self.prefetch(thread, line, access.store, reader);
                    self.background_traffic(thread, line, reader);
                    if access.blocking {
                        self.threads[index].state = ThreadState::ForData(request);
                        return;
                    }
                    self.threads[index].ready = at + pace.hit_interval + self.pause_of(thread);
                }
                Buffer::Joined if !access.blocking => {
                    self.threads[index].ready = at + pace.hit_interval + self.pause_of(thread);
                    self.work.done += 1;
                }
                Buffer::Joined | Buffer::Full => {
                    let state = &mut self.threads[index];
                    state.held = Some((access, line));
                    state.state = ThreadState::ForBuffer;
                    return;
                }
            }
        }
        let ready = self.threads[index].ready;
        self.wheel.schedule(ready.max(self.now), Event::Issue.of(thread));
    }

    /// What a load or store asks for when it misses. A copy stores to whole lines: while memory is heavily loaded, cores
    /// own them without reading them first. Streaming stores own nothing at all.
    pub(super) fn kind_of(&self, access: Access, line: u32) -> Kind {
        if !access.store {
            return Kind::DataRead;
        }
        match self.stores {
            super::Stores::Plain => Kind::Ownership,
            super::Stores::Whole if self.is_under_heavy_load(line) => Kind::FullStoreSpeculative,
            super::Stores::Whole => Kind::Ownership,
            super::Stores::Streaming if access.whole => Kind::StreamFull,
            super::Stores::Streaming => Kind::StreamPart,
        }
    }

    /// Sends a request of a core over the mesh to its agent.
    pub(super) fn request<R: Readers>(
        &mut self,
        kind: Kind,
        core: u16,
        line: u32,
        thread: u16,
        reader: &mut R,
    ) -> RequestId {
        let socket = self.socket_of(core);
        let (target, home) = self.target(line);
        let cha = self.map.agent(line);
        let mut request = Request::new(kind, socket, cha, home, core, line, target);
        request.thread = thread;
        request.partial = kind == Kind::StreamPart;
        self.foresee_arrival(&request, reader);
        let request = self.pool.add(request);
        let from = self.core_tile(core);
        let to = self.places.cha[usize::from(cha)];
        let mut at = self.mesh_send(socket, Ring::Address, 1, from, to, reader) + self.times.miss_to_mesh;
        if kind.is_writeback() {
            if kind != Kind::WritebackShared {
                at = at.max(self.mesh_send(socket, Ring::Block, 1, from, to, reader) + self.times.miss_to_mesh);
            }
        } else {
            let interval = self.times.paces[usize::from(socket)].request_interval;
            let later = self.cores[usize::from(core)].port.leave(self.now, interval) - self.now;
            // The mesh takes it in the cycle after that.
            at += later.next_multiple_of(self.times.uclk);
        }
        self.send_at(request, at);
        request
    }

    /// The L2's prefetcher: two misses in a row bring the lines after them.
    fn prefetch<R: Readers>(&mut self, thread: u16, line: u32, store: bool, reader: &mut R) {
        let state = &mut self.threads[usize::from(thread)];
        let core = state.core;
        let last = &mut state.last_miss[usize::from(store && self.stores_apart)];
        let follows = line.wrapping_sub(*last) <= 3 && line != *last;
        *last = line;
        if !follows || self.stores == super::Stores::Streaming && store {
            return;
        }
        for ahead in 1..=3 {
            let next = line + ahead;
            if self.may_prefetch(line, next) && self.take_prefetch(core, next, store) {
                let kind = if store { Kind::OwnershipPrefetch } else { Kind::DataPrefetch };
                self.request(kind, core, next, u16::MAX, reader);
            }
        }
    }

    /// Gets a buffer for a prefetch or another request that nobody waits for; false if there is no need or no room.
    pub(super) fn take_prefetch(&mut self, core: u16, line: u32, store: bool) -> bool {
        !self.has_copy(core, line) && self.cores[usize::from(core)].take_aside(line, store)
    }

    /// Writes back what a core gave up.
    pub(super) fn write_back<R: Readers>(&mut self, core: u16, given_up: Option<(u32, u8)>, reader: &mut R) {
        let Some((line, state)) = given_up else { return };
        let kind = match state {
            MODIFIED => Kind::WritebackModified,
            EXCLUSIVE => Kind::WritebackClean,
            _ => Kind::WritebackShared,
        };
        self.cores[usize::from(core)].writebacks += 1;
        self.request(kind, core, line, u16::MAX, reader);
    }

    /// Data or permission arrives at the requester.
    pub(super) fn data<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { class, origin, line, grant, thread, .. } = self.pool[request];
        let kind = class.kind;
        if kind.queue() == pericore_facts::emerald_rapids::Queue::Io {
            self.device_data(request, reader);
            return;
        }
        self.end_entry(request, reader);
        let core = &mut self.cores[usize::from(origin)];
        core.give_buffer(line);
        let fills = grant != 0 && !matches!(kind.lookup(), Lookup::Flush | Lookup::Write | Lookup::None);
        if fills && !class.hit {
            core.port.put_off(self.now, self.times.memory_interval);
        }
        let given_up = if fills && !kind.is_llc_prefetch() { self.l2s.at(origin).fill(line, grant) } else { None };
        if given_up.is_some() {
            self.foresee_next(thread);
        }
        self.write_back(origin, given_up, reader);
        if thread != u16::MAX {
            self.work.done += 1;
        }
        self.pool.remove(request);
        self.entry_comes(origin, line);
        self.resume(origin, Some(request), reader);
    }

    /// A buffer of a core is free again, and perhaps a request's data has come: threads that waited for it go on.
    pub(super) fn resume<R: Readers>(&mut self, core: u16, arrived: Option<RequestId>, reader: &mut R) {
        if self.translation.is_on() {
            self.go_on_with_pages(core, reader);
        }
        for turn in 0..u16::from(self.parameters.threads_per_core) {
            let thread = self.thread_of(core, turn);
            let Some(state) = self.threads.get_mut(usize::from(thread)) else { return };
            match state.state {
                ThreadState::ForBuffer => {}
                ThreadState::ForData(request) if Some(request) == arrived => {
                    let (began, usable) = (state.began(), self.now + self.times.mesh_to_use);
                    state.ready = usable;
                    self.work.dependent.add(began, usable);
                }
                _ => continue,
            }
            state.state = ThreadState::Running;
            self.issue(thread, reader);
        }
    }

    /// What a system does besides its workload: fetches code, walks pages, flushes a line, looks at a device, prefetches into the
    /// LLC; wakes other cores, lets interrupts in, reads a register, needs a random number. Rates are assumptions, low
    /// enough to leave bandwidth alone.
    fn background_traffic<R: Readers>(&mut self, thread: u16, line: u32, reader: &mut R) {
        if !self.system {
            return;
        }
        let state = &mut self.threads[usize::from(thread)];
        state.accesses += 1;
        let (count, core) = (state.accesses, state.core);
        if count % 16 != 5 {
            return;
        }
        let turn = count / 16;
        let scattered = (turn as u32).wrapping_mul(0x9E37_79B1).wrapping_add(u32::from(thread) * 977);
        // Code, page tables of 1 MB below it, data of the workload, devices.
        let own = u32::from(self.socket_of(core));
        let top = (own + 1) << address::REGION_BITS;
        let code = self.code_line(own, scattered);
        let tables = top - 1 - CODE_LINES - (line >> 6) % (1 << 14);
        let device = 3 << address::REGION_BITS | own << (address::REGION_BITS - 1) | (scattered % 4096);
        let near = line ^ 1;
        let message = match turn % 32 {
            1 => Some(MessageKind::Processor),
            3 => Some(MessageKind::Priority),
            5 if scattered >> 31 == 0 => Some(MessageKind::RandomNumber),
            5 => Some(MessageKind::RandomSeed),
            22 => Some(MessageKind::Register),
            26 => Some(MessageKind::Doorbell),
            _ => None,
        };
        if let Some(kind) = message {
            self.send_to_system(own as u16, kind, scattered, reader);
            return;
        }
        let (kind, wanted) = match turn % 32 {
            0 | 8 | 16 | 24 => (Kind::CodeRead, code),
            4 => (Kind::CodePrefetch, code ^ 1),
            2 | 18 => (Kind::PageWalk, tables),
            6 => (Kind::DataReadOpt, line ^ 1 << 16),
            7 => (Kind::DataPrefetchOpt, line ^ 1 << 16 ^ 1),
            9 => (Kind::LlcData, near),
            11 => (Kind::LlcOwnership, line ^ 2),
            13 => (Kind::LlcCode, code ^ 3),
            15 => (Kind::FullStore, line ^ 3),
            17 => (Kind::FullStoreSpeculative, line ^ 5),
            19 => (Kind::Flush, line ^ 6),
            21 => (Kind::FlushOpt, line ^ 7),
            23 => (Kind::StreamFull, line ^ 9),
            25 => (Kind::StreamPart, line ^ 10),
            27 => (Kind::DeviceRead, device),
            29 => (Kind::DeviceWrite, device),
            31 => (Kind::OwnershipPrefetch, line ^ 12),
            // What was just used goes to memory, and stays.
            14 | 30 => (Kind::Clean, line),
            // A driver looks at the line that its device was given to write last.
            12 | 20 | 28 if self.at_work > 0 => {
                let stacks = u32::from(self.places.stacks());
                let stack = own * stacks + scattered % stacks;
                (Kind::DataRead, self.stacks[stack as usize].written)
            }
            // A read of memory behind a CXL link.
            10 => (Kind::DataRead, address::expander(own as u8, scattered % 65536)),
            _ => return,
        };
        let state = &mut self.cores[usize::from(core)];
        let room = state.writebacks < self.parameters.writeback_buffers
            && match kind {
                // The L2 may have it.
                Kind::Clean => state.take_aside(wanted, false),
                _ => self.take_prefetch(core, wanted, kind.owns()),
            };
        if room {
            self.request(kind, core, wanted, u16::MAX, reader);
        }
    }

    /// A line of code that a socket's cores run: 4 MB at the top of a socket's memory, of which three fetches of four are in the hottest
    /// 32 KB (assumption). Its pages lie in the other socket's memory as often as the workload's data does.
    fn code_line(&self, own: u32, scattered: u32) -> u32 {
        let reach = if scattered >> 30 == 0 { CODE_LINES } else { HOT_CODE_LINES };
        let line = scattered % reach;
        let away = self.sockets > 1 && address::is_of_share(line, self.remote);
        let home = if away { 1 - own } else { own };
        ((home + 1) << address::REGION_BITS) - 1 - line
    }

    /// A thread has no more accesses.
    pub(super) fn finish<R: Readers>(&mut self, thread: u16, reader: &mut R) {
        let state = &mut self.threads[usize::from(thread)];
        state.state = ThreadState::Finished;
        let core = state.core;
        self.cores[usize::from(core)].running -= 1;
        if self.cores[usize::from(core)].running == 0 {
            let socket = u16::from(self.socket_of(core));
            self.core_works(core, false);
            self.core_sleeps(socket, reader);
        }
    }

    /// The state in which a core gets a line that nobody else has.
    pub(super) const fn sole_grant(kind: Kind) -> u8 {
        match kind {
            Kind::CodeRead | Kind::CodePrefetch => SHARED,
            _ if kind.owns() => MODIFIED,
            _ => EXCLUSIVE,
        }
    }

    /// Tells a core that its request will be done: the early go.
    pub(super) fn go<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, class, .. } = self.pool[request];
        self.at_agent(socket, cha, AgentFact::Grants(class.kind), reader);
    }

    /// The later of two ticks, for messages that must both have come.
    pub(super) fn both(first: Tick, second: Tick) -> Tick {
        first.max(second)
    }
}
