//! A memory channel alone, in the place of the home agent: reads only, as in the peers' figures.

use pericore_machine::engine::{Clocks, Random};
use pericore_machine::ledger::{Ledger, Opcodes, Pending, Shape};
use pericore_machine::signal::Wire;
use pericore_machine::uncore::ChannelWires;
use pericore_machine::uncore::dram::{Arrival, BANKS, Channel, LINES_PER_ROW, Outcome, PowerWires, Timing};

use crate::Measured;
use crate::path::Nothing;
use crate::stopwatch::Stopwatch;

/// The next request's line, bank and row.
type Traffic = fn(&mut Random, u32) -> (u32, u8, u32);

fn anywhere(random: &mut Random, _: u32) -> (u32, u8, u32) {
    let draw = random.next();
    let (bank, row) = ((draw % BANKS as u64) as u8, (draw >> 8) as u32 & 0xFFFF);
    ((row << 4 | u32::from(bank)) << 7 | (draw >> 32) as u32 & 127, bank, row)
}

fn along(_: &mut Random, number: u32) -> (u32, u8, u32) {
    let above = number / LINES_PER_ROW as u32;
    (number, (above % BANKS as u32) as u8, above / BANKS as u32)
}

pub fn random(requests: u64) -> Measured {
    run(requests, anywhere, 22, 0)
}

pub fn random_32(requests: u64) -> Measured {
    run(requests, anywhere, 32, 0)
}

pub fn sequential(requests: u64) -> Measured {
    run(requests, along, 22, 0)
}

pub fn every_8(requests: u64) -> Measured {
    run(requests, anywhere, 22, 8)
}

pub fn chase(requests: u64) -> Measured {
    run(requests, anywhere, 1, 0)
}

/// Keeps `outstanding` requests in the channel, no two arriving in less than `gap` cycles.
fn run(requests: u64, traffic: Traffic, outstanding: u8, gap: u64) -> Measured {
    let clocks = Clocks::new(2700, 800).expect("the preset's clocks");
    let timing = Timing { reads: outstanding.max(22), ..Timing::ddr3_1600() };
    let shape = Shape {
        sockets: 1,
        slices: 1,
        homes: 1,
        channels: 1,
        reads: timing.reads.into(),
        writes: timing.writes.into(),
    };
    let mut ledger = Ledger::new(clocks, opcodes(), shape);
    let mut channel = Channel::new(0, clocks.dclk, &timing, silent());
    let mut random = Random::new(1, 0);
    let mut out = Vec::with_capacity(16);
    let watch = Stopwatch::start();
    let (mut sent, mut done, mut end) = (0, 0, 0);
    let mut announce = |channel: &mut Channel, from: u64| {
        if sent == requests as u32 {
            return;
        }
        let cycle = channel.last_arrival().map_or(from, |last| from.max(last + gap.max(1)));
        let (line, bank, row) = traffic(&mut random, sent);
        channel.announce(Arrival { cycle, owner: 0, line, bank, row, queue: Pending::Reads, partial: false });
        sent += 1;
    };
    (0..outstanding).for_each(|_| announce(&mut channel, 1));
    while done < requests {
        let now = channel.next_tick() / clocks.dclk.ticks();
        channel.step(&mut Nothing, &mut ledger, &mut out);
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

/// No request has one here.
fn opcodes() -> Opcodes {
    Opcodes::by_name(|_| Some(0)).expect("every name has a value")
}

fn silent() -> ChannelWires {
    let wire = Wire { instance: 0, signal: 0 };
    ChannelWires {
        commands: [(wire, 0); pericore_machine::ledger::Command::COUNT],
        queue: [wire; 2],
        full: [wire; 2],
        read_hit: wire,
        write_hit: wire,
        mode: (wire, [0; 3]),
        preemption: (wire, [0; 2]),
        power: PowerWires {
            clock: (wire, [0; 2]),
            throttle: (wire, [0; 2]),
            critical: wire,
            self_refresh: wire,
            all_down: [wire; 2],
            corrected: wire,
        },
    }
}
