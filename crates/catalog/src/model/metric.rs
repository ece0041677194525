//! Derived metrics.

/// A derived metric.
#[derive(Debug)]
pub struct Metric {
    /// Name.
    pub name: &'static str,
    /// Expression in the metric language.
    pub expression: &'static str,
    /// What the guide prints, where it differs.
    pub printed: Option<&'static str>,
    /// Unit of measure of the result.
    pub unit_of_measure: &'static str,
    /// What it says.
    pub description: &'static str,
    /// Section or table.
    pub source: &'static str,
    /// Things a user must know.
    pub caveats: &'static [&'static str],
}
