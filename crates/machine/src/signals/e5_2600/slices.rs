//! The signals of slices.

use pericore_engine::{NEVER, Tick};
use pericore_facts::LineState;
use pericore_facts::e5_2600::{IO_THREAD, Message, NO_THREAD, Record, RequestKind, RequestStation, RingKind, Sending};
use pericore_hardware::signal::{SignalSink, Wiring, WiringError};

use pericore_models::e5_2600::MOST_SOCKETS;

use super::level::Tagged;
use super::pressure::PressureWires;
use super::pulses::Pulses;
use crate::signals::levels::{Levels, is_observed};

/// The highest node number.
const LAST_NODE: u8 = MOST_SOCKETS as u8 - 1;

/// Wires of one slice.
#[derive(Debug, Clone, Copy)]
pub struct SliceWires {
    pub lookup: Pulses,
    pub victim: Pulses,
    pub tor: Levels,
    pub ingress: Levels,
    pub messages: [Tagged; Message::COUNT],
    /// Of a machine with several sockets: snoops that dropped a copy silently.
    pub dropped_silently: Tagged,
    /// And stores that found their line in state S.
    pub stores_to_shared: Tagged,
    pub pressure: PressureWires,
    /// Some counter listens to messages, at their ring stop or on any ring.
    pub egress_observed: bool,
}

impl SliceWires {
    /// Asks who listens to the slice; `rings` says whether anybody does to a ring. True if what stands must be said.
    pub fn listen<S: SignalSink>(&mut self, rings: bool, sink: &S) -> bool {
        let pulses = [&mut self.lookup, &mut self.victim, &mut self.pressure.bypass];
        pulses.into_iter().for_each(|wire| wire.listen(sink));
        // Messages of all kinds have one wire.
        debug_assert!(self.messages.iter().all(|(wire, _)| *wire == self.messages[0].0));
        self.egress_observed = rings || is_observed(sink, self.messages[0].0) || self.pressure.bypass.is_observed();
        [&mut self.tor, &mut self.ingress, &mut self.pressure.read_misses, &mut self.pressure.states.0]
            .into_iter()
            .fold(false, |new, wire| wire.listen(sink) | new)
    }

    /// A request is at a station in the slice.
    #[inline(always)]
    pub fn request<S: SignalSink>(
        &self,
        at: Tick,
        station: RequestStation,
        record: &Record,
        tags: &SliceTags,
        sink: &mut S,
    ) {
        match station {
            RequestStation::Arrived => tags.queued(record).for_each(|tag| self.ingress.enter(tag, at, sink)),
            RequestStation::Rejected => self.ingress.enter(tags.rejected(record.tid), at, sink),
            RequestStation::LookedUp => {
                if self.ingress.is_observed() {
                    self.leaves_queue(at, record, tags, sink);
                }
                self.lookup.emit(tags.lookup(record), at, sink);
                // Another socket may have the line, whose home agent must give its leave.
                if record.kind == RequestKind::ReadForOwnership && record.state == LineState::Shared {
                    self.pulse(at, self.stores_to_shared, sink);
                }
            }
            RequestStation::Listed => {
                self.tor.enter(tags.tor(record), at, sink);
                if is_read_miss(record) {
                    self.pressure.read_misses.enter(0, at, sink);
                }
            }
            RequestStation::Delisted => {
                self.tor.leave(tags.tor(record), at, sink);
                if is_read_miss(record) {
                    self.pressure.read_misses.leave(0, at, sink);
                }
            }
            RequestStation::Filled => {
                if let Some(state) = record.victim {
                    self.victim.emit(tags.victim(state, record.nid), at, sink);
                }
            }
            RequestStation::Aliased => self.pulse(at, self.pressure.aliased, sink),
            RequestStation::DroppedSilently => self.pulse(at, self.dropped_silently, sink),
            _ => {}
        }
    }

    #[cold]
    fn leaves_queue<S: SignalSink>(&self, at: Tick, record: &Record, tags: &SliceTags, sink: &mut S) {
        let rejected = (record.rejected != NEVER).then(|| tags.rejected(record.tid));
        rejected.into_iter().chain(tags.queued(record)).for_each(|tag| self.ingress.leave(tag, at, sink));
    }

    // Calls of the sink are kept out of what is done for every request.
    #[cold]
    fn pulse<S: SignalSink>(&self, at: Tick, (wire, tag): Tagged, sink: &mut S) {
        sink.pulse(wire, tag, at, 1);
    }

    /// A message that waited has gone out.
    #[cold]
    pub fn waited<S: SignalSink>(&self, at: Tick, sending: Sending, sink: &mut S) {
        let starved = match sending.message.ring() {
            RingKind::Acknowledge => self.pressure.starved[0],
            RingKind::Block => self.pressure.starved[1],
            RingKind::Address | RingKind::Snoop => return,
        };
        if sending.waited >= STARVES {
            self.pulse(at, starved, sink);
        }
    }
}

/// Cycles that a message waits for its ring until the stop counts as starved (assumption).
const STARVES: u64 = 3;

/// A data read that missed.
#[inline]
pub const fn is_read_miss(record: &Record) -> bool {
    record.miss && matches!(record.kind, RequestKind::DataRead)
}

/// The tags of the slices' signals, worked out as far as possible: the same for all slices.
#[derive(Debug, Clone, Copy)]
pub struct SliceTags {
    lookup_kind: [u64; RequestKind::COUNT],
    lookup_state: u8,
    lookup_nid: u8,
    lookup_tid: u8,
    victim_state: u8,
    victim_nid: u8,
    /// Victims belong to no thread.
    victim: u64,
    tor_kind: [u64; RequestKind::COUNT],
    tor_miss: u8,
    tor_nid: u8,
    tor_tid: u8,
    ingress_queue: u64,
    ingress_rejected: u64,
    ingress_ordered: u64,
    ingress_tid: u8,
    snoop_ingress: u64,
}

impl SliceTags {
    #[inline]
    pub const fn lookup(&self, record: &Record) -> u64 {
        let (state, nid, tid) = (record.state as u64, record.nid as u64, record.tid as u64);
        let kind = self.lookup_kind[record.kind as usize];
        kind | state << self.lookup_state | nid << self.lookup_nid | tid << self.lookup_tid
    }

    #[inline]
    pub const fn victim(&self, state: LineState, nid: u8) -> u64 {
        self.victim | (state as u64) << self.victim_state | (nid as u64) << self.victim_nid
    }

    #[inline]
    pub const fn tor(&self, record: &Record) -> u64 {
        let (miss, nid, tid) = (record.miss as u64, record.nid as u64, record.tid as u64);
        self.tor_kind[record.kind as usize] | miss << self.tor_miss | nid << self.tor_nid | tid << self.tor_tid
    }

    /// Where a request shows in the queues.
    #[inline]
    pub fn queued(&self, record: &Record) -> impl Iterator<Item = u64> {
        let thread = u64::from(record.tid) << self.ingress_tid;
        // Snoops belong to no thread; requests of devices keep their order.
        let queue = if record.kind == RequestKind::Snoop { self.snoop_ingress } else { self.ingress_queue | thread };
        let ordered = record.kind.is_io().then_some(self.ingress_ordered | thread);
        std::iter::once(queue).chain(ordered)
    }

    #[inline]
    pub const fn rejected(&self, tid: u8) -> u64 {
        self.ingress_rejected | (tid as u64) << self.ingress_tid
    }
}

/// Binds the wires of a slice.
pub fn bind_slice(wiring: &mut Wiring, socket: u16, slice: u16, others: bool) -> Result<SliceWires, WiringError> {
    // Binds the queue by its subevent, so that only this queue's events count as modelled.
    wiring.subevent(socket, "cbo", slice, "RxR_INSERTS", "IRQ")?;
    wiring.subevent(socket, "cbo", slice, "RxR_INSERTS", "IRQ_REJECTED")?;
    wiring.subevent(socket, "cbo", slice, "RxR_INSERTS", "VFIFO")?;
    let pressure = PressureWires::bind(wiring, socket, slice, others)?;
    let mut message = |name| wiring.subevent(socket, "cbo", slice, "TxR_INSERTS", name);
    let messages = [
        message("AD_CACHE")?,
        message("AK_CACHE")?,
        message("BL_CACHE")?,
        message("IV_CACHE")?,
        message("AD_CORE")?,
        message("AK_CORE")?,
        message("BL_CORE")?,
    ];
    let (mut dropped_silently, mut stores_to_shared) = (messages[0], messages[0]);
    if others {
        wiring.subevent(socket, "cbo", slice, "RxR_INSERTS", "IPQ")?;
        dropped_silently = wiring.subevent(socket, "cbo", slice, "MISC", "RSPI_WAS_FSE")?;
        stores_to_shared = wiring.subevent(socket, "cbo", slice, "MISC", "RFO_HIT_S")?;
    }
    let mut signal = |name| wiring.signal(socket, "cbo", slice, name);
    Ok(SliceWires {
        lookup: signal("llc_lookup")?.into(),
        victim: signal("llc_victim")?.into(),
        tor: signal("tor")?.into(),
        ingress: signal("ingress")?.into(),
        messages,
        dropped_silently,
        stores_to_shared,
        pressure,
        egress_observed: true,
    })
}

/// The value of an opcode, from the catalogue's value set.
fn named(wiring: &Wiring, name: &'static str) -> Result<u64, WiringError> {
    let missing = || WiringError::NoSignal { unit: "cbo", name: format!("{name} in idi-opcodes") };
    wiring.family().named_value("idi-opcodes", name).ok_or_else(missing)
}

/// Works the tags out; `others`: there are other sockets.
pub fn bind_tags(wiring: &mut Wiring, others: bool) -> Result<SliceTags, WiringError> {
    let (_, ingress_queue) = wiring.subevent(0, "cbo", 0, "RxR_INSERTS", "IRQ")?;
    let snoop_queue = if others { wiring.subevent(0, "cbo", 0, "RxR_INSERTS", "IPQ")?.1 } else { 0 };
    let (_, ingress_ordered) = wiring.subevent(0, "cbo", 0, "RxR_INSERTS", "VFIFO")?;
    let (_, ingress_rejected) = wiring.subevent(0, "cbo", 0, "RxR_INSERTS", "IRQ_REJECTED")?;
    let attribute = |signal: &str, name: &str| wiring.attribute("cbo", signal, name);
    let shift = |signal: &str, name: &str, most: u8| {
        let bits = attribute(signal, name)?;
        // Tags are put together without masks.
        assert!(u64::from(most) <= bits.max(), "{signal}.{name} is too narrow for {most}");
        Ok::<u8, WiringError>(bits.lsb)
    };
    let (read, write, snoop) =
        (attribute("llc_lookup", "read")?, attribute("llc_lookup", "write")?, attribute("llc_lookup", "snoop")?);
    let lookup_kind = RequestKind::ALL.map(|kind| {
        let tag = write.set(read.set(0, (kind == RequestKind::DataRead).into()), kind.is_write().into());
        snoop.set(tag, (kind == RequestKind::Snoop).into())
    });
    let tor_opcode = attribute("tor", "opc")?;
    let (irq, eviction, writeback) =
        (attribute("tor", "irq")?, attribute("tor", "eviction")?, attribute("tor", "writeback")?);
    let mut tor_kind = [0; RequestKind::COUNT];
    for kind in RequestKind::ALL {
        let opcode = kind.opcode().map(|name| named(wiring, name)).transpose()?;
        let tag = irq.set(tor_opcode.set(0, opcode.unwrap_or(0)), opcode.is_some().into());
        let carries = kind.is_writeback() || kind.is_stream();
        let tag = writeback.set(eviction.set(tag, (kind == RequestKind::Eviction).into()), carries.into());
        tor_kind[kind as usize] = tag;
    }
    let most_state = LineState::COUNT as u8 - 1;
    Ok(SliceTags {
        lookup_kind,
        lookup_state: shift("llc_lookup", "state", most_state)?,
        lookup_nid: shift("llc_lookup", "nid", LAST_NODE)?,
        lookup_tid: shift("llc_lookup", "tid", IO_THREAD)?,
        victim_state: shift("llc_victim", "state", most_state)?,
        victim_nid: shift("llc_victim", "nid", LAST_NODE)?,
        victim: u64::from(NO_THREAD) << shift("llc_victim", "tid", NO_THREAD)?,
        tor_kind,
        tor_miss: shift("tor", "miss", 1)?,
        tor_nid: shift("tor", "nid", LAST_NODE)?,
        tor_tid: shift("tor", "tid", IO_THREAD)?,
        ingress_queue,
        snoop_ingress: snoop_queue | u64::from(NO_THREAD) << shift("ingress", "tid", NO_THREAD)?,
        ingress_rejected,
        ingress_ordered,
        ingress_tid: shift("ingress", "tid", IO_THREAD)?,
    })
}
