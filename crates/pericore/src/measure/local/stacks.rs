//! Which PCI devices are behind the stacks that are counted.

use pericore_observe::kernel::{KernelPmus, pci_devices};
use pericore_observe::linux::Host;
use pericore_observe::selection::Selection;
use pericore_report::stacks::UnitStacks;

/// The view that devices are shown with, also where the kernel does not tell which stack they are behind.
const VIEW: &str = "pcie";

/// The stacks of the unit that has metrics in the selection and mapping files on this machine. With the whole of view
/// `pcie`, devices by their buses where there are no such files.
pub fn behind(host: &Host, selection: &Selection) -> Option<UnitStacks> {
    let pmus = KernelPmus::of(host).ok()?;
    let of = |unit: &'static str, stacks, devices| UnitStacks { unit: unit.to_owned(), stacks, devices };
    for metric in &selection.metrics {
        let stacks = pmus.stacks(selection.family, metric.unit);
        if !stacks.is_empty() {
            return Some(of(metric.unit.name, stacks, Vec::new()));
        }
    }
    let view = selection.family.views.iter().find(|view| view.name == VIEW)?;
    let chosen = |name: &&str| {
        let bare = name.rsplit('/').next().unwrap_or(name);
        selection.metrics.iter().find(|metric| metric.name == bare)
    };
    let first = view.metrics.iter().map(chosen).collect::<Option<Vec<_>>>()?.into_iter().next()?;
    let devices = pci_devices(host.root());
    (!devices.is_empty()).then(|| of(first.unit.name, Vec::new(), devices))
}
