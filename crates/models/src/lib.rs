//! The traffic models of a software Xeon, one for each family: wiring and policy of the parts.
//!
//! A model reports what happens as facts (`pericore-facts`) and knows neither events nor counters. Nothing is ticked:
//! every part sleeps until its next possible action.

pub mod e5_2600;
pub mod nehalem;
