//! Words that a user searches for, against names and descriptions.

use super::similar::likeness;

/// Words to search for. A word with a `*` is a pattern for whole names; others may stand anywhere. Case does not count.
#[derive(Debug, Clone, Default)]
pub struct Query {
    words: Vec<String>,
}

impl Query {
    /// The words of a command line; a word with spaces in it is several.
    pub fn new<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Self {
        let mut all = Vec::new();
        for word in words {
            all.extend(word.as_ref().split_whitespace().map(str::to_ascii_lowercase));
        }
        Self { words: all }
    }

    /// True if nothing is searched for: everything matches.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words as one text, for messages.
    pub fn text(&self) -> String {
        self.words.join(" ")
    }

    /// The query with a prefix of Intel's event names taken off its words: `UNC_C_LLC*` becomes `llc*` for `UNC_C_`.
    pub fn without_prefix(&self, prefix: &str) -> Self {
        let strip = |word: &String| {
            let start = word.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
            if start { word[prefix.len()..].to_owned() } else { word.clone() }
        };
        Self { words: self.words.iter().map(strip).collect() }
    }

    /// True if a word has a dot in it, and so may join an event's name and a subevent's.
    pub fn has_dot(&self) -> bool {
        self.words.iter().any(|word| word.contains('.'))
    }

    /// True if every word stands in one of the texts, or is a pattern that one of `names` fits.
    pub fn matches(&self, names: &[&str], texts: &[&str]) -> bool {
        self.words.iter().all(|word| {
            if word.contains('*') {
                names.iter().any(|name| fits(word.as_bytes(), name.as_bytes()))
            } else {
                names.iter().chain(texts).any(|text| contains(text, word))
            }
        })
    }

    /// How well a row fits although not every word stands in it: 1 to 100 per word on average, or none if a word has nothing
    /// like it. Words of names weigh more than words of descriptions.
    pub fn rank(&self, names: &[&str], texts: &[&str]) -> Option<u32> {
        let mut sum = 0;
        let mut count = 0;
        for part in self.words.iter().flat_map(|word| parts(word)) {
            let in_names = best(part, names);
            let in_texts = best(part, texts) * 9 / 10;
            let score = in_names.max(in_texts);
            if score == 0 {
                return None;
            }
            sum += score;
            count += 1;
        }
        sum.checked_div(count)
    }
}

/// The parts of a name or a sentence.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty())
}

fn best(word: &str, texts: &[&str]) -> u32 {
    let all = texts.iter().flat_map(|text| parts(text));
    all.map(|part| likeness(word, &part.to_ascii_lowercase())).max().unwrap_or(0)
}

/// True if `text` has `word`, which is in lower case, in it. Nothing is allocated: lists of thousands of rows run through here.
fn contains(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    word.is_empty() || text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

/// True if `name` fits a pattern in lower case, where `*` stands for anything.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    // Where to try again: behind the last `*`, one byte further into the name.
    let (mut p, mut n, mut retry) = (0, 0, None);
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            retry = Some((p + 1, n));
            p += 1;
        } else if pattern.get(p).is_some_and(|sign| sign.eq_ignore_ascii_case(&name[n])) {
            p += 1;
            n += 1;
        } else if let Some((after, from)) = retry {
            (p, n) = (after, from + 1);
            retry = Some((after, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|sign| *sign == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_must_stand_somewhere() {
        let query = Query::new(["llc miss", "READ"]);
        assert!(query.matches(&["LLC_LOOKUP.DATA_READ"], &["Misses of the slice."]));
        assert!(!query.matches(&["LLC_LOOKUP.DATA_READ"], &["Look-ups of the slice."]));
        assert!(Query::default().matches(&[], &[]));
    }

    #[test]
    fn a_star_stands_for_anything_in_names_only() {
        let fits = |pattern: &str, name: &str| Query::new([pattern]).matches(&[name], &["about tor"]);
        assert!(fits("tor_*.miss*", "TOR_INSERTS.MISS_ALL"));
        assert!(fits("*", ""));
        assert!(fits("*occ*", "TOR_OCCUPANCY"));
        assert!(fits("a*b*c", "aXbbYbc"));
        assert!(!fits("tor*", "X_TOR"));
        assert!(!fits("*tor", "TOR_INSERTS"));
    }

    #[test]
    fn ranking_forgives_typing_errors_and_prefers_names() {
        let query = Query::new(["lokup"]);
        let name = query.rank(&["LLC_LOOKUP"], &[""]);
        let text = query.rank(&["X"], &["One lookup each."]);
        assert!(name > text && text > Some(0), "{name:?} {text:?}");
        assert_eq!(query.rank(&["TOR_INSERTS"], &["Requests."]), None);
        assert_eq!(Query::new(["bandwith remote"]).rank(&["CAS"], &["bandwidth"]), None);
    }
}
