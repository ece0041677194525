//! The compiler through its public face: what it refuses, and what it takes.

mod compiled;
mod defects;
mod functions;
mod kernel;
mod parts;
mod processors;
mod rules;
mod topology;
mod views;
