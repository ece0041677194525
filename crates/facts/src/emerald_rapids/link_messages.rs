//! Messages between sockets. Their codes are the catalogue's; what they are for is the model's.

/// Message classes (Table 3-6), in the order in which the mesh side of a link has them: three of the address ring,
/// four of the block ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LinkClass {
    /// REQ: requests to a home agent.
    Request,
    /// SNP: snoops.
    Snoop,
    /// RSP2: responses without data.
    Response,
    /// RSP4: responses with data.
    Data,
    /// WB: writebacks.
    Writeback,
    /// NCB: non-coherent data, interrupts and messages.
    Bypass,
    /// NCS: reads of I/O, and short messages.
    Standard,
}

macro_rules! messages {
    ($($message:ident = $name:literal, $class:ident, $line:literal;)*) => {
        /// The messages that the model sends (Tables 3-7, 3-8), by their names there.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "they are named as in the guide's tables, and described in the catalogue")]
        pub enum LinkMessage {
            $($message,)*
        }

        impl LinkMessage {
            /// All, by their number.
            pub const ALL: &[Self] = &[$(Self::$message,)*];
            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The guide's name, which the catalogue has the code of.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$message => $name,)*
                }
            }

            /// Its class.
            pub const fn class(self) -> LinkClass {
                match self {
                    $(Self::$message => LinkClass::$class,)*
                }
            }

            /// A line, or what takes as much room, follows its header.
            pub const fn has_line(self) -> bool {
                match self {
                    $(Self::$message => $line,)*
                }
            }
        }
    };
}

messages! {
    ReadCurrent = "RdCur", Request, false;
    ReadCode = "RdCode", Request, false;
    ReadData = "RdData", Request, false;
    ReadOwn = "RdInvOwn", Request, false;
    Claim = "InvItoE", Request, false;
    SnoopData = "SnpData", Snoop, false;
    SnoopOwn = "SnpInvOwn", Snoop, false;
    Nothing = "RspI", Response, false;
    Completion = "CmpO", Response, false;
    Modified = "DataM", Data, true;
    Exclusive = "DataE", Data, true;
    ModifiedDone = "DataM_CmpO", Data, true;
    ExclusiveDone = "DataE_CmpO", Data, true;
    SharedDone = "DataSI_CmpO", Data, true;
    SharedWritten = "RspSWb", Data, true;
    Writeback = "WbMtoI", Writeback, true;
    WritebackShared = "WbMtoS", Writeback, true;
    WritebackExclusive = "WbMtoE", Writeback, true;
    Write = "NonSnpWr", Writeback, true;
    Interrupt = "IntPhysical", Bypass, true;
    PeerWrite = "NcP2PB", Bypass, true;
    PeerRead = "NcP2PS", Standard, false;
}

/// The catalogue's code of each message: its class in bits 7:4, its opcode in bits 3:0.
pub type LinkCodes = [u8; LinkMessage::COUNT];
