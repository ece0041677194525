//! What happens in a phase beside the cores' accesses.

use super::words::words;

/// Who bounds the frequency, in ratios of 100 MHz. `None` leaves it to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrequencyBounds {
    /// The operating system asks for no more; without a request it asks for what the part's cores run at by themselves.
    pub request: Option<u8>,
    /// Temperature allows no more.
    pub thermal: Option<u8>,
    /// The power budget allows no more.
    pub power: Option<u8>,
    /// The current limit allows no more.
    pub current: Option<u8>,
    /// I/O needs no less.
    pub io_floor: Option<u8>,
    /// Other sockets need no less.
    pub peer_floor: Option<u8>,
    /// A sensor on the die reports overheating.
    pub prochot_internal: bool,
    /// Something outside the die does.
    pub prochot_external: bool,
    /// The voltage regulator does.
    pub regulator_hot: bool,
    /// A part of the package is hot; with a thermal limit it is throttled, too.
    pub hot: Option<HotPart>,
    /// Power has reached its peak limit.
    pub peak_power: bool,
    /// Another die of the package throttles this one: hard, or lightly.
    pub cross_throttle: Option<bool>,
    /// Cores run vector code of so many bits.
    pub vectors: Option<u16>,
}

/// Parts of a package whose heat is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HotPart {
    /// A core.
    Core,
    /// The uncore.
    Uncore,
    /// Another die of the package.
    Die,
    /// A memory controller.
    Memory,
}

/// C-states that cores without work ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CoreSleep {
    /// Nothing is said: it is the operating system's choice, where the machine has one.
    #[default]
    Unset,
    /// They stay in C0.
    Awake,
    /// C3.
    C3,
    /// C6.
    C6,
}

/// Settings of the memory channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryConditions {
    /// Ranks that are powered down switch their DLLs off.
    pub slow_power_down: bool,
    /// Nanoseconds of idleness after which channels refresh themselves.
    pub self_refresh: Option<u64>,
    /// Ranks that are throttled, one bit each, and the per cent of the time in which their requests wait.
    pub throttle: Option<(u8, u8)>,
    /// Per cent of the time in which all requests wait, because memory is critically hot.
    pub critical: Option<u8>,
    /// Each so many reads of a channel, one has an error that is corrected; 0 for none.
    pub error_every: u64,
}

/// When links between sockets save power, and how often they make errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkConditions {
    /// Nanoseconds of rest after which a direction gives up half of its lanes (L0p).
    pub half_after: Option<u64>,
    /// Nanoseconds of rest after which a link is switched off (L1).
    pub off_after: Option<u64>,
    /// Each so many packets of a direction, one arrives with a wrong checksum and is sent again; 0 for none.
    pub error_every: u64,
}

words! {
    /// Messages and other errands of the system agent (U-Box).
    pub enum MessageKind {
        /// Virtual legacy wire: INTR, SMI, NMI.
        LegacyWire = "vlw",
        /// Message-signalled interrupt of a device.
        Interrupt = "msi",
        /// Interrupt from one processor to another.
        Processor = "ipi",
        /// Doorbell interrupt.
        Doorbell = "doorbell",
        /// Update of a core's interrupt priority.
        Priority = "priority",
        /// A split or bus lock.
        Lock = "lock",
        /// A device keeps others away from the bus.
        Hold = "phold",
        /// A monitored line was written: wakes a core's first thread.
        MonitorFirst = "monitor0",
        /// The same for a core's second thread.
        MonitorSecond = "monitor1",
        /// A core seems to be live-locked.
        Livelock = "livelock",
        /// Error of the trusted-execution logic.
        TrustError = "lterror",
        /// Corrected machine check.
        Corrected = "cmc",
        /// Uncorrected machine check.
        Uncorrected = "umc",
        /// Power-management trap.
        Trap = "trap",
        /// Any other event for cores, such as a thermal one.
        Other = "other",
        /// Access to a register through the access control unit.
        Register = "register",
        /// Message channel, four bytes.
        ShortMessage = "message4",
        /// Message channel, eight bytes.
        LongMessage = "message8",
        /// A core writes to a device.
        DeviceWrite = "device-write",
        /// A core reads from a device.
        DeviceRead = "device-read",
        /// A core writes to a device of another socket.
        RemoteWrite = "remote-device-write",
        /// A core reads from a device of another socket.
        RemoteRead = "remote-device-read",
        /// A core interrupts a processor of another socket.
        RemoteInterrupt = "remote-ipi",
        /// A core asks for a random number.
        RandomNumber = "rdrand",
        /// A core asks for a seed of random numbers.
        RandomSeed = "rdseed",
        /// A device writes a kilobyte to another device.
        PeerWrite = "peer-write",
        /// A device reads a kilobyte from another device.
        PeerRead = "peer-read",
    }
}

impl MessageKind {
    /// Needs another socket.
    pub const fn is_remote(self) -> bool {
        matches!(self, Self::RemoteWrite | Self::RemoteRead | Self::RemoteInterrupt)
    }
}

/// Something that happens at random times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errand {
    /// What.
    pub kind: MessageKind,
    /// Mean nanoseconds from one to the next.
    pub every: u64,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conditions {
    /// Bounds of the frequency.
    pub frequency: FrequencyBounds,
    /// Degrees Celsius of the air that cools the machine; `None` leaves it as it usually is.
    pub air: Option<u8>,
    /// What cores without work do.
    pub sleep: CoreSleep,
    /// Nanoseconds after which a sleeping core is woken by its timer.
    pub wake: Option<u64>,
    /// Settings of the memory channels.
    pub memory: MemoryConditions,
    /// Settings of the links between sockets.
    pub links: LinkConditions,
    /// Threads also do what a system does beside its workload: they fetch code, walk pages, flush lines, look at
    /// devices.
    pub system: bool,
    /// The system agent's errands, each kind once.
    pub errands: Vec<Errand>,
}
