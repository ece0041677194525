//! Memory of a CXL expander: read over the mesh, the CXL data path (CXLDP) and its transaction and link layer (CXLCM).
//!
//! Lines are not cached here: what comes back goes to the core that asked, and is forgotten.

use super::Model;
use super::event::Event;
use super::request::{Request, RequestId};
use crate::ledger::emerald_rapids::Ring;
use crate::ledger::emerald_rapids::compiled::{deed, level};
use crate::signal::{SignalSink, Tick};

/// CXL links of a socket.
const PORTS: u32 = 6;
/// Uncore cycles to the device's memory and back (assumption: 250 ns, as vendors state for expanders).
const ACCESS: Tick = 625;
/// Uncore cycles in which a message is unpacked, and messages for which the device returns its credits in a flit of their own
/// (assumptions).
const UNPACKING: Tick = 8;
const MESSAGES_OF_A_CREDIT: u32 = 8;

impl Model {
    /// A read of an expander's memory.
    pub(super) fn expander_access<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, .. } = self.pool[request];
        let (at, port, now) = (u16::from(socket), (line % PORTS) as u16, self.now);
        let from = self.places.cha[usize::from(cha)];
        // The CXL ports lie at the mesh stops of the first I/O stacks.
        let to = self.places.m2pcie[usize::from(port)];
        let arrives = self.mesh_send(socket, Ring::Address, 0, from, to, sink);
        let account = &mut self.account;
        account.deed(deed!("cxldp/TxC_AGF_INSERTS.M2S_REQ"), at, port, now, sink);
        account.deed(deed!("cxlcm/TxC_PACK_BUF_INSERTS.MEM_REQ"), at, port, now, sink);
        account.deed(deed!("cxlcm/TxC_FLITS.VALID"), at, port, now, sink);
        self.wheel.schedule(arrives + ACCESS * self.times.uclk, Event::ExpanderData.of(request));
    }

    /// An expander's data has come over its link: it is unpacked.
    pub(super) fn expander_data<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, line, .. } = self.pool[request];
        let (at, port, now) = (u16::from(socket), (line % PORTS) as u16, self.now);
        let account = &mut self.account;
        let happens = [
            deed!("cxlcm/RxC_FLITS.VALID"),
            deed!("cxlcm/RxC_FLITS.VALID_MSG"),
            deed!("cxlcm/RxC_PACK_BUF_INSERTS.MEM_DATA"),
            deed!("cxlcm/RxC_AGF_INSERTS.MEM_DATA"),
        ];
        happens.into_iter().for_each(|what| account.deed(what, at, port, now, sink));
        if (line / PORTS).is_multiple_of(MESSAGES_OF_A_CREDIT) {
            account.deed(deed!("cxlcm/RxC_MISC.LLCRD"), at, port, now, sink);
        }
        account.enter(level!("cxlcm/RxC_PACK_BUF_NE.MEM_DATA"), at, port, now, sink);
        self.wheel.schedule(now + UNPACKING * self.times.uclk, Event::ExpanderSent.of(request));
    }

    /// It goes back over the mesh.
    pub(super) fn expander_sent<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, line, .. } = self.pool[request];
        let (at, port) = (u16::from(socket), line % PORTS);
        self.account.leave(level!("cxlcm/RxC_PACK_BUF_NE.MEM_DATA"), at, port as u16, self.now, sink);
        let (from, to) = (self.places.m2pcie[port as usize], self.requester_tile(request));
        let back = self.mesh_send(socket, Ring::Block, 0, from, to, sink);
        self.wheel.schedule(back, Event::Data.of(request));
    }
}
