//! Levels that rise and fall.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::UnitInstance;
use pericore_hardware::signal::SignalSink;

use super::emitter::SignalMaker;
use super::level_signals::SignalLevel;
use super::lines::binding::Line;
use super::lines::levels::{DeepLine, LevelLines, LevelNumber};

impl<S: SignalSink> SignalMaker<'_, S> {
    /// One more of a level (`COMES`), or one less.
    #[inline]
    pub(super) fn level<const COMES: bool>(&mut self, level: LevelNumber, instance: UnitInstance, at: Tick) {
        let place = self.signals.levels.place(level, instance);
        let entries = &mut self.signals.levels.entries[place];
        let before = entries.live;
        entries.live = if COMES { before + 1 } else { before.wrapping_sub(1) };
        if entries.observed {
            let most = if COMES { before + 1 } else { before };
            self.report::<COMES>(level, instance, most.into(), at);
        }
    }

    /// Something that lasts begins, or ends.
    #[inline]
    pub(super) fn holds(&mut self, level: LevelNumber, instance: UnitInstance, on: bool, at: Tick) {
        if on { self.level::<true>(level, instance, at) } else { self.level::<false>(level, instance, at) }
    }

    /// Says that a level has come to `most` entries, or goes down from there.
    #[inline(never)]
    pub(super) fn report<const COMES: bool>(
        &mut self,
        level: LevelNumber,
        (socket, index): UnitInstance,
        most: u64,
        at: Tick,
    ) {
        let SignalLevel { lines: LevelLines { each, full, nonempty, deep }, room, .. } =
            &self.signals.levels.levels[usize::from(level.0)];
        let mut emit = |line: Line, tag: u64| {
            let wire = line.wire(self.signals.stride, socket, index);
            if COMES { self.sink.enter(wire, tag, at) } else { self.sink.leave(wire, tag, at) }
        };
        each.iter().flatten().for_each(|line| emit(*line, line.tag()));
        full.iter().filter(|_| most == *room).for_each(|line| emit(*line, line.tag()));
        nonempty.iter().filter(|_| most == 1).for_each(|line| emit(*line, line.tag()));
        deep.iter().filter(|_| most <= DeepLine::NUMBERS).for_each(|deep| emit(deep.line, deep.tag(most - 1)));
    }
}
