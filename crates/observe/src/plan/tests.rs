//! Plans for the E5-2600, checked against hand-written accesses from the guide's tables.

use pericore_registers::{Address, Operation};

use super::*;
use crate::discover::discover;
use crate::testing::{CPUS, Fake, e5_2600};

fn plan(events: &str) -> Result<Plan, PlanError> {
    let topology = discover(&mut Fake::two_sockets(), e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let mut selection = Selection::new(e5_2600());
    selection.add_events(events).unwrap();
    Plan::new(&topology, selection)
}

fn accesses(steps: &[Step]) -> Vec<String> {
    let place = |address: Address| match address {
        Address::Msr { cpu, msr } => format!("{cpu}:{msr:03x}"),
        Address::Pci { bdf, offset } => format!("{:x}:{:x}.{:x}+{offset:x}", bdf.bus, bdf.device, bdf.function),
        Address::Mmio { physical } => format!("{physical:x}"),
    };
    let text = |step: &Step| match step.operation {
        Operation::Read { address, .. } => place(address),
        Operation::Write { address, value, .. } => format!("{}={value:x}", place(address)),
    };
    steps.iter().map(text).collect()
}

#[test]
fn a_cbo_follows_the_guides_letters() {
    let plan = plan("cbo0/LLC_VICTIMS.M_STATE/,cbo0/TOR_OCCUPANCY.OPCODE,opc=DRd/").unwrap();
    let socket = &plan.sockets[1];
    assert_eq!(accesses(&socket.inspect), ["2:d10", "2:d11", "2:d12", "2:d13", "2:d14", "2:d04"]);
    assert_eq!(
        accesses(&socket.setup),
        [
            "2:d04=10000",    // a
            "2:d04=10100",    // b
            "2:d14=c1000000", // the opcode filter
            "2:d11=400137",   // c and d: the occupancy needs counter 0
            "2:d10=400136",
            "2:d04=10102", // e
            "2:d17",       // baselines
            "2:d16",
            "2:d04=10000", // f
        ]
    );
    assert_eq!(accesses(&socket.freeze), ["2:d04=10100"]);
    assert_eq!(accesses(&socket.read), ["2:d17", "2:d16"]);
    assert_eq!(accesses(&socket.resume), ["2:d04=10000"]);
    assert_eq!(plan.accesses_per_sample(), 2 * 4);
}

#[test]
fn a_channel_is_zeroed_by_hand_and_its_fixed_counter_serves() {
    let plan = plan("imc1/CAS_COUNT.RD/,imc1/DCLK_FIXED/").unwrap();
    assert_eq!(
        accesses(&plan.sockets[0].setup),
        [
            "ff:10.1+f4=10000",
            "ff:10.1+f4=10100",
            "ff:10.1+f0=400000",
            "ff:10.1+d8=400304",
            "ff:10.1+d0=0",
            "ff:10.1+a0=0",
            "ff:10.1+d0",
            "ff:10.1+a0",
            "ff:10.1+f4=10000",
        ]
    );
}

#[test]
fn the_ubox_has_no_freeze_and_starts_right_before_the_others() {
    let plan = plan("ubox/UCLK_FIXED/,cbo0/CLOCKTICKS/").unwrap();
    let setup = accesses(&plan.sockets[0].setup);
    assert_eq!(setup[setup.len() - 2..], ["0:c08=400000", "0:d04=10000"]);
    assert!(setup.contains(&"0:c09=0".to_owned()));
    assert_eq!(accesses(&plan.sockets[0].freeze), ["0:d04=10100"]);
}

#[test]
fn events_for_all_and_for_one_instance_share_a_counter() {
    let plan = plan("imc/CAS_COUNT.RD/,imc2/CAS_COUNT.RD/").unwrap();
    let used: Vec<Vec<usize>> = plan.sockets[0].instances.iter().map(|i| i.counters[0].events.clone()).collect();
    assert_eq!(used, [vec![0], vec![0], vec![0, 1], vec![0]]);
    assert!(plan.sockets[0].instances.iter().all(|instance| instance.counters.len() == 1));
}

#[test]
fn too_much_is_refused_with_what_to_leave_out() {
    let error =
        plan("cbo/LLC_VICTIMS.M_STATE/,cbo/LLC_VICTIMS.E_STATE/,cbo/LLC_VICTIMS.S_STATE/,cbo/RING_AD_USED.UP_EVEN/")
            .unwrap_err();
    let message = error.to_string();
    assert!(message.contains("leave out cbo/LLC_VICTIMS.S_STATE/"), "{message}");
    assert!(message.contains("only on counters 0, 1"), "{message}");
    let message =
        plan("cbo/LLC_LOOKUP.DATA_READ,state=0x1/,cbo/LLC_LOOKUP.DATA_READ,state=0x1F/").unwrap_err().to_string();
    assert!(
        message.contains("it needs the filter state=0x1f, but cbo/LLC_LOOKUP.DATA_READ,state=0x1/ sets state=0x1"),
        "{message}"
    );
}

#[test]
fn equal_filters_are_shared() {
    let plan =
        plan("cbo/TOR_OCCUPANCY.OPCODE,opc=DRd/,cbo/TOR_INSERTS.OPCODE,opc=DRd/,cbo/COUNTER0_OCCUPANCY,thresh=1/")
            .unwrap();
    let filters: Vec<_> = plan.sockets[0].setup.iter().filter(|step| step.purpose == Purpose::Filter).collect();
    assert_eq!(filters.len(), 8, "one write for each slice");
}

#[test]
fn a_unit_that_does_not_answer_is_named() {
    let error = plan("qpi/CLOCKTICKS/").unwrap_err();
    assert!(error.to_string().contains("no PCI function at 0000:ff:08.2"), "{error}");
}

#[test]
fn the_safe_interval_follows_width_and_increment() {
    let narrow = plan("cbo/TOR_OCCUPANCY.ALL/").unwrap().safe_interval();
    assert!((narrow - 2_f64.powi(44) / (20.0 * 5e9)).abs() < 1e-6);
}

#[test]
fn nehalem_counters_are_gated_by_the_global_control() {
    let family = pericore_catalog::family("nehalem").unwrap();
    let uncore = family.unit("uncore").unwrap();
    let mut socket = Socket::new(0, 0, None);
    socket.set_presence(uncore, vec![crate::discover::Presence::Present]);
    let topology = Topology { family, sockets: vec![socket] };
    let mut selection = Selection::new(family);
    selection.add_events("uncore/GQ_CYCLES_FULL.READ_TRACKER/,uncore/fixed_ctr/").unwrap();
    let plan = Plan::new(&topology, selection).unwrap();
    let socket = &plan.sockets[0];
    assert_eq!(
        accesses(&socket.setup),
        ["0:391=0", "0:395=1", "0:3c0=400100", "0:394=0", "0:3b0=0", "0:394", "0:3b0", "0:391=100000001"]
    );
    assert_eq!(accesses(&socket.freeze), ["0:391=0"]);
    assert_eq!(accesses(&socket.resume), ["0:391=100000001"]);
    assert_eq!(accesses(&socket.inspect)[8..], ["0:395", "0:391"]);
}
