//! Numbers as text in Prometheus' and OpenMetrics' formats, and a small HTTP server that hands the text out.
//!
//! It knows nothing of counters: [`text`] writes families of samples, [`answer`] turns the bytes of a request into a
//! response, [`Server`] does that on a TCP port or a Unix socket. What is handed out is made by somebody else, at
//! times of their choosing, and put on a [`Board`]. A browser gets a [`LivePage`], which asks for what is new.

mod accept;
mod access;
mod admission;
mod answer;
mod board;
mod connection;
mod health;
mod hosts;
mod limits;
mod listen;
mod live;
#[cfg(feature = "otlp")]
pub mod otlp;
mod server;
pub mod text;
#[cfg(feature = "tls")]
mod tls;

pub use access::{BearerToken, RequestPolicy, TokenError};
pub use answer::{Body, HttpResponse, MOST_BYTES, Page, respond};
pub use board::{Board, MetricsPage, Pages};
pub use hosts::Hosts;
pub use limits::Limits;
pub use listen::{Listen, ListenError, Listener, SocketFile};
pub use live::{LivePage, PageFeed};
pub use server::Server;
#[cfg(feature = "tls")]
pub use tls::{Tls, TlsError};
