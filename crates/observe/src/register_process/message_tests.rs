//! Messages as they come and go, whole and broken.

use super::*;

const PLACES: [Address; 3] = [
    Address::Msr { cpu: 513, msr: 0xffff_fff1 },
    Address::Pci { bdf: Bdf { segment: 3, bus: 0xfe, device: 31, function: 7 }, offset: 0xffc },
    Address::Mmio { physical: 0xfe_0002_2838 },
];

/// What is sent arrives, in each space, width and direction.
#[test]
fn operations_and_outcomes_arrive_as_they_were_sent() {
    let widths = [Width::B1, Width::B2, Width::B4, Width::B8];
    let all = PLACES.into_iter().flat_map(|address| {
        widths.into_iter().flat_map(move |width| {
            let value = 0x1234_5678_9abc_def0 & width.mask();
            [(Operation::Read { address, width }, 0), (Operation::Write { address, width, value }, !7)]
        })
    });
    let all: Vec<(Operation, u64)> = all.collect();
    let mut sent = Frame::default();
    sent.begin();
    all.iter().for_each(|(operation, keeps)| sent.push_operation(*operation, *keeps));
    let mut bytes = Vec::new();
    sent.send(MessageKind::Operations, &mut bytes).unwrap();
    let mut came = Frame::default();
    let mut wire = &bytes[..];
    assert_eq!(came.receive(&mut wire).unwrap(), Some(MessageKind::Operations));
    let found: Vec<_> = (0..came.records()).map(|index| came.operation(index).unwrap()).collect();
    assert_eq!(found, all);
    assert_eq!(came.receive(&mut wire).unwrap(), None, "the end, between two frames");

    let address = PLACES[2];
    let of = Operation::Read { address, width: Width::B2 };
    let io = |message: &str| Err(AccessError::Io { address, message: message.to_owned() });
    let outcomes = [
        Ok(u64::MAX),
        io("no such device"),
        Err(AccessError::GeneralProtection { address }),
        Err(AccessError::Unreachable { address }),
        io("twice"),
        Err(AccessError::BadCycle { address, width: Width::B2 }),
        Err(AccessError::Permission { address, remedy: REMEDIES[2] }),
    ];
    sent.begin();
    outcomes.iter().for_each(|outcome| sent.push_outcome(outcome));
    let mut bytes = Vec::new();
    sent.send(MessageKind::Outcomes, &mut bytes).unwrap();
    assert_eq!(came.receive(&mut &bytes[..]).unwrap(), Some(MessageKind::Outcomes));
    let mut read = 0;
    let found: Vec<_> = (0..came.records()).map(|index| came.outcome(index, of, &mut read).unwrap()).collect();
    assert_eq!(found, outcomes);
}

/// Frames cut off anywhere, of unknown kinds, with sizes beyond all limits, and with fields that mean nothing.
#[test]
fn what_is_no_message_is_refused() {
    let mut frame = Frame::default();
    frame.begin();
    frame.push_operation(Operation::Write { address: PLACES[1], width: Width::B4, value: 1 }, 0);
    frame.push_text(b"text");
    let mut whole = Vec::new();
    frame.send(MessageKind::Journal, &mut whole).unwrap();
    for end in 1..whole.len() {
        assert!(frame.receive(&mut &whole[..end]).is_err(), "{end} bytes");
    }
    for (at, byte) in [(0, 99), (7, 0xff), (11, 0xff)] {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        assert!(frame.receive(&mut &bytes[..]).is_err(), "byte {at}");
    }
    // Direction, space, width; and a value that is wider than its cycle.
    for (at, byte) in [(12, 2), (13, 3), (14, 3), (12 + 20, 1)] {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        assert!(frame.receive(&mut &bytes[..]).unwrap().is_some() && frame.operation(0).is_err(), "byte {at}");
    }
    assert!(frame.operation(1).is_err());
    // Outcomes: a tag, a remedy and a length that there are not.
    for (tag, value) in [(6, 0), (4, 999), (5, 5)] {
        let mut bytes = whole.clone();
        bytes[12] = tag;
        bytes[20] = value as u8;
        bytes[21] = (value >> 8) as u8;
        let read = Operation::Read { address: PLACES[1], width: Width::B4 };
        let _ = frame.receive(&mut &bytes[..]).unwrap();
        assert!(frame.outcome(0, read, &mut 0).is_err(), "tag {tag}");
    }
}

/// A frame's head: kind, records, bytes of text.
fn head(kind: u32, records: u32, text: u32) -> Vec<u8> {
    [kind, records, text].iter().flat_map(|number| number.to_ne_bytes()).collect()
}

/// Gives a byte at a time, and is interrupted before each.
struct Slow<'b>(&'b [u8], bool);

impl Read for Slow<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = bytes.len().min(1);
        self.0.read(&mut bytes[..most])
    }
}

/// However a message comes, in pieces or with signals in between, it is the same; and a second one behind it is
/// none of this one's.
#[test]
fn a_message_comes_in_any_pieces() {
    let mut frame = Frame::default();
    frame.begin();
    let operation = Operation::Write { address: PLACES[0], width: Width::B8, value: u64::MAX };
    frame.push_operation(operation, 0x55);
    frame.push_text(b"some text");
    let mut bytes = Vec::new();
    frame.send(MessageKind::Hold, &mut bytes).unwrap();
    assert_eq!(bytes.len(), 12 + 32 + 9);
    let mut came = Frame::default();
    assert_eq!(came.receive(&mut Slow(&bytes, false)).unwrap(), Some(MessageKind::Hold));
    assert_eq!((came.records(), came.operation(0).unwrap(), came.text()), (1, (operation, 0x55), &b"some text"[..]));
    bytes.push(0);
    assert_eq!(came.receive(&mut &bytes[..]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    assert_eq!(came.receive(&mut Slow(&[], false)).unwrap(), None);
}

/// A million records and 4 MiB of text are the most; more is refused before room is made for it, also by who sends.
#[test]
fn a_message_has_a_largest_size() {
    let kind = MessageKind::Done as u32;
    let mut frame = Frame::default();
    for (records, text, is_refused) in
        [(0, 1 << 22, false), (0, (1 << 22) + 1, true), (1 << 20, 0, false), ((1 << 20) + 1, 0, true)]
    {
        // What is no larger than any is waited for, and does not come here.
        let error = frame.receive(&mut &head(kind, records, text)[..]).unwrap_err().kind();
        let expected = if is_refused { io::ErrorKind::InvalidData } else { io::ErrorKind::UnexpectedEof };
        assert_eq!(error, expected, "{records} records, {text} bytes");
    }
    for (length, is_sent) in [(1 << 22, true), ((1 << 22) + 1, false)] {
        frame.begin();
        frame.push_text(&vec![b'x'; length]);
        assert_eq!(frame.finish(MessageKind::Done).is_ok(), is_sent, "{length}");
    }
}

#[test]
fn every_kind_of_message_has_a_number_of_its_own() {
    let kinds: Vec<MessageKind> = (0..20).filter_map(MessageKind::of).collect();
    assert_eq!(kinds.len(), 11);
    for (number, kind) in (1..).zip(&kinds) {
        assert_eq!((*kind as u32, MessageKind::of(number)), (number, Some(*kind)));
    }
    assert_eq!([MessageKind::of(0), MessageKind::of(12)], [None, None]);
}

/// Messages of errors stand behind each other in the text: each has its own part.
#[test]
fn errors_have_their_own_words() {
    let address = PLACES[1];
    let of = Operation::Read { address, width: Width::B4 };
    let mut frame = Frame::default();
    frame.begin();
    let words = ["", "one", "", "three and more"];
    for message in words {
        frame.push_outcome(&Err(AccessError::Io { address, message: message.to_owned() }));
    }
    let mut read = 0;
    for (index, words) in words.into_iter().enumerate() {
        let message = words.to_owned();
        assert_eq!(frame.outcome(index, of, &mut read).unwrap(), Err(AccessError::Io { address, message }));
    }
    assert_eq!(read, frame.text().len());
    assert!(frame.outcome(3, of, &mut read).is_err() && frame.outcome(4, of, &mut 0).is_err());
    frame.begin();
    REMEDIES.iter().for_each(|&remedy| frame.push_outcome(&Err(AccessError::Permission { address, remedy })));
    for (index, &remedy) in REMEDIES.iter().enumerate() {
        assert_eq!(frame.outcome(index, of, &mut 0).unwrap(), Err(AccessError::Permission { address, remedy }));
    }
    frame.begin();
    frame.push_outcome(&Err(AccessError::Permission { address, remedy: "of nobody" }));
    assert!(frame.outcome(0, of, &mut 0).is_err());
}
