//! Which processor this is.

use pericore_catalog::{Family, Shipped};

/// The vendor whose processors the catalogue has.
pub(super) const INTEL: &str = "GenuineIntel";

/// What CPUID says of a processor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Processor {
    /// Vendor, for example `GenuineIntel`.
    pub vendor: String,
    /// Product name, if the processor tells one.
    pub brand: String,
    /// Display family.
    pub family: u16,
    /// Display model.
    pub model: u16,
    /// Stepping.
    pub stepping: u8,
    /// True if a hypervisor says that it is there.
    pub is_virtual: bool,
}

/// EAX, EBX, ECX and EDX.
pub(super) type Leaf = [u32; 4];

impl Processor {
    /// The one that this runs on.
    #[cfg(target_arch = "x86_64")]
    pub fn here() -> Self {
        Self::read(|leaf| {
            let answer = std::arch::x86_64::__cpuid(leaf);
            [answer.eax, answer.ebx, answer.ecx, answer.edx]
        })
    }

    /// The one that this runs on.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn here() -> Self {
        Self { vendor: std::env::consts::ARCH.to_owned(), ..Self::default() }
    }

    /// What a CPUID instruction says.
    pub fn read(mut cpuid: impl FnMut(u32) -> Leaf) -> Self {
        let text = |registers: &[u32]| {
            let bytes: Vec<u8> = registers.iter().flat_map(|register| register.to_le_bytes()).collect();
            String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_owned()
        };
        let [_, b, c, d] = cpuid(0);
        let [signature, _, features, _] = cpuid(1);
        let (base_family, base_model) = (signature >> 8 & 0xf, signature >> 4 & 0xf);
        let family = if base_family == 0xf { base_family + (signature >> 20 & 0xff) } else { base_family };
        let extended = matches!(base_family, 0x6 | 0xf);
        let model = if extended { base_model | (signature >> 16 & 0xf) << 4 } else { base_model };
        let brand = if cpuid(0x8000_0000)[0] >= 0x8000_0004 {
            let words: Vec<u32> = (0x8000_0002..=0x8000_0004).flat_map(&mut cpuid).collect();
            text(&words)
        } else {
            String::new()
        };
        Self {
            vendor: text(&[b, d, c]),
            brand,
            family: family as u16,
            model: model as u16,
            stepping: (signature & 0xf) as u8,
            is_virtual: features >> 31 != 0,
        }
    }

    /// The family of the catalogue that the processor belongs to, if its registers are there.
    pub fn known_as(&self) -> Option<&'static Family> {
        let is_this = |shipped: &&&'static Shipped| shipped.cpus.contains(&(self.family, self.model));
        if self.vendor != INTEL {
            return None;
        }
        pericore_catalog::shipped().iter().find(is_this).map(|shipped| shipped.family())
    }
}

#[cfg(test)]
mod tests {
    use super::Processor;

    fn of(signature: u32, features: u32) -> Processor {
        Processor::read(|leaf| if leaf == 1 { [signature, 0, features, 0] } else { [0; 4] })
    }

    /// SDM volume 2, CPUID leaf 1: the extended family is added where the family is 15, the extended model stands
    /// before the model where the family is 6 or 15, and the stepping is the lowest four bits. Signatures of a Xeon
    /// E5-2600, a Pentium 4, a first Ryzen (family 17h) and a Pentium MMX.
    #[test]
    fn a_signature_has_family_model_and_stepping() {
        let signature = |signature| {
            let Processor { family, model, stepping, .. } = of(signature, 0);
            (family, model, stepping)
        };
        assert_eq!(signature(0x0002_06d7), (6, 45, 7));
        assert_eq!(signature(0x0000_0f29), (15, 2, 9));
        assert_eq!(signature(0x0080_0f11), (23, 1, 1));
        assert_eq!(signature(0x0000_0543), (5, 4, 3));
    }

    /// Bit 31 of ECX is kept for hypervisors: no processor sets it.
    #[test]
    fn a_hypervisor_shows_in_one_bit() {
        let is_virtual = [0, 0x7fff_ffff, 1 << 31].map(|features| of(0x0002_06d7, features).is_virtual);
        assert_eq!(is_virtual, [false, false, true]);
    }

    /// SDM volume 2, CPUID: the vendor's letters are in EBX, EDX and ECX of leaf 0, the brand in leaves 0x80000002 to
    /// 0x80000004, if leaf 0x80000000 tells of them.
    #[test]
    fn a_processor_has_a_vendor_and_a_brand() {
        let word = |text: &[u8; 4]| u32::from_le_bytes(*text);
        let processor = |vendor: [&[u8; 4]; 3], last: u32, signature: u32| {
            Processor::read(|leaf| match leaf {
                0 => [20, word(vendor[0]), word(vendor[2]), word(vendor[1])],
                1 => [signature, 0, 0, 0],
                0x8000_0000 => [last, 0, 0, 0],
                0x8000_0002 => [word(b"Inte"), word(b"l(R)"), word(b" Xeo"), word(b"n(R)")],
                0x8000_0003 => [word(b" CPU"), word(b" E5-"), word(b"2680"), word(b"\0\0\0\0")],
                _ => [0; 4],
            })
        };
        let intel = [b"Genu", b"ineI", b"ntel"];
        let found = processor(intel, 0x8000_0008, 0x0002_06d7);
        assert_eq!((found.vendor.as_str(), found.brand.as_str()), ("GenuineIntel", "Intel(R) Xeon(R) CPU E5-2680"));
        assert_eq!(processor(intel, 0x8000_0004, 0x0002_06d7).brand, found.brand);
        assert_eq!(processor(intel, 0x8000_0003, 0x0002_06d7).brand, "");
        // Model 45 is the E5-2600, 207 Emerald Rapids, 26 Nehalem; 1 is none that the catalogue has.
        for (signature, name) in [
            (0x0002_06d7, Some("e5-2600")),
            (0x000c_06f2, Some("emerald-rapids")),
            (0x0001_06a5, Some("nehalem")),
            (0x0000_0611, None),
        ] {
            let known = |vendor| processor(vendor, 0, signature).known_as().map(|family| family.name);
            assert_eq!(known(intel), name, "{signature:#x}");
            assert_eq!(known([b"Auth", b"enti", b"cAMD"]), None);
        }
    }
}
