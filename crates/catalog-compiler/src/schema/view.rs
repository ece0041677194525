//! Which metrics of a family are read together, and which figures a report begins with.

use crate::Place;

/// `[[view]]` of a family.
#[derive(Debug, Clone)]
pub struct ViewRow {
    pub place: Place,
    pub name: String,
    pub title: String,
    pub metrics: Vec<String>,
}

/// `[[summary]]` of a family.
#[derive(Debug, Clone)]
pub struct SummaryRow {
    pub place: Place,
    pub label: String,
    pub metric: String,
    pub of: Option<String>,
}
