//! The directory, by hand.

use super::laws::sum;
use super::{model, run};
use crate::uncore::tests::recorder::Recorder;
use pericore_parts::work::Worker;

#[test]
fn bits_that_go_with_a_written_line_cost_nothing_more() {
    // Streaming stores to the other socket's memory: its lines stay nowhere, and no read changes the directory.
    let (mut model, _) = model("two ntstore:requests=4000,threads=128,remote=100,footprint=256M");
    run(&mut model, &mut Recorder::default());
    let at = model.snapshot();
    let updates = sum(&at, "cha", "DIR_UPDATE.HA") + sum(&at, "cha", "DIR_UPDATE.TOR");
    assert_eq!((updates, sum(&at, "m2m", "IMC_WRITES.ALL")), (0, 4000));
}
