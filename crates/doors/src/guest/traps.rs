//! The kernel functions through which register accesses go, and what a call of one asks for.
//!
//! A breakpoint at the entry sees the arguments; when the machine answers, the call is over before its first instruction.

use pericore_catalog::FIRST_FIXED;
use pericore_registers::{Address, Bdf, Operation, Outcome, Width};

use super::gdb::Registers;

/// `-EIO`, as the kernel's own fix-up gives it for a faulting access.
const EIO: i32 = -5;

/// A kernel function that makes a register access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// `u64 native_read_msr(u32 msr)`.
    ReadMsr,
    /// `u64 native_read_msr_safe(u32 msr, int *err)`.
    ReadMsrSafe,
    /// `void native_write_msr(u32 msr, u32 low, u32 high)`.
    WriteMsr,
    /// `int native_write_msr_safe(u32 msr, u32 low, u32 high)`.
    WriteMsrSafe,
    /// `int pci_…_read(unsigned seg, bus, devfn, int reg, len, u32 *value)`.
    PciRead,
    /// `int pci_…_write(unsigned seg, bus, devfn, int reg, len, u32 value)`.
    PciWrite,
    /// `u64 native_read_pmc(int counter)`: RDPMC, which QEMU does not have.
    ReadPmc,
    /// `void native_cpuid(u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)`. No access: the leaf is behind the first pointer.
    Cpuid,
}

/// Every function, by its symbol.
pub const SYMBOLS: [(&str, Function); 10] = [
    ("native_read_msr", Function::ReadMsr),
    ("native_read_msr_safe", Function::ReadMsrSafe),
    ("native_write_msr", Function::WriteMsr),
    ("native_write_msr_safe", Function::WriteMsrSafe),
    ("pci_conf1_read", Function::PciRead),
    ("pci_conf1_write", Function::PciWrite),
    ("pci_mmcfg_read", Function::PciRead),
    ("pci_mmcfg_write", Function::PciWrite),
    ("native_read_pmc", Function::ReadPmc),
    ("native_cpuid", Function::Cpuid),
];

/// RDPMC names fixed counters with this bit (SDM volume 2).
const RDPMC_FIXED: u32 = 1 << 30;

/// The enable bit of a counter as RDPMC names it.
fn enable_bit(counter: u32) -> Option<u8> {
    let number = u8::try_from(counter & !RDPMC_FIXED).ok()?;
    if counter & RDPMC_FIXED == 0 { Some(number) } else { number.checked_add(FIRST_FIXED) }
}

/// How a call ends that the machine has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Return {
    /// RAX.
    pub rax: u64,
    /// A dword to store, and where: the value or the error of a call that gives it through a pointer.
    pub store: Option<(u64, u32)>,
}

impl Function {
    /// True if the function is of use only where the core's counters are.
    pub const fn is_of_core_counters(self) -> bool {
        matches!(self, Self::ReadPmc | Self::Cpuid)
    }

    /// The access that a call on `cpu` asks for; `None` if it is one that no bus has, which the kernel must refuse itself.
    /// `counter` gives the MSR of a core's counter by its enable bit.
    pub fn operation(
        self,
        cpu: u32,
        registers: &Registers,
        counter: impl FnOnce(u8) -> Option<u32>,
    ) -> Option<Operation> {
        let argument = |index| registers.argument(index);
        let msr = Address::Msr { cpu, msr: argument(0) as u32 };
        let value = argument(1) & 0xffff_ffff | argument(2) << 32;
        Some(match self {
            Self::ReadMsr | Self::ReadMsrSafe => Operation::Read { address: msr, width: Width::B8 },
            Self::ReadPmc => {
                let address = Address::Msr { cpu, msr: counter(enable_bit(argument(0) as u32)?)? };
                Operation::Read { address, width: Width::B8 }
            }
            Self::Cpuid => return None,
            Self::WriteMsr | Self::WriteMsrSafe => Operation::Write { address: msr, width: Width::B8, value },
            Self::PciRead | Self::PciWrite => {
                let segment = u16::try_from(argument(0) as u32).ok()?;
                let bus = u8::try_from(argument(1) as u32).ok()?;
                let devfn = u8::try_from(argument(2) as u32).ok()?;
                let offset = u16::try_from(argument(3) as u32).ok().filter(|&offset| offset < 4096)?;
                let width = match argument(4) as u32 {
                    1 => Width::B1,
                    2 => Width::B2,
                    4 => Width::B4,
                    _ => return None,
                };
                let bdf = Bdf { segment, bus, device: devfn >> 3, function: devfn & 7 };
                let address = Address::Pci { bdf, offset };
                match self {
                    Self::PciRead => Operation::Read { address, width },
                    _ => Operation::Write { address, width, value: argument(5) & width.mask() },
                }
            }
        })
    }

    /// How the call ends with an outcome; `None` if only the kernel's own code can end it that way.
    pub fn conclude(self, registers: &Registers, outcome: &Outcome<u64>) -> Option<Return> {
        let value = *outcome.as_ref().unwrap_or(&0);
        let error = if outcome.is_ok() { 0 } else { EIO as u32 };
        match self {
            // A fault here is an exception in the kernel.
            Self::ReadMsr | Self::WriteMsr | Self::ReadPmc if outcome.is_err() => None,
            Self::Cpuid => None,
            Self::ReadMsr | Self::ReadPmc => Some(Return { rax: value, store: None }),
            Self::WriteMsr => Some(Return { rax: 0, store: None }),
            Self::ReadMsrSafe => Some(Return { rax: value, store: Some((registers.argument(1), error)) }),
            Self::WriteMsrSafe => Some(Return { rax: u64::from(error), store: None }),
            // A cycle that nothing answers reads as all ones.
            Self::PciRead => {
                let value = outcome.as_ref().map_or(u32::MAX, |&value| value as u32);
                Some(Return { rax: 0, store: Some((registers.argument(5), value)) })
            }
            Self::PciWrite => Some(Return { rax: 0, store: None }),
        }
    }
}

/// Bytes of the instruction at a function's entry that does nothing, if it is one: the place where tracing would hook in.
pub fn leading_nop(code: &[u8]) -> Option<u64> {
    const NOPS: [&[u8]; 2] = [&[0x0f, 0x1f, 0x44, 0, 0], &[0xf3, 0x0f, 0x1e, 0xfa]];
    NOPS.iter().find(|nop| code.starts_with(nop)).map(|nop| nop.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::gdb::reply::to_hex;
    use pericore_machine::MachineSpec;
    use pericore_registers::AccessError;

    /// Registers with the given arguments.
    fn call(arguments: [u64; 6]) -> Registers {
        let mut values = [0u64; 17];
        for (place, argument) in [5, 4, 3, 2, 8, 9].into_iter().zip(arguments) {
            values[place] = argument;
        }
        let list: String = values.iter().map(|value| to_hex(&value.to_le_bytes())).collect();
        Registers::parse(list.as_bytes()).unwrap()
    }

    fn no_counter(_: u8) -> Option<u32> {
        None
    }

    #[test]
    fn a_configuration_write() {
        let registers = call([0, 0xff, 0x80, 0xd8, 4, 0xffff_ffff_0040_0304]);
        let address = Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset: 0xd8 };
        let expected = Operation::Write { address, width: Width::B4, value: 0x40_0304 };
        assert_eq!(Function::PciWrite.operation(0, &registers, no_counter), Some(expected));
    }

    /// `mov eax, …` needs no hook; the five-byte nop (SDM 2, NOP) and `endbr64` do nothing.
    #[test]
    fn a_hook_lies_behind_what_does_nothing() {
        assert_eq!(leading_nop(&[0x0f, 0x1f, 0x44, 0, 0, 0x89]), Some(5));
        assert_eq!(leading_nop(&[0xf3, 0x0f, 0x1e, 0xfa, 0x89]), Some(4));
        assert_eq!(leading_nop(&[0xb8, 0, 0, 0, 0]), None);
    }

    /// The kernel has the value through the sixth argument; what no device claims reads as all ones (PCI Local Bus 3.0,
    /// 3.3.3.4).
    #[test]
    fn a_configuration_read_stores_what_it_reads() {
        let registers = call([0, 0x7f, 0x71, 0xf4, 2, 0xffff_8880_0000_2000]);
        let address = Address::Pci { bdf: Bdf::new(0x7f, 14, 1), offset: 0xf4 };
        let read = Operation::Read { address, width: Width::B2 };
        assert_eq!(Function::PciRead.operation(0, &registers, no_counter), Some(read));
        let stored = |outcome| Function::PciRead.conclude(&registers, &outcome).and_then(|end| end.store);
        assert_eq!(stored(Ok(0x1_0100)), Some((0xffff_8880_0000_2000, 0x1_0100)));
        let nobody = Err(AccessError::GeneralProtection { address });
        assert_eq!(stored(nobody), Some((0xffff_8880_0000_2000, u32::MAX)));
    }

    /// The last place of each kind that there is: bus 255, device 31, function 7, offset 4,095. Device and function are
    /// in one number, three bits of which are the function's.
    #[test]
    fn the_last_byte_of_configuration_space_is_reached() {
        let registers = call([3, 255, 255, 4095, 1, 0x1ff]);
        let bdf = Bdf { segment: 3, bus: 255, device: 31, function: 7 };
        let address = Address::Pci { bdf, offset: 4095 };
        let expected = Operation::Write { address, width: Width::B1, value: 0xff };
        assert_eq!(Function::PciWrite.operation(0, &registers, no_counter), Some(expected));
        assert_eq!(Function::PciRead.operation(0, &call([1 << 16, 0, 0, 0, 4, 0]), no_counter), None);
        assert_eq!(Function::PciWrite.conclude(&registers, &Ok(0)), Some(Return { rax: 0, store: None }));
    }

    /// Without an error there is none to tell, and a value is in RAX.
    #[test]
    fn a_call_that_went_well_has_no_error() {
        let registers = call([0xd16, 0xffff_8880_0000_1000, 0, 0, 0, 0]);
        let end = |function: Function| function.conclude(&registers, &Ok(0x1_2345_6789)).unwrap();
        let plain = Return { rax: 0x1_2345_6789, store: None };
        assert_eq!([end(Function::ReadMsr), end(Function::ReadPmc)], [plain; 2]);
        let safe = Return { store: Some((0xffff_8880_0000_1000, 0)), ..plain };
        assert_eq!(end(Function::ReadMsrSafe), safe);
        assert_eq!([end(Function::WriteMsr), end(Function::WriteMsrSafe)], [Return { rax: 0, store: None }; 2]);
        let refused = Err(AccessError::GeneralProtection { address: Address::Msr { cpu: 0, msr: 1 } });
        assert_eq!(Function::WriteMsr.conclude(&registers, &refused), None);
        assert_eq!(Function::ReadPmc.conclude(&registers, &refused), None);
        assert_eq!(Function::Cpuid.conclude(&registers, &Ok(0)), None);
        let of_counters = SYMBOLS.iter().filter(|(_, function)| function.is_of_core_counters());
        let names: Vec<&str> = of_counters.map(|&(name, _)| name).collect();
        assert_eq!(names, ["native_read_pmc", "native_cpuid"]);
    }

    #[test]
    fn impossible_cycles_are_left_to_the_kernel() {
        for arguments in [[0, 256, 0, 0, 4, 0], [0, 0, 256, 0, 4, 0], [0, 0, 0, 4096, 4, 0], [0, 0, 0, 0, 3, 0]] {
            assert_eq!(Function::PciRead.operation(0, &call(arguments), no_counter), None, "{arguments:?}");
        }
    }

    #[test]
    fn a_refused_msr_is_an_error_only_where_the_caller_asks() {
        let refused = Err(AccessError::GeneralProtection { address: Address::Msr { cpu: 0, msr: 1 } });
        let registers = call([1, 0xffff_8880_0000_1000, 0, 0, 0, 0]);
        assert_eq!(Function::ReadMsr.conclude(&registers, &refused), None);
        let safe = Function::ReadMsrSafe.conclude(&registers, &refused).unwrap();
        assert_eq!(safe.store, Some((0xffff_8880_0000_1000, 0xffff_fffb)));
        assert_eq!(Function::WriteMsrSafe.conclude(&registers, &refused).unwrap().rax, 0xffff_fffb);
    }

    /// SDM volume 2, RDPMC: bit 30 asks for a fixed counter. Volume 4: IA32_PMC0 is 0xc1, IA32_FIXED_CTR0 0x309.
    #[test]
    fn a_counter_is_read_as_its_msr() {
        let chassis = MachineSpec::parse("e5-2600").unwrap().chassis().unwrap();
        let read = |counter| {
            let registers = call([counter, 0, 0, 0, 0, 0]);
            Function::ReadPmc.operation(2, &registers, |enable| chassis.core_counter(enable))
        };
        for (counter, msr) in [(0, 0xc1), (3, 0xc4), (1 << 30 | 1, 0x30a)] {
            let address = Address::Msr { cpu: 2, msr };
            let expected = Operation::Read { address, width: Width::B8 };
            assert_eq!(read(counter), Some(expected));
        }
        assert_eq!([read(31), read(1 << 30 | 3), read(1 << 31)], [None; 3]);
    }

    #[test]
    fn an_msr_value_is_two_halves() {
        let expected =
            Operation::Write { address: Address::Msr { cpu: 3, msr: 0xd10 }, width: Width::B8, value: 0x7_0040_0334 };
        assert_eq!(Function::WriteMsr.operation(3, &call([0xd10, 0x40_0334, 7, 0, 0, 0]), no_counter), Some(expected));
    }
}
