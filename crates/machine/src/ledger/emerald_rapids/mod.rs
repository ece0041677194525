//! The truth of the Emerald Rapids model: what really happened, kept apart from the signals that counters see.
//!
//! The model tells the ledger of requests (look-ups, stays in the table of requests, victims), of messages on the mesh, of DRAM
//! commands, of what units did ([`deeds`]) and of how long it lasted. Nothing here reads a signal, a wire or a tag. What the names of
//! events mean is written in [`names`] and [`requests`] by hand from the guide's texts.

mod cells;
mod changes;
pub mod compiled;
pub mod deeds;
mod kind;
mod mesh;
mod mesh_names;
mod names;
mod rejects;
mod requests;

pub use cells::{Gauge, Stay};
pub use kind::{Class, Found, Kind, Lookup, Queue, Target};
pub use mesh::{Bridged, HALF_FULL, Message, PATIENCE, ROOM, Ring, Tile, Traffic};
pub use rejects::Reason;

use super::Shaped;
use crate::engine::Period;
use crate::signal::Tick;
use changes::Changes;
use deeds::{DEEDS, Deed, LEVELS, LevelId};

/// Periods of the clocks, in ticks of one grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// Ticks in a second.
    pub ticks_per_second: u64,
    /// Mesh, LLC slices and what sits at the mesh.
    pub uclk: Period,
    /// DRAM: half the transfer rate.
    pub dclk: Period,
    /// I/O stacks.
    pub ioclk: Period,
    /// UPI link layer.
    pub upiclk: Period,
    /// Power control unit.
    pub pclk: Period,
    /// CXL transaction and link layer.
    pub cxlclk: Period,
}

impl Clocks {
    /// The clock of a domain by its name in the catalogue.
    pub fn of(&self, name: &str) -> Period {
        match name {
            "dclk" => self.dclk,
            "ioclk" => self.ioclk,
            "upiclk" => self.upiclk,
            "pclk" => self.pclk,
            "cxlclk" => self.cxlclk,
            _ => self.uclk,
        }
    }

    /// The clock that a unit counts in (guide, chapter 2, by unit).
    pub fn of_unit(&self, unit: &str) -> Period {
        match unit {
            "imc" => self.dclk,
            "iio" | "irp" => self.ioclk,
            "upi" => self.upiclk,
            "pcu" => self.pclk,
            "cxlcm" => self.cxlclk,
            _ => self.uclk,
        }
    }
}

/// How many of everything there are in a socket, and how they lie.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Sockets.
    pub sockets: u16,
    /// Units and their instances in a socket.
    pub units: Vec<(&'static str, u16)>,
    /// Tiles of a socket's mesh.
    pub tiles: Vec<Tile>,
    /// Entries of a read and of a write pending queue.
    pub pending: [u64; 2],
}

impl Shape {
    /// Instances of a unit in a socket.
    pub fn instances(&self, unit: &str) -> u16 {
        self.units.iter().find(|(name, _)| *name == unit).map_or(0, |&(_, count)| count)
    }
}

/// The queue of cores' requests in a caching and home agent.
const INGRESS: LevelId = deeds::level("cha/RxC_INSERTS.IRQ");

/// Where the totals of a deed or level lie.
#[derive(Debug, Clone, Copy)]
struct Place {
    base: u32,
    per_socket: u16,
}

impl Place {
    const fn of(self, socket: u16, index: u16) -> usize {
        self.base as usize + (socket * self.per_socket + index) as usize
    }
}

/// A victim of an LLC fill: what left, for whom, and where its home is.
#[derive(Debug, Clone, Copy)]
pub struct Victim {
    /// State that it left.
    pub state: Found,
    /// The fill was for an I/O stack.
    pub for_io: bool,
    /// Its home is another socket.
    pub remote: bool,
}

impl Victim {
    /// Bound of [`Victim::index`].
    pub const COUNT: usize = Found::COUNT * 4;

    /// A number for the victim.
    pub const fn index(self) -> usize {
        (self.state as usize * 2 + self.for_io as usize) * 2 + self.remote as usize
    }

    /// The victim of a number.
    pub const fn of(index: usize) -> Self {
        Self { state: Found::ALL[index / 4], for_io: index / 2 % 2 == 1, remote: index % 2 == 1 }
    }
}

/// Kinds of column commands and activates that a pseudo channel's totals tell apart.
pub const COMMAND_KINDS: usize = 6;

/// Totals of the requests of one caching and home agent.
#[derive(Debug, Clone)]
struct AgentCells {
    tor: Box<[Stay; Class::COUNT]>,
    /// By kind, state found, remote home.
    lookups: Box<[[[u64; 2]; Found::COUNT]; Kind::COUNT]>,
    victims: [u64; Victim::COUNT],
    rejects: rejects::Rejects,
}

/// Totals of one memory channel's commands, by pseudo channel.
#[derive(Debug, Clone, Default)]
struct ChannelCells {
    columns: [[u64; COMMAND_KINDS]; 2],
    activates: [[u64; COMMAND_KINDS]; 2],
}

/// Headers of a link, by message class and opcode.
#[derive(Debug, Clone, Default)]
struct LinkCells {
    sent: [[u64; 16]; 8],
    received: [[u64; 16]; 8],
}

/// All totals.
#[derive(Debug, Clone)]
struct Cells {
    links: Vec<LinkCells>,
    deeds: Vec<u64>,
    levels: Vec<Gauge>,
    agents: Vec<AgentCells>,
    channels: Vec<ChannelCells>,
    traffic: Vec<Traffic>,
}

/// The running account.
#[derive(Debug)]
pub struct Ledger {
    clocks: Clocks,
    shape: Shape,
    deed_places: Vec<Place>,
    level_places: Vec<(Place, Period, u64)>,
    cells: Cells,
    log: Option<Vec<(u16, crate::ledger::CommandRecord)>>,
    changes: Option<Changes>,
}

fn places(shape: &Shape, table: &[&str]) -> (Vec<Place>, usize) {
    let mut next = 0;
    let places = table.iter().map(|name| {
        let unit = name.split('/').next().unwrap_or_default();
        let place = Place { base: next, per_socket: shape.instances(unit) };
        next += u32::from(place.per_socket) * u32::from(shape.sockets);
        place
    });
    let places = places.collect();
    (places, next as usize)
}

impl Ledger {
    /// An empty account.
    pub fn new(clocks: Clocks, shape: Shape) -> Self {
        let (deed_places, deeds) = places(&shape, DEEDS);
        let (level_places, levels) = places(&shape, LEVELS);
        let level_places = level_places.into_iter().zip(LEVELS).map(|(place, name)| {
            let unit = name.split('/').next().unwrap_or_default();
            let room = match () {
                () if name.starts_with("imc/RPQ") => shape.pending[0],
                () if name.starts_with("imc/WPQ") => shape.pending[1],
                () => u64::MAX,
            };
            (place, clocks.of_unit(unit), room)
        });
        let level_places = level_places.collect();
        let agents = shape.instances("cha") * shape.sockets;
        let channels = shape.instances("imc") * shape.sockets;
        let agent = AgentCells {
            tor: Box::new([Stay::default(); Class::COUNT]),
            lookups: Box::new([[[0; 2]; Found::COUNT]; Kind::COUNT]),
            victims: [0; Victim::COUNT],
            rejects: rejects::Rejects::default(),
        };
        let cells = Cells {
            links: vec![LinkCells::default(); usize::from(shape.instances("upi") * shape.sockets)],
            deeds: vec![0; deeds],
            levels: vec![Gauge::default(); levels],
            agents: vec![agent; agents.into()],
            channels: vec![ChannelCells::default(); channels.into()],
            traffic: (0..shape.sockets).map(|_| Traffic::new(&shape.tiles)).collect(),
        };
        Self { clocks, shape, deed_places, level_places, cells, log: None, changes: None }
    }

    /// Something has happened `count` times in a unit.
    pub fn did(&mut self, deed: Deed, socket: u16, index: u16, count: u64) {
        self.cells.deeds[self.deed_places[usize::from(deed)].of(socket, index)] += count;
    }

    /// Something that lasts has begun at `tick`. Gives how many there are now.
    pub fn enter(&mut self, level: LevelId, socket: u16, index: u16, tick: Tick) -> u64 {
        let (place, clock, room) = self.level_places[usize::from(level)];
        let (cycle, gauge) = (clock.cycles(tick), &mut self.cells.levels[place.of(socket, index)]);
        gauge.enter(cycle, room);
        if let Some(changes) = self.changes.as_mut().filter(|_| level == INGRESS) {
            changes.ingress(socket * self.shape.instances("cha") + index, cycle, 1);
        }
        gauge.live
    }

    /// Something that lasted has ended at `tick`. Gives how many there are now.
    pub fn leave(&mut self, level: LevelId, socket: u16, index: u16, tick: Tick) -> u64 {
        let (place, clock, room) = self.level_places[usize::from(level)];
        let (cycle, gauge) = (clock.cycles(tick), &mut self.cells.levels[place.of(socket, index)]);
        gauge.leave(cycle, room);
        if let Some(changes) = self.changes.as_mut().filter(|_| level == INGRESS) {
            changes.ingress(socket * self.shape.instances("cha") + index, cycle, -1);
        }
        gauge.live
    }

    /// The capacity of a level.
    pub fn room(&self, level: LevelId) -> u64 {
        self.level_places[usize::from(level)].2
    }

    fn agent(&mut self, socket: u16, cha: u16) -> &mut AgentCells {
        let index = socket * self.shape.instances("cha") + cha;
        &mut self.cells.agents[usize::from(index)]
    }

    /// A request was looked up.
    pub fn looked_up(&mut self, socket: u16, cha: u16, class: Class, found: Found) {
        self.agent(socket, cha).lookups[class.kind as usize][found as usize][usize::from(class.remote)] += 1;
    }

    /// A request took an entry of the table of requests.
    pub fn tor_in(&mut self, socket: u16, cha: u16, class: Class, tick: Tick) {
        let cycle = self.clocks.uclk.cycles(tick);
        self.agent(socket, cha).tor[class.index()].enter(cycle);
        self.tor_changes(socket, cha, class, cycle, 1);
    }

    /// A request gave its entry back.
    pub fn tor_out(&mut self, socket: u16, cha: u16, class: Class, tick: Tick) {
        let cycle = self.clocks.uclk.cycles(tick);
        self.agent(socket, cha).tor[class.index()].leave(cycle);
        self.tor_changes(socket, cha, class, cycle, -1);
    }

    fn tor_changes(&mut self, socket: u16, cha: u16, class: Class, cycle: u64, by: i8) {
        if let Some(changes) = &mut self.changes {
            changes.table(socket * self.shape.instances("cha") + cha, class, cycle, by);
        }
    }

    /// Keeps every change of the agents' queues and tables from now on, for [`Ledger::shaped`].
    pub fn keep_changes(&mut self) {
        self.changes = Some(Changes::default());
    }

    /// What an occupancy event of an instance gives behind a threshold, since [`Ledger::keep_changes`]; `None` without it, or for events
    /// whose changes are not kept.
    pub fn shaped(
        &self,
        (socket, instance): (u16, u16),
        (unit, event, subevent): (&str, &str, &str),
        threshold: u64,
    ) -> Option<Shaped> {
        let per_socket = self.shape.instances("cha");
        if unit != "cha" || instance >= per_socket {
            return None;
        }
        self.changes.as_ref()?.shaped(socket * per_socket + instance, (event, subevent), threshold)
    }

    /// A line gave way to a fill.
    pub fn gave_way(&mut self, socket: u16, cha: u16, victim: Victim) {
        self.agent(socket, cha).victims[victim.index()] += 1;
    }

    /// A request was turned away, for the first time or once more.
    pub fn turned_away(&mut self, socket: u16, cha: u16, queue: Queue, reason: Reason, once_more: bool) {
        self.agent(socket, cha).rejects.turn_away(queue, reason, once_more);
    }

    /// A request that was turned away tried again.
    pub fn tried_again(&mut self, socket: u16, cha: u16, queue: Queue, reason: Reason) {
        self.agent(socket, cha).rejects.retry(queue, reason);
    }

    /// A column command went out on a channel.
    pub fn column(&mut self, channel: u16, pseudo: u8, kind: u8) {
        self.cells.channels[usize::from(channel)].columns[usize::from(pseudo)][usize::from(kind)] += 1;
    }

    /// An activate went out on a channel.
    pub fn activate(&mut self, channel: u16, pseudo: u8, kind: u8) {
        self.cells.channels[usize::from(channel)].activates[usize::from(pseudo)][usize::from(kind)] += 1;
    }

    /// Keeps every DRAM command from now on, for checkers.
    pub fn keep_commands(&mut self) {
        self.log = Some(Vec::new());
    }

    /// Notes a DRAM command of a pseudo channel, numbered over the machine.
    pub fn command(&mut self, pseudo_channel: u16, record: crate::ledger::CommandRecord) {
        if let Some(log) = &mut self.log {
            log.push((pseudo_channel, record));
        }
    }

    /// The DRAM commands kept since [`Ledger::keep_commands`].
    pub fn commands(&self) -> &[(u16, crate::ledger::CommandRecord)] {
        self.log.as_deref().unwrap_or_default()
    }

    /// A message of a class with an opcode went out on a link, or (`received`) came in; links are numbered over the machine.
    pub fn header(&mut self, link: u16, class: u8, opcode: u8, received: bool) {
        let cells = &mut self.cells.links[usize::from(link)];
        let cells = if received { &mut cells.received } else { &mut cells.sent };
        cells[usize::from(class)][usize::from(opcode)] += 1;
    }

    /// A message went over a socket's mesh.
    pub fn message(&mut self, socket: u16, message: &Message) {
        let (from, to) = (self.shape.tiles[usize::from(message.from)], self.shape.tiles[usize::from(message.to)]);
        self.cells.traffic[usize::from(socket)].add(message, from, to);
    }

    /// The account as of `now`.
    pub fn snapshot(&self, now: Tick) -> Snapshot {
        let mut cells = self.cells.clone();
        for &(place, clock, room) in &self.level_places {
            let all = usize::from(place.per_socket * self.shape.sockets);
            for gauge in &mut cells.levels[place.base as usize..place.base as usize + all] {
                gauge.settle(clock.cycles(now), room);
            }
        }
        Snapshot { now, clocks: self.clocks, shape: self.shape.clone(), places: self.places(), cells }
    }

    fn places(&self) -> Places {
        Places {
            deeds: self.deed_places.clone(),
            levels: self.level_places.iter().map(|&(place, _, _)| place).collect(),
        }
    }
}

#[derive(Debug, Clone)]
struct Places {
    deeds: Vec<Place>,
    levels: Vec<Place>,
}

/// The account at one instant.
#[derive(Debug, Clone)]
pub struct Snapshot {
    now: Tick,
    clocks: Clocks,
    shape: Shape,
    places: Places,
    cells: Cells,
}

impl Snapshot {
    /// When it was taken: everything before this tick is in it.
    pub const fn now(&self) -> Tick {
        self.now
    }

    /// An event's count from the beginning of time up to the snapshot, by the guide's names. `instance` is numbered over the
    /// machine's sockets. `None` if the ledger has no truth for the event.
    pub fn value(
        &self,
        unit: &str,
        instance: u16,
        event: &str,
        subevent: Option<&str>,
        filters: &[(&str, u64)],
    ) -> Option<u64> {
        names::value(self, unit, instance, event, subevent.unwrap_or_default(), filters)
    }

    /// As [`Snapshot::value`], by socket and the instance within it.
    pub fn count(
        &self,
        socket: u16,
        unit: &str,
        instance: u16,
        event: &str,
        subevent: Option<&str>,
        filters: &[(&str, u64)],
    ) -> Option<u64> {
        let per_socket = self.shape.instances(unit);
        let number = (instance < per_socket).then_some(socket * per_socket + instance)?;
        self.value(unit, number, event, subevent, filters)
    }

    /// What an event counted since an earlier snapshot.
    pub fn since(
        &self,
        earlier: &Self,
        unit: &str,
        instance: u16,
        event: &str,
        subevent: Option<&str>,
        filters: &[(&str, u64)],
    ) -> Option<u64> {
        let before = earlier.value(unit, instance, event, subevent, filters)?;
        Some(self.value(unit, instance, event, subevent, filters)? - before)
    }

    fn deed(&self, deed: usize, socket: u16, index: u16) -> u64 {
        self.cells.deeds[self.places.deeds[deed].of(socket, index)]
    }

    fn level(&self, level: usize, socket: u16, index: u16) -> &Gauge {
        &self.cells.levels[self.places.levels[level].of(socket, index)]
    }
}
