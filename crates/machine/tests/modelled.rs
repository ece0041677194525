//! Which events a model counts is known without building one.

use pericore_machine::workload::{Scenario, Workload};
use pericore_machine::{Machine, MachineSpec};

/// The wires of a family, and those of machines that were built with all that their names can ask for, count the same
/// events. Some events need a machine that lacks something.
#[test]
fn what_a_model_emits_is_known_without_one() {
    let machines: [(&[&str], usize); 4] = [
        (&["nehalem:sockets=2"], 150),
        (
            &[
                "e5-2600:sockets=2,directory=1,regions=12,ranks=8,isochronous=8",
                "e5-2600:sockets=2,directory=1,regions=12,ranks=8,isochronous=8,direct2core=0",
            ],
            450,
        ),
        (&["8592+:sockets=2"], 2900),
        (&["8480+:sockets=2"], 2900),
    ];
    for (names, least) in machines {
        let built = names.iter().map(|name| {
            let spec = MachineSpec::parse(name).expect("a machine");
            let workload = Workload::parse("stream:requests=64", &spec.limits().expect("limits")).expect("a workload");
            Machine::for_scenario(&spec, &Scenario::from(workload)).expect("it is built")
        });
        let built: Vec<Machine> = built.collect();
        let family = MachineSpec::parse(names[0]).expect("a machine").family();
        let without = pericore_machine::modelled(family).expect("it has a model");
        let mut modelled = 0;
        for (index, unit) in family.units.iter().enumerate() {
            for event in unit.events {
                let subevents = event.subevents.iter().map(Some).chain([None]);
                for subevent in subevents {
                    let counts =
                        built.iter().any(|machine| machine.chassis().wiring().is_modelled(index, event, subevent));
                    let of = subevent.map_or("", |subevent| subevent.name);
                    assert_eq!(
                        without.is_modelled(index, event, subevent),
                        counts,
                        "{}/{}.{of}",
                        unit.name,
                        event.name
                    );
                    modelled += usize::from(counts);
                }
            }
        }
        assert!(modelled >= least, "{names:?}: {modelled} events and subevents");
    }
}
