//! As much of the x86-64 instruction encoding as the doors need: lengths, and the loads and stores that touch registers in
//! memory. Encodings: SDM volume 2, appendix A (opcode maps) and 2.1 to 2.7 (prefixes, VEX, EVEX).

/// What surrounds an opcode.
#[derive(Debug, Clone, Copy, Default)]
struct Prefixes {
    /// Bytes before the opcode.
    length: usize,
    operand_16: bool,
    address_32: bool,
    rex: u8,
}

impl Prefixes {
    fn is_wide(self) -> bool {
        self.rex & 8 != 0
    }
}

/// Immediate operands by size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Immediate {
    None,
    Byte,
    Word,
    /// 4 bytes, or 2 with an operand-size prefix.
    Full,
    /// 4 bytes whatever the prefix.
    Dword,
    /// Like `Full`, 8 bytes with REX.W.
    Wide,
    /// An absolute address.
    Address,
    /// A word and a byte (ENTER).
    WordByte,
    /// None or a byte by the ModRM register field (TEST in groups F6, F7).
    IfTest(bool),
}

use Immediate as Imm;

fn prefixes(code: &[u8]) -> Option<Prefixes> {
    let mut found = Prefixes::default();
    loop {
        match *code.get(found.length)? {
            0x66 => found.operand_16 = true,
            0x67 => found.address_32 = true,
            0xF0 | 0xF2 | 0xF3 | 0x2E | 0x36 | 0x3E | 0x26 | 0x64 | 0x65 => {}
            rex @ 0x40..=0x4F => {
                found.rex = rex;
                found.length += 1;
                return Some(found);
            }
            _ => return Some(found),
        }
        found.length += 1;
        if found.length > 14 {
            return None;
        }
    }
}

/// ModRM and immediate of a one-byte opcode; `None` if it is invalid in 64-bit mode or not known here.
fn one_byte(opcode: u8) -> Option<(bool, Immediate)> {
    Some(match opcode {
        0x00..=0x3F => match opcode & 7 {
            0..=3 => (true, Imm::None),
            4 => (false, Imm::Byte),
            5 => (false, Imm::Full),
            _ => return None,
        },
        0x50..=0x5F | 0x6C..=0x6F | 0x90..=0x99 | 0x9B..=0x9F => (false, Imm::None),
        0x63 | 0x84..=0x8F => (true, Imm::None),
        0x68 => (false, Imm::Full),
        0x69 | 0x81 | 0xC7 => (true, Imm::Full),
        0x6A | 0x70..=0x7F => (false, Imm::Byte),
        0x6B | 0x80 | 0x83 | 0xC0 | 0xC1 | 0xC6 => (true, Imm::Byte),
        0xA0..=0xA3 => (false, Imm::Address),
        0xA4..=0xA7 | 0xAA..=0xAF => (false, Imm::None),
        0xA8 | 0xB0..=0xB7 | 0xCD | 0xE0..=0xE7 | 0xEB => (false, Imm::Byte),
        0xA9 => (false, Imm::Full),
        0xB8..=0xBF => (false, Imm::Wide),
        0xC2 | 0xCA => (false, Imm::Word),
        0xC8 => (false, Imm::WordByte),
        0xC3 | 0xC9 | 0xCB | 0xCC | 0xCF | 0xD7 | 0xEC..=0xEF | 0xF1 | 0xF4 | 0xF5 | 0xF8..=0xFD => (false, Imm::None),
        0xD0..=0xD3 | 0xD8..=0xDF | 0xFE | 0xFF => (true, Imm::None),
        0xE8 | 0xE9 => (false, Imm::Dword),
        0xF6 => (true, Imm::IfTest(false)),
        0xF7 => (true, Imm::IfTest(true)),
        _ => return None,
    })
}

/// ModRM and immediate of an opcode after 0F.
fn two_byte(opcode: u8) -> Option<(bool, Immediate)> {
    Some(match opcode {
        0x04 | 0x0A | 0x0C | 0x0E | 0x0F | 0x24..=0x27 | 0x36 | 0x39 | 0x3B..=0x3F | 0x78 | 0x79 | 0xA6 | 0xA7 => {
            return None;
        }
        0x05..=0x09 | 0x0B | 0x30..=0x35 | 0x37 | 0x77 | 0xA0..=0xA2 | 0xA8..=0xAA | 0xC8..=0xCF => (false, Imm::None),
        0x80..=0x8F => (false, Imm::Dword),
        0x70..=0x73 | 0xA4 | 0xAC | 0xBA | 0xC2 | 0xC4..=0xC6 => (true, Imm::Byte),
        _ => (true, Imm::None),
    })
}

/// Bytes of ModRM, SIB and displacement at the start of `code`.
fn modrm_length(code: &[u8]) -> Option<usize> {
    let modrm = *code.first()?;
    let (mode, rm) = (modrm >> 6, modrm & 7);
    if mode == 3 {
        return Some(1);
    }
    let (sib, base) = if rm == 4 { (1, *code.get(1)? & 7) } else { (0, rm) };
    let displacement = match mode {
        0 if base == 5 => 4,
        0 => 0,
        1 => 1,
        _ => 4,
    };
    Some(1 + sib + displacement)
}

/// Length of the instruction at the start of `code`; `None` if it is invalid, cut off or not known here.
pub fn length(code: &[u8]) -> Option<usize> {
    let prefixes = prefixes(code)?;
    let rest = &code[prefixes.length..];
    let has_rex = prefixes.rex != 0;
    let total = prefixes.length
        + match (*rest.first()?, rest.get(1)) {
            (0xC5, _) if !has_rex => vex(rest, 2, 1)?,
            (0xC4, Some(map)) if !has_rex => vex(rest, 3, map & 0x1F)?,
            (0x62, Some(map)) if !has_rex => vex(rest, 4, map & 7)?,
            // XOP: the map number cannot be a POP's register field.
            (0x8F, Some(map)) if map & 0x1F >= 8 && !has_rex => return None,
            (0x0F, Some(0x38)) => 3 + modrm_length(rest.get(3..)?)?,
            (0x0F, Some(0x3A)) => 4 + modrm_length(rest.get(3..)?)?,
            (0x0F, Some(&opcode)) => operands(prefixes, rest, 2, two_byte(opcode)?)?,
            (opcode, _) => operands(prefixes, rest, 1, one_byte(opcode)?)?,
        };
    (total <= 15 && total <= code.len()).then_some(total)
}

/// Length from the VEX or EVEX prefix on: `prefix` bytes, an opcode of a map, ModRM, and a byte for some.
fn vex(rest: &[u8], prefix: usize, map: u8) -> Option<usize> {
    let opcode = *rest.get(prefix)?;
    if map == 1 && opcode == 0x77 {
        return Some(prefix + 1);
    }
    let immediate = match map {
        1 => usize::from(matches!(opcode, 0x70..=0x73 | 0xC2 | 0xC4..=0xC6)),
        2 | 5 | 6 => 0,
        3 => 1,
        _ => return None,
    };
    Some(prefix + 1 + modrm_length(rest.get(prefix + 1..)?)? + immediate)
}

fn operands(prefixes: Prefixes, rest: &[u8], opcode: usize, (modrm, immediate): (bool, Immediate)) -> Option<usize> {
    // Moves from and to control and debug registers have registers whatever the mode says.
    let registers = opcode == 2 && matches!(rest.get(1), Some(0x20..=0x23));
    let modrm_bytes = match modrm {
        false => 0,
        true if registers => rest.get(opcode).map(|_| 1)?,
        true => modrm_length(rest.get(opcode..)?)?,
    };
    let full = if prefixes.operand_16 && !prefixes.is_wide() { 2 } else { 4 };
    let immediate = match immediate {
        Imm::None => 0,
        Imm::Byte => 1,
        Imm::Word => 2,
        Imm::WordByte => 3,
        Imm::Dword => 4,
        Imm::Full => full,
        Imm::Wide => {
            if prefixes.is_wide() {
                8
            } else {
                full
            }
        }
        Imm::Address => {
            if prefixes.address_32 {
                4
            } else {
                8
            }
        }
        Imm::IfTest(is_full) => {
            let is_test = rest.get(opcode)? >> 3 & 7 <= 1;
            match (is_test, is_full) {
                (false, _) => 0,
                (true, false) => 1,
                (true, true) => full,
            }
        }
    };
    Some(opcode + modrm_bytes + immediate)
}

/// A load or store between memory and a general register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// Bytes of the instruction.
    pub length: usize,
    /// Bytes moved: 1, 2, 4 or 8.
    pub width: usize,
    /// What is moved where.
    pub kind: MoveKind,
}

/// Direction of a [`Move`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveKind {
    /// Memory to a register.
    Load {
        /// Register number, 0 (rax) to 15.
        register: u8,
        /// True for AH, CH, DH, BH: bits 15:8 of registers 0 to 3.
        high: bool,
        /// Bytes of the register that change: 8 for 4-byte loads too, which clear the upper half.
        into: usize,
        /// Sign-extended, not zero-extended, to `into`.
        signed: bool,
    },
    /// A register to memory.
    StoreRegister {
        /// Register number.
        register: u8,
        /// As in a load.
        high: bool,
    },
    /// A constant to memory.
    StoreConstant(u64),
}

/// Decodes MOV, MOVZX, MOVSX and MOVSXD with a memory operand; `None` for anything else.
pub fn decode_move(code: &[u8]) -> Option<Move> {
    let prefixes = prefixes(code)?;
    let rest = &code[prefixes.length..];
    let length = length(code)?;
    let operand = if prefixes.is_wide() {
        8
    } else if prefixes.operand_16 {
        2
    } else {
        4
    };
    // A 4-byte result clears the upper half of its register.
    let into = if operand == 4 { 8 } else { operand };
    let (opcode, modrm) = match (*rest.first()?, rest.get(1)) {
        (0x0F, Some(&second)) => (0x0F00 | u16::from(second), *rest.get(2)?),
        (first, second) => (u16::from(first), second.copied().unwrap_or(0)),
    };
    let is_absolute = matches!(opcode, 0xA0..=0xA3);
    if !is_absolute && modrm >> 6 == 3 {
        return None;
    }
    let register = if is_absolute { 0 } else { modrm >> 3 & 7 | (prefixes.rex & 4) << 1 };
    // Without REX, byte registers 4 to 7 are the high halves of 0 to 3.
    let high = prefixes.rex == 0 && (4..8).contains(&register);
    let byte = if high { register - 4 } else { register };
    let kind = |width, kind| Some(Move { length, width, kind });
    match opcode {
        0x88 | 0xA2 => kind(1, MoveKind::StoreRegister { register: byte, high }),
        0x89 | 0xA3 => kind(operand, MoveKind::StoreRegister { register, high: false }),
        0x8A | 0xA0 => kind(1, MoveKind::Load { register: byte, high, into: 1, signed: false }),
        0x8B | 0xA1 => kind(operand, MoveKind::Load { register, high: false, into, signed: false }),
        0xC6 if modrm >> 3 & 7 == 0 => kind(1, MoveKind::StoreConstant(constant(code, length, 1))),
        0xC7 if modrm >> 3 & 7 == 0 => kind(operand, MoveKind::StoreConstant(constant(code, length, operand.min(4)))),
        // Without REX.W compilers do not emit it.
        0x63 if prefixes.is_wide() => kind(4, MoveKind::Load { register, high: false, into, signed: true }),
        0x0FB6 | 0x0FBE => kind(1, MoveKind::Load { register, high: false, into: operand, signed: opcode == 0x0FBE }),
        0x0FB7 | 0x0FBF => kind(2, MoveKind::Load { register, high: false, into: operand, signed: opcode == 0x0FBF }),
        _ => None,
    }
}

/// The constant at the end of an instruction, sign-extended.
fn constant(code: &[u8], length: usize, bytes: usize) -> u64 {
    let unsigned = code[length - bytes..length].iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    let unused = 64 - 8 * bytes as u32;
    ((unsigned << unused) as i64 >> unused) as u64
}

impl MoveKind {
    /// The register's new value after a load of `value`.
    pub fn loaded(self, old: u64, value: u64, width: usize) -> u64 {
        let Self::Load { high, into, signed, .. } = self else { return old };
        if high {
            return old & !0xff00 | (value & 0xff) << 8;
        }
        let unused = 64 - 8 * width as u32;
        let extended = if signed { ((value << unused) as i64 >> unused) as u64 } else { value << unused >> unused };
        match into {
            8 => extended,
            // A 4-byte result is zero-extended to 8.
            4 => extended & 0xffff_ffff,
            narrow => {
                let mask = (1u64 << (8 * narrow)) - 1;
                old & !mask | extended & mask
            }
        }
    }
}
