//! The mark that the kernel sets on itself when MSRs are written through its msr driver (since Linux 5.9).

use std::fs;

use pericore_observe::linux::Root;
use pericore_observe::plan::Plan;
use pericore_registers::{Address, Operation};

/// What users are told before the first write.
pub const WARNING: &str =
    "writing MSRs marks the kernel as tainted until the next boot (flag S, CPU out of specification)";

/// The flag in `/proc/sys/kernel/tainted`: `TAINT_CPU_OUT_OF_SPEC` of the kernel's documentation.
const OUT_OF_SPECIFICATION: u64 = 1 << 2;

/// True if a plan's first write sets the mark: the driver has the option that came with it, and the mark is not there.
pub fn comes_with(root: &Root, plan: &Plan) -> bool {
    let writes = |operation: Operation| matches!(operation, Operation::Write { address: Address::Msr { .. }, .. });
    is_missing(root) && plan.operations().any(writes)
}

fn is_missing(root: &Root) -> bool {
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    let flags = read("proc/sys/kernel/tainted").and_then(|text| text.trim().parse::<u64>().ok());
    let rule = read("sys/module/msr/parameters/allow_writes");
    rule.is_some_and(|rule| rule.trim() != "off") && flags.is_some_and(|flags| flags & OUT_OF_SPECIFICATION == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit 2 of the flags is the mark; 4097 has others. A kernel before 5.9 has no option, and sets none.
    #[test]
    fn the_mark_is_announced_once_a_boot() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let root = Root::at(folder.path());
        put("proc/sys/kernel/tainted", "4097\n");
        assert!(!is_missing(&root), "an old kernel");
        put("sys/module/msr/parameters/allow_writes", "default\n");
        assert!(is_missing(&root));
        put("sys/module/msr/parameters/allow_writes", "off\n");
        assert!(!is_missing(&root), "nothing is written");
        put("sys/module/msr/parameters/allow_writes", "on\n");
        put("proc/sys/kernel/tainted", "4101\n");
        assert!(!is_missing(&root), "it is there");
    }
}
