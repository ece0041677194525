//! The directory, by hand: lines that go to another socket and are taken back.

use super::{model, run};
use crate::e5_2600::E5;
use crate::uncore::tests::recorder::Recorder;
use pericore_parts::work::Worker;
use pericore_truth::Question;
use pericore_truth::e5_2600::Window;

#[test]
fn a_line_that_leaves_its_socket_sets_its_bit_and_one_that_is_taken_back_clears_it() {
    // Socket 0's thread reads the 256 lines of 16 KiB of socket 1's memory, once each; then all threads write to their
    // own socket's lines at these addresses, so often that each is written.
    let text = "directory=1 2 \nphase away\nworkload stream:requests=256,threads=1,footprint=16k,remote=100,read=100\n\
                phase back\nworkload random:requests=20000,threads=16,footprint=16k,read=0\n";
    let (mut model, _) = model(text);
    let before = model.snapshot();
    while model.progress().done < 256 {
        model.run_until_any(model.now() + 1000, &mut Recorder::default());
    }
    let between = model.snapshot();
    run(&mut model, &mut Recorder::default());
    let after = model.snapshot();
    let ha = |window: &Window<'_>, home, event, subevent| {
        window.truth(home, Question::new("ha", event).subevent(subevent)).unwrap()
    };
    let away = Window::between(&before, &between);
    assert_eq!(ha(&away, 1, "DIRECTORY_LOOKUP", "NO_SNP"), 256);
    assert_eq!((ha(&away, 1, "DIRECTORY_LOOKUP", "SNP"), ha(&away, 1, "DIRECTORY_UPDATE", "SET")), (0, 256));
    assert_eq!(ha(&away, 1, "TxR_AD", "SNP"), 256, "the home agent's own socket is not in the directory");
    let back = Window::between(&between, &after);
    assert_eq!(ha(&back, 1, "DIRECTORY_LOOKUP", "SNP"), 256);
    assert_eq!((ha(&back, 1, "DIRECTORY_UPDATE", "CLEAR"), ha(&back, 1, "DIRECTORY_UPDATE", "SET")), (256, 0));
    assert_eq!(ha(&back, 1, "TxR_AD", "SNP"), 256);
    // Socket 0's lines have never left it: nothing is asked, nothing written.
    assert_eq!((ha(&back, 0, "DIRECTORY_LOOKUP", "NO_SNP"), ha(&back, 0, "TxR_AD", "SNP")), (256, 0));
    assert_eq!(ha(&back, 0, "DIRECTORY_UPDATE", "ANY"), 0);
    // Each change of a bit is a write of a whole line to memory, and there is no other.
    let all = Window::between(&before, &after);
    assert_eq!((ha(&all, 1, "IMC_WRITES", "FULL"), ha(&all, 1, "REQUESTS", "WRITES")), (512, 0));
}

/// Sockets whose slice owns a line.
fn owners(model: &E5, line: u32) -> usize {
    model.model.owners(line).count()
}

#[test]
fn a_writeback_that_comes_late_leaves_the_line_to_its_new_owner() {
    // Lines of one set of each slice: slices give them up while the cores' writebacks are on their way, and other
    // sockets take them.
    let text = "directory=1 4 random:requests=30000,threads=64,footprint=16M,stride=128k,read=0,remote=75";
    let (mut model, _) = model(text);
    let (node, apart) = ((model.model.parameters().node() / 64) as u32, (128 << 10) / 64);
    let lines = || (0..4).flat_map(|socket| (0..128).map(move |number| socket * node + number * apart));
    let mut owned = 0;
    while !model.finished() {
        model.run_until_any(model.now() + 100_000, &mut Recorder::default());
        assert!(lines().all(|line| owners(&model, line) <= 1), "two sockets own a line at {}", model.now());
        owned = owned.max(lines().filter(|&line| owners(&model, line) == 1).count());
        assert!(model.now() < 1_000_000_000, "the workload does not end");
    }
    assert!(owned > 100, "{owned}");
}
