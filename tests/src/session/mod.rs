//! What sessions over all events are told, and what they must show.

pub mod feed;
pub mod requests;
pub mod shared;
