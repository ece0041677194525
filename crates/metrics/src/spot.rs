//! A place in a text, for errors that point.

/// Characters of a line that are shown at most.
const LONGEST: usize = 76;

/// Characters before the place that are shown of a line that is longer.
const AROUND: usize = 30;

/// A place in a text that a user wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The whole text.
    pub text: String,
    /// Byte offset of the place; the length of the text if it ends too early.
    pub offset: usize,
    /// Bytes that the place covers, 0 at the end.
    pub length: usize,
}

impl Spot {
    /// The `length` bytes at `offset` of `text`.
    pub fn new(text: &str, offset: usize, length: usize) -> Self {
        Self { text: text.to_owned(), offset, length }
    }

    /// The place's column in characters, counted from 1.
    pub fn column(&self) -> usize {
        self.before().chars().count() + 1
    }

    /// What stands there.
    pub fn token(&self) -> &str {
        self.text.get(self.offset..self.offset + self.length).unwrap_or("")
    }

    /// The line of the text that holds the place, and below it carets under the place.
    ///
    /// ```
    /// assert_eq!(pericore_metrics::Spot::new("A + * B", 4, 1).caret(), "A + * B\n    ^");
    /// ```
    pub fn caret(&self) -> String {
        let before = self.before();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[line_start..].lines().next().unwrap_or("");
        // Tabs stay, so that the caret stands where a terminal puts the place.
        let indent: String = before[line_start..].chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let width = self.token().lines().next().map_or(1, |token| token.chars().count().max(1));
        if line.chars().count() <= LONGEST {
            return format!("{line}\n{indent}{}", "^".repeat(width));
        }
        // Of a long line what is around the place: else it would fill the screen, and the carets would stand under another row of it.
        let first = indent.chars().count().saturating_sub(AROUND);
        let shown: String = line.chars().skip(first).take(LONGEST).collect();
        let left = if first > 0 { "…" } else { "" };
        let right = if line.chars().count() > first + LONGEST { "…" } else { "" };
        let indent: String = left.chars().map(|_| ' ').chain(indent.chars().skip(first)).collect();
        format!("{left}{shown}{right}\n{indent}{}", "^".repeat(width.min(LONGEST - AROUND)))
    }

    fn before(&self) -> &str {
        self.text.get(..self.offset).unwrap_or(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::Spot;

    /// 1,000 events of five characters: what is shown fits a terminal, and the carets stand under the wrong one.
    #[test]
    fn of_a_long_line_only_what_is_around_the_place_is_shown() {
        let text = "a/bc,".repeat(500) + "wrong," + &"a/bc,".repeat(500);
        let shown = Spot::new(&text, 2500, 5).caret();
        let (line, carets) = shown.split_once('\n').unwrap();
        assert!(line.starts_with("…a/bc,") && line.ends_with('…') && line.chars().count() == 78, "{line}");
        let place = carets.find('^').unwrap();
        assert_eq!(carets.trim_start(), "^^^^^");
        assert_eq!(line.chars().skip(place).take(5).collect::<String>(), "wrong");
        let at_the_end = Spot::new(&text, text.len(), 0).caret();
        let (line, carets) = at_the_end.split_once('\n').unwrap();
        assert_eq!((line.chars().count(), carets.chars().count()), (31, 32));
    }

    #[test]
    fn columns_are_characters_of_the_text() {
        let spot = Spot::new("é + * B", 5, 1);
        assert_eq!((spot.column(), spot.token()), (5, "*"));
        assert_eq!(spot.caret(), "é + * B\n    ^");
        let end = Spot::new("A +", 3, 0);
        assert_eq!((end.column(), end.token(), end.caret().as_str()), (4, "", "A +\n   ^"));
        // A place that is in no text points at its end.
        assert_eq!(Spot::new("é", 1, 1).column(), 2);
        assert_eq!(Spot::new("AB", 5, 1).token(), "");
    }

    #[test]
    fn of_several_lines_only_the_places_is_shown() {
        let text = "A +\n  wrong\nB";
        assert_eq!(Spot::new(text, 6, 5).caret(), "  wrong\n  ^^^^^");
        assert_eq!(Spot::new(text, 0, 1).caret(), "A +\n^");
        assert_eq!(Spot::new(text, 12, 1).caret(), "B\n^");
        // A token that goes on in the next line has carets in its first.
        assert_eq!(Spot::new("\"a\nb\"", 0, 5).caret(), "\"a\n^^");
        assert_eq!(Spot::new("\tA ?", 3, 1).caret(), "\tA ?\n\t  ^");
    }

    /// 76 characters are shown as they are; of 77, 30 before the place and 76 in all.
    #[test]
    fn a_line_is_cut_when_it_is_too_long_and_not_before() {
        let whole = "a".repeat(76);
        assert_eq!(Spot::new(&whole, 40, 1).caret(), format!("{whole}\n{}^", " ".repeat(40)));
        let long: String = ('a'..='z').cycle().take(77).collect();
        assert_eq!(Spot::new(&long, 30, 2).caret(), format!("{}…\n{}^^", &long[..76], " ".repeat(30)));
        // Cut at the left alone: a mark takes the place of the first character.
        assert_eq!(Spot::new(&long, 31, 1).caret(), format!("…{}\n {}^", &long[1..], " ".repeat(30)));
        let longer: String = ('a'..='z').cycle().take(200).collect();
        assert_eq!(
            Spot::new(&longer, 100, 60).caret(),
            format!("…{}…\n {}{}", &longer[70..146], " ".repeat(30), "^".repeat(46))
        );
    }
}
