//! The truth of the E5-2600 model.
//!
//! Each request carries a [`Record`] of its life; when it ends, the record is folded into [`cells`]. Memory channels hand in
//! their queue entries and [`CommandRecord`]s.
//!
//! The meaning of the event names is written in [`names`] by hand from the guide's event texts, and never from the catalogue.

mod busy;
mod cells;
mod channels;
mod device;
mod egress;
mod home;
mod links;
mod names;
mod packet;
mod physical;
mod power;
mod record;
mod ring;
mod slice;
mod stays;
mod window;

use cells::Cells;
use pericore_dram::{CommandLog, CommandRecord, Pending};
use pericore_engine::{Clocks, Tick};
use stays::Stays;

use crate::ledger::{Question, Shaped};
use crate::workload::MessageKind;
pub use device::{IoClass, IoQueue};
pub use home::HomeQueue;
pub use names::NAMES;
pub use packet::{Class, Credit, LinkState, PacketCodes, PacketKind, PacketRecord};
pub use physical::{ChannelBytes, DataReads};
pub use power::{CoreState, HoldStage, PowerFact};
pub use record::{IO_THREAD, NO_THREAD, Opcodes, Rare, Record, RequestKind};
pub use ring::{Journey, Message, RingKind};
pub use slice::{IngressQueue, Refusal, SliceState};
pub use window::{Snapshot, Window};

/// Structure sizes that the truth of "full" depends on, and how instances belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Sockets of the machine, each with its equal share of what follows.
    pub sockets: usize,
    /// LLC slices of the machine.
    pub slices: usize,
    /// Home agents of the machine.
    pub homes: usize,
    /// Memory channels of the machine.
    pub channels: usize,
    /// Ranks of a channel.
    pub ranks: u8,
    /// Entries of a read pending queue.
    pub reads: u64,
    /// Entries of a write pending queue.
    pub writes: u64,
}

/// What the truth of links depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkShape {
    /// Links of the machine, each end counted.
    pub links: usize,
    /// Link clocks from one end to the other.
    pub flight: u64,
    /// Shared credits of a link's sender.
    pub shared: u64,
    /// The numbers in packet headers.
    pub codes: PacketCodes,
}

/// Queues of a link whose busy cycles the ledger counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkQueue {
    /// Of the ring stop, by class.
    Ring(Class),
    /// The transmit buffer.
    Transmit,
    /// The receive buffer.
    Receive,
    /// Shared credits that are in use.
    Shared,
}

/// Cycles that a message waits for its ring until its stop counts as starved: the model's assumption, written again.
const STARVED: u64 = 3;

/// The running account of a machine.
#[derive(Debug)]
pub struct Ledger {
    clocks: Clocks,
    opcodes: Opcodes,
    shape: Shape,
    links: LinkShape,
    cells: Cells,
    log: CommandLog,
    stays: Option<Stays>,
}

impl Ledger {
    /// An empty account.
    pub fn new(clocks: Clocks, opcodes: Opcodes, shape: Shape) -> Self {
        let codes = PacketCodes { messages: [0; PacketKind::COUNT], states: [0; PacketKind::COUNT] };
        let links = LinkShape { links: 0, flight: 0, shared: 0, codes };
        Self { clocks, opcodes, shape, links, cells: Cells::new(&shape), log: CommandLog::default(), stays: None }
    }

    /// The machine has links between sockets.
    pub fn add_links(&mut self, shape: LinkShape) {
        self.links = shape;
        self.cells.links = vec![links::LinkCells::new(); shape.links];
    }

    /// A packet has ended its way over a link, and its credits are back.
    pub fn close_packet(&mut self, record: &PacketRecord) {
        self.cells.fold_packet(record, pericore_engine::NEVER, &self.clocks, self.links.flight);
    }

    /// `count` entries come to a queue of a link.
    pub fn link_enter(&mut self, link: u16, queue: LinkQueue, tick: Tick, count: u64) {
        let (cycle, most) = (self.link_clock(queue).cycles(tick), self.links.shared);
        self.cells.link_queue(link, queue).enter(cycle, count, most);
    }

    /// `count` entries leave a queue of a link.
    pub fn link_leave(&mut self, link: u16, queue: LinkQueue, tick: Tick, count: u64) {
        let (cycle, most) = (self.link_clock(queue).cycles(tick), self.links.shared);
        self.cells.link_queue(link, queue).leave(cycle, count, most);
    }

    /// A power state of one end of a link begins or ends.
    pub fn link_power(&mut self, link: u16, state: LinkState, on: bool, now: Tick) {
        let cycle = self.clocks.qclk.cycles(now);
        self.cells.links[usize::from(link)].power[state as usize].switch(on, cycle);
    }

    /// The credit of a link's ring stop towards input-output is taken, or comes back.
    pub fn link_io_credit(&mut self, link: u16, class: IoClass, taken: bool, now: Tick) {
        let cycle = self.clocks.uclk.cycles(now);
        self.cells.links[usize::from(link)].io_credit(class, taken, cycle);
    }

    /// A packet at a link's ring stop found no credit towards input-output.
    pub fn link_io_rejected(&mut self, link: u16, class: IoClass) {
        self.cells.links[usize::from(link)].io_refused(class);
    }

    const fn link_clock(&self, queue: LinkQueue) -> pericore_engine::Period {
        match queue {
            LinkQueue::Ring(_) | LinkQueue::Shared => self.clocks.uclk,
            LinkQueue::Transmit | LinkQueue::Receive => self.clocks.qclk,
        }
    }

    /// An entry comes to what a home agent counts cycles of.
    #[inline]
    pub fn home_enter(&mut self, home: u8, queue: HomeQueue, tick: Tick) {
        let (cycle, most) = (self.clocks.uclk.cycles(tick), self.home_most(queue));
        self.cells.homes[usize::from(home)].queue(queue).enter(cycle, 1, most);
    }

    /// An entry leaves it.
    #[inline]
    pub fn home_leave(&mut self, home: u8, queue: HomeQueue, tick: Tick) {
        let (cycle, most) = (self.clocks.uclk.cycles(tick), self.home_most(queue));
        self.cells.homes[usize::from(home)].queue(queue).leave(cycle, 1, most);
    }

    /// A message comes to a bank of a home agent's queue for the address or the data ring, or leaves it.
    pub fn home_egress(&mut self, home: u8, data: bool, bank: usize, comes: bool, now: Tick) {
        let cycle = self.clocks.uclk.cycles(now);
        self.cells.homes[usize::from(home)].egress[usize::from(data)].change(bank, comes, cycle);
    }

    #[inline]
    const fn home_most(&self, queue: HomeQueue) -> u64 {
        match queue {
            HomeQueue::Conflicts | HomeQueue::Links(_) => u64::MAX,
            HomeQueue::Credits(queue, _) => self.capacity(queue),
        }
    }

    /// Keeps every DRAM command from now on, for checkers.
    pub fn keep_commands(&mut self) {
        self.log.keep();
    }

    /// The DRAM commands kept since [`Ledger::keep_commands`], with their channel.
    pub fn commands(&self) -> &[(u16, CommandRecord)] {
        self.log.commands()
    }

    /// Keeps every request's stays from now on, for [`Ledger::shaped`].
    pub fn keep_stays(&mut self) {
        self.stays = Some(Stays::default());
    }

    /// What an occupancy event of an instance gives behind a threshold, over the requests that have ended since [`Ledger::keep_stays`];
    /// `None` without it, or if the event has no stays. Of the filters only the opcode counts.
    pub fn shaped(&self, socket: u16, instance: u16, question: Question<'_>, threshold: u64) -> Option<Shaped> {
        let per_socket = (self.shape.slices / self.shape.sockets) as u16;
        if question.unit != "cbo" || instance >= per_socket {
            return None;
        }
        let slice = socket * per_socket + instance;
        self.stays.as_ref()?.shaped(slice, question, &self.opcodes, threshold)
    }

    /// A request has ended.
    ///
    /// What a hit has none of is called last, and by one call: so the short way saves no registers.
    #[inline]
    pub fn close(&mut self, record: &Record) {
        self.cells.fold_stay(record, pericore_engine::NEVER);
        if record.has_more() || self.stays.is_some() {
            self.close_more(record);
        }
    }

    #[inline(never)]
    fn close_more(&mut self, record: &Record) {
        self.cells.fold_more(record, pericore_engine::NEVER);
        if let Some(stays) = &mut self.stays {
            stays.add(record);
        }
    }

    /// The stop of a slice or its core sends a message to another stop of its socket.
    #[inline]
    pub fn message(&mut self, stop: u16, message: Message, to: u8, odd: bool) {
        self.cells.messages.add(stop, message, to, odd);
    }

    /// An entry of a slice's queue was turned away.
    pub fn turned_away(&mut self, slice: u16, queue: IngressQueue, why: Refusal) {
        self.cells.slices[usize::from(slice)].refusals[queue as usize][why as usize] += 1;
    }

    /// A state of a slice's queues begins or ends in a cycle of the uncore's clock.
    #[inline]
    pub fn slice_state(&mut self, slice: u16, state: SliceState, on: bool, cycle: u64) {
        self.cells.slices[usize::from(slice)].states[state as usize].switch(on, cycle);
    }

    /// A message went out to a ring after so many cycles of waiting, at least one.
    pub fn waited(&mut self, slice: u16, ring: RingKind, cycles: u64) {
        let cells = &mut self.cells.slices[usize::from(slice)];
        cells.waited += 1;
        if cycles >= STARVED {
            cells.starved[ring as usize] += 1;
        }
    }

    /// A message goes from one stop of a socket's ring to another.
    #[inline]
    pub fn travel(&mut self, socket: u8, journey: Journey) {
        self.cells.rings[usize::from(socket)].travel(journey);
    }

    /// An entry comes to an egress queue of a socket's input-output stop, or leaves it.
    pub fn io_egress(&mut self, socket: usize, queue: IoQueue, on: bool, now: Tick) {
        let cycle = self.clocks.uclk.cycles(now);
        self.cells.devices[socket].egress(queue, on, cycle);
    }

    /// A ring refused an entry of such a queue.
    pub fn io_refused(&mut self, socket: usize, queue: IoQueue) {
        self.cells.devices[socket].refused(queue);
    }

    /// A packet for the IIO comes to the stop, or leaves it.
    pub fn io_ingress(&mut self, socket: usize, class: IoClass, on: bool, now: Tick) {
        let cycle = self.clocks.uclk.cycles(now);
        self.cells.devices[socket].ingress(class, on, cycle);
    }

    /// A credit towards the IIO is taken or comes back.
    pub fn io_credit(&mut self, socket: usize, class: IoClass, taken: bool, now: Tick) {
        let cycle = self.clocks.uclk.cycles(now);
        self.cells.devices[socket].credit(class, taken, cycle);
    }

    /// A packet found no credit.
    pub fn io_rejected(&mut self, socket: usize, class: IoClass) {
        self.cells.devices[socket].rejected(class);
    }

    /// An acknowledgement for the stop went round again.
    pub fn io_bounced(&mut self, socket: usize) {
        self.cells.devices[socket].bounced();
    }

    /// A state that a socket's power unit decides begins or ends.
    pub fn power_fact(&mut self, socket: u16, fact: PowerFact, on: bool, now: Tick) {
        let cycle = self.clocks.pclk().cycles(now);
        self.cells.power[usize::from(socket)].fact(fact, on, cycle);
    }

    /// A socket begins or ends to run at a frequency, in 100 MHz.
    pub fn runs_at(&mut self, socket: u16, ratio: u8, on: bool, now: Tick) {
        let cycle = self.clocks.pclk().cycles(now);
        self.cells.power[usize::from(socket)].runs_at(ratio, on, cycle);
    }

    /// A core comes to a state, or leaves it.
    pub fn core_state(&mut self, socket: u16, core: u8, state: CoreState, on: bool, now: Tick) {
        let cycle = self.clocks.pclk().cycles(now);
        self.cells.power[usize::from(socket)].core(core, state, on, cycle);
    }

    /// A core got a lighter state than it asked for.
    pub fn demoted(&mut self, socket: u16, core: u8) {
        self.cells.power[usize::from(socket)].demoted(core);
    }

    /// A socket's system agent ran an errand.
    pub fn errand(&mut self, socket: u16, kind: MessageKind) {
        self.cells.agents[usize::from(socket)].errand(kind);
    }

    /// A stage of a bus hold begins or ends.
    pub fn hold(&mut self, socket: u16, stage: HoldStage, on: bool, now: Tick) {
        let cycle = self.clocks.uclk.cycles(now);
        self.cells.agents[usize::from(socket)].hold(stage, on, cycle);
    }

    /// The account as of `now`: the closed records, the part so far of the `live` requests and packets, and of the entries of the pending
    /// queues, whose arrival cycles `entries` gives.
    pub fn snapshot<'a, I: Iterator<Item = u64>>(
        &self,
        now: Tick,
        live: impl Iterator<Item = &'a Record>,
        packets: impl Iterator<Item = &'a PacketRecord>,
        entries: impl Fn(usize, Pending) -> I,
    ) -> Snapshot {
        let mut cells = self.cells.clone();
        let (cycle, next) = (self.clocks.uclk.cycles(now), self.clocks.uclk.next_cycle(now));
        for record in live {
            cells.fold(&record.before(next), cycle);
        }
        for record in packets {
            cells.fold_packet(record, now, &self.clocks, self.links.flight);
        }
        cells.settle_busy(now, &self.clocks, self.links.shared, [self.shape.reads, self.shape.writes]);
        let cycle = self.clocks.dclk.cycles(now);
        for (index, channel) in cells.channels.iter_mut().enumerate() {
            for queue in [Pending::Reads, Pending::Writes] {
                channel.queues[queue as usize].settle(entries(index, queue), cycle, self.capacity(queue));
            }
        }
        cells.settle_modes(cycle);
        let (power_cycle, agent_cycle) = (self.clocks.pclk().cycles(now), self.clocks.uclk.cycles(now));
        cells.slices.iter_mut().flat_map(|cells| &mut cells.states).for_each(|span| span.settle(agent_cycle));
        cells.devices.iter_mut().for_each(|cells| cells.settle(agent_cycle));
        cells.power.iter_mut().for_each(|cells| cells.settle(power_cycle));
        cells.agents.iter_mut().for_each(|cells| cells.settle(agent_cycle));
        Snapshot {
            now,
            clocks: self.clocks,
            opcodes: self.opcodes,
            packet_codes: self.links.codes,
            sockets: self.shape.sockets,
            cells,
        }
    }

    #[inline]
    const fn capacity(&self, queue: Pending) -> u64 {
        match queue {
            Pending::Reads => self.shape.reads,
            Pending::Writes => self.shape.writes,
        }
    }
}
