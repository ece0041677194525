//! How alike two words are.

use std::borrow::Borrow;
use std::collections::HashSet;

/// Likeness below which two words have nothing to do with each other.
const LEAST: u32 = 60;

/// At most three of `known`, most alike first, that look like a mistyped or shortened `name`. Case does not count.
///
/// ```
/// use pericore_catalog::search::nearest;
///
/// assert_eq!(nearest("lookpu", ["LLC_LOOKUP", "LOOKUP", "TOR_INSERTS"]), ["LOOKUP", "LLC_LOOKUP"]);
/// assert!(nearest("bandwidth", ["CAS_COUNT"]).is_empty());
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    const MOST: usize = 3;
    let name = name.to_ascii_lowercase();
    let mut seen = HashSet::new();
    let scored = known.into_iter().filter(|candidate| seen.insert(*candidate)).filter_map(|candidate| {
        let lower = candidate.to_ascii_lowercase();
        let score = likeness(&name, &lower).max(part_likeness(&name, &lower));
        (score >= LEAST).then_some((score, candidate))
    });
    let mut scored: Vec<(u32, &str)> = scored.collect();
    // Of equally good ones the shorter says more.
    scored.sort_by_key(|(score, candidate)| (u32::MAX - score, candidate.len()));
    scored.into_iter().take(MOST).map(|(_, candidate)| candidate).collect()
}

/// `; did you mean A or B?`, or nothing.
pub fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(&nearest(name, known))
}

/// The same of names that were found before.
pub fn did_you_mean<T: Borrow<str>>(near: &[T]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

/// Likeness of a name's best part: names are long and people remember one word of them.
fn part_likeness(name: &str, candidate: &str) -> u32 {
    if name.len() < 3 {
        return 0;
    }
    if candidate.contains(name) {
        return 90;
    }
    let parts = candidate.split(|c: char| !c.is_ascii_alphanumeric());
    // A part is less than the whole.
    parts.map(|part| likeness(name, part)).max().unwrap_or(0).saturating_sub(15)
}

/// Likeness of two words in lower case, 0 to 100: 100 if they are equal, less for each letter that is missing, too much,
/// wrong or swapped. Words with little in common give 0.
pub(super) fn likeness(a: &str, b: &str) -> u32 {
    if a == b {
        return 100;
    }
    let (shorter, longer) = (a.len().min(b.len()), a.len().max(b.len()));
    // The edit distance is at least the difference in length, and costs time: decide without it where that is enough.
    if shorter == 0 || longer - shorter > longer / 3 + 1 {
        return if shorter >= 3 && (a.starts_with(b) || b.starts_with(a)) { 70 } else { 0 };
    }
    let distance = strsim::osa_distance(a, b);
    let allowed = match shorter {
        0..=2 => 0,
        3..=5 => 1,
        _ => shorter / 3,
    };
    if distance > allowed {
        return if shorter >= 3 && (a.starts_with(b) || b.starts_with(a)) { 70 } else { 0 };
    }
    let lost = u32::try_from(distance * 100 / longer.max(1)).unwrap_or(100);
    // A typing error is still a better match than a mere beginning.
    (100 - lost.min(100)).max(71)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_swaps_and_beginnings_are_alike_and_strangers_are_not() {
        assert_eq!(likeness("lookup", "lookup"), 100);
        for (a, b) in
            [("lookpu", "lookup"), ("bandwith", "bandwidth"), ("victms", "victims"), ("tor_insrets", "tor_inserts")]
        {
            assert!(likeness(a, b) > 70, "{a} {b}");
        }
        assert_eq!(likeness("band", "bandwidth"), 70);
        // Beginnings of words that are little longer, either way.
        assert_eq!([likeness("cas", "casts"), likeness("casts", "cas")], [70, 70]);
        // Two of nine letters are wrong: 22 in a hundred.
        assert_eq!(likeness("bandwidth", "bendwodth"), 78);
        for (a, b) in [("rd", "wr"), ("cas", "tor"), ("lookup", "victims"), ("", "x"), ("a", "b")] {
            assert_eq!(likeness(a, b), 0, "{a} {b}");
        }
    }

    #[test]
    fn at_most_three_and_the_best_first() {
        let names = ["LLC_LOOKUP", "LLC_VICTIMS", "TOR_INSERTS", "TOR_OCCUPANCY", "CAS_COUNT", "TOR_A", "TOR_B"];
        assert_eq!(nearest("llc_victms", names), ["LLC_VICTIMS"]);
        assert_eq!(nearest("TOR_INSRETS", names), ["TOR_INSERTS"]);
        assert_eq!(nearest("tor", names), ["TOR_A", "TOR_B", "TOR_INSERTS"]);
    }
}
