//! The catalogue against data that does not come from it: a second reading of the guides, Intel's event files, tables of
//! addresses, and numbers counted by hand. `tests/reference/README.md` says what each file is.

mod completeness;
mod counts;
mod differences;
mod events;
mod full_files;
mod ours;
mod registers;
mod table;
