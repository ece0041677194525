//! What an idle machine costs: work of the engine, counted and not timed.

use pericore_engine::Tick;

use super::model;
use super::truth::Digest;
use crate::emerald_rapids::EmeraldRapids;

/// Steps of subchannels, and instants at which the rest of the machine did something, before `until`.
fn steps(model: &mut EmeraldRapids, until: Tick) -> (u64, u64) {
    let (mut of_channels, mut others) = (0, 0);
    let mut sink = Digest::default();
    loop {
        let (memory, engine) = (model.channel_next.tick(), model.wheel.next_tick());
        let next = memory.min(engine);
        if next >= until {
            return (of_channels, others);
        }
        of_channels += model.subchannels.iter().filter(|subchannel| subchannel.next_tick() == next).count() as u64;
        others += u64::from(engine == next);
        model.run_until_any(next + 1, &mut sink);
    }
}

#[test]
fn an_idle_machine_costs_its_refreshes_and_nothing_else() {
    for (workload, sockets) in [("idle", 1), ("two idle", 2)] {
        let (mut model, _) = model(workload);
        let (subchannels, ranks) = (16 * sockets, 2);
        // JESD79-5: a refresh of each rank every 3.9 us.
        let interval = model.clocks().ticks_per_second * 39 / 10_000_000;
        // The first intervals begin with ranks that power down.
        model.run_until_any(10 * interval, &mut Digest::default());
        let (of_channels, others) = steps(&mut model, 510 * interval);
        let refreshes = 500 * subchannels * ranks;
        println!("{workload}: {of_channels} steps of subchannels for {refreshes} refreshes, {others} of the rest");
        // A rank wakes, is refreshed, is done, and sleeps again.
        assert!(of_channels <= 4 * refreshes, "{workload}: {of_channels} steps for {refreshes} refreshes");
        assert_eq!(others, 0, "{workload}");
    }
}
