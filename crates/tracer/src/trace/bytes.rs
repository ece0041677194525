//! Numbers and text in a block's contents.

/// Appends a number, 7 bits a byte, lowest first.
pub fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a difference, small for small steps either way.
pub fn put_difference(bytes: &mut Vec<u8>, from: u64, to: u64) {
    let difference = to.wrapping_sub(from) as i64;
    put_number(bytes, (difference << 1 ^ difference >> 63) as u64);
}

/// Appends text.
pub fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

/// Takes numbers and text off the front; `None` where there is none.
pub struct Contents<'a>(pub &'a [u8]);

impl Contents<'_> {
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub fn number32(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// The end of a difference that began at `from`.
    pub fn difference(&mut self, from: u64) -> Option<u64> {
        let folded = self.number()?;
        Some(from.wrapping_add(folded >> 1 ^ (folded & 1).wrapping_neg()))
    }

    pub fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}
