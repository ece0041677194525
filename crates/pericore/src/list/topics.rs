//! Topics: what users search for, and the words of the catalogue for it.

use serde::Deserialize;

use crate::failure::Failure;

/// A topic has a word, a title, and words of names and descriptions that are about it.
const TEXT: &str = include_str!("../../data/topics.json");

/// A topic.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchTopic {
    /// The user's word.
    pub word: String,
    /// Words of names and descriptions that are about it.
    #[serde(default)]
    pub also: Vec<String>,
    /// What it is about.
    pub title: String,
}

/// All topics, in the order of the file.
///
/// # Errors
/// A file that cannot be read, which a test rules out.
pub fn all() -> Result<Vec<SearchTopic>, Failure> {
    serde_json::from_str(TEXT).map_err(|error| Failure::failed(format!("data/topics.json: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Titles stand behind the word in a line of 80 columns.
    #[test]
    fn every_topic_fits_a_line() {
        for SearchTopic { word, title, .. } in all().unwrap() {
            assert!(word.len() <= 12 && title.len() <= 64, "{word}: {title}");
        }
    }
}
