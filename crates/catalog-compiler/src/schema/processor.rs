//! The rows of a family's `[processor]`.

use pericore_catalog_schema::{CacheGeometry, CpuModel, CpuidLeaf};

use crate::{Place, RowAt};

#[derive(Debug)]
pub struct ProcessorRow {
    pub place: Place,
    pub model: CpuModel,
    pub stepping: u8,
    pub brand: String,
    pub source: String,
    pub leaves: Vec<RowAt<CpuidLeaf>>,
    pub caches: Vec<RowAt<CacheGeometry>>,
}
