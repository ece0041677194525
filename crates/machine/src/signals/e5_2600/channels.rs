//! The signals of memory channels.

use pericore_dram::{Command, Layout, MajorMode, MemoryState, Pending};
use pericore_engine::Tick;
use pericore_facts::ChannelFact;
use pericore_hardware::signal::{SignalSink, Wire, Wiring, WiringError};
use pericore_models::e5_2600::Parameters;

use super::level::Tagged;
use super::pulses::Pulses;
use crate::signals::levels::Levels;

/// Wires of one memory channel.
#[derive(Debug)]
pub struct ChannelWires {
    /// By command.
    commands: [(Pulses, u64); Command::COUNT],
    /// Pending reads, pending writes.
    queue: [Levels; 2],
    /// The same queues, while they are full.
    full: [Levels; 2],
    /// Reads answered from a pending write.
    read_hit: Wire,
    /// Writes that replace a pending write.
    write_hit: Wire,
    /// Major mode, with the tags of read, write and partial.
    mode: (Levels, [u64; MajorMode::COUNT]),
    /// Reads that close a row in use, with the tags of a read's and a write's row.
    preemption: (Wire, [u64; 2]),
    /// Clock enabled, with the tag of each rank.
    clock: (Wire, [u64; Layout::RANKS]),
    /// Throttled, with the tag of each rank.
    throttle: (Wire, [u64; Layout::RANKS]),
    /// All traffic stopped.
    critical: Wire,
    /// Self-refresh.
    self_refresh: Wire,
    /// All ranks powered down, fast exit and slow exit.
    all_down: [Wire; 2],
    /// Corrected errors.
    corrected: Wire,
    /// Entries of the queues, and what there can be.
    live: [u32; 2],
    capacity: [u32; 2],
    major: MajorMode,
}

impl ChannelWires {
    /// The instance that they belong to.
    pub const fn instance(&self) -> u16 {
        self.mode.0.instance()
    }

    /// Asks who listens. True if what stands must be said.
    pub fn listen<S: SignalSink>(&mut self, sink: &S) -> bool {
        self.commands.iter_mut().for_each(|(wire, _)| wire.listen(sink));
        let levels = self.queue.iter_mut().chain(&mut self.full).chain([&mut self.mode.0]);
        levels.fold(false, |new, wire| wire.listen(sink) | new)
    }

    /// Says what stands in the queues.
    #[cold]
    pub fn emit_occupancies<S: SignalSink>(&self, now: Tick, sink: &mut S) {
        for queue in 0..2 {
            let (live, full) = (self.live[queue], self.live[queue] == self.capacity[queue]);
            self.queue[queue].stand(&[(0, live)], now, sink);
            self.full[queue].stand(&[(0, u32::from(full))], now, sink);
        }
        self.mode.0.stand(&[(self.mode.1[self.major as usize], 1)], now, sink);
    }

    const fn of_state(&self, state: MemoryState) -> Tagged {
        match state {
            MemoryState::ClockOn(rank) => (self.clock.0, self.clock.1[rank as usize]),
            MemoryState::Throttled(rank) => (self.throttle.0, self.throttle.1[rank as usize]),
            MemoryState::Critical => (self.critical, 0),
            MemoryState::SelfRefresh => (self.self_refresh, 0),
            MemoryState::PoweredDown => (self.all_down[0], 0),
            MemoryState::DllOff => (self.all_down[1], 0),
        }
    }

    fn switch<S: SignalSink>(&self, at: Tick, state: MemoryState, on: bool, sink: &mut S) {
        let (wire, tag) = self.of_state(state);
        if on { sink.enter(wire, tag, at) } else { sink.leave(wire, tag, at) }
    }

    /// Something happens in the channel.
    #[inline(always)]
    pub fn read<S: SignalSink>(&mut self, at: Tick, fact: ChannelFact, sink: &mut S) {
        match fact {
            ChannelFact::Starts(ranks) => {
                self.mode.0.enter(self.mode.1[MajorMode::Read as usize], at, sink);
                (0..ranks).for_each(|rank| self.switch(at, MemoryState::ClockOn(rank), true, sink));
            }
            ChannelFact::Command(record) => {
                let (wire, tag) = &self.commands[record.command as usize];
                wire.emit(*tag, at, sink);
            }
            ChannelFact::Enters(queue) => self.comes(at, queue, sink),
            ChannelFact::Leaves(queue, _) => self.goes(at, queue, sink),
            ChannelFact::Stays(..) => {}
            ChannelFact::Forwards => sink.pulse(self.read_hit, 0, at, 1),
            ChannelFact::Merges => sink.pulse(self.write_hit, 0, at, 1),
            ChannelFact::Mode { from, to } => {
                self.mode.0.leave(self.mode.1[from as usize], at, sink);
                self.mode.0.enter(self.mode.1[to as usize], at, sink);
                self.major = to;
            }
            ChannelFact::Preempts(victim) => sink.pulse(self.preemption.0, self.preemption.1[victim as usize], at, 1),
            ChannelFact::State(state, on) => self.switch(at, state, on, sink),
            ChannelFact::Corrects => sink.pulse(self.corrected, 0, at, 1),
        }
    }

    #[inline]
    fn comes<S: SignalSink>(&mut self, at: Tick, queue: Pending, sink: &mut S) {
        let index = queue as usize;
        self.live[index] += 1;
        self.queue[index].enter(0, at, sink);
        if self.live[index] == self.capacity[index] {
            self.full[index].enter(0, at, sink);
        }
    }

    #[inline]
    fn goes<S: SignalSink>(&mut self, at: Tick, queue: Pending, sink: &mut S) {
        let index = queue as usize;
        self.queue[index].leave(0, at, sink);
        if self.live[index] == self.capacity[index] {
            self.full[index].leave(0, at, sink);
        }
        self.live[index] = self.live[index].saturating_sub(1);
    }
}

const RANK_NAMES: [&str; Layout::RANKS] = ["RANK0", "RANK1", "RANK2", "RANK3", "RANK4", "RANK5", "RANK6", "RANK7"];

/// Binds a channel of a socket.
pub fn bind_channel(
    wiring: &mut Wiring,
    socket: u16,
    channel: u16,
    parameters: &Parameters,
) -> Result<ChannelWires, WiringError> {
    let timing = &parameters.dram;
    let activate = (wiring.signal(socket, "imc", channel, "ACT_COUNT")?, 0);
    let precharge_all = (wiring.signal(socket, "imc", channel, "DRAM_PRE_ALL")?, 0);
    let mut subevent = |event, name| wiring.subevent(socket, "imc", channel, event, name);
    // In the order of `Command`.
    let commands = [
        activate,
        subevent("PRE_COUNT", "PAGE_MISS")?,
        subevent("PRE_COUNT", "PAGE_CLOSE")?,
        precharge_all,
        subevent("CAS_COUNT", "RD_REG")?,
        subevent("CAS_COUNT", "RD_UNDERFILL")?,
        subevent("CAS_COUNT", "WR_WMM")?,
        subevent("CAS_COUNT", "WR_RMM")?,
        subevent("DRAM_REFRESH", "HIGH")?,
        subevent("DRAM_REFRESH", "PANIC")?,
    ];
    let (mode, read) = subevent("MAJOR_MODES", "READ")?;
    let (write, partial) = (subevent("MAJOR_MODES", "WRITE")?.1, subevent("MAJOR_MODES", "PARTIAL")?.1);
    let isochronous = if parameters.isochronous_entries > 0 { subevent("MAJOR_MODES", "ISOCH")?.1 } else { 0 };
    let (preemption, preempt_read) = subevent("PREEMPTION", "RD_PREEMPT_RD")?;
    let preempt_write = subevent("PREEMPTION", "RD_PREEMPT_WR")?.1;
    let mut by_rank = |event| {
        let (wire, first) = subevent(event, RANK_NAMES[0])?;
        let mut tags = [first; Layout::RANKS];
        for (tag, name) in tags.iter_mut().zip(RANK_NAMES).take(timing.ranks.into()) {
            (_, *tag) = subevent(event, name)?;
        }
        Ok((wire, tags))
    };
    let (clock, throttle) = (by_rank("POWER_CKE_CYCLES")?, by_rank("POWER_THROTTLE_CYCLES")?);
    let mut signal = |name| wiring.signal(socket, "imc", channel, name);
    Ok(ChannelWires {
        commands: commands.map(Pulses::tagged),
        queue: [signal("rpq")?.into(), signal("wpq")?.into()],
        full: [signal("RPQ_CYCLES_FULL")?.into(), signal("WPQ_CYCLES_FULL")?.into()],
        read_hit: signal("WPQ_READ_HIT")?,
        write_hit: signal("WPQ_WRITE_HIT")?,
        mode: (mode.into(), [read, write, partial, isochronous]),
        preemption: (preemption, [preempt_read, preempt_write]),
        clock,
        throttle,
        critical: signal("POWER_CRITICAL_THROTTLE_CYCLES")?,
        self_refresh: signal("POWER_SELF_REFRESH")?,
        all_down: [signal("POWER_CHANNEL_PPD")?, signal("POWER_CHANNEL_DLLOFF")?],
        corrected: signal("ECC_CORRECTABLE_ERRORS")?,
        live: [0; 2],
        capacity: [timing.reads.into(), timing.writes.into()],
        major: MajorMode::Read,
    })
}
