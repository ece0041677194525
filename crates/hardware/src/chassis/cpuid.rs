//! What CPUID answers on an emulated logical CPU: the leaves that tools identify a processor and its topology by.
//!
//! What all CPUs of a family have alike are rows of the catalogue (`[processor]`); topology, caches and brand are
//! worked out here. What has no row is zero; leaf 7 above all, which keeps tools away from resource-director and core
//! features that the machine does not have. Layout: SDM volume 2, CPUID.

use pericore_catalog::{CacheGeometry, CacheKind, CpuidLeaf, ProcessorPart};

use super::shape::Shape;

/// EAX, EBX, ECX, EDX.
pub type Registers = [u32; 4];

/// Bits of the APIC ID that number threads of a core: the parts keep one, whether a core has two threads or one.
const THREAD_BITS: u32 = 1;

/// First extended leaf.
const EXTENDED: u32 = 0x8000_0000;

/// Highest leaf that is worked out here, basic and extended.
const TOPOLOGY: u32 = 0xB;
const BRAND_END: u32 = 0x8000_0004;

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
pub fn registers(shape: &Shape, cpu: u32, leaf: u32, subleaf: u32) -> Registers {
    let Some(processor) = &shape.family.processor else { return [0; 4] };
    let apic_id = apic_id(shape, cpu);
    let package_ids = 1 << package_shift(shape);
    let constant = processor.leaf(leaf, subleaf).map_or([0; 4], |row| row.registers);
    match leaf {
        0 => [last_leaf(processor, TOPOLOGY), letters(*b"Genu"), letters(*b"ntel"), letters(*b"ineI")],
        1 => [processor.signature(), (apic_id & 0xff) << 24 | package_ids << 16 | 8 << 8, constant[2], constant[3]],
        4 => cache_leaf(processor, shape, subleaf, package_ids),
        TOPOLOGY => topology_leaf(shape, subleaf, apic_id),
        EXTENDED => [last_leaf(processor, BRAND_END), 0, 0, 0],
        0x8000_0002..=BRAND_END => brand_leaf(processor.brand, leaf - 0x8000_0002),
        _ => constant,
    }
}

/// The highest leaf of the range, basic or extended, that `computed` belongs to.
fn last_leaf(processor: &ProcessorPart, computed: u32) -> u32 {
    let same_range = |row: &&CpuidLeaf| (row.leaf >= EXTENDED) == (computed >= EXTENDED);
    processor.leaves.iter().filter(same_range).map(|row| row.leaf).fold(computed, u32::max)
}

const fn letters(four: [u8; 4]) -> u32 {
    u32::from_le_bytes(four)
}

fn cache_leaf(processor: &ProcessorPart, shape: &Shape, subleaf: u32, package_ids: u32) -> Registers {
    let Some(&CacheGeometry { level, kind, ways, sets, shared }) = processor.caches.get(subleaf as usize) else {
        return [0; 4];
    };
    let kind = match kind {
        CacheKind::Data => 1,
        CacheKind::Instruction => 2,
        CacheKind::Unified => 3,
    };
    let sharing = if shared { package_ids } else { 1 << THREAD_BITS };
    let cores = u32::from(shape.built).next_power_of_two().max(1 << 4);
    // Each slice has its share of the sets.
    let sets = if shared { sets / u32::from(shape.all_slices()) * u32::from(shape.slices) } else { sets };
    let inclusive = if shared { 6 } else { 0 };
    [
        // Self-initialising.
        (cores - 1) << 26 | (sharing - 1) << 14 | 1 << 8 | u32::from(level) << 5 | kind,
        (ways - 1) << 22 | (64 - 1),
        sets - 1,
        inclusive,
    ]
}

/// The numbers of logical CPUs are those of the part as it was shipped, whatever takes part, and the widths of the IDs
/// too.
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

    /// Signatures of published CPUID dumps, and the megabytes of the last-level cache on Intel's product pages: of an
    /// X5570, an E5-2680, an 8592+, and an 8480+, which has 56 of the die's 60 slices in use.
    #[test]
    fn each_family_identifies_as_one_of_its_parts() {
        for (family, slices, signature, megabytes) in [
            ("nehalem", 1, 0x0001_06A5, 8),
            ("e5-2600", 8, 0x0002_06D7, 20),
            ("emerald-rapids", 64, 0x000C_06F2, 320),
            ("sapphire-rapids", 56, 0x0008_06F8, 105),
        ] {
            let shape = Shape::new(pericore_catalog::family(family).unwrap(), 2, 4, 1).unwrap();
            let shape = shape.with_slices(slices).unwrap();
            assert_eq!(registers(&shape, 0, 1, 0)[0], signature, "{family}");
            let [_, ways, sets, _] = registers(&shape, 0, 4, 3);
            assert_eq!(((ways >> 22) + 1) * (sets + 1) * 64, megabytes << 20, "{family}");
            // Leaf 6 does not look at ECX; leaf 7 has no row.
            assert_eq!(registers(&shape, 0, 6, 9), registers(&shape, 0, 6, 0), "{family}");
            assert_ne!(registers(&shape, 0, 6, 9), [0; 4], "{family}");
            assert_eq!(registers(&shape, 0, 7, 0), [0; 4], "{family}");
            assert_eq!(
                [registers(&shape, 0, 0, 0)[0], registers(&shape, 0, 0x8000_0000, 0)[0]],
                [0xD, 0x8000_0008],
                "{family}"
            );
        }
    }

    #[test]
    fn the_apic_id_follows_the_cpu_and_names_the_package() {
        let shape = shape();
        assert_eq!(apic_id(&shape, 3), 6);
        assert_eq!(apic_id(&shape, 8), 1 << 5);
        assert_eq!(registers(&shape, 9, 0xB, 1), [5, 8, 0x201, 0x22]);
        assert_eq!(registers(&shape, 9, 1, 0)[1] >> 24, 0x22);
    }

    /// SDM volume 2, CPUID: leaf 0BH EBX[15:0] is the number as shipped; EAX[4:0] and the IDs do not move either, nor
    /// leaf 1 EBX[23:16] and leaf 4 EAX[31:26], which are about IDs that there may be.
    #[test]
    fn cores_that_are_left_out_have_no_cpus_and_keep_their_room() {
        let shape = Shape::new(pericore_catalog::family("e5-2600").unwrap(), 2, 8, 2).unwrap();
        let shape = shape.with_active_cores(4).unwrap();
        assert_eq!(shape.cpus(), 16);
        let ids: Vec<u32> = (0..16).map(|cpu| apic_id(&shape, cpu)).collect();
        assert_eq!(ids, [0, 2, 4, 6, 32, 34, 36, 38, 1, 3, 5, 7, 33, 35, 37, 39]);
        assert_eq!(registers(&shape, 13, 0xB, 0), [1, 2, 0x100, 35]);
        assert_eq!(registers(&shape, 13, 0xB, 1), [5, 16, 0x201, 35]);
        assert_eq!(registers(&shape, 13, 1, 0)[1], 0x2320_0800);
        // Sixteen core IDs, thirty-two thread IDs share the LLC.
        assert_eq!(registers(&shape, 13, 4, 3)[0], 15 << 26 | 31 << 14 | 0x163);
        // An 8592+ of four active cores still has seven bits below the package.
        let large = Shape::new(pericore_catalog::family("emerald-rapids").unwrap(), 2, 64, 2).unwrap();
        let large = large.with_active_cores(4).unwrap();
        assert_eq!((apic_id(&large, 4), registers(&large, 4, 0xB, 1)), (128, [7, 128, 0x201, 128]));
    }

    /// 20 MB in 20 ways, as the E5-2680's leaf 4 says in published dumps.
    #[test]
    fn the_last_level_cache_is_that_of_the_part() {
        let [first, ways, sets, _] = registers(&shape(), 0, 4, 3);
        assert_eq!((first & 0x3fff, ways, sets), (0x163, 0x04C0_003F, 0x3FFF));
        assert_eq!(first >> 14 & 0xfff, 0x1f);
        assert_eq!(registers(&shape(), 0, 4, 4), [0; 4]);
        // 15 MB in 20 ways, of an E5-2640.
        let smaller = shape().with_slices(6).unwrap();
        assert_eq!(registers(&smaller, 0, 4, 3)[2], 12 * 1024 - 1);
        assert_eq!(registers(&smaller, 0, 4, 2), registers(&shape(), 0, 4, 2));
    }

    #[test]
    fn the_brand_string_reads_across_three_leaves() {
        let bytes: Vec<u8> = (0x8000_0002..=0x8000_0004)
            .flat_map(|leaf| registers(&shape(), 0, leaf, 0))
            .flat_map(u32::to_le_bytes)
            .take_while(|&byte| byte != 0)
            .collect();
        assert_eq!(String::from_utf8(bytes).unwrap(), "Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz");
    }
}
