//! Memory of a CXL expander: read over the mesh, the CXL data path (CXLDP) and its transaction and link layer (CXLCM).
//!
//! Lines are not cached here: what comes back goes to the core that asked, and is forgotten.

use super::Model;
use super::event::Event;
use super::request::{Request, RequestId};
use crate::ledger::emerald_rapids::Ring;
use crate::ledger::emerald_rapids::compiled::deed;
use crate::signal::{SignalSink, Tick};

/// CXL links of a socket.
const PORTS: u32 = 6;
/// Uncore cycles to the device's memory and back (assumption: 250 ns, as vendors state for expanders).
const ACCESS: Tick = 625;

impl Model {
    /// A read of an expander's memory.
    pub(super) fn expander_access<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, .. } = self.pool[request];
        let (at, port, now) = (u16::from(socket), (line % PORTS) as u16, self.now);
        let from = self.places.cha[usize::from(cha)];
        // The CXL ports lie at the mesh stops of the first I/O stacks.
        let to = self.places.m2pcie[usize::from(port)];
        let arrives = self.mesh_send(socket, Ring::Address, 0, from, to, sink);
        let back_to = self.requester_tile(request);
        let account = &mut self.account;
        let happens = [
            deed!("cxlcm/TxC_PACK_BUF_INSERTS.MEM_REQ"),
            deed!("cxlcm/TxC_FLITS.VALID"),
            deed!("cxlcm/RxC_FLITS.VALID"),
            deed!("cxlcm/RxC_FLITS.VALID_MSG"),
            deed!("cxlcm/RxC_PACK_BUF_INSERTS.MEM_DATA"),
            deed!("cxlcm/RxC_AGF_INSERTS.MEM_DATA"),
        ];
        account.deed(deed!("cxldp/TxC_AGF_INSERTS.M2S_REQ"), at, port, now, sink);
        happens.into_iter().for_each(|what| account.deed(what, at, port, now, sink));
        let back = self.mesh_send(socket, Ring::Block, 0, to, back_to, sink);
        self.wheel.schedule(Self::both(arrives, back) + ACCESS * self.times.uclk, Event::Data.of(request));
    }
}
