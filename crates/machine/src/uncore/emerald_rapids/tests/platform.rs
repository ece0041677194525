//! Power unit, system agent and traffic between devices, by hand.

use super::truth::Digest;
use super::{MICROSECOND, model, run, with};
use crate::emerald_rapids::EmeraldRapids;
use crate::ledger::Question;
use crate::uncore::emerald_rapids::Parameters;
use crate::uncore::emerald_rapids::request::Request;
use pericore_facts::emerald_rapids::{Kind, Target};
use pericore_parts::work::Worker;
use pericore_truth::emerald_rapids::Snapshot;
use pericore_workload::{MessageKind, Scenario};

fn of(at: &Snapshot, unit: &str, event: &str) -> u64 {
    let (event, subevent) = event.split_once('.').map_or((event, None), |(event, sub)| (event, Some(sub)));
    at.count(0, 0, Question::new(unit, event).subevent(subevent)).unwrap()
}

/// Runs a scenario of pauses for some microseconds. The power unit's clock has a cycle a nanosecond.
fn after(text: &str, microseconds: u64) -> Snapshot {
    let (mut model, _) = model(text);
    model.run_until_any(microseconds * MICROSECOND, &mut Digest::default());
    model.snapshot()
}

#[track_caller]
fn about(at: &Snapshot, event: &str, microseconds: u64) {
    let cycles = of(at, "pcu", event);
    assert!(cycles.abs_diff(microseconds * 1000) <= 2, "{event}: {cycles} cycles, expected {microseconds} us");
}

#[test]
fn bounds_count_as_long_as_they_hold() {
    let text = "phase a\n idle 10us\n thermal-limit 1500MHz\n hot core\nphase b\n idle 20us\n hot core\n";
    let at = after(text, 40);
    about(&at, "HOT_CORE", 30);
    about(&at, "THERMTHROT_CORE", 10);
    about(&at, "FREQ_MAX_LIMIT_THERMAL_CYCLES", 10);
    // Down at once, and up again with the second phase: 10 us each.
    about(&at, "FREQ_TRANS_CYCLES", 20);
}

#[test]
fn a_package_without_work_goes_to_sleep_in_steps() {
    let at = after("phase a\n workload chase:requests=1\nphase b\n idle 30us\n", 30);
    let awake = of(&at, "pcu", "PKG_RESIDENCY_C0_CYCLES");
    assert!((50..2000).contains(&awake), "{awake}");
    // After five microseconds in C2E it goes on, and the ways into both states, of one each, are in no residency.
    about(&at, "PKG_RESIDENCY_C2E_CYCLES", 4);
    assert_eq!(of(&at, "pcu", "FIVR_PS_PS1_CYCLES"), awake, "one core is a light load");
    assert_eq!(of(&at, "pcu", "MEMORY_PHASE_SHEDDING_CYCLES"), of(&at, "pcu", "PKG_RESIDENCY_C6_CYCLES") + 1000);
}

#[test]
fn devices_that_ask_for_more_than_goes_through_wait() {
    let (mut model, _) = model("two phase a\n idle 1us\n");
    let sink = &mut Digest::default();
    model.run_until_any(100, sink);
    // All of the first stack, and more than there are numbers for.
    (0..6 * 5000).step_by(6).for_each(|turn| {
        with(&mut model, sink, |model, readers| model.start_peers(0, MessageKind::PeerWrite, turn, readers))
    });
    let asked = of(&model.snapshot(), "irp", "P2P_INSERTS");
    assert!((1024..1100).contains(&asked), "{asked} lines");
    model.run_until_any(200 * MICROSECOND, sink);
    assert_eq!(of(&model.snapshot(), "irp", "IRP_ALL.EVICTS"), asked);
    let before = of(&model.snapshot(), "irp", "P2P_OCCUPANCY");
    model.run_until_any(201 * MICROSECOND, sink);
    assert_eq!(of(&model.snapshot(), "irp", "P2P_OCCUPANCY"), before, "none waits any more");
}

#[test]
fn a_core_that_its_timer_woke_stays_awake_for_work() {
    // One core is woken every 10/64 us and works for 2 us: a dozen are awake when all get work.
    let text = "phase a\n idle 30us\n wake every 10us\nphase b\n workload stream:threads=64,requests=64000\nphase c\n idle 20us\n";
    let (mut model, _) = model(text);
    let cores = |at: &Snapshot| {
        ["C0", "C3", "C6"]
            .map(|state| of(at, "pcu", &format!("POWER_STATE_OCCUPANCY_CORES_{state}")))
            .iter()
            .sum::<u64>()
    };
    let mut all_at_work = false;
    for microseconds in 1..100 {
        let before = model.snapshot();
        model.run_until_any(microseconds * MICROSECOND, &mut Digest::default());
        let at = model.snapshot();
        assert_eq!(cores(&at) - cores(&before), 64_000, "after {microseconds} us");
        let awake = "POWER_STATE_OCCUPANCY_CORES_C0";
        all_at_work |= of(&at, "pcu", awake) - of(&before, "pcu", awake) == 64_000;
    }
    assert!(model.finished() && all_at_work);
    assert!(of(&model.snapshot(), "pcu", "PKG_RESIDENCY_C6_CYCLES") > 10_000, "all of them sleep in the end");
}

#[test]
fn cores_woken_too_soon_are_demoted() {
    // 64 cores, one woken every 20/64 us: 64 in 20 us, of which all but those of the last 2 us sleep again.
    let at = after("phase a\n idle 20us\n sleep c6\n wake every 20us\n", 20);
    let demoted = of(&at, "pcu", "DEMOTIONS");
    assert!((56..=58).contains(&demoted), "{demoted}");
    assert!(of(&at, "pcu", "POWER_STATE_OCCUPANCY_CORES_C3") > 0);
    let at = after("phase a\n idle 20us\n sleep c6\n wake every 200us\n", 20);
    assert_eq!(of(&at, "pcu", "DEMOTIONS"), 0);
}

#[test]
fn states_share_the_time_among_them() {
    let (mut model, _) = model(include_str!("../../../../scenarios/package.scenario"));
    run(&mut model, &mut Digest::default());
    let at = model.snapshot();
    let sum = |events: &[&str]| events.iter().map(|event| of(&at, "pcu", event)).sum::<u64>();
    let cycles = of(&at, "pcu", "CLOCKTICKS");
    let package = sum(&["PKG_RESIDENCY_C0_CYCLES", "PKG_RESIDENCY_C2E_CYCLES", "PKG_RESIDENCY_C6_CYCLES"]);
    // Transitions between them take a microsecond each.
    assert!((1000..30_000).contains(&(cycles - package)), "{package} of {cycles}");
    assert_eq!(sum(&["FIVR_PS_PS0_CYCLES", "FIVR_PS_PS1_CYCLES", "FIVR_PS_PS2_CYCLES", "FIVR_PS_PS3_CYCLES"]), cycles);
    let cores = ["C0", "C3", "C6"].map(|state| of(&at, "pcu", &format!("POWER_STATE_OCCUPANCY_CORES_{state}")));
    assert_eq!(cores.iter().sum::<u64>(), 64 * cycles);
}

fn quiet() -> EmeraldRapids {
    let (mut model, _) = model("two idle");
    model.run_until_any(1, &mut Digest::default());
    model
}

#[test]
fn a_message_is_taken_and_answered() {
    let mut model = quiet();
    with(&mut model, &mut Digest::default(), |model, readers| {
        model.send_to_system(0, MessageKind::Register, 0, readers)
    });
    with(&mut model, &mut Digest::default(), |model, readers| model.send_to_system(0, MessageKind::Hold, 1, readers));
    model.run_until_any(MICROSECOND, &mut Digest::default());
    let at = model.snapshot();
    assert_eq!(of(&at, "ubox", "RACU_REQUESTS"), 1);
    let cycles = MICROSECOND / 28;
    // Two cycles in the ingress, four in the egress; the hold takes 200 ns, 500 cycles.
    assert_eq!(of(&at, "ubox", "M2U_MISC1.RxC_CYCLES_NE_CBO_NCS"), 2);
    assert_eq!(of(&at, "ubox", "M2U_MISC2.RxC_CYCLES_EMPTY_BL"), cycles - 2);
    assert_eq!(of(&at, "ubox", "M2U_MISC2.TxC_CYCLES_EMPTY_BL"), cycles - 4);
    assert_eq!(of(&at, "ubox", "M2U_MISC2.TxC_CYCLES_EMPTY_AK"), cycles);
    assert!(of(&at, "ubox", "PHOLD_CYCLES.ASSERT_TO_ACK").abs_diff(500) <= 1);
}

#[test]
fn an_interrupt_for_the_other_socket_crosses_a_link() {
    let mut model = quiet();
    with(&mut model, &mut Digest::default(), |model, readers| {
        model.send_to_system(0, MessageKind::Processor, 1, readers)
    });
    with(&mut model, &mut Digest::default(), |model, readers| {
        model.send_to_system(0, MessageKind::Processor, 2, readers)
    });
    model.run_until_any(MICROSECOND, &mut Digest::default());
    let at = model.snapshot();
    let taken = |socket| at.count(socket, 0, Question::new("ubox", "EVENT_MSG").subevent("IPI_RCVD"));
    assert_eq!((taken(0), taken(1)), (Some(1), Some(1)));
    assert_eq!(at.count(0, 1, Question::new("upi", "TxL_BASIC_HDR_MATCH").subevent("NCB")), Some(1));
}

#[test]
fn a_transfer_between_devices_waits_for_credits() {
    let mut model = quiet();
    // From the first stack to the second, on the same socket.
    with(&mut model, &mut Digest::default(), |model, readers| model.start_peers(0, MessageKind::PeerWrite, 0, readers));
    model.run_until_any(1000, &mut Digest::default());
    let at = model.snapshot();
    // Four shared credits, and the one that is kept for the destination.
    assert_eq!(of(&at, "m2pcie", "LOCAL_SHAR_P2P_CRD_TAKEN_0.M2IOSF1_NCB"), 4);
    assert_eq!(of(&at, "m2pcie", "LOCAL_DED_P2P_CRD_TAKEN_0.M2IOSF1_NCB"), 1);
    assert!(of(&at, "m2pcie", "LOCAL_SHAR_P2P_CRD_WAIT_0.M2IOSF1_NCB") > 0);
    model.run_until_any(3 * MICROSECOND, &mut Digest::default());
    let at = model.snapshot();
    let taken = ["SHAR", "DED"].map(|pool| of(&at, "m2pcie", &format!("LOCAL_{pool}_P2P_CRD_TAKEN_0.M2IOSF1_NCB")));
    assert_eq!(taken[0] + taken[1], 16);
    // The other stack receives them with the lines.
    let received = at.count(0, 1, Question::new("m2pcie", "P2P_SHAR_RECEIVED").subevent("LOCAL_NCB"));
    assert_eq!(received, Some(taken[0]));
    let written: u64 = (0..8)
        .map(|part| {
            at.count(0, 1, Question::new("iio", "DATA_REQ_BY_CPU").subevent(format!("PEER_WRITE.PART{part}").as_str()))
                .unwrap()
        })
        .sum();
    assert_eq!(written, 16 * 16, "a kilobyte in double words");
}

#[test]
fn requests_of_a_stack_wait_for_credits_towards_the_mesh() {
    let mut model = quiet();
    // Ten writes to even lines at once: the first address queue takes four, and four more every 16 cycles.
    for line in 0..10 {
        with(&mut model, &mut Digest::default(), |model, readers| {
            model.onto_mesh(Kind::DmaWriteNear, 0, 3, 2 * line, u16::MAX, readers)
        });
    }
    model.run_until_any(MICROSECOND / 10, &mut Digest::default());
    let at = model.snapshot();
    let of = |event: &str| at.count(0, 3, Question::new("irp", event)).unwrap();
    assert!(of("TxR2_AD0_STALL_CREDIT_CYCLES") > 0, "six of them wait for 16 or 32 cycles");
    assert_eq!(of("TxR2_AD0_STALL_CREDIT_CYCLES"), of("TxR2_AD01_STALL_CREDIT_CYCLES"));
    assert_eq!(of("TxR2_AD1_STALL_CREDIT_CYCLES"), 0);
    assert_eq!(at.count(0, 3, Question::new("m2pcie", "TxC_INSERTS_AD").subevent("AGT_1")), Some(10));
}

#[test]
fn a_line_that_a_device_is_about_to_write_can_be_lost() {
    let mut model = quiet();
    model.port_owns(0, 3, 77);
    let cha = crate::uncore::emerald_rapids::address::agent(77);
    let mut ask = |kind: Kind| {
        let request = Request::new(kind, 0, cha, 0, 5, 77, Target::Ddr);
        let request = model.pool.add(request);
        with(&mut model, &mut Digest::default(), |model, readers| model.snoop_ports(request, readers));
        model.pool.remove(request);
        model.snapshot()
    };
    // An eviction asks for nothing; a read takes the line, and the next one finds it gone.
    let lost = |at: &Snapshot| at.count(0, 3, Question::new("irp", "MISC1").subevent("LOST_FWD"));
    assert_eq!(lost(&ask(Kind::WritebackModified)), Some(0));
    assert_eq!(lost(&ask(Kind::DataRead)), Some(1));
    let at = ask(Kind::DataRead);
    assert_eq!(lost(&at), Some(1));
    assert_eq!(at.count(0, 3, Question::new("irp", "SNOOP_RESP").subevent("ALL_HIT_ES")), Some(1));
    assert_eq!(at.count(0, 3, Question::new("irp", "SNOOP_RESP").subevent("SNPDATA")), Some(1));
}

#[test]
fn the_family_has_settings_of_its_own() {
    let limits = Parameters::p8592().limits();
    let reads = |setting: &str| Scenario::parse(&format!("phase a\n  idle 1us\n  {setting}\n"), &limits).is_ok();
    let known = [
        "hot core",
        "hot memory",
        "peak-power",
        "cross-throttle hard",
        "vectors 512",
        "peer-read every 1us",
        "rdseed every 1us",
    ];
    assert!(known.into_iter().all(reads));
    // Values that there are not, and settings of other families.
    let unknown =
        ["hot head", "cross-throttle", "vectors 384", "peer-read 1us", "lock every 1us", "current-limit 2GHz"];
    assert!(!unknown.into_iter().any(reads));
}
