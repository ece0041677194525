//! Derived metrics.

use serde::{Deserialize, Serialize};

use crate::embedded;

/// A derived metric.
#[derive(Debug, Serialize, Deserialize)]
pub struct Metric<'c> {
    /// Name.
    pub name: &'c str,
    /// Expression in the metric language.
    pub expression: &'c str,
    /// What the guide prints, where it differs.
    #[serde(borrow)]
    pub printed: Option<&'c str>,
    /// Unit of measure of the result.
    pub unit_of_measure: &'c str,
    /// Whether it adds up.
    pub quantity: Quantity,
    /// At which side of a way it counts bytes that are counted at another, too.
    pub side: Option<Side>,
    /// What it says.
    pub description: &'c str,
    /// Section or table.
    pub source: &'c str,
    /// Things a user must know.
    #[serde(deserialize_with = "embedded::list")]
    pub caveats: &'c [&'c str],
    /// From where on it says that something limits the machine, if it can say so.
    pub limit: Option<Limit<'c>>,
}

/// Whether a quantity adds up over instances, sockets and machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// It does: bytes, requests, bandwidths. Of several parts there is a sum.
    Extensive,
    /// It does not: shares, latencies, frequencies. Of several parts there is a mean.
    Intensive,
}

impl Quantity {
    /// The word of the catalogue.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Extensive => "extensive",
            Self::Intensive => "intensive",
        }
    }
}

/// Where bytes are counted that pass several counters on their way: sums over two sides have them twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Where they arrive.
    Received,
    /// Where they leave.
    Sent,
    /// At each stop that they pass: a sum over stops has them as often.
    EachStop,
}

impl Side {
    /// Where the bytes are counted, as the end of a sentence.
    pub const fn where_counted(self) -> &'static str {
        match self {
            Self::Received => "where they arrive",
            Self::Sent => "where they leave",
            Self::EachStop => "at each stop that they pass",
        }
    }

    /// The same for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Sent => "sent",
            Self::EachStop => "at each stop",
        }
    }

    /// The word of the catalogue.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Sent => "sent",
            Self::EachStop => "each-stop",
        }
    }
}

/// From where on a share says that something limits the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit<'c> {
    /// Per cent, 1 to 99.
    pub above: u8,
    /// What it means to be above.
    pub means: &'c str,
    /// Metrics to look at then, as `unit/METRIC`.
    #[serde(deserialize_with = "embedded::list")]
    pub see: &'c [&'c str],
}

impl<'c> Limit<'c> {
    /// True if a share, 1 for all, is above.
    pub fn is_reached(&self, share: f64) -> bool {
        share * 100.0 > f64::from(self.above)
    }
}
