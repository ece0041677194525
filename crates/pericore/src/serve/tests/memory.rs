//! Memory of a server that has taken many samples.

use std::process::Command;

use pericore_exporter::{Board, MetricsPage, PageFeed as _, Pages};

use super::*;

/// Set for the process that measures its memory: beside other tests it would be theirs.
const ALONE: &str = "PERICORE_TEST_ALONE";

/// Bytes that the memory may grow by between the thousandth and the last sample.
const MOST: u64 = 1 << 20;

/// 100,000 samples with turns, gaps and doubts: what comes with each is given back with the next.
#[test]
fn a_hundred_thousand_samples_take_the_memory_of_a_thousand() {
    let name = "serve::tests::memory::samples_in_a_process_of_its_own";
    let mut alone = Command::new(std::env::current_exe().unwrap());
    alone.args(["--exact", name, "--ignored", "--nocapture"]).env(ALONE, "1");
    let output = alone.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let line = text.lines().find(|line| line.contains("samples: ")).unwrap();
    println!("{line}");
}

#[test]
#[ignore = "has to be alone in its process: the test above starts it"]
fn samples_in_a_process_of_its_own() {
    if std::env::var_os(ALONE).is_none() {
        return;
    }
    let (plan, names) = planned(&["-e", "imc/CAS_COUNT.RD/"]);
    let (board, mut tally) = (Board::default(), Tally::default());
    let hour = last_hour();
    let mut memory = Vec::new();
    for number in 0..100_000_u64 {
        let taken = sample(&plan, |_, socket, instance| match (number % 7, socket, instance) {
            (3, 0, 2) => (None, Validity::unreadable("imc2 in socket 0", format!("number {number}"))),
            (5, 1, _) => (Some(number), Validity::suspect(format!("doubt {number}"))),
            _ => (Some(number), Validity::MEASURED),
        });
        let totals = Totals::of(&taken, Scope::Socket);
        tally.add(&plan, &totals);
        hour.add(&plan.layout(), &taken, None);
        let made = exposition(&ENVIRONMENT, (&plan, &names), &tally, &totals);
        let front = format!("{:?}", made.notes).into_bytes();
        board.put(Pages { metrics: MetricsPage::of(made.families), front, stale_from: None });
        if number % 15 == 0 {
            let pages = board.pages().unwrap();
            assert!(pages.metrics.text(Format::Prometheus).len() < pages.metrics.text(Format::OpenMetrics).len());
        }
        if matches!(number, 999 | 99_999) {
            assert!(hour.since(0).is_some() && hour.since(number).is_some());
            memory.push(Process::now().memory.unwrap());
        }
    }
    assert_eq!(tally.samples, 100_000);
    println!("samples: 1,000 took {} bytes, 100,000 took {}", memory[0], memory[1]);
    assert!(memory[1] < memory[0] + MOST, "{memory:?}");
}
