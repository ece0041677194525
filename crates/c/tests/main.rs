//! The library as C programs see it: its header, its pkg-config file, and what programs of gcc count with it.

mod header;
mod live;
mod programs;
mod regions;
