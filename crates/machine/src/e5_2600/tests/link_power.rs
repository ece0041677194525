//! Power states and errors of links, by hand.

use super::model;
use crate::uncore::tests::recorder::Recorder;
use pericore_models::e5_2600::Parameters;
use pericore_parts::work::Worker;
use pericore_truth::Question;
use pericore_truth::e5_2600::Window;
use pericore_workload::Scenario;

/// Runs a pause of the cores in which links save power, and gives events of one end of a link.
fn cycles(text: &str, nanoseconds: u64) -> impl Fn(&str) -> u64 {
    let (mut model, _) = model(text);
    let before = model.snapshot();
    // 108 ticks of the two-socket machine are a clock of the link, a nanosecond.
    model.run_until_any(nanoseconds * 108, &mut Recorder::default());
    let after = model.snapshot();
    move |event| Window::between(&before, &after).truth(0, Question::new("qpi", event)).unwrap()
}

#[test]
fn a_link_that_rests_goes_to_half_width_and_then_off() {
    let of = cycles("2 \nphase rest\nidle 50us\nlink-half after 1us\nlink-off after 5us\n", 20_000);
    // The received direction hears of it with the flits, eleven clocks later.
    assert_eq!((of("TxL0_POWER_CYCLES"), of("TxL0P_POWER_CYCLES")), (1000, 4000));
    assert_eq!((of("RxL0_POWER_CYCLES"), of("RxL0P_POWER_CYCLES")), (1011, 3989));
    assert_eq!((of("L1_POWER_CYCLES"), of("CLOCKTICKS")), (15_000, 20_000));
}

#[test]
fn without_leave_links_stay_at_full_power() {
    let of = cycles("2 \nphase rest\nidle 50us\n", 20_000);
    assert_eq!((of("TxL0_POWER_CYCLES"), of("RxL0_POWER_CYCLES"), of("L1_POWER_CYCLES")), (20_000, 20_000, 0));
}

/// 300 loads of the other socket's memory, one after the other: nanoseconds of each, and each link's packets received
/// and errors.
fn remote_loads(settings: &str) -> (f64, Vec<(u64, u64)>) {
    let workload =
        format!("2 \nphase remote\nworkload chase:requests=300,threads=1,footprint=4G,remote=100\n{settings}");
    let (mut model, _) = model(&workload);
    let before = model.snapshot();
    while model.progress().done < 300 {
        model.run_until_any(model.now() + 21_600, &mut Recorder::default());
    }
    let after = model.snapshot();
    let count = |link, event, subevent| {
        Window::between(&before, &after).truth(link, Question::new("qpi", event).subevent(subevent)).unwrap()
    };
    // A match of nothing takes every packet.
    let links = (0..4).map(|link| (count(link, "CTO_COUNT", None), count(link, "RxL_CRC_ERRORS", Some("NORMAL_OP"))));
    (model.clocks().seconds(0, model.now()) * 1e9 / 300.0, links.collect())
}

#[test]
fn a_packet_with_an_error_is_sent_again() {
    let (full, sound) = remote_loads("");
    assert!(sound.iter().all(|&(packets, errors)| packets > 100 && errors == 0), "{sound:?}");
    let (slow, damaged) = remote_loads("link-error every 1packets\n");
    assert!(damaged.iter().all(|&(packets, errors)| packets == errors), "{damaged:?}");
    // A request's flit and the nine of its data go a second time, each after a way there and back of eleven clocks of a
    // nanosecond.
    assert!((full + 46.0..full + 62.0).contains(&slow), "{full} {slow}");
    let (_, some) = remote_loads("link-error every 7packets\n");
    assert!(some.iter().all(|&(packets, errors)| errors == packets / 7), "{some:?}");
}

#[test]
fn half_width_costs_time_and_a_sleeping_link_much_more() {
    let latency = |settings: &str| remote_loads(settings).0;
    let (full, half, off) = (latency(""), latency("link-half after 100ns\n"), latency("link-off after 100ns\n"));
    // The data's nine flits come four clocks of a nanosecond later at half width.
    assert!((full + 1.0..full + 20.0).contains(&half), "{full} {half}");
    // Request and answer go by different links; either has gone to sleep if it rested for 100 ns, and takes 1000 to
    // wake.
    assert!((full + 900.0..full + 2000.0).contains(&off), "{full} {off}");
}

#[test]
fn what_needs_another_socket_is_refused_on_one() {
    for setting in [
        "link-half after 1us",
        "link-off after 1us",
        "link-error every 9packets",
        "remote-ipi every 1us",
        "remote-device-read every 1us",
    ] {
        let text = format!("phase a\nidle 10us\n{setting}\n");
        let alone = Scenario::parse(&text, &Parameters::e5_2680().limits()).unwrap_err().to_string();
        assert!(alone.contains("needs a second socket: give a machine such as e5-2600:sockets=2"), "{alone}");
        assert!(Scenario::parse(&text, &Parameters::e5_2680().with_sockets(2).limits()).is_ok());
    }
}
