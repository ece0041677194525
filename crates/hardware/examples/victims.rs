//! Counts evictions of modified lines on a slice of an E5-2600, as a tool would: by raw register addresses.

use pericore_hardware::chassis::{Chassis, Shape};
use pericore_hardware::signal::{SignalSink, Wiring};
use pericore_registers::{Address, RegisterSpace, Width};

/// Of the state's attribute: M. E and S are lower.
const MODIFIED: u64 = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let family = pericore_catalog::family("e5-2600").ok_or("the catalogue has no such family")?;
    let mut wiring = Wiring::new(family, 1);
    let victims = wiring.signal(0, "cbo", 0, "llc_victim")?;
    // One socket of eight cores; all clocks have a cycle of 8 ticks.
    let mut chassis = Chassis::new(Shape::new(family, 1, 8, 1)?, wiring, |_| 8);

    // Slice 0, counter 0, from the guide's tables 2-8 to 2-17: LLC_VICTIMS, lines in M, enabled.
    let msr = |msr| Address::Msr { cpu: 0, msr };
    chassis.write(msr(0xD10), Width::B8, 0x40_0137)?;
    for line in 0..5 {
        chassis.pulse(victims, MODIFIED, 100 * line, 1);
        chassis.pulse(victims, MODIFIED - 1, 100 * line, 1);
    }
    chassis.set_now(1000);
    println!("{} modified lines evicted", chassis.read(msr(0xD16), Width::B8)?);
    Ok(())
}
