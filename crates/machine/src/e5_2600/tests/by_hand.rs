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

/// Accesses to a line that is on its way wait with it, and the thread goes on: of eight loads of each line seven need
/// no fill buffer, so that ten lines are on their way at once, as above.
#[test]
fn loads_of_a_line_that_is_on_its_way_hold_nobody_up() {
    let parameters = Parameters { slices: 1, tracker_entries: 1, ..Parameters::e5_2680() };
    let [from, to] = run_parts(parameters, "stream:requests=80,threads=1,footprint=1M,stride=8");
    let window = Window::between(&from, &to);
    let of = |event| of(&window, "cbo", event, 1);
    assert_eq!((of("RxR_INSERTS.IRQ"), of("RxR_INSERTS.IRQ_REJECTED")), (10, 9));
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

/// Table 2-47: FULL_ISOCH. Eight of sixteen devices have deadlines, and write 2,000 of 4,000 lines past the caches. The
/// others' lines stay in the LLC's ways for devices until others need these.
#[test]
fn what_isochronous_devices_write_goes_to_memory_as_such() {
    let parameters = Parameters { isochronous_entries: 2, ..Parameters::e5_2680() };
    let [from, to] = run_parts(parameters, "dma-write:requests=4000,threads=16,isoc=50,footprint=1M");
    let window = Window::between(&from, &to);
    assert_eq!(of(&window, "ha", "IMC_WRITES.FULL_ISOCH", 1), 2000);
}

/// MAJOR_MODES: while an isochronous transaction waits, only such are processed. One reads a line of an idle channel:
/// its row is opened at once, and read 11 cycles later (tRCD of DDR3-1600). The only credit is away from the home agent
/// on, 22 cycles before that, until the line is read: 22 + 11 * 27 / 8 = 59.1 cycles, and at most one more of each
/// clock.
#[test]
fn an_isochronous_read_has_its_mode_and_its_credit() {
    let parameters = Parameters { isochronous_entries: 1, ..Parameters::e5_2680() };
    for (isoc, mode, credit) in [(100, 11..=12, 59..=63), (0, 0..=0, 0..=0)] {
        let [from, to] =
            run_parts(parameters.clone(), &format!("dma-read:requests=1,threads=1,footprint=1M,isoc={isoc}"));
        let window = Window::between(&from, &to);
        assert!(mode.contains(&of(&window, "imc", "MAJOR_MODES.ISOCH", 4)), "{isoc} %");
        let channels = ["CHN0", "CHN1", "CHN2", "CHN3"];
        let away: u64 = channels.map(|c| of(&window, "ha", &format!("RPQ_CYCLES_NO_SPEC_CREDITS.{c}"), 1)).iter().sum();
        assert!(credit.contains(&away), "{isoc} %: {away}");
    }
}

/// Direct2Core: data goes to the core without passing its slice. Of 64 lines that another socket has written, all come
/// from its caches; switched off, none of 64 loads gets its data straight, and all cycles count.
#[test]
fn direct2core_is_overridden_where_a_cache_has_the_line_and_can_be_switched_off() {
    let written = "phase written\nworkload stream:requests=64,read=0,threads=1,footprint=4k,socket=1,memory=0\n\
        phase read\nworkload stream:requests=64,read=100,threads=1,footprint=4k,socket=0,memory=0";
    let [from, to] = run_parts(Parameters::e5_2680().with_sockets(2), written);
    let window = Window::between(&from, &to);
    assert_eq!(of(&window, "ha", "DIRECT2CORE_TXN_OVERRIDE", 2), 64);
    assert_eq!(of(&window, "ha", "DIRECT2CORE_COUNT", 2), 0);
    for (on, straight) in [(true, 64), (false, 0)] {
        let parameters = Parameters { direct_to_core: on, ..Parameters::e5_2680() };
        let [from, to] = run_parts(parameters, "stream:requests=64,read=100,threads=1,footprint=4k");
        let window = Window::between(&from, &to);
        let ha = |event| of(&window, "ha", event, 1);
        assert_eq!(ha("DIRECT2CORE_COUNT"), straight);
        assert_eq!(ha("TxR_BL.DRS_CACHE"), 64 - straight);
        assert_eq!(ha("DIRECT2CORE_CYCLES_DISABLED"), if on { 0 } else { ha("CLOCKTICKS") });
    }
}

/// IGR_NO_CREDIT_CYCLES: a home agent has no credits of a link's ring stop. Socket 0 reads only the memory of socket 1,
/// and each stop has room for one message of a class: lines wait at the home agent of socket 1, and nowhere else.
#[test]
fn a_home_agent_waits_for_its_own_links() {
    let parameters = Parameters { link_entries: 1, ..Parameters::e5_2680() }.with_sockets(2);
    let [from, to] = run_parts(parameters, "stream:requests=4000,threads=8,socket=0,memory=1");
    let window = Window::between(&from, &to);
    let waits = |home, link| {
        let question = Question::new("ha", "IGR_NO_CREDIT_CYCLES").subevent(Some(link));
        window.truth(home, question).unwrap()
    };
    let lines = ["BL_QPI0", "BL_QPI1"];
    assert_eq!(lines.map(|link| waits(0, link)), [0, 0]);
    assert!(lines.iter().all(|link| waits(1, link) > 0), "{:?}", lines.map(|link| waits(1, link)));
}
