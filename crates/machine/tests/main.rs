//! The machine through its public face.

mod active_cores;
mod begun_from_snapshot;
mod by_cores;
mod dependence;
mod devices;
mod levels;
mod modelled;
mod named_truth;
mod nehalem_model;
mod overwriting;
mod phases;
mod sampling;
mod saved_window;
mod steady_replay;
mod traffic;
mod warm_up;
mod without_truth;
