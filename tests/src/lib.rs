//! What the journeys share: a software machine whose signals can be tampered with, and where documents of others are found.

#![expect(clippy::missing_panics_doc, reason = "whatever panics here fails a test")]

pub mod reference;
pub mod rig;

// Raw registers and the documents' texts, for tests of the hardware and of sessions.
pub mod pmon;
pub mod session;

// Whole sessions under a seed.
pub mod simulation;
