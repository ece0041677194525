//! A program's accesses between the windows of a sample: they move lines between caches as they would, and take no
//! virtual time. Neither signals nor the truth see them.

use std::collections::VecDeque;

use pericore_workload::ProgramKind;

use super::buffers::{Cycles, FoundIn, WantedLine};
use super::issue::Want;
use super::{Program, Waiting};

/// Accesses that are known before they are made, so that the host can bring what they look up.
const AHEAD: usize = 32;

/// A model whose caches take a program's accesses by function.
pub trait ByFunction {
    /// The program, if there is one.
    fn program_mut(&mut self) -> Option<&mut Program>;

    /// The core of a hardware thread.
    fn core_number(&self, thread: u16) -> u16;

    /// The host is told that a core will look a line up.
    fn foresee(&self, core: u16, line: u32);

    /// What accesses take.
    fn cycles(&self) -> Cycles;

    /// Instructions that a core looks ahead of one that waits.
    fn window(&self) -> u64;

    /// A load, store or fetch that missed the first level.
    fn reach(&mut self, core: u16, line: u32, want: Want) -> FoundIn;

    /// True if a core's L2 has a line.
    fn holds(&mut self, core: u16, line: u32) -> bool;

    /// The L2's prefetchers bring a line that it does not have.
    fn fetch(&mut self, core: u16, line: u32, want: Want) -> FoundIn;

    /// The first level gives a dirty line up.
    fn give_up(&mut self, core: u16, line: u32);

    /// Stores around the caches.
    fn go_around(&mut self, core: u16, line: u32);

    /// A hardware thread that waits for an access goes on now.
    fn wake(&mut self, thread: u16);

    /// Passes over everything before the next window, and opens it; or comes to the program's end.
    fn open_window(&mut self) {
        if let Some(program) = self.program_mut() {
            program.close_window();
        }
        let mut coming = VecDeque::with_capacity(AHEAD);
        while let Some((thread, access)) = self.program_mut().and_then(Program::pass_over) {
            let core = self.core_number(thread as u16);
            self.foresee(core, access.line);
            coming.push_back((core, access));
            if coming.len() == AHEAD
                && let Some((core, access)) = coming.pop_front()
            {
                self.make(core, &access);
            }
        }
        for (core, access) in coming {
            self.make(core, &access);
        }
        let Some(program) = self.program_mut() else { return };
        program.open_window();
        let threads = program.slots.len() as u16;
        (0..threads).for_each(|thread| self.wake(thread));
    }

    /// Makes an access.
    fn make(&mut self, core: u16, access: &Waiting) {
        let line = access.line;
        let want = match access.kind {
            ProgramKind::Progress | ProgramKind::Unmap => return,
            ProgramKind::WriteBack => return self.give_up(core, line),
            ProgramKind::NonTemporal => return self.go_around(core, line),
            ProgramKind::Store if access.whole => Want::Whole,
            ProgramKind::Load => Want::Data,
            ProgramKind::Fetch => Want::Code,
            ProgramKind::Store | ProgramKind::Upgrade => Want::Own,
        };
        let (found, cycles, window) = (self.reach(core, line, want), self.cycles(), self.window());
        let Some(program) = self.program_mut() else { return };
        let (most, cpi) = (usize::from(program.settings.misses), program.settings.cycles);
        let taken = |instructions: u64| instructions.saturating_mul(cpi) / 1000;
        program.count_passed_over(found);
        let buffers = &mut program.buffers[usize::from(core)];
        buffers.pass(taken(access.instructions), taken(window), access.demand);
        let of = |line| WantedLine { line, to_store: want.stores() };
        let misses = buffers.access(most, of(line), found, access.demand, cycles);
        if want == Want::Whole {
            return;
        }
        let wanted = program.prefetches(core.into(), line, misses);
        let (lines, count) = wanted.unwrap_or_default();
        for &line in &lines[..count] {
            if self.holds(core, line)
                || !self.program_mut().is_some_and(|program| program.buffers[usize::from(core)].has_room(most))
            {
                continue;
            }
            let found = self.fetch(core, line, want);
            if let Some(program) = self.program_mut() {
                program.count_brought(found);
                program.buffers[usize::from(core)].prefetch(of(line), found, cycles);
            }
        }
    }
}
