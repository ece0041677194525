//! The E5-2600's metrics, over the scenarios that are shipped.

use super::book::{Book, Scene};
use super::e5_2600_by_hand;

const HEADING: &str = "# The E5-2600's metrics over scenarios

Made by `cargo test -p pericore-tests --test metrics_equal_the_ledger` (`PERICORE_WRITE_TABLES=1` writes it anew): each metric over a
shipped scenario (`crates/machine/scenarios`) that makes it more than nothing, over all sockets of the machine: from counters, and
over the ledger's figures. Both must agree. Events that need one filter register after the other are counted in runs of the same
scenario, so that nothing is scaled. Where the guide prints another equation, its value over the ledger stands beside it.";

macro_rules! shipped {
    ($machine:literal, $name:literal) => {
        Scene {
            machine: $machine,
            name: $name,
            text: include_str!(concat!("../../../crates/machine/scenarios/", $name, ".scenario")),
        }
    };
}

const BOOK: Book = Book {
    family: "e5-2600",
    file: "e5-2600-metrics.md",
    heading: HEADING,
    scenes: &[
        shipped!("e5-2600", "cores"),
        shipped!("e5-2600", "devices"),
        shipped!("e5-2600", "heat"),
        shipped!("e5-2600", "night"),
        shipped!("e5-2600:sockets=2", "sockets"),
        shipped!("e5-2600:sockets=4", "ring-of-four"),
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
    ("cbo/CYC_INGRESS_STARVED", STARVED),
    ("cbo/PCT_INGRESS_STARVED", STARVED),
    ("ha/PCT_CYCLES_BL_FULL", NEVER_FULL),
    ("ha/PCT_UCLK_BL_FULL", NEVER_FULL),
    ("ha/PCT_CYCLES_D2C_DISABLED", DIRECT),
    ("ha/PCT_UCLK_D2C_DISABLED", DIRECT),
    ("imc/PCT_CYCLES_DRAM_RANK2_", RANKS),
    ("imc/PCT_CYCLES_DRAM_RANK3_", RANKS),
    ("imc/PCT_CYCLES_DRAM_RANK4_", RANKS),
    ("imc/PCT_CYCLES_DRAM_RANK5_", RANKS),
    ("imc/PCT_CYCLES_DRAM_RANK6_", RANKS),
    ("imc/PCT_CYCLES_DRAM_RANK7_", RANKS),
    ("qpi/DRS_DataC_E_FrcAckCnflt", CONFLICTS),
    ("qpi/DRS_DataC_F_FrcAckCnflt", CONFLICTS),
    ("qpi/DRS_WbEData", KEPT),
    ("qpi/DRS_WbE_FROM_QPI", KEPT),
    ("qpi/NCB_", COHERENT),
    ("r3qpi/AVG_INGRESS_LATENCY_NCB", COHERENT),
    ("r3qpi/AVG_INGRESS_LATENCY_NCS", COHERENT),
    ("qpi/PCT_LINK_HALF_DISABLED_CYCLES", AWAKE),
    ("qpi/PCT_LINK_SHUTDOWN_CYCLES", AWAKE),
];

const STARVED: &str = "not modelled: no document says when an entry counts as starved by others of its queue";
const NEVER_FULL: &str = "data of the home agent finds its ring free";
const DIRECT: &str = "no scenario switches the direct way to the core off";
const RANKS: &str = "channels have two ranks, 0 and 1";
const CONFLICTS: &str = "home agents order requests to one line, so that no response asks for an acknowledged conflict";
const KEPT: &str = "a socket that writes a line back keeps no exclusive copy";
const COHERENT: &str = "nothing that is not coherent goes from socket to socket";
const AWAKE: &str = "links do not sleep";

#[test]
fn every_metric_of_the_e5_2600_equals_the_ledger() {
    BOOK.check();
}
