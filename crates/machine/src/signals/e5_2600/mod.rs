//! What PMON hardware sees of an E5-2600: facts become pulses and levels on wires.

mod agent;
mod channels;
mod device;
mod emitter;
mod home;
mod level;
mod links;
mod occupancy;
mod power;
mod pressure;
mod pulses;
mod rings;
mod slices;
mod wires;

pub use wires::E5Signals;
