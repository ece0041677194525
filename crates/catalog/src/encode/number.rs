//! Numbers as people write them.

/// The number that a text stands for: decimal, hexadecimal after `0x`, or binary after `0b`.
///
/// ```
/// use pericore_catalog::encode::parse_number;
///
/// assert_eq!(parse_number("0x1F"), Some(31));
/// assert_eq!(parse_number("0b101"), Some(5));
/// assert_eq!(parse_number("31"), Some(31));
/// assert_eq!(parse_number("1f"), None);
/// assert_eq!(parse_number("+1"), None);
/// ```
pub fn parse_number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0b" | "0B") => (&text[2..], 2),
        _ => (text, 10),
    };
    // The standard library would take a sign.
    if !digits.starts_with(|first: char| first.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}
