//! Between two sockets: directory, links, requests and snoops of the other socket.

use super::Model;
use super::request::RequestId;
use crate::ledger::emerald_rapids::deeds::deed;
use crate::signal::{SignalSink, Tick};

impl Model {
    /// Looks at the directory bits that came with a line. True if another socket must be asked first.
    pub(super) fn consult_directory<S: SignalSink>(&mut self, request: RequestId, unit: u16, sink: &mut S) -> bool {
        let socket = u16::from(self.pool[request].socket);
        self.account.deed(deed("m2m/DIRECTORY_LOOKUP.STATE_I"), socket, unit, self.now, sink);
        self.account.deed(deed("m2m/DIRECTORY_HIT.CLEAN_I"), socket, unit, self.now, sink);
        false
    }

    pub(super) fn ask_remote<S: SignalSink>(&mut self, _request: RequestId, _wait: Tick, _claim: bool, _sink: &mut S) {}

    pub(super) fn write_remote<S: SignalSink>(&mut self, _request: RequestId, _wait: Tick, _sink: &mut S) {}

    pub(super) fn answer_remote<S: SignalSink>(&mut self, _request: RequestId, _sink: &mut S) {}

    pub(super) fn serve_remote<S: SignalSink>(&mut self, _request: RequestId, _sink: &mut S) {}

    pub(super) fn linked<S: SignalSink>(&mut self, _request: RequestId, _sink: &mut S) {}
}
