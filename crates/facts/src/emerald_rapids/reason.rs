//! Why an agent's pipeline turns a request away.

/// Why the pipeline turns a request away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reason {
    /// Another request to the same line is under way.
    AddressMatch,
    /// No credit for a request to another socket.
    Request,
    /// No credit for a response without data.
    Response,
    /// No credit for a response with data.
    Data,
    /// No credit for a writeback.
    Writeback,
    /// The agent's way onto the mesh is full: for acknowledgements to cores and stacks, for snoops of cores.
    Acknowledge,
    /// See [`Reason::Acknowledge`].
    Invalidate,
}

impl Reason {
    /// How many there are.
    pub const COUNT: usize = 7;
    /// All of them.
    pub const ALL: [Self; Self::COUNT] = [
        Self::AddressMatch,
        Self::Request,
        Self::Response,
        Self::Data,
        Self::Writeback,
        Self::Acknowledge,
        Self::Invalidate,
    ];
}
