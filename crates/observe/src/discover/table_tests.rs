//! Tables made by hand from 1.9 and 1.10.1, whole and broken.

use std::collections::HashMap;

use super::super::fit::blocks;
use super::super::tables::TableReport;
use super::super::topology::Socket;
use super::*;
use crate::testing::Fake;

const BASE: u64 = 0xe000_0000;

/// Memory that holds qwords; the rest reads as zeros.
struct Memory(HashMap<u64, u64>);

impl RegisterSpace for Memory {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        assert_eq!(width, Width::B8);
        let Address::Mmio { physical } = address else { return Err(AccessError::Unreachable { address }) };
        Ok(self.0.get(&physical).copied().unwrap_or(0))
    }

    fn write(&mut self, address: Address, _: Width, _: u64) -> Outcome<()> {
        panic!("discovery only reads, not {address}")
    }
}

/// A table of 4 qwords a record.
fn memory(announced: u64, records: &[[u64; 3]]) -> Memory {
    let frame = [4 << 8 | announced << 16, 0x2ff0, 0x8002];
    let all = [&[frame][..], records].concat();
    let qwords = all.iter().enumerate().flat_map(|(record, qwords)| {
        let place = move |(index, &qword): (usize, &u64)| (BASE + record as u64 * 32 + index as u64 * 8, qword);
        qwords.iter().enumerate().map(place).collect::<Vec<_>>()
    });
    Memory(qwords.collect())
}

/// Four counters of 48 bits; controls at 2, counters at 8, status at 1: what caching agents have (Table 1-9).
const CHA_LAYOUT: u64 = 1 << 32 | 8 << 24 | 48 << 16 | 2 << 8 | 4;
/// M2M in PCI space: controls at 0x30, counters at 8, status at 0x70.
const M2M_LAYOUT: u64 = 2 << 62 | 0x70 << 32 | 8 << 24 | 48 << 16 | 0x30 << 8 | 4;

fn cha(number: u64) -> [u64; 3] {
    [CHA_LAYOUT, 0x2000 + 0x10 * number, number << 16 | (number + 7) << 32]
}

fn read(memory: &mut Memory) -> Result<Table, TableError> {
    Table::read(memory, BASE)
}

fn emerald_rapids() -> &'static Family {
    pericore_catalog::family("emerald-rapids").expect("the family is in the catalogue")
}

fn check(announced: u64, records: &[[u64; 3]]) -> (Vec<Block>, Vec<RecordFault>) {
    let table = read(&mut memory(announced, records)).expect("the frame is sound");
    blocks(emerald_rapids(), Some((0, 0x7e)), &[table])
}

#[test]
fn a_sound_table_gives_its_blocks() {
    let m2m = [M2M_LAYOUT, 0x7e << 20 | 12 << 15 | 0x438, 7];
    let (blocks, faults) = check(3, &[cha(0), cha(5), m2m]);
    assert_eq!(faults, []);
    let found: Vec<_> = blocks.iter().map(|b| (b.unit.name, b.instance, b.place, b.control, b.counter)).collect();
    let pci = BlockPlace::Pci(Bdf::new(0x7e, 12, 0), 0x438);
    assert_eq!(
        found,
        [
            ("cha", 0, BlockPlace::Msr(0x2000), 2, 8),
            ("cha", 5, BlockPlace::Msr(0x2050), 2, 8),
            ("m2m", 0, pci, 0x30, 8)
        ]
    );
    assert_eq!((blocks[1].status, blocks[1].status_position), (1, 12));
}

#[test]
fn tables_that_cannot_be_are_refused_as_a_whole() {
    let error = |memory: &mut Memory| read(memory).unwrap_err();
    let ones = |count: u64| Memory((0..count).map(|index| (BASE + 8 * index, u64::MAX)).collect());
    assert_eq!(error(&mut ones(64)), TableError::AllOnes { base: BASE });
    assert_eq!(error(&mut Memory(HashMap::new())), TableError::Empty { base: BASE });
    assert_eq!(error(&mut memory(9, &[])), TableError::Empty { base: BASE });
    let framed = |stride: u64, blocks: u64| Memory(HashMap::from([(BASE, stride << 8 | blocks << 16)]));
    assert_eq!(error(&mut framed(0, 5)), TableError::Stride { base: BASE, stride: 0 });
    assert_eq!(error(&mut framed(2, 5)), TableError::Stride { base: BASE, stride: 2 });
    assert_eq!(error(&mut framed(255, 1023)), TableError::TooLong { base: BASE, blocks: 1023, stride: 255 });
    // The frame and the records fill 0x80000 bytes, and a record more would not fit.
    assert_eq!(error(&mut framed(64, 1023)), TableError::Empty { base: BASE });
    assert_eq!(error(&mut framed(65, 1007)), TableError::Empty { base: BASE });
    assert_eq!(error(&mut framed(65, 1008)), TableError::TooLong { base: BASE, blocks: 1008, stride: 65 });
}

#[test]
fn records_of_zeros_hold_no_block() {
    let mut memory = memory(5, &[cha(0), [0; 3], cha(2)]);
    let table = read(&mut memory).unwrap();
    assert_eq!((table.announced, table.records.len()), (5, 2));
}

#[test]
fn records_that_cannot_be_are_left_out_and_say_why() {
    let [layout, address, id] = cha(1);
    let broken: [([u64; 3], &str); 13] = [
        ([u64::MAX; 3], "all ones"),
        ([layout, address, id | 0x8000], "type 0x8000"),
        ([layout, address, 128 << 16], "64 instances"),
        ([layout | 3 << 62, address, id], "access type 3"),
        ([layout | 1 << 62, address, id], "mmio space"),
        ([layout, 1 << 32, id], "cannot be"),
        ([layout, 0, id], "cannot be"),
        ([layout & !0xff | 3, address, id], "4 counters of 48 bits, not 3 of 48"),
        ([layout & !0xff_0000 | 64 << 16, address, id], "not 4 of 64"),
        ([layout & !0xff00, address, id], "controls at 0x0"),
        // Controls over counters.
        ([layout & !0xff00 | 9 << 8, address, id], "counters at 0x8"),
        // PCI: between dwords, beyond the end of configuration space, and a foreign bus.
        ([M2M_LAYOUT, 0x7e << 20 | 12 << 15 | 0x43a, 7], "cannot be"),
        ([M2M_LAYOUT, 0x7e << 20 | 12 << 15 | 0xff8, 7], "beyond"),
    ];
    for (record, words) in broken {
        let (blocks, faults) = check(2, &[cha(0), record]);
        assert_eq!(blocks.len(), 1, "{words}");
        assert_eq!((faults.len(), faults[0].record), (1, 2), "{words}");
        assert!(faults[0].what.contains(words), "{:?} does not say {words:?}", faults[0].what);
    }
    let (_, faults) = check(1, &[[M2M_LAYOUT, 0xfe << 20 | 12 << 15 | 0x438, 7]]);
    assert!(faults[0].what.contains("bus fe"), "{}", faults[0]);
}

/// 0x8000 is no unit's type. Of IIO (type 1) the guide has ten (1.5): an eleventh may be there all the same, but not
/// where the documents have another block (0x3000 is stack 0's unit control, 0x2000 that of caching agent 0), nor with
/// other counters, nor beyond the bits of the global status.
#[test]
fn an_instance_that_no_document_has_is_told_from_nonsense() {
    let at = |address: u64, number: u64| [CHA_LAYOUT, address, number << 16 | 1];
    let [layout, address, id] = cha(1);
    let mut short = at(0x3800, 13);
    short[0] -= 1;
    let records = [
        at(0x3090, 9),
        at(0x30a0, 10),
        [layout, address, id | 0x8000],
        [layout, 0, id],
        at(0x3000, 11),
        at(0x2000, 12),
        short,
        at(0x3900, 128),
    ];
    let (blocks, faults) = check(8, &records);
    let found: Vec<_> = blocks.iter().map(|block| (block.unit.name, block.instance, block.place)).collect();
    assert_eq!(found, [("iio", 9, BlockPlace::Msr(0x3090)), ("iio", 10, BlockPlace::Msr(0x30a0))]);
    assert_eq!(
        faults.iter().map(|fault| (fault.record, fault.beyond)).collect::<Vec<_>>(),
        [(3, None), (4, None), (5, Some("iio")), (6, Some("iio")), (7, Some("iio")), (8, Some("iio"))]
    );
    assert!(faults[2].what.contains("iio 0 lies at msr 0x3000") && faults[3].what.contains("cha 0"), "{faults:?}");
}

/// A record decides which registers a session writes. None leads to IA32_MISC_ENABLE (0x1a0), IA32_PERF_CTL (0x199) or
/// beyond the PMON units (Table 1-8: caching agent 0 has the lowest, 0x2000), whether by its address, its distances or
/// its length; to another place of a PCI function than its unit control, as the command register at 4 (Table 1-11: M2M
/// has it at 0x438); or to another unit's block.
#[test]
fn a_record_leads_to_no_register_of_others() {
    let [layout, _, id] = cha(1);
    let at = |address: u64| [layout, address, id];
    let m2m = |offset: u64| [M2M_LAYOUT, 0x7e << 20 | 12 << 15 | offset, 7];
    let beyond = [layout, 0x1a0 - 2, 70 << 16];
    let astray = [
        (at(0x1a0), "PMON units have MSRs 0x2000 to 0x3fff"),
        (at(0x1a0 - 2), "PMON units have MSRs 0x2000 to 0x3fff"),
        (at(0x199), "PMON units have MSRs 0x2000 to 0x3fff"),
        (at(0x1fff), "PMON units have MSRs 0x2000 to 0x3fff"),
        (at(0xc000_0080), "PMON units have MSRs 0x2000 to 0x3fff"),
        (at(0xffff_ff00), "PMON units have MSRs 0x2000 to 0x3fff"),
        (beyond, "is in no document, and PMON units have MSRs 0x2000 to 0x3fff"),
        (m2m(0x4), "its unit control is at 0x438"),
        (m2m(0x43c), "its unit control is at 0x438"),
        (at(0x3000), "iio 0 lies at msr 0x3000"),
    ];
    for (record, words) in astray {
        let (blocks, faults) = check(1, &[record]);
        assert!(blocks.is_empty() && faults[0].what.contains(words), "{record:x?}: {faults:?}");
    }
    // Another agent's place is one of its unit.
    assert_eq!(check(1, &[at(0x2050)]).0.len(), 1);
}

#[test]
fn a_block_is_listed_once_and_no_two_share_a_place() {
    let [layout, address, _] = cha(3);
    let (blocks, faults) = check(3, &[cha(3), [layout, address + 0x400, 3 << 16], [layout, address, 4 << 16]]);
    assert_eq!(blocks.len(), 1);
    assert!(faults[0].what.contains("already") && faults[1].what.contains("cannot both"), "{faults:?}");
}

/// Four controls of a dword each end 0x3c bytes behind the unit control: at 0xfc0 their last one is the last dword of
/// configuration space. Four MSRs from 2 on end before 6.
#[test]
fn a_record_may_fill_its_space_to_the_last_register() {
    // Whether it is one of the unit's is another question.
    let believed = |record: [u64; 3]| {
        let table = read(&mut memory(1, &[record])).expect("the frame is sound");
        usize::from(table.records[0].block(emerald_rapids()).is_ok())
    };
    let m2m = |offset: u64| [M2M_LAYOUT, 0x7e << 20 | 12 << 15 | offset, 7];
    assert_eq!([0xfbc, 0xfc0, 0xfc4].map(|offset| believed(m2m(offset))), [1, 1, 0]);
    let [layout, address, id] = cha(1);
    let counters_at = |distance: u64| [layout & !(0xff << 24) | distance << 24, address, id];
    assert_eq!([5, 6, 7].map(|distance| believed(counters_at(distance))), [0, 1, 1]);
}

/// A record says where a block's registers are, even where the guide has them elsewhere: here controls begin at 4,
/// counters at 0xa, and the status is at 7 (Table 1-9: 2, 8 and 1). What no record tells, the filter, is at the guide's
/// place, and so is a status of which the record says nothing.
#[test]
fn a_record_moves_the_registers_that_it_covers() {
    let unit = emerald_rapids().unit("cha").unwrap();
    let at = |status: u64, register: &str, member: u8| {
        let layout = CHA_LAYOUT & !(0xff << 8 | 0xff << 24 | 0xff << 32) | 4 << 8 | 0xa << 24 | status << 32;
        let (blocks, faults) = check(1, &[[layout, 0x2050, 5 << 16]]);
        assert_eq!((blocks.len(), &faults[..]), (1, &[][..]));
        let mut socket = Socket::new(0, 3, None);
        socket.set_table(TableReport { blocks, ..TableReport::default() });
        let register = unit.registers.iter().find(|known| known.name == register).unwrap();
        let place = socket.locate(unit, 5, register, member).unwrap();
        assert_eq!(place.width, Width::B8);
        let Address::Msr { cpu: 3, msr } = place.address else { panic!("{}", place.address) };
        msr
    };
    for (register, member, msr) in [
        ("unit_ctl", 0, 0x2050),
        ("unit_status", 0, 0x2057),
        ("ctl", 0, 0x2054),
        ("ctl", 3, 0x2057),
        ("ctr", 0, 0x205a),
        ("ctr", 2, 0x205c),
        ("filter", 0, 0x205e),
    ] {
        assert_eq!(at(7, register, member), msr, "{register}{member}");
    }
    assert_eq!(at(0, "unit_status", 0), 0x2051);
}

/// Functions and memory.
struct Both(Fake, Memory);

impl RegisterSpace for Both {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        match address {
            Address::Pci { .. } => self.0.read(address, width),
            _ => self.1.read(address, width),
        }
    }

    fn write(&mut self, address: Address, _: Width, _: u64) -> Outcome<()> {
        panic!("discovery only reads, not {address}")
    }
}

/// The owner lies among socket 0's buses; a table with a block on socket 1's bus is socket 1's all the same, and one
/// without any such block is that of the buses. What is blank, faulty or unreadable is counted where the table belongs.
#[test]
fn a_table_belongs_to_the_socket_on_whose_bus_it_puts_blocks() {
    let reports = |announced: u64, records: &[[u64; 3]]| {
        let mut fake = Fake::default();
        let function = [(0, 0x3258_8086), (0x10, BASE as u32), (0x100, 0x23), (0x108, 1), (0x10c, 0)];
        function.iter().for_each(|&(offset, value)| fake.set_pci((0x40, 3, 1), offset, value));
        let mut space = Both(fake, memory(announced, records));
        let mut sockets = [Socket::new(0, 0, Some(0x7e)), Socket::new(1, 2, Some(0xfe))];
        super::super::tables::seek(&mut space, emerald_rapids(), &mut sockets).unwrap();
        sockets.map(|socket| socket.table().unwrap().clone())
    };
    let m2m = |bus: u64| [M2M_LAYOUT, bus << 20 | 12 << 15 | 0x438, 7];
    for (records, owner) in [
        (&[cha(0), m2m(0xfe)][..], 1),
        (&[cha(0), m2m(0x7e)], 0),
        (&[cha(0), m2m(0xfe), [M2M_LAYOUT, 0xfe << 20 | 13 << 15 | 0x438, 1 << 16 | 7], m2m(0x7e)], 1),
        (&[cha(0), cha(1)], 0),
    ] {
        let reports = reports(records.len() as u64, records);
        let (own, other) = (&reports[owner], &reports[1 - owner]);
        assert_eq!((own.owners.len(), &own.bases[..], own.announced), (1, &[BASE][..], records.len() as u64));
        assert_eq!((own.blank, &own.errors[..]), (0, &[][..]));
        assert_eq!((&other.errors[..], other.bases.len()), (&[TableError::NoOwner][..], 0));
    }
    let [own, _] = reports(6, &[cha(0), [0; 3], cha(1), [CHA_LAYOUT, 0x2020, 0x8000]]);
    assert_eq!((own.announced, own.blank, own.blocks.len(), own.faults.len()), (6, 3, 2, 1));
    let [own, _] = reports(3, &[]);
    assert_eq!((own.owners.len(), &own.errors[..]), (1, &[TableError::Empty { base: BASE }][..]));
}

/// Places in the words of messages, and how far each goes: MSRs to 2^32, configuration space to 4096 bytes.
#[test]
fn places_end_where_their_space_does() {
    let pci = |offset| BlockPlace::Pci(Bdf::new(0x7e, 12, 0), offset);
    for (place, distance, further) in [
        (BlockPlace::Msr(0x2000), 8, Some(BlockPlace::Msr(0x2008))),
        (BlockPlace::Msr(u32::MAX), 1, None),
        (pci(0x438), 0x30, Some(pci(0x468))),
        (pci(0xff0), 0xf, Some(pci(0xfff))),
        (pci(0xff0), 0x10, None),
        (BlockPlace::Mmio(0xfe00_0000), 0x40, Some(BlockPlace::Mmio(0xfe00_0040))),
        (BlockPlace::Mmio(u64::MAX), 1, None),
    ] {
        assert_eq!(place.plus(distance), further, "{place} and {distance:#x}");
    }
    let texts = [BlockPlace::Msr(0x2010), pci(0x438), BlockPlace::Mmio(0xfe00_2800)].map(|place| place.to_string());
    assert_eq!(texts, ["msr 0x2010", "pci 0000:7e:0c.0+0x438", "mmio 0xfe002800"]);
}

/// Bits of a record by hand (UNCORE_DISCOVERY_PCI_*): segment in 30:28, bus in 27:20, device in 19:15, function in
/// 14:12, offset in 11:0. Addresses of memory have 52 bits and lie at dwords.
#[test]
fn addresses_of_records_are_unpacked() {
    let place = |access: u64, address: u64| {
        let table = read(&mut memory(1, &[[access << 62 | CHA_LAYOUT, address, 0]])).unwrap();
        (table.records[0].place().ok(), table.records[0].bus())
    };
    let bdf = Bdf { segment: 5, bus: 0x7e, device: 30, function: 3 };
    let packed = 5 << 28 | 0x7e << 20 | 30 << 15 | 3 << 12 | 0x448;
    assert_eq!(place(2, packed), (Some(BlockPlace::Pci(bdf, 0x448)), Some((5, 0x7e))));
    for address in [packed | 1 << 31, packed | 2, 0] {
        assert_eq!(place(2, address), (None, None), "{address:#x}");
    }
    assert_eq!(place(1, (1 << 52) - 4), (Some(BlockPlace::Mmio((1 << 52) - 4)), None));
    for address in [1 << 52, 0xfe00_2802, 0] {
        assert_eq!(place(1, address), (None, None), "{address:#x}");
    }
    assert_eq!(place(0, 0xffff_ffff), (Some(BlockPlace::Msr(u32::MAX)), None));
    assert_eq!(place(3, 0x2000), (None, None));
}
