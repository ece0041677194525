//! Other people's tools, unmodified, on an emulated E5-2600 with known traffic. They need root or user namespaces, /dev/fuse and
//! the packages msr-tools, pciutils, likwid and pcm: a test that cannot run fails and says what is missing.

mod rig;

mod discovery;
mod expectations;
mod hygiene;
mod likwid;
mod msr_tools;
mod pci_tools;
mod pcm;
mod processor;
mod workload;
