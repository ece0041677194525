//! Which discovery table belongs to which socket.

use std::ops::Range;

use pericore_catalog::Family;
use pericore_registers::{AccessError, Bdf, RegisterSpace};

use super::table::{Block, RecordFault, Table, TableError, WINDOW};
use super::topology::Socket;
use super::{fit, owner};

/// What a socket's discovery tables came to.
#[derive(Debug, Clone, Default)]
pub struct TableReport {
    /// PCI functions that lead to the tables.
    pub owners: Vec<Bdf>,
    /// Physical addresses of the tables that could be read.
    pub bases: Vec<u64>,
    /// Blocks that the tables announce.
    pub announced: u64,
    /// Records of zeros among them.
    pub blank: u64,
    /// Blocks that are believed.
    pub blocks: Vec<Block>,
    /// Records that are not.
    pub faults: Vec<RecordFault>,
    /// Why a table is of no use.
    pub errors: Vec<TableError>,
}

impl TableReport {
    /// True if every announced block is believed.
    pub fn is_sound(&self) -> bool {
        self.errors.is_empty() && self.faults.is_empty() && self.blank == 0
    }

    /// The memory of the tables, in physical addresses, also of those that are of no use.
    pub fn memory(&self) -> impl Iterator<Item = Range<u64>> {
        let of_errors = self.errors.iter().filter_map(TableError::base);
        self.bases.iter().copied().chain(of_errors).map(|base| base..base.saturating_add(WINDOW))
    }
}

/// Reads all tables and gives each socket a report.
pub(super) fn seek(
    space: &mut impl RegisterSpace,
    family: &'static Family,
    sockets: &mut [Socket],
) -> Result<(), AccessError> {
    let mut tables: Vec<Vec<Table>> = sockets.iter().map(|_| Vec::new()).collect();
    let mut reports: Vec<TableReport> = sockets.iter().map(|_| TableReport::default()).collect();
    for (bdf, base) in owner::find(space)? {
        let table = base.and_then(|base| Table::read(space, base));
        if let Err(TableError::Access(denied @ AccessError::Permission { .. })) = table {
            return Err(denied);
        }
        let named = table.as_ref().ok().and_then(|table| by_records(sockets, table));
        let Some(index) = named.or_else(|| by_bus(sockets, bdf)) else { continue };
        reports[index].owners.push(bdf);
        match table {
            Ok(table) => tables[index].push(table),
            Err(error) => reports[index].errors.push(error),
        }
    }
    for ((socket, mut report), tables) in sockets.iter_mut().zip(reports).zip(tables) {
        if report.owners.is_empty() {
            report.errors.push(TableError::NoOwner);
        }
        report.bases = tables.iter().map(|table| table.base).collect();
        report.announced = tables.iter().map(|table| table.announced).sum();
        report.blank = tables.iter().map(|table| table.announced - table.records.len() as u64).sum();
        (report.blocks, report.faults) = fit::blocks(family, uncore_bus(socket), &tables);
        socket.set_table(report);
    }
    Ok(())
}

/// A socket's uncore bus with its segment.
fn uncore_bus(socket: &Socket) -> Option<(u16, u8)> {
    Some((socket.segment, socket.bus?))
}

/// The socket on whose uncore bus the table itself puts blocks. On a part of several dies this holds for the table of each die.
fn by_records(sockets: &[Socket], table: &Table) -> Option<usize> {
    let votes = |socket: &Socket| table.records.iter().filter(|record| record.bus() == uncore_bus(socket)).count();
    let votes = sockets.iter().map(|socket| if socket.bus.is_some() { votes(socket) } else { 0 });
    let (index, most) = votes.enumerate().max_by_key(|&(index, votes)| (votes, std::cmp::Reverse(index)))?;
    (most > 0).then_some(index)
}

/// The socket in whose share of the buses the table's owner lies: firmware puts the uncore at the end of each share.
fn by_bus(sockets: &[Socket], owner: Bdf) -> Option<usize> {
    let is_after = |socket: &Socket| socket.segment == owner.segment && socket.bus.is_some_and(|bus| bus >= owner.bus);
    let at_or_after = sockets.iter().enumerate().filter(|(_, socket)| is_after(socket));
    at_or_after.min_by_key(|(_, socket)| socket.bus).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_of_the_socket_whose_buses_come_next() {
        let socket = |number, segment, bus| Socket::new(number, 0, bus).on_segment(segment);
        let sockets =
            [socket(0, 0, Some(0xfe)), socket(1, 0, Some(0x7e)), socket(2, 1, Some(0x3f)), socket(3, 0, None)];
        let of = |segment, bus| by_bus(&sockets, Bdf { segment, ..Bdf::new(bus, 0, 0) });
        for (segment, bus, expected) in [
            (0, 0x00, Some(1)),
            (0, 0x7e, Some(1)),
            (0, 0x7f, Some(0)),
            (0, 0xfe, Some(0)),
            (0, 0xff, None),
            (1, 0x3f, Some(2)),
            (1, 0x40, None),
            (2, 0x00, None),
        ] {
            assert_eq!(of(segment, bus), expected, "{segment}:{bus:x}");
        }
    }

    /// A window of 0x80000 bytes (1.10.1) belongs to each table, also to one that is of no use, unless it was never
    /// read.
    #[test]
    fn a_report_knows_the_memory_of_its_tables_and_whether_all_is_well() {
        let sound = TableReport { bases: vec![0xe000_0000], announced: 5, ..TableReport::default() };
        assert!(sound.is_sound());
        let errors = vec![
            TableError::AllOnes { base: 0x1000 },
            TableError::NoOwner,
            TableError::Empty { base: 0x2000 },
            TableError::Stride { base: 0x3000, stride: 1 },
            TableError::TooLong { base: 0x4000, blocks: 1, stride: 9 },
            TableError::BaseAddress { owner: Bdf::new(0, 0, 0), what: "" },
        ];
        let report = TableReport { errors, ..sound.clone() };
        let memory: Vec<_> = report.memory().collect();
        let starts = [0xe000_0000_u64, 0x1000, 0x2000, 0x3000, 0x4000];
        assert_eq!(memory, starts.map(|start| start..start + 0x8_0000));
        let fault = RecordFault { record: 3, what: "odd".to_owned(), beyond: None };
        assert_eq!(fault.to_string(), "record 3: odd");
        let blank = TableReport { blank: 1, ..sound.clone() };
        let faulty = TableReport { faults: vec![fault], ..sound };
        assert!(![report, blank, faulty].iter().any(TableReport::is_sound));
    }
}
