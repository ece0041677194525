//! What an opcode does with general registers, and how the table of that is laid out. The build script, which makes it,
//! and the plugin, which reads it, compile this file.

/// What an opcode does with registers, whichever they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Effect {
    /// Registers that it reads, by the flags below.
    pub reads: u8,
    /// Registers that it writes, by the same.
    pub writes: u8,
    /// What else is known of it.
    pub kind: u8,
    /// What it reads of its own accord: rax to rdi, a bit each.
    pub implicit_reads: u8,
    /// What it writes of its own accord.
    pub implicit_writes: u8,
    /// What it accesses memory by, of its own accord.
    pub implicit_address: u8,
}

/// Opcode maps: those of one byte, and behind 0F, 0F 38 and 0F 3A; then the same three of instructions with a VEX
/// prefix.
pub const MAPS: usize = 7;
/// No prefix, 66, F3 and F2, as a VEX prefix numbers them.
pub const PREFIXES: usize = 4;
/// ModRM's register in the low three bits, and a fourth if its other operand is a register, too.
pub const VARIANTS: usize = 16;

/// Registers that an effect reads or writes: ModRM's.
pub const REG: u8 = 1;
/// ModRM's other operand, if it is a register.
pub const RM: u8 = 2;
/// VEX's third operand.
pub const VVVV: u8 = 4;
/// The register in the opcode.
pub const CODE: u8 = 8;
/// Those of an address that is not accessed, but is the value.
pub const ADDRESS: u8 = 16;

/// What else is known of an effect: ModRM's register is one of a byte, of which the numbers 4 to 7 are second bytes of
/// others without REX.
pub const BYTE_REG: u8 = 1;
/// So is its other operand.
pub const BYTE_RM: u8 = 2;
/// So is the register in the opcode.
pub const BYTE_CODE: u8 = 4;
/// ModRM's other operand is in memory, and accessed.
pub const OPERAND: u8 = 8;
/// Memory is accessed, by that operand or of its own accord.
pub const MEMORY: u8 = 16;

/// True for maps of instructions with a VEX prefix.
pub const fn is_vex(map: usize) -> bool {
    map >= 4
}

/// The number that a VEX prefix has for a map.
pub const fn vex_map(map: usize) -> u8 {
    map as u8 - 3
}

/// The bytes that come before an opcode of a map.
pub const fn escapes(map: usize) -> &'static [u8] {
    match map {
        0 => &[],
        1 => &[0x0F],
        2 => &[0x0F, 0x38],
        _ => &[0x0F, 0x3A],
    }
}

/// The low three bits of the register whose number is in an opcode: PUSH, POP, XCHG and MOV, and BSWAP.
pub const fn register_in_opcode(map: usize, opcode: u8) -> Option<u8> {
    match (map, opcode) {
        (0, 0x50..=0x5F | 0x90..=0x97 | 0xB0..=0xBF) | (1, 0xC8..=0xCF) => Some(opcode & 7),
        _ => None,
    }
}
