//! Sapphire Rapids' metrics, over workloads that make each of them more than nothing.

use super::book::{Book, Scene, shipped};
use super::emerald_rapids_by_hand;

const HEADING: &str = "# Sapphire Rapids' metrics over workloads

Made by `cargo test -p pericore-tests --test all metrics_equal_the_ledger` (`PERICORE_WRITE_TABLES=1` writes it
anew): each metric over a workload that makes it more than nothing, as `../emerald-rapids-metrics.md` has it for the
successor.";

const BOOK: Book = Book {
    family: "sapphire-rapids",
    file: "machine/sapphire-rapids-metrics.md",
    heading: HEADING,
    scenes: &[
        Scene::of("8480+:sockets=2", "mixed:requests=30000,read=50,threads=64,footprint=64M,remote=40"),
        Scene::of("8480+:sockets=2", "random:requests=100000,threads=16,footprint=512k,read=60,remote=40"),
        Scene::of("8480+", "copy:requests=100000,threads=8,footprint=4M"),
        Scene::of("8480+", "stream:requests=60000,threads=56,stride=1M,footprint=16G,read=0"),
        Scene::of("8480+:sockets=2", "stream:requests=60000,threads=64,stride=1M,footprint=16G,read=0,remote=50"),
        Scene::of("8480+", "stream:requests=60000,threads=56,stride=1M,footprint=16G,read=0,cxl=50"),
        Scene::of("8480+", "dma-read:requests=20000,threads=8,footprint=32M"),
        shipped!("8480+", "modules"),
        shipped!("8480+:sockets=2", "messages"),
        shipped!("8480+:sockets=2", "system"),
        Scene { machine: "8480+", name: "limits", text: include_str!("limits.scenario") },
    ],
    given: &[],
    nothing: &[],
    by_hand: emerald_rapids_by_hand::value,
    printed: emerald_rapids_by_hand::printed,
};

#[test]
fn every_metric_of_sapphire_rapids_equals_the_ledger() {
    BOOK.check();
}
