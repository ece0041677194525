//! Messages that are not coherent: single accesses, followed by hand, and what they come to together.

use super::{model, run};
use crate::uncore::tests::recorder::Recorder;
use pericore_truth::Question;
use pericore_truth::e5_2600::{Snapshot, Window};

fn of(window: &Window<'_>, unit: &str, event: &str, instances: std::ops::Range<u16>) -> u64 {
    let (event, subevent) = event.split_once('.').map_or((event, None), |(event, subevent)| (event, Some(subevent)));
    instances.map(|instance| window.truth(instance, Question::new(unit, event).subevent(subevent)).unwrap()).sum()
}

fn run_all(workload: &str) -> [Snapshot; 2] {
    let (mut model, _) = model(workload);
    let before = model.snapshot();
    run(&mut model, &mut Recorder::default());
    [before, model.snapshot()]
}

#[test]
fn a_lone_write_to_another_sockets_device_takes_its_way() {
    // So seldom that no two of them meet.
    let [from, to] = run_all("2 \nphase one\nidle 400us\nremote-device-write every 20us\n");
    let window = Window::between(&from, &to);
    let writes = of(&window, "qpi", "RxL_FLITS_G2.NDR_AK", 0..4);
    assert!((20..=60).contains(&writes), "{writes}");
    // Three headers and eight flits with 8 bytes and their enables each; a completion of one flit.
    assert_eq!(of(&window, "qpi", "TxL_FLITS_G2.NCB_NONDATA", 0..4), 3 * writes);
    assert_eq!(of(&window, "qpi", "TxL_FLITS_G2.NCB_DATA", 0..4), 8 * writes);
    assert_eq!(of(&window, "qpi", "TxL_FLITS_G0.DATA", 0..4), 8 * writes);
    assert_eq!(of(&window, "qpi", "TxL_FLITS_G0.NON_DATA", 0..4), 4 * writes);
    // Eleven flits take three shared credits, of four flits each; the completion takes one.
    assert_eq!(of(&window, "r3qpi", "VNA_CREDITS_ACQUIRED", 0..4), 4 * writes);
    // The credit towards input-output is held for the way to its stop, three cycles, and the cycle in which it is taken
    // there.
    assert_eq!(of(&window, "r3qpi", "IIO_CREDITS_ACQUIRED.NCB", 0..4), writes);
    assert_eq!(of(&window, "r3qpi", "IIO_CREDITS_USED.NCB", 0..4), 4 * writes);
    assert_eq!(of(&window, "r3qpi", "IIO_CREDITS_REJECT.NCB", 0..4), 0);
    assert_eq!(of(&window, "r2pcie", "IIO_CREDITS_ACQUIRED.NCB", 0..2), writes);
    assert_eq!(of(&window, "r3qpi", "RxR_INSERTS.NCB", 0..4), writes, "the data ring has no way past the queue");
    assert_eq!(of(&window, "qpi", "RxL_INSERTS_NCB", 0..4), 0, "a free link's buffer is passed by");
}

#[test]
fn reads_bring_data_and_interrupts_reach_the_system_agent() {
    let [from, to] =
        run_all("2 \nphase both\nidle 200us\nremote-device-read every 2us\nremote-ipi every 3us\nmsi every 2us\n");
    let window = Window::between(&from, &to);
    let (reads, interrupts) =
        (of(&window, "qpi", "TxL_FLITS_G2.NCS", 0..4), of(&window, "qpi", "TxL_FLITS_G2.NCB_NONDATA", 0..4) / 3);
    assert!(reads > 100 && interrupts > 60, "{reads} {interrupts}");
    assert_eq!(of(&window, "ubox", "EVENT_MSG.IPI_RCVD", 0..2), interrupts);
    // A hundred a socket; those that come from elsewhere do not hold the others up.
    let signalled = of(&window, "ubox", "EVENT_MSG.MSI_RCVD", 0..2);
    assert!((140..=260).contains(&signalled), "{signalled}");
    assert_eq!(of(&window, "ubox", "FILTER_MATCH.DISABLE", 0..2), interrupts + signalled);
    assert_eq!(of(&window, "qpi", "TxL_FLITS_G2.NDR_AK", 0..4), interrupts);
    assert_eq!(of(&window, "qpi", "TxL_FLITS_G1.DRS", 0..4), 9 * reads);
    assert_eq!(of(&window, "qpi", "DIRECT2CORE.FAILURE_RBT", 0..4), reads, "registers do not go straight to a core");
    assert_eq!(of(&window, "r2pcie", "IIO_CREDITS_ACQUIRED.NCS", 0..2), reads);
    assert_eq!(of(&window, "r2pcie", "IIO_CREDITS_ACQUIRED.NCB", 0..2), 0, "interrupts do not go to devices");
}

#[test]
fn lines_of_another_socket_go_from_the_link_to_the_device() {
    let [from, to] = run_all("2 dma-read:requests=2000,remote=100,footprint=1M");
    let window = Window::between(&from, &to);
    assert_eq!(of(&window, "r3qpi", "IIO_CREDITS_ACQUIRED.DRS", 0..4), 2000);
    assert_eq!(of(&window, "r2pcie", "IIO_CREDITS_ACQUIRED.DRS", 0..2), 2000);
    assert_eq!(of(&window, "cbo", "TxR_INSERTS.BL_CACHE", 0..16), 0, "no slice sends them");
    // A link brings a line in 4 ns at best, eleven cycles. The credit is back after four cycles.
    assert_eq!(of(&window, "r3qpi", "IIO_CREDITS_REJECT.DRS", 0..4), 0);
}

#[test]
fn lines_from_links_wait_while_the_lanes_are_busy() {
    // More lines than the lanes carry, half of them by links.
    let [from, to] = run_all("2 dma-read:requests=4000,threads=32,socket=0,remote=50,footprint=64k");
    let window = Window::between(&from, &to);
    let by_link = of(&window, "r3qpi", "IIO_CREDITS_ACQUIRED.DRS", 0..4);
    assert!((1800..2200).contains(&by_link), "{by_link}");
    let rejected = of(&window, "r3qpi", "IIO_CREDITS_REJECT.DRS", 0..4);
    assert!(rejected > 0 && rejected < by_link, "one credit: {rejected}");
}

#[test]
fn devices_of_four_sockets_on_one_of_them_wait_for_their_lines() {
    // 64 of them ask for 1024 lines that the LLC has, and take one in five cycles.
    let [from, to] = run_all("4 dma-read:requests=6000,threads=64,socket=0,footprint=64k");
    let window = Window::between(&from, &to);
    assert_eq!(of(&window, "r2pcie", "IIO_CREDITS_ACQUIRED.DRS", 0..1), 6000);
    assert_eq!(of(&window, "r2pcie", "RxR_CYCLES_NE.DRS", 1..4), 0);
}

#[test]
fn cores_wait_for_devices_that_do_not_keep_up() {
    let [from, to] = run_all("\nphase flood\nidle 200us\ndevice-read every 100ns\ndevice-write every 100ns\n");
    let window = Window::between(&from, &to);
    for class in ["NCB", "NCS"] {
        // One in 400 cycles of 2.7 GHz in 200 us, and of the class that cores wait for, those 256 that the stop has
        // room for.
        let taken = of(&window, "r2pcie", &format!("IIO_CREDITS_ACQUIRED.{class}"), 0..1);
        assert!((1300..=1650).contains(&taken), "{class}: {taken}");
    }
}

#[test]
fn messages_end_with_their_phase() {
    let [from, to] = run_all(
        "4 \nphase busy\nidle 20us\nremote-device-write every 100ns\nremote-device-read every 100ns\n\
         remote-ipi every 100ns\nphold every 100ns\n",
    );
    let window = Window::between(&from, &to);
    assert!(window.ticks() < 30 * 108_000, "{} ticks of 108 GHz", window.ticks());
    // The last hold ends, too.
    let hold = of(&window, "ubox", "PHOLD_CYCLES.ASSERT_TO_ACK", 0..4)
        + of(&window, "ubox", "PHOLD_CYCLES.ACK_TO_DEASSERT", 0..4);
    assert!(hold > 0);
}

#[test]
fn an_open_phase_ends_with_its_work_however_often_its_messages_come() {
    // More than the stop can take, so that it is never idle: what still waits there then is taken afterwards.
    let [from, to] =
        run_all("\nphase open\nworkload dma-read:threads=16,footprint=1M,requests=6000\ndevice-read every 100ns\n");
    let window = Window::between(&from, &to);
    assert_eq!(of(&window, "r2pcie", "IIO_CREDITS_ACQUIRED.DRS", 0..1), 6000);
    // The lanes need 10.7 us for the lines, and the IIO 148 ns for a word: 72 of them.
    assert!(of(&window, "r2pcie", "IIO_CREDITS_ACQUIRED.NCS", 0..1) > 50);
    // Accesses to other sockets' devices are always under way, too.
    let [from, to] = run_all("2 \nphase open\nworkload chase:requests=100\nremote-device-read every 100ns\n");
    let window = Window::between(&from, &to);
    assert!(of(&window, "qpi", "TxL_FLITS_G2.NCS", 0..4) > 50);
}
