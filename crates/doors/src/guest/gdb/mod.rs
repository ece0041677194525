//! A client of the gdb remote protocol: as much of it as QEMU's stub needs.
//!
//! [`packet`] is the framing, [`reply`] what packets mean; both are pure. [`Client`] holds the conversation.

mod client;
pub mod packet;
pub mod reply;

pub use client::{Client, GdbError};
pub use reply::Registers;
