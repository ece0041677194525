//! Facts are added up.

use pericore_engine::{NEVER, Tick};
use pericore_facts::e5_2600::{E5Fact, PacketRecord, PacketStation, Record, Refused, RequestKind, RequestStation};
use pericore_facts::{ChannelFact, FactReader};

use super::Ledger;

impl Ledger {
    /// Always inlined: the station is known where a fact is reported.
    #[inline(always)]
    fn request(&mut self, at: Tick, station: RequestStation, record: &Record) {
        match station {
            RequestStation::Ended => self.close(record),
            RequestStation::UnderWay => self.cells.fold(record, self.clocks.uclk.cycles(at)),
            _ => {}
        }
    }

    /// A request has ended.
    ///
    /// What a hit has none of is called last, and by one call: so the short way saves no registers.
    #[inline(always)]
    fn close(&mut self, record: &Record) {
        self.cells.fold_stay(record, NEVER);
        if record.has_more() || self.stays.is_some() || self.latencies.is_some() {
            self.close_more(record);
        }
    }

    #[inline(never)]
    fn close_more(&mut self, record: &Record) {
        self.cells.fold_more(record, NEVER);
        if let Some(stays) = &mut self.stays {
            stays.add(record);
        }
        let is_load = record.kind == RequestKind::DataRead && record.miss && record.tor_in != NEVER;
        if let Some(latencies) = self.latencies.as_mut().filter(|_| is_load) {
            latencies.add(record.tor_out - record.tor_in);
        }
    }

    #[inline(always)]
    fn packet(&mut self, at: Tick, station: PacketStation, record: &PacketRecord) {
        let (links, clocks) = (&mut self.cells.links, &self.clocks);
        links[usize::from(record.sender)].sends(at, station, record, clocks, self.shape.shared);
        links[usize::from(record.receiver)].receives(at, station, clocks);
        match station {
            PacketStation::Ended => self.fold_packet(NEVER, record),
            PacketStation::UnderWay => self.fold_packet(at, record),
            _ => {}
        }
    }

    #[inline(never)]
    fn fold_packet(&mut self, now: Tick, record: &PacketRecord) {
        let links = &mut self.cells.links;
        links[usize::from(record.sender)].fold_sender(record, now, &self.clocks);
        links[usize::from(record.receiver)].fold_receiver(record, now, &self.clocks, self.shape.flight);
    }

    fn refuses(&mut self, what: Refused) {
        let cells = &mut self.cells;
        let count = match what {
            Refused::Slice(slice, queue, why) => {
                &mut cells.slices[usize::from(slice)].refusals[queue as usize][why as usize]
            }
            Refused::IoEgress(socket, queue) => &mut cells.devices[usize::from(socket)].refused[queue as usize],
            Refused::Io(socket, class) => &mut cells.devices[usize::from(socket)].rejected[class as usize],
            Refused::LinkIo(link, class) => &mut cells.links[usize::from(link)].io_rejected[class as usize],
        };
        *count += 1;
    }

    #[inline(always)]
    fn memory(&mut self, at: Tick, channel: u16, fact: ChannelFact) {
        if let ChannelFact::Command(record) = fact {
            self.log.note(channel, record);
        }
        self.cells.channels[usize::from(channel)].read(self.clocks.dclk.cycles(at), self.shape.pending, fact);
    }
}

impl FactReader<E5Fact<'_>> for Ledger {
    #[inline(always)]
    fn read(&mut self, at: Tick, fact: E5Fact<'_>) {
        match fact {
            E5Fact::Request(station, record) => self.request(at, station, record),
            E5Fact::Packet(station, record) => self.packet(at, station, record),
            // What a packet's flits are follows from its record.
            E5Fact::Flits(_) => {}
            E5Fact::Sends(sending) => self.cells.sends(sending),
            E5Fact::Travels(socket, route) => self.cells.rings[usize::from(socket)].travel(route),
            E5Fact::Begins(what) => self.cells.uses(what, true, at, &self.clocks, &self.shape),
            E5Fact::Ends(what) => self.cells.uses(what, false, at, &self.clocks, &self.shape),
            E5Fact::Refuses(what) => self.refuses(what),
            E5Fact::Bounces(socket, came) => {
                self.cells.devices[usize::from(socket)].bounces += 1;
                self.cells.rings[usize::from(socket)].go_round(came);
            }
            E5Fact::CoreBounces(slice, came) => {
                let (slice, of_socket) = (usize::from(slice), self.shape.slices / self.shape.sockets);
                self.cells.slices[slice].bounces[came.kind as usize] += 1;
                self.cells.rings[slice / of_socket].go_round(came);
            }
            E5Fact::Handles(socket, message) => self.cells.agents[usize::from(socket)].messages[message as usize] += 1,
            E5Fact::Enters(..) => {}
            E5Fact::Leaves(socket, state, since) => {
                let cycles = self.clocks.pclk().cycles_between(since, at);
                self.cells.power[usize::from(socket)].held(state, cycles);
            }
            E5Fact::Demotes(socket, core) => self.cells.power[usize::from(socket)].demoted(core),
            E5Fact::Memory(channel, fact) => self.memory(at, channel, fact),
        }
    }
}
