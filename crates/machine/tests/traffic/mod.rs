//! Whole machines with traffic, judged through raw addresses: where lines lie, what a read takes, what memory does besides.
//! Expectations are by hand from the guides, the standards and published measurements; nothing here reads the catalogue or the ledger.

mod curve;
mod devices;
mod footprints;
mod latency;
mod memory;
mod one_core;
mod page_walks;
mod power;
mod raw;
mod silicon;
mod spread;
mod stores;
