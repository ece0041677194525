//! Who may read what the server has: a certificate, a token, and what is refused without them.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use pericore_exporter::{BearerToken, Listen, Tls, TlsError};

use crate::failure::Failure;
use crate::{input, notice, refused_file};

/// Bits of a file's mode that let others than its owner and group read it.
const READ_BY_OTHERS: u32 = 0o004;

/// Arguments about encryption and passwords.
#[derive(Debug, Args)]
pub struct GuardArgs {
    /// Serve https instead of http, with this certificate (and those of its issuers behind it), in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The certificate's private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Answer only requests that bring the token in this file, as `Authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// What requests have to bring, and how.
#[derive(Debug, Default)]
pub struct ServerGuard {
    pub tls: Option<Tls>,
    pub token: Option<BearerToken>,
}

impl GuardArgs {
    /// Reads the files.
    ///
    /// # Errors
    /// A file that cannot be used or that everybody can read, or a token that would go over the network in the clear.
    pub fn read(&self, place: &Listen) -> Result<ServerGuard, Failure> {
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                let key_bytes = secret(key)?;
                let chain = read(certificate, input::SECRET)?;
                let of = |error: &TlsError| if error.is_about_key() { key } else { certificate };
                let tls = Tls::of(&chain, &key_bytes);
                Some(tls.map_err(|error| Failure::failed(format!("{}: {error}", of(&error).display())))?)
            }
            _ => None,
        };
        let token = self.token_file.as_deref().map(|path| {
            let text =
                String::from_utf8(secret(path)?).map_err(|_| not_read(path, io::ErrorKind::InvalidData.into()))?;
            BearerToken::of(&text).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
        });
        let token = token.transpose()?;
        if tls.is_some() && matches!(place, Listen::Unix(_)) {
            return Err(Failure::usage(
                "--tls-cert: a Unix socket is not encrypted: leave it out, or listen at a port",
            ));
        }
        if is_elsewhere(place) && tls.is_none() && token.is_some() {
            return Err(Failure::usage(
                "--token-file: the token would go over the network in the clear; give --tls-cert and --tls-key as \
                 well, or listen on the loopback address behind a proxy",
            ));
        }
        Ok(ServerGuard { tls, token })
    }
}

impl ServerGuard {
    /// The place as clients name it. Warns if everybody there can read what the server has.
    pub fn name(&self, place: &Listen) -> String {
        if is_elsewhere(place) && self.token.is_none() {
            let clear = if self.tls.is_none() { ", and nothing is encrypted" } else { "" };
            notice::warn(format!(
                "all that can reach this address can read the numbers{clear}: see --token-file, --tls-cert and \
                 --tls-key"
            ));
        }
        let name = place.to_string();
        if self.tls.is_some() { name.replacen("http://", "https://", 1) } else { name }
    }
}

/// True if requests can come from other machines.
fn is_elsewhere(place: &Listen) -> bool {
    match place {
        Listen::Tcp(address) => !address.ip().to_canonical().is_loopback(),
        Listen::All(_) => true,
        Listen::Unix(_) => false,
    }
}

fn not_read(path: &Path, error: io::Error) -> Failure {
    Failure::failed(refused_file::reading(path, &error))
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    input::bytes(path, most).map_err(|error| not_read(path, error))
}

/// What is in a file; refuses one of which everybody can know that.
fn secret(path: &Path) -> Result<Vec<u8>, Failure> {
    let file = input::open(path).map_err(|error| not_read(path, error))?;
    let known = file.metadata().map_err(|error| not_read(path, error))?;
    if known.mode() & READ_BY_OTHERS == 0 {
        return input::whole(file, input::SECRET).map_err(|error| not_read(path, error));
    }
    let path = path.display();
    if !known.is_file() {
        return Err(Failure::failed(format!("{path}: this is no file; name the file with the secret")));
    }
    Err(Failure::failed(format!(
        "{path}: every user of this machine can read it; run chmod o= {path}, and create a new secret"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Advice to take a device from everybody would do harm.
    #[test]
    fn a_secret_is_in_a_file() {
        let failure = secret(Path::new("/dev/null")).unwrap_err().to_string();
        assert!(failure.contains("/dev/null: this is no file") && !failure.contains("chmod"), "{failure}");
    }

    #[test]
    fn only_the_loopback_addresses_and_sockets_are_here() {
        for (place, elsewhere) in [
            ("127.0.0.1:1", false),
            ("127.9.9.9:1", false),
            ("[::1]:1", false),
            ("[::ffff:127.0.0.1]:1", false),
            ("unix:/x", false),
            ("10.0.0.1:1", true),
            ("0.0.0.0:1", true),
            ("[::]:1", true),
            (":1", true),
        ] {
            assert_eq!(is_elsewhere(&place.parse().unwrap()), elsewhere, "{place}");
        }
    }
}
