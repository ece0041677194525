//! What happens in a machine of the Xeon 5500 series.

mod places;
mod records;

use pericore_engine::Tick;

use crate::{CommandRecord, FactReader};
pub use places::{CHANNELS, Class, LINKS, Port, Source, TO_HUB, TO_SOCKET, Tracker};
pub use records::{Kind, Priority, ProbeRecord, Record, Reply};

/// Reads the facts of this family.
pub trait NehalemReader: for<'a> FactReader<NehalemFact<'a>> {}

impl<R: for<'a> FactReader<NehalemFact<'a>>> NehalemReader for R {}

/// One thing that happens. Sockets, channels and links are numbered within what holds them.
#[derive(Debug, Clone, Copy)]
pub enum NehalemFact<'a> {
    /// A request is at a station of its way, as its record shows.
    Request(Station, &'a Record),
    /// A snoop is.
    Snoop(SnoopStation, &'a ProbeRecord),
    /// Something comes into use in a socket.
    Begins(u8, Use),
    /// It goes out of use, where it has been since a tick.
    Ends(u8, Use, Tick),
    /// The reply to a snoop for a request reached the request's home.
    Reply {
        /// Home.
        home: u8,
        /// Who requested the line.
        source: Source,
        /// Reply.
        reply: Reply,
        /// Number of the line.
        line: u32,
    },
    /// The last but one of the requests for a line has left its home, where at most so many met.
    Met {
        /// Home.
        home: u8,
        /// Requests at a time.
        requests: u8,
    },
    /// An entry of a channel's queue of writes is free, which was taken at `since`.
    Written {
        /// Home.
        home: u8,
        /// Channel.
        channel: u8,
        /// When the write came.
        since: Tick,
        /// An isochronous device's.
        isochronous: bool,
    },
    /// A command went out on a channel.
    Command {
        /// Home.
        home: u8,
        /// Channel.
        channel: u8,
        /// Command.
        record: CommandRecord,
    },
    /// A read took its data from a pending write.
    Forwarded {
        /// Home.
        home: u8,
        /// Channel.
        channel: u8,
    },
    /// A write replaced a pending write.
    Merged {
        /// Home.
        home: u8,
        /// Channel.
        channel: u8,
    },
}

/// Stations of a request. Its record has what has happened so far, the station included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Station {
    /// It enters its tracker of the global queue.
    Queued,
    /// It is looked up in the LLC.
    LookedUp,
    /// The LLC answers.
    Replied,
    /// It gets a transaction number of its home, from a tracker.
    Numbered,
    /// It enters the home logic.
    AtHome,
    /// It goes past the home logic to memory.
    Bypassed,
    /// It reaches the memory controller.
    AtMemory,
    /// It has just come home, and the home logic has a normal read of its line hurried in the memory controller.
    Hurried,
    /// Another socket has passed its line on: the home logic asks the memory controller to cancel its read.
    Cancelled,
    /// A read leaves its channel's queue.
    Served,
    /// The home logic has answered.
    LeftHome,
    /// Its line comes into the LLC.
    Filled,
    /// Its completion requires an acknowledgement, since another request waits for the line.
    Acknowledged,
    /// It leaves its tracker.
    Left,
    /// It is over. Reported also of what is under way, when somebody wants the state of a moment.
    Ended,
}

/// Stations of a snoop in the socket that it goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SnoopStation {
    /// It waits for an entry of the peer probe tracker.
    Waits,
    /// It enters the tracker.
    Queued,
    /// It is looked up in the LLC.
    LookedUp,
    /// The socket answers.
    Replied,
    /// It leaves the tracker.
    Left,
    /// It is over, with the lines that it has moved. Reported also of what is under way.
    Ended,
}

/// What can be in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// A request of the home logic shares its line with another; there can be several such.
    Contest(Source),
    /// A data port of the global queue carries lines.
    Port(Port),
    /// A link sends.
    Link(u8),
    /// Messages of a class lack a credit of a link.
    NoCredit(u8, Class),
}
