//! What is drawn of many samples.

use super::timeline::Bucket;

/// What is drawn of a row in a bucket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn {
    pub mean: Option<f64>,
    pub extremes: Option<(f64, f64)>,
    pub mark: char,
}

impl From<&Bucket> for Drawn {
    fn from(bucket: &Bucket) -> Self {
        Self { mean: bucket.mean(), extremes: bucket.extremes(), mark: bucket.mark() }
    }
}
