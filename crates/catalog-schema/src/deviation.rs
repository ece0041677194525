//! Where we differ from the documents, and what they leave open.

use serde::{Deserialize, Serialize};

use crate::embedded;

/// A place where we differ from a document.
#[derive(Debug, Serialize, Deserialize)]
pub struct Deviation<'c> {
    /// Family.
    pub family: &'c str,
    /// Unit.
    pub unit: &'c str,
    /// Event, register, field or metric.
    pub subject: &'c str,
    /// Which property differs.
    pub field: &'c str,
    /// What the guide prints.
    pub guide: &'c str,
    /// What Intel's event file has.
    pub intel: &'c str,
    /// What we have.
    pub ours: &'c str,
    /// Why.
    pub evidence: &'c str,
}

/// A choice where the documents are silent.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice<'c> {
    /// What it is about.
    pub subject: &'c str,
    /// Family, or `all`.
    pub family: &'c str,
    /// Unit, or `all`.
    pub unit: &'c str,
    /// What the documents say and leave open.
    pub documents: &'c str,
    /// What we do.
    pub choice: &'c str,
    /// Why.
    pub why: &'c str,
    /// Who else does the same.
    pub others: &'c str,
}

/// All departures from the documents and all choices.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'c"))]
pub struct Judgements<'c> {
    /// Where we differ from a document.
    #[serde(deserialize_with = "embedded::list")]
    pub deviations: &'c [Deviation<'c>],
    /// What the documents leave open.
    #[serde(deserialize_with = "embedded::list")]
    pub choices: &'c [Choice<'c>],
}
