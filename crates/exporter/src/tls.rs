//! Connections by TLS 1.2 and 1.3.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Instant;

use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::connection::{ClientSocket, Connection, Timed};

/// A server's certificate and key.
#[derive(Debug, Clone)]
pub struct Tls(Arc<ServerConfig>);

/// Why there is no TLS with these files.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// There is no certificate.
    #[error("{0}; give a file in PEM with the server's certificate")]
    Certificate(pem::Error),
    /// There is no key.
    #[error("{0}; give a file in PEM with the certificate's private key")]
    Key(pem::Error),
    /// They do not belong together, or are of a kind that is not known.
    #[error("certificate and key: {0}; give the key that belongs to the first certificate of the file")]
    Unsuited(#[from] rustls::Error),
}

impl TlsError {
    /// True if it is the key that is wrong.
    pub const fn is_about_key(&self) -> bool {
        matches!(self, Self::Key(_))
    }
}

impl Tls {
    /// The certificate (with those of its issuers behind it) and its private key, in PEM.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn of(certificate: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain = CertificateDer::pem_slice_iter(certificate)
            .collect::<Result<Vec<_>, _>>()
            .and_then(|chain| if chain.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(chain) })
            .map_err(TlsError::Certificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(TlsError::Key)?;
        let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions()?.with_no_client_auth();
        Ok(Self(Arc::new(builder.with_single_cert(chain, key)?)))
    }

    /// A socket's connection. The handshake comes with the first read or write, and has its deadline.
    ///
    /// # Errors
    /// The library has no memory for it.
    pub fn accept<S: ClientSocket>(&self, socket: Timed<S>) -> io::Result<impl Connection + use<S>> {
        let connection = ServerConnection::new(Arc::clone(&self.0)).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, socket))
    }
}

impl<S: ClientSocket> Connection for StreamOwned<ServerConnection, Timed<S>> {
    fn set_deadline(&mut self, deadline: Instant) {
        self.sock.set_deadline(deadline);
    }

    fn end_sending(&mut self) -> io::Result<()> {
        self.conn.send_close_notify();
        self.flush()?;
        self.sock.end_sending()
    }
}
