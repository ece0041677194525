//! What the journeys share: a software machine whose signals can be tampered with.

pub mod rig;
