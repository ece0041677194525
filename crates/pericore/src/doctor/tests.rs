//! Software machines, and folders that stand for `/`.

use std::fs;
use std::path::Path;

use pericore_machine::MachineSpec;
use pericore_observe::linux::Root;

use super::*;

fn state<'a>(findings: &'a [Finding], check: &str) -> Vec<&'a str> {
    let of_check = findings.iter().filter(|finding| finding.check() == check);
    of_check.map(|finding| finding.state().name()).collect()
}

#[test]
fn whole_software_machines_have_no_problem() {
    for machine in ["nehalem:sockets=2", "e5-2600:sockets=2", "emerald-rapids:sockets=2"] {
        let findings = software(machine).unwrap();
        let problems: Vec<String> = findings.iter().filter(|f| f.is_problem()).map(Finding::words).collect();
        assert!(problems.is_empty(), "{machine}: {problems:?}");
        assert_eq!(state(&findings, "family"), ["ok"]);
    }
    assert_eq!(state(&software("emerald-rapids:sockets=2").unwrap(), "table"), ["ok", "ok"]);
}

#[test]
fn a_bad_table_is_a_problem_with_a_remedy() {
    let findings = software("emerald-rapids:discovery=all-ones").unwrap();
    assert_eq!((state(&findings, "table"), state(&findings, "cha")), (vec!["problem"], vec!["ok"]));
    let table = findings.iter().find(|finding| finding.check() == "table").unwrap();
    assert!(table.words().contains("all ones") && table.words().contains("firmware"), "{}", table.words());
    assert_eq!(state(&findings, "cxlcm"), ["problem"]);
    assert!(findings.iter().all(|finding| !finding.words().contains("pericore doctor")), "{findings:?}");
    let blocks = findings.iter().find(|finding| finding.check() == "cxlcm").unwrap();
    assert!(
        blocks.words().ends_with("no usable record of it update the firmware, so that the table (above) lists them")
    );
}

/// The E5-2600's buses are told by the U-Boxes: of two sockets without them no unit in configuration space is found, and all of
/// those are named, the U-Box too.
#[test]
fn units_that_cannot_be_looked_for_are_named() {
    let findings = software("e5-2600:sockets=2,hidden=ubox").unwrap();
    assert_eq!(state(&findings, "sockets"), ["problem", "note"]);
    assert_eq!((state(&findings, "cbo"), state(&findings, "pcu")), (vec!["ok"], vec!["ok"]));
    let note = findings.iter().filter(|finding| finding.check() == "sockets").nth(1).unwrap();
    assert_eq!(note.words().trim_end(), "until then nothing counts in ubox, ha, imc, qpi, r2pcie, r3qpi");
    let findings = software("e5-2600:hidden=imc1,hidden=imc3").unwrap();
    let channels = findings.iter().find(|finding| finding.check() == "imc").unwrap().words();
    assert!(
        channels.starts_with("2 of 4 answer; imc1 of socket 0: ") && channels.contains("; and 1 more"),
        "{channels}"
    );
}

/// The msr driver's option that the kernel has since 5.9, and a CPU 0 that is offline.
#[test]
fn a_driver_that_refuses_writes_is_a_problem_where_there_are_msrs() {
    let root = std::env::temp_dir().join(format!("pericore-doctor-writes-{}", std::process::id()));
    let put = |path: &str, text: &[u8]| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        fs::write(path, text).unwrap();
    };
    put("sys/devices/system/cpu/online", b"2\n");
    put("sys/devices/system/cpu/cpu2/topology/physical_package_id", b"0\n");
    put("dev/cpu/2/msr", &[0; 64]);
    let processor = |vendor: &str| Processor { vendor: vendor.into(), family: 6, model: 45, ..Processor::default() };
    let look = |vendor: &str, rule: &[u8]| {
        put("sys/module/msr/parameters/allow_writes", rule);
        examine_root(Root::at(&root), processor(vendor)).unwrap()
    };
    let [off, on, default] = [&b"off\n"[..], b"on\n", b"default\n"].map(|rule| look("GenuineIntel", rule));
    let elsewhere = look("AuthenticAMD", b"off\n");
    fs::remove_dir_all(&root).unwrap();
    assert_eq!(
        [&off, &on, &default, &elsewhere].map(|found| state(found, "writes")),
        [["problem"], ["ok"], ["note"], ["note"]]
    );
    let words = |found: &[Finding]| found.iter().find(|finding| finding.check() == "writes").unwrap().words();
    assert!(words(&off).contains("allow_writes=on") && words(&default).contains("tainted"));
    assert_eq!(state(&off, "msr"), ["ok"], "CPU 2 has a file");
}

/// A virtual machine of another maker, locked down.
#[test]
fn a_machine_without_uncore_says_so_and_points_at_software() {
    let root = std::env::temp_dir().join(format!("pericore-doctor-{}", std::process::id()));
    let put = |path: &str, text: &[u8]| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        fs::write(path, text).unwrap();
    };
    put("sys/devices/system/cpu/online", b"0\n");
    put("sys/devices/system/cpu/cpu0/topology/physical_package_id", b"0\n");
    put("sys/kernel/security/lockdown", b"none [integrity] confidentiality\n");
    put("proc/self/status", b"Name:\tx\nCapEff:\t0000000000020000\n");
    put("proc/sys/kernel/perf_event_paranoid", b"2\n");
    // What Linux calls Nehalem's unit, and something that is none.
    put("sys/bus/event_source/devices/uncore/type", b"11\n");
    put("sys/bus/event_source/devices/cpu/type", b"4\n");
    let processor =
        Processor { vendor: "AuthenticAMD".into(), family: 25, model: 1, is_virtual: true, ..Default::default() };
    let here = examine_root(Root::at(&root), processor).unwrap();
    // The same system with a processor that is known: now what bars the way is a problem.
    let known = |model| Processor { vendor: "GenuineIntel".into(), family: 6, model, ..Default::default() };
    let there = examine_root(Root::at(&root), known(207)).unwrap();
    let guest = examine_root(Root::at(&root), Processor { is_virtual: true, ..known(207) }).unwrap();
    // The E5-2600 has no registers in memory.
    let without = examine_root(Root::at(&root), known(45)).unwrap();
    // With CAP_PERFMON (bit 38) the kernel counts, so what bars the way to registers is no problem.
    put("proc/self/status", b"Name:\tx\nCapEff:\t0000004000000000\n");
    let counted = examine_root(Root::at(&root), known(207)).unwrap();
    fs::remove_dir_all(&root).unwrap();
    let states = ["kernel", "msr", "memory", "lockdown"].map(|check| state(&counted, check));
    assert_eq!(states, [["ok"], ["note"], ["note"], ["note"]]);
    assert_eq!(state(&here, "family"), ["problem"]);
    let others: Vec<_> = here.iter().filter(|finding| finding.is_problem()).map(|finding| finding.check()).collect();
    assert_eq!(others, ["family"], "only one thing is wrong");
    assert!(here[0].words().contains("virtual") && here[1].words().contains("--machine"));
    assert!(verdict(&here, false).starts_with("pericore stat cannot count on this machine."));
    assert_eq!(state(&there, "family"), ["ok"]);
    assert_eq!((state(&guest, "virtual"), state(&there, "virtual").len()), (vec!["note"], 0));
    assert!(there.iter().all(|finding| !finding.words().contains("switch secure boot off")));
    for (check, word) in [("msr", "modprobe msr"), ("memory", "CAP_SYS_RAWIO"), ("lockdown", "--through kernel")] {
        let finding = there.iter().find(|finding| finding.check() == check).unwrap();
        assert!(finding.is_problem() && finding.words().contains(word), "{check}: {}", finding.words());
    }
    assert_eq!((state(&without, "pci"), state(&without, "memory")), (vec!["problem"], vec!["note"]));
    let kernel = there.iter().find(|finding| finding.check() == "kernel").unwrap();
    assert_eq!(kernel.state().name(), "note");
    for word in ["has 1 uncore,", "CAP_PERFMON", "perf_event_paranoid is 2"] {
        assert!(kernel.words().contains(word), "{}", kernel.words());
    }
    let rights = there.iter().find(|finding| finding.check() == "rights").unwrap();
    assert!(rights.words().contains("has CAP_SYS_RAWIO, and lacks CAP_SYS_ADMIN"), "{}", rights.words());
}

/// Ice Lake: without a driver that counts there is no other way, and what bars registers bars nothing.
#[test]
fn a_family_without_registers_needs_the_kernels_driver_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("sys/devices/system/cpu/online", "0\n");
    put("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    put("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    put("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
    put("proc/sys/kernel/perf_event_paranoid", "2\n");
    put("sys/bus/event_source/devices/cpu/type", "4\n");
    let processor = || Processor { vendor: "GenuineIntel".into(), family: 6, model: 0x6a, ..Default::default() };
    let look = || {
        let findings = examine_root(Root::at(folder.path()), processor()).unwrap();
        let problems = findings.iter().filter(|finding| finding.is_problem()).map(Finding::words);
        (state(&findings, "family").join(" "), problems.collect::<Vec<_>>())
    };
    let (family, problems) = look();
    assert_eq!(family, "ok");
    assert!(problems.len() == 1 && problems[0].contains("modprobe intel-uncore"), "{problems:?}");
    put("sys/bus/event_source/devices/uncore_imc_0/type", "11\n");
    let (_, problems) = look();
    assert!(problems.len() == 1 && problems[0].contains("perf_event_paranoid"), "{problems:?}");
    put("proc/sys/kernel/perf_event_paranoid", "0\n");
    assert_eq!(look().1, Vec::<String>::new());
}

/// Model 1 of family 6 is in no family here. A virtual machine on a processor of Intel's may have a Xeon below it.
#[test]
fn a_virtual_machine_on_an_unknown_processor_points_at_its_host() {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in [("online", "0\n"), ("cpu0/topology/physical_package_id", "0\n")] {
        let path = root.path().join("sys/devices/system/cpu").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let words = |vendor: &str| {
        let processor =
            Processor { vendor: vendor.into(), family: 6, model: 1, is_virtual: true, ..Processor::default() };
        let findings = examine_root(Root::at(root.path()), processor).unwrap();
        findings.iter().find(|finding| finding.check() == FAMILY).unwrap().words()
    };
    assert!(words("GenuineIntel").contains("run on the host"), "{}", words("GenuineIntel"));
    assert!(words("AuthenticAMD").contains("observe on a Xeon"), "{}", words("AuthenticAMD"));
}

/// The software machine's memory controllers lie from 0xf0000000 on, the first one's channels at 0x22800 and 0x2a800 of
/// its window (Tables 1-3, 1-12): each has a page of its own.
#[test]
fn who_else_has_the_addresses_of_registers_is_in_the_report() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("proc")).unwrap();
    let look = |text: &str| {
        fs::write(root.path().join("proc/iomem"), text).unwrap();
        let mut machine = MachineSpec::parse("emerald-rapids").unwrap().chassis().unwrap();
        let (family, cpus) = (machine.shape().family, cpus_of(machine.shape()));
        let Iomem { findings, lines } = Iomem::read(&Root::at(root.path()), &mut machine, family, &cpus);
        (findings.first().map_or("", |finding| finding.state().name()), lines)
    };
    let held = "f0000000-f7ffffff : PCI Bus 0000:7e\n  f0022000-f0022fff : mc_edac\n";
    let (state, lines) = look(held);
    assert_eq!(state, "note");
    for line in [
        "iomem f0022000-f0022fff imc0 of socket 0: f0022000-f0022fff mc_edac",
        "iomem f002a000-f002afff imc1 of socket 0: f0000000-f7ffffff PCI Bus 0000:7e",
    ] {
        assert!(lines.iter().any(|found| found == line), "{line} is not in {lines:#?}");
    }
    assert_eq!(look("00100000-dfffffff : System RAM\n").0, "ok");
    assert_eq!(look("00100000-f0022fff : System RAM\n").0, "problem");
    assert_eq!(look("00000000-00000000 : System RAM\n").0, "note");
    let mut machine = MachineSpec::parse("e5-2600").unwrap().chassis().unwrap();
    let (family, cpus) = (machine.shape().family, cpus_of(machine.shape()));
    assert!(Iomem::read(&Root::at(root.path()), &mut machine, family, &cpus).findings.is_empty());
}

/// What was not looked at is not sound.
#[test]
fn a_self_check_that_could_not_begin_does_not_pass_for_one_without_a_difference() {
    let none = [Finding::bad(FAMILY, "no uncore", "run elsewhere"), Finding::good("pci", "can be read")];
    assert!(of_check(&none).contains("could not begin"), "{}", of_check(&none));
    let one =
        [Finding::good("imc", format!("{AGREES}4 counters")), Finding::note("pcu", format!("{UNKNOWN}its clock"))];
    assert_eq!(of_check(&one), "The self-check found 0 differences from the documents, and could not tell 1 thing.");
}
