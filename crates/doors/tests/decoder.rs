//! The preloaded library's instruction decoder against iced-x86, on random bytes and on the code of this very program.

#[path = "../preload/x86.rs"]
mod x86;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use proptest::prelude::*;
use x86::{MoveKind, decode_move, length};

fn judge(code: &[u8]) -> Instruction {
    Decoder::with_ip(64, code, 0, DecoderOptions::NONE).decode()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    /// A wrong length would break a program; no length only leaves a CPUID unanswered.
    #[test]
    fn a_length_is_never_wrong(code in prop::collection::vec(any::<u8>(), 1..20)) {
        let instruction = judge(&code);
        if let (Some(length), false) = (length(&code), instruction.is_invalid()) {
            prop_assert_eq!(length, instruction.len(), "{:?} in {:02x?}", instruction.code(), code);
        }
    }

    #[test]
    fn moves_are_what_they_are_taken_for(
        prefix in prop::sample::select(vec![&[][..], &[0x66], &[0x40], &[0x44], &[0x48], &[0x4f], &[0x66, 0x45]]),
        opcode in prop::sample::select(vec![
            &[0x88][..], &[0x89], &[0x8a], &[0x8b], &[0xc6], &[0xc7], &[0x63], &[0xa0], &[0xa1], &[0xa2], &[0xa3],
            &[0x0f, 0xb6], &[0x0f, 0xb7], &[0x0f, 0xbe], &[0x0f, 0xbf],
        ]),
        rest in prop::collection::vec(any::<u8>(), 14),
    ) {
        let code: Vec<u8> = [prefix, opcode, &rest].concat();
        let Some(found) = decode_move(&code) else { return Ok(()) };
        let instruction = judge(&code);
        prop_assert!(!instruction.is_invalid());
        prop_assert_eq!(found.length, instruction.len());
        let sign_extends = matches!(instruction.mnemonic(), Mnemonic::Movsx | Mnemonic::Movsxd);
        prop_assert!(sign_extends || matches!(instruction.mnemonic(), Mnemonic::Mov | Mnemonic::Movzx), "{instruction:?}");
        prop_assert_eq!(found.width, instruction.memory_size().size(), "{:?}", instruction.code());
        match found.kind {
            MoveKind::Load { register, high, into, signed } => {
                let to = instruction.op0_register();
                prop_assert_eq!(usize::from(register), to.full_register().number(), "{:?}", to);
                prop_assert_eq!(high, to.is_gpr8() && !to.is_gpr16() && format!("{to:?}").ends_with('H'));
                prop_assert_eq!(signed, sign_extends);
                // A result of 4 bytes clears the upper half, however we say it.
                let size = to.size();
                prop_assert!(into == size || (size == 4 && into == 8 && !signed) || (size == 4 && into == 4), "{into} {to:?}");
            }
            MoveKind::StoreRegister { register, high } => {
                let from = instruction.op1_register();
                prop_assert_eq!(usize::from(register), from.full_register().number(), "{:?}", from);
                prop_assert_eq!(high, format!("{from:?}").ends_with('H'));
            }
            MoveKind::StoreConstant(value) => {
                prop_assert!(matches!(instruction.op1_kind(), OpKind::Immediate8 | OpKind::Immediate16 | OpKind::Immediate32 | OpKind::Immediate32to64));
                let bits = 8 * found.width as u32;
                let mask = u64::MAX >> (64 - bits);
                prop_assert_eq!(value & mask, instruction.immediate(1) & mask);
            }
        }
    }

    #[test]
    fn loads_change_what_the_processor_changes(old: u64, value: u64) {
        let load = |into, signed, high| MoveKind::Load { register: 0, high, into, signed };
        prop_assert_eq!(load(8, false, false).loaded(old, value, 4), value & 0xffff_ffff);
        prop_assert_eq!(load(8, true, false).loaded(old, value, 4), value as u32 as i32 as i64 as u64);
        prop_assert_eq!(load(4, true, false).loaded(old, value, 1), u64::from(value as u8 as i8 as i32 as u32));
        prop_assert_eq!(load(4, false, false).loaded(old, value, 2), value & 0xffff);
        prop_assert_eq!(load(2, false, false).loaded(old, value, 2), old & !0xffff | value & 0xffff);
        prop_assert_eq!(load(1, false, true).loaded(old, value, 1), old & !0xff00 | (value & 0xff) << 8);
    }
}

/// Bytes from an address of this program's code to where it ends.
fn mapped_from(address: usize) -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut ranges = maps.lines().filter_map(|line| line.split_once(' ')?.0.split_once('-'));
    let number = |text: &str| usize::from_str_radix(text, 16).unwrap();
    let (_, end) = ranges.find(|(start, end)| (number(start)..number(end)).contains(&address)).unwrap();
    number(end) - address
}

/// Every instruction of this program's own code, as a compiler writes it.
#[test]
fn compiled_code_is_understood_almost_entirely() {
    let start = iced_x86::Decoder::new as *const u8;
    let bytes = (1 << 16).min(mapped_from(start.addr()));
    // SAFETY: so much of a running program's code is mapped, readable, and stays.
    let code = unsafe { std::slice::from_raw_parts(start, bytes) };
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let (mut known, mut all) = (0, 0);
    let mut instruction = Instruction::default();
    while decoder.can_decode() {
        let at = decoder.position();
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            continue;
        }
        all += 1;
        if let Some(length) = length(&code[at..]) {
            assert_eq!(length, instruction.len(), "{instruction:?}");
            known += 1;
        }
    }
    assert!(all > 10_000 && known * 1000 >= all * 999, "{known} of {all}");
}
