//! What stands in the queues when somebody begins to listen to them.
//!
//! Nothing is kept for it of requests: what stands in a slice or at a home agent follows from those under way.

use pericore_engine::{NEVER, Tick};
use pericore_facts::FactReader;
use pericore_facts::e5_2600::{E5Fact, Record, RequestStation, SliceState};
use pericore_hardware::signal::SignalSink;

use super::slices::{SliceTags, is_read_miss};
use super::wires::E5Signals;

/// Gathers what stands in one slice or at one home agent from the requests under way.
#[derive(Debug)]
pub struct OccupancyReader<'a> {
    tags: &'a SliceTags,
    place: Place,
    ingress: Vec<(u64, u32)>,
    table: Vec<(u64, u32)>,
    read_misses: u32,
    /// Requests in the tracker, of this socket and of others.
    tracked: [u32; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Slice(usize),
    Home(usize),
}

impl OccupancyReader<'_> {
    fn in_slice(&mut self, record: &Record) {
        let there = |from: u64, to: u64| from != NEVER && to == NEVER;
        if there(record.ingress_in, record.ingress_out) {
            let rejected = (record.rejected != NEVER).then(|| self.tags.rejected(record.tid));
            self.ingress.extend(self.tags.queued(record).chain(rejected).map(|tag| (tag, 1)));
        }
        if there(record.tor_in, record.tor_out) {
            self.table.push((self.tags.tor(record), 1));
            self.read_misses += u32::from(is_read_miss(record));
        }
    }
}

impl FactReader<E5Fact<'_>> for OccupancyReader<'_> {
    fn read(&mut self, _: Tick, fact: E5Fact<'_>) {
        let E5Fact::Request(RequestStation::UnderWay, record) = fact else { return };
        match self.place {
            Place::Slice(slice) if usize::from(record.slice) == slice => self.in_slice(record),
            Place::Home(home) if usize::from(record.nid) == home => {
                let tracked = record.tracker_in != NEVER && record.tracker_out == NEVER;
                self.tracked[usize::from(record.remote)] += u32::from(tracked);
            }
            _ => {}
        }
    }
}

impl E5Signals {
    /// Asks who listens to what; to be done whenever counters may have been programmed. `under_way` reports what is
    /// under way.
    pub fn listen<S: SignalSink>(&mut self, now: Tick, under_way: impl Fn(&mut OccupancyReader<'_>), sink: &mut S) {
        self.rings.listen(sink);
        let rings = self.rings.are_observed();
        self.links.iter_mut().for_each(|link| link.listen(sink));
        for index in 0..self.slices.len() {
            if self.slices[index].listen(rings, sink) {
                self.emit_slice(index, now, &under_way, sink);
            }
        }
        for index in 0..self.homes.len() {
            if self.homes[index].listen(sink) {
                self.emit_home(index, now, &under_way, sink);
            }
        }
        for channel in &mut self.channels {
            if channel.listen(sink) {
                channel.emit_occupancies(now, sink);
            }
        }
    }

    /// Says what stands in the queues of a PMON instance, whose counters may begin to listen.
    pub fn emit_occupancies<S: SignalSink>(
        &self,
        instance: u16,
        now: Tick,
        under_way: impl Fn(&mut OccupancyReader<'_>),
        sink: &mut S,
    ) {
        if let Some(slice) = self.slices.iter().position(|slice| slice.tor.instance() == instance) {
            self.emit_slice(slice, now, &under_way, sink);
        } else if let Some(home) = self.homes.iter().position(|home| home.tracker.0.instance() == instance) {
            self.emit_home(home, now, &under_way, sink);
        } else if let Some(channel) = self.channels.iter().find(|channel| channel.instance() == instance) {
            channel.emit_occupancies(now, sink);
        }
    }

    fn occupancies(&self, place: Place, under_way: impl Fn(&mut OccupancyReader<'_>)) -> OccupancyReader<'_> {
        let (ingress, table) = (Vec::new(), Vec::new());
        let mut occupancy =
            OccupancyReader { tags: &self.tags, place, ingress, table, read_misses: 0, tracked: [0; 2] };
        under_way(&mut occupancy);
        occupancy
    }

    #[cold]
    fn emit_slice<S: SignalSink>(
        &self,
        index: usize,
        now: Tick,
        under_way: impl Fn(&mut OccupancyReader<'_>),
        sink: &mut S,
    ) {
        let occupancy = self.occupancies(Place::Slice(index), under_way);
        let wires = &self.slices[index];
        wires.ingress.stand(&occupancy.ingress, now, sink);
        wires.tor.stand(&occupancy.table, now, sink);
        wires.pressure.read_misses.stand(&[(0, occupancy.read_misses)], now, sink);
        let (wire, tags) = &wires.pressure.states;
        let states: [(u64, u32); SliceState::COUNT] =
            std::array::from_fn(|state| (tags[state], u32::from(wires.pressure.holds[state])));
        wire.stand(&states, now, sink);
    }

    #[cold]
    fn emit_home<S: SignalSink>(
        &self,
        index: usize,
        now: Tick,
        under_way: impl Fn(&mut OccupancyReader<'_>),
        sink: &mut S,
    ) {
        let occupancy = self.occupancies(Place::Home(index), under_way);
        let home = &self.homes[index];
        let (wire, tags) = &home.tracker;
        wire.stand(&[(tags[0], occupancy.tracked[0]), (tags[1], occupancy.tracked[1])], now, sink);
        for credits in &home.credits {
            let full: Vec<_> = credits.iter().filter_map(|level| level.fullness()).collect();
            if let Some((wire, _)) = full.first() {
                wire.stand(&full.iter().map(|(_, count)| *count).collect::<Vec<_>>(), now, sink);
            }
        }
    }
}
