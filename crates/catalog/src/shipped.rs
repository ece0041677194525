//! The families in the binary.

use std::sync::OnceLock;

use crate::model::{Choice, Deviation, Family, Judgements, unpack};

include!(concat!(env!("OUT_DIR"), "/families.rs"));

/// A family in the binary: what tells it from others, and its rows, which are unpacked when they are first asked for.
#[derive(Debug)]
pub struct Shipped {
    /// Command-line name.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// CPUID display family and model of each of its processors.
    pub cpus: &'static [(u16, u16)],
    packed: &'static [u8],
    unpacked: OnceLock<Family>,
}

impl Shipped {
    const fn new(
        name: &'static str,
        aliases: &'static [&'static str],
        cpus: &'static [(u16, u16)],
        packed: &'static [u8],
    ) -> Self {
        Self { name, aliases, cpus, packed, unpacked: OnceLock::new() }
    }

    /// The family with all its rows.
    pub fn family(&'static self) -> &'static Family {
        self.unpacked.get_or_init(|| unpack(self.packed).expect("the build has packed it with the same schema"))
    }

    /// True if the family goes by this name, in any case.
    pub fn is_named(&self, name: &str) -> bool {
        std::iter::once(&self.name).chain(self.aliases).any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// What is in the binary; unpacks nothing.
pub fn shipped() -> &'static [Shipped] {
    &FAMILIES
}

/// All families; unpacks each when its turn comes.
pub fn families() -> impl ExactSizeIterator<Item = &'static Family> {
    shipped().iter().map(Shipped::family)
}

/// A family by name or alias, in any case.
pub fn family(name: &str) -> Option<&'static Family> {
    shipped().iter().find(|shipped| shipped.is_named(name)).map(Shipped::family)
}

fn judgements() -> &'static Judgements {
    static UNPACKED: OnceLock<Judgements> = OnceLock::new();
    UNPACKED.get_or_init(|| unpack(JUDGEMENTS).expect("the build has packed them with the same schema"))
}

/// Where we differ from the documents, with the evidence.
pub fn deviations() -> &'static [Deviation] {
    judgements().deviations
}

/// What the documents leave open, and what we chose.
pub fn choices() -> &'static [Choice] {
    judgements().choices
}
