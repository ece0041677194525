//! What CPUID answers on an emulated logical CPU: the leaves that tools identify a processor and its topology by.
//!
//! Everything that no tool needs is zero; leaf 7 above all, which keeps tools away from resource-director and core features that
//! the machine does not have.

use super::shape::Shape;

/// EAX, EBX, ECX, EDX.
pub type Registers = [u32; 4];

/// A cache as leaf 4 describes it.
struct Cache {
    /// 1 data, 2 instruction, 3 unified.
    kind: u32,
    level: u32,
    ways: u32,
    sets: u32,
    /// True if all cores of a socket share it.
    shared: bool,
}

/// A processor's constant answers.
struct Identity {
    family: &'static str,
    /// Leaf 1 EAX: family, model, stepping.
    signature: u32,
    /// 48 characters at most.
    brand: &'static str,
    /// Leaf 1 ECX and EDX.
    features: (u32, u32),
    /// Leaf 6 EAX and ECX: thermal sensors, turbo; APERF and MPERF, energy bias.
    power: (u32, u32),
    /// Leaf 0xA EAX, EDX: version and counters of the core's performance monitoring.
    core_pmon: (u32, u32),
    caches: &'static [Cache],
}

const fn cache(kind: u32, level: u32, ways: u32, sets: u32) -> Cache {
    Cache { kind, level, ways, sets, shared: level == 3 }
}

/// Sources: SDM volume 2, CPUID (layout); the values of one part of each family as published in CPUID dumps.
/// Features leave out what user space could not use on every host: XSAVE state beyond AVX, and the hypervisor bit.
const IDENTITIES: [Identity; 4] = [
    Identity {
        family: "nehalem",
        signature: 0x0001_06A5,
        brand: "Intel(R) Xeon(R) CPU           X5570  @ 2.93GHz",
        features: (0x009C_E3BD, 0xBFEB_FBFF),
        power: (0x3, 0x1),
        core_pmon: (0x0730_0403, 0x603),
        caches: &[cache(1, 1, 8, 64), cache(2, 1, 4, 128), cache(3, 2, 8, 512), cache(3, 3, 16, 8192)],
    },
    Identity {
        family: "e5-2600",
        signature: 0x0002_06D7,
        brand: "Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz",
        features: (0x1FBE_E3FF, 0xBFEB_FBFF),
        power: (0x77, 0x9),
        core_pmon: (0x0730_0403, 0x603),
        caches: &[cache(1, 1, 8, 64), cache(2, 1, 8, 64), cache(3, 2, 8, 512), cache(3, 3, 20, 16384)],
    },
    Identity {
        family: "emerald-rapids",
        signature: 0x000C_06F2,
        brand: "INTEL(R) XEON(R) PLATINUM 8592+",
        features: (0x1FBE_E3FF, 0xBFEB_FBFF),
        power: (0x77, 0x9),
        core_pmon: (0x0830_0805, 0x604),
        caches: &[cache(1, 1, 12, 64), cache(2, 1, 8, 64), cache(3, 2, 16, 2048), cache(3, 3, 20, 262_144)],
    },
    Identity {
        family: "sapphire-rapids",
        signature: 0x0008_06F8,
        brand: "Intel(R) Xeon(R) Platinum 8480+",
        features: (0x1FBE_E3FF, 0xBFEB_FBFF),
        power: (0x77, 0x9),
        core_pmon: (0x0830_0805, 0x604),
        caches: &[cache(1, 1, 12, 64), cache(2, 1, 8, 64), cache(3, 2, 16, 2048), cache(3, 3, 15, 122_880)],
    },
];

/// Bits of the APIC ID that number threads of a core: the parts keep one, whether a core has two threads or one.
const THREAD_BITS: u32 = 1;

/// Highest basic leaf, and highest extended leaf.
const LAST_BASIC: u32 = 0xD;
const LAST_EXTENDED: u32 = 0x8000_0008;

/// Bits of the APIC ID below the package number.
fn package_shift(shape: &Shape) -> u32 {
    THREAD_BITS + u32::from(shape.built).next_power_of_two().trailing_zeros().max(4)
}

/// The APIC ID of a logical CPU.
pub fn apic_id(shape: &Shape, cpu: u32) -> u32 {
    let cores = u32::from(shape.cores);
    let (core, socket) = (cpu % cores, cpu / cores % u32::from(shape.sockets));
    let thread = cpu / (cores * u32::from(shape.sockets));
    socket << package_shift(shape) | core << THREAD_BITS | thread
}

/// What CPUID answers for a leaf on a logical CPU; zeros for leaves that the machine does not have.
pub fn answer(shape: &Shape, cpu: u32, leaf: u32, subleaf: u32) -> Registers {
    let Some(identity) = IDENTITIES.iter().find(|identity| identity.family == shape.family.name) else { return [0; 4] };
    let apic_id = apic_id(shape, cpu);
    let package_ids = 1 << package_shift(shape);
    match leaf {
        0 => [LAST_BASIC, letters(*b"Genu"), letters(*b"ntel"), letters(*b"ineI")],
        1 => [
            identity.signature,
            (apic_id & 0xff) << 24 | package_ids << 16 | 8 << 8,
            identity.features.0,
            identity.features.1,
        ],
        4 => cache_leaf(identity, shape, subleaf, package_ids),
        6 => [identity.power.0, 2, identity.power.1, 0],
        0xA => [identity.core_pmon.0, 0, 0, identity.core_pmon.1],
        0xB => topology_leaf(shape, subleaf, apic_id),
        // x87, SSE and AVX state; 0x340 bytes.
        0xD if subleaf == 0 => [7, 0x340, 0x340, 0],
        0x8000_0000 => [LAST_EXTENDED, 0, 0, 0],
        // LAHF; SYSCALL, NX, RDTSCP, 64-bit mode.
        0x8000_0001 => [0, 0, 1, 0x2C10_0800],
        0x8000_0002..=0x8000_0004 => brand_leaf(identity.brand, leaf - 0x8000_0002),
        0x8000_0006 => [0, 0, 0x0100_6040, 0],
        // Invariant TSC.
        0x8000_0007 => [0, 0, 0, 0x100],
        // 46 bits of physical address, 48 of virtual.
        0x8000_0008 => [0x302E, 0, 0, 0],
        _ => [0; 4],
    }
}

const fn letters(four: [u8; 4]) -> u32 {
    u32::from_le_bytes(four)
}

fn cache_leaf(identity: &Identity, shape: &Shape, subleaf: u32, package_ids: u32) -> Registers {
    let Some(cache) = identity.caches.get(subleaf as usize) else { return [0; 4] };
    let sharing = if cache.shared { package_ids } else { 1 << THREAD_BITS };
    let cores = u32::from(shape.built).next_power_of_two().max(1 << 4);
    // Each slice has its share of the sets.
    let sets =
        if cache.shared { cache.sets / u32::from(shape.all_slices()) * u32::from(shape.slices) } else { cache.sets };
    let inclusive = if cache.shared { 6 } else { 0 };
    [
        // Self-initialising.
        (cores - 1) << 26 | (sharing - 1) << 14 | 1 << 8 | cache.level << 5 | cache.kind,
        (cache.ways - 1) << 22 | (64 - 1),
        sets - 1,
        inclusive,
    ]
}

/// The numbers of logical CPUs are those of the part as it was shipped, whatever takes part, and the widths of the IDs too.
fn topology_leaf(shape: &Shape, subleaf: u32, apic_id: u32) -> Registers {
    let threads = u32::from(shape.threads);
    match subleaf {
        0 => [THREAD_BITS, threads, 1 << 8, apic_id],
        1 => [package_shift(shape), threads * u32::from(shape.built), 2 << 8 | 1, apic_id],
        _ => [0, 0, subleaf & 0xff, apic_id],
    }
}

fn brand_leaf(brand: &str, part: u32) -> Registers {
    let mut text = [0; 48];
    text[..brand.len()].copy_from_slice(brand.as_bytes());
    let at = part as usize * 16;
    std::array::from_fn(|register| {
        let first = at + 4 * register;
        letters([text[first], text[first + 1], text[first + 2], text[first + 3]])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        Shape::new(pericore_catalog::family("e5-2600").unwrap(), 2, 8, 1).unwrap()
    }

    #[test]
    fn the_signature_is_family_6_model_45() {
        let [signature, ..] = answer(&shape(), 0, 1, 0);
        assert_eq!((signature >> 8 & 0xf, (signature >> 16 & 0xf) << 4 | signature >> 4 & 0xf), (6, 45));
    }

    #[test]
    fn the_apic_id_follows_the_cpu_and_names_the_package() {
        let shape = shape();
        assert_eq!(apic_id(&shape, 3), 6);
        assert_eq!(apic_id(&shape, 8), 1 << 5);
        assert_eq!(answer(&shape, 9, 0xB, 1), [5, 8, 0x201, 0x22]);
        assert_eq!(answer(&shape, 9, 1, 0)[1] >> 24, 0x22);
    }

    /// SDM volume 2, CPUID: leaf 0BH EBX[15:0] is the number as shipped; EAX[4:0] and the IDs do not move either, nor leaf 1 EBX[23:16]
    /// and leaf 4 EAX[31:26], which are about IDs that there may be.
    #[test]
    fn cores_that_are_left_out_have_no_cpus_and_keep_their_room() {
        let shape = Shape::new(pericore_catalog::family("e5-2600").unwrap(), 2, 8, 2).unwrap();
        let shape = shape.with_active_cores(4).unwrap();
        assert_eq!(shape.cpus(), 16);
        let ids: Vec<u32> = (0..16).map(|cpu| apic_id(&shape, cpu)).collect();
        assert_eq!(ids, [0, 2, 4, 6, 32, 34, 36, 38, 1, 3, 5, 7, 33, 35, 37, 39]);
        assert_eq!(answer(&shape, 13, 0xB, 0), [1, 2, 0x100, 35]);
        assert_eq!(answer(&shape, 13, 0xB, 1), [5, 16, 0x201, 35]);
        assert_eq!(answer(&shape, 13, 1, 0)[1], 0x2320_0800);
        // Sixteen core IDs, thirty-two thread IDs share the LLC.
        assert_eq!(answer(&shape, 13, 4, 3)[0], 15 << 26 | 31 << 14 | 0x163);
        // An 8592+ of four active cores still has seven bits below the package.
        let large = Shape::new(pericore_catalog::family("emerald-rapids").unwrap(), 2, 64, 2).unwrap();
        let large = large.with_active_cores(4).unwrap();
        assert_eq!((apic_id(&large, 4), answer(&large, 4, 0xB, 1)), (128, [7, 128, 0x201, 128]));
    }

    /// 20 MB in 20 ways, as the E5-2680's leaf 4 says in published dumps.
    #[test]
    fn the_last_level_cache_is_that_of_the_part() {
        let [first, ways, sets, _] = answer(&shape(), 0, 4, 3);
        assert_eq!((first & 0x3fff, ways, sets), (0x163, 0x04C0_003F, 0x3FFF));
        assert_eq!(first >> 14 & 0xfff, 0x1f);
        assert_eq!(answer(&shape(), 0, 4, 4), [0; 4]);
        // 15 MB in 20 ways, of an E5-2640.
        let smaller = shape().with_slices(6).unwrap();
        assert_eq!(answer(&smaller, 0, 4, 3)[2], 12 * 1024 - 1);
        assert_eq!(answer(&smaller, 0, 4, 2), answer(&shape(), 0, 4, 2));
    }

    #[test]
    fn the_brand_string_reads_across_three_leaves() {
        let bytes: Vec<u8> = (0x8000_0002..=0x8000_0004)
            .flat_map(|leaf| answer(&shape(), 0, leaf, 0))
            .flat_map(u32::to_le_bytes)
            .take_while(|&byte| byte != 0)
            .collect();
        assert_eq!(String::from_utf8(bytes).unwrap(), "Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz");
    }
}
