//! The machine through its public face.

mod active_cores;
mod begun_from_snapshot;
mod chassis;
mod counter_closed_form;
mod devices;
mod levels;
mod nehalem_model;
mod phases;
mod pmon_hardware;
mod slice_counters;
mod snapshot;
mod steady_replay;
mod traffic;
