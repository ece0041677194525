//! What PMON hardware sees: one of the two readers of a model's facts makes signals of them.

pub mod e5_2600;
pub mod emerald_rapids;
pub mod levels;
pub mod nehalem;
pub mod table;
