//! The signals of the Xeon 5500 series, bound once by name.

use pericore_dram::Command;
use pericore_hardware::signal::{Wire, Wiring, WiringError};

use pericore_facts::nehalem::{CHANNELS, Class, Kind, Port, Priority, Reply, Source, TO_HUB, TO_SOCKET, Tracker};
use pericore_models::nehalem::Parameters;

use super::level::Level;
use crate::signals::levels::Levels;

/// A wire with the tag of one subevent.
pub type Tagged = (Wire, u64);

/// A wire of levels with the tag of one subevent.
pub type TaggedLevel = (Levels, u64);

/// Where a level shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct LevelWires {
    /// Every entry.
    pub entries: Option<TaggedLevel>,
    /// Every entry, among those of other levels.
    pub among: Option<TaggedLevel>,
    /// That there are any.
    pub nonempty: Option<TaggedLevel>,
    /// That there are `capacity`.
    pub full: Option<TaggedLevel>,
    pub capacity: u32,
}

/// Wires of one socket.
#[derive(Debug)]
pub struct SocketWires {
    pub levels: [LevelWires; Level::COUNT],
    /// Reads that the LLC misses, and all that it replies to.
    pub missed: Tagged,
    pub replied: Tagged,
    /// Reads, writes.
    pub numbered: [Tagged; 2],
    /// Misses, hits; by tracker.
    pub looked_up: [[Tagged; 3]; 2],
    /// Of two requests, of more.
    pub met: [Tagged; 2],
    pub bypassed: Tagged,
    pub acknowledged: Tagged,
    /// By tracker.
    pub entered: [Tagged; 3],
    /// By line state: invalid, shared, exclusive, modified, forward. Nothing comes in invalid.
    pub lines_in: [Option<Tagged>; 5],
    pub lines_out: [Tagged; 5],
    /// To a home elsewhere, to the home of the same socket; by answer.
    pub replies: [[Tagged; Reply::COUNT]; 2],
    /// By source; reads, writes.
    pub requests: [[Tagged; 2]; 3],
    pub high: [Tagged; CHANNELS],
    pub critical: [Tagged; CHANNELS],
    pub hurried: [Tagged; CHANNELS],
    pub cancelled: [Tagged; CHANNELS],
    /// Whole lines, parts; by channel.
    pub writes: [[Tagged; CHANNELS]; 2],
    /// By channel and command.
    pub commands: [[Option<Tagged>; Command::COUNT]; CHANNELS],
    /// What the tag of a command has besides if it closes its row, by channel.
    pub closing: [[u64; Command::COUNT]; CHANNELS],
    /// The match, by source, without opcode and address.
    pub matched: [Tagged; 3],
}

impl SocketWires {
    /// Where it shows that a request reaches its memory channel.
    pub const fn at_memory(&self, kind: Kind, channel: usize) -> Option<Tagged> {
        match kind {
            Kind::Read | Kind::Own | Kind::DeviceRead(Priority::Normal) => None,
            Kind::DeviceRead(Priority::High) => Some(self.high[channel]),
            Kind::DeviceRead(Priority::Critical) => Some(self.critical[channel]),
            Kind::DeviceWrite { partial: true } | Kind::Around { partial: true } => Some(self.writes[1][channel]),
            _ => Some(self.writes[0][channel]),
        }
    }
}

/// All wires of a machine.
#[derive(Debug)]
pub struct Wires {
    pub sockets: Vec<SocketWires>,
    match_opcode: u8,
    match_address: u8,
    /// QPI opcodes of the replies that the match register can select, by [`Reply`]: those that pass a line on or write
    /// it back.
    opcodes: [Option<u64>; Reply::COUNT],
}

impl Wires {
    /// Binds all of them, on every socket. What takes a second socket is bound only if there is one.
    pub fn bind(wiring: &mut Wiring, parameters: &Parameters) -> Result<Self, WiringError> {
        let sockets = (0..u16::from(parameters.sockets))
            .map(|socket| bind_socket(&mut Binder { wiring, socket }, parameters))
            .collect::<Result<_, _>>()?;
        let family = wiring.family();
        let opcode = |name: &str| {
            let missing = || WiringError::NoSignal { unit: UNIT, name: format!("qpi-messages {name}") };
            family.named_value("qpi-messages", name).ok_or_else(missing)
        };
        let mut opcodes = [None; Reply::COUNT];
        for (reply, name) in [
            (Reply::ForwardShared, "RspFwdS"),
            (Reply::ForwardSharedWriteBack, "RspFwdS"),
            (Reply::Forward, "RspFwdI"),
            (Reply::WriteBack, "RspIWb"),
        ] {
            opcodes[reply as usize] = Some(opcode(name)?);
        }
        let attribute = |name| wiring.attribute(UNIT, "match", name).map(|bits| bits.lsb);
        Ok(Self { sockets, match_opcode: attribute("opcode")?, match_address: attribute("addr")?, opcodes })
    }

    /// The tag of a reply at the match register, without its source: the message's opcode and the address bits from 3
    /// on; `None` if the register cannot select it.
    pub fn matched(&self, reply: Reply, line: u32) -> Option<u64> {
        let opcode = self.opcodes[reply as usize]?;
        Some(opcode << self.match_opcode | u64::from(line) << 3 << self.match_address)
    }
}

const UNIT: &str = "uncore";

struct Binder<'a> {
    wiring: &'a mut Wiring,
    socket: u16,
}

impl Binder<'_> {
    fn of(&mut self, event: &str, subevent: &str) -> Result<Tagged, WiringError> {
        if subevent.is_empty() {
            return Ok((self.wiring.signal(self.socket, UNIT, 0, event)?, 0));
        }
        self.wiring.subevent(self.socket, UNIT, 0, event, subevent)
    }

    fn level(&mut self, event: &str, subevent: &str) -> Result<Option<TaggedLevel>, WiringError> {
        self.of(event, subevent).map(|(wire, tag)| Some((wire.into(), tag)))
    }

    fn all<const N: usize>(&mut self, event: &str, subevents: [&str; N]) -> Result<[Tagged; N], WiringError> {
        let mut bound = [(Wire::default(), 0); N];
        for (place, subevent) in bound.iter_mut().zip(subevents) {
            *place = self.of(event, subevent)?;
        }
        Ok(bound)
    }
}

fn bind_levels(binder: &mut Binder<'_>, parameters: &Parameters) -> Result<[LevelWires; Level::COUNT], WiringError> {
    let mut levels = [LevelWires::default(); Level::COUNT];
    let mut at = |level: Level, wires: LevelWires| levels[usize::from(level.0)] = wires;
    let several = parameters.sockets > 1;
    let trackers =
        [(Tracker::Read, "READ_TRACKER"), (Tracker::Write, "WRITE_TRACKER"), (Tracker::Peer, "PEER_PROBE_TRACKER")];
    for (tracker, name) in trackers {
        at(
            Level::tracker(tracker),
            LevelWires {
                nonempty: binder.level("GQ_CYCLES_NOT_EMPTY", name)?,
                full: binder.level("GQ_CYCLES_FULL", name)?,
                capacity: parameters.trackers[tracker as usize].into(),
                ..LevelWires::default()
            },
        );
    }
    for (source, name) in Source::ALL.into_iter().zip(["IOH", "REMOTE", "LOCAL"]) {
        if source == Source::Remote && !several {
            continue;
        }
        at(
            Level::home(source),
            LevelWires {
                nonempty: binder.level("QHL_CYCLES_NOT_EMPTY", name)?,
                full: binder.level("QHL_CYCLES_FULL", name)?,
                capacity: parameters.home_entries[source as usize].into(),
                ..LevelWires::default()
            },
        );
        let entries = binder.level("QHL_OCCUPANCY", name)?;
        at(Level::home_reads(source), LevelWires { entries, ..LevelWires::default() });
        // Two or more requests in conflict.
        let full = binder.level("QHL_CONFLICT_CYCLES", name)?;
        at(Level::contest(source), LevelWires { full, capacity: 2, ..LevelWires::default() });
    }
    let ports = [
        ("GQ_DATA_FROM", "QPI"),
        ("GQ_DATA_FROM", "QMC"),
        ("GQ_DATA_FROM", "LLC"),
        ("GQ_DATA_FROM", "CORES_02"),
        ("GQ_DATA_FROM", "CORES_13"),
        ("GQ_DATA_TO", "QPI_QMC"),
        ("GQ_DATA_TO", "LLC"),
        ("GQ_DATA_TO", "CORES"),
    ];
    for (port, (event, name)) in Port::ALL.into_iter().zip(ports) {
        if port != Port::FromLinks || several {
            let nonempty = binder.level(event, name)?;
            at(Level::port(port), LevelWires { nonempty, ..LevelWires::default() });
        }
    }
    let (single, multi) = ("QPI_TX_STALLED_SINGLE_FLIT", "QPI_TX_STALLED_MULTI_FLIT");
    let stalls = [
        (TO_SOCKET, Class::Home, single, "HOME_LINK_0"),
        (TO_SOCKET, Class::Snoop, single, "SNOOP_LINK_0"),
        (TO_SOCKET, Class::Response, single, "NDR_LINK_0"),
        (TO_SOCKET, Class::Data, multi, "DRS_LINK_0"),
        (TO_SOCKET, Class::Bypass, multi, "NCB_LINK_0"),
        (TO_HUB, Class::Response, single, "NDR_LINK_1"),
        (TO_HUB, Class::Data, multi, "DRS_LINK_1"),
        (TO_HUB, Class::Bypass, multi, "NCB_LINK_1"),
        (TO_HUB, Class::Standard, multi, "NCS_LINK_1"),
    ];
    for (link, class, event, name) in stalls {
        if link == TO_HUB || several {
            let nonempty = binder.level(event, name)?;
            at(Level::stall(link, class), LevelWires { nonempty, ..LevelWires::default() });
        }
    }
    for (link, busy, full) in [(TO_SOCKET, "BUSY_LINK_0", "STALLS_LINK_0"), (TO_HUB, "BUSY_LINK_1", "STALLS_LINK_1")] {
        if link == TO_HUB || several {
            let nonempty = binder.level("QPI_TX_HEADER", busy)?;
            at(Level::header(link), LevelWires { nonempty, ..LevelWires::default() });
            let nonempty = binder.level("QPI_RX_NO_PPT_CREDIT", full)?;
            at(Level::no_peer(link), LevelWires { nonempty, ..LevelWires::default() });
        }
    }
    for channel in 0..CHANNELS {
        let name = |what: &str| format!("{what}CH{channel}");
        // Normal and isochronous ones.
        let reads = binder.level("QMC_BUSY", &name("READ_"))?;
        at(
            Level::reads(channel),
            LevelWires {
                entries: binder.level("QMC_OCCUPANCY", &name(""))?,
                among: reads,
                nonempty: None,
                full: binder.level("QMC_NORMAL_FULL", &name("READ_"))?,
                capacity: parameters.dram.reads.into(),
            },
        );
        at(
            Level::writes(channel),
            LevelWires {
                entries: binder.level("QMC_BUSY", &name("WRITE_"))?,
                full: binder.level("QMC_NORMAL_FULL", &name("WRITE_"))?,
                capacity: parameters.dram.writes.into(),
                ..LevelWires::default()
            },
        );
        let entries = binder.level("IMC_ISOC_OCCUPANCY", &name(""))?;
        at(
            Level::isochronous(channel),
            LevelWires {
                entries,
                among: reads,
                full: binder.level("QMC_ISOC_FULL", &name("READ_"))?,
                capacity: parameters.high_priority[0].into(),
                ..LevelWires::default()
            },
        );
        at(
            Level::isochronous_writes(channel),
            LevelWires {
                full: binder.level("QMC_ISOC_FULL", &name("WRITE_"))?,
                capacity: parameters.high_priority[1].into(),
                ..LevelWires::default()
            },
        );
    }
    Ok(levels)
}

fn bind_socket(binder: &mut Binder<'_>, parameters: &Parameters) -> Result<SocketWires, WiringError> {
    let levels = bind_levels(binder, parameters)?;
    let [missed, replied, read_numbered, write_numbered] =
        binder.all("GQ_ALLOC", ["RT_LLC_MISS", "RT_TO_LLC_RESP", "RT_TO_RTID_ACQUIRED", "WT_TO_RTID_ACQUIRED"])?;
    let [shared, exclusive, modified, forward] =
        binder.all("LLC_LINES_IN", ["S_STATE", "E_STATE", "M_STATE", "F_STATE"])?;
    let replies = |binder: &mut Binder<'_>, event: &str| -> Result<[Tagged; Reply::COUNT], WiringError> {
        let single = ["I_STATE", "S_STATE", "FWD_S_STATE", "FWD_I_STATE", "CONFLICT"];
        let [gone, shared, forward_shared, forward, conflict] = binder.all(event, single)?;
        let written = binder.of(event, "WB")?;
        Ok([gone, shared, forward_shared, forward, conflict, written, written])
    };
    let channels = ["CH0", "CH1", "CH2"];
    let mut commands = [[None; Command::COUNT]; CHANNELS];
    for (commands, channel) in commands.iter_mut().zip(channels) {
        for (command, event) in [
            (Command::Activate, "DRAM_OPEN"),
            (Command::PrechargeMiss, "DRAM_PAGE_MISS"),
            (Command::PrechargeIdle, "DRAM_PAGE_CLOSE"),
            (Command::PrechargeAll, "DRAM_PRE_ALL"),
            (Command::Read, "DRAM_READ_CAS"),
            (Command::WriteMajor, "DRAM_WRITE_CAS"),
            (Command::WriteOpportunistic, "DRAM_WRITE_CAS"),
            (Command::RefreshIdle, "DRAM_REFRESH"),
            (Command::RefreshForced, "DRAM_REFRESH"),
        ] {
            commands[command as usize] = Some(binder.of(event, channel)?);
        }
    }
    let mut closing = [[0; Command::COUNT]; CHANNELS];
    for (closing, channel) in closing.iter_mut().zip(channels) {
        for (command, event) in [
            (Command::Read, "DRAM_READ_CAS"),
            (Command::WriteMajor, "DRAM_WRITE_CAS"),
            (Command::WriteOpportunistic, "DRAM_WRITE_CAS"),
        ] {
            closing[command as usize] = binder.of(event, &format!("AUTOPRE_{channel}"))?.1;
        }
    }
    let matched = binder.all("ADDR_OPCODE_MATCH", ["IOH", "REMOTE", "LOCAL"])?;
    Ok(SocketWires {
        levels,
        missed,
        replied,
        numbered: [read_numbered, write_numbered],
        looked_up: [
            binder.all("LLC_MISS", ["READ", "WRITE", "PROBE"])?,
            binder.all("LLC_HITS", ["READ", "WRITE", "PROBE"])?,
        ],
        met: binder.all("QHL_ADDRESS_CONFLICTS", ["2WAY", "3WAY"])?,
        bypassed: binder.of("QHL_TO_QMC_BYPASS", "")?,
        acknowledged: binder.of("QHL_FRC_ACK_CNFLTS", "LOCAL")?,
        entered: binder.all("GQ_ALLOC", ["READ_TRACKER", "WRITE_TRACKER", "PEER_PROBE_TRACKER"])?,
        lines_in: [None, Some(shared), Some(exclusive), Some(modified), Some(forward)],
        lines_out: binder.all("LLC_LINES_OUT", ["I_STATE", "S_STATE", "E_STATE", "M_STATE", "F_STATE"])?,
        replies: [replies(binder, "SNP_RESP_TO_REMOTE_HOME")?, replies(binder, "SNP_RESP_TO_LOCAL_HOME")?],
        requests: [
            binder.all("QHL_REQUESTS", ["IOH_READS", "IOH_WRITES"])?,
            binder.all("QHL_REQUESTS", ["REMOTE_READS", "REMOTE_WRITES"])?,
            binder.all("QHL_REQUESTS", ["LOCAL_READS", "LOCAL_WRITES"])?,
        ],
        high: binder.all("QMC_HIGH_PRIORITY_READS", channels)?,
        critical: binder.all("QMC_CRITICAL_PRIORITY_READS", channels)?,
        hurried: binder.all("QMC_PRIORITY_UPDATES", channels)?,
        cancelled: binder.all("QMC_CANCEL", channels)?,
        writes: [
            binder.all("QMC_WRITES", ["FULL_CH0", "FULL_CH1", "FULL_CH2"])?,
            binder.all("QMC_WRITES", ["PARTIAL_CH0", "PARTIAL_CH1", "PARTIAL_CH2"])?,
        ],
        commands,
        closing,
        matched,
    })
}
