//! The words of a search, and what stands for a topic among them.

use pericore_catalog::search::Query;

use super::topics;
use crate::failure::Failure;

/// Words that a row must have, each as a query of its own, so that a phrase stays together in none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    words: Vec<String>,
    /// A topic's words, which must stand together.
    phrase: Option<String>,
}

impl Terms {
    /// The words as they are, and those that have a topic's other words in its place.
    ///
    /// # Errors
    /// Topics that cannot be read.
    pub fn all(text: &str) -> Result<Vec<Self>, Failure> {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut all = vec![Self { words: words(text), phrase: None }];
        for topic in topics::all()? {
            let word = topic.word.to_lowercase();
            let rest = match text.strip_prefix(&word) {
                Some(rest) if rest.is_empty() || rest.starts_with(' ') => words(rest),
                _ if words(text).contains(&word) => words(text).into_iter().filter(|other| *other != word).collect(),
                _ => continue,
            };
            let others =
                topic.also.iter().map(|other| Self { words: rest.clone(), phrase: Some(other.to_lowercase()) });
            all.extend(others);
        }
        Ok(all)
    }

    /// How well a row fits, from 1 to 100: none if a word or the phrase is in none of the texts. A unit's name counts
    /// as a word of all that belongs to it, but finds no row alone.
    pub fn score(&self, unit: &str, prefix: &str, names: &[&str], texts: &[&str]) -> Option<u32> {
        let is_unit = names.is_empty();
        let words = self.words.iter().filter(|word| is_unit || self.is_alone() || !word.eq_ignore_ascii_case(unit));
        let query = Query::new(words).without_prefix(prefix);
        let with_unit = if is_unit { vec![unit] } else { names.to_vec() };
        let has_phrase =
            |text: &&str| self.phrase.as_ref().is_none_or(|phrase| text.to_lowercase().contains(phrase.as_str()));
        let fits = query.matches(&with_unit, texts) && with_unit.iter().chain(texts).any(has_phrase);
        // Another word for a topic weighs a little less than the word itself.
        let less = if self.phrase.is_some() { 5 } else { 0 };
        fits.then(|| query.rank(&with_unit, texts).unwrap_or(40).saturating_sub(less))
    }

    /// True if nothing is searched for but one word.
    const fn is_alone(&self) -> bool {
        self.words.len() == 1 && self.phrase.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topics_words_are_searched_for_as_well() {
        let also = |text: &str| {
            let all = Terms::all(text).unwrap();
            all.iter()
                .map(|terms| format!("{}+{}", terms.phrase.as_deref().unwrap_or(""), terms.words.join(" ")))
                .collect::<Vec<_>>()
        };
        assert_eq!(also("victim"), ["+victim"]);
        assert_eq!(also("cxl"), ["+cxl", "cxlcm+", "cxldp+"]);
        assert_eq!(also("latency imc"), ["+latency imc", "residency+imc"]);
        assert!(also("ddio").contains(&"pcie write+".to_owned()));
        assert!(also("row buffer").contains(&"page+".to_owned()));
    }

    #[test]
    fn a_units_name_narrows_what_other_words_find() {
        let score = |text: &str, unit: &str, name: &str| {
            Terms::all(text).unwrap()[0].score(unit, "", &[name], &["Bytes a second."]).is_some()
        };
        assert!(score("imc bandwidth", "imc", "MEM_BANDWIDTH") && !score("imc bandwidth", "iio", "IO_BANDWIDTH"));
        assert!(!score("imc", "imc", "CAS_COUNT"));
    }
}
