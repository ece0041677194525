//! How full the queues of system agents are.

/// Messages in a system agent: in its ingress; data and acknowledgements on their way out.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemQueues(pub [usize; 3]);
