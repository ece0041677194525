//! Registers through raw addresses, and what the documents' texts say of events: nothing of it comes from the catalogue.

pub mod discovery;
pub mod raw;
pub mod rows;
pub mod tags;
