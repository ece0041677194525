//! A page that shows recordings in any browser, without a network.

mod curves;
mod data;
mod template;
mod timeline;

pub use curves::Curves;
pub use data::{PageData, RecordingData};
pub use template::fill;
