//! Machines with their addresses by hand, and what other tools do there: E5-2600 327043-001, Tables 2-8 to 2-12, 2-58
//! to 2-62; Nehalem SDM 18.8.2; Emerald Rapids Tables 1-1, 1-3, 1-8 and 1-9.

use pericore_registers::{Address, Bdf, Width};

/// A machine, what is counted on it, and which addresses matter.
pub(super) struct Subject {
    pub(super) family: &'static str,
    pub(super) events: &'static str,
    /// Registers with leftovers of some tool.
    pub(super) leftovers: &'static [(Address, u64)],
    /// A free counter in a unit of the session: its control, with a value that counts clocks.
    pub(super) joined: (Address, u64),
    /// A control in a unit that the session does not use, with such a value.
    pub(super) elsewhere: (Address, u64),
    /// A control that the session uses, with a value that is none of the session's.
    pub(super) taken: (Address, u64),
    /// What stops, enables and filters the units that others may join, and stays as they need it.
    pub(super) gates: &'static [Address],
}

const fn msr(msr: u32) -> Address {
    Address::Msr { cpu: 0, msr }
}

const fn channel(function: u8, offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0xff, 16, function), offset }
}

/// Bit 22 enables a counter of the E5-2600; event 0 of a slice and of a channel counts clocks. On Emerald Rapids event
/// 1 does. Nehalem's counters are enabled by 0x391 as well.
pub(super) const SUBJECTS: [Subject; 5] = [
    Subject {
        family: "e5-2600",
        events: "cbo0/CLOCKTICKS/,cbo1/CLOCKTICKS/,cbo1/LLC_LOOKUP.DATA_READ,state=0x1/",
        leftovers: &[(msr(0xd10), 0x0334), (msr(0xd34), 0x007c_0000)],
        joined: (msr(0xd33), 0x0040_0000),
        elsewhere: (msr(0xd51), 0x0040_0000),
        taken: (msr(0xd10), 0x0040_0025),
        gates: &[msr(0xd24), msr(0xd34), msr(0xd04), msr(0xd14)],
    },
    Subject {
        family: "e5-2600",
        events: "imc0/CLOCKTICKS/,imc1/CLOCKTICKS/,imc1/CAS_COUNT.RD/",
        leftovers: &[(channel(0, 0xd8), 0x0304)],
        joined: (channel(1, 0xe4), 0x0040_0000),
        elsewhere: (channel(4, 0xd8), 0x0040_0000),
        taken: (channel(0, 0xd8), 0x0040_0025),
        gates: &[channel(0, 0xf4), channel(1, 0xf4)],
    },
    Subject {
        family: "e5-2600",
        events: "cbo0/LLC_LOOKUP.DATA_READ,state=0x1/,cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/,imc0/CLOCKTICKS/",
        leftovers: &[(msr(0xd14), 0x0044_0000)],
        joined: (msr(0xd13), 0x0040_0000),
        elsewhere: (msr(0xd51), 0x0040_0000),
        taken: (channel(0, 0xd8), 0x0040_0025),
        gates: &[msr(0xd04), msr(0xd14), channel(0, 0xf4)],
    },
    Subject {
        family: "nehalem",
        events: "uncore/CLK_UNHALTED/,uncore/LLC_MISS.READ/",
        leftovers: &[(msr(0x3c0), 0x0109)],
        joined: (msr(0x3c7), 0x0040_0109),
        elsewhere: (msr(0x3c6), 0x0040_0109),
        taken: (msr(0x3c0), 0x0040_0125),
        gates: &[msr(0x391)],
    },
    Subject {
        family: "emerald-rapids",
        events: "cha0/CLOCKTICKS/,cha1/CLOCKTICKS/",
        leftovers: &[(msr(0x200e), 0x0005)],
        joined: (msr(0x2015), 0x0000_0001),
        elsewhere: (msr(0x2022), 0x0000_0001),
        taken: (msr(0x2002), 0x0025),
        gates: &[msr(0x2ff0), msr(0x2000), msr(0x2010), msr(0x200e)],
    },
];

impl Subject {
    /// The socket's enables that a counter takes beside its control: bits 6 and 7 of Nehalem's 0x391.
    pub(super) fn enables(&self, control: Address) -> Option<(Address, u64)> {
        match (self.family, control) {
            ("nehalem", Address::Msr { msr: number, .. }) => Some((msr(0x391), 1 << (number & 7))),
            _ => None,
        }
    }

    /// True if one gate stops all units of the socket.
    pub(super) fn has_one_gate(&self) -> bool {
        self.family != "e5-2600"
    }
}

/// How wide a register is: outside MSRs controls have 32 bits.
pub(super) const fn width(address: Address) -> Width {
    if matches!(address, Address::Msr { .. }) { Width::B8 } else { Width::B4 }
}

/// True for a counter, which nobody puts back.
pub(super) fn is_counter(family: &str, address: Address) -> bool {
    match (family, address) {
        ("e5-2600", Address::Msr { msr, .. }) => (0xd00..0xe00).contains(&msr) && (0x16..=0x19).contains(&(msr % 0x20)),
        ("e5-2600", Address::Pci { offset, .. }) => (0xa0..0xc0).contains(&offset) || (0xd0..0xd8).contains(&offset),
        // 0x393 acknowledges overflows and reads as 0.
        ("nehalem", Address::Msr { msr, .. }) => (0x3b0..=0x3b7).contains(&msr) || [0x394, 0x393, 0x392].contains(&msr),
        ("emerald-rapids", Address::Msr { msr, .. }) => (0x8..=0xb).contains(&(msr % 0x10)) && msr < 0x2400,
        _ => false,
    }
}
