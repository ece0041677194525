//! Signals to the tracer reach the program. A test file of its own: signals go to the whole process.

mod harness;

use harness::{captured, pattern, words};
use pericore_tracer::Tracer;
use std::time::{Duration, Instant};

#[test]
fn sigterm_is_passed_on() {
    let (options, output) = captured();
    let running = Tracer::launch(pattern().as_os_str(), &words(&["pause"]), options).expect("starts");
    let start = Instant::now();
    while harness::contents(&output) != "ready\n" {
        assert!(start.elapsed() < Duration::from_secs(60), "the program is not ready");
        std::thread::sleep(Duration::from_millis(5));
    }
    // SAFETY: the handler that the tracer has installed passes the signal on.
    unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
    let finished = running.finish().expect("ends");
    // The program's own handler ends it with 43.
    assert_eq!(finished.status.code(), Some(43));
}
