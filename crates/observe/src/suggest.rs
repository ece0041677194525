//! "Did you mean": the known names nearest to an unknown one.

/// At most three of `candidates`, nearest first, that look like a mistyped or shortened `name`. Case does not count.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let name = name.to_ascii_lowercase();
    let limit = (name.chars().count() / 3).max(2);
    let mut close: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates {
        let known = candidate.to_ascii_lowercase();
        let distance = strsim::damerau_levenshtein(&name, &known);
        // A part of a long name is too far away to count as mistyped, and yet clearly meant.
        let is_part = name.len() >= 3 && known.contains(&name);
        if (distance <= limit || is_part) && !close.iter().any(|(_, known)| *known == candidate) {
            close.push((distance, candidate));
        }
    }
    close.sort_by_key(|&(distance, _)| distance);
    // One letter more is as good a guess; far worse ones only distract from a good one.
    let best = close.first().map_or(0, |&(distance, _)| distance);
    close.retain(|&(distance, _)| distance <= best + 1);
    close.truncate(3);
    close.into_iter().map(|(_, candidate)| candidate.to_owned()).collect()
}

/// The suggestion as the end of a message: `; did you mean A or B?`, or nothing.
pub(crate) fn hint(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", nearest.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_typing_errors_and_parts_and_nothing_far_away() {
        let names = ["LLC_LOOKUP", "LLC_VICTIMS", "TOR_INSERTS", "CAS_COUNT"];
        assert_eq!(nearest("llc_victms", names), ["LLC_VICTIMS"]);
        assert_eq!(nearest("TOR_INSRETS", names), ["TOR_INSERTS"]);
        assert_eq!(nearest("cas", names), ["CAS_COUNT"]);
        assert!(nearest("bandwidth", names).is_empty());
        assert_eq!(hint(&nearest("llc_victms", names)), "; did you mean LLC_VICTIMS?");
    }
}
