//! Numbers as the documents print them.

use toml::de::DeInteger;

/// The value of a TOML integer, if it is not negative and fits 64 bits.
pub fn integer(value: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(value.as_str(), value.radix()).ok()
}

/// A bit pattern such as `bxxxxxx1x`: `x` counts as 0.
pub fn pattern(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('b')?;
    if digits.is_empty() || digits.len() > 64 {
        return None;
    }
    digits.chars().try_fold(0, |value, digit| match digit {
        '0' | 'x' => Some(value << 1),
        '1' => Some(value << 1 | 1),
        _ => None,
    })
}

/// `"31:24"` or `"22"`, as (highest, lowest).
pub fn bits(text: &str) -> Option<(u8, u8)> {
    let (msb, lsb) = text.split_once(':').unwrap_or((text, text));
    let (msb, lsb) = (msb.trim().parse().ok()?, lsb.trim().parse().ok()?);
    (msb < 64 && msb >= lsb).then_some((msb, lsb))
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_and_bits_as_printed() {
        assert_eq!(super::pattern("bxxxxxx1x"), Some(2));
        assert_eq!(super::pattern("b01000011"), Some(0x43));
        assert_eq!(super::pattern("01"), None);
        assert_eq!(super::pattern("b2"), None);
        assert_eq!(super::bits("31:24"), Some((31, 24)));
        assert_eq!(super::bits("22"), Some((22, 22)));
        assert_eq!(super::bits("3:7"), None);
        assert_eq!(super::bits("64"), None);
    }
}
