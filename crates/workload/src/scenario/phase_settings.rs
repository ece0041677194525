//! What the phases of a scenario can set on a family's machines.

use super::super::nearest::nearest;
use super::MessageKind;
use super::error::Fault;
use super::words::words;

words! {
    /// What a phase can set on some machine, besides `workload`, `idle` and `for`, which every machine has.
    pub enum PhaseSetting {
        /// The frequency that software asks for.
        Frequency = "frequency",
        /// The highest frequency that the temperature allows.
        ThermalLimit = "thermal-limit",
        /// The same of the power.
        PowerLimit = "power-limit",
        /// The same of the current.
        CurrentLimit = "current-limit",
        /// The lowest frequency that input-output needs.
        IoFloor = "io-floor",
        /// The same of the other sockets.
        PeerFloor = "peer-floor",
        /// PROCHOT# is asserted, from inside or outside.
        Prochot = "prochot",
        /// A voltage regulator is too hot.
        RegulatorHot = "regulator-hot",
        /// A part is too hot.
        Hot = "hot",
        /// The peak-power limit is in force.
        PeakPower = "peak-power",
        /// Another die or socket asks to throttle.
        CrossThrottle = "cross-throttle",
        /// Cores run wide vector instructions.
        Vectors = "vectors",
        /// The temperature of the air that cools the machine.
        Air = "air",
        /// The C-state of cores without work.
        Sleep = "sleep",
        /// Timers wake sleeping cores.
        Wake = "wake",
        /// How fast idle ranks come back.
        PowerDown = "power-down",
        /// Idle memory refreshes itself.
        SelfRefresh = "self-refresh",
        /// Ranks are throttled.
        Throttle = "throttle",
        /// All memory traffic stops for a share of the time.
        Critical = "critical",
        /// Reads have errors that are corrected.
        MemoryError = "memory-error",
        /// Links at rest give up half of their lanes.
        LinkHalf = "link-half",
        /// Links at rest are switched off.
        LinkOff = "link-off",
        /// An operating system and its programs do what they do beside the workload.
        System = "system",
        /// Packets are damaged on links and sent again.
        LinkError = "link-error",
    }
}

#[cfg(test)]
impl PhaseSettings {
    /// Of a machine where much can be set.
    pub const OF_TESTS: Self = Self {
        family: "e5-2600",
        settings: &[
            PhaseSetting::Frequency,
            PhaseSetting::ThermalLimit,
            PhaseSetting::PowerLimit,
            PhaseSetting::CurrentLimit,
            PhaseSetting::IoFloor,
            PhaseSetting::PeerFloor,
            PhaseSetting::Prochot,
            PhaseSetting::RegulatorHot,
            PhaseSetting::Sleep,
            PhaseSetting::Wake,
            PhaseSetting::PowerDown,
            PhaseSetting::SelfRefresh,
            PhaseSetting::Throttle,
            PhaseSetting::Critical,
            PhaseSetting::MemoryError,
            PhaseSetting::LinkHalf,
            PhaseSetting::LinkOff,
            PhaseSetting::LinkError,
        ],
        messages: &[
            MessageKind::LegacyWire,
            MessageKind::Interrupt,
            MessageKind::Processor,
            MessageKind::Doorbell,
            MessageKind::Priority,
            MessageKind::Lock,
            MessageKind::Hold,
            MessageKind::MonitorFirst,
            MessageKind::MonitorSecond,
            MessageKind::Livelock,
            MessageKind::TrustError,
            MessageKind::Corrected,
            MessageKind::Uncorrected,
            MessageKind::Trap,
            MessageKind::Other,
            MessageKind::Register,
            MessageKind::ShortMessage,
            MessageKind::LongMessage,
            MessageKind::DeviceWrite,
            MessageKind::DeviceRead,
            MessageKind::RemoteWrite,
            MessageKind::RemoteRead,
            MessageKind::RemoteInterrupt,
        ],
        ratios: [12, 27, 35],
    };
}

/// What the first word of a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Workload,
    Idle,
    For,
    Setting(PhaseSetting),
    Errand(MessageKind),
}

/// What the phases of a scenario can set, besides `workload`, `idle` and `for`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseSettings {
    /// The family.
    pub family: &'static str,
    /// Settings.
    pub settings: &'static [PhaseSetting],
    /// Errands of the system agent.
    pub messages: &'static [MessageKind],
    /// Ratios, in 100 MHz, of the part's frequencies: least, nominal, highest turbo.
    pub ratios: [u8; 3],
}

impl PhaseSettings {
    /// What a line that begins with a word is about, if the family's machines have it.
    pub(super) fn subject(&self, word: &str) -> Result<Subject, Fault> {
        let settings = self.settings.iter().map(|&setting| (setting.name(), Subject::Setting(setting)));
        let errands = self.messages.iter().map(|&kind| (kind.name(), Subject::Errand(kind)));
        let known = [("workload", Subject::Workload), ("idle", Subject::Idle), ("for", Subject::For)];
        let known: Vec<(&str, Subject)> = known.into_iter().chain(settings).chain(errands).collect();
        if let Some(&(_, subject)) = known.iter().find(|(name, _)| *name == word) {
            return Ok(subject);
        }
        let known: Vec<&'static str> = known.into_iter().map(|(name, _)| name).collect();
        let elsewhere = PhaseSetting::ALL.iter().any(|setting| setting.name() == word)
            || MessageKind::ALL.iter().any(|kind| kind.name() == word);
        let (word, list) = (word.to_owned(), known.join(", "));
        Err(if elsewhere {
            Fault::NotOnThisMachine { word, family: self.family, known: list }
        } else {
            Fault::UnknownSetting { nearest: nearest(&word, &known), word, known: list }
        })
    }
}
