use super::{MOST_CYCLES, Program};
use pericore_workload::{Nodes, ProgramAccess, ProgramKind, ProgramSettings, ProgramSource};

/// Threads that say they have begun so many instructions.
#[derive(Debug)]
struct Threads(std::vec::IntoIter<(u32, u64)>);

impl ProgramSource for Threads {
    fn next_access(&mut self) -> Option<ProgramAccess> {
        let (thread, instructions) = self.0.next()?;
        let kind = ProgramKind::Progress;
        let (process, forked_from, after) = (0, None, 0);
        Some(ProgramAccess { address: 0, size: 0, instructions, thread, process, forked_from, kind, after })
    }
}

/// The cycles between the accesses of the only hardware thread.
fn cycles<const N: usize>(settings: &str, accesses: [(u32, u64); N]) -> Vec<u64> {
    let source = Box::new(Threads(Vec::from(accesses).into_iter()));
    let settings = ProgramSettings::parse(settings).unwrap();
    let nodes = Nodes { count: 1, bytes: 1 << 30, span: 1 << 30 };
    let mut program = Program::new(source, settings, [0].into_iter(), 1, nodes);
    let mut cycles = Vec::new();
    while program.front(0).is_some() {
        cycles.push(program.cycles(0));
        program.pop(0);
    }
    cycles
}

#[test]
fn instructions_take_their_cycles() {
    assert_eq!(cycles("cpi=0.7", [(0, 1), (0, 2), (0, 3), (0, 3), (1, 10)]), [0, 1, 1, 0, 7]);
}

#[test]
fn a_trace_of_more_instructions_than_there_is_time_for_does_not_turn_it_back() {
    let all = [(0, u64::MAX), (0, 5), (1, 1 << 63), (2, 1000)];
    for settings in ["cpi=100", ""] {
        assert_eq!(cycles(settings, all), [MOST_CYCLES, 0, 0, 0], "{settings}");
    }
    let half = MOST_CYCLES / 2 + 1;
    assert_eq!(cycles("cpi=1", [(0, half), (0, 2 * half), (0, 3 * half)]), [half, MOST_CYCLES - half, 0]);
}

/// A machine of two hardware threads whose program has one thread: the other one reads ahead, for 64 steps of 2^20
/// instructions at most, and the program goes on from there.
#[test]
fn an_idle_thread_does_not_read_a_quiet_program_to_its_end() {
    let source = Box::new(Threads((1..1000_u64).map(|step| (0, step << 20)).collect::<Vec<_>>().into_iter()));
    let nodes = Nodes { count: 1, bytes: 1 << 30, span: 1 << 30 };
    let mut program = Program::new(source, ProgramSettings::default(), [0, 0].into_iter(), 1, nodes);
    let progress = |program: &Program| program.counts().of(ProgramKind::Progress);
    assert!(program.front(1).is_none());
    assert_eq!(progress(&program), 64);
    assert!(program.front(0).is_some());
    program.pop(0);
    assert_eq!(progress(&program), 65, "one more for the other thread");
}

/// A thread that sleeps until a tick is woken then by what is under way already, unless that comes too late.
#[test]
fn a_thread_is_woken_by_the_soonest_of_what_is_under_way() {
    let source = Box::new(Threads(Vec::new().into_iter()));
    let nodes = Nodes { count: 1, bytes: 1 << 30, span: 1 << 30 };
    let mut program = Program::new(source, ProgramSettings::default(), [0].into_iter(), 1, nodes);
    for (now, at, needs) in [
        (0, 100, true),
        (10, 100, false),
        (10, 120, false),
        (10, 50, true),
        // The one of tick 50 has been there.
        (50, 60, true),
    ] {
        assert_eq!(program.set_alarm(0, now, at), needs, "at {now}, for {at}");
    }
}
