//! Derived metrics.

use serde::{Deserialize, Serialize};

use crate::embedded;

/// A derived metric.
#[derive(Debug, Serialize, Deserialize)]
pub struct Metric {
    /// Name.
    pub name: &'static str,
    /// Expression in the metric language.
    pub expression: &'static str,
    /// What the guide prints, where it differs.
    #[serde(borrow)]
    pub printed: Option<&'static str>,
    /// Unit of measure of the result.
    pub unit_of_measure: &'static str,
    /// What it says.
    pub description: &'static str,
    /// Section or table.
    pub source: &'static str,
    /// Things a user must know.
    #[serde(deserialize_with = "embedded::list")]
    pub caveats: &'static [&'static str],
    /// From where on it says that something limits the machine, if it can say so.
    pub limit: Option<Limit>,
}

/// From where on a share says that something limits the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Per cent, 1 to 99.
    pub above: u8,
    /// What it means to be above.
    pub means: &'static str,
    /// Metrics to look at then, as `unit/METRIC`.
    #[serde(deserialize_with = "embedded::list")]
    pub see: &'static [&'static str],
}

impl Limit {
    /// True if a share, 1 for all, is above.
    pub fn is_reached(&self, share: f64) -> bool {
        share * 100.0 > f64::from(self.above)
    }
}
