//! The truth of the Emerald Rapids model: what really happened, kept apart from the signals that counters see.
//!
//! The model tells the ledger of requests (look-ups, stays in the table of requests, victims), of messages on the mesh, of DRAM
//! commands, of what units did ([`deeds`]) and of how long it lasted. Nothing here reads a signal, a wire or a tag. What the names of
//! events mean is written in [`names`] and [`requests`] by hand from the guide's texts.

mod cells;
mod changes;
pub mod compiled;
pub mod deeds;
mod device_names;
mod early;
mod gauge;
mod kind;
mod link_messages;
mod link_names;
mod mesh;
mod mesh_names;
mod names;
mod places;
mod rejects;
mod requests;
mod shape;
mod snapshot;
mod victim;

use cells::{AgentCells, Cells};
use changes::Changes;
use deeds::{DEEDS, Deed, LEVELS, LevelId, OfDeeds, OfLevels};
use pericore_engine::{Period, Tick};
use places::{Place, Places, places};

use super::{CommandLog, CommandRecord, Question, Shaped};
pub use cells::COMMAND_KINDS;
pub use gauge::{Gauge, Stay};
pub use kind::{Class, Found, Kind, Lookup, Queue, Target};
pub use link_messages::{LinkClass, LinkCodes, LinkMessage};
pub use mesh::{Bridged, HALF_FULL, MOST_COLUMNS, MOST_ROWS, MOST_TILES, Message, PATIENCE, ROOM, Ring, Tile, Traffic};
pub use places::{LevelSpot, Spot};
pub use rejects::Reason;
pub use shape::{Clocks, Shape};
pub use snapshot::Snapshot;
pub use victim::Victim;

/// The queue of cores' requests in a caching and home agent. Its entries are told when they leave it; those that are there are the model's to
/// name when it is asked for the account.
pub const INGRESS: LevelId = deeds::level("cha/RxC_INSERTS.IRQ");

/// The running account.
#[derive(Debug)]
pub struct Ledger {
    clocks: Clocks,
    shape: Shape,
    agents_of_socket: u16,
    deed_places: OfDeeds<Place>,
    /// Of each level: where its totals lie, its clock, and its capacity.
    level_places: OfLevels<(Place, Period, u64)>,
    cells: Cells,
    log: CommandLog,
    changes: Option<Changes>,
}

impl Ledger {
    /// An empty account.
    pub fn new(clocks: Clocks, shape: Shape) -> Self {
        let (deed_places, deeds) = places(&shape, DEEDS);
        let (level_places, levels) = places(&shape, LEVELS);
        let level_places = level_places.into_iter().zip(LEVELS).map(|(place, name)| {
            let unit = deeds::unit_of(name);
            let room = match () {
                () if name.starts_with("imc/RPQ") => shape.pending[0],
                () if name.starts_with("imc/WPQ") => shape.pending[1],
                () => shape.rooms.iter().find(|(start, _)| name.starts_with(start)).map_or(u64::MAX, |&(_, room)| room),
            };
            (place, clocks.of_unit(unit), room)
        });
        let (deed_places, level_places) = (deeds::table(deed_places), deeds::table(level_places.collect()));
        let cells = Cells::new(&shape, deeds, levels);
        let agents_of_socket = shape.instances("cha");
        Self {
            clocks,
            shape,
            agents_of_socket,
            deed_places,
            level_places,
            cells,
            log: CommandLog::default(),
            changes: None,
        }
    }

    /// Something has happened `count` times in a unit.
    #[inline]
    pub fn did(&mut self, deed: Deed, socket: u16, index: u16, count: u64) {
        self.cells.deeds[self.deed_places[usize::from(deed)].of(socket, index)] += count;
    }

    /// Where a deed and all others of its unit happen in one of its instances.
    #[inline]
    pub fn spot(&self, deed: Deed, socket: u16, index: u16) -> Spot {
        Spot { socket, index, distance: self.deed_places[usize::from(deed)].distance(socket, index) as u32 }
    }

    /// Several things of one unit have happened once where a spot says.
    #[inline]
    pub fn did_at<const N: usize>(&mut self, deeds: [Deed; N], spot: Spot) {
        for &deed in &deeds {
            let place = self.deed_places[usize::from(deed)];
            debug_assert!(place.distance(spot.socket, spot.index) == spot.distance as usize, "deeds of two units");
            self.cells.deeds[(place.base + spot.distance) as usize] += 1;
        }
    }

    /// A level of an instance.
    #[inline]
    pub fn level(&self, level: LevelId, socket: u16, index: u16) -> LevelSpot {
        let place = self.level_places[usize::from(level)].0.of(socket, index) as u32;
        LevelSpot { level, socket, index, place }
    }

    /// How many levels all instances have together.
    pub fn levels(&self) -> usize {
        self.cells.levels.len()
    }

    /// Something that lasts has begun at `tick`. Gives how many there are now.
    #[inline]
    pub fn enter(&mut self, spot: LevelSpot, tick: Tick) -> u64 {
        let (_, clock, room) = self.level_places[usize::from(spot.level)];
        let (cycle, gauge) = (clock.cycles(tick), &mut self.cells.levels[spot.place as usize]);
        gauge.enter(cycle, room);
        gauge.live
    }

    /// Something that lasted has ended at `tick`. Gives how many there are now.
    #[inline]
    pub fn leave(&mut self, spot: LevelSpot, tick: Tick) -> u64 {
        let (_, clock, room) = self.level_places[usize::from(spot.level)];
        let (cycle, gauge) = (clock.cycles(tick), &mut self.cells.levels[spot.place as usize]);
        gauge.leave(cycle, room);
        gauge.live
    }

    /// True if every change of the agents' queues and tables is to be told when it happens.
    #[inline]
    pub const fn keeps_changes(&self) -> bool {
        self.changes.is_some()
    }

    /// A core's request has come to its agent's ingress queue. Of interest only if changes are kept.
    pub fn comes_to_ingress(&mut self, spot: LevelSpot, tick: Tick) {
        if let Some(changes) = &mut self.changes {
            changes.ingress(spot.socket * self.agents_of_socket + spot.index, self.clocks.uclk.cycles(tick), 1);
        }
    }

    /// A core's request that `came` to its agent's ingress queue has left it.
    #[inline]
    pub fn left_ingress(&mut self, spot: LevelSpot, came: Tick, tick: Tick) {
        let (from, to) = (self.clocks.uclk.cycles(came), self.clocks.uclk.cycles(tick));
        let gauge = &mut self.cells.levels[spot.place as usize];
        gauge.entries += 1;
        gauge.occupied += to - from;
        if let Some(changes) = &mut self.changes {
            changes.ingress(spot.socket * self.agents_of_socket + spot.index, to, -1);
        }
    }

    /// How many there are of something that lasts.
    pub fn live(&self, level: LevelId, socket: u16, index: u16) -> u64 {
        self.cells.levels[self.level_places[usize::from(level)].0.of(socket, index)].live
    }

    /// Entries of a table of requests, by class.
    pub fn in_table(&self, socket: u16, cha: u16) -> impl Iterator<Item = (Class, u64)> {
        let stays = &self.cells.agents[usize::from(socket * self.agents_of_socket + cha)].tor;
        stays.iter().enumerate().map(|(index, stay)| (Class::of(index), stay.live))
    }

    /// The capacity of a level.
    #[inline]
    pub fn room(&self, level: LevelId) -> u64 {
        self.level_places[usize::from(level)].2
    }

    #[inline]
    fn agent(&mut self, socket: u16, cha: u16) -> &mut AgentCells {
        let index = socket * self.agents_of_socket + cha;
        &mut self.cells.agents[usize::from(index)]
    }

    /// A request was looked up.
    #[inline]
    pub fn looked_up(&mut self, socket: u16, cha: u16, class: Class, found: Found) {
        self.agent(socket, cha).lookups[class.kind as usize][found as usize][usize::from(class.remote)] += 1;
    }

    /// A request took an entry of the table of requests.
    #[inline]
    pub fn tor_in(&mut self, socket: u16, cha: u16, class: Class, tick: Tick) {
        let cycle = self.clocks.uclk.cycles(tick);
        self.agent(socket, cha).tor[class.index()].enter(cycle);
        self.tor_changes(socket, cha, class, cycle, 1);
    }

    /// A request gave its entry back.
    #[inline]
    pub fn tor_out(&mut self, socket: u16, cha: u16, class: Class, tick: Tick) {
        let cycle = self.clocks.uclk.cycles(tick);
        self.agent(socket, cha).tor[class.index()].leave(cycle);
        self.tor_changes(socket, cha, class, cycle, -1);
    }

    fn tor_changes(&mut self, socket: u16, cha: u16, class: Class, cycle: u64, by: i8) {
        if let Some(changes) = &mut self.changes {
            changes.table(socket * self.agents_of_socket + cha, class, cycle, by);
        }
    }

    /// Keeps every change of the agents' queues and tables from now on, for [`Ledger::shaped`].
    pub fn keep_changes(&mut self) {
        self.changes = Some(Changes::default());
    }

    /// What an occupancy event of an instance gives behind a threshold, since [`Ledger::keep_changes`]; `None` without it, or for events
    /// whose changes are not kept.
    pub fn shaped(&self, socket: u16, instance: u16, question: Question<'_>, threshold: u64) -> Option<Shaped> {
        let per_socket = self.shape.instances("cha");
        if question.unit != "cha" || instance >= per_socket {
            return None;
        }
        self.changes.as_ref()?.shaped(socket * per_socket + instance, question, threshold)
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
    #[inline]
    pub fn column(&mut self, channel: u16, pseudo: u8, kind: u8) {
        self.cells.channels[usize::from(channel)].columns[usize::from(pseudo)][usize::from(kind)] += 1;
    }

    /// An activate went out on a channel.
    #[inline]
    pub fn activate(&mut self, channel: u16, pseudo: u8, kind: u8) {
        self.cells.channels[usize::from(channel)].activates[usize::from(pseudo)][usize::from(kind)] += 1;
    }

    /// Keeps every DRAM command from now on, for checkers.
    pub fn keep_commands(&mut self) {
        self.log.keep();
    }

    /// Notes a DRAM command of a pseudo channel, numbered over the machine.
    #[inline]
    pub fn command(&mut self, pseudo_channel: u16, record: CommandRecord) {
        self.log.note(pseudo_channel, record);
    }

    /// The DRAM commands kept since [`Ledger::keep_commands`].
    pub fn commands(&self) -> &[(u16, CommandRecord)] {
        self.log.commands()
    }

    /// A message went out on a link in a slot of a flit, or (`received`) came in; links are numbered over the machine.
    pub fn link_message(&mut self, link: u16, message: LinkMessage, slot: u8, received: bool) {
        let way = self.cells.links[usize::from(link)].way(received);
        way.messages[message as usize] += 1;
        way.slots[usize::from(slot)] += 1;
    }

    /// A stack's port answered a snoop.
    pub fn port_answered(&mut self, socket: u16, stack: u16, result: u8, snoop: u8) {
        let port = socket * self.shape.instances("irp") + stack;
        self.cells.answers[usize::from(port)][usize::from(result)][usize::from(snoop)] += 1;
    }

    /// Credits went out on a link, or (`received`) came in.
    pub fn credit_slot(&mut self, link: u16, received: bool) {
        self.cells.links[usize::from(link)].way(received).credits += 1;
    }

    /// A message of a ring and agent went over a socket's mesh from tile to tile; it held its credit for so many cycles, or needed none.
    #[inline(always)]
    pub fn went(&mut self, socket: u16, lane: (Ring, u8), ends: (u8, u8), held: u64) {
        self.cells.traffic[usize::from(socket)].count(lane, ends, held);
    }

    /// A message that went over a socket's mesh waited there.
    pub fn waited(&mut self, socket: u16, message: &Message) {
        self.cells.traffic[usize::from(socket)].wait(message);
    }

    /// The account as of `now`. `in_ingress` are cores' requests in ingress queues: socket and agent, and when they came.
    pub fn snapshot(&self, now: Tick, in_ingress: impl Iterator<Item = (u16, u16, Tick)>) -> Snapshot {
        let mut cells = self.cells.clone();
        for (socket, cha, came) in in_ingress {
            let (place, clock, room) = self.level_places[usize::from(INGRESS)];
            cells.levels[place.of(socket, cha)].enter(clock.cycles(came), room);
        }
        for &(place, clock, room) in self.level_places.iter() {
            for instance in 0..place.per_socket * self.shape.sockets {
                let gauge = &mut cells.levels[place.of(0, instance)];
                *gauge = gauge.at(clock.cycles(now), room);
            }
        }
        let places = Places {
            deeds: self.deed_places.to_vec(),
            levels: self.level_places.iter().map(|&(place, _, _)| place).collect(),
        };
        Snapshot { now, clocks: self.clocks, shape: self.shape.clone(), places, cells }
    }
}
