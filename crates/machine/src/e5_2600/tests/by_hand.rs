//! Counts worked out by hand from the guide's sentences, of machines so small that they can be.

use super::{model_of, run};
use crate::uncore::tests::recorder::Recorder;
use pericore_models::e5_2600::Parameters;
use pericore_truth::Question;
use pericore_truth::e5_2600::{Snapshot, Window};

fn run_parts(parameters: Parameters, workload: &str) -> [Snapshot; 2] {
    let (mut model, _) = model_of(parameters, workload);
    let before = model.snapshot();
    run(&mut model, &mut Recorder::default());
    [before, model.snapshot()]
}

/// An event over the first instances of its unit.
fn of(window: &Window<'_>, unit: &str, event: &str, instances: u16) -> u64 {
    let (event, subevent) = event.split_once('.').map_or((event, None), |(event, subevent)| (event, Some(subevent)));
    (0..instances).map(|i| window.truth(i, Question::new(unit, event).subevent(subevent)).unwrap()).sum()
}

/// Table 2-27: requests of the IRQ are rejected if, among other reasons, there are no RTIDs.
#[test]
fn a_request_without_a_number_is_rejected() {
    // One slice and one number. A thread asks for ten lines at once, as many as its core has fill buffers, and memory
    // takes longer than the ten take to arrive: all but the first find the number taken, none finds its line busy.
    let parameters = Parameters { slices: 1, tracker_entries: 1, ..Parameters::e5_2680() };
    let [from, to] = run_parts(parameters, "stream:requests=10,threads=1,footprint=1M");
    let window = Window::between(&from, &to);
    assert_eq!(of(&window, "cbo", "RxR_INSERTS.IRQ", 1), 10);
    assert_eq!(of(&window, "cbo", "RxR_IRQ_RETRY.ADDR_CONFLICT", 1), 0);
    assert_eq!(of(&window, "cbo", "RxR_INSERTS.IRQ_REJECTED", 1), 9);
    // The first of those that wait is tried, the others wait behind it.
    let (queued, rejected) =
        (of(&window, "cbo", "RxR_OCCUPANCY.IRQ", 1), of(&window, "cbo", "RxR_OCCUPANCY.IRQ_REJECTED", 1));
    assert!(rejected > 0 && rejected < queued, "{rejected} of {queued}");
}

/// 2.3.7, TxR_INSERTS: BL_CORE is data of cores, for writebacks commonly. A device reads sixteen lines of which a core
/// has modified eight: it is snooped for each, and sends the data of those with its responses. None is written back.
#[test]
fn what_a_snooped_core_has_modified_comes_to_the_slice() {
    let workload = "phase clean\nworkload stream:requests=16,read=100,threads=1,footprint=1k\n\
        phase dirty\nworkload stream:requests=8,read=0,threads=1,footprint=1k\n\
        phase read\nworkload dma-read:requests=16,threads=1,footprint=1k";
    let [from, to] = run_parts(Parameters::e5_2680(), workload);
    let window = Window::between(&from, &to);
    assert_eq!(of(&window, "cbo", "TxR_INSERTS.AK_CORE", 8), 16);
    assert_eq!(of(&window, "cbo", "TxR_INSERTS.BL_CORE", 8), 8);
    assert_eq!(of(&window, "cbo", "TOR_INSERTS.WB", 8), 0);
}

/// Intel's event file, VNA_CREDITS_REJECT: attempted acquisitions that were rejected; VN0_CREDITS_REJECT: times that a
/// request got neither kind of credit.
#[test]
fn every_try_in_vain_counts() {
    // Shared credits for a single line at a time. The lines that other sockets read leave one by one, and each that
    // waits finds no credits when it comes first; it is tried again when others come behind it, and in vain.
    let parameters = Parameters { link_credits: 3, ..Parameters::e5_2680() }.with_sockets(2);
    let [from, to] = run_parts(parameters, "stream:requests=4000,threads=8,remote=100");
    let window = Window::between(&from, &to);
    let of = |event: &str| of(&window, "r3qpi", event, 4);
    let (shared, reserved) = (of("VNA_CREDITS_REJECT.DRS"), of("VN0_CREDITS_REJECT.DRS"));
    assert!(shared > of("RxR_INSERTS.DRS"), "{shared} for {} lines", of("RxR_INSERTS.DRS"));
    // A line that the shared pool turns away takes the class's own credit, or is turned away there, too.
    assert_eq!(shared, reserved + of("VN0_CREDITS_USED.DRS"));
}
