//! What was counted, as the rows of a report, and the forms that it is read in.
//!
//! [`rows::report`] adds a sample up by socket or instance into a [`Report`]: events and metrics with their validity.
//! [`form::print`] prints it as a table for people, as perf's JSON lines or as separated fields; [`sheet`] has a line
//! for each interval. [`over_time`] sums up many intervals, [`compare`] puts two recordings beside each other,
//! [`histogram`] has how latencies are spread, [`runs`] is the mean of several runs, [`page`] a page for browsers.

mod die;

pub mod compare;
pub mod fewer;
pub mod figures;
pub mod form;
pub mod histogram;
pub mod limits;
pub mod lines;
pub mod over_time;
pub mod page;
pub mod rows;
pub mod runs;
pub mod sampled;
pub mod sheet;
pub mod stacks;
pub mod summary;
pub mod table;

mod row;
mod style;

pub use row::{LIMIT, NO_NUMBER, Nature, Place, Report, Row, mark, placeholder};
pub use style::{Form, Style};
