//! A program's accesses by hand: what each kind of access sends out, and that nothing else does.

use pericore_hardware::signal::Wiring;

use super::super::Parameters;
use super::evaluate::Counters;
use super::run;
use super::truth::{cases, differences};
use crate::emerald_rapids::EmeraldRapids;
use crate::ledger::Question;
use pericore_workload::{ProgramAccess, ProgramKind, ProgramSettings, ProgramSource};

/// Accesses of a program, as a list.
#[derive(Debug)]
struct List(std::vec::IntoIter<ProgramAccess>);

impl ProgramSource for List {
    fn next_access(&mut self) -> Option<ProgramAccess> {
        self.0.next()
    }
}

const fn access(kind: ProgramKind, thread: u32, line: u64) -> ProgramAccess {
    let (address, instructions) = (line * 64, line);
    ProgramAccess { address, size: 64, instructions, thread, process: 0, forked_from: None, kind, after: 0 }
}

/// Runs a program to its end; every count of the signals is the ledger's.
fn ran(parameters: &Parameters, accesses: &[ProgramAccess], settings: &str) -> EmeraldRapids {
    let family = pericore_catalog::family("emerald-rapids").unwrap();
    let settings = ProgramSettings::parse(settings).unwrap();
    let make = || {
        let mut wiring = Wiring::new(family, parameters.sockets.into());
        let list = accesses.to_vec();
        let source = Box::new(List(list.into_iter()));
        (EmeraldRapids::for_program(parameters.clone(), source, settings, &mut wiring).unwrap(), wiring)
    };
    let ((mut model, wiring), (_, own)) = (make(), make());
    let clocks = *model.clocks();
    let cases = cases(&wiring, &model.snapshot());
    let mut counters = Counters::new(own, cases, |unit| clocks.of_unit(unit).ticks());
    run(&mut model, &mut counters);
    let found = differences(&counters, &wiring, &model.snapshot(), 40);
    assert!(found.is_empty(), "{found:#?}");
    model
}

/// An event of the agents, over all of them.
fn agents(model: &EmeraldRapids, subevent: &str) -> u64 {
    let at = model.snapshot();
    (0..64).map(|cha| at.count(0, cha, Question::new("cha", "TOR_INSERTS").subevent(subevent)).unwrap()).sum()
}

/// Lines read from and written to memory by channel.
fn memory(model: &EmeraldRapids) -> Vec<[u64; 2]> {
    let at = model.snapshot();
    let count = |channel, subevent| at.count(0, channel, Question::new("imc", "CAS_COUNT").subevent(subevent)).unwrap();
    (0..8).map(|channel| [count(channel, "RD"), count(channel, "WR")]).collect()
}

fn total(model: &EmeraldRapids) -> [u64; 2] {
    memory(model).iter().fold([0, 0], |[reads, writes], [r, w]| [reads + r, writes + w])
}

#[test]
fn each_kind_of_access_sends_what_it_should() {
    let mut accesses: Vec<ProgramAccess> = Vec::new();
    accesses.extend((0..40).map(|line| access(ProgramKind::Load, 0, line)));
    accesses.extend((100..120).map(|line| ProgramAccess { size: 8, ..access(ProgramKind::Store, 1, line) }));
    // All of a line is stored to at once.
    accesses.extend((500..515).map(|line| access(ProgramKind::Store, 4, line)));
    accesses.extend((200..210).map(|line| access(ProgramKind::NonTemporal, 2, line)));
    accesses.extend((300..330).map(|line| access(ProgramKind::Fetch, 3, line)));
    accesses.push(ProgramAccess { size: 8, ..access(ProgramKind::NonTemporal, 2, 400) });
    // The core that has loaded a line owns it: no request.
    accesses.extend((0..40).map(|line| ProgramAccess { instructions: 9000, ..access(ProgramKind::Upgrade, 0, line) }));
    let model = ran(&Parameters::p8592(), &accesses, "prefetch=off");
    for (subevent, count) in [
        ("IA_DRD", 40),
        ("IA_RFO", 20),
        ("IA_ITOM", 15),
        ("IA_CRD", 30),
        ("IA_WCILF", 10),
        ("IA_WCIL", 1),
        ("IA", 116),
        ("IA_WBMTOI", 0),
        ("IO", 0),
    ] {
        assert_eq!(agents(&model, subevent), count, "{subevent}");
    }
    // What a part of a line is written to must be read first.
    let [reads, writes] = total(&model);
    assert_eq!((reads, writes), (91, 11));
}

#[test]
fn prefetches_have_opcodes_of_their_own() {
    let slowly = |line| ProgramAccess { instructions: line * 4000, ..access(ProgramKind::Load, 0, line) };
    let loads: Vec<ProgramAccess> = (0..64).map(slowly).collect();
    let model = ran(&Parameters::p8592(), &loads, "prefetch=on");
    let (demand, ahead) = (agents(&model, "IA_DRD"), agents(&model, "IA_DRD_PREF"));
    assert_eq!((demand + ahead, total(&model)), (64, [64, 0]), "each line of the page once");
    assert!(ahead > 56, "{demand} loads, {ahead} prefetches");
}

#[test]
fn a_cluster_has_its_own_memory() {
    // Thread 0 is on core 0, in the first of four clusters, whose channels are 0 and 1; thread 16 is in the second.
    let clusters = Parameters { clusters: 4, ..Parameters::p8592() };
    let loads: Vec<ProgramAccess> = (0..640).map(|line| access(ProgramKind::Load, 0, line)).collect();
    let model = ran(&clusters, &loads, "prefetch=off");
    let by_channel: Vec<u64> = memory(&model).iter().map(|[reads, _]| *reads).collect();
    assert_eq!((by_channel[0] + by_channel[1], by_channel[2..].iter().sum::<u64>()), (640, 0));
    // Its page lies on the node after its own.
    let model = ran(&clusters, &loads[..64], "prefetch=off,numa=remote");
    let by_channel: Vec<u64> = memory(&model).iter().map(|[reads, _]| *reads).collect();
    assert_eq!((by_channel[2] + by_channel[3], by_channel.iter().sum::<u64>()), (64, 64));
}

#[test]
fn the_other_socket_has_half_of_interleaved_pages() {
    let two = Parameters { sockets: 2, ..Parameters::p8592() };
    // Ten pages.
    let loads: Vec<ProgramAccess> = (0..640).map(|line| access(ProgramKind::Load, 0, line)).collect();
    let model = ran(&two, &loads, "prefetch=off,numa=interleave");
    assert_eq!((total(&model), agents(&model, "IA_DRD")), ([320, 0], 640), "socket 0 asks for all, and has half");
}
