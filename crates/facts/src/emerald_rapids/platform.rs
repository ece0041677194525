//! What happens in the power unit and in the system agent.

/// C-state of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CState {
    /// It runs (C0).
    Runs,
    /// It sleeps lightly (C3).
    Light,
    /// It sleeps deeply (C6).
    Deep,
}

impl CState {
    /// How many there are.
    pub const COUNT: usize = 3;
}

macro_rules! conditions {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What holds of a package, or does not.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum PackageCondition { $($(#[$doc])* $name,)* }

        impl PackageCondition {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();
        }
    };
}

conditions! {
    /// Heat bounds the frequency.
    ThermalLimit,
    /// Power bounds the frequency.
    PowerLimit,
    /// The supply's peak power is reached.
    PeakPower,
    /// The package says itself that it is too hot.
    ProchotInternal,
    /// The platform says so.
    ProchotExternal,
    /// Another part asks to slow down a little.
    CrossLight,
    /// Another part asks to slow down by much.
    CrossHard,
    /// A hot core throttles.
    CoreThrottled,
    /// A hot uncore does.
    UncoreThrottled,
    /// Another die in the package does.
    DieThrottled,
    /// The memory controllers do.
    MemoryThrottled,
    /// A core is hot.
    CoreHot,
    /// The uncore is hot.
    UncoreHot,
    /// Another die is hot.
    DieHot,
    /// A memory controller is hot.
    MemoryHot,
    /// The regulator is hot.
    RegulatorHot,
    /// Vector code of 256 bits bounds the frequency.
    ShortVectors,
    /// Vector code of 512 bits does.
    LongVectors,
    /// I/O keeps the frequency up.
    IoFloor,
    /// The frequency is being changed.
    Changes,
    /// Some core runs.
    PackageRuns,
    /// None does, and the package is in C2E.
    PackageLight,
    /// It is in C6.
    PackageDeep,
    /// Memory's regulators shed phases.
    MemorySheds,
    /// The regulators work with all phases.
    RegulatorFull,
    /// With some.
    RegulatorPart,
    /// With few.
    RegulatorLight,
    /// They rest.
    RegulatorDeep,
}

/// A message for the system agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum SystemMessage {
    /// Virtual legacy wire.
    LegacyWire,
    /// Interrupt of a device.
    Interrupt,
    /// Interrupt of a processor.
    Processor,
    /// Doorbell interrupt.
    Doorbell,
    /// A change of a core's interrupt priority, and others.
    Priority,
    /// Access to a register.
    Register,
    /// A random number is asked for.
    RandomNumber,
    /// A random seed is asked for.
    RandomSeed,
}

impl SystemMessage {
    /// How many there are.
    pub const COUNT: usize = 8;

    /// True if it asks for data.
    pub const fn wants_data(self) -> bool {
        matches!(self, Self::Register | Self::RandomNumber | Self::RandomSeed)
    }
}

/// Messages that fill the ingress of the system agent, and acknowledgements that fill its egress (assumptions).
pub const SYSTEM_ROOM: usize = 2;

/// What happens in a socket's system agent.
#[derive(Debug, Clone, Copy)]
pub enum SystemFact {
    /// It starts, with empty queues.
    Starts,
    /// A message comes, over a link (true) or from this socket.
    Comes(SystemMessage, bool),
    /// It is taken, and what it asked for was there; then it is answered, unless it came over a link.
    Taken(SystemMessage, bool, bool),
    /// The answer leaves.
    Answered(SystemMessage),
    /// A device's hold of the bus is asked for, or (false) granted.
    Holds(bool),
}
