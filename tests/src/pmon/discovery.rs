//! The walk to the discovery table and its records, by hand after the code of 1.10.1 (access type in bits 63:62).

use super::raw::Raw;
use pericore_registers::Width;

/// A block as its record has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// Unit type.
    pub kind: u16,
    /// Instance.
    pub id: u16,
    /// Bit of the global status.
    pub status_position: u16,
    /// 0 MSR, 1 MMIO, 2 PCI configuration space.
    pub access: u64,
    /// Address of the unit control.
    pub unit_ctl: u64,
    /// Counters.
    pub num_regs: u64,
    /// Bits of a counter.
    pub bit_width: u64,
    /// From the unit control to the first control.
    pub ctl_offset: u64,
    /// From there to the first counter.
    pub ctr_offset: u64,
    /// From there to the status.
    pub status_offset: u64,
}

/// A table as it stands in memory.
#[derive(Debug)]
pub struct Table {
    /// Access type of the global control.
    pub global_access: u64,
    /// Its address.
    pub global_ctl: u64,
    /// From there to the global status.
    pub global_status_offset: u64,
    /// Global status registers.
    pub num_status: u64,
    /// Blocks.
    pub units: Vec<Unit>,
}

/// Every table that a walk over all PCI functions finds, by the bus of its owner.
pub fn walk(raw: &mut Raw) -> Vec<(u8, Table)> {
    let mut tables = Vec::new();
    for bus in 0..=255 {
        for (device, function) in (0..32).flat_map(|device| (0..8).map(move |function| (device, function))) {
            if raw.pci(bus, device, function, 0) & 0xffff != 0x8086 {
                continue;
            }
            // Extended capabilities start at 0x100: ID in 15:0, next in 31:20.
            let mut capability = 0x100;
            while capability != 0 {
                let header = raw.pci(bus, device, function, capability);
                let is_dvsec = header & 0xffff == 0x23;
                if is_dvsec && raw.pci(bus, device, function, capability + 8) & 0xffff == 1 {
                    let bir = raw.pci(bus, device, function, capability + 12) & 7;
                    let bar = raw.pci(bus, device, function, 0x10 + 4 * bir as u16) & !0xfff;
                    tables.push((bus, read(raw, bar.into())));
                }
                capability = (header >> 20) as u16;
            }
        }
    }
    tables
}

fn read(raw: &mut Raw, base: u64) -> Table {
    let mut qword = |offset: u64| raw.memory(base + offset, Width::B8);
    let (table1, global_ctl, table3) = (qword(0), qword(8), qword(16));
    let (stride, max_units) = (table1 >> 8 & 0xff, table1 >> 16 & 0x3ff);
    let units = (0..max_units).map(|index| {
        let record = (index + 1) * stride * 8;
        let (layout, unit_ctl, id) = (qword(record), qword(record + 8), qword(record + 16));
        Unit {
            kind: id as u16,
            id: (id >> 16) as u16,
            status_position: (id >> 32) as u16,
            access: layout >> 62,
            unit_ctl,
            num_regs: layout & 0xff,
            ctl_offset: layout >> 8 & 0xff,
            bit_width: layout >> 16 & 0xff,
            ctr_offset: layout >> 24 & 0xff,
            status_offset: layout >> 32 & 0xff,
        }
    });
    let units = units.collect();
    Table {
        global_access: table1 >> 62,
        global_ctl,
        global_status_offset: table3 & 0xff,
        num_status: table3 >> 8 & 0xffff,
        units,
    }
}
