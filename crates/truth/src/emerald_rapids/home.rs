//! Requests at home agents and where mesh and memory meet, and what the guide's events of both mean by them
//! (sections 2.2 and 2.7).

use pericore_facts::emerald_rapids::{
    DirectoryState, HomeRequest, MemoryAction, MemoryRequest, MemoryUnitFact, PrefetchFate, PrefetchSender,
    PrefetchSent,
};

use super::gauge::Gauge;

/// Units where mesh and memory meet, of a socket.
const UNITS: usize = 4;

/// Totals of the home side of an agent.
#[derive(Debug, Clone, Default)]
pub struct HomeAgentCells {
    /// By what is requested, by whom: this socket, the other.
    requested: [[u64; 2]; 3],
    /// Reads of memory: in their turn, isochronous.
    reads: [u64; 2],
    /// Prefetches that would run ahead of them, by half of the unit: sent, without a credit, without the port.
    prefetches: [[u64; 3]; 2],
    /// Of those, what was sent at once.
    at_once: u64,
    /// Writes to memory: of lines, of parts, and isochronous ones of lines.
    writes: [u64; 3],
    /// Reads and writes that found no credit, by unit.
    without_credit: [[u64; UNITS]; 2],
    /// Looks at the directory after which the other socket was not requested, and was.
    looks: [u64; 2],
    /// Changes of the directory by reads, and by those of the other socket that found the line in this one's caches.
    changes: [u64; 2],
}

impl HomeAgentCells {
    /// Something is requested of the agent.
    pub const fn count(&mut self, what: HomeRequest, remote: bool) {
        self.requested[what as usize][remote as usize] += 1;
    }

    /// The agent sends a request to memory.
    pub fn send(&mut self, request: MemoryRequest, at_once: bool, credit: bool) {
        let writes = match request.action {
            MemoryAction::Read => {
                self.reads[usize::from(request.isochronous)] += 1;
                self.at_once += u64::from(at_once);
                0
            }
            MemoryAction::Write => {
                self.writes[if request.isochronous { 2 } else { 0 }] += 1;
                1
            }
            MemoryAction::PartialWrite => {
                self.writes[1] += 1;
                1
            }
        };
        if !credit {
            self.without_credit[writes][usize::from(request.unit) % UNITS] += 1;
        }
    }

    /// The agent has a prefetch for a half of a unit.
    pub const fn prefetch(&mut self, half: u8, sent: PrefetchSent) {
        self.prefetches[half as usize % 2][sent as usize] += 1;
    }

    /// The agent has learnt what the directory knows of a line, and queries the other socket or not.
    pub const fn look(&mut self, queries: bool) {
        self.looks[queries as usize] += 1;
    }

    /// The directory changes for a read at the agent, or one of the other socket of a line that a cache here had.
    pub const fn change(&mut self, had: bool) {
        self.changes[had as usize] += 1;
    }

    /// The count of an event of the agent.
    pub fn value(&self, event: &str, subevent: &str) -> Option<u64> {
        let requested = |what: HomeRequest, name: &str| {
            let by = self.requested[what as usize];
            Some(match name {
                "" => by[0] + by[1],
                "_LOCAL" => by[0],
                "_REMOTE" => by[1],
                _ => return None,
            })
        };
        let unit = |of: &[u64; UNITS]| of.get(subevent.strip_prefix("MC")?.parse::<usize>().ok()?).copied();
        let prefetches = |half: usize, sent: PrefetchSent| self.prefetches[half][sent as usize];
        let dropped = |half| prefetches(half, PrefetchSent::NoCredit) + prefetches(half, PrefetchSent::Conflict);
        Some(match (event, subevent) {
            ("REQUESTS", name) if name.starts_with("READS") => requested(HomeRequest::Read, &name[5..])?,
            ("REQUESTS", name) if name.starts_with("WRITES") => requested(HomeRequest::Write, &name[6..])?,
            ("REQUESTS", name) if name.starts_with("INVITOE") => requested(HomeRequest::Claim, &name[7..])?,
            ("IMC_READS_COUNT", "NORMAL") => self.reads[0],
            ("IMC_READS_COUNT", "PRIORITY") => self.reads[1],
            ("IMC_WRITES_COUNT", "FULL") => self.writes[0],
            ("IMC_WRITES_COUNT", "PARTIAL") => self.writes[1],
            ("IMC_WRITES_COUNT", "FULL_PRIORITY") => self.writes[2],
            ("BYPASS_CHA_IMC", "TAKEN") => self.at_once,
            ("BYPASS_CHA_IMC", "NOT_TAKEN") => self.reads.iter().sum::<u64>() - self.at_once,
            // Table 2-128: one channel is the unit's first half, the other its second.
            ("XPT_PREF", "SENT0") => prefetches(0, PrefetchSent::Goes),
            ("XPT_PREF", "DROP0") => dropped(0),
            ("XPT_PREF", "DROP0_NOCRD") => prefetches(0, PrefetchSent::NoCredit),
            ("XPT_PREF", "DROP0_CONFLICT") => prefetches(0, PrefetchSent::Conflict),
            ("XPT_PREF", "SENT1") => prefetches(1, PrefetchSent::Goes),
            ("XPT_PREF", "DROP1") => dropped(1),
            ("XPT_PREF", "DROP1_NOCRD") => prefetches(1, PrefetchSent::NoCredit),
            ("XPT_PREF", "DROP1_CONFLICT") => prefetches(1, PrefetchSent::Conflict),
            ("READ_NO_CREDITS", _) => unit(&self.without_credit[0])?,
            ("WRITE_NO_CREDITS", _) => unit(&self.without_credit[1])?,
            ("DIR_LOOKUP", "NO_SNP") => self.looks[0],
            ("DIR_LOOKUP", "SNP") => self.looks[1],
            ("DIR_UPDATE", "HA") => self.changes[0],
            ("DIR_UPDATE", "TOR") => self.changes[1],
            _ => return None,
        })
    }
}

/// Totals of one channel where it meets the mesh.
#[derive(Debug, Clone, Default)]
struct HalfCells {
    /// Reads in the tracker, and how many isochronous ones and writes of lines there were.
    reads: Gauge,
    isochronous: [u64; 2],
    /// Those for which a prefetch reads memory already, when they come: by who sent it.
    merged: [u64; PrefetchSender::COUNT],
    /// Reads that memory has answered: without a prefetch, with one.
    answered: [u64; 2],
    /// Prefetches in the CAM.
    ahead: Gauge,
    /// Prefetches that have come, by sender and what became of them.
    prefetches: [[u64; PrefetchFate::COUNT]; PrefetchSender::COUNT],
    /// Writes of lines and of parts, in the write tracker; all of them.
    writes: [Gauge; 2],
    written: Gauge,
}

/// Totals of a unit where mesh and memory meet.
#[derive(Debug, Clone, Default)]
pub struct UnitCells {
    halves: [HalfCells; 2],
    /// Lines that came with these directory bits; of these, those for which the other socket is asked first.
    found: [u64; DirectoryState::COUNT],
    queried_first: u64,
    /// Reads, and writes by half, that wait for a credit of the memory controller.
    reads_wait: Gauge,
    no_write_credit: [Gauge; 2],
    no_special_credit: [Gauge; 2],
    /// Data that goes onto the mesh at once, and after it has waited.
    sent: [u64; 2],
    /// Data for the other socket: to its agent for want of a credit, to the link.
    sent_away: [u64; 2],
    /// Changes of the directory, from and to.
    changes: [[u64; DirectoryState::COUNT]; DirectoryState::COUNT],
}

/// No tracker is ever full.
const ENDLESS: u64 = u64::MAX;

impl UnitCells {
    /// A request comes to memory.
    pub fn take(&mut self, request: MemoryRequest, cycle: u64) {
        let half = &mut self.halves[usize::from(request.half) % 2];
        if request.isochronous {
            half.isochronous[usize::from(request.action != MemoryAction::Read)] += 1;
        }
        match request.action {
            MemoryAction::Read => {
                half.reads.enter(cycle, ENDLESS);
                request.ahead.into_iter().for_each(|sender| half.merged[sender as usize] += 1);
            }
            MemoryAction::Write => half.writes[0].enter(cycle, ENDLESS),
            MemoryAction::PartialWrite => half.writes[1].enter(cycle, ENDLESS),
        }
        if request.action != MemoryAction::Read {
            half.written.enter(cycle, ENDLESS);
        }
    }

    /// Memory has done a request.
    pub fn finish(&mut self, request: MemoryRequest, cycle: u64) {
        let half = &mut self.halves[usize::from(request.half) % 2];
        match request.action {
            MemoryAction::Read => {
                half.reads.leave(cycle, ENDLESS);
                half.answered[usize::from(request.ahead.is_some())] += 1;
                if request.ahead.is_some() {
                    half.ahead.leave(cycle, ENDLESS);
                }
            }
            MemoryAction::Write => half.writes[0].leave(cycle, ENDLESS),
            MemoryAction::PartialWrite => half.writes[1].leave(cycle, ENDLESS),
        }
        if request.action != MemoryAction::Read {
            half.written.leave(cycle, ENDLESS);
        }
    }

    /// A prefetch comes to a half.
    pub fn take_prefetch(&mut self, half: u8, sender: PrefetchSender, fate: PrefetchFate, cycle: u64) {
        let half = &mut self.halves[usize::from(half) % 2];
        half.prefetches[sender as usize][fate as usize] += 1;
        if fate == PrefetchFate::Runs {
            half.ahead.enter(cycle, ENDLESS);
        }
    }

    /// A line has come with directory bits.
    pub const fn look(&mut self, state: DirectoryState) {
        self.found[state as usize] += 1;
    }

    /// Something else happens.
    pub fn read(&mut self, fact: MemoryUnitFact, cycle: u64) {
        match fact {
            MemoryUnitFact::ReadWaits(true) => self.reads_wait.enter(cycle, ENDLESS),
            MemoryUnitFact::ReadWaits(false) => self.reads_wait.leave(cycle, ENDLESS),
            MemoryUnitFact::NoWriteCredit(half, true) => {
                self.no_write_credit[usize::from(half) % 2].enter(cycle, ENDLESS)
            }
            MemoryUnitFact::NoWriteCredit(half, false) => {
                self.no_write_credit[usize::from(half) % 2].leave(cycle, ENDLESS)
            }
            MemoryUnitFact::NoSpecialCredit(half, true) => {
                self.no_special_credit[usize::from(half) % 2].enter(cycle, ENDLESS)
            }
            MemoryUnitFact::NoSpecialCredit(half, false) => {
                self.no_special_credit[usize::from(half) % 2].leave(cycle, ENDLESS)
            }
            MemoryUnitFact::Sends(waited) => self.sent[usize::from(waited)] += 1,
            MemoryUnitFact::NotDirect => self.queried_first += 1,
            MemoryUnitFact::SendsAway(direct) => self.sent_away[usize::from(direct)] += 1,
        }
    }

    /// True if nothing is under way.
    pub fn is_at_rest(&self) -> bool {
        let trackers = self.halves.iter().flat_map(|half| [&half.reads, &half.ahead].into_iter().chain(&half.writes));
        trackers
            .chain(&self.no_write_credit)
            .chain(&self.no_special_credit)
            .chain([&self.reads_wait])
            .all(|gauge| gauge.live == 0)
    }

    /// A line's bits change.
    pub const fn change(&mut self, from: DirectoryState, to: DirectoryState) {
        self.changes[from as usize][to as usize] += 1;
    }

    /// Brings its sums up to a cycle.
    pub fn bring_up(&mut self, cycle: u64) {
        for half in &mut self.halves {
            let gauges = [&mut half.reads, &mut half.ahead, &mut half.written].into_iter().chain(&mut half.writes);
            gauges.for_each(|gauge| *gauge = gauge.at(cycle, ENDLESS));
        }
        self.no_write_credit
            .iter_mut()
            .chain(&mut self.no_special_credit)
            .chain([&mut self.reads_wait])
            .for_each(|gauge| *gauge = gauge.at(cycle, ENDLESS));
    }

    /// The count of an event of the unit, after [`UnitCells::bring_up`].
    pub fn value(&self, event: &str, subevent: &str) -> Option<u64> {
        use DirectoryState::{Any, Nowhere, Shared};
        let changes = |from: DirectoryState, to: DirectoryState| self.changes[from as usize][to as usize];
        match (event, subevent) {
            ("DIRECTORY_LOOKUP", "ANY") => return Some(self.found.iter().sum()),
            ("DIRECTORY_LOOKUP", "STATE_I") | ("DIRECTORY_HIT", "CLEAN_I") => return Some(self.found[0]),
            ("DIRECTORY_LOOKUP", "STATE_S") | ("DIRECTORY_HIT", "CLEAN_S") => return Some(self.found[1]),
            ("DIRECTORY_LOOKUP", "STATE_A") | ("DIRECTORY_HIT", "CLEAN_A") => return Some(self.found[2]),
            ("DIRECTORY_UPDATE", "ANY" | "HIT_NON_PMM") => return Some(self.changes.as_flattened().iter().sum()),
            ("DIRECTORY_UPDATE", "I2S" | "I_TO_S_HIT_NON_PMM") => return Some(changes(Nowhere, Shared)),
            ("DIRECTORY_UPDATE", "I2A" | "I_TO_A_HIT_NON_PMM") => return Some(changes(Nowhere, Any)),
            ("DIRECTORY_UPDATE", "S2A" | "S_TO_A_HIT_NON_PMM") => return Some(changes(Shared, Any)),
            ("DIRECTORY_UPDATE", "A2S" | "A_TO_S_HIT_NON_PMM") => return Some(changes(Any, Shared)),
            ("DIRECTORY_UPDATE", "S2I" | "S_TO_I_HIT_NON_PMM") => return Some(changes(Shared, Nowhere)),
            ("DIRECTORY_UPDATE", "A2I" | "A_TO_I_HIT_NON_PMM") => return Some(changes(Any, Nowhere)),
            ("RxC_AD_OCCUPANCY", "") => return Some(self.reads_wait.occupied),
            ("WPQ_NO_REG_CRD", "CHN0") => return Some(self.no_write_credit[0].occupied),
            ("WPQ_NO_REG_CRD", "CHN1") => return Some(self.no_write_credit[1].occupied),
            ("WPQ_NO_SPEC_CRD", "CHN0") => return Some(self.no_special_credit[0].occupied),
            ("WPQ_NO_SPEC_CRD", "CHN1") => return Some(self.no_special_credit[1].occupied),
            ("BYPASS_M2M_EGRESS", "TAKEN") => return Some(self.sent[0]),
            ("BYPASS_M2M_EGRESS", "NOT_TAKEN") => return Some(self.sent[1]),
            // Data does not go straight to the core where the directory says otherwise, or the agent wants it.
            ("DIRECT2CORE_NOT_TAKEN_DIRSTATE", "EGRESS" | "NON_CISGRESS") => return Some(self.queried_first),
            ("DIRECT2UPI_NOT_TAKEN_CREDITS", "EGRESS" | "NON_CISGRESS") => return Some(self.sent_away[0]),
            ("DIRECT2UPI_TAKEN", "") => return Some(self.sent_away[1]),
            _ => {}
        }
        let (name, halves) = self.of_halves(event, subevent);
        let sum = |of: &dyn Fn(&HalfCells) -> u64| Some(halves.iter().map(of).sum());
        let entries: fn(&Gauge) -> u64 = |gauge| gauge.entries;
        let fate = |half: &HalfCells, sender: PrefetchSender, fate: PrefetchFate| {
            half.prefetches[sender as usize][fate as usize]
        };
        let came = |half: &HalfCells, sender: PrefetchSender| half.prefetches[sender as usize].iter().sum::<u64>();
        let both = |half: &HalfCells, of| fate(half, PrefetchSender::Agent, of) + fate(half, PrefetchSender::Link, of);
        let lost = |half: &HalfCells, sender| came(half, sender) - fate(half, sender, PrefetchFate::Runs);
        let (agent, link) = (PrefetchSender::Agent, PrefetchSender::Link);
        let event = event.trim_end_matches("_CH0").trim_end_matches("_CH1");
        match (event, name) {
            ("RxC_AD_INSERTS", "") | ("TRACKER_INSERTS", "CH") => sum(&|half| half.reads.entries),
            ("IMC_READS", "NORMAL") => sum(&|half| half.reads.entries - half.isochronous[0]),
            ("IMC_READS", "ISOCH") => sum(&|half| half.isochronous[0]),
            ("IMC_READS", "ALL" | "TO_DDR_AS_MEM" | "TO_NM1LM") => sum(&|half| half.reads.entries),
            ("IMC_WRITES", "FULL") => sum(&|half| half.writes[0].entries - half.isochronous[1]),
            ("IMC_WRITES", "FULL_ISOCH") => sum(&|half| half.isochronous[1]),
            ("IMC_WRITES", "PARTIAL") => sum(&|half| half.writes[1].entries),
            ("IMC_WRITES", "ALL" | "TO_DDR_AS_MEM" | "NI") | ("WR_TRACKER_INSERTS", "CH") => {
                sum(&|half| half.writes.iter().map(entries).sum())
            }
            ("TRACKER_OCCUPANCY", "CH") => sum(&|half| half.reads.occupied),
            // Writes of whole lines are done with when they are in the queue, those of parts when memory has them.
            ("WR_TRACKER_POSTED_INSERTS", "CH") => sum(&|half| half.writes[0].entries),
            ("WR_TRACKER_POSTED_OCCUPANCY", "CH") => sum(&|half| half.writes[0].occupied),
            ("WR_TRACKER_NE", "CH") => sum(&|half| half.written.nonempty),
            ("WR_TRACKER_NONPOSTED_INSERTS", "CH") => sum(&|half| half.writes[1].entries),
            ("WR_TRACKER_NONPOSTED_OCCUPANCY", "CH") => sum(&|half| half.writes[1].occupied),
            ("PREFCAM_INSERTS", "XPT" | "XPT_ALLCH") => sum(&|half| fate(half, agent, PrefetchFate::Runs)),
            ("PREFCAM_INSERTS", "UPI" | "UPI_ALLCH") => sum(&|half| fate(half, link, PrefetchFate::Runs)),
            ("PREFCAM_DEMAND_MERGE", "XPT_ALLCH") => sum(&|half| half.merged[agent as usize]),
            ("PREFCAM_DEMAND_MERGE", "UPI_ALLCH") => sum(&|half| half.merged[link as usize]),
            ("PREFCAM_OCCUPANCY", "CH" | "ALLCH") => sum(&|half| half.ahead.occupied),
            ("PREFCAM_RxC_DEALLOCS", "1LM_POSTED") => sum(&|half| both(half, PrefetchFate::Runs)),
            ("PREFCAM_RxC_DEALLOCS", "SQUASHED") => sum(&|half| lost(half, agent) + lost(half, link)),
            // Tables 2-273 and 2-274: for want of room in a queue of memory, or beyond the threshold of who sent it;
            // behind another one; for want of an entry.
            ("PREFCAM_DROP_REASONS", "RPQ_PROXY") => sum(&|half| both(half, PrefetchFate::NoRoom)),
            ("PREFCAM_DROP_REASONS", "WPQ_PROXY") => sum(&|half| both(half, PrefetchFate::WritesWait)),
            ("PREFCAM_DROP_REASONS", "XPT_THRESH") => sum(&|half| fate(half, agent, PrefetchFate::BeyondThreshold)),
            ("PREFCAM_DROP_REASONS", "UPI_THRESH") => sum(&|half| fate(half, link, PrefetchFate::BeyondThreshold)),
            ("PREFCAM_DROP_REASONS", "STOP_B2B") => sum(&|half| both(half, PrefetchFate::BackToBack)),
            ("PREFCAM_DROP_REASONS", "PF_CAM_FULL") => sum(&|half| both(half, PrefetchFate::CamFull)),
            ("PREFCAM_DEMAND_DROPS", "XPT" | "XPT_ALLCH") => sum(&|half| lost(half, agent)),
            ("PREFCAM_DEMAND_DROPS", "UPI" | "UPI_ALLCH") => sum(&|half| lost(half, link)),
            ("PREFCAM_DEALLOCS", "RSP" | "ALL") => sum(&|half| half.answered[1]),
            ("PREFCAM_RESP_MISS", "CH" | "ALLCH") => sum(&|half| half.answered[0]),
            _ => None,
        }
    }

    /// A subevent's name without the channel that it or its event names, and that channel's half, or both.
    fn of_halves<'a>(&self, event: &str, subevent: &'a str) -> (&'a str, &[HalfCells]) {
        let half = |number: usize| &self.halves[number..=number];
        match (event, subevent) {
            ("PREFCAM_DROP_REASONS_CH0", _) => (subevent, half(0)),
            ("PREFCAM_DROP_REASONS_CH1", _) => (subevent, half(1)),
            (_, "CH0") => ("CH", half(0)),
            (_, "CH1") => ("CH", half(1)),
            (_, name) => {
                let behind = |prefix: [&str; 2]| prefix.iter().find_map(|&prefix| name.strip_prefix(prefix));
                if let Some(rest) = behind(["CH0_", "CH0."]) {
                    (rest, half(0))
                } else if let Some(rest) = behind(["CH1_", "CH1."]) {
                    (rest, half(1))
                } else if let Some(rest) = name.strip_suffix("_CH0") {
                    (rest, half(0))
                } else if let Some(rest) = name.strip_suffix("_CH1") {
                    (rest, half(1))
                } else {
                    (name, &self.halves)
                }
            }
        }
    }
}
