//! Where we differ from the documents, and what they leave open.

use serde::{Deserialize, Serialize};

use crate::embedded;

/// A place where we differ from a document.
#[derive(Debug, Serialize, Deserialize)]
pub struct Deviation {
    /// Family.
    pub family: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Event, register, field or metric.
    pub subject: &'static str,
    /// Which property differs.
    pub field: &'static str,
    /// What the guide prints.
    pub guide: &'static str,
    /// What Intel's event file has.
    pub intel: &'static str,
    /// What we have.
    pub ours: &'static str,
    /// Why.
    pub evidence: &'static str,
}

/// A choice where the documents are silent.
#[derive(Debug, Serialize, Deserialize)]
pub struct Choice {
    /// What it is about.
    pub subject: &'static str,
    /// Family, or `all`.
    pub family: &'static str,
    /// Unit, or `all`.
    pub unit: &'static str,
    /// What the documents say and leave open.
    pub documents: &'static str,
    /// What we do.
    pub choice: &'static str,
    /// Why.
    pub why: &'static str,
    /// Who else does the same.
    pub others: &'static str,
}

/// All departures from the documents and all choices.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Judgements {
    /// Where we differ from a document.
    #[serde(deserialize_with = "embedded::list")]
    pub deviations: &'static [Deviation],
    /// What the documents leave open.
    #[serde(deserialize_with = "embedded::list")]
    pub choices: &'static [Choice],
}
