use super::{Inclusive, Turns};
use crate::core::Core;
use crate::llc::Llc;
use pericore_facts::LineState;
use pericore_workload::{Access, DeviceAim};

const LOAD: Access =
    Access { address: 0, page: 0, store: false, whole: false, blocking: false, aim: DeviceAim::Memory };

#[test]
fn threads_take_turns_until_the_caches_are_full() {
    // 64 lines: 96 misses.
    let mut turns = Turns::new(64 * 64, 2);
    let mut made = [0; 2];
    while let Some(thread) = turns.next() {
        made[thread] += 1;
        turns.made(Access { blocking: thread == 0, ..LOAD });
        turns.missed();
    }
    assert_eq!(made, [6, 90], "five rounds of 1 and 16, then 1 and 10");
}

#[test]
fn what_fits_ends_the_filling() {
    let mut turns = Turns::new(1 << 40, 1);
    let mut made = 0_u64;
    while turns.next().is_some() {
        turns.made(LOAD);
        if made < 100 {
            turns.missed();
        }
        made += 1;
    }
    assert!((65_536..70_000).contains(&made), "{made}");
    assert_eq!(Turns::new(1 << 20, 0).next(), None);
}

/// Of lines some of which always come from memory, no more than eight accesses for each line of the caches are made: of
/// 64 lines 512.
#[test]
fn what_never_fits_ends_too() {
    let mut turns = Turns::new(64 * 64, 1);
    let mut made = 0_u64;
    while turns.next().is_some() {
        turns.made(LOAD);
        if made.is_multiple_of(100) {
            turns.missed();
        }
        made += 1;
    }
    assert_eq!(made, 512);
}

/// Two sockets of two cores.
struct Two {
    cores: Vec<Core>,
    llcs: [Llc; 2],
}

impl Two {
    fn new() -> Self {
        Self { cores: (0..4).map(|_| Core::new(10)).collect(), llcs: [Llc::new(), Llc::new()] }
    }

    /// The state of a line in the LLC of a socket, and the cores that may hold it.
    fn kept(&self, socket: usize, line: u32) -> Option<(LineState, u8)> {
        let llc = &self.llcs[socket];
        llc.find(line).map(|way| (llc.state(way), llc.cores(way)))
    }
}

impl Inclusive<20, 2048> for Two {
    fn core(&mut self, core: u8) -> &mut Core {
        &mut self.cores[usize::from(core)]
    }

    fn socket_of(&self, core: u8) -> (u8, u8) {
        (core / 2, core / 2 * 2)
    }

    fn first_core(&self, socket: u8) -> u8 {
        socket * 2
    }

    fn sockets(&self) -> u8 {
        2
    }

    fn llc(&mut self, socket: u8, _: u32) -> &mut Llc {
        &mut self.llcs[usize::from(socket)]
    }
}

#[test]
fn a_line_that_two_cores_read_is_known_of_both_and_comes_from_memory_once() {
    let mut two = Two::new();
    assert_eq!([2, 3, 2].map(|core| two.warm_core(core, 7, false)), [true, false, false]);
    assert_eq!(two.kept(1, 7), Some((LineState::Exclusive, 0b11)));
    // The other socket takes it away.
    assert!(two.warm_core(0, 7, true));
    assert_eq!((two.kept(1, 7), two.cores[3].keeps(7)), (None, false));
}

#[test]
fn what_a_core_has_stored_to_is_modified_in_the_llc_once_another_reads_it() {
    let mut two = Two::new();
    two.warm_core(3, 7, true);
    assert_eq!(two.kept(1, 7), Some((LineState::Exclusive, 0b10)));
    two.warm_core(2, 7, false);
    assert_eq!(two.kept(1, 7), Some((LineState::Modified, 0b11)));
    // And a store takes it from both.
    two.warm_core(2, 7, true);
    assert_eq!((two.kept(1, 7).map(|(_, cores)| cores), two.cores[3].keeps(7)), (Some(0b01), false));
}

/// An L2 has 512 sets of 8 ways: of nine lines that are 512 apart the first must go.
#[test]
fn what_a_core_gives_up_goes_to_the_llc_and_is_no_longer_its_own() {
    let mut two = Two::new();
    two.warm_core(3, 0, true);
    two.warm_core(2, 0, true);
    for number in 1..=16 {
        two.warm_core(2, 512 * number, false);
    }
    assert_eq!(two.kept(1, 0), Some((LineState::Modified, 0)));
}

/// A stored line is dirty in the tracer's caches alone. When they give it up it lies in the L2, and beyond that in the
/// LLC.
#[test]
fn a_dirty_line_of_a_tracer_goes_to_the_l2_or_beyond() {
    let mut two = Two::new();
    two.warm_l2(2, 0, true);
    for number in 1..=16 {
        two.warm_l2(2, 512 * number, false);
    }
    assert_eq!(two.kept(1, 0).map(|(state, _)| state), Some(LineState::Exclusive));
    two.warm_l1_gives_up(2, 0);
    for number in 17..=32 {
        two.warm_l2(2, 512 * number, false);
    }
    assert_eq!(two.kept(1, 0).map(|(state, _)| state), Some(LineState::Modified));
}

/// A family that names no ways gives devices all: twenty lines of a set stay.
#[test]
fn devices_have_all_ways_by_default() {
    let mut two = Two::new();
    assert!((0..20).all(|number| two.warm_device(1, 2048 * number)));
    assert!((0..20).all(|number| two.kept(1, 2048 * number) == Some((LineState::Modified, 0))));
    assert!(!two.warm_device(1, 0));
}
