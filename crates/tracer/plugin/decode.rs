//! The few instructions whose stores or prefixes matter, recognised by their bytes.

/// True for an instruction with an EVEX prefix: in 64-bit code, the byte 0x62 is nothing else.
pub fn is_evex(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x62)
}

/// True for REP STOS and REP MOVS, in all sizes (SDM volume 2, opcodes AA, AB, A4 and A5 behind F3 or F2).
pub fn is_repeated_store(bytes: &[u8]) -> bool {
    let (rest, repeats) = without_prefixes(bytes);
    repeats && matches!(rest, [0xA4 | 0xA5 | 0xAA | 0xAB, ..])
}

/// True for a store that goes around the caches: MOVNTI, MOVNTPS, MOVNTPD, MOVNTQ, MOVNTDQ and their VEX forms
/// (SDM volume 2, opcodes 0F 2B, 0F C3, 0F E7). MOVNTDQA is a load.
pub fn is_non_temporal_store(bytes: &[u8]) -> bool {
    match bytes {
        [0xC5, _, opcode, ..] => matches!(opcode, 0x2B | 0xE7),
        [0xC4, map, _, opcode, ..] => map & 0x1F == 1 && matches!(opcode, 0x2B | 0xE7),
        _ => legacy(bytes),
    }
}

/// What comes behind the prefixes, and whether F2 or F3 is among these.
fn without_prefixes(bytes: &[u8]) -> (&[u8], bool) {
    let mut rest = bytes;
    let mut repeats = false;
    while let [prefix @ (0x26 | 0x2E | 0x36 | 0x3E | 0x40..=0x4F | 0x64..=0x67 | 0xF2 | 0xF3), tail @ ..] = rest {
        repeats |= matches!(prefix, 0xF2 | 0xF3);
        rest = tail;
    }
    (rest, repeats)
}

fn legacy(bytes: &[u8]) -> bool {
    let (rest, repeat) = without_prefixes(bytes);
    // With F2 or F3, 0F E7 converts and 0F 2B is a scalar store of another extension.
    matches!(rest, [0x0F, 0x2B | 0xC3 | 0xE7, ..]) && !repeat
}
