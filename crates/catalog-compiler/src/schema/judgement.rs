//! Where the catalogue differs from documents, and what these leave open.

use crate::Place;

/// `deviations.toml` of a block: where we differ from a document.
#[derive(Debug, Clone)]
pub struct Deviation {
    pub place: Place,
    pub family: String,
    pub unit: String,
    /// Event, register, field or metric.
    pub event: String,
    pub field: String,
    pub guide: String,
    pub intel: String,
    pub ours: String,
    pub evidence: String,
}

/// `undefined.toml`: what the documents leave open.
#[derive(Debug, Clone)]
pub struct Choice {
    pub place: Place,
    pub subject: String,
    pub family: String,
    pub unit: String,
    pub documents: String,
    pub choice: String,
    pub why: String,
    pub others: String,
}
