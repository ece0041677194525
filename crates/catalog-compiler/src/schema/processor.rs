//! The rows of a family's `[processor]`.

use std::rc::Rc;

use pericore_catalog_schema::{CacheGeometry, CounterControl, CpuModel, CpuidLeaf, MsrKind, MsrScope};

use crate::{Place, RowAt};

#[derive(Debug)]
pub struct ProcessorRow {
    pub place: Place,
    pub model: CpuModel,
    pub stepping: u8,
    pub brand: String,
    pub nominal_mhz: u32,
    pub source: String,
    pub leaves: Vec<RowAt<CpuidLeaf>>,
    pub caches: Vec<RowAt<CacheGeometry>>,
    /// Files of `core-msrs`, and where they are named.
    pub msr_sets: Vec<(String, Place)>,
    /// Their rows, in order.
    pub core_msrs: Vec<Rc<CoreMsrRow>>,
}

/// A row of `core-msrs/NAME.toml`.
#[derive(Debug)]
pub struct CoreMsrRow {
    pub place: Place,
    pub address: u32,
    pub name: String,
    pub scope: MsrScope,
    pub kind: MsrKind,
    pub reset: u64,
    pub controls: Option<CounterControl>,
    pub source: String,
}
