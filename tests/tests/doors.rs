//! Other people's tools, unmodified, on an emulated E5-2600 with known traffic. They need root or user namespaces, /dev/fuse and
//! the packages msr-tools, pciutils, likwid and pcm: a test that cannot run fails and says what is missing.

#[path = "doors/rig.rs"]
mod rig;

#[path = "doors/discovery.rs"]
mod discovery;
#[path = "doors/expectations.rs"]
mod expectations;
#[path = "doors/hygiene.rs"]
mod hygiene;
#[path = "doors/likwid.rs"]
mod likwid;
#[path = "doors/msr_tools.rs"]
mod msr_tools;
#[path = "doors/pci_tools.rs"]
mod pci_tools;
#[path = "doors/pcm.rs"]
mod pcm;
#[path = "doors/processor.rs"]
mod processor;
#[path = "doors/workload.rs"]
mod workload;
