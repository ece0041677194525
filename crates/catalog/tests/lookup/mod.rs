//! Names, addresses and values of registers and events.

mod addresses;
mod names;
mod registers;
mod related;
mod selected;
mod topics;
