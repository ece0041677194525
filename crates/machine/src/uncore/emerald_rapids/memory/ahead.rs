//! Prefetches that run ahead of reads of memory: an agent sends one while it looks the line up (XPT), a link one for a
//! read of the other socket (UPI). Where it finds room, memory reads the line for as long sooner as the look-up takes;
//! the read that follows finds its entry in the prefetch CAM, and waits for the same data.

use std::ops::Range;

use pericore_engine::Tick;

use super::super::Model;
use super::super::event::Event;
use super::super::link::LINKS;
use super::super::request::{Request, RequestId};
use super::{seen, seen_of};
use pericore_facts::emerald_rapids::{Fact, Kind, PrefetchFate, PrefetchSender, PrefetchSent, Readers, Ring};

/// Credits of a subchannel's read queue that prefetches leave to reads (assumption).
const KEPT_FOR_READS: u8 = 8;
/// Entries of a channel's prefetch CAM (assumption).
const CAM_ENTRIES: u8 = 32;
/// Addresses that may wait at an agent's mesh stop with the prefetch behind them (assumption).
const CREDITS: u64 = 4;

/// Who sends a prefetch for a request of this kind, if anybody does: data alone is read ahead.
const fn sender(kind: Kind) -> Option<PrefetchSender> {
    match kind {
        Kind::DataRead => Some(PrefetchSender::Agent),
        Kind::RemoteData => Some(PrefetchSender::Link),
        _ => None,
    }
}

impl Model {
    /// What runs ahead of a read goes onto the mesh, if anything does. `waits` is for how many cycles addresses of its
    /// agent wait there; without a look-up the read would come when `times` begins, and it comes when they end.
    pub(super) fn run_ahead<R: Readers>(&mut self, request: RequestId, waits: u64, times: Range<Tick>, reader: &mut R) {
        let Request { socket, cha, place, class, .. } = self.pool[request];
        let (unit, half) = seen(place);
        let to = self.places.m2m[usize::from(unit)];
        let Some(sender) = sender(class.kind) else { return };
        let at = match sender {
            PrefetchSender::Agent if self.parameters.xpt => {
                let sent = match waits {
                    0 => PrefetchSent::Goes,
                    CREDITS.. => PrefetchSent::NoCredit,
                    _ => PrefetchSent::Conflict,
                };
                reader.read(self.now, Fact::SendsPrefetch((socket.into(), cha.into()), half as u8, sent));
                if sent != PrefetchSent::Goes {
                    return;
                }
                self.mesh_send(socket, Ring::Address, 0, self.places.cha[usize::from(cha)], to, reader)
            }
            PrefetchSender::Link if self.parameters.upi_prefetch => {
                let gate = self.places.m3upi[usize::from(cha % LINKS)];
                self.mesh_send(socket, Ring::Address, to % 2, gate, to, reader)
            }
            _ => return,
        };
        // What a link sends has a shorter way; that it leaves before its read is looked up is left out.
        let at = at.max(times.start);
        if at < times.end {
            self.wheel.schedule(at, Event::Ahead.of(request));
        } else {
            // The read may be done by then.
            let number = self.subchannel(socket, place) as u16;
            self.wheel.schedule(at, Event::AheadTooLate.of(number * PrefetchSender::COUNT as u16 + sender as u16));
        }
    }

    /// A prefetch comes to a subchannel after its read.
    pub(in super::super) fn prefetch_comes_late<R: Readers>(&mut self, subject: u16, reader: &mut R) {
        let (unit, half) = seen_of(usize::from(subject) / PrefetchSender::COUNT);
        let senders = [PrefetchSender::Agent, PrefetchSender::Link];
        let sender = senders[usize::from(subject) % PrefetchSender::COUNT];
        reader.read(self.now, Fact::PrefetchComes(unit, half, sender, PrefetchFate::TooLate));
    }

    /// A prefetch comes to where mesh and memory meet.
    pub(in super::super) fn prefetch_comes<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, place, class, .. } = self.pool[request];
        let Some(sender) = sender(class.kind) else { return };
        let (unit, half) = seen(place);
        let number = self.subchannel(socket, place);
        let next = self.now + self.times.uclk;
        let cam = &mut self.prefetch_cams[number / 2];
        let follows = std::mem::replace(&mut cam.next, next) >= self.now;
        let credits = &mut self.credits[number];
        let fate = match () {
            () if follows => PrefetchFate::BackToBack,
            () if credits.reads == 0 => PrefetchFate::NoRoom,
            () if credits.reads <= KEPT_FOR_READS => PrefetchFate::BeyondThreshold,
            () if credits.writes == 0 || credits.keeps_reads_back() => PrefetchFate::WritesWait,
            () if cam.entries == CAM_ENTRIES => PrefetchFate::CamFull,
            () => PrefetchFate::Runs,
        };
        reader.read(self.now, Fact::PrefetchComes((socket.into(), unit), half as u8, sender, fate));
        if fate == PrefetchFate::Runs {
            cam.entries += 1;
            credits.reads -= 1;
            self.pool[request].ahead = Some(sender);
            self.announce(request);
        }
    }
}
