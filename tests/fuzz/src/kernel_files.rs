//! Any text as a file that the kernel has for a PMU: never a panic, and what is placed in attributes comes back.

use pericore_observe::kernel::{Attributes, DriverNames, TermFormat, parse_terms};

/// Any bytes.
pub fn run(data: &[u8]) {
    let text = crate::text(data);
    for line in text.lines() {
        if let Ok(format) = line.parse::<TermFormat>() {
            assert_eq!(format.to_string().parse(), Ok(format.clone()));
            let full = Attributes { words: [0x5555_aaaa_3333_cccc; 4], ..Attributes::default() };
            for value in [0, 1, format.max() / 3, format.max()] {
                let placed = format.set(full, value).expect("it fits");
                assert_eq!(format.get(placed), value);
                assert_eq!(format.set(placed, format.get(full)), Some(full));
            }
            if let Some(more) = format.max().checked_add(1) {
                assert_eq!(format.set(full, more), None);
            }
        }
        for (name, _) in parse_terms(line).into_iter().flatten() {
            assert!(!name.is_empty());
        }
    }
    let _ = DriverNames::read(text);
}
