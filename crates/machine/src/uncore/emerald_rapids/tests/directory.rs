//! The directory, by hand: lines that go to the other socket and are taken back.

use super::laws::sum;
use super::{model, run};
use crate::uncore::tests::recorder::Recorder;
use pericore_parts::work::Worker;

#[test]
fn each_change_of_the_directory_without_data_writes_its_line_once() {
    // A thread of socket 0 reads the 256 lines of 16 KiB of socket 1's memory, once each; then all threads write to
    // their own socket's lines at these addresses, so often that each is written.
    let text = "two phase away\nworkload stream:requests=256,threads=1,footprint=16k,remote=100,read=100\n\
                phase back\nworkload random:requests=40000,threads=128,footprint=16k,read=0\n";
    let (mut model, _) = model(text);
    while model.progress().done < 256 {
        model.run_until_any(model.now() + 1000, &mut Recorder::default());
    }
    let away = model.snapshot();
    let changes = |event: &str| sum(&away, "m2m", &format!("DIRECTORY_UPDATE.{event}"));
    // The L2's prefetcher runs some lines past the end, here and below.
    let left = changes("I2A");
    assert!((256..264).contains(&left), "the other socket may own each line that it has read: {left}");
    assert_eq!((changes("ANY"), sum(&away, "m2m", "IMC_WRITES.FULL")), (left, left));
    run(&mut model, &mut Recorder::default());
    let back = model.snapshot();
    let changes = |event: &str| sum(&back, "m2m", &format!("DIRECTORY_UPDATE.{event}"));
    let taken = changes("A2I");
    assert!((256..=left).contains(&taken), "each is taken back by a core of its own socket: {taken} of {left}");
    let all = left + taken;
    assert_eq!(changes("ANY"), all);
    // No cache of the home's socket had any of them, and 16 KiB leave no cache: all writes are for directory bits.
    let cha = |event: &str| sum(&back, "cha", event);
    assert_eq!((cha("DIR_UPDATE.HA"), cha("DIR_UPDATE.TOR"), cha("REQUESTS.WRITES")), (all, 0, 0));
    let merged = sum(&back, "imc", "WPQ_WRITE_HIT.PCH0") + sum(&back, "imc", "WPQ_WRITE_HIT.PCH1");
    assert_eq!((sum(&back, "m2m", "IMC_WRITES.FULL"), sum(&back, "imc", "CAS_COUNT.WR") + merged), (all, all));
}

#[test]
fn bits_that_go_with_a_written_line_cost_nothing_more() {
    // Streaming stores to the other socket's memory: its lines stay nowhere, and no read changes the directory.
    let (mut model, _) = model("two ntstore:requests=4000,threads=128,remote=100,footprint=256M");
    run(&mut model, &mut Recorder::default());
    let at = model.snapshot();
    let updates = sum(&at, "cha", "DIR_UPDATE.HA") + sum(&at, "cha", "DIR_UPDATE.TOR");
    assert_eq!((updates, sum(&at, "m2m", "IMC_WRITES.ALL")), (0, 4000));
}
