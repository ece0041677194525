//! The event syntax: from text to names, keys and values, each with its place.

use pericore_metrics::Spot;

use super::error::{Problem, SelectionError};

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub(super) text: &'s str,
    pub(super) offset: usize,
}

/// `key` or `key=value` between the slashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Term<'s> {
    pub(super) key: Token<'s>,
    pub(super) value: Option<Token<'s>>,
}

/// One event as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written<'s> {
    /// The whole event.
    pub(super) whole: Token<'s>,
    /// Unit or PMU in front of the first slash.
    pub(super) unit: Option<Token<'s>>,
    /// What stands between the slashes; without slashes the bare name alone.
    pub(super) terms: Vec<Term<'s>>,
    /// Number of the `{}` group, from 0.
    pub(super) group: Option<usize>,
}

/// Reads a list of events: `unit/EVENT.SUB,key=value/`, bare names, `{…}` groups, separated by commas.
pub(super) fn parse(text: &str) -> Result<Vec<Written<'_>>, SelectionError> {
    let mut reader = Reader { text, at: 0 };
    let mut events = Vec::new();
    let mut groups = 0;
    let mut group = None;
    loop {
        reader.skip_space();
        if group.is_none() && reader.accept('{') {
            group = Some(groups);
            groups += 1;
            reader.skip_space();
        }
        events.push(reader.event(group)?);
        reader.skip_space();
        if group.is_some() && reader.accept('}') {
            group = None;
            reader.no_modifier()?;
            reader.skip_space();
        }
        if reader.accept(',') {
            continue;
        }
        return match (reader.peek(), group) {
            (None, None) => Ok(events),
            (_, None) => Err(reader.refuse("\",\" or the end of the list")),
            (_, Some(_)) => Err(reader.refuse("\",\" or the \"}\" that ends the group")),
        };
    }
}

struct Reader<'s> {
    text: &'s str,
    at: usize,
}

impl<'s> Reader<'s> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn accept(&mut self, sign: char) -> bool {
        let fits = self.peek() == Some(sign);
        if fits {
            self.at += sign.len_utf8();
        }
        fits
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn refuse(&self, expected: &'static str) -> SelectionError {
        let length = self.peek().map_or(0, char::len_utf8);
        let found = self.peek().map_or_else(|| "the end of the list".to_owned(), |c| format!("{:?}", c.to_string()));
        SelectionError::new(Spot::new(self.text, self.at, length), Problem::Syntax { expected, found })
    }

    fn token(&mut self, expected: &'static str) -> Result<Token<'s>, SelectionError> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| ",/{}=".contains(c) || c.is_whitespace()).unwrap_or(rest.len());
        if end == 0 {
            return Err(self.refuse(expected));
        }
        let token = Token { text: &rest[..end], offset: self.at };
        self.at += end;
        Ok(token)
    }

    fn event(&mut self, group: Option<usize>) -> Result<Written<'s>, SelectionError> {
        let start = self.at;
        let name = self.token("an event, such as unit/EVENT.SUBEVENT/")?;
        if let Some(colon) = name.text.find(':') {
            self.at = name.offset + colon;
            self.no_modifier()?;
        }
        let mut unit = None;
        let mut terms = vec![Term { key: name, value: None }];
        if self.accept('/') {
            unit = Some(name);
            terms = self.terms()?;
            self.no_modifier()?;
            self.no_missing_slash(&terms)?;
        }
        let whole = Token { text: &self.text[start..self.at], offset: start };
        Ok(Written { whole, unit, terms, group })
    }

    /// Refuses what perf has behind the events of cores.
    fn no_modifier(&self) -> Result<(), SelectionError> {
        let rest = &self.text[self.at..];
        if !rest.starts_with(':') {
            return Ok(());
        }
        let end = rest.find(|c: char| ",/{}=".contains(c) || c.is_whitespace()).unwrap_or(rest.len());
        let problem = Problem::Modifier { modifier: rest[..end].to_owned() };
        Err(SelectionError::new(Spot::new(self.text, self.at, end), problem))
    }

    /// Refuses `imc/A,imc/B/`: without its own "/" the first event seems to end at the second's, and the second's unit
    /// to be a term of it.
    fn no_missing_slash(&mut self, terms: &[Term<'s>]) -> Result<(), SelectionError> {
        let goes_on = self.peek().is_some_and(|next| !",{}".contains(next) && !next.is_whitespace());
        match terms {
            [.., before, Term { key, value: None }] if goes_on => {
                let last = before.value.unwrap_or(before.key);
                self.at = last.offset + last.text.len();
                self.skip_space();
                Err(self.refuse("the \"/\" that ends the event"))
            }
            _ => Ok(()),
        }
    }

    fn terms(&mut self) -> Result<Vec<Term<'s>>, SelectionError> {
        let mut terms = Vec::new();
        loop {
            self.skip_space();
            let key = self.token("an event's name or key=value")?;
            let value = if self.accept('=') { Some(self.token("a value")?) } else { None };
            terms.push(Term { key, value });
            self.skip_space();
            if self.accept('/') {
                return Ok(terms);
            }
            if !self.accept(',') {
                return Err(self.refuse("\",\" or the \"/\" that ends the event"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Vec<String> {
        let events = parse(text).unwrap();
        let term = |term: &Term<'_>| match term.value {
            Some(value) => format!("{}={}", term.key.text, value.text),
            None => term.key.text.to_owned(),
        };
        let one = |event: &Written<'_>| {
            let terms: Vec<String> = event.terms.iter().map(term).collect();
            format!("{}|{}|{:?}", event.unit.map_or("", |unit| unit.text), terms.join("+"), event.group)
        };
        events.iter().map(one).collect()
    }

    #[test]
    fn reads_units_terms_groups_and_bare_names() {
        assert_eq!(
            shape("cbo/A.B,thresh=0x1/, {imc/C/,uncore_imc_0/event=0x4,umask=3/} ,LLC.X"),
            ["cbo|A.B+thresh=0x1|None", "imc|C|Some(0)", "uncore_imc_0|event=0x4+umask=3|Some(0)", "|LLC.X|None"]
        );
    }

    #[test]
    fn modifiers_are_refused_where_they_stand() {
        for (text, offset, modifier) in [
            ("imc/CAS_COUNT.RD/:u,x", 17, ":u"),
            ("cas_count.rd:ku", 12, ":ku"),
            ("{a/b/,c}:S", 8, ":S"),
            ("a/b/:", 4, ":"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!((error.spot.offset, error.spot.length), (offset, modifier.len()), "{text}");
            assert!(error.to_string().contains(&format!("no modifier {modifier:?} here")), "{error}");
        }
    }

    #[test]
    fn errors_point_at_the_token() {
        for (text, offset) in
            [("", 0), ("a,,b", 2), ("cbo/A", 5), ("cbo/A=/", 6), ("{a,b", 4), ("a}", 1), ("cbo/A/x", 6), ("cbo//", 4)]
        {
            assert_eq!(parse(text).unwrap_err().spot.offset, offset, "{text}");
        }
    }

    /// Where the carets of an error begin.
    fn mark(error: &SelectionError) -> usize {
        error.caret().lines().last().unwrap().find('^').unwrap()
    }

    /// The mark stands where the "/" is missing, before a space or a comma. A list that goes on behind an event's own
    /// "/" has none missing.
    #[test]
    fn a_missing_slash_is_marked_where_it_belongs() {
        for (text, offset) in [
            ("imc/A,imc/B/", 5),
            ("imc/CAS_COUNT.RD ,imc/B/", 17),
            ("a/b,k=10,c/d/", 8),
            ("x,{a/b,c/d/}", 6),
            ("a/b,c/d", 3),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(mark(&error), offset, "{text}");
            assert!(error.to_string().contains("the \"/\" that ends the event"), "{error}");
        }
        assert_eq!(shape("a/b,c/,d"), ["a|b+c|None", "|d|None"]);
        assert_eq!(shape("a/b,c/ , d/e,f/"), ["a|b+c|None", "d|e+f|None"]);
        assert_eq!(shape("{a/b,c/},{d/e,f/ }"), ["a|b+c|Some(0)", "d|e+f|Some(1)"]);
        // With a value it is no unit's name: the mark stands where the next event begins.
        assert_eq!(mark(&parse("a/b,c=1/d/").unwrap_err()), 8);
    }

    /// What was read and what would have been right, in words.
    #[test]
    fn errors_name_what_is_there_and_what_should_be() {
        for (text, words) in [
            ("a,", ["an event, such as", "the end of the list"]),
            ("a}", ["\",\" or the end of the list", "\"}\""]),
            ("{a", ["\",\" or the \"}\" that ends the group", "the end of the list"]),
            ("{a,{b}", ["an event, such as", "\"{\""]),
            ("a/=3/", ["an event's name or key=value", "\"=\""]),
            ("a/b=/", ["a value", "\"/\""]),
            ("a/b{", ["\",\" or the \"/\" that ends the event", "\"{\""]),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(words.iter().all(|words| error.contains(words)), "{text}: {error}");
        }
    }

    /// Groups are numbered in their order, and a space may stand wherever a sign does.
    #[test]
    fn spaces_do_not_matter_around_signs() {
        assert_eq!(
            shape(" { a , b/c , d=1 /  } , e , {f} "),
            ["|a|Some(0)", "b|c+d=1|Some(0)", "|e|None", "|f|Some(1)"]
        );
        let events = parse(" { aa , b/c , d=1 /  }").unwrap();
        let whole: Vec<_> = events.iter().map(|event| (event.whole.offset, event.whole.text)).collect();
        assert_eq!(whole, [(3, "aa"), (8, "b/c , d=1 /")]);
    }
}
