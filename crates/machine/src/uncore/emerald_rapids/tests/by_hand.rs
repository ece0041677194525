//! What single requests, messages and pauses come to, by hand.

use super::super::agent::{FILTER_EXCLUSIVE, FILTER_SHARED};
use super::super::core::{EXCLUSIVE, MODIFIED, SHARED};
use super::super::event::Event;
use super::super::link::Packet;
use super::laws::sum;
use super::truth::Digest;
use super::{MICROSECOND, model, run, with};
use crate::emerald_rapids::EmeraldRapids;
use crate::ledger::Question;
use crate::uncore::emerald_rapids::address;
use pericore_facts::emerald_rapids::{Kind, LinkMessage};
use pericore_parts::work::Worker;
use pericore_workload::MessageKind;

fn quiet(machine: &str) -> EmeraldRapids {
    let (mut model, _) = model(machine);
    model.run_until_any(1, &mut Digest::default());
    model
}

fn go_on(model: &mut EmeraldRapids, microseconds: u64) {
    model.run_until_any(model.now() + microseconds * MICROSECOND, &mut Digest::default());
}

/// The state of a line in a core's L2.
fn state(model: &mut EmeraldRapids, core: u16, line: u32) -> Option<u8> {
    let l2 = model.l2s.at(core);
    l2.find(line).map(|way| l2.get(way).state)
}

/// A core's request, to its end.
fn request_of(model: &mut EmeraldRapids, kind: Kind, core: u16, line: u32) {
    with(model, &mut Digest::default(), |model, readers| model.request(kind, core, line, u16::MAX, readers));
    go_on(model, 3);
}

/// Intel's event file, EVENT_MSG: virtual legacy wires, interrupts of devices and of processors, doorbells, priorities;
/// RACU_DRNG: random numbers and seeds; RACU_REQUESTS: registers.
#[test]
fn each_message_for_the_system_agent_counts_as_what_it_is() {
    let kinds = [
        (MessageKind::LegacyWire, "EVENT_MSG.VLW_RCVD"),
        (MessageKind::Interrupt, "EVENT_MSG.MSI_RCVD"),
        (MessageKind::Processor, "EVENT_MSG.IPI_RCVD"),
        (MessageKind::Doorbell, "EVENT_MSG.DOORBELL_RCVD"),
        (MessageKind::Priority, "EVENT_MSG.INT_PRIO"),
        (MessageKind::RandomNumber, "RACU_DRNG.RDRAND"),
        (MessageKind::RandomSeed, "RACU_DRNG.RDSEED"),
        (MessageKind::Register, "RACU_REQUESTS"),
    ];
    let mut model = quiet("idle");
    let mut expected = [0; 8];
    for (index, (kind, event)) in kinds.into_iter().enumerate() {
        with(&mut model, &mut Digest::default(), |model, readers| model.send_to_system(0, kind, 0, readers));
        go_on(&mut model, 1);
        expected[index] += 1;
        let at = model.snapshot();
        assert_eq!(kinds.map(|(_, event)| sum(&at, "ubox", event)), expected, "{event}");
    }
}

/// Four links share the agents of a socket among them, and of a link's agents each second one uses the other virtual
/// network. The first of three messages goes past the queues.
#[test]
fn links_and_virtual_networks_take_turns_by_agent() {
    for (agent, link, network) in [(0_u8, 0, 0), (1, 1, 0), (3, 3, 0), (4, 0, 1), (5, 1, 1), (6, 2, 1), (9, 1, 0)] {
        let mut model = quiet("two idle");
        let tile = model.places.cha[usize::from(agent)];
        for _ in 0..3 {
            with(&mut model, &mut Digest::default(), |model, readers| {
                let packet = Packet::new(LinkMessage::ReadData);
                model.send_packet(0, agent, packet, tile, tile, 0, Event::LinkIdle.of(0), readers)
            });
        }
        go_on(&mut model, 1);
        let at = model.snapshot();
        for (port, vn) in (0..4).flat_map(|port| [(port, 0), (port, 1)]) {
            let question = Question::new("m3upi", ["RxC_INSERTS_VN0", "RxC_INSERTS_VN1"][vn]).subevent("AD_REQ");
            let waited = if (port, vn) == (link, network) { 2 } else { 0 };
            assert_eq!(at.count(0, port, question), Some(waited), "agent {agent}: link {port}, VN{vn}");
        }
    }
}

/// Seventeen lines of one set of a snoop filter of sixteen ways.
fn lines() -> impl Iterator<Item = u32> {
    (0..17).map(|number| number << 16)
}

/// SF_EVICTION: entries that gave way; CORE_SNP.EVICT: snoops of one core or of several for them. A core that has
/// dropped its shared copy, of which it says nothing, is not snooped.
#[test]
fn an_entry_that_gives_way_takes_the_copies_with_it() {
    for (sharers, snoops) in [(0, [0, 0]), (1, [1, 0]), (2, [0, 1]), (5, [0, 1])] {
        let mut model = quiet("idle");
        for (core, line) in (0..sharers).flat_map(|core| lines().take(16).map(move |line| (core, line))) {
            model.l2s.at(core).fill(line, SHARED);
        }
        for line in lines() {
            with(&mut model, &mut Digest::default(), |model, readers| {
                model.filter_add(0, 0, line, FILTER_SHARED, 0, readers)
            });
        }
        go_on(&mut model, 3);
        let at = model.snapshot();
        assert_eq!(sum(&at, "cha", "SF_EVICTION.S_STATE"), 1);
        assert_eq!(["EVICT_ONE", "EVICT_GTONE"].map(|of| sum(&at, "cha", &format!("CORE_SNP.{of}"))), snoops);
        for core in 0..sharers {
            assert_eq!(lines().filter(|&line| state(&mut model, core, line).is_some()).count(), 15, "core {core}");
        }
        assert_eq!(sum(&at, "m2m", "IMC_WRITES.ALL"), 0, "memory has what is shared");
    }
}

/// The owner of a line is snooped whether it still has it or not, and what it has modified goes to memory.
#[test]
fn an_owners_entry_that_gives_way_writes_what_was_modified() {
    for (held, [modified, exclusive]) in [(None, [0, 1]), (Some(EXCLUSIVE), [0, 1]), (Some(MODIFIED), [1, 0])] {
        let mut model = quiet("idle");
        for line in lines() {
            held.filter(|_| line != 16 << 16).map(|state| model.l2s.at(3).fill(line, state));
            with(&mut model, &mut Digest::default(), |model, readers| {
                model.filter_add(0, 0, line, FILTER_EXCLUSIVE, 3, readers)
            });
        }
        go_on(&mut model, 3);
        let at = model.snapshot();
        let of = |event: &str| sum(&at, "cha", event);
        assert_eq!([of("SF_EVICTION.M_STATE"), of("SF_EVICTION.E_STATE")], [modified, exclusive], "{held:?}");
        assert_eq!([of("CORE_SNP.EVICT_ONE"), of("CORE_SNP.EVICT_GTONE")], [1, 0], "{held:?}");
        assert_eq!(sum(&at, "m2m", "IMC_WRITES.ALL"), modified, "{held:?}");
    }
}

/// What a core may do with a line that nobody else has: data is for writing later without another request, code is not.
#[test]
fn a_line_comes_with_the_rights_that_were_wanted() {
    for (kind, rights) in [
        (Kind::DataRead, EXCLUSIVE),
        (Kind::DataPrefetch, EXCLUSIVE),
        (Kind::PageWalk, EXCLUSIVE),
        (Kind::CodeRead, SHARED),
        (Kind::CodePrefetch, SHARED),
        (Kind::Ownership, MODIFIED),
        (Kind::OwnershipPrefetch, MODIFIED),
        (Kind::FullStore, MODIFIED),
    ] {
        let mut model = quiet("idle");
        request_of(&mut model, kind, 3, 0x1234);
        assert_eq!(state(&mut model, 3, 0x1234), Some(rights), "{kind:?}");
    }
}

/// One core may write, or several may read: a store takes the line, a load leaves both a copy, and the next store finds
/// two of them.
#[test]
fn a_line_goes_from_core_to_core() {
    let mut model = quiet("idle");
    let states = |model: &mut EmeraldRapids| [3, 7, 9].map(|core| state(model, core, 0x1234));
    request_of(&mut model, Kind::DataRead, 3, 0x1234);
    assert_eq!(states(&mut model), [Some(EXCLUSIVE), None, None]);
    request_of(&mut model, Kind::Ownership, 9, 0x1234);
    assert_eq!(states(&mut model), [None, None, Some(MODIFIED)]);
    request_of(&mut model, Kind::DataRead, 7, 0x1234);
    assert_eq!(states(&mut model), [None, Some(SHARED), Some(SHARED)]);
    let before = sum(&model.snapshot(), "cha", "CORE_SNP.CORE_GTONE");
    request_of(&mut model, Kind::Ownership, 3, 0x1234);
    assert_eq!(states(&mut model), [Some(MODIFIED), None, None]);
    assert_eq!(sum(&model.snapshot(), "cha", "CORE_SNP.CORE_GTONE") - before, 1);
    // Memory was read once, for the first of them.
    assert_eq!(sum(&model.snapshot(), "imc", "CAS_COUNT.RD"), 1);
}

/// Of eight requests of a stack's devices, the first three and the last are reads; its driver looks at the line that
/// was written last.
#[test]
fn a_driver_looks_at_what_its_device_has_written() {
    let mut model = quiet("idle");
    model.goal = u64::MAX;
    let unwritten = model.stacks[0].written;
    for turn in 1..=24 {
        with(&mut model, &mut Digest::default(), |model, readers| model.device(0, readers));
        let last = (1..=turn).rev().find(|turn| (4..=7).contains(&(turn % 8)));
        // Its buffers lie 16 MB below the end of the socket's memory, from their end on.
        let line = last.map_or(unwritten, |turn| (1 << address::REGION_BITS) - 1 - (1 << 18) - turn);
        assert_eq!(model.stacks[0].written, line, "after {turn}");
    }
}

/// Of two sockets, each leaves four entries of a table of requests to what comes from the other, or both might wait for
/// each other for ever; a socket on its own uses them all.
#[test]
fn four_entries_are_kept_for_the_other_socket() {
    const LINE: u32 = 0x1234;
    for (machine, free, goes) in
        [("idle", 1, true), ("idle", 0, false), ("two idle", 5, true), ("two idle", 4, false), ("two idle", 1, false)]
    {
        let mut model = quiet(machine);
        let cha = address::agent(LINE);
        for other in 0..u32::from(model.parameters.tor_entries) - free {
            model.agent(0, cha).take_entry(1 << 20 | other, 0);
        }
        request_of(&mut model, Kind::DataRead, 3, LINE);
        assert_eq!(sum(&model.snapshot(), "cha", "TOR_INSERTS.IA"), u64::from(goes), "{machine}: {free} are free");
    }
}

/// Each tenth read of a channel has an error while the phase says so, and none afterwards. 4,096 lines over sixteen
/// halves of channels; the L2's prefetcher runs some lines past their end.
#[test]
fn errors_of_memory_are_those_of_their_phase() {
    let workload = "workload stream:requests=4096,threads=1,footprint=256k,read=100";
    let errors = |text: &str| {
        let (mut model, _) = model(text);
        run(&mut model, &mut Digest::default());
        sum(&model.snapshot(), "imc", "ECC_CORRECTABLE_ERRORS")
    };
    let with = errors(&format!("phase a\n {workload}\n memory-error every 10reads\nphase b\n {workload}\n"));
    assert!((393..=411).contains(&with), "{with} of 4096 reads");
    assert_eq!(errors(&format!("phase a\n {workload}\nphase b\n {workload}\n")), 0);
    let later = errors(&format!("phase a\n {workload}\nphase b\n idle 5us\n memory-error every 10reads\n"));
    assert_eq!(later, 0, "a pause reads nothing");
}

/// The data clock of DDR5-5600 has 2,800 cycles a microsecond.
fn cycles_of_memory(text: &str, microseconds: u64, event: &str) -> [u64; 8] {
    let (mut model, _) = model(text);
    model.run_until_any(microseconds * MICROSECOND, &mut Digest::default());
    let (event, subevent) = event.split_once('.').map_or((event, None), |(event, sub)| (event, Some(sub)));
    let at = model.snapshot();
    std::array::from_fn(|channel| at.count(0, channel as u16, Question::new("imc", event).subevent(subevent)).unwrap())
}

/// POWER_SELF_REFRESH: after a microsecond of rest where a phase asks for it. Where none does, memory rests once the
/// package has gone to sleep, which takes it five microseconds and the ways of one each into two states.
#[test]
fn memory_refreshes_itself_while_nobody_needs_it() {
    let requested = cycles_of_memory("phase a\n idle 30us\n self-refresh after 1us\n", 30, "POWER_SELF_REFRESH");
    assert!(requested.iter().all(|cycles| (28 * 2800..=29 * 2800 + 10).contains(cycles)), "{requested:?}");
    let asleep =
        cycles_of_memory("phase a\n workload chase:requests=1\nphase b\n idle 30us\n", 30, "POWER_SELF_REFRESH");
    assert!(asleep.iter().all(|cycles| (20 * 2800..=25 * 2800).contains(cycles)), "{asleep:?}");
    let awake = cycles_of_memory("phase a\n workload chase:requests=100000,footprint=64k\n", 30, "POWER_SELF_REFRESH");
    assert_eq!(awake, [0; 8]);
}

/// Requests wait for the share of the time that a phase says: of one rank, of all, or because memory is too hot.
#[test]
fn throttled_memory_waits_for_its_share_of_the_time() {
    for (setting, event, share) in [
        ("throttle ranks 50%", "POWER_THROTTLE_CYCLES.SLOT0", 50),
        ("throttle ranks 25%", "POWER_THROTTLE_CYCLES.SLOT0", 25),
        ("critical 60%", "POWER_CRIT_THROTTLE_CYCLES.SLOT0", 60),
        ("critical 60%", "POWER_THROTTLE_CYCLES.SLOT0", 0),
        ("throttle ranks 50%", "POWER_CRIT_THROTTLE_CYCLES.SLOT0", 0),
    ] {
        let busy = "workload chase:requests=1000000,footprint=64M";
        let waits = cycles_of_memory(&format!("phase a\n {busy}\n {setting}\n"), 100, event);
        let expected = 100 * 2800 * share / 100;
        assert!(waits.iter().all(|&cycles| cycles.abs_diff(expected) <= 2 * 2800), "{setting}, {event}: {waits:?}");
    }
}
