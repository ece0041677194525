//! Any bytes from QEMU's proxy device: an error, or as many replies as requests, and never a hang.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{LazyLock, Mutex};

use pericore_doors::Idle;
use pericore_doors::guest::proxy::config::Window;
use pericore_doors::guest::proxy::{ConfigSpace, serve};
use pericore_doors::guest::{Hardware, clock::GuestClock};
use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::signal::Wiring;

static HARDWARE: LazyLock<Mutex<Hardware>> = LazyLock::new(|| {
    let family = pericore_catalog::family("emerald-rapids").expect("in the catalogue");
    let chassis = Chassis::new(Shape::new(family, 1, 8, 1).expect("possible"), Wiring::new(family, 1), |_| 8);
    Mutex::new(Hardware::new(chassis, Box::new(Idle), 1_000_000_000))
});

/// Any bytes.
pub fn run(bytes: &[u8]) {
    let (ours, theirs) = UnixStream::pair().expect("sockets");
    // What fits into the socket's buffer needs no second thread.
    let bytes = &bytes[..bytes.len().min(16 * 1024)];
    (&ours).write_all(bytes).expect("the buffer is larger");
    ours.shutdown(Shutdown::Write).expect("a socket can");
    let config = ConfigSpace::new(&[Window { first: 0xe000_0000, bytes: 1 << 23 }]);
    let result = serve(theirs, config, &HARDWARE, &GuestClock::default());
    let mut replies = Vec::new();
    // A reset connection: the server left the rest unread.
    let _ = (&ours).read_to_end(&mut replies);
    assert!(result.is_err() || replies.len() % 24 == 0, "{} bytes of replies", replies.len());
}
