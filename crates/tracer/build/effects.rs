//! What each instruction does with general registers, as a table: what iced-x86 knows of it, asked for each opcode
//! once.
//!
//! The plugin is compiled without dependencies, and an instruction is looked at each time that QEMU translates it: it
//! reads prefixes and ModRM itself (`plugin/operands.rs`) and finds the rest here.

use std::collections::HashMap;
use std::fmt::Write as _;

use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfo, InstructionInfoFactory, OpAccess, Register, UsedRegister,
};

#[path = "../plugin/effect.rs"]
mod effect;

use effect::{
    ADDRESS, BYTE_CODE, BYTE_REG, BYTE_RM, CODE, Effect, MAPS, MEMORY, OPERAND, PREFIXES, REG, RM, VARIANTS, VVVV,
};

/// The table as Rust.
pub fn table() -> String {
    let mut factory = InstructionInfoFactory::new();
    let mut effects = vec![Effect::default()];
    let mut variants: Vec<[u8; VARIANTS]> = Vec::new();
    let mut known = HashMap::new();
    let mut rows = String::new();
    for map in 0..MAPS {
        for opcode in 0..=u8::MAX {
            for prefix in 0..PREFIXES {
                let row: [u8; VARIANTS] = std::array::from_fn(|variant| {
                    let sample = Sample::new(map, opcode, prefix, variant);
                    number_of(sample.effect(&mut factory), &mut effects)
                });
                let number = *known.entry(row).or_insert_with(|| {
                    variants.push(row);
                    variants.len() - 1
                });
                let _ = write!(rows, "{number},");
            }
        }
    }
    let mut text = format!("static ROWS: [u16; {}] = [{rows}];\n", MAPS * 256 * PREFIXES);
    let _ = writeln!(text, "static VARIANTS_OF: [[u8; {VARIANTS}]; {}] = {variants:?};", variants.len());
    let _ = writeln!(text, "static EFFECTS: [Effect; {}] = {effects:?};", effects.len());
    text
}

fn number_of(effect: Effect, effects: &mut Vec<Effect>) -> u8 {
    let at = effects.iter().position(|known| *known == effect).unwrap_or_else(|| {
        effects.push(effect);
        effects.len() - 1
    });
    u8::try_from(at).expect("x86 has fewer kinds of effects on general registers")
}

/// An instruction whose operands are registers that no instruction uses of its own accord, all of them different.
struct Sample {
    instruction: Instruction,
    /// ModRM's register, its other operand (or that one's address), VEX's third and the one in the opcode.
    reg: Register,
    rm: Register,
    vvvv: Option<Register>,
    code: Option<Register>,
    in_memory: bool,
}

impl Sample {
    fn new(map: usize, opcode: u8, prefix: usize, variant: usize) -> Self {
        let (reg, in_memory) = ((variant & 7) as u8, variant & 8 == 0);
        // Not 4, behind which another byte would follow.
        let rm = [(reg + 3) & 7, (reg + 5) & 7].into_iter().find(|rm| *rm != 4).expect("two are different");
        let modrm = if in_memory { 0x40 } else { 0xC0 } | reg << 3 | rm;
        let mut bytes = Vec::new();
        let vex = effect::is_vex(map);
        if vex {
            // R and B set, inverted; the third operand is rbx.
            bytes.extend([0xC4, 0x40 | effect::vex_map(map), (!3 & 15) << 3 | prefix as u8]);
        } else {
            bytes.extend(match prefix {
                0 => &[][..],
                1 => &[0x66],
                2 => &[0xF3],
                _ => &[0xF2],
            });
            bytes.push(0x45);
            bytes.extend(effect::escapes(map));
        }
        bytes.extend([opcode, modrm, 0x10, 0, 0, 0, 0, 0, 0, 0, 0]);
        let instruction = Decoder::new(64, &bytes, DecoderOptions::NONE).decode();
        let high = |number: u8| Register::R8 + u32::from(number);
        let code = effect::register_in_opcode(map, opcode).map(high);
        Self { instruction, reg: high(reg), rm: high(rm), vvvv: vex.then_some(Register::RBX), code, in_memory }
    }

    fn effect(&self, factory: &mut InstructionInfoFactory) -> Effect {
        let mut effect = Effect::default();
        if self.instruction.is_invalid() {
            return effect;
        }
        let info = factory.info(&self.instruction);
        for used in info.used_registers() {
            self.add(&mut effect, used);
        }
        self.add_addresses(&mut effect, info);
        effect
    }

    fn add(&self, effect: &mut Effect, used: &UsedRegister) {
        use OpAccess::{CondRead, CondWrite, Read, ReadCondWrite, ReadWrite, Write};
        let register = used.register();
        let full = register.full_register();
        // The stack is where it is.
        if !full.is_gpr64() || full == Register::RSP {
            return;
        }
        let (size, access) = (register.size(), used.access());
        let writes = matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite);
        // What is not written stays: of a register of which a part is, and where it is only written under a condition.
        let stays = writes && (size < 4 || access == CondWrite);
        let reads = matches!(access, Read | CondRead | ReadWrite | ReadCondWrite) || stays;
        let (flag, byte) = match full {
            _ if Some(full) == self.code => (CODE, BYTE_CODE),
            _ if Some(full) == self.vvvv => (VVVV, 0),
            _ if self.code.is_none() && full == self.reg => (REG, BYTE_REG),
            _ if self.code.is_none() && full == self.rm && !self.in_memory => (RM, BYTE_RM),
            _ if self.code.is_none() && full == self.rm => return,
            _ => {
                let number = full as u32 - Register::RAX as u32;
                // The kernel returns nothing that it has loaded of late, and string instructions walk by themselves.
                if number < 8 && !self.instruction.is_string_instruction() || full == Register::RAX {
                    effect.implicit_reads |= u8::from(reads) << number;
                    effect.implicit_writes |= u8::from(writes) << number;
                }
                return;
            }
        };
        effect.reads |= if reads { flag } else { 0 };
        effect.writes |= if writes { flag } else { 0 };
        effect.kind |= if size == 1 { byte } else { 0 };
    }

    fn add_addresses(&self, effect: &mut Effect, info: &InstructionInfo) {
        let is_operand = |base: Register| self.in_memory && self.code.is_none() && base.full_register() == self.rm;
        let accessed = info.used_memory().iter().filter(|memory| memory.access() != OpAccess::NoMemAccess);
        for memory in accessed {
            let base = memory.base().full_register();
            effect.kind |= MEMORY | if is_operand(base) { OPERAND } else { 0 };
            let number = (base as u32).wrapping_sub(Register::RAX as u32);
            if number < 8 && base != Register::RSP {
                effect.implicit_address |= 1 << number;
            }
        }
        // The address itself is the value.
        if effect.kind & OPERAND == 0 && is_operand(self.instruction.memory_base()) {
            effect.reads |= ADDRESS;
        }
    }
}
