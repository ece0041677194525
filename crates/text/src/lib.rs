//! Text for terminals: how many columns it takes, its lines, its colours, and what of it a terminal would carry out
//! instead of showing it.
//!
//! ```
//! use pericore_text::{columns, on_one_line, wrapped};
//!
//! assert_eq!(wrapped("reads of all channels", 12), ["reads of all", "channels"]);
//! assert_eq!((columns("読む"), columns("read")), (4, 4));
//! assert_eq!(on_one_line("a\x1b[2Jb"), "a\\u{1b}[2Jb");
//! ```

mod columns;
mod paint;
mod printable;
mod wrap;

pub use columns::{WIDTH, beginning, columns, padded};
pub use paint::Paint;
pub use printable::{bounded, on_one_line, printable};
pub use wrap::wrapped;
