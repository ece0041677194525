//! I/O stacks: accesses of cores to devices, and of devices to memory.

use super::Model;
use super::event::Event;
use super::request::RequestId;
use crate::ledger::emerald_rapids::Ring;
use crate::signal::SignalSink;

impl Model {
    /// A core's access to a device: over the mesh to the stack, and back.
    pub(super) fn device_access<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let r = self.pool[request];
        let stack = (r.line % 10) as usize;
        let (agent, there) = (self.places.cha[usize::from(r.cha)], self.places.m2pcie[stack]);
        let at = self.mesh_send(r.socket, Ring::Block, 0, agent, there, sink);
        let to = self.requester_tile(request);
        let back = self.mesh_send(r.socket, Ring::Block, 0, there, to, sink);
        self.wheel.schedule(Self::both(at, back) + 1000 * self.times.uclk, Event::Data.of(request));
    }

    pub(super) fn device_data<S: SignalSink>(&mut self, _request: RequestId, _sink: &mut S) {}

    pub(super) fn device<S: SignalSink>(&mut self, _stack: u16, _sink: &mut S) {}
}
