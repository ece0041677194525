//! A session that was killed, and somebody who counts by the time of `restore`.

use pericore_observe::discover::Cpu;
use pericore_observe::session::{Journal, JournalFile, Options, Restored};
use pericore_tests::session::shared::Shared;

use super::planned;

/// All four channels were found frozen. Somebody takes a free counter of the first one, after the session was killed:
/// that one stays unfrozen, and the others are as they were found.
#[test]
fn restore_freezes_nobody_who_counts_by_now() {
    const BOX: u16 = 0xf4;
    let machine = Shared::new("e5-2600", 1);
    let write =
        |function: u8, offset: u16, value: u32| machine.0.borrow_mut().pci_write(0xff, 16, function, offset, value);
    let read = |function: u8, offset: u16| machine.0.borrow_mut().pci(0xff, 16, function, offset);
    for function in [0, 1, 4, 5] {
        write(function, BOX, 0x0001_0100);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal");
    let journal = JournalFile { path: path.clone(), boot: "this".to_owned(), machine: "local".to_owned() };
    let options = Options { journal: Some(journal), ..Options::default() };
    // As SIGKILL leaves it.
    std::mem::forget(machine.start(planned(&machine, "imc/CAS_COUNT.RD/"), options));
    // Control 3 counts clocks for somebody.
    write(0, 0xe4, 0x0040_0000);
    let journal = Journal::read(&path).expect("it is whole");
    let shape = machine.0.borrow().machine.shape().clone();
    let cpus: Vec<Cpu> = (0..shape.cpus()).map(|number| Cpu { number, package: 0 }).collect();
    let restored = journal.restore(&mut machine.clone(), shape.family, &cpus, "this").expect("all is put back");
    assert!(matches!(restored, Restored::PutBack { registers: 8, .. }), "{restored:?}");
    assert_eq!((read(0, BOX), read(0, 0xe4), read(0, 0xd8)), (0x0001_0000, 0x0040_0000, 0));
    let before = machine.0.borrow_mut().pci_count(0xff, 16, 0, 0xb8);
    machine.run(55);
    assert_eq!(machine.0.borrow_mut().pci_count(0xff, 16, 0, 0xb8) - before, 55);
    for function in [1, 4, 5] {
        assert_eq!((read(function, BOX), read(function, 0xd8)), (0x0001_0100, 0), "channel of {function}");
    }
}
