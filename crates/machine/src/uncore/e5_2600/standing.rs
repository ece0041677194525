//! Who listens, and what stands in the queues when somebody begins to.
//!
//! Nothing is kept for it: what stands in a slice or at a home agent follows from the requests under way.

use pericore_dram::Pending;
use pericore_engine::NEVER;
use pericore_hardware::signal::SignalSink;

use super::Model;
use super::home::CHANNELS;
use super::wires::HomeWires;
use crate::ledger::e5_2600::{Record, RequestKind};

impl Model {
    /// Asks who listens to what; to be done whenever counters may have been programmed.
    pub(super) fn listen<S: SignalSink>(&mut self, sink: &mut S) {
        self.rings.listen(sink);
        let rings = self.rings.are_heard();
        for index in 0..self.slices.len() {
            let heard = self.slices[index].wires.ingress.is_heard();
            if self.slices[index].listen(rings, sink) {
                self.stands_in_slice(index, sink);
            }
            if !heard && self.slices[index].wires.ingress.is_heard() {
                self.announce_arrivals(index);
            }
        }
        for index in 0..self.homes.len() {
            if self.wires.homes[index].listen(sink) {
                self.stands_at_home(index, sink);
            }
        }
        for index in 0..self.channels.len() {
            if self.wires.channels[index].listen(sink) {
                self.stands_in_channel(index, sink);
            }
        }
    }

    /// Says what stands in the queues of a PMON instance, whose counters may begin to listen.
    pub fn stands<S: SignalSink>(&self, instance: u16, sink: &mut S) {
        if !self.work.has_started() {
            return;
        }
        if let Some(slice) = self.slices.iter().position(|slice| slice.wires.tor.instance() == instance) {
            self.stands_in_slice(slice, sink);
        } else if let Some(home) = self.wires.homes.iter().position(|home| home.tracker.0.instance() == instance) {
            self.stands_at_home(home, sink);
        } else if let Some(channel) = self.wires.channels.iter().position(|channel| channel.instance() == instance) {
            self.stands_in_channel(channel, sink);
        }
    }

    #[cold]
    fn stands_in_slice<S: SignalSink>(&self, index: usize, sink: &mut S) {
        let (slice, tags, now) = (&self.slices[index], &self.wires.tags, self.now);
        let wires = &slice.wires;
        let next = self.clocks.uclk.next_cycle(now);
        let waiting = self.pool.records().filter(|record| {
            usize::from(record.slice) == index && record.ingress_in < next && record.ingress_out == NEVER
        });
        let ingress: Vec<(u64, u32)> = waiting
            .flat_map(|record| {
                let snoop = record.kind == RequestKind::Snoop;
                let queue = if snoop { tags.snoop_ingress() } else { tags.ingress(record.tid) };
                let ordered = record.kind.is_io().then(|| tags.ordered(record.tid));
                let rejected = (record.rejected != NEVER).then(|| tags.rejected(record.tid));
                [Some(queue), ordered, rejected].into_iter().flatten().map(|tag| (tag, 1))
            })
            .collect();
        wires.ingress.stand(&ingress, now, sink);
        let table: Vec<(u64, u32)> = slice.in_table().map(|request| (self.pool[request].tor_tag, 1)).collect();
        wires.tor.stand(&table, now, sink);
        let misses = slice.in_table().filter(|&request| self.pool[request].is_read_miss()).count() as u32;
        wires.pressure.read_misses.stand(&[(0, misses)], now, sink);
        let (wire, state_tags) = wires.pressure.states;
        let states: Vec<(u64, u32)> =
            state_tags.iter().enumerate().map(|(state, &tag)| (tag, u32::from(slice.states >> state & 1))).collect();
        wire.stand(&states, now, sink);
    }

    #[cold]
    fn stands_at_home<S: SignalSink>(&self, index: usize, sink: &mut S) {
        let HomeWires { tracker: (tracker, tracker_tags), no_credits, .. } = self.wires.homes[index];
        let here = |record: &&Record| {
            usize::from(record.nid) == index && record.tracker_in != NEVER && record.tracker_out == NEVER
        };
        let entries: Vec<(u64, u32)> =
            self.pool.records().filter(here).map(|record| (tracker_tags[usize::from(record.remote)], 1)).collect();
        tracker.stand(&entries, self.now, sink);
        let home = &self.homes[index];
        for ((wire, channel_tags), credits) in no_credits.into_iter().zip([home.read_credits, home.write_credits]) {
            let none: [(u64, u32); CHANNELS] =
                std::array::from_fn(|channel| (channel_tags[channel], u32::from(credits[channel] == 0)));
            wire.stand(&none, self.now, sink);
        }
    }

    #[cold]
    fn stands_in_channel<S: SignalSink>(&self, index: usize, sink: &mut S) {
        let (channel, wires, timing) = (&self.channels[index], &self.wires.channels[index], &self.parameters.dram);
        for (queue, room) in [(Pending::Reads, timing.reads), (Pending::Writes, timing.writes)] {
            let entries = channel.entries(queue).count() as u32;
            wires.queue[queue as usize].stand(&[(0, entries)], self.now, sink);
            wires.full[queue as usize].stand(&[(0, u32::from(entries == u32::from(room)))], self.now, sink);
        }
        let (wire, tags) = wires.mode;
        wire.stand(&[(tags[channel.mode() as usize], 1)], self.now, sink);
    }
}
