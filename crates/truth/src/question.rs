//! What a ledger is asked.

/// An event, by the documents' names, and how the unit's filters restrict it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question<'a> {
    /// Unit.
    pub unit: &'a str,
    /// Event.
    pub event: &'a str,
    /// Subevent; empty for the event as a whole.
    pub subevent: &'a str,
    /// Values of fields of the unit's filter registers, by name. A field that the event does not use is ignored.
    pub filters: &'a [(&'a str, u64)],
}

impl<'a> Question<'a> {
    /// About an event as a whole, without filters.
    pub const fn new(unit: &'a str, event: &'a str) -> Self {
        Self { unit, event, subevent: "", filters: &[] }
    }

    /// About a subevent of it, if there is one.
    #[must_use]
    pub fn subevent(self, subevent: impl Into<Option<&'a str>>) -> Self {
        Self { subevent: subevent.into().unwrap_or_default(), ..self }
    }

    /// With filters.
    #[must_use]
    pub const fn filtered(self, filters: &'a [(&'a str, u64)]) -> Self {
        Self { filters, ..self }
    }

    /// The value of a filter, if it is set.
    pub fn filter(&self, name: &str) -> Option<u64> {
        self.filters.iter().find(|(key, _)| *key == name).map(|&(_, value)| value)
    }
}
