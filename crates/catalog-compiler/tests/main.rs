//! The compiler through its public face: what it refuses, and what it takes.

mod defects;
mod rules;
