//! Files of the catalogue that other crates read themselves, as text: what is in a crate that is published must lie
//! in it.

/// What Linux's uncore drivers call things, and where they are odd.
pub const KERNEL_DRIVER: &str = include_str!("../catalog/kernel/driver.txt");

/// Which events show what happens in the software Emerald Rapids.
pub const FACTS_OF_EMERALD_RAPIDS: &str = include_str!("../catalog/facts/emerald-rapids.toml");

/// What counters are held against, by family.
pub const SELFCHECK: [(&str, &str); 4] = [
    ("e5-2600", include_str!("../catalog/selfcheck/e5-2600.toml")),
    ("emerald-rapids", include_str!("../catalog/selfcheck/emerald-rapids.toml")),
    ("nehalem", include_str!("../catalog/selfcheck/nehalem.toml")),
    ("sapphire-rapids", include_str!("../catalog/selfcheck/sapphire-rapids.toml")),
];

/// Parts that software machines are made of. What one has from another stands behind that.
pub const PARTS: [&str; 4] = [
    include_str!("../catalog/parts/8592+.toml"),
    include_str!("../catalog/parts/8568.toml"),
    include_str!("../catalog/parts/8480+.toml"),
    include_str!("../catalog/parts/8490h.toml"),
];
