//! TLS and tokens, with curl and openssl as clients.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{awaited, certificate, curl, serve};
use crate::ours::pericore;

const TOKEN: &str = "c0ffee00c0ffee00c0ffee00";

/// Encrypted, to clients that know the certificate and have the token, and to nobody else.
#[test]
fn clients_without_certificate_or_token_get_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    certificate(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("token"), format!("{TOKEN}\n")).expect("written");
    fs::set_permissions(path("token"), fs::Permissions::from_mode(0o600)).expect("ours");
    let (cert, key, token, ca) = (path("cert.pem"), path("key.pem"), path("token"), path("ca.pem"));
    let (_server, port, begin) = serve(&["--tls-cert", &cert, "--tls-key", &key, "--token-file", &token]);
    assert!(begin.contains(&format!("https://127.0.0.1:{port}")), "{begin}");
    let url = format!("https://localhost:{port}/metrics");
    let bearer = format!("Authorization: Bearer {TOKEN}");
    awaited("the first sample", || {
        let (status, _) = curl(&["--cacert", &ca, "-H", &bearer, &url]);
        assert!(status == "200" || status == "503", "{status}");
        (status == "200").then_some(())
    });
    for version in ["1.2", "1.3"] {
        let only = format!("--tlsv{version}");
        assert_eq!(curl(&["--cacert", &ca, &only, "--tls-max", version, "-H", &bearer, &url]).0, "200");
    }
    for wrong in ["Authorization: Bearer c0ffee00c0ffee00c0ffee01", "Authorization: Basic YTpi", "X: x"] {
        for page in ["/metrics", "/", "/healthz", "/other"] {
            let url = format!("https://localhost:{port}{page}");
            assert_eq!(curl(&["--cacert", &ca, "-H", wrong, &url]), ("401".to_owned(), Some(0)), "{wrong} {page}");
        }
    }
    // 60: the certificate is of no authority that curl knows. What is not encrypted gets an alert, which is no HTTP: 1;
    // other versions of curl have other statuses for it.
    assert_eq!(curl(&["-H", &bearer, &url]), ("000".to_owned(), Some(60)));
    let (status, code) = curl(&["-H", &bearer, &format!("http://localhost:{port}/metrics")]);
    assert!(status == "000" && matches!(code, Some(1 | 35 | 52 | 56)), "{status} {code:?}");
    // TLS 1.1 and before are broken (RFC 8996).
    for old in ["-tls1_1", "-tls1"] {
        let mut client = Command::new("openssl");
        client.args(["s_client", "-connect", &format!("127.0.0.1:{port}"), old, "-cipher", "ALL:@SECLEVEL=0"]);
        let output = client.stdin(Stdio::null()).output().expect("apt-get install openssl");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(
            !output.status.success() && text.contains("SSL alert number") && text.contains("Cipher is (NONE)"),
            "{old}: {text}"
        );
    }

    // A byte of a handshake now and then, for longer than a request may take: 2 s, here with time for a busy host.
    let began = Instant::now();
    let mut slow = TcpStream::connect(format!("127.0.0.1:{port}")).expect("it listens");
    slow.set_read_timeout(Some(Duration::from_millis(50))).expect("a socket");
    // A record of 512 bytes is announced, with a greeting of a client in it.
    let greeting = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3];
    let mut sent = 0;
    loop {
        let byte = greeting.get(sent).copied().unwrap_or_default();
        sent += 1;
        let is_closed = slow.write_all(&[byte]).is_err() || matches!(slow.read(&mut [0; 64]), Ok(0));
        if is_closed {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{sent} bytes, and it still waits");
    }
    assert!(began.elapsed() > Duration::from_secs(1), "{sent} bytes");
}

/// What would let others in is refused before anything is opened.
#[test]
fn secrets_that_are_none_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    certificate(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let put = |name: &str, text: &str, mode: u32| {
        fs::write(path(name), text).expect("written");
        fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).expect("ours");
        path(name)
    };
    let (cert, key) = (path("cert.pem"), path("key.pem"));
    let good = put("good", TOKEN, 0o640);
    let open = put("open", TOKEN, 0o644);
    let short = put("short", "secret", 0o600);
    let open_key = put("open.pem", &fs::read_to_string(&key).expect("a key"), 0o644);
    let machine = ["serve", "--machine", "e5-2600", "--workload", "idle", "--listen"];
    for (line, words) in [
        (&["127.0.0.1:0", "--token-file", &open][..], "every user of this machine can read it"),
        (&["127.0.0.1:0", "--token-file", &short], "a token has at least 16 characters"),
        (&["0.0.0.0:0", "--token-file", &good], "the token would go over the network in the clear"),
        (&[":0", "--token-file", &good], "the token would go over the network in the clear"),
        (&["127.0.0.1:0", "--tls-cert", &cert, "--tls-key", &open_key], "every user of this machine can read it"),
        (&["127.0.0.1:0", "--tls-cert", &good, "--tls-key", &key], "give a file in PEM with the server's certificate"),
        (
            &["127.0.0.1:0", "--tls-cert", &cert, "--tls-key", &good],
            "give a file in PEM with the certificate's private key",
        ),
        (&["127.0.0.1:0", "--tls-cert", &cert], "--tls-key"),
        (&["unix:x", "--tls-cert", &cert, "--tls-key", &key], "a Unix socket is not encrypted"),
        (&["127.0.0.1:0", "--otlp", "localhost:4318"], "give http://HOST:PORT or https://HOST:PORT"),
        (&["127.0.0.1:0", "--otlp", "https://localhost:1", "--otlp-ca", &good], "no certificate in it"),
    ] {
        let output = pericore(&[&machine, line].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(words), "{line:?}: {text}");
        assert!(!text.contains(TOKEN), "{text}");
    }
}
