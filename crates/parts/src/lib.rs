//! Parts that the models of a software Xeon are made of. None knows a family.

pub mod assignment;
pub mod cache;
pub mod channel_conditions;
pub mod channel_facts;
pub mod core;
pub mod heat;
pub mod host;
pub mod lanes;
pub mod line;
pub mod llc;
pub mod program;
pub mod recurring;
pub mod request_port;
pub mod settings;
pub mod translation;
pub mod waiting;
pub mod warming;
pub mod work;

/// A request by its number in its model's pool.
pub type RequestId = u16;
/// No request.
pub const NO_REQUEST: RequestId = RequestId::MAX;
