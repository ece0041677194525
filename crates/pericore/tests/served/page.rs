//! The page that browsers show of `pericore serve`, in Debian's Chromium.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use super::{certificate, curl, serve};

const PAGE_TEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/browser/live.mjs");

const TOKEN: &str = "c0ffee00c0ffee00c0ffee01";

fn look(arguments: &[&str]) {
    let output = Command::new("node").arg(PAGE_TEST).args(arguments).stdin(Stdio::null()).output();
    let output = output.expect("node is installed: tests/run installs it");
    assert!(
        output.status.success(),
        "tests/run installs Chromium and its driver, if they are what is missing\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Charts, brush, slider, keys, dark colours, and what moves on while it is open; nothing loaded from elsewhere, and
/// nothing that axe-core finds. Programs get the text that they had.
#[test]
fn a_browser_shows_what_is_measured() {
    let (_server, port, _) = serve(&["-M", "memory"]);
    let address = format!("http://127.0.0.1:{port}/");
    look(&[&address]);
    let kind = ["-o", "/dev/null", "-w", "%{content_type}", &address];
    let output = Command::new("curl").arg("-s").args(kind).output().expect("curl");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "text/plain; charset=utf-8");
}

/// The page asks for the token, and has no numbers without it.
#[test]
fn the_page_wants_the_token_for_its_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    certificate(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("token"), TOKEN).expect("written");
    fs::set_permissions(path("token"), fs::Permissions::from_mode(0o600)).expect("ours");
    let (cert, key, token) = (path("cert.pem"), path("key.pem"), path("token"));
    let (_server, port, _) = serve(&["-M", "memory", "--tls-cert", &cert, "--tls-key", &key, "--token-file", &token]);
    let address = format!("https://127.0.0.1:{port}/");
    look(&[&address, TOKEN]);
    let news = format!("{address}live.json");
    assert_eq!(curl(&["-k", "-H", "Accept: text/html", &news]).0, "401");
}
