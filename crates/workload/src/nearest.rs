//! Names that look like a mistyped one.

/// The candidates within the least edit distance, if that is at most a third of the name (and at least 2).
pub fn nearest(name: &str, candidates: &[&'static str]) -> Vec<&'static str> {
    let name = name.to_ascii_lowercase();
    let limit = (name.chars().count() / 3).max(2);
    let distances: Vec<usize> = candidates.iter().map(|candidate| distance(&name, candidate)).collect();
    match distances.iter().copied().min() {
        Some(least) if least <= limit => {
            candidates.iter().zip(&distances).filter(|&(_, &d)| d == least).map(|(&candidate, _)| candidate).collect()
        }
        _ => Vec::new(),
    }
}

/// Insertions, deletions and replacements that lead from one word to the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_typing_errors_and_nothing_far_away() {
        let names = ["stream", "copy", "random", "chase", "mixed"];
        assert_eq!(nearest("steam", &names), ["stream"]);
        assert_eq!(nearest("RANDOM", &names), ["random"]);
        assert_eq!(nearest("chsae", &names), ["chase"]);
        assert!(nearest("bandwidth", &names).is_empty());
    }
}
