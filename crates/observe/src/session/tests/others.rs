//! What somebody else does to the registers.

use super::*;

#[test]
fn counters_of_others_are_seen_before_the_first_write() {
    let mut space = Fake::two_sockets();
    space.msrs.insert((1, 0xd33), 0x0040_0134);
    let plan = plan(&mut space, "cbo/CLOCKTICKS/");
    let error = Session::start(&mut space, plan.clone(), Options::default(), |_| Moment::default()).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("counter 3 of cbo1 in socket 1 (ctl3 = 0x400134, counting LLC_LOOKUP)"), "{message}");
    assert!(space.writes.is_empty());
    let session =
        Session::start(&mut space, plan, Options { take_over: true, ..Options::default() }, |_| Moment::default())
            .unwrap();
    session.stop().unwrap();
    assert_eq!(space.msrs[&(1, 0xd33)], 0x0040_0134, "taken over, then given back");
}

#[test]
fn a_change_by_someone_else_is_named() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo0/CLOCKTICKS/,cbo0/TOR_INSERTS.OPCODE,opc=DRd/");
    let options = Options { guard: Guard::All, ..Options::default() };
    let mut session = Session::start(&mut space, plan.clone(), options, at_(0.0)).unwrap();
    assert_eq!(session.samples_to_notice(), 1);
    assert!(session.sample(at_(1.0)).counts.iter().all(|count| count.validity == Validity::MEASURED));
    let control = session.space_mut().msrs[&(0, 0xd11)];
    session.space_mut().msrs.insert((0, 0xd11), control ^ 0xff);
    let sample = session.sample(at_(2.0));
    let suspects: Vec<_> = sample.counts.iter().filter(|count| count.validity.grade() == Grade::Suspect).collect();
    assert_eq!(suspects.len(), 1);
    let text = suspects[0].validity.to_string();
    assert!(text.contains("someone else changed ctl1 of cbo0 in socket 0"), "{text}");
    assert_eq!(sample.doubts_by_others(), [text]);
    session.stop().unwrap();
    assert_eq!(space.msrs[&(0, 0xd11)], control ^ 0xff, "what somebody else has written since is theirs");
    space.msrs.insert((0, 0xd11), 0);
    // In turn: noticed within as many samples as lie between two checks.
    let mut session = Session::start(&mut space, plan, Options::default(), at_(0.0)).unwrap();
    let within = session.samples_to_notice();
    assert_eq!(within, 20);
    assert_eq!(samples_to_notice(session.plan(), Guard::All), 1);
    session.space_mut().msrs.insert((1, 0xd14), 0);
    let mut samples = (1..=within).map(|second| session.sample(at_(second as f64)));
    assert!(samples.any(|sample| sample.counts.iter().any(|count| count.validity.grade() == Grade::Suspect)));
}

#[test]
fn the_last_look_sees_every_control() {
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo/CLOCKTICKS/");
    let mut session = Session::start(&mut space, plan, Options::default(), at_(0.0)).unwrap();
    session.space_mut().msrs.insert((1, 0xdf0), 0);
    session.check_controls();
    let sample = session.sample(at_(1.0));
    let suspects: Vec<_> = sample.counts.iter().filter(|count| count.validity.grade() == Grade::Suspect).collect();
    assert_eq!(suspects.iter().map(|count| (count.socket, count.instance)).collect::<Vec<_>>(), [(1, 7)]);
}

#[test]
fn counters_of_others_are_left_alone_in_their_unit() {
    let mut space = Fake::two_sockets();
    // Counter 1 of CBo 0 in socket 0 counts for someone else, who also set the filter.
    space.msrs.insert((0, 0xd11), 0x0040_0334);
    space.msrs.insert((0, 0xd14), 0x007c_0000);
    let first = plan(&mut space, "cbo0/LLC_VICTIMS.M_STATE/");
    let occupied = survey(&mut space, &first).unwrap();
    let topology = discover(&mut space, e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let beside = |events: &str| {
        let mut selection = Selection::new(e5_2600());
        selection.add_events(events).unwrap();
        Plan::beside(&topology, selection, &occupied).unwrap()
    };
    let mut session =
        Session::start(&mut space, beside("cbo0/LLC_VICTIMS.M_STATE/"), Options::default(), at_(0.0)).unwrap();
    session.sample(at_(1.0));
    session.stop().unwrap();
    let foreign = [0xd04, 0xd11, 0xd14, 0xd17].map(|msr| Address::Msr { cpu: 0, msr });
    assert!(space.writes.iter().all(|(address, _)| !foreign.contains(address)), "{:?}", space.written());
    space.writes.clear();
    // The same filter value is shared, another is refused.
    let shared = beside("cbo0/LLC_LOOKUP.DATA_READ,state=0x1F/");
    Session::start(&mut space, shared, Options::default(), at_(0.0)).unwrap().stop().unwrap();
    let other = beside("cbo0/LLC_LOOKUP.DATA_READ,state=0x1/");
    let error = Session::start(&mut space, other, Options::default(), at_(0.0)).unwrap_err();
    assert!(error.to_string().contains("filter of cbo0 in socket 0 (= 0x7c0000), beside counters"), "{error}");
    assert_eq!(space.msrs[&(0, 0xd11)], 0x0040_0334);
}

#[test]
fn a_unit_that_somebody_froze_is_named() {
    let mut space = Fake::two_sockets();
    // Counter 1 of CBo 0 in socket 0 counts for someone else, who has stopped the slice.
    space.msrs.insert((0, 0xd11), 0x0040_0334);
    space.msrs.insert((0, 0xd04), 0x0001_0100);
    let first = plan(&mut space, "cbo0/LLC_VICTIMS.M_STATE/");
    let occupied = survey(&mut space, &first).unwrap();
    let topology = discover(&mut space, e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let plan = Plan::beside(&topology, first.selection, &occupied).unwrap();
    let mut session = Session::start(&mut space, plan, Options::default(), at_(0.0)).unwrap();
    let sample = session.sample(at_(1.0));
    let of = |socket: u16| sample.counts.iter().find(|count| count.socket == socket).unwrap().validity.to_string();
    assert!(of(0).contains("cbo0 is frozen by someone else (unit_ctl = 0x10100)"), "{}", of(0));
    assert_eq!(of(1), "measured");
    assert_eq!(sample.doubts_by_others(), [of(0)]);
}

/// Channel 0 of socket 0 counts DRAM clocks for somebody else on its only fixed counter (0xF0, enabled by bit 22):
/// a session for that counter is refused, however well it is known, and nothing is written.
#[test]
fn a_fixed_counter_that_is_known_to_be_in_use_is_not_overwritten() {
    let mut space = Fake::two_sockets();
    space.set_pci((0xff, 16, 0), 0xf0, 0x0040_0000);
    let first = plan(&mut space, "imc0/DCLK_FIXED/");
    let occupied = survey(&mut space, &first).unwrap();
    let topology = discover(&mut space, e5_2600(), &CPUS, |unit| unit.name != "pcu").unwrap();
    let plan = Plan::beside(&topology, first.selection, &occupied).unwrap();
    let refused = Session::start(&mut space, plan, Options::default(), at_(0.0)).unwrap_err();
    assert!(matches!(refused, SessionError::InUse { .. }), "{refused}");
    assert!(refused.to_string().contains("the fixed counter of imc0 in socket 0 (fixed_ctl = 0x400000"), "{refused}");
    assert_eq!(space.written(), [""; 0]);
}

/// Reads work, and no write does: as with msr.allow_writes=off, or under lockdown. Has the writes that were tried.
#[derive(Debug)]
struct ReadOnly<'a>(&'a mut Fake, &'a mut Vec<(Address, u64)>);

impl RegisterSpace for ReadOnly<'_> {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.0.read(address, width)
    }

    fn write(&mut self, address: Address, _: Width, value: u64) -> Outcome<()> {
        self.1.push((address, value));
        Err(AccessError::Permission { address, remedy: "allow writes" })
    }
}

/// Nothing was changed, so nothing is left to restore: the next session on the same journal runs.
#[test]
fn refused_writes_leave_no_journal() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("session.journal");
    let journal = || JournalFile { path: path.clone(), boot: "boot".to_owned(), machine: "local".to_owned() };
    let options = || Options { journal: Some(journal()), ..Options::default() };
    let mut space = Fake::two_sockets();
    let plan = plan(&mut space, "cbo/CLOCKTICKS/,imc/CAS_COUNT.RD/");
    space.set_pci((0xff, 16, 0), 0xd8, 0x0304);
    let mut tried = Vec::new();
    let read_only = ReadOnly(&mut space, &mut tried);
    let refused = Session::start(read_only, plan.clone(), options(), |_| Moment::default()).unwrap_err();
    // Each socket's first control of a slice and of a channel, and what they hold: nothing else.
    let channel = |bus| Address::Pci { bdf: Bdf::new(bus, 16, 0), offset: 0xd8 };
    let slice = |cpu| Address::Msr { cpu, msr: 0xd10 };
    assert_eq!(tried, [(slice(0), 0), (channel(0xff), 0x0304), (slice(2), 0), (channel(0x7f), 0)]);
    assert!(matches!(refused, SessionError::NoWrites(_)) && refused.to_string().contains("allow writes"), "{refused}");
    assert!(!path.exists(), "a journal without a change would stop every later run");
    Session::start(&mut space, plan, options(), at_(0.0)).unwrap().stop().unwrap();
    assert!(!path.exists());
}

/// A driver claims the device of a channel in mid-run, as far as `is_claimed` says.
#[derive(Debug)]
struct Claimed<'a> {
    registers: &'a mut Fake,
    is_claimed: bool,
}

impl Claimed<'_> {
    fn check(&self, address: Address) -> Outcome<()> {
        let is_channel = matches!(address, Address::Pci { bdf, .. } if (bdf.bus, bdf.function) == (0xff, 1));
        let refused = self.is_claimed && is_channel;
        if refused { Err(AccessError::Permission { address, remedy: REVOKED }) } else { Ok(()) }
    }
}

impl RegisterSpace for Claimed<'_> {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.check(address)?;
        self.registers.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.check(address)?;
        self.registers.write(address, width, value)
    }
}

/// Its counts cannot be read, with the reason; all others are put back, and no journal stops the next session.
#[test]
fn what_a_driver_has_claimed_is_left_to_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("session.journal");
    let journal = || JournalFile { path: path.clone(), boot: "boot".to_owned(), machine: "local".to_owned() };
    let options = || Options { journal: Some(journal()), ..Options::default() };
    let mut fake = Fake::two_sockets();
    fake.set_pci((0xff, 16, 0), 0xd8, 0x0304);
    let plan = plan(&mut fake, "imc/CAS_COUNT.RD/");
    let space = Claimed { registers: &mut fake, is_claimed: false };
    let mut session = Session::start(space, plan.clone(), options(), |_| Moment::default()).unwrap();
    session.space_mut().is_claimed = true;
    let sample = session.sample(|_| Moment { seconds: 1.0, tsc: 1 });
    let lost: Vec<_> = sample.counts.iter().filter(|count| count.count.is_none()).collect();
    assert_eq!(lost.iter().map(|count| (count.socket, count.instance)).collect::<Vec<_>>(), [(0, 1)]);
    assert!(lost[0].validity.to_string().contains("a driver has claimed the device"), "{}", lost[0].validity);
    session.stop().unwrap();
    assert_eq!(fake.functions[&(0xff, 16, 0)][&0xd8], 0x0304);
    assert!(!path.exists());
    // The driver has the rest of it now.
    let plan = super::plan(&mut fake, "imc0/CAS_COUNT.RD/,imc2/CAS_COUNT.RD/");
    Session::start(&mut fake, plan, options(), |_| Moment::default()).unwrap().stop().unwrap();
}
