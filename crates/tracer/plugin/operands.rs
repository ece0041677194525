//! Which general registers an instruction's address and its results come from, by its bytes.

use super::effect::{
    ADDRESS, BYTE_CODE, BYTE_REG, BYTE_RM, CODE, Effect, MAPS, MEMORY, OPERAND, PREFIXES, REG, RM, VARIANTS, VVVV,
    register_in_opcode,
};

include!(concat!(env!("OUT_DIR"), "/effects.rs"));

/// General registers, a bit each. The stack pointer is none of them: a stack is where it is.
pub type RegisterSet = u16;

/// The registers of an instruction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Operands {
    /// Of its address in memory, if it accesses any.
    pub address: RegisterSet,
    /// Whose values its results are made of, or which it stores.
    pub sources: RegisterSet,
    /// That get its results.
    pub targets: RegisterSet,
    /// True if it accesses memory.
    pub in_memory: bool,
}

const STACK_POINTER: u8 = 4;

/// Bits of a REX prefix, or of a VEX prefix as REX has them.
const BASE: u8 = 1;
const INDEX: u8 = 2;
const REGISTER: u8 = 4;

/// An instruction's prefixes and its opcode.
struct Head {
    map: usize,
    opcode: u8,
    /// As the table counts them.
    prefix: usize,
    rex: u8,
    /// Without one, the registers 4 to 7 of a byte are others.
    has_rex: bool,
    vvvv: u8,
}

/// The registers of the instruction that begins with these bytes. What is not known has none.
pub fn operands(bytes: &[u8]) -> Operands {
    parse(bytes).unwrap_or_default()
}

fn parse(bytes: &[u8]) -> Option<Operands> {
    let (head, rest) = head(bytes)?;
    let modrm = rest.first().copied().unwrap_or(0);
    let (middle, is_register) = (modrm >> 3 & 7, modrm >> 6 == 3);
    let row = ROWS[(head.map * 256 + usize::from(head.opcode)) * PREFIXES + head.prefix];
    let variant = usize::from(middle) + if is_register { VARIANTS / 2 } else { 0 };
    let effect = EFFECTS[usize::from(VARIANTS_OF[usize::from(row)][variant])];
    let (reg, rm) = (head.extended(middle, REGISTER), head.extended(modrm & 7, BASE));
    let code = register_in_opcode(head.map, head.opcode).map(|number| head.extended(number, BASE));
    let one = |number: u8, byte: u8| {
        let is_second_byte = effect.kind & byte != 0 && !head.has_rex && (4..8).contains(&number);
        if is_second_byte { 0 } else { bit(number) }
    };
    let of_address = || if is_register { 0 } else { address(rest, &head) };
    let of = |flags: u8| {
        let flag = |flag: u8, registers: &dyn Fn() -> RegisterSet| if flags & flag != 0 { registers() } else { 0 };
        flag(REG, &|| one(reg, BYTE_REG))
            | flag(RM, &|| one(rm, BYTE_RM))
            | flag(VVVV, &|| bit(head.vvvv))
            | flag(CODE, &|| code.map_or(0, |number| one(number, BYTE_CODE)))
            | flag(ADDRESS, &of_address)
    };
    let address = if effect.kind & OPERAND != 0 { of_address() } else { 0 };
    let clears = is_register && reg == rm && head.map == 0 && matches!(head.opcode, 0x28..=0x2B | 0x30..=0x33);
    Some(Operands {
        address: address | RegisterSet::from(effect.implicit_address),
        sources: if clears { 0 } else { of(effect.reads) | RegisterSet::from(effect.implicit_reads) },
        targets: of(effect.writes) | RegisterSet::from(effect.implicit_writes),
        in_memory: effect.kind & MEMORY != 0,
    })
}

const fn bit(register: u8) -> RegisterSet {
    if register == STACK_POINTER { 0 } else { 1 << register }
}

/// The registers of the address that begins with ModRM.
fn address(bytes: &[u8], head: &Head) -> RegisterSet {
    let [modrm, rest @ ..] = bytes else { return 0 };
    let (is_bare, low) = (modrm >> 6 == 0, modrm & 7);
    if low != 4 {
        // Without a displacement, 5 is the place of the instruction itself.
        return if is_bare && low == 5 { 0 } else { bit(head.extended(low, BASE)) };
    }
    let sib = rest.first().copied().unwrap_or(0);
    let base = if is_bare && sib & 7 == 5 { 0 } else { bit(head.extended(sib & 7, BASE)) };
    base | bit(head.extended(sib >> 3 & 7, INDEX))
}

impl Head {
    /// A register's number of three bits with its fourth.
    const fn extended(&self, number: u8, bit: u8) -> u8 {
        number | if self.rex & bit != 0 { 8 } else { 0 }
    }
}

/// Prefixes and opcode, and the bytes that follow. None of EVEX, and where bytes are missing.
fn head(bytes: &[u8]) -> Option<(Head, &[u8])> {
    let mut rest = bytes;
    let (mut wide, mut repeat) = (0, 0);
    while let [byte @ (0x26 | 0x2E | 0x36 | 0x3E | 0x64..=0x67 | 0xF0 | 0xF2 | 0xF3), tail @ ..] = rest {
        match byte {
            0x66 => wide = 1,
            0xF3 => repeat = 2,
            0xF2 => repeat = 3,
            _ => {}
        }
        rest = tail;
    }
    let prefix = if repeat != 0 { repeat } else { wide };
    match rest {
        // In VEX, bits of REX and of the third operand are inverted.
        &[0xC5, second, opcode, ref rest @ ..] => {
            let (rex, vvvv) = (!second >> 5 & REGISTER, !second >> 3 & 15);
            Some((Head { map: 4, opcode, prefix: (second & 3).into(), rex, has_rex: true, vvvv }, rest))
        }
        &[0xC4, second, third, opcode, ref rest @ ..] => {
            let (rex, vvvv) = (!second >> 5, !third >> 3 & 15);
            let map = usize::from(second & 31) + 3;
            let head = Head { map, opcode, prefix: (third & 3).into(), rex, has_rex: true, vvvv };
            (4..MAPS).contains(&map).then_some((head, rest))
        }
        [0xC4 | 0xC5 | 0x62, ..] => None,
        _ => legacy(rest, prefix),
    }
}

fn legacy(bytes: &[u8], prefix: usize) -> Option<(Head, &[u8])> {
    let (rex, rest) = match bytes {
        [rex @ 0x40..=0x4F, rest @ ..] => (Some(rex & 15), rest),
        _ => (None, bytes),
    };
    let (map, rest) = match rest {
        [0x0F, 0x38, rest @ ..] => (2, rest),
        [0x0F, 0x3A, rest @ ..] => (3, rest),
        [0x0F, rest @ ..] => (1, rest),
        _ => (0, rest),
    };
    let (&opcode, rest) = rest.split_first()?;
    Some((Head { map, opcode, prefix, rex: rex.unwrap_or(0), has_rex: rex.is_some(), vvvv: 0 }, rest))
}
