//! Journals that no session wrote: their checksum fits, and what they name must never be written. Addresses and bits
//! from the E5-2600's guide.

use pericore_registers::{Address, Bdf, Width};

use super::*;

const BOOT: &str = "boot";

fn entry(instance: &str, register: &str, address: Address, width: Width, value: u64) -> Saved {
    let (instance, register) = (instance.to_owned(), register.to_owned());
    Saved { socket: 0, instance, register, address, width, value, written: Vec::new() }
}

const fn msr(msr: u32) -> Address {
    Address::Msr { cpu: 0, msr }
}

const fn pci(device: u8, function: u8, offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0xff, device, function), offset }
}

/// What a session may have left: control 0 and the filter of CBo 0, its unit control (0xD10, 0xD14, 0xD04), control 0
/// of channel 1 (D16:F1, 0xD8).
fn genuine() -> Vec<Saved> {
    vec![
        entry("cbo0", "ctl0", msr(0xd10), Width::B8, 0x0000_0334),
        entry("cbo0", "filter", msr(0xd14), Width::B8, 0x007c_0000),
        entry("imc1", "ctl0", pci(16, 1, 0xd8), Width::B4, 0x0000_0304),
        entry("cbo0", "unit_ctl", msr(0xd04), Width::B8, 0x0001_0000),
    ]
}

fn restore(space: &mut Fake, saved: Vec<Saved>) -> Result<Restored, SessionError> {
    let journal = Journal { pid: 1, started: 0, boot: BOOT.to_owned(), machine: "local".to_owned(), saved };
    let text = Journal::parse(&journal.to_text()).unwrap();
    text.restore(space, e5_2600(), &CPUS, BOOT)
}

/// As at a session's end: controls, then filters, then the unit's control, which may let it run.
#[test]
fn what_a_session_saved_is_put_back() {
    let mut space = Fake::two_sockets();
    assert_eq!(
        restore(&mut space, genuine()),
        Ok(Restored::PutBack { registers: 4, left: Vec::new(), others: Vec::new() })
    );
    assert_eq!(space.written(), ["d10=334", "10.1+d8=304", "d14=7c0000", "d04=10000"]);
}

/// Each comes after entries that are genuine, and none of these is written either.
#[test]
fn an_entry_that_no_session_saves_refuses_the_whole_journal() {
    let forged = [
        // IA32_MISC_ENABLE and IA32_PERF_CTL, under the names of PMON registers and under others.
        entry("cbo0", "ctl0", msr(0x1a0), Width::B8, 0),
        entry("cbo1", "ctl1", msr(0x199), Width::B8, 0),
        entry("cpu0", "perf_ctl", msr(0x199), Width::B8, 0),
        entry("cbo0", "lock", msr(0xd10), Width::B8, 0),
        // The register of another slice, and the other control of the same one.
        entry("cbo0", "ctl0", msr(0xd30), Width::B8, 0),
        entry("cbo0", "ctl0", msr(0xd11), Width::B8, 0),
        // A counter: sessions save none.
        entry("cbo0", "ctr0", msr(0xd16), Width::B8, 0),
        // The command register and the node ID, in configuration space; and memory.
        entry("imc1", "ctl0", pci(16, 1, 0x04), Width::B4, 0),
        entry("imc1", "ctl0", pci(11, 0, 0x40), Width::B4, 0),
        entry("imc1", "ctl0", Address::Pci { bdf: Bdf::new(0x7f, 16, 1), offset: 0xd8 }, Width::B4, 0),
        entry("imc1", "ctl0", Address::Mmio { physical: 0xd8 }, Width::B4, 0),
        // Units with numbers that they do not have, and one without the number that it needs.
        entry("ubox0x", "fixed_ctl", msr(0xc08), Width::B8, 0),
        entry("ubox7", "fixed_ctl", msr(0xc08), Width::B8, 0),
        entry("cbo", "ctl0", msr(0xd10), Width::B8, 0),
        entry("cbo8", "ctl0", msr(0xe10), Width::B8, 0),
        // Another width, through a CPU of the other socket, bits that reset counters (Table 2-9).
        entry("imc1", "ctl0", pci(16, 1, 0xd8), Width::B8, 0),
        entry("cbo0", "ctl0", Address::Msr { cpu: 2, msr: 0xd10 }, Width::B8, 0),
        entry("cbo0", "unit_ctl", msr(0xd04), Width::B8, 0x0001_0003),
    ];
    for forged in forged {
        let mut space = Fake::two_sockets();
        let named = forged.to_string();
        let refused = restore(&mut space, [genuine(), vec![forged]].concat()).unwrap_err();
        assert!(
            matches!(&refused, SessionError::Journal(JournalError::Foreign { entry, .. }) if *entry == named),
            "{named}: {refused}"
        );
        assert_eq!(space.written(), [""; 0], "{named}");
    }
}

/// Table 2-11 has nothing above bit 31 of a CBo's control. A session saved bit 40, which the register held and no
/// longer holds; bit 41 came since. What the document gives is put back, and these stay: neither does one bit keep a
/// whole journal from being used, nor is any such bit a journal's to set.
#[test]
fn bits_that_no_document_gives_stay_as_they_are() {
    let mut space = Fake::two_sockets();
    space.msrs.insert((0, 0xd10), 1 << 41 | 0x0040_0111);
    let odd = entry("cbo0", "ctl0", msr(0xd10), Width::B8, 1 << 40 | 0x334);
    let saved = [vec![odd.clone()], genuine()[1..].to_vec()].concat();
    let left = vec![(odd, 1 << 40 | 1 << 41)];
    assert_eq!(restore(&mut space, saved), Ok(Restored::PutBack { registers: 4, left, others: Vec::new() }));
    assert_eq!(space.written(), ["d10=20000000334", "10.1+d8=304", "d14=7c0000", "d04=10000"]);
}

/// The session wrote 0x400334 to a control, and its filter in two rounds; channel 1 it turned off. Since its end
/// somebody else has set the control to LLC_VICTIMS (0x37), which heeds the filter's state bits: both stay, and all
/// others go back. A journal of the version before does not say what was written.
#[test]
fn what_somebody_else_has_written_since_stays() {
    let wrote = |entry: &Saved, written: &[u64]| Saved { written: written.to_vec(), ..entry.clone() };
    let [control, filter, channel, unit] = &genuine()[..] else { panic!("four") };
    let saved = vec![
        wrote(control, &[0, 0x40_0334]),
        wrote(filter, &[0x0004_0000, 0x007c_0000]),
        wrote(channel, &[0]),
        unit.clone(),
    ];
    let held = |control: u64| {
        let mut space = Fake::two_sockets();
        space.msrs.extend([((0, 0xd10), control), ((0, 0xd14), 0x0004_0000)]);
        space
    };
    let mut space = held(0x40_0137);
    let others = saved[..2].to_vec();
    assert_eq!(restore(&mut space, saved.clone()), Ok(Restored::PutBack { registers: 2, left: Vec::new(), others }));
    // Who counts there goes on: the unit's control keeps what it holds, without a freeze.
    assert_eq!(space.written(), ["10.1+d8=304", "d04=0"]);
    for (control, saved) in [(0x40_0334, saved.clone()), (0, saved), (0x40_0137, genuine())] {
        let mut space = held(control);
        let done = Restored::PutBack { registers: 4, left: Vec::new(), others: Vec::new() };
        assert_eq!(restore(&mut space, saved), Ok(done), "{control:#x}");
        assert_eq!(space.written()[0], "d10=334");
    }
}

/// What is not there now is named and left; the rest is put back all the same.
#[test]
fn a_unit_that_does_not_answer_keeps_no_other_from_being_put_back() {
    let mut space = Fake::two_sockets();
    space.functions.remove(&(0xff, 16, 1));
    let Err(SessionError::Restore { refused: 1, first, .. }) = restore(&mut space, genuine()) else { panic!("one") };
    assert!(first.contains("imc1"), "{first}");
    assert_eq!(space.writes.len(), 3);
}

/// CPU 7 is gone: the first one of its socket that is online serves.
#[test]
fn registers_are_reached_through_what_is_online() {
    let mut space = Fake::two_sockets();
    let saved =
        vec![Saved { socket: 1, ..entry("cbo0", "ctl0", Address::Msr { cpu: 7, msr: 0xd10 }, Width::B8, 0x334) }];
    assert_eq!(
        restore(&mut space, saved),
        Ok(Restored::PutBack { registers: 1, left: Vec::new(), others: Vec::new() })
    );
    assert_eq!(space.writes, [(Address::Msr { cpu: 2, msr: 0xd10 }, 0x334)]);
}

/// On another boot addresses may be other things: only what is a PMON register now is read.
#[test]
fn on_another_boot_only_pmon_registers_are_read() {
    let mut space = Fake::two_sockets();
    let foreign = entry("cbo0", "ctl0", msr(0x1a0), Width::B8, 0);
    let journal = Journal {
        pid: 1,
        started: 0,
        boot: "earlier".to_owned(),
        machine: "local".to_owned(),
        saved: [genuine(), vec![foreign]].concat(),
    };
    let Ok(Restored::OtherBoot { found }) = journal.restore(&mut space, e5_2600(), &CPUS, BOOT) else {
        panic!("it looks")
    };
    assert_eq!(found.iter().map(|(_, outcome)| outcome.is_ok()).collect::<Vec<_>>(), [true, true, true, true, false]);
    assert!(space.writes.is_empty() && !space.reads.contains(&msr(0x1a0)));
}
