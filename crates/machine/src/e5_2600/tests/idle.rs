//! What an idle machine costs: work of the engine, counted and not timed.

use pericore_engine::Tick;

use super::model;
use crate::e5_2600::E5;
use crate::uncore::tests::recorder::Recorder;

/// Steps of channels, and instants at which the rest of the machine did something, before `until`.
fn steps(model: &mut E5, until: Tick) -> (u64, u64) {
    let (mut of_channels, mut others) = (0, 0);
    let mut sink = Recorder::default();
    loop {
        let [memory, engine] = model.model.next_ticks();
        let next = memory.min(engine);
        if next >= until {
            return (of_channels, others);
        }
        of_channels += model.model.channels().iter().filter(|channel| channel.next_tick() == next).count() as u64;
        others += u64::from(engine == next);
        model.run_until_any(next + 1, &mut sink);
    }
}

#[test]
fn an_idle_machine_costs_its_refreshes_and_nothing_else() {
    for (workload, sockets) in [("idle", 1), ("2 idle", 2), ("4 idle", 4)] {
        let (mut model, _) = model(workload);
        let (channels, ranks) = (4 * sockets, 2);
        // JESD79-3: a refresh of each rank every 7.8 us.
        let interval = model.clocks().ticks_per_second * 78 / 10_000_000;
        // The first intervals begin with ranks that power down.
        model.run_until_any(10 * interval, &mut Recorder::default());
        let (of_channels, others) = steps(&mut model, 1_010 * interval);
        let refreshes = 1_000 * channels * ranks;
        println!("{workload}: {of_channels} steps of channels for {refreshes} refreshes, {others} of the rest");
        // A rank wakes, is refreshed, is done, and sleeps again.
        assert!(of_channels <= 4 * refreshes, "{workload}: {of_channels} steps for {refreshes} refreshes");
        assert_eq!(others, 0, "{workload}");
    }
}
