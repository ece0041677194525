//! The compiler through its public face: what it refuses, and what it writes.

mod defects;
