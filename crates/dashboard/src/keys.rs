//! What a terminal sends when keys are pressed.

/// A key that means something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// Escape by itself.
    Escape,
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// To the first row.
    Home,
    /// To the last row.
    End,
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Return.
    Enter,
    /// To the next page.
    Tab,
    /// The key that takes the last character back.
    Backspace,
    /// Ctrl-C or Ctrl-\.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
}

const ESCAPE: u8 = 0x1b;

/// The keys in `bytes`, and how many bytes at the end are the beginning of one more: the rest of it may be on its way.
pub fn keys(bytes: &[u8]) -> (Vec<Key>, usize) {
    let mut keys = Vec::new();
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        let (key, used) = match first {
            ESCAPE => match sequence(after) {
                Some((key, used)) => (key, used + 1),
                None => return (keys, rest.len()),
            },
            0x03 | 0x1c => (Some(Key::Interrupt), 1),
            0x1a => (Some(Key::Suspend), 1),
            b'\r' | b'\n' => (Some(Key::Enter), 1),
            b'\t' => (Some(Key::Tab), 1),
            0x08 | 0x7f => (Some(Key::Backspace), 1),
            b' '..=b'~' => (Some(Key::Char(first.into())), 1),
            _ => (None, 1),
        };
        keys.extend(key);
        rest = &rest[used..];
    }
    (keys, 0)
}

/// What follows an escape: a key, if it is a known one, and its length; nothing if it is not complete.
fn sequence(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let (&kind, after) = bytes.split_first()?;
    match kind {
        // CSI: parameters, then a letter or `~`.
        b'[' => {
            let end = after.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            let key = match (&after[..end], after[end]) {
                (_, b'A') => Some(Key::Up),
                (_, b'B') => Some(Key::Down),
                (_, b'C') => Some(Key::Right),
                (_, b'D') => Some(Key::Left),
                (_, b'H') | (b"1" | b"7", b'~') => Some(Key::Home),
                (_, b'F') | (b"4" | b"8", b'~') => Some(Key::End),
                (b"5", b'~') => Some(Key::PageUp),
                (b"6", b'~') => Some(Key::PageDown),
                _ => None,
            };
            Some((key, end + 2))
        }
        // SS3: one letter.
        b'O' => {
            let key = match after.first()? {
                b'A' => Some(Key::Up),
                b'B' => Some(Key::Down),
                b'C' => Some(Key::Right),
                b'D' => Some(Key::Left),
                b'M' => Some(Key::Enter),
                b'H' => Some(Key::Home),
                b'F' => Some(Key::End),
                _ => None,
            };
            Some((key, 2))
        }
        // Escape twice is Escape; with another key it is that key with Alt, which means nothing here.
        ESCAPE => Some((Some(Key::Escape), 0)),
        _ => Some((None, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_in_all_their_forms() {
        let all = |bytes: &[u8]| {
            let (keys, rest) = keys(bytes);
            assert_eq!(rest, 0, "{bytes:?}");
            keys
        };
        assert_eq!(all(b"s q"), [Key::Char('s'), Key::Char(' '), Key::Char('q')]);
        assert_eq!(all(b"\x1b[A\x1b[B\x1bOA\x1bOB"), [Key::Up, Key::Down, Key::Up, Key::Down]);
        assert_eq!(all(b"\x1b[5~\x1b[6~\x1b[H\x1b[4~"), [Key::PageUp, Key::PageDown, Key::Home, Key::End]);
        assert_eq!(all(b"\x1b[C\x1b[D\x1bOC\x1bOD"), [Key::Right, Key::Left, Key::Right, Key::Left]);
        assert_eq!(all(b"\r\n\t\x7f\x08"), [Key::Enter, Key::Enter, Key::Tab, Key::Backspace, Key::Backspace]);
        assert_eq!(all(b"\x1b[1;5A"), [Key::Up], "with Ctrl");
        assert_eq!(all(b"\x03\x1a\x1c"), [Key::Interrupt, Key::Suspend, Key::Interrupt]);
        assert_eq!(all(b"\x1b[200~q\0\xc3\xa4\x1bx"), [Key::Char('q')], "unknown keys do nothing");
    }

    #[test]
    fn what_is_cut_waits_for_the_rest() {
        assert_eq!(keys(b"s\x1b"), (vec![Key::Char('s')], 1));
        assert_eq!(keys(b"\x1b["), (vec![], 2));
        assert_eq!(keys(b"\x1b[5"), (vec![], 3));
        assert_eq!(keys(b"\x1bO"), (vec![], 2));
        assert_eq!(keys(b"\x1b\x1b[A"), (vec![Key::Escape, Key::Up], 0));
        assert_eq!(keys(b""), (vec![], 0));
    }

    /// However a terminal's bytes are cut up, they are the same keys, and none of them stays behind for ever.
    #[test]
    fn bytes_may_come_one_by_one() {
        const BYTES: [u8; 9] = [ESCAPE, b'[', b'O', b'A', b'5', b'~', 0x03, b'q', 0xff];
        for number in 0..BYTES.len().pow(4) {
            let bytes: Vec<u8> = (0..4).map(|place| BYTES[number / BYTES.len().pow(place) % BYTES.len()]).collect();
            let (at_once, rest) = keys(&bytes);
            assert!(rest == 0 || bytes[bytes.len() - rest] == ESCAPE, "{bytes:?}");
            let (mut one_by_one, mut waiting) = (Vec::new(), Vec::new());
            for byte in &bytes {
                waiting.push(*byte);
                let (more, rest) = keys(&waiting);
                waiting.drain(..waiting.len() - rest);
                one_by_one.extend(more);
            }
            assert_eq!((one_by_one, waiting.len()), (at_once, rest), "{bytes:?}");
        }
    }
}
