//! The signals of the system agent.

use pericore_facts::e5_2600::{HoldStage, MessageKind};
use pericore_hardware::signal::{Wiring, WiringError};

use super::level::Tagged;

/// Wires of one system agent.
#[derive(Debug, Clone)]
pub struct AgentWires {
    /// By kind: the event, and the filter event that sees it too.
    messages: [[Option<Tagged>; 2]; MessageKind::ALL.len()],
    /// Assert to grant, grant to release.
    hold: [Tagged; 2],
}

impl AgentWires {
    /// Binds a socket's agent.
    pub fn bind(wiring: &mut Wiring, socket: u16) -> Result<Self, WiringError> {
        let subevent = |wiring: &mut Wiring, event: &str, name: &str| wiring.subevent(socket, "ubox", 0, event, name);
        let to_cores = subevent(wiring, "FILTER_MATCH", "DISABLE")?;
        let from_uncore = subevent(wiring, "FILTER_MATCH", "U2C_DISABLE")?;
        let hold =
            [subevent(wiring, "PHOLD_CYCLES", "ASSERT_TO_ACK")?, subevent(wiring, "PHOLD_CYCLES", "ACK_TO_DEASSERT")?];
        let mut messages = [[None; 2]; MessageKind::ALL.len()];
        for &kind in MessageKind::ALL {
            use MessageKind as Kind;
            let (event, name, filter) = match kind {
                Kind::LegacyWire => ("EVENT_MSG", "VLW_RCVD", Some(to_cores)),
                Kind::Interrupt => ("EVENT_MSG", "MSI_RCVD", Some(to_cores)),
                Kind::Processor => ("EVENT_MSG", "IPI_RCVD", Some(to_cores)),
                Kind::Doorbell => ("EVENT_MSG", "DOORBELL_RCVD", Some(to_cores)),
                Kind::Priority => ("EVENT_MSG", "INT_PRIO", None),
                Kind::MonitorFirst => ("U2C_EVENTS", "MONITOR_T0", Some(from_uncore)),
                Kind::MonitorSecond => ("U2C_EVENTS", "MONITOR_T1", Some(from_uncore)),
                Kind::Livelock => ("U2C_EVENTS", "LIVELOCK", Some(from_uncore)),
                Kind::TrustError => ("U2C_EVENTS", "LTERROR", Some(from_uncore)),
                Kind::Corrected => ("U2C_EVENTS", "CMC", Some(from_uncore)),
                Kind::Uncorrected => ("U2C_EVENTS", "UMC", Some(from_uncore)),
                Kind::Trap => ("U2C_EVENTS", "TRAP", Some(from_uncore)),
                Kind::Other => ("U2C_EVENTS", "OTHER", Some(from_uncore)),
                Kind::Register => ("RACU_REQUESTS", "COUNT", None),
                Kind::ShortMessage => ("MSG_CHNL_SIZE_COUNT", "4B", None),
                Kind::LongMessage => ("MSG_CHNL_SIZE_COUNT", "8B", None),
                Kind::Lock => {
                    messages[kind as usize][0] = Some((wiring.signal(socket, "ubox", 0, "LOCK_CYCLES")?, 0));
                    continue;
                }
                // A hold is a level of its own; packets for devices show at their ring stop; messages for other sockets
                // do not show where they come from. The rest is not in this family's phase_settings.
                Kind::Hold
                | Kind::DeviceWrite
                | Kind::DeviceRead
                | Kind::RemoteWrite
                | Kind::RemoteRead
                | Kind::RemoteInterrupt
                | Kind::RandomNumber
                | Kind::RandomSeed
                | Kind::PeerWrite
                | Kind::PeerRead => continue,
            };
            messages[kind as usize] = [Some(subevent(wiring, event, name)?), filter];
        }
        Ok(Self { messages, hold })
    }

    /// Where a message shows.
    pub fn of_message(&self, kind: MessageKind) -> impl Iterator<Item = Tagged> {
        self.messages[kind as usize].into_iter().flatten()
    }

    /// Where a hold's stage shows.
    pub const fn hold(&self, stage: HoldStage) -> Tagged {
        self.hold[stage as usize]
    }
}
