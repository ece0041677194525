//! The mean latency of reads of random rows on an idle DDR5 channel, with every command held against the standard.

use std::sync::Arc;

use pericore_dram::checker::{self, DDR5_5600B};
use pericore_dram::{
    Arrival, Channel, CommandRecord, MajorMode, MemoryState, Observer, Outcome, Pending, Sent, Timing,
};
use pericore_engine::{Period, Random};

/// Ticks of a DRAM cycle.
const CLOCK: Period = Period::new(2);
const READS: u64 = 10_000;
/// Of DDR5-5600.
const CYCLES_PER_NANOSECOND: f64 = 2.8;

/// Keeps the commands.
#[derive(Default)]
struct Log(Vec<CommandRecord>);

impl Observer for Log {
    fn command(&mut self, sent: &Sent) {
        self.0.push(sent.record);
    }
    fn enters(&mut self, _: Pending, _: bool, _: bool, _: u64) {}
    fn leaves(&mut self, _: Pending, _: bool, _: u64, _: u64) {}
    fn begins(&mut self, _: u8) {}
    fn forwards(&mut self, _: u64) {}
    fn merges(&mut self, _: u64) {}
    fn changes_mode(&mut self, _: MajorMode, _: MajorMode, _: bool, _: u64) {}
    fn preempts(&mut self, _: Pending, _: u64) {}
    fn state(&mut self, _: MemoryState, _: bool, _: u64) {}
    fn corrects(&mut self, _: u64) {}
}

fn main() {
    let timing = Timing::ddr5_5600();
    let banks = u64::from(timing.ranks * timing.banks_per_rank());
    let mut channel = Channel::new(CLOCK, &Arc::new(timing));
    let (mut random, mut log, mut out) = (Random::new(1, 0), Log::default(), Vec::new());
    let (mut cycle, mut total) = (1, 0);
    for _ in 0..READS {
        let (bank, row) = (random.below(banks) as u8, random.below(1 << 16) as u32);
        channel.announce(Arrival {
            cycle,
            owner: 0,
            line: row,
            bank,
            row,
            queue: Pending::Reads,
            partial: false,
            isochronous: false,
        });
        let arrival = cycle;
        while cycle == arrival {
            channel.step(&mut log, &mut out);
            for outcome in out.drain(..) {
                if let Outcome::Data { cycle: data, .. } = outcome {
                    total += data - arrival;
                    cycle = data + 1;
                }
            }
        }
    }
    checker::check(&DDR5_5600B, &log.0, None);
    println!("{:.1} ns in the channel, {} commands", total as f64 / READS as f64 / CYCLES_PER_NANOSECOND, log.0.len());
}
