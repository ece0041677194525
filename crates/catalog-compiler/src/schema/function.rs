//! The rows of a family's `[[stub]]` and `[discovery]`.

use crate::Place;

#[derive(Debug)]
pub struct FunctionRow {
    pub place: Place,
    pub device: u8,
    pub function: u8,
    pub device_id: u16,
    pub class: u32,
    pub revision: u8,
    pub description: String,
    pub source: String,
}
