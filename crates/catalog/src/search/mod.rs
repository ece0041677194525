//! Finding things by words, by half-remembered names and by exact ones. Pure.
//!
//! [`Query`] filters and ranks rows, [`nearest`] suggests names, [`resolve`] says what a name stands for, [`related`] what
//! belongs with it.

mod query;
pub mod related;
mod resolve;
mod similar;

pub use query::Query;
pub use resolve::{FieldHome, Found, Topic, known_names, resolve};
pub use similar::{did_you_mean, hint, nearest};
