//! The hardware through its public face.

mod chassis;
mod counter_closed_form;
mod pci_functions;
mod pmon_hardware;
mod slice_counters;
mod snapshot;
mod variants;
