//! How a machine differs from the documented one, as its name on the command line says it: `e5-2600:rules=strict,hidden=cbo3`.
//!
//! Delayed writes and intruders are not among the keys: a traffic model asks what is listened to only between its steps.

use pericore_hardware::chassis::{Block, Chassis, DiscoveryFault, Faults, MOST_FUNCTIONS, Rules, Variant};

/// A key, and what may stand behind it.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    /// It may come more than once: each adds to the others.
    pub adds: bool,
    /// What it accepts, for who wrote something else.
    pub accepts: &'static str,
    /// Adds what the value says; `None` if it says nothing of that kind.
    apply: fn(&Chassis, &str, &mut Variant) -> Option<()>,
}

/// All keys.
pub const KEYS: &[Key] = &[
    Key { name: "rules", adds: false, accepts: "documented, strict or lenient", apply: rules },
    Key { name: "hidden", adds: true, accepts: BLOCKS, apply: hidden },
    Key { name: "all-ones", adds: true, accepts: BLOCKS, apply: all_ones },
    Key { name: "stuck", adds: true, accepts: "counters of this machine as [SOCKET/]UNIT[N]/ctr[M]", apply: stuck },
    Key { name: "frozen", adds: true, accepts: BLOCKS, apply: frozen },
    Key { name: "halved", adds: true, accepts: BLOCKS, apply: halved },
    Key {
        name: "width",
        adds: true,
        accepts: "counters of this machine as [SOCKET/]UNIT[N]/ctr[M]:BITS",
        apply: width,
    },
    Key { name: "swapped", adds: true, accepts: PAIRS, apply: swapped },
    Key { name: "misplaced", adds: true, accepts: PAIRS_OR_COUNTERS, apply: misplaced },
    Key { name: "discovery", adds: false, accepts: DISCOVERY, apply: discovery },
    Key { name: "segment", adds: false, accepts: "a PCI segment from 0 to 7", apply: segment },
    Key { name: "functions", adds: false, accepts: "a number of PCI functions up to 4096", apply: functions },
    Key { name: "denied", adds: true, accepts: "mem, pci or msr-write", apply: denied },
    Key { name: "hostile", adds: false, accepts: "a number: all faults that follow from it", apply: hostile },
];

/// A record of the discovery table has three bits for it.
const MOST_SEGMENT: u16 = 7;

const BLOCKS: &str = "blocks of this machine as [SOCKET/]UNIT[N]";
const PAIRS: &str = "two blocks of a unit of this machine as [SOCKET/]UNITN:[SOCKET/]UNITM";
const PAIRS_OR_COUNTERS: &str = "two blocks, or two counters, of a unit of this machine, separated by a colon";
/// Bits of the widest register.
const MOST_BITS: u8 = 64;
const DISCOVERY: &str =
    "absent, all-ones, zeros, no-stride, wrong-blocks, truncated:N or count:N, on a machine with discovery tables";

/// A key with a value, as it was given.
pub type Oddity = (Key, String);

/// What a machine's oddities make of it. It is asked for its blocks, and is sound itself.
///
/// # Errors
/// The first oddity that this machine cannot have.
pub fn variant<'a>(sound: &Chassis, oddities: &'a [Oddity]) -> Result<Variant, &'a Oddity> {
    let mut variant = Variant::default();
    for oddity in oddities {
        (oddity.0.apply)(sound, &oddity.1, &mut variant).ok_or(oddity)?;
    }
    Ok(variant)
}

fn rules(_: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    variant.rules = Rules::named(value)?;
    Some(())
}

fn hidden(sound: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    variant.faults.hidden.extend(blocks(sound, value)?);
    Some(())
}

fn all_ones(sound: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    variant.faults.all_ones.extend(blocks(sound, value)?);
    Some(())
}

/// The blocks of a name, one at least.
fn blocks(sound: &Chassis, name: &str) -> Option<Vec<Block>> {
    Some(sound.find_blocks(name)).filter(|blocks| !blocks.is_empty())
}

fn stuck(sound: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    let counters = sound.find_counters(value);
    variant.faults.stuck.extend_from_slice(&counters);
    (!counters.is_empty()).then_some(())
}

fn frozen(sound: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    variant.faults.frozen.extend(blocks(sound, value)?);
    Some(())
}

fn halved(sound: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    variant.faults.halved.extend(blocks(sound, value)?);
    Some(())
}

fn width(sound: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    let (name, bits) = value.rsplit_once(':')?;
    let bits = bits.parse().ok().filter(|bits| (1..=MOST_BITS).contains(bits))?;
    let counters = sound.find_counters(name);
    variant.faults.widths.extend(counters.iter().map(|(block, counter)| (block.clone(), *counter, bits)));
    (!counters.is_empty()).then_some(())
}

fn swapped(sound: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    variant.faults.swapped.push(pair(value, |name| sound.find_blocks(name), |block| block)?);
    Some(())
}

fn misplaced(sound: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    if let Some(blocks) = pair(value, |name| sound.find_blocks(name), |block| block) {
        variant.faults.misplaced.push(blocks);
    } else {
        variant.faults.misplaced_counters.push(pair(value, |name| sound.find_counters(name), |(block, _)| block)?);
    }
    Some(())
}

/// Two things of a unit whose names a colon separates.
fn pair<T>(value: &str, find: impl Fn(&str) -> Vec<T>, block: impl Fn(&T) -> &Block) -> Option<(T, T)> {
    let (one, other) = value.split_once(':')?;
    let only = |name| find(name).into_iter().next().filter(|_| find(name).len() == 1);
    let (one, other) = (only(one)?, only(other)?);
    (block(&one).unit == block(&other).unit).then_some((one, other))
}

fn discovery(sound: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    let number = |digits: Option<&str>| digits?.parse().ok();
    let (kind, digits) = value.split_once(':').map_or((value, None), |(kind, digits)| (kind, Some(digits)));
    variant.faults.discovery = match (kind, digits) {
        ("absent", None) => DiscoveryFault::Absent,
        ("all-ones", None) => DiscoveryFault::AllOnes,
        ("zeros", None) => DiscoveryFault::Zeros,
        ("no-stride", None) => DiscoveryFault::NoStride,
        ("wrong-blocks", None) => DiscoveryFault::WrongBlocks,
        ("truncated", digits) => DiscoveryFault::Truncated(number(digits)?),
        ("count", digits) => DiscoveryFault::WrongCount(number(digits)?),
        _ => return None,
    };
    sound.has_discovery().then_some(())
}

fn segment(_: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    variant.segment = value.parse().ok().filter(|&segment| segment <= MOST_SEGMENT)?;
    Some(())
}

fn functions(_: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    variant.functions = value.parse().ok().filter(|&count| count <= MOST_FUNCTIONS)?;
    Some(())
}

fn denied(_: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    variant.denied.add(value)
}

fn hostile(sound: &Chassis, value: &str, variant: &mut Variant) -> Option<()> {
    let Faults { all_ones, hidden, stuck, discovery, .. } =
        Variant::hostile(sound.wiring(), value.parse().ok()?).faults;
    let faults = &mut variant.faults;
    faults.all_ones.extend(all_ones);
    faults.hidden.extend(hidden);
    faults.stuck.extend(stuck);
    // What was asked for by name stays.
    if faults.discovery == DiscoveryFault::default() {
        faults.discovery = discovery;
    }
    Some(())
}
