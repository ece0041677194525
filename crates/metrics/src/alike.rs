//! Texts that say the same of different places: what many instances of a unit have to say is said once.

/// Texts that differ in their numbers alone, such as those of all instances of a unit, each kind once: the first of it,
/// and how many others there are.
pub fn each_once(texts: &[String]) -> Vec<(&str, usize)> {
    let mut kinds: Vec<(String, &str, usize)> = Vec::new();
    for text in texts {
        let kind = without_numbers(text);
        match kinds.iter_mut().find(|(known, ..)| *known == kind) {
            Some((.., others)) => *others += 1,
            None => kinds.push((kind, text, 0)),
        }
    }
    kinds.into_iter().map(|(_, text, others)| (text, others)).collect()
}

/// A text with one mark for each number in it, decimal or hexadecimal.
pub fn without_numbers(text: &str) -> String {
    let mut kind = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let hexadecimal = rest.strip_prefix("0x").filter(|digits| digits.starts_with(|c: char| c.is_ascii_hexdigit()));
        rest = match hexadecimal {
            Some(digits) => digits.trim_start_matches(|c: char| c.is_ascii_hexdigit()),
            None if first.is_ascii_digit() => rest.trim_start_matches(|c: char| c.is_ascii_digit()),
            None => {
                kind.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        kind.push('#');
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_form_are_one_mark() {
        assert_eq!(without_numbers("cha12 ctl0 0x1f\u{b5}s 3.25 0xcafe"), "cha# ctl# #\u{b5}s #.# #");
        assert_eq!(without_numbers("0x and 0"), "#x and #");
    }
}
