//! Channels of eight ranks, by hand.

use super::model;
use crate::uncore::tests::recorder::Recorder;
use pericore_truth::Question;
use pericore_truth::e5_2600::Window;

#[test]
fn each_of_eight_ranks_is_throttled_and_sleeps_for_itself() {
    let (mut model, _) = model("ranks=8 \nphase rest\nidle 50us\nthrottle rank5 40%\n");
    let before = model.snapshot();
    // 27 ticks are a DRAM cycle; the phase's conditions hold from the second one on.
    model.run_until_any(8001 * 27, &mut Recorder::default());
    let after = model.snapshot();
    let window = Window::between(&before, &after);
    let of = |event, rank: usize| {
        window.truth(0, Question::new("imc", event).subevent(format!("RANK{rank}").as_str())).unwrap()
    };
    // Eight periods of a thousand cycles.
    for rank in 0..8 {
        assert_eq!(of("POWER_THROTTLE_CYCLES", rank), if rank == 5 { 3200 } else { 0 }, "rank {rank}");
    }
    // A rank sleeps after 600 idle cycles. Its refresh comes after so many eighths of 6240 cycles; from waking to sleep
    // it takes less than 1000.
    for rank in 0..8 {
        let wakes = 1 + u64::from(rank < 2);
        assert!((600..=600 + wakes * 1000).contains(&of("POWER_CKE_CYCLES", rank)), "rank {rank}");
    }
}

#[test]
fn a_channel_of_two_ranks_has_no_others() {
    let (mut model, _) = model("random:requests=300,footprint=1G");
    let before = model.snapshot();
    super::run(&mut model, &mut Recorder::default());
    let after = model.snapshot();
    let window = Window::between(&before, &after);
    let clock_on = |rank| window.truth(0, Question::new("imc", "POWER_CKE_CYCLES").subevent(rank)).unwrap();
    assert!(clock_on("RANK1") > 0);
    assert_eq!((clock_on("RANK2"), clock_on("RANK7")), (0, 0));
}
