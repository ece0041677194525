//! The signals of mesh stops and of the fabric between the dies.

use pericore_hardware::signal::{Wiring, WiringError};

use pericore_facts::emerald_rapids::{Message, Ring};

use super::super::lines::binding::{Line, bind};

/// Units that have a mesh stop.
pub const UNITS: [&str; 4] = ["cha", "m2m", "m2pcie", "m3upi"];
pub const RINGS: [(&str, Ring); Ring::COUNT] = [
    ("AD", Ring::Address),
    ("AK", Ring::Acknowledge),
    ("AKC", Ring::AcknowledgeAgents),
    ("BL", Ring::Block),
    ("IV", Ring::Invalidate),
];
/// Messages that queues keep apart: those of each ring, then addresses and data that stay in their row and need no
/// credit.
pub const FLOWS: usize = Ring::COUNT + 2;
const FLOW_RINGS: [(&str, Ring); FLOWS] =
    [RINGS[0], RINGS[1], RINGS[2], RINGS[3], RINGS[4], ("AD", Ring::Address), ("BL", Ring::Block)];

/// The flow of a message.
#[inline]
pub const fn flow(message: &Message) -> usize {
    match message.ring {
        Ring::Address if !message.is_credited() => Ring::COUNT,
        Ring::Block if !message.is_credited() => Ring::COUNT + 1,
        ring => ring as usize,
    }
}

/// Rows of the mesh, for each of which a stop has credits.
const CREDIT_ROWS: usize = 12;

/// Signals of a queue of a mesh stop or of the fabric.
#[derive(Debug, Clone, Copy)]
pub struct QueueLines {
    pub entries: Line,
    pub occupied: Line,
    pub bypass: Line,
    pub nonempty: Option<Line>,
    pub half: Option<Line>,
    pub full: Option<Line>,
    /// Messages that the ring has no slot for.
    pub nacked: Option<Line>,
    pub starved: Option<Line>,
    /// Messages starve because the queue had no room for them.
    pub no_room: Option<Line>,
    /// A slot kept against deadlock is used.
    pub reserve: Option<Line>,
}

/// What M2M counts of its own egress: the queues of its mesh stop, seen from the unit.
#[derive(Debug, Clone, Copy)]
pub struct OwnLines {
    pub entries: Line,
    pub nonempty: Line,
    pub full: Option<Line>,
    /// Credits for room in the queue: back, none left, missed, and in use.
    pub returned: Option<Line>,
    pub zero: Option<Line>,
    pub stalled: Option<Line>,
    pub held: Option<Line>,
    /// Credits for a row in use.
    pub transgress: Option<Line>,
}

/// Signals of a mesh stop of one unit.
#[derive(Debug, Clone)]
pub struct StopLines {
    /// By ring, up or down, even or odd.
    pub vertical: [[[Line; 2]; 2]; Ring::COUNT],
    /// By ring, left or right, even or odd.
    pub horizontal: [[[Line; 2]; 2]; Ring::COUNT],
    /// Credits on their way back: up or down, even or odd.
    pub returning: [[Line; 2]; 2],
    /// By address or data, agent, row: taken, held, missed.
    pub credits: [[[[Line; 3]; CREDIT_ROWS]; 2]; 2],
    /// By ring and agent.
    pub egress: [[QueueLines; 2]; Ring::COUNT],
    /// By flow: where messages turn, and where they are taken off.
    pub turns: [QueueLines; FLOWS],
    pub ingress: [QueueLines; FLOWS],
    /// By ring, for messages along the column or the row: bounces, cycles without a place.
    pub bounces: [[Option<[Line; 2]>; 2]; Ring::COUNT],
    /// By ring and agent, for M2M.
    pub own: [[Option<OwnLines>; 2]; Ring::COUNT],
    /// Cycles of distress: the queue into the row is full, an egress queue is.
    pub distress: [Line; 2],
    /// Cycles in which a sender is held back because of it.
    pub throttled: Line,
    /// Cycles in which an invalidation from above or below waits for an acknowledgement before it: on its way up, down.
    pub ordering: [Line; 2],
    /// A line of each signal, to ask who listens.
    pub signals: Vec<Line>,
}

struct Binder<'a> {
    wiring: &'a mut Wiring,
    unit: &'a str,
    signals: Vec<Line>,
}

impl<'a> Binder<'a> {
    const fn new(wiring: &'a mut Wiring, unit: &'a str) -> Self {
        Self { wiring, unit, signals: Vec::new() }
    }

    fn line(&mut self, event: &str) -> Result<Line, WiringError> {
        let line = bind(self.wiring, &format!("{}/{event}", self.unit))?;
        if !self.signals.iter().any(|other| other.has_signal_of(line)) {
            self.signals.push(line);
        }
        Ok(line)
    }

    fn ways(&mut self, axis: &str, ring: &str, names: [&str; 2]) -> Result<[[Line; 2]; 2], WiringError> {
        let mut way = |way: &str, polarity: &str| {
            // The invalidate ring has no polarities.
            let suffix = if ring == "IV" { String::new() } else { format!("_{polarity}") };
            self.line(&format!("{axis}_RING_{ring}_IN_USE.{way}{suffix}"))
        };
        Ok([[way(names[0], "EVEN")?, way(names[0], "ODD")?], [way(names[1], "EVEN")?, way(names[1], "ODD")?]])
    }

    fn egress(&mut self, ring: (&str, Ring), agent: u8) -> Result<QueueLines, WiringError> {
        let suffix = if ring.1 == Ring::AcknowledgeAgents { "1" } else { "0" };
        // The invalidate ring has one agent.
        let agent = if ring.1 == Ring::Invalidate { 0 } else { agent };
        let lane = format!("{}_AG{agent}", ring.0);
        let bypass = match ring.1 {
            Ring::AcknowledgeAgents => format!("TxR_VERT_BYPASS_1.{lane}"),
            // The guide has this row under the second agent.
            Ring::Invalidate => "TxR_VERT_BYPASS.IV_AG1".to_owned(),
            _ => format!("TxR_VERT_BYPASS.{lane}"),
        };
        let reserved = matches!(ring.1, Ring::Address | Ring::Block);
        let reserve = reserved.then(|| self.line(&format!("TxR_VERT_ADS_USED.{lane}"))).transpose()?;
        let bypass = self.line(&bypass)?;
        let mut of = |event: &str| self.line(&format!("TxR_VERT_{event}{suffix}.{lane}"));
        Ok(QueueLines {
            entries: of("INSERTS")?,
            occupied: of("OCCUPANCY")?,
            bypass,
            nonempty: Some(of("CYCLES_NE")?),
            half: None,
            full: Some(of("CYCLES_FULL")?),
            nacked: Some(of("NACK")?),
            starved: Some(of("STARVED")?),
            no_room: None,
            reserve,
        })
    }

    fn turn(&mut self, flow: usize) -> Result<QueueLines, WiringError> {
        let ring = FLOW_RINGS[flow];
        let (all, name) = (format!("{}_ALL", ring.0), NAMES[flow]);
        let reserved = matches!(ring.1, Ring::Address | Ring::Block);
        let starving = if reserved { all.as_str() } else { name };
        let starved = Some(self.line(&format!("TxR_HORZ_STARVED.{starving}"))?);
        let reserve = reserved.then(|| self.line(&format!("TxR_HORZ_ADS_USED.{name}"))).transpose()?;
        let no_room = Some(match ring.1 {
            Ring::AcknowledgeAgents if self.unit == "m2m" => self.line("RxR_CRD_STARVED_1.AKC_UNCRD")?,
            Ring::AcknowledgeAgents => self.line("RxR_CRD_STARVED_1")?,
            _ => self.line(&format!("RxR_CRD_STARVED.{name}"))?,
        });
        let mut of = |event: &str| self.line(&format!("TxR_HORZ_{event}.{name}"));
        Ok(QueueLines {
            entries: of("INSERTS")?,
            occupied: of("OCCUPANCY")?,
            bypass: of("BYPASS")?,
            nonempty: Some(of("CYCLES_NE")?),
            half: None,
            full: Some(of("CYCLES_FULL")?),
            nacked: Some(of("NACK")?),
            starved,
            no_room,
            reserve,
        })
    }

    fn ingress(&mut self, flow: usize) -> Result<QueueLines, WiringError> {
        let (ring, name) = (FLOW_RINGS[flow].1, NAMES[flow]);
        // There BL_CRD has a bit that BL_ALL lacks (Table 2-34).
        let inside = if name == "BL_CRD" { "BL_CRD+BL_ALL-BL_UNCRD" } else { name };
        let occupied = self.line(&format!("RxR_OCCUPANCY.{inside}"))?;
        let mut of = |event: &str| self.line(&format!("RxR_{event}.{name}"));
        let starves = matches!(ring, Ring::Address | Ring::Block);
        Ok(QueueLines {
            entries: of("INSERTS")?,
            occupied,
            bypass: of("BYPASS")?,
            nonempty: None,
            half: None,
            full: None,
            nacked: None,
            starved: starves.then(|| of("BUSY_STARVED")).transpose()?,
            no_room: None,
            reserve: None,
        })
    }

    fn own(&mut self, ring: Ring, agent: u8) -> Result<Option<OwnLines>, WiringError> {
        if self.unit != "m2m" {
            return Ok(None);
        }
        let mut lines = match ring {
            Ring::Block => OwnLines {
                entries: self.line(&format!("TxC_BL.INSERTS_CMS{agent}"))?,
                nonempty: self.line(&format!("TxC_BL.NE_CMS{agent}"))?,
                // No document has the second port's row.
                full: if agent == 0 { Some(self.line("TxC_BL.FULL_CMS0")?) } else { None },
                returned: Some(self.line(&format!("TxC_BL_CREDITS.RETURNED_CMS{agent}"))?),
                zero: Some(self.line(&format!("TxC_BL_CREDITS.ZERO_CMS{agent}"))?),
                stalled: Some(self.line(&format!("TxC_BL_CREDITS.STALLED_CMS{agent}"))?),
                held: None,
                transgress: Some(self.line("TGR_BL_CREDITS")?),
            },
            Ring::Address | Ring::AcknowledgeAgents => {
                let event = if ring == Ring::Address { "TxC_AD" } else { "TxC_EGRESS_AK" };
                OwnLines {
                    entries: self.line(&format!("{event}.INSERTS"))?,
                    nonempty: self.line(&format!("{event}.CYCLES_NE"))?,
                    full: Some(self.line(&format!("{event}.CYCLES_FULL"))?),
                    returned: None,
                    zero: None,
                    stalled: None,
                    held: None,
                    transgress: None,
                }
            }
            Ring::Acknowledge | Ring::Invalidate => return Ok(None),
        };
        if ring == Ring::Address {
            lines.returned = Some(self.line("TxC_AD_CREDITS.RETURNED")?);
            lines.zero = Some(self.line("TxC_AD_CREDITS.ZERO")?);
            lines.stalled = Some(self.line("TxC_AD_CREDITS.STALLED")?);
            lines.held = Some(self.line("TxC_AD_CREDIT_OCCUPANCY")?);
            lines.transgress = Some(self.line("TGR_AD_CREDITS")?);
        }
        Ok(Some(lines))
    }

    fn bounces(&mut self, name: &str, ring: Ring) -> Result<[Option<[Line; 2]>; 2], WiringError> {
        let mut along = |axis: &str| -> Result<[Line; 2], WiringError> {
            let bounced = self.line(&format!("RING_BOUNCES_{axis}.{name}"))?;
            Ok([bounced, self.line(&format!("RING_SINK_STARVED_{axis}.{name}"))?])
        };
        // The agents' acknowledgements have no rows of their own along the row.
        let horizontal = if ring == Ring::AcknowledgeAgents { None } else { Some(along("HORZ")?) };
        Ok([Some(along("VERT")?), horizontal])
    }
}

/// Subevents by flow.
const NAMES: [&str; FLOWS] = ["AD_CRD", "AK", "AKC_UNCRD", "BL_CRD", "IV", "AD_UNCRD", "BL_UNCRD"];

impl StopLines {
    pub fn bind(wiring: &mut Wiring, unit: &str) -> Result<Self, WiringError> {
        let mut binder = Binder::new(wiring, unit);
        let mut rings = Vec::new();
        for ring in RINGS {
            let vertical = binder.ways("VERT", ring.0, ["UP", "DN"])?;
            let horizontal = binder.ways("HORZ", ring.0, ["LEFT", "RIGHT"])?;
            let egress = [binder.egress(ring, 0)?, binder.egress(ring, 1)?];
            let own = [binder.own(ring.1, 0)?, binder.own(ring.1, 1)?];
            rings.push((vertical, horizontal, egress, binder.bounces(ring.0, ring.1)?, own));
        }
        let mut flows = Vec::new();
        for flow in 0..FLOWS {
            flows.push((binder.turn(flow)?, binder.ingress(flow)?));
        }
        let mut credits = Vec::new();
        for ring in ["AD", "BL"] {
            for agent in 0..2 {
                for row in 0..CREDIT_ROWS {
                    // The first eight rows have events of their own.
                    let half = row / 8;
                    credits.push([
                        binder.line(&format!("AG{agent}_{ring}_CRD_ACQUIRED{half}.TGR{row}"))?,
                        binder.line(&format!("AG{agent}_{ring}_CRD_OCCUPANCY{half}.TGR{row}"))?,
                        binder.line(&format!("STALL{half}_NO_TxR_HORZ_CRD_{ring}_AG{agent}.TGR{row}"))?,
                    ]);
                }
            }
        }
        let rows =
            |ring: usize, agent: usize| std::array::from_fn(|row| credits[(ring * 2 + agent) * CREDIT_ROWS + row]);
        Ok(Self {
            vertical: std::array::from_fn(|ring| rings[ring].0),
            horizontal: std::array::from_fn(|ring| rings[ring].1),
            returning: binder.ways("VERT", "TGC", ["UP", "DN"])?,
            credits: [[rows(0, 0), rows(0, 1)], [rows(1, 0), rows(1, 1)]],
            egress: std::array::from_fn(|ring| rings[ring].2),
            turns: std::array::from_fn(|flow| flows[flow].0),
            ingress: std::array::from_fn(|flow| flows[flow].1),
            bounces: std::array::from_fn(|ring| rings[ring].3),
            own: std::array::from_fn(|ring| rings[ring].4),
            distress: [binder.line("DISTRESS_ASSERTED.HORZ")?, binder.line("DISTRESS_ASSERTED.VERT")?],
            throttled: binder.line("RING_SRC_THRTL")?,
            ordering: [binder.line("EGRESS_ORDERING.IV_SNOOPGO_UP")?, binder.line("EGRESS_ORDERING.IV_SNOOPGO_DN")?],
            signals: binder.signals,
        })
    }
}

/// Signals of the fabric between the dies, of one flow.
#[derive(Debug, Clone)]
pub struct FabricLines {
    /// Messages that come from the vertical ring. The agents' acknowledgements have no rows but the full buffer's.
    pub queue: Option<QueueLines>,
    /// None of messages without a credit.
    pub full: Option<Line>,
    /// Messages that go on from the bridge to the other die's vertical ring.
    pub sent: Line,
    /// Messages that found no room.
    pub bounced: Line,
    /// A line of each signal, to ask who listens.
    pub signals: Vec<Line>,
}

impl FabricLines {
    pub fn bind(wiring: &mut Wiring, flow: usize) -> Result<Self, WiringError> {
        let mut binder = Binder::new(wiring, "mdf");
        let ((name, ring), credited) = (FLOW_RINGS[flow], flow < Ring::COUNT);
        let kind = match ring {
            Ring::Address | Ring::Block if credited => format!("{name}_CRD"),
            Ring::Address | Ring::Block => format!("{name}_BNC"),
            _ => name.to_owned(),
        };
        // Distress is raised by the buffers of credited addresses and data only.
        let half = match ring {
            Ring::Address if credited => Some(binder.line("FAST_ASSERTED.AD_BNC")?),
            Ring::Block if credited => Some(binder.line("FAST_ASSERTED.BL_CRD")?),
            _ => None,
        };
        let queue = if ring == Ring::AcknowledgeAgents {
            None
        } else {
            Some(QueueLines {
                entries: binder.line(&format!("RxR_INSERTS.{kind}"))?,
                occupied: binder.line(&format!("RxR_OCCUPANCY.{kind}"))?,
                bypass: binder.line(&format!("RxR_BYPASS.{kind}"))?,
                nonempty: None,
                half,
                full: None,
                nacked: None,
                starved: None,
                no_room: None,
                reserve: None,
            })
        };
        Ok(Self {
            queue,
            full: credited.then(|| binder.line(&format!("RxR_FULL.{kind}"))).transpose()?,
            sent: binder.line(&format!("CRS_TxR_INSERTS.{kind}"))?,
            bounced: binder.line(&format!("CRS_TxR_V_BOUNCES.{name}"))?,
            signals: binder.signals,
        })
    }
}
