//! A page that shows recordings in any browser, without a network, or what a server measures.

mod curves;
mod data;
mod drawn;
mod live;
mod template;
mod timeline;

pub use curves::Curves;
pub use data::{PageData, RecordingData};
pub use live::{LiveCurves, Newest};
pub use template::{fill, live_page};
