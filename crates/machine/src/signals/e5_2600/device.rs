//! The signals of a socket's ring stop for input-output, but for those of the rings.

use pericore_facts::e5_2600::{IoClass, IoQueue};
use pericore_hardware::signal::{Wire, Wiring, WiringError};

use super::level::{ShownLevel, Tagged};

/// Entries of the egress queues to the rings (assumption).
const EGRESS: u32 = 8;

/// Wires of one stop.
#[derive(Debug)]
pub struct DeviceWires {
    /// By [`IoQueue`].
    pub egress: [ShownLevel; IoQueue::COUNT],
    /// Tries that a ring refused. Acknowledgements always go.
    pub refused: [Option<Tagged>; IoQueue::COUNT],
    /// Packets that wait, credits in use, and packets that found none, by [`IoClass`].
    pub ingress: [ShownLevel; IoClass::COUNT],
    pub credits: [ShownLevel; IoClass::COUNT],
    pub rejected: [Tagged; IoClass::COUNT],
    pub bounces: Wire,
}

impl DeviceWires {
    /// Binds a socket's stop.
    pub fn bind(wiring: &mut Wiring, socket: u16) -> Result<Self, WiringError> {
        let inserts = (wiring.signal(socket, "r2pcie", 0, "TxR_INSERTS")?, 0);
        let bounces = wiring.signal(socket, "r2pcie", 0, "RxR_AK_BOUNCES")?;
        let mut subevent = |event, name| wiring.subevent(socket, "r2pcie", 0, event, name);
        let queue = ShownLevel::NOTHING.arrivals(inserts);
        // Acknowledgements never wait for long.
        let egress = [
            queue.entries(subevent("TxR_CYCLES_NE", "AD")?).full(subevent("TxR_CYCLES_FULL", "AD")?, EGRESS),
            queue.entries(subevent("TxR_CYCLES_NE", "AK")?),
            queue.entries(subevent("TxR_CYCLES_NE", "BL")?).full(subevent("TxR_CYCLES_FULL", "BL")?, EGRESS),
        ];
        let refused = [Some(subevent("TxR_NACKS", "AD")?), None, Some(subevent("TxR_NACKS", "BL")?)];
        let mut classes =
            |event| Ok::<_, WiringError>([subevent(event, "DRS")?, subevent(event, "NCB")?, subevent(event, "NCS")?]);
        let (waiting, used) = (classes("RxR_CYCLES_NE")?, classes("IIO_CREDITS_USED")?);
        let acquired = classes("IIO_CREDITS_ACQUIRED")?;
        let credit = |class: usize| ShownLevel::NOTHING.arrivals(acquired[class]).nonempty(used[class]);
        Ok(Self {
            egress,
            refused,
            ingress: waiting.map(|tagged| ShownLevel::NOTHING.entries(tagged)),
            credits: std::array::from_fn(credit),
            rejected: classes("IIO_CREDITS_REJECT")?,
            bounces,
        })
    }
}
