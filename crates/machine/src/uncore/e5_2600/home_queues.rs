//! The queues of a home agent towards the rings: for the address and for the data ring, with two scheduler banks each.
//!
//! A message is in a queue while the ring has other messages of the home agent to take, or its link has no entry for it. Those that can go
//! at once are in none.

use pericore_hardware::signal::{SignalSink, Wiring, WiringError};

use super::Model;
use super::wires::Tagged;

/// Messages that a bank holds (assumption).
const ROOM: u16 = 8;
/// Banks of a queue.
const BANKS: usize = 2;

/// Messages that wait, by bank.
#[derive(Debug, Clone, Copy, Default)]
pub struct Egress([u16; BANKS]);

/// Messages that wait, and full banks: by ring, address and data, and bank.
#[derive(Debug, Clone, Copy)]
pub struct EgressWires {
    entries: [[Tagged; BANKS]; 2],
    full: [[Tagged; BANKS]; 2],
}

impl EgressWires {
    /// Binds a home agent's queues; `none` stands for them where no messages wait.
    pub fn bind(wiring: &mut Wiring, socket: u16, others: bool, none: Tagged) -> Result<Self, WiringError> {
        let mut wires = Self { entries: [[none; BANKS]; 2], full: [[none; BANKS]; 2] };
        if others {
            let mut bind = |queues: &mut [[Tagged; BANKS]; 2], events: [&str; 2]| {
                for (queue, event) in queues.iter_mut().zip(events) {
                    for (bank, name) in queue.iter_mut().zip(["SCHED0", "SCHED1"]) {
                        *bank = wiring.subevent(socket, "ha", 0, event, name)?;
                    }
                }
                Ok(())
            };
            bind(&mut wires.entries, ["TxR_AD_OCCUPANCY", "TxR_BL_OCCUPANCY"])?;
            bind(&mut wires.full, ["TxR_AD_CYCLES_FULL", "TxR_BL_CYCLES_FULL"])?;
        }
        Ok(wires)
    }
}

impl Model {
    /// A message about a line begins or ends to wait in a home agent's queue for the address or the data ring.
    pub(super) fn home_queues<S: SignalSink>(&mut self, home: u8, data: bool, line: u32, begins: bool, sink: &mut S) {
        // Neighbouring lines take turns (assumption: no document says what a bank takes).
        let (ring, bank) = (usize::from(data), line as usize % BANKS);
        let waiting = &mut self.homes[usize::from(home)].egress[ring].0[bank];
        let wires = &self.wires.homes[usize::from(home)].egress;
        let ((entries, entry), (full, bank_is_full)) = (wires.entries[ring][bank], wires.full[ring][bank]);
        if begins {
            sink.enter(entries, entry, self.now);
            *waiting += 1;
            if *waiting == ROOM {
                sink.enter(full, bank_is_full, self.now);
            }
        } else {
            if *waiting == ROOM {
                sink.leave(full, bank_is_full, self.now);
            }
            *waiting -= 1;
            sink.leave(entries, entry, self.now);
        }
        self.ledger.home_egress(home, data, bank, begins, self.now);
    }
}
