//! Facts are added up.

use pericore_engine::{NEVER, Tick};
use pericore_facts::FactReader;
use pericore_facts::nehalem::{
    CHANNELS, NehalemFact, ProbeRecord, Record, SnoopStation, Source, Station, Tracker, Use,
};

use super::cells::{fold, fold_probe};
use super::{Ledger, NO_LIMIT, SEVERAL};

impl Ledger {
    /// Always inlined: the station is known where a fact is reported.
    #[inline(always)]
    fn request(&mut self, at: Tick, station: Station, record: &Record) {
        let (cycle, shape) = (self.clocks.uclk.cycles(at), &self.shape);
        let own = &mut self.sockets[usize::from(record.socket)];
        match (station, record.kind.tracker()) {
            (Station::Queued, Some(tracker)) => {
                own.trackers[tracker as usize].enter(cycle, shape.tracker(tracker));
            }
            (Station::Left, Some(tracker)) => own.trackers[tracker as usize].leave(cycle, shape.tracker(tracker)),
            _ => {}
        }
        let home = &mut self.sockets[usize::from(record.home)];
        let source = record.source;
        match station {
            Station::AtHome => home.home[source as usize].enter(cycle, shape.home(source)),
            Station::LeftHome => home.home[source as usize].leave(cycle, shape.home(source)),
            Station::AtMemory => {
                home.queue(record.kind, record.channel).enter(cycle, shape.room(record));
                if record.isochronous_write {
                    let room = shape.high_priority[1].into();
                    home.isochronous_writes[usize::from(record.channel)].enter(cycle, room);
                }
                if record.kind.reads() {
                    home.outstanding[usize::from(record.channel)].enter(cycle, NO_LIMIT);
                }
            }
            Station::Served => {
                home.queue(record.kind, record.channel).leave(cycle, shape.room(record));
                home.outstanding[usize::from(record.channel)].leave(cycle, NO_LIMIT);
            }
            Station::Ended => {
                fold(&mut self.sockets, self.clocks.uclk, at, record);
                let is_own = record.kind.reads() && source == Source::Local && record.at_home != NEVER;
                if let Some(latencies) = self.latencies.as_mut().filter(|_| is_own) {
                    latencies.add(self.clocks.uclk.cycles_between(record.at_home, record.left_home));
                }
            }
            _ => {}
        }
    }

    #[inline(always)]
    fn snoop(&mut self, at: Tick, station: SnoopStation, record: &ProbeRecord) {
        let cycle = self.clocks.uclk.cycles(at);
        let room = self.shape.tracker(Tracker::Peer);
        let cells = &mut self.sockets[usize::from(record.socket)];
        let waits = record.link.map(|link| &mut cells.no_peer[usize::from(link)]);
        let tracker = &mut cells.trackers[Tracker::Peer as usize];
        match (station, waits) {
            (SnoopStation::Waits, Some(waits)) => waits.enter(cycle, NO_LIMIT),
            (SnoopStation::Queued, waits) => {
                if let Some(waits) = waits.filter(|_| record.has_waited()) {
                    waits.leave(cycle, NO_LIMIT);
                }
                tracker.enter(cycle, room);
            }
            (SnoopStation::Left, _) => tracker.leave(cycle, room),
            (SnoopStation::Ended, _) => fold_probe(&mut self.sockets, self.clocks.uclk, at, record),
            _ => {}
        }
    }

    fn ends(&mut self, at: Tick, socket: u8, what: Use, since: Tick) {
        let cycles = self.clocks.uclk.cycles_between(since, at);
        let cells = &mut self.sockets[usize::from(socket)];
        match what {
            Use::Contest(source) => {
                let contest = &mut cells.contests[source as usize];
                contest.leave(self.clocks.uclk.cycles(at), SEVERAL);
                contest.stayed(cycles);
            }
            Use::Port(port) => cells.ports[port as usize] += cycles,
            Use::Link(link) => cells.links[usize::from(link)] += cycles,
            Use::NoCredit(link, class) => {
                cells.no_credit[usize::from(link)][class as usize] += cycles;
                let stalls = &mut cells.stalls[usize::from(link)][usize::from(class.flits() > 1)];
                stalls.leave(self.clocks.uclk.cycles(at), NO_LIMIT);
                stalls.stayed(cycles);
            }
        }
    }
}

impl FactReader<NehalemFact<'_>> for Ledger {
    #[inline(always)]
    fn read(&mut self, at: Tick, fact: NehalemFact<'_>) {
        let clock = self.clocks.uclk;
        match fact {
            NehalemFact::Request(station, record) => self.request(at, station, record),
            NehalemFact::Snoop(station, record) => self.snoop(at, station, record),
            NehalemFact::Begins(socket, Use::Contest(source)) => {
                self.sockets[usize::from(socket)].contests[source as usize].enter(clock.cycles(at), SEVERAL);
            }
            NehalemFact::Begins(socket, Use::NoCredit(link, class)) => {
                let stalls = &mut self.sockets[usize::from(socket)].stalls[usize::from(link)];
                stalls[usize::from(class.flits() > 1)].enter(clock.cycles(at), NO_LIMIT);
            }
            NehalemFact::Begins(..) => {}
            NehalemFact::Ends(socket, what, since) => self.ends(at, socket, what, since),
            NehalemFact::Reply { home, source, reply, .. } => {
                self.sockets[usize::from(home)].matched[source as usize][reply as usize] += 1;
            }
            NehalemFact::Met { home, requests } => {
                self.sockets[usize::from(home)].conflicts[usize::from(requests > 2)] += 1;
            }
            NehalemFact::Written { home, channel, since, isochronous } => {
                if isochronous {
                    let census = &mut self.sockets[usize::from(home)].isochronous_writes[usize::from(channel)];
                    census.leave(clock.cycles(at), self.shape.high_priority[1].into());
                    census.stayed(clock.cycles_between(since, at));
                }
                let census = &mut self.sockets[usize::from(home)].writes[usize::from(channel)];
                census.leave(clock.cycles(at), self.shape.queue(false));
                census.stayed(clock.cycles_between(since, at));
            }
            NehalemFact::Command { home, channel, record } => {
                let (home, channel) = (usize::from(home), usize::from(channel));
                self.sockets[home].commands[channel][record.command as usize] += 1;
                self.sockets[home].closing[channel][record.command as usize] += u64::from(record.closes);
                self.log.note((home * CHANNELS + channel) as u16, record);
            }
            NehalemFact::Forwarded { home, channel } => {
                self.sockets[usize::from(home)].forwards[usize::from(channel)] += 1;
            }
            NehalemFact::Merged { home, channel } => {
                self.sockets[usize::from(home)].merges[usize::from(channel)] += 1;
            }
        }
    }
}
