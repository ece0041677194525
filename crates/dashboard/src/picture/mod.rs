//! Pictures of a [`crate::State`], on ratatui: [`frame`] puts the parts together, [`plain`] makes text of them.

mod columns;
mod floorplan;
mod foot;
mod gauges;
mod head;
mod heat;
mod help;
mod history;
mod line;
mod list;
mod spark;
mod style;

pub mod figures;
pub mod frame;
pub mod plain;
