//! A value of a line and where it stands, so that whatever is wrong with it can be said with its place.

use serde_json::Value;

use super::RecordError;

/// A value, and the way to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot<'s> {
    line: usize,
    value: &'s Value,
    above: Option<(&'s Spot<'s>, Step<'s>)>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'s> {
    Field(&'s str),
    Item(usize),
}

impl<'s> Spot<'s> {
    /// A line as a whole.
    pub(super) const fn whole(line: usize, value: &'s Value) -> Self {
        Self { line, value, above: None }
    }

    /// What is wrong here.
    pub(super) fn refuse(&self, what: impl Into<String>) -> RecordError {
        let field = self.above.map(|_| self.path());
        RecordError::Damaged { line: self.line, field, what: what.into() }
    }

    fn path(&self) -> String {
        match self.above {
            None => String::new(),
            Some((above, Step::Field(name))) if above.above.is_none() => name.to_owned(),
            Some((above, Step::Field(name))) => format!("{}.{name}", above.path()),
            Some((above, Step::Item(index))) => format!("{}[{index}]", above.path()),
        }
    }

    /// A field that must be there.
    pub(super) fn field(&'s self, name: &'s str) -> Result<Self, RecordError> {
        self.optional(name)?.ok_or_else(|| self.refuse(format!("the field {name:?} is missing")))
    }

    /// A field, unless it is missing or null.
    pub(super) fn optional(&'s self, name: &'s str) -> Result<Option<Self>, RecordError> {
        let Value::Object(fields) = self.value else { return Err(self.refuse("it is no object {…}")) };
        let value = fields.get(name).filter(|value| !value.is_null());
        Ok(value.map(|value| Self { line: self.line, value, above: Some((self, Step::Field(name))) }))
    }

    /// All fields of an object.
    pub(super) fn fields(&'s self) -> Result<impl Iterator<Item = (&'s str, Self)>, RecordError> {
        let Value::Object(fields) = self.value else { return Err(self.refuse("it is no object {…}")) };
        if fields.keys().any(|name| name.contains(char::is_control)) {
            return Err(self.refuse("a control character is in the name of a field"));
        }
        let field = move |(name, value): (&'s String, &'s Value)| {
            (name.as_str(), Self { line: self.line, value, above: Some((self, Step::Field(name))) })
        };
        Ok(fields.iter().map(field))
    }

    /// The items of a list.
    pub(super) fn items(&'s self) -> Result<impl ExactSizeIterator<Item = Self>, RecordError> {
        let Value::Array(items) = self.value else { return Err(self.refuse("it is no list […]")) };
        let item = move |(index, value)| Self { line: self.line, value, above: Some((self, Step::Item(index))) };
        Ok(items.iter().enumerate().map(item))
    }

    /// A list of two.
    pub(super) fn pair(&'s self) -> Result<[Self; 2], RecordError> {
        let mut items = self.items()?;
        match (items.next(), items.next(), items.next()) {
            (Some(one), Some(other), None) => Ok([one, other]),
            _ => Err(self.refuse("it is no list of two")),
        }
    }

    /// A text of one line.
    pub(super) fn text(&self) -> Result<&'s str, RecordError> {
        let text = self.value.as_str().ok_or_else(|| self.refuse("it is no text"))?;
        if text.contains(char::is_control) {
            return Err(self.refuse("a control character is in the text"));
        }
        Ok(text)
    }

    /// True or false.
    pub(super) fn flag(&self) -> Result<bool, RecordError> {
        self.value.as_bool().ok_or_else(|| self.refuse("it is neither true nor false"))
    }

    /// A count, which is whole and exact.
    pub(super) fn whole_number<T: TryFrom<u64>>(&self) -> Result<T, RecordError> {
        let number = self.value.as_u64().ok_or_else(|| self.refuse("it is no whole number from 0 to 2^64-1"))?;
        T::try_from(number).map_err(|_| self.refuse(format!("{number} is too large")))
    }

    /// A count, or null.
    pub(super) fn count(&self) -> Result<Option<u64>, RecordError> {
        if self.value.is_null() { Ok(None) } else { self.whole_number().map(Some) }
    }

    /// A number from 0 to `most`.
    pub(super) fn number(&self, most: f64) -> Result<f64, RecordError> {
        let number = self.value.as_f64().filter(|number| (0.0..=most).contains(number));
        number.ok_or_else(|| self.refuse(format!("it is no number from 0 to {most:e}")))
    }

    /// A register's value, a text in hexadecimal digits.
    pub(super) fn hex(&self) -> Result<u64, RecordError> {
        let digits = self.text()?.strip_prefix("0x");
        let value = digits.filter(|digits| !digits.starts_with('+')).and_then(|d| u64::from_str_radix(d, 16).ok());
        value.ok_or_else(|| self.refuse("it is no text such as \"0x137\" of 64 bits at most"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    /// Each kind of value takes its own alone, and says what would have been right.
    #[test]
    fn a_value_of_another_kind_is_refused_with_its_place() {
        let root = value(r#"{"a":{"b":[1,"x",true,-1,1.5,"0x1f",null,[2,3]]},"c":null}"#);
        let whole = Spot::whole(7, &root);
        let (a, list);
        a = whole.field("a").unwrap();
        list = a.field("b").unwrap();
        let items: Vec<_> = list.items().unwrap().collect();
        let [one, text, flag, negative, broken, hex, null, pair] = &items[..] else { panic!("eight") };
        assert_eq!((one.whole_number(), one.number(1.0), one.count()), (Ok(1_u8), Ok(1.0), Ok(Some(1))));
        assert_eq!((text.text(), flag.flag(), hex.hex(), null.count()), (Ok("x"), Ok(true), Ok(0x1f), Ok(None)));
        assert_eq!(pair.pair().unwrap().map(|item| item.whole_number::<u64>()), [Ok(2), Ok(3)]);
        assert_eq!(broken.number(2.0), Ok(1.5));
        let printed = |refused: Result<(), RecordError>| refused.unwrap_err().to_string();
        for (refused, field, words) in [
            (one.text().map(drop), "a.b[0]", "it is no text"),
            (text.flag().map(drop), "a.b[1]", "it is neither true nor false"),
            (flag.whole_number::<u64>().map(drop), "a.b[2]", "it is no whole number"),
            (negative.whole_number::<u64>().map(drop), "a.b[3]", "it is no whole number"),
            (negative.number(5.0).map(drop), "a.b[3]", "it is no number from 0 to 5"),
            (broken.number(1.25).map(drop), "a.b[4]", "it is no number from 0 to 1.25"),
            (broken.count().map(drop), "a.b[4]", "it is no whole number"),
            (text.hex().map(drop), "a.b[1]", "it is no text such as"),
            (list.pair().map(drop), "a.b", "it is no list of two"),
            (one.items().map(drop), "a.b[0]", "it is no list"),
            (list.fields().map(drop), "a.b", "it is no object"),
            (a.field("d").map(drop), "a", "the field \"d\" is missing"),
            (pair.pair().unwrap()[1].text().map(drop), "a.b[7][1]", "it is no text"),
        ] {
            let printed = printed(refused);
            assert!(printed.contains(&format!("line 7, {field}: {words}")), "{printed}");
        }
        assert!(printed(whole.field("c").map(drop)).contains("line 7: the field \"c\" is missing"));
        assert!(whole.optional("c").unwrap().is_none() && whole.optional("z").unwrap().is_none());
        let large = value("[256]");
        let large = Spot::whole(1, &large);
        let item = large.items().unwrap().next().unwrap();
        assert!(printed(item.whole_number::<u8>().map(drop)).contains("256 is too large"));
        assert!(large.pair().is_err());
    }

    #[test]
    fn registers_are_hexadecimal_and_texts_have_no_control_characters() {
        for (text, expected) in [
            ("\"0x0\"", Some(0)),
            ("\"0xffffffffffffffff\"", Some(u64::MAX)),
            ("\"0x\"", None),
            ("\"0x+1\"", None),
            ("\"12\"", None),
            ("\"0x10000000000000000\"", None),
            ("12", None),
        ] {
            let value = value(text);
            assert_eq!(Spot::whole(1, &value).hex().ok(), expected, "{text}");
        }
        let dangerous = value("{\"a\\u001b\":1,\"b\":\"x\\ny\"}");
        let whole = Spot::whole(1, &dangerous);
        assert!(whole.fields().is_err() && whole.field("b").unwrap().text().is_err());
    }
}
