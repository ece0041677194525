//! What the guide's names mean for I/O stacks, CXL links, the power unit and the system agent (sections 2.4, 2.5, 2.8, 2.10 to 2.12).

use super::names::Take;

/// Subevents that count the same as another of their event, or the sum of some.
pub fn composite(_unit: &str, _event: &str, _subevent: &str) -> Option<&'static [&'static str]> {
    None
}

/// Events that take something from a level of another event's name: that event, its subevent, and what is taken.
pub fn of_level<'a>(_unit: &str, _event: &str, _subevent: &'a str) -> Option<(&'static str, &'a str, Take)> {
    None
}
