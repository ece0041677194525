//! The families in the binary, and those that users' folders add.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::model::{Choice, Deviation, Family, Judgements, inflate, unpack};
use crate::rows::Arena;

include!(concat!(env!("OUT_DIR"), "/families.rs"));

/// All families: set once, by what asks first or by [`crate::own::load`].
static KNOWN: OnceLock<Vec<&'static Shipped>> = OnceLock::new();

/// Families that users' folders have touched: set before, if at all.
static OWN: OnceLock<Vec<Shipped>> = OnceLock::new();

/// A family: what tells it from others, and its rows, which are unpacked when they are first asked for.
#[derive(Debug)]
pub struct Shipped {
    /// Command-line name.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// CPUID display family and model of each of its processors.
    pub cpus: &'static [(u16, u16)],
    /// Blocks of its units, with those that these include.
    pub blocks: &'static [&'static str],
    packed: &'static [u8],
    unpacked: OnceLock<Family>,
}

impl Shipped {
    const fn new(
        name: &'static str,
        aliases: &'static [&'static str],
        cpus: &'static [(u16, u16)],
        blocks: &'static [&'static str],
        packed: &'static [u8],
    ) -> Self {
        Self { name, aliases, cpus, blocks, packed, unpacked: OnceLock::new() }
    }

    /// A family that was compiled at run time.
    pub(crate) fn compiled(to: &'static Arena, family: Family) -> Self {
        Self {
            name: family.name,
            aliases: family.aliases,
            cpus: to.list(family.cpus.iter().map(|cpu| (cpu.family, cpu.model))),
            blocks: &[],
            packed: &[],
            unpacked: OnceLock::from(family),
        }
    }

    /// The family with all its rows.
    ///
    /// # Panics
    /// If the build has packed it with another schema, which a test would have shown.
    pub fn family(&'static self) -> &'static Family {
        self.unpacked
            .get_or_init(|| unpack(lasting_bytes(self.packed)).expect("the build has packed it with the same schema"))
    }

    /// Bytes that are the same exactly if all rows are: what the build has packed, or the rows of own data as text.
    pub fn contents(&'static self) -> Cow<'static, [u8]> {
        if self.packed.is_empty() {
            return Cow::Owned(format!("{:?}", self.family()).into_bytes());
        }
        Cow::Borrowed(self.packed)
    }

    /// True if the family goes by this name, in any case.
    pub fn is_named(&self, name: &str) -> bool {
        std::iter::once(&self.name).chain(self.aliases).any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// What the build has compressed, inflated for as long as the process lives: ask once.
pub(crate) fn lasting_bytes(deflated: &[u8]) -> &'static [u8] {
    Vec::leak(inflate(deflated).expect("the build has compressed it"))
}

/// All families that are known; unpacks nothing.
pub fn shipped() -> &'static [&'static Shipped] {
    KNOWN.get_or_init(|| in_the_binary().iter().collect())
}

/// The families in the binary.
pub(crate) fn in_the_binary() -> &'static [Shipped] {
    &FAMILIES
}

/// The files that the families in the binary were compiled from, by path.
pub(crate) fn sources() -> Vec<(&'static str, &'static str)> {
    static INFLATED: OnceLock<&[u8]> = OnceLock::new();
    unpack(INFLATED.get_or_init(|| lasting_bytes(SOURCES))).expect("the build has packed them with the same schema")
}

/// Makes these known, in place of those in the binary of the same names; nothing if families were in use before.
pub(crate) fn know(own: Vec<Shipped>) -> Option<()> {
    if KNOWN.get().is_some() {
        return None;
    }
    OWN.set(own).ok()?;
    let own = OWN.get()?;
    let untouched = in_the_binary().iter().filter(|shipped| !own.iter().any(|own| own.name == shipped.name));
    let mut families: Vec<&'static Shipped> = untouched.chain(own).collect();
    families.sort_by_key(|family| family.name);
    KNOWN.set(families).ok()
}

/// All families; unpacks each when its turn comes.
pub fn families() -> impl ExactSizeIterator<Item = &'static Family> {
    shipped().iter().map(|shipped| shipped.family())
}

/// A family by name or alias, in any case.
pub fn family(name: &str) -> Option<&'static Family> {
    shipped().iter().find(|shipped| shipped.is_named(name)).map(|shipped| shipped.family())
}

fn judgements() -> &'static Judgements {
    static UNPACKED: OnceLock<Judgements> = OnceLock::new();
    UNPACKED.get_or_init(|| unpack(lasting_bytes(JUDGEMENTS)).expect("the build has packed them with the same schema"))
}

/// Where we differ from the documents, with the evidence.
pub fn deviations() -> &'static [Deviation] {
    judgements().deviations
}

/// What the documents leave open, and what we chose.
pub fn choices() -> &'static [Choice] {
    judgements().choices
}
