//! A sheet of facts: one source for people's text and machines' JSON, so that neither says less than the other.

use std::io::{self, Write};

use pericore_text::{Paint, WIDTH, wrapped};
use serde_json::{Map, Value};

/// Columns that labels take.
const LABELS: usize = 12;

/// How a fact is printed for people.
#[derive(Debug, Clone)]
enum Body {
    /// A paragraph.
    Text(String),
    /// Paragraphs, each of its own.
    List(Vec<String>),
    /// A name and what it is, line by line.
    Table(Vec<(String, String)>),
    /// One line that is copied as it is: never broken.
    Verbatim(String),
}

#[derive(Debug, Clone)]
struct Fact {
    /// Printed in front; without one the fact stands for itself.
    label: &'static str,
    body: Body,
}

/// Facts about one thing.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    title: String,
    kind: String,
    facts: Vec<Fact>,
    json: Map<String, Value>,
}

impl Sheet {
    /// A sheet about `name`, a `kind` of `family`.
    pub fn new(name: &str, kind: &str, family: &str) -> Self {
        let mut sheet = Self { title: name.to_owned(), kind: format!("{kind} of {family}"), ..Self::default() };
        sheet.json("kind", kind);
        sheet.json("family", family);
        sheet.json("name", name);
        sheet
    }

    /// For machines only.
    pub fn json(&mut self, key: &str, value: impl Into<Value>) {
        self.json.insert(key.to_owned(), value.into());
    }

    /// For people only.
    pub fn note(&mut self, label: &'static str, text: impl Into<String>) {
        self.facts.push(Fact { label, body: Body::Text(text.into()) });
    }

    /// A text for both.
    pub fn text(&mut self, label: &'static str, key: &str, text: impl Into<String>) {
        let text = text.into();
        self.json(key, text.clone());
        self.note(label, text);
    }

    /// Texts for both; nothing for people if there are none.
    pub fn list<S: Into<String>>(&mut self, label: &'static str, key: &str, texts: impl IntoIterator<Item = S>) {
        let texts: Vec<String> = texts.into_iter().map(Into::into).collect();
        self.json(key, texts.clone());
        self.list_note(label, texts);
    }

    /// Texts for people only.
    pub fn list_note(&mut self, label: &'static str, texts: Vec<String>) {
        if !texts.is_empty() {
            self.facts.push(Fact { label, body: Body::List(texts) });
        }
    }

    /// Names with what they are, for both; nothing for people if there are none.
    pub fn table(&mut self, label: &'static str, key: &str, rows: Vec<(String, String)>) {
        let row = |(name, text): &(String, String)| serde_json::json!({"name": name, "description": text});
        self.json(key, rows.iter().map(row).collect::<Vec<_>>());
        self.table_note(label, rows);
    }

    /// Names with what they are, for people only.
    pub fn table_note(&mut self, label: &'static str, rows: Vec<(String, String)>) {
        if !rows.is_empty() {
            self.facts.push(Fact { label, body: Body::Table(rows) });
        }
    }

    /// A line to copy, for both.
    pub fn command(&mut self, label: &'static str, key: &str, line: impl Into<String>) {
        let line = line.into();
        self.json(key, line.clone());
        self.facts.push(Fact { label, body: Body::Verbatim(line) });
    }

    /// Writes one JSON line.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, &self.json)?;
        out.write_all(b"\n")
    }

    /// Writes the sheet for people.
    pub fn write(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        let used = self.title.chars().count() + self.kind.chars().count();
        if used + 2 <= WIDTH {
            writeln!(out, "{}{:2$}{3}", paint.strong(&self.title), "", WIDTH - used, paint.faint(&self.kind))?;
        } else {
            writeln!(out, "{}\n{:>WIDTH$}", paint.strong(&self.title), self.kind)?;
        }
        for fact in &self.facts {
            match &fact.body {
                Body::Text(text) => lines(out, fact.label, wrapped(text, room(fact.label)), paint)?,
                Body::Verbatim(text) => {
                    writeln!(out, "{}", paint.faint(fact.label))?;
                    // A line that is too long goes on behind a backslash, as shells take it.
                    match text.rsplit_once(" --").filter(|_| text.chars().count() + 2 > WIDTH) {
                        Some((first, option)) => writeln!(out, "  {first} \\\n      --{option}")?,
                        None => writeln!(out, "  {text}")?,
                    }
                }
                Body::List(texts) => {
                    for (index, text) in texts.iter().enumerate() {
                        let label = if index == 0 { fact.label } else { "" };
                        lines_at(out, label, LABELS, wrapped(text, WIDTH - LABELS), paint)?;
                    }
                }
                Body::Table(rows) => table(out, fact.label, rows, paint)?,
            }
        }
        Ok(())
    }
}

const fn room(label: &str) -> usize {
    if label.is_empty() { WIDTH } else { WIDTH - LABELS }
}

fn lines(out: &mut impl Write, label: &str, texts: Vec<String>, paint: Paint) -> io::Result<()> {
    let indent = if label.is_empty() { 0 } else { LABELS };
    lines_at(out, label, indent, texts, paint)
}

fn lines_at(out: &mut impl Write, label: &str, indent: usize, texts: Vec<String>, paint: Paint) -> io::Result<()> {
    for (index, text) in texts.iter().enumerate() {
        let front = if index == 0 { label } else { "" };
        writeln!(out, "{}{:2$}{text}", paint.faint(front), "", indent.saturating_sub(front.chars().count()))?;
    }
    Ok(())
}

/// Names in a column as wide as they need, at most half the line; longer ones stand alone.
fn table(out: &mut impl Write, label: &str, rows: &[(String, String)], paint: Paint) -> io::Result<()> {
    const MOST: usize = 30;
    let widths = rows.iter().map(|(name, _)| name.chars().count()).filter(|width| *width <= MOST);
    let names = widths.max().unwrap_or(MOST) + 2;
    let texts_at = LABELS + names;
    for (index, (name, text)) in rows.iter().enumerate() {
        let front = if index == 0 { label } else { "" };
        let gap = LABELS.saturating_sub(front.chars().count());
        write!(out, "{}{:gap$}{}", paint.faint(front), "", paint.strong(name))?;
        let mut texts = wrapped(text, WIDTH - texts_at).into_iter();
        let used = name.chars().count();
        if used + 2 <= names {
            let first = texts.next().unwrap_or_default();
            if first.is_empty() { writeln!(out)? } else { writeln!(out, "{:1$}{first}", "", names - used)? }
        } else {
            writeln!(out)?;
        }
        for text in texts.filter(|text| !text.is_empty()) {
            writeln!(out, "{:texts_at$}{text}", "")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let mut sheet = Sheet::new("cbo/X", "event", "e5-2600");
        sheet.text("", "description", "What it counts.");
        sheet.list("Caveats", "caveats", ["One.", "Two."]);
        sheet.table("Filters", "filters", vec![("opc".to_owned(), "bits 31:23".to_owned())]);
        let mut text = Vec::new();
        sheet.write(&mut text, Paint::default()).unwrap();
        let text = String::from_utf8(text).unwrap();
        let expected = format!(
            "cbo/X{:59}event of e5-2600\nWhat it counts.\nCaveats     One.\n            Two.\nFilters     opc  bits 31:23\n",
            ""
        );
        assert_eq!(text.replace(' ', "."), expected.replace(' ', "."));
        let mut json = Vec::new();
        sheet.write_json(&mut json).unwrap();
        let json: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!((&json["caveats"][1], &json["filters"][0]["name"]), (&Value::from("Two."), &Value::from("opc")));
    }
}
