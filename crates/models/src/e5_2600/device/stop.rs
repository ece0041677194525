//! The ring stop R2PCIe: its queues and credits.

use std::collections::VecDeque;

use pericore_engine::{Ring, Tick};
use pericore_facts::e5_2600::IoClass;
use pericore_parts::RequestId;
use pericore_parts::lanes::Lanes;

/// Packets of a class for the IIO that wait in the stop while cores go on to send others; there is room for them from
/// the start.
const WAITING: usize = 256;

/// The stop's queues and credits.
#[derive(Debug)]
pub struct Device {
    /// Requests that wait for the rings, with the tick from which they may go.
    pub egress: Ring<(Tick, RequestId), 16>,
    /// Acknowledgements that wait for the ring, by the tick at which they go.
    pub acknowledgements: VecDeque<Tick>,
    /// Packets that wait for the IIO, by class, with the tick from which they may go and the thread that waits for
    /// them.
    pub ingress: [VecDeque<(Tick, u16)>; IoClass::COUNT],
    /// Packets that the IIO takes now, by the tick at which it has them.
    pub taking: [Ring<Tick, 4>; IoClass::COUNT],
    /// Lanes towards the machine, and towards the devices.
    pub lanes: [Lanes; 2],
    /// The packet at the head was refused, so that it waits for a credit to come back.
    pub without_credit: [bool; IoClass::COUNT],
    /// When the stop can take the next acknowledgement.
    pub acknowledge_free: Tick,
    /// The tick of the event that counts; others are stale.
    pub pump_at: Tick,
}

impl Device {
    /// An idle stop.
    pub fn new(lanes: [Lanes; 2]) -> Self {
        Self {
            egress: Ring::new((0, 0)),
            acknowledgements: VecDeque::with_capacity(WAITING),
            ingress: [(); IoClass::COUNT].map(|()| VecDeque::with_capacity(WAITING)),
            taking: [(); IoClass::COUNT].map(|()| Ring::new(0)),
            lanes,
            without_credit: [false; IoClass::COUNT],
            acknowledge_free: 0,
            pump_at: Tick::MAX,
        }
    }

    /// True if nothing waits.
    pub fn is_idle(&self) -> bool {
        self.egress.is_empty()
            && self.acknowledgements.is_empty()
            && self.ingress.iter().all(VecDeque::is_empty)
            && self.taking.iter().all(Ring::is_empty)
    }

    /// True if cores may send another packet: while very many wait for the IIO, they wait, too.
    pub fn takes_more(&self) -> bool {
        self.ingress.iter().all(|queue| queue.len() < WAITING)
    }
}
