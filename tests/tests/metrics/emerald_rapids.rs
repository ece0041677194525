//! Emerald Rapids' metrics, over workloads that make each of them more than nothing.

use super::book::{Book, Scene, shipped};
use super::emerald_rapids_by_hand;

const HEADING: &str = "# Emerald Rapids' metrics over workloads

Made by `cargo test -p pericore-tests --test all metrics_equal_the_ledger` (`PERICORE_WRITE_TABLES=1` writes it anew): each metric over a
workload that makes it more than nothing, over all sockets of the machine: from counters, and over the ledger's figures. Both must
agree. Events that do not fit the counters together are counted in runs of the same workload, so that nothing is scaled. Where the guide
prints another equation, its value over the ledger stands beside it; a dash if it names events that there are not, or queues without
their subchannel, which count nothing.";

const BOOK: Book = Book {
    family: "emerald-rapids",
    file: "emerald-rapids-metrics.md",
    heading: HEADING,
    scenes: &[
        Scene::of("8592+:sockets=2", "mixed:requests=30000,read=50,threads=64,footprint=64M,remote=40"),
        Scene::of("8592+:sockets=2", "random:requests=100000,threads=16,footprint=512k,read=60,remote=40"),
        Scene::of("8592+", "copy:requests=100000,threads=8,footprint=4M"),
        Scene::of("8592+", "stream:requests=60000,threads=64,stride=1M,footprint=16G,read=0"),
        Scene::of("8592+:sockets=2", "stream:requests=60000,threads=64,stride=1M,footprint=16G,read=0,remote=50"),
        Scene::of("8568", "stream:requests=60000,threads=48,stride=1M,footprint=16G,read=0,cxl=50"),
        Scene::of("8592+", "dma-read:requests=20000,threads=8,footprint=32M"),
        shipped!("8592+", "package"),
        shipped!("8592+", "modules"),
        shipped!("8592+:sockets=2", "messages"),
        shipped!("8592+:sockets=2", "system"),
    ],
    given: &[],
    nothing: &[],
    by_hand: emerald_rapids_by_hand::value,
    printed: emerald_rapids_by_hand::printed,
};

#[test]
fn every_metric_of_emerald_rapids_equals_the_ledger() {
    BOOK.check();
}
