//! What root may be made to do, and what ends a run: journals that others wrote, and others that are in the way. The
//! runs are on a live software machine, of which every access is known. Needs root or user namespaces, and /dev/fuse.

mod apart;
mod blocked;
mod created;
mod inputs;
mod journals;
mod served;
mod signals;

use crate::live::rig::{Access, Run};
use pericore_doors::log::Kind;

/// All writes of a run.
fn writes(run: &Run) -> Vec<Access> {
    run.all(|access| access.entry.kind != Kind::Read)
}

/// A journal of this boot with a checksum that fits: FNV-1a, 64 bits, of all lines before it (its parameters are those
/// of the algorithm's authors).
fn journal(entries: &[&str]) -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("Linux tells its boot");
    let saved: String = entries.iter().map(|entry| format!("save {entry}\n")).collect();
    format!("pericore journal 1\npid 1\nboot {}\nmachine MACHINE\n{saved}", boot.trim())
}

/// A shell function that completes a journal on standard input: the machine's name, and the checksum.
const COMPLETE: &str = r#"
complete() { sed "s|^machine MACHINE$|machine ${PERICORE_EMULATED:-local}|" >"$1.text"
    python3 - "$1" <<'END'
import sys
text = open(sys.argv[1] + ".text", "rb").read()
total = 0xcbf29ce484222325
for byte in text:
    total = ((total ^ byte) * 0x100000001b3) & 0xffffffffffffffff
open(sys.argv[1], "wb").write(text + b"checksum 0x%016x\n" % total)
END
    rm "$1.text"; chmod 600 "$1"; }
mkdir -p -m 700 "$XDG_STATE_HOME/pericore"
"#;
