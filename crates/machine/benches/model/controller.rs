//! A memory channel alone, in the place of the home agent: reads only, as in the peers' figures.

use std::sync::Arc;

use pericore_dram::Pending;
use pericore_dram::{Arrival, Channel, Outcome, Timing};
use pericore_facts::{ChannelFact, FactReader};
use pericore_machine::engine::{Clocks, Random, Tick};
use pericore_parts::channel_facts::ChannelFacts;
use pericore_truth::ChannelCells;

use crate::Measured;
use crate::stopwatch::Stopwatch;

/// The next request's line, bank and row.
type Traffic = fn(&Timing, &mut Random, u32) -> (u32, u8, u32);

fn anywhere(timing: &Timing, random: &mut Random, _: u32) -> (u32, u8, u32) {
    let draw = random.next();
    let banks = u64::from(timing.ranks * timing.banks_per_rank());
    let (bank, row) = ((draw % banks) as u8, (draw >> 8) as u32 & 0xFFFF);
    ((row << 6 | u32::from(bank)) << 7 | (draw >> 32) as u32 & 127, bank, row)
}

/// Along a row, then the same row of the next bank: with bank groups that is one of the next group.
fn along(timing: &Timing, _: &mut Random, number: u32) -> (u32, u8, u32) {
    let (above, banks) = (number / timing.lines_per_row, u32::from(timing.ranks * timing.banks_per_rank()));
    (number, (above % banks) as u8, above / banks)
}

/// Keeps `outstanding` requests in the channel, no two arriving in less than `gap` cycles.
#[derive(Clone, Copy)]
struct Load {
    traffic: Traffic,
    outstanding: u8,
    gap: u64,
}

const RANDOM: Load = Load { traffic: anywhere, outstanding: 22, gap: 0 };
const RANDOM_32: Load = Load { outstanding: 32, ..RANDOM };
const SEQUENTIAL: Load = Load { traffic: along, ..RANDOM };
const EVERY_8: Load = Load { gap: 8, ..RANDOM };
const CHASE: Load = Load { outstanding: 1, ..RANDOM };

pub fn random(requests: u64) -> Measured {
    run(requests, &Timing::ddr3_1600(), RANDOM)
}

pub fn random_32(requests: u64) -> Measured {
    run(requests, &Timing::ddr3_1600(), RANDOM_32)
}

pub fn sequential(requests: u64) -> Measured {
    run(requests, &Timing::ddr3_1600(), SEQUENTIAL)
}

pub fn every_8(requests: u64) -> Measured {
    run(requests, &Timing::ddr3_1600(), EVERY_8)
}

pub fn chase(requests: u64) -> Measured {
    run(requests, &Timing::ddr3_1600(), CHASE)
}

/// The peers' set-up: queues of 32, and rows stay open until another is wanted.
fn ddr4() -> Timing {
    Timing { page_idle: 100_000, ..Timing::ddr4_3200() }
}

pub fn ddr4_random(requests: u64) -> Measured {
    run(requests, &ddr4(), RANDOM_32)
}

pub fn ddr4_sequential(requests: u64) -> Measured {
    run(requests, &ddr4(), Load { outstanding: 32, ..SEQUENTIAL })
}

pub fn ddr4_every_8(requests: u64) -> Measured {
    run(requests, &ddr4(), Load { outstanding: 32, ..EVERY_8 })
}

pub fn ddr4_chase(requests: u64) -> Measured {
    run(requests, &ddr4(), CHASE)
}

/// The truth about a channel, as it comes.
struct Counted<'a> {
    cells: &'a mut ChannelCells,
    clocks: Clocks,
    rooms: [u64; 2],
}

impl FactReader<ChannelFact> for Counted<'_> {
    #[inline(always)]
    fn read(&mut self, at: Tick, fact: ChannelFact) {
        self.cells.read(self.clocks.dclk.cycles(at), self.rooms, fact);
    }
}

fn run(requests: u64, timing: &Timing, load: Load) -> Measured {
    let Load { traffic, outstanding, gap } = load;
    let clocks = Clocks::new(2700, 800).expect("the preset's clocks");
    let timing = Arc::new(Timing { reads: outstanding.max(timing.reads), ..timing.clone() });
    let rooms = [timing.reads.into(), timing.writes.into()];
    let mut cells = ChannelCells::default();
    let mut channel = Channel::new(clocks.dclk, &timing);
    let mut facts = ChannelFacts { clock: clocks.dclk, reader: Counted { cells: &mut cells, clocks, rooms } };
    let mut random = Random::new(1, 0);
    let mut out = Vec::with_capacity(16);
    let watch = Stopwatch::start();
    let (mut sent, mut done, mut end) = (0, 0, 0);
    let mut announce = |channel: &mut Channel, from: u64| {
        if sent == requests as u32 {
            return;
        }
        let cycle = channel.last_arrival().map_or(from, |last| from.max(last + gap.max(1)));
        let (line, bank, row) = traffic(&timing, &mut random, sent);
        channel.announce(Arrival {
            cycle,
            owner: 0,
            line,
            bank,
            row,
            queue: Pending::Reads,
            partial: false,
            isochronous: false,
        });
        sent += 1;
    };
    (0..outstanding).for_each(|_| announce(&mut channel, 1));
    while done < requests {
        let now = channel.next_tick() / clocks.dclk.ticks();
        channel.step(&mut facts, &mut out);
        for outcome in out.drain(..) {
            if let Outcome::Data { cycle, .. } = outcome {
                done += 1;
                end = cycle;
                // A chase needs the data before it goes on; the others need the queue entry.
                announce(&mut channel, if outstanding == 1 { cycle } else { now + gap.max(1) });
            }
        }
    }
    Measured { seconds: watch.seconds(), requests, cycles: Some(end as f64 / requests as f64) }
}
