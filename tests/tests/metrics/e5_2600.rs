//! The E5-2600's metrics, over the scenarios that are shipped.

use super::book::{Book, shipped};
use super::e5_2600_by_hand;

const HEADING: &str = "# The E5-2600's metrics over scenarios

Made by `cargo test -p pericore-tests --test all metrics_equal_the_ledger` (`PERICORE_WRITE_TABLES=1` writes it anew): each metric over a
shipped scenario (`crates/machine/scenarios`) that makes it more than nothing, over all sockets of the machine: from counters, and
over the ledger's figures. Both must agree. Events that need one filter register after the other are counted in runs of the same
scenario, so that nothing is scaled. Where the guide prints another equation, its value over the ledger stands beside it.";

const BOOK: Book = Book {
    family: "e5-2600",
    file: "e5-2600-metrics.md",
    heading: HEADING,
    scenes: &[
        shipped!("e5-2600", "cores"),
        shipped!("e5-2600", "devices"),
        shipped!("e5-2600", "heat"),
        shipped!("e5-2600", "night"),
        shipped!("e5-2600:isochronous=4,direct2core=0", "isochronous"),
        shipped!("e5-2600:sockets=2", "sockets"),
        shipped!("e5-2600:sockets=4", "ring-of-four"),
        shipped!("e5-2600:regions=12,ranks=8", "memory"),
        shipped!("e5-2600:sockets=4,directory=1", "directory"),
    ],
    // In 100 MHz.
    given: &[
        ("PCT_FREQ_BAND0", "{band0=12}"),
        ("PCT_FREQ_BAND1", "{band1=15}"),
        ("PCT_FREQ_BAND2", "{band2=20}"),
        ("PCT_FREQ_BAND3", "{band3=27}"),
    ],
    nothing: NOTHING,
    by_hand: e5_2600_by_hand::value,
    printed: e5_2600_by_hand::printed,
};

const NOTHING: &[(&str, &str)] = &[
    ("qpi/NCB_AnyMsg9flits", WHOLE),
    ("cbo/CYC_INGRESS_STARVED", STARVED),
    ("cbo/PCT_INGRESS_STARVED", STARVED),
    ("qpi/DRS_DataC_E_FrcAckCnflt", CONFLICTS),
    ("qpi/DRS_DataC_F_FrcAckCnflt", CONFLICTS),
    ("qpi/DRS_WbEData", KEPT),
    ("qpi/DRS_WbE_FROM_QPI", KEPT),
];

const STARVED: &str = "not modelled: no document says when an entry counts as starved by others of its queue";
const WHOLE: &str = "registers of devices are written in parts, never by the line";
const CONFLICTS: &str = "home agents order requests to one line, so that no response asks for an acknowledged conflict";
const KEPT: &str = "a socket that writes a line back keeps no exclusive copy";

#[test]
fn every_metric_of_the_e5_2600_equals_the_ledger() {
    BOOK.check();
}
