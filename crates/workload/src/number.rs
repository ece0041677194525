//! Numbers with binary suffixes: `64k`, `1M`, `2G`.

/// Reads digits and one optional suffix; `None` if it is anything else or does not fit.
pub fn parse(text: &str) -> Option<u64> {
    let shift = match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => 10,
        b'm' => 20,
        b'g' => 30,
        b't' => 40,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
    // `u64::from_str` would accept a plus sign.
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn suffixes_are_binary() {
        assert_eq!(parse("64"), Some(64));
        assert_eq!(parse("64k"), Some(65_536));
        assert_eq!(parse("3M"), Some(3 << 20));
        assert_eq!(parse("1g"), Some(1 << 30));
        for wrong in ["", "k", "-1", "+1", "1.5M", "1kk", "0x10", "99999999999999999999", "18446744073709551615k", "1é"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
