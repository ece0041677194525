//! `pericore serve` beyond the loopback address: encrypted, with a token, and pushed to a collector.

mod cost;
mod crowd;
mod guarded;
mod page;
mod pushed;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::ours::{PERICORE, command};

/// Longer than the slowest host takes for what is waited for.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A program that is told to end when the test does, however it does.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// A server of a streaming software machine with more options, its port, and the line with which it begins.
pub fn serve(options: &[&str]) -> (Running, String, String) {
    serve_by(PERICORE.as_ref(), "e5-2600", "stream", &[&["-I", "250"], options].concat())
}

/// The same by any build, on any machine.
pub fn serve_by(program: &OsStr, machine: &str, workload: &str, options: &[&str]) -> (Running, String, String) {
    let mut program = command(program);
    program
        .args(["serve", "--machine", machine, "--workload", workload, "--listen", "127.0.0.1:0"])
        .args(options)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut running = Running(program.spawn().expect("the program starts"));
    let mut lines = BufReader::new(running.0.stderr.take().expect("it is piped")).lines();
    let begin = lines.by_ref().map_while(Result::ok).find(|line| line.contains("127.0.0.1:"));
    let begin = begin.expect("the server says where it listens");
    // What comes later must not block it.
    std::thread::spawn(move || lines.for_each(drop));
    let (_, rest) = begin.split_once("127.0.0.1:").expect("it was looked for");
    let port = rest.split(|character: char| !character.is_ascii_digit()).next().expect("a port").to_owned();
    (running, port, begin)
}

/// An authority's certificate, `ca.pem`, and one of it for localhost and 127.0.0.1, `cert.pem`, with its key,
/// `key.pem`.
pub fn certificate(folder: &Path) {
    let script = "set -e
        key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
        openssl req -x509 $key -days 2 -keyout ca.key -out ca.pem -subj /CN=authority
        openssl req $key -keyout key.pem -out request.pem -subj /CN=localhost
        echo subjectAltName=DNS:localhost,IP:127.0.0.1 >names
        openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out cert.pem
        chmod 600 key.pem";
    let made = Command::new("sh").args(["-c", script]).current_dir(folder).output().expect("sh runs");
    assert!(made.status.success(), "apt-get install openssl: {}", String::from_utf8_lossy(&made.stderr));
}

/// What curl prints, and its exit status: 0 is an answer, of whatever status.
pub fn curl(arguments: &[&str]) -> (String, Option<i32>) {
    let mut curl = Command::new("curl");
    let output =
        curl.args(["-sS", "--max-time", "20", "-o", "/dev/null", "-w", "%{http_code}"]).args(arguments).output();
    let output = output.expect("apt-get install curl");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

/// What comes when it is asked for, as soon as it is there.
pub fn awaited<T>(what: &str, get: impl FnMut() -> Option<T>) -> T {
    awaited_for(PATIENCE, what, get)
}

/// The same, for as long as this.
pub fn awaited_for<T>(patience: Duration, what: &str, mut get: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + patience;
    loop {
        if let Some(found) = get() {
            return found;
        }
        assert!(Instant::now() < end, "{what} never came");
        std::thread::sleep(Duration::from_millis(100));
    }
}
