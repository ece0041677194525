//! The channel alone: the standards under random traffic, and the figures of other simulators.

mod modes;

use std::sync::Arc;

use pericore_engine::{Period, Random};

use super::candidates::Candidates;
use super::checker::{self, DDR3_1600K, DDR4_3200AA, DDR5_4800B, DDR5_5600B, Standard};
use super::{Arrival, Channel, Observer, Outcome, Sent, Timing};
use crate::facts::{Command, CommandRecord, MajorMode, MemoryState, Pending};

/// Keeps the commands, and how many requests each queue holds; changes of mode and of power, and what was preempted.
#[derive(Default)]
struct Log {
    commands: Vec<CommandRecord>,
    held: [i32; 2],
    modes: Vec<(u64, MajorMode, bool)>,
    states: Vec<(u64, MemoryState, bool)>,
    preempted: Vec<Pending>,
}

impl Observer for Log {
    fn command(&mut self, sent: &Sent) {
        self.commands.push(sent.record);
    }
    fn enters(&mut self, queue: Pending, _: bool, _: bool, _: u64) {
        self.held[queue as usize] += 1;
    }
    fn leaves(&mut self, queue: Pending, _: bool, _: u64, _: u64) {
        self.held[queue as usize] -= 1;
    }
    fn begins(&mut self, _: u8) {}
    fn forwards(&mut self, _: u64) {}
    fn merges(&mut self, _: u64) {}
    fn changes_mode(&mut self, _: MajorMode, to: MajorMode, preempts: bool, cycle: u64) {
        self.modes.push((cycle, to, preempts));
    }
    fn preempts(&mut self, what: Pending, _: u64) {
        self.preempted.push(what);
    }
    fn state(&mut self, state: MemoryState, on: bool, cycle: u64) {
        self.states.push((cycle, state, on));
    }
    fn corrects(&mut self, _: u64) {}
}

/// A cycle is two ticks.
const CLOCK: Period = Period::new(2);

/// What the channel has kept of its candidates is what it would find if it knew nothing.
fn keeps_the_best_candidates(channel: &Channel, now: u64) {
    let (lane, floor) = channel.serving(now + 1);
    let some = !(channel.power.blocked | channel.refresh.blocked());
    let best = |mut from: Candidates| from.best(lane, some, &channel.banks, channel.lane(lane), floor);
    assert_eq!(best(channel.candidates.clone()), best(Candidates::new()), "after cycle {now}");
}

/// Sends mixed traffic with pauses until all is answered, and checks every command.
fn keeps_the_standard(timing: &Timing, standard: &Standard, seed: u64) {
    let banks = u64::from(timing.ranks * timing.banks_per_rank());
    let mut channel = Channel::new(CLOCK, &Arc::new(timing.clone()));
    let (mut random, mut log, mut out) = (Random::new(seed, 0), Log::default(), Vec::new());
    let (mut waiting, mut from, mut credits) = (6000_u32, 1, [timing.reads, timing.writes]);
    while waiting > 0 || !channel.is_idle() {
        // Traffic comes and goes, so that refreshes are put off, ranks sleep, and both major modes are seen.
        let writes = [10, 50, 90][(waiting / 700 % 3) as usize];
        let queue = if random.below(100) < writes { Pending::Writes } else { Pending::Reads };
        if waiting > 0 && credits[queue as usize] > 0 {
            credits[queue as usize] -= 1;
            waiting -= 1;
            let pause = if random.below(400) == 0 { 3000 } else { 1 + random.below(8) };
            from = channel.last_arrival().map_or(from, |last| from.max(last + pause));
            let (bank, row) = (random.below(banks) as u8, random.below(4) as u32);
            let line = (row << 6 | u32::from(bank)) << 3 | random.below(8) as u32;
            let partial = queue == Pending::Writes && random.below(5) == 0;
            channel.announce(Arrival { cycle: from, owner: 0, line, bank, row, queue, partial, isochronous: false });
        }
        let now = channel.next_tick() / CLOCK.ticks();
        channel.step(&mut log, &mut out);
        keeps_the_best_candidates(&channel, now);
        from = from.max(now + 1);
        for outcome in out.drain(..) {
            match outcome {
                Outcome::Data { .. } => credits[0] += 1,
                Outcome::WriteCredit { .. } => credits[1] += 1,
                Outcome::Posted { .. } => {}
            }
        }
    }
    assert_eq!((log.held, credits), ([0, 0], [timing.reads, timing.writes]), "everything inserted is removed");
    checker::check(standard, &log.commands, Some(standard.refi));
}

#[test]
fn every_generation_keeps_its_standard() {
    for seed in 0..3 {
        keeps_the_standard(&Timing::ddr3_1600(), &DDR3_1600K, seed);
        keeps_the_standard(&Timing::ddr4_3200(), &DDR4_3200AA, seed);
        keeps_the_standard(&Timing::ddr5_4800(), &DDR5_4800B, seed);
        keeps_the_standard(&Timing::ddr5_5600(), &DDR5_5600B, seed);
    }
}

#[test]
fn rows_that_close_behind_their_last_request_keep_the_standard() {
    for seed in 0..3 {
        for (timing, standard) in [(Timing::ddr3_1600(), &DDR3_1600K), (Timing::ddr5_5600(), &DDR5_5600B)] {
            keeps_the_standard(&Timing { closes_pages: true, ..timing }, standard, seed);
        }
    }
}

/// Two reads of a row, which is closed behind the second, and one of another row of the bank. DDR3-1600: 11 cycles from
/// an activate to the read, four from read to read; the row may close at 28 (tRAS), and another open at 39 (tRC).
#[test]
fn the_last_read_of_a_row_closes_it() {
    let timing = Timing { closes_pages: true, ..Timing::ddr3_1600() };
    let mut channel = Channel::new(CLOCK, &Arc::new(timing));
    let (mut log, mut out) = (Log::default(), Vec::new());
    for (cycle, row) in [(1, 5), (2, 5), (30, 6)] {
        let (line, queue) = (cycle as u32, Pending::Reads);
        channel.announce(Arrival { cycle, owner: 0, line, bank: 0, row, queue, partial: false, isochronous: false });
    }
    while channel.next_tick() < 60 * CLOCK.ticks() {
        channel.step(&mut log, &mut out);
    }
    let sent: Vec<_> = log.commands.iter().map(|sent| (sent.cycle, sent.command, sent.row, sent.closes)).collect();
    let expected = [
        (1, Command::Activate, 5, false),
        (12, Command::Read, 5, false),
        (16, Command::Read, 5, true),
        (40, Command::Activate, 6, false),
        (51, Command::Read, 6, true),
    ];
    assert_eq!(sent, expected);
}

/// A write of a part of a line reads the rest first, from the row that it then writes: one activate does for both.
#[test]
fn a_row_stays_open_from_the_read_to_the_write_of_a_part_of_a_line() {
    let timing = Timing { closes_pages: true, ..Timing::ddr3_1600() };
    let mut channel = Channel::new(CLOCK, &Arc::new(timing));
    let (mut log, mut out) = (Log::default(), Vec::new());
    let queue = Pending::Writes;
    channel.announce(Arrival {
        cycle: 1,
        owner: 0,
        line: 1,
        bank: 0,
        row: 5,
        queue,
        partial: true,
        isochronous: false,
    });
    while !channel.is_idle() {
        channel.step(&mut log, &mut out);
    }
    let sent: Vec<_> = log.commands.iter().map(|sent| (sent.command, sent.closes)).collect();
    let expected = [(Command::Activate, false), (Command::Underfill, false), (Command::WriteOpportunistic, true)];
    assert_eq!(sent, expected);
}

#[test]
fn any_number_of_ranks_keeps_the_standard() {
    for ranks in [1, 4, 8] {
        let timing = Timing { ranks, ..Timing::ddr3_1600() };
        keeps_the_standard(&timing, &Standard { ranks: ranks.into(), ..DDR3_1600K }, 7);
    }
}

/// After the last read writes wait for `write_patience`, unless there are too many of them.
#[test]
fn writes_that_were_to_wait_go_out_when_they_are_too_many() {
    let timing = Timing { write_high: 2, write_low: 1, write_patience: 1000, ..Timing::ddr3_1600() };
    let mut channel = Channel::new(CLOCK, &Arc::new(timing));
    let (mut log, mut out) = (Log::default(), Vec::new());
    let (reads, writes) = (Pending::Reads, Pending::Writes);
    for (cycle, bank, row, queue) in [(1, 0, 1, reads), (50, 0, 2, writes), (60, 1, 1, writes)] {
        let line = cycle as u32;
        channel.announce(Arrival { cycle, owner: 0, line, bank, row, queue, partial: false, isochronous: false });
    }
    while channel.next_tick() < 70 * CLOCK.ticks() {
        channel.step(&mut log, &mut out);
    }
    let sent: Vec<_> = log.commands.iter().map(|sent| (sent.cycle, sent.command, sent.bank)).collect();
    let first = [(1, Command::Activate, 0), (12, Command::Read, 0)];
    let drained = [(60, Command::Activate, 1), (61, Command::PrechargeMiss, 0)];
    assert_eq!(sent, [first, drained].concat());
}

/// Cycles of a read with so many outstanding, which `place` gives bank and row by its number.
fn cycles_per_read(outstanding: u32, mut place: impl FnMut(u32) -> (u8, u32)) -> f64 {
    // As the other simulators: FR-FCFS, queues of 32, rows stay open until another is wanted.
    let timing = Timing { page_idle: 100_000, ..Timing::ddr4_3200() };
    let mut channel = Channel::new(CLOCK, &Arc::new(timing));
    let (mut log, mut out) = (Log::default(), Vec::new());
    let (requests, mut sent, mut done, mut end) = (40_000, 0, 0, 0);
    let mut announce = |channel: &mut Channel, from: u64| {
        let cycle = channel.last_arrival().map_or(from, |last| from.max(last + 1));
        let (bank, row) = place(sent);
        let queue = Pending::Reads;
        channel.announce(Arrival { cycle, owner: 0, line: sent, bank, row, queue, partial: false, isochronous: false });
        sent += 1;
    };
    (0..outstanding).for_each(|_| announce(&mut channel, 1));
    while done < requests {
        let now = channel.next_tick() / CLOCK.ticks();
        channel.step(&mut log, &mut out);
        for outcome in out.drain(..) {
            if let Outcome::Data { cycle, .. } = outcome {
                (done, end) = (done + 1, cycle);
                // A chase needs the data before it goes on; the others need the queue entry.
                announce(&mut channel, if outstanding == 1 { cycle } else { now + 1 });
            }
        }
    }
    checker::check(&DDR4_3200AA, &log.commands, Some(DDR4_3200AA.refi));
    end as f64 / f64::from(requests)
}

fn anywhere() -> impl FnMut(u32) -> (u8, u32) {
    let mut random = Random::new(1, 0);
    move |_| (random.below(32) as u8, random.below(1 << 16) as u32)
}

/// published-numbers: Ramulator, DRAMsim3 and DRAMSys on one channel of DDR4-3200 22-22-22 with two ranks.
#[test]
fn ddr4_takes_as_many_cycles_as_in_other_simulators() {
    let random = cycles_per_read(32, anywhere());
    assert!((4.68..=5.04).contains(&random), "random: {random}");
    // Along a row of 128 lines, then the next bank, which is of the next bank group.
    let sequential = cycles_per_read(32, |number| ((number / 128 % 32) as u8, number / 4096));
    assert!((6.0..=7.5).contains(&sequential), "sequential: {sequential}");
    let chase = cycles_per_read(1, anywhere());
    assert!((70.5..=74.3).contains(&chase), "chase: {chase}");
}
