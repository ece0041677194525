//! Facts become pulses and levels.

use pericore_engine::Tick;
use pericore_facts::FactReader;
use pericore_facts::e5_2600::{
    E5Fact, PacketRecord, PacketStation, Record, Refused, RequestStation, Route, Sending, UncoreUse,
};
use pericore_hardware::signal::SignalSink;

use super::wires::E5Signals;

impl E5Signals {
    /// A reader of facts that emits to a sink.
    pub const fn reader<'a, S>(&'a mut self, sink: &'a mut S) -> E5Emitter<'a, S> {
        E5Emitter { signals: self, sink }
    }
}

/// Emits what facts mean to a sink.
#[derive(Debug)]
pub struct E5Emitter<'a, S> {
    pub(super) signals: &'a mut E5Signals,
    pub(super) sink: &'a mut S,
}

impl<S: SignalSink> E5Emitter<'_, S> {
    /// Always inlined: the station is known where a fact is reported.
    #[inline(always)]
    fn request(&mut self, at: Tick, station: RequestStation, record: &Record) {
        let Self { signals, sink } = self;
        match station {
            RequestStation::Arrived
            | RequestStation::Rejected
            | RequestStation::LookedUp
            | RequestStation::Listed
            | RequestStation::Delisted
            | RequestStation::Filled
            | RequestStation::Aliased
            | RequestStation::DroppedSilently => {
                signals.slices[usize::from(record.slice)].request(at, station, record, &signals.tags, *sink);
            }
            RequestStation::Ended | RequestStation::UnderWay => {}
            _ => signals.homes[usize::from(record.nid)].request(at, station, record, *sink),
        }
    }

    #[inline(always)]
    fn packet(&mut self, at: Tick, station: PacketStation, record: &PacketRecord) {
        self.signals.links[usize::from(record.sender)].sends(at, station, record, self.sink);
        self.signals.links[usize::from(record.receiver)].receives(at, station, record, self.sink);
    }

    #[inline(always)]
    fn sends(&mut self, at: Tick, sending: Sending) {
        let wires = &self.signals.slices[usize::from(sending.stop)];
        if sending.waited > 0 {
            wires.waited(at, sending, self.sink);
        }
        if wires.egress_observed {
            self.emits_message(at, sending);
        }
    }

    #[cold]
    fn emits_message(&mut self, at: Tick, sending: Sending) {
        let Sending { stop, message, to, odd, waited } = sending;
        let wires = &self.signals.slices[usize::from(stop)];
        if waited == 0 {
            wires.pressure.bypass.emit(0, at, self.sink);
        }
        let (wire, tag) = wires.messages[message as usize];
        self.sink.pulse(wire, tag, at, 1);
        let socket = stop >> self.signals.slice_bits;
        let from = (stop - (socket << self.signals.slice_bits)) as u8;
        self.signals.rings.travel(socket as u8, Route { kind: message.ring(), from, to, odd }, at, self.sink);
    }

    #[inline(always)]
    fn uses(&mut self, at: Tick, what: UncoreUse, on: bool) {
        let Self { signals, sink } = self;
        let level = match what {
            UncoreUse::Credit(home, queue, channel) => {
                &mut signals.homes[usize::from(home)].credits[queue as usize][usize::from(channel)]
            }
            UncoreUse::SpecialCredit(home, queue, channel) => {
                &mut signals.homes[usize::from(home)].special_credits[queue as usize][usize::from(channel)]
            }
            UncoreUse::Slice(slice, state) => {
                let pressure = &mut signals.slices[usize::from(slice)].pressure;
                pressure.holds[state as usize] = on;
                return pressure.states.0.switch(pressure.states.1[state as usize], on, at, *sink);
            }
            UncoreUse::Throttle(slice) => {
                let wire = signals.slices[usize::from(slice)].pressure.throttle;
                return if on { sink.enter(wire, 0, at) } else { sink.leave(wire, 0, at) };
            }
            UncoreUse::Conflict(home) => &mut signals.homes[usize::from(home)].conflicts,
            UncoreUse::DirectDisabled(home) => &mut signals.homes[usize::from(home)].direct_disabled,
            UncoreUse::NoLink(home, way) => &mut signals.homes[usize::from(home)].no_link[usize::from(way)],
            UncoreUse::HomeEgress(home, ring, bank) => {
                &mut signals.homes[usize::from(home)].egress[ring as usize][usize::from(bank)]
            }
            UncoreUse::IoEgress(socket, queue) => &mut signals.devices[usize::from(socket)].egress[queue as usize],
            UncoreUse::IoIngress(socket, class) => &mut signals.devices[usize::from(socket)].ingress[class as usize],
            UncoreUse::IoCredit(socket, class) => &mut signals.devices[usize::from(socket)].credits[class as usize],
            UncoreUse::LinkIoCredit(link, class) => &mut signals.links[usize::from(link)].io[class as usize],
            UncoreUse::Link(link, state) => {
                let wire = signals.links[usize::from(link)].power[state as usize];
                return if on { sink.enter(wire, 0, at) } else { sink.leave(wire, 0, at) };
            }
            UncoreUse::Stall(link, stall) => {
                let (wire, tag) = signals.links[usize::from(link)].stalls[stall.index()];
                return if on { sink.enter(wire, tag, at) } else { sink.leave(wire, tag, at) };
            }
            UncoreUse::Hold(socket, stage) => {
                let (wire, tag) = signals.agents[usize::from(socket)].hold(stage);
                return if on { sink.enter(wire, tag, at) } else { sink.leave(wire, tag, at) };
            }
        };
        level.change(on, at, *sink);
    }

    #[cold]
    fn refuses(&mut self, at: Tick, what: Refused) {
        let signals = &self.signals;
        let (wire, tag) = match what {
            Refused::Slice(slice, queue, why) => {
                let (wire, tags) = signals.slices[usize::from(slice)].pressure.refused[queue as usize];
                (wire, tags[why as usize])
            }
            Refused::IoEgress(socket, queue) => {
                let Some(tagged) = signals.devices[usize::from(socket)].refused[queue as usize] else { return };
                tagged
            }
            Refused::Io(socket, class) => signals.devices[usize::from(socket)].rejected[class as usize],
            Refused::LinkIo(link, class) => signals.links[usize::from(link)].io_rejected[class as usize],
        };
        self.sink.pulse(wire, tag, at, 1);
    }
}

impl<S: SignalSink> FactReader<E5Fact<'_>> for E5Emitter<'_, S> {
    #[inline(always)]
    fn read(&mut self, at: Tick, fact: E5Fact<'_>) {
        match fact {
            E5Fact::Request(station, record) => self.request(at, station, record),
            E5Fact::Packet(station, record) => self.packet(at, station, record),
            E5Fact::Flits(flits) => self.signals.links[usize::from(flits.link)].carries(at, flits, self.sink),
            E5Fact::Sends(sending) => self.sends(at, sending),
            E5Fact::Travels(socket, route) => self.signals.rings.travel(socket, route, at, self.sink),
            E5Fact::Begins(what) => self.uses(at, what, true),
            E5Fact::Ends(what) => self.uses(at, what, false),
            E5Fact::Refuses(what) => self.refuses(at, what),
            E5Fact::Bounces(socket, came) => {
                self.sink.pulse(self.signals.devices[usize::from(socket)].bounces, 0, at, 1);
                self.signals.rings.go_round(socket, came, at, self.sink);
            }
            E5Fact::CoreBounces(slice, came) => {
                let (wire, tags) = self.signals.slices[usize::from(slice)].pressure.bounces;
                self.sink.pulse(wire, tags[came.kind as usize], at, 1);
                self.signals.rings.go_round((slice >> self.signals.slice_bits) as u8, came, at, self.sink);
            }
            E5Fact::Handles(socket, message) => {
                for (wire, tag) in self.signals.agents[usize::from(socket)].of_message(message) {
                    self.sink.pulse(wire, tag, at, 1);
                }
            }
            E5Fact::Enters(socket, state) => {
                self.signals.power[usize::from(socket)].switch(at, state, true, self.sink);
            }
            E5Fact::Leaves(socket, state, _) => {
                self.signals.power[usize::from(socket)].switch(at, state, false, self.sink);
            }
            E5Fact::Demotes(socket, core) => self.signals.power[usize::from(socket)].demoted(at, core, self.sink),
            E5Fact::Memory(channel, fact) => self.signals.channels[usize::from(channel)].read(at, fact, self.sink),
        }
    }
}
