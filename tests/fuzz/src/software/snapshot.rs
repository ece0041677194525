//! Snapshot texts: any of them is a machine whose time goes on and whose registers can be
//! read, or a clear error that tells the line.

use pericore_machine::MachineSpec;
use pericore_machine::chassis::{Chassis, RegisterPlace, SnapshotError};

/// Any bytes.
pub fn run(data: &[u8]) {
    let text = crate::text(data);
    let mut machine = match Chassis::load(text) {
        Ok(machine) => machine,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            if let SnapshotError::Line { line, text: line_text, .. } = error {
                assert_eq!(text.lines().nth(line - 1), Some(line_text.as_str()));
            }
            return;
        }
    };
    // A text can give identities that are fixed another value, and none at all is left out: such a machine comes back
    // as it is built.
    let dumped = Chassis::load(&machine.dump()).expect("what was dumped loads").dump();
    assert_eq!(Chassis::load(&dumped).expect("it loads again").dump(), dumped, "dump and load are identity");
    let grid = machine.clock_grid();
    machine.set_now(machine.now() + grid);
    let places: Vec<RegisterPlace> = machine.registers().collect();
    for place in &places {
        if let Ok(value) = machine.peek(place) {
            assert_eq!(value & !place.width.mask(), 0, "{} is wider than it is", place.name());
        }
    }
    machine.dump();
    // One that begins with its registers has all of them, at tick 0, if it can be built: cores and sockets may be
    // beyond the model.
    let spec = MachineSpec::of_snapshot(text).expect("it loads");
    if let Ok(mut begun) = spec.chassis() {
        assert_eq!((begun.now(), begun.registers().count()), (0, places.len()));
        begun.set_now(grid);
        begun.dump();
    }
}
