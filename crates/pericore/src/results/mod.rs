//! Where results go: the options of `stat` and `report`.

mod descriptor;
pub mod output;
