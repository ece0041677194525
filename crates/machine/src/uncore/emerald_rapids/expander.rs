//! Memory of a CXL expander: read and written over the mesh, the CXL data path (CXLDP) and its transaction and link layer (CXLCM).
//!
//! Its lines are cached like others; only their own socket asks for them. A message without data takes a flit, a line another one that
//! has no header (CXL 2.0, flits of 68 bytes: four slots of which a line takes all); messages share no flits (assumption).

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::event::Event;
use super::request::{Request, RequestId};
use crate::ledger::emerald_rapids::Ring;
use crate::ledger::emerald_rapids::compiled::{deed, level};

/// CXL links of a socket.
const PORTS: u32 = 6;
/// Uncore cycles to the device's memory and back (assumption: 250 ns, as vendors state for expanders).
const ACCESS: Tick = 625;
/// Uncore cycles in which a message is unpacked, and messages for which the device returns its credits in a flit of their own
/// (assumptions).
const UNPACKING: Tick = 8;
const MESSAGES_OF_A_CREDIT: u32 = 8;

/// The CXL link of a line.
const fn port(line: u32) -> u16 {
    (line % PORTS) as u16
}

impl Model {
    /// A read of an expander's memory (M2S Req), or a write (M2S RwD), leaves its agent after `wait`.
    pub(super) fn expander_access<S: SignalSink>(&mut self, request: RequestId, wait: Tick, sink: &mut S) {
        let Request { socket, cha, line, writes, partial, .. } = self.pool[request];
        let (at, port, now) = (u16::from(socket), port(line), self.now);
        let from = self.places.cha[usize::from(cha)];
        // The CXL ports lie at the mesh stops of the first I/O stacks.
        let to = self.places.m2pcie[usize::from(port)];
        let ring = if writes { Ring::Block } else { Ring::Address };
        let arrives = self.mesh_send(socket, ring, 0, from, to, sink);
        let read = [
            deed!("cxldp/TxC_AGF_INSERTS.M2S_REQ"),
            deed!("cxlcm/TxC_PACK_BUF_INSERTS.MEM_REQ"),
            deed!("cxlcm/TxC_FLITS.VALID"),
        ];
        let header = if partial { deed!("cxlcm/TxC_FLITS.BE_HDR") } else { deed!("cxlcm/TxC_FLITS.SZ_HDR") };
        let write = [
            deed!("cxldp/TxC_AGF_INSERTS.M2S_DATA"),
            deed!("cxlcm/TxC_PACK_BUF_INSERTS.MEM_DATA"),
            header,
            deed!("cxlcm/TxC_FLITS.NO_HDR"),
        ];
        let happens: &[_] = if writes { &write } else { &read };
        happens.iter().for_each(|&what| self.account.deed(what, at, port, now, sink));
        self.wheel.schedule(arrives + wait + ACCESS * self.times.uclk, Event::ExpanderData.of(request));
    }

    /// An expander's answer has come over its link, data (S2M DRS) or word of a write (S2M NDR): it is unpacked.
    pub(super) fn expander_data<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, line, writes, .. } = self.pool[request];
        let (at, port, now) = (u16::from(socket), port(line), self.now);
        let data = [
            deed!("cxlcm/RxC_FLITS.SZ_HDR"),
            deed!("cxlcm/RxC_FLITS.NO_HDR"),
            deed!("cxlcm/RxC_FLITS.VALID_MSG"),
            deed!("cxlcm/RxC_PACK_BUF_INSERTS.MEM_DATA"),
            deed!("cxlcm/RxC_AGF_INSERTS.MEM_DATA"),
        ];
        let word = [
            deed!("cxlcm/RxC_FLITS.VALID"),
            deed!("cxlcm/RxC_FLITS.VALID_MSG"),
            deed!("cxlcm/RxC_PACK_BUF_INSERTS.MEM_REQ"),
            deed!("cxlcm/RxC_AGF_INSERTS.MEM_REQ"),
        ];
        let happens: &[_] = if writes { &word } else { &data };
        let account = &mut self.account;
        happens.iter().for_each(|&what| account.deed(what, at, port, now, sink));
        if (line / PORTS).is_multiple_of(MESSAGES_OF_A_CREDIT) {
            account.deed(deed!("cxlcm/RxC_MISC.LLCRD"), at, port, now, sink);
        }
        account.enter(Self::unpacked(writes), at, port, now, sink);
        self.wheel.schedule(now + UNPACKING * self.times.uclk, Event::ExpanderSent.of(request));
    }

    /// Where an answer waits while it is unpacked.
    const fn unpacked(writes: bool) -> u16 {
        if writes { level!("cxlcm/RxC_PACK_BUF_NE.MEM_REQ") } else { level!("cxlcm/RxC_PACK_BUF_NE.MEM_DATA") }
    }

    /// It goes back over the mesh: data to whoever asked, word of a write to the agent.
    pub(super) fn expander_sent<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, class, writes, .. } = self.pool[request];
        self.account.leave(Self::unpacked(writes), socket.into(), port(line), self.now, sink);
        let (from, agent) = (self.places.m2pcie[usize::from(port(line))], self.places.cha[usize::from(cha)]);
        if writes {
            self.write_is_done(request, from, 0, sink);
            return;
        }
        let to = if class.kind.is_llc_prefetch() { agent } else { self.requester_tile(request) };
        let back = self.mesh_send(socket, Ring::Block, 0, from, to, sink);
        self.wheel.schedule(back, Event::Data.of(request));
    }
}
