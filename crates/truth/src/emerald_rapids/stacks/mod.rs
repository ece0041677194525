//! I/O stacks: what requests of devices, accesses of cores and lines between devices did there.

pub mod names;

use pericore_facts::emerald_rapids::{
    DeviceRequest, DeviceStation, INBOUND_DATA, INBOUND_READS, Kind, PeerLine, PeerStation, StackFact, stop_port,
};

use super::gauge::Gauge;

/// A level that nothing fills.
const ENDLESS: u64 = u64::MAX;
const PORTS: usize = 8;

/// A cycle of the stack's clock, and one of the mesh's.
#[derive(Debug, Clone, Copy)]
pub struct StackCycles {
    pub ioclk: u64,
    pub uclk: u64,
}

/// Requests of devices that read, and that write, by port.
type ByKind = [[u64; PORTS]; 2];

/// Lines between devices, as this stack saw them.
#[derive(Debug, Clone, Default)]
pub struct PeerCells {
    /// That came in from its devices, by class and port; of these, those for the other socket.
    pub began: ByKind,
    pub far: u64,
    pub waiting: Gauge,
    /// That left: by message class.
    pub left: [u64; 2],
    /// Credits that they took: of the pools, and kept ones (first), of stacks and of links, by message class.
    pub taken: [[[[u64; 2]; 6]; 2]; 2],
    /// Lines that are first in their stack and wait for one: for stacks, for links.
    pub waits: [[[Gauge; 2]; 6]; 2],
    /// That came from other devices, by class and port.
    pub came: ByKind,
    /// Those that the stack has for its devices.
    pub inside: Gauge,
    /// Those from this socket and from the other, by class: in the mesh stop, and until they give their credits back.
    pub at_stop: [[Gauge; 2]; 2],
    pub here: [[Gauge; 2]; 2],
    /// Credits sent back, near and far: of pools, by who shares one; of those kept, by destination and class.
    pub gave_shared: [[u64; 3]; 2],
    pub gave_kept: [[[u64; 2]; 6]; 2],
    /// Lines taken, by class; of reads, those that a device has answered, by port.
    pub taken_here: [u64; 2],
    pub answered: [u64; PORTS],
    /// Credits that came back, kept ones first: near and far, by class; of the pools, by destination.
    pub back: [[[u64; 2]; 2]; 2],
    pub pooled: [[u64; 6]; 2],
}

/// Totals of a stack.
#[derive(Debug, Clone, Default)]
pub struct StackCells {
    /// Answers to snoops, by result and kind of snoop.
    pub responses: [[u64; 3]; 4],
    pub entered: ByKind,
    /// Of those that write, atomic operations, by port.
    pub atomic: [u64; PORTS],
    /// Those that are done with.
    pub atomic_done: u64,
    /// Of those that write, writes of parts of lines, by port.
    pub partial: [u64; PORTS],
    pub completed: ByKind,
    /// Requests whose translation is walked for.
    pub walked: u64,
    /// Of these, by the reads of memory that the walk takes: one, two and so on.
    pub walk_reads: [u64; 4],
    /// Requests that went out on the mesh; of these, the ones that took their line along.
    /// By port to the mesh stop.
    pub went_out: [u64; 2],
    pub lines_out: u64,
    /// Requests that have their permission, without data; all that have what they need.
    pub permitted: u64,
    pub acknowledged: u64,
    /// Reads that went out on the mesh.
    pub reads_out: u64,
    /// Data that came from the mesh and had to wait.
    pub data_waited: u64,
    pub walks: Gauge,
    pub lines: Gauge,
    pub inbound_reads: Gauge,
    /// At the mesh stop, in cycles of the mesh; inside, in those of either.
    pub at_stop: Gauge,
    /// Messages of all kinds at the mesh stop.
    pub all_at_stop: Gauge,
    /// Credits into the stack in use: of data for devices' reads, of writes and reads of cores and other devices; by
    /// port to the mesh stop.
    pub iio_credits: [[Gauge; 2]; 3],
    pub inside: Gauge,
    pub completions: [Gauge; PORTS],
    /// By queue; both address queues.
    pub stalls: [Gauge; 3],
    pub address_stalls: Gauge,
    /// Accesses of cores, by reads and writes, and port.
    pub of_cores: ByKind,
    pub answered: [u64; 2],
    /// Reads of cores that devices answered with data, by port.
    pub sent_data: [u64; PORTS],
    /// Those under way, by reads and writes.
    pub under_way: [Gauge; 2],
    /// Those that have not gone through the port yet: in cycles of the stack, and of the mesh.
    pub in_port: [Gauge; 2],
    pub under_way_at_stop: [Gauge; 2],
    pub interrupts: u64,
    pub peers: PeerCells,
    /// Messages of devices, and their data, by port.
    pub messages: [u64; PORTS],
    pub message_words: [u64; PORTS],
}

fn switch(gauge: &mut Gauge, on: bool, cycle: u64) {
    if on { gauge.enter(cycle, ENDLESS) } else { gauge.leave(cycle, ENDLESS) }
}

impl StackCells {
    /// A request of a device is somewhere.
    pub fn request(
        &mut self,
        station: DeviceStation,
        request: DeviceRequest,
        StackCycles { ioclk, uclk }: StackCycles,
    ) {
        let (port, kind) = (usize::from(request.port) % PORTS, usize::from(!request.reads()));
        match station {
            DeviceStation::Enters => {
                self.entered[kind][port] += 1;
                self.atomic[port] += u64::from(request.is_atomic());
                self.partial[port] += u64::from(request.is_partial());
                self.lines.enter(ioclk, ENDLESS);
                if request.walk > 0 {
                    self.walked += 1;
                    self.walk_reads[usize::from(request.walk - 1) % 4] += 1;
                    self.walks.enter(ioclk, ENDLESS);
                }
                if request.reads() {
                    self.inbound_reads.enter(ioclk, INBOUND_READS.into());
                }
            }
            DeviceStation::Leaves => {
                self.went_out[usize::from(stop_port(request.port))] += 1;
                self.reads_out += u64::from(request.reads());
                self.lines_out += u64::from(request.kind == Kind::DmaWriteback);
            }
            DeviceStation::DataComes(waits) => {
                self.data_waited += u64::from(waits);
                self.at_stop.enter(uclk, ENDLESS);
                self.all_at_stop.enter(uclk, ENDLESS);
                if request.reads() {
                    self.inbound_reads.leave(ioclk, INBOUND_READS.into());
                }
            }
            DeviceStation::DataEnters => {
                self.at_stop.leave(uclk, ENDLESS);
                self.all_at_stop.leave(uclk, ENDLESS);
                self.iio_credits[0][usize::from(stop_port(request.port))].enter(uclk, ENDLESS);
                self.inside.enter(ioclk, INBOUND_DATA.into());
            }
            DeviceStation::DataGoesUp => {
                self.iio_credits[0][usize::from(stop_port(request.port))].leave(uclk, ENDLESS);
                self.inside.leave(ioclk, INBOUND_DATA.into());
                self.completions[port].enter(ioclk, ENDLESS);
            }
            DeviceStation::Permitted => {
                self.acknowledged += 1;
                if request.brings_data() {
                    // It stays in the port, which has room for more from now on.
                    self.iio_credits[0][usize::from(stop_port(request.port))].leave(uclk, ENDLESS);
                    self.inside.leave(ioclk, INBOUND_DATA.into());
                } else {
                    self.permitted += 1;
                }
                // An atomic operation's device gets what the line held.
                if request.is_atomic() {
                    self.completions[port].enter(ioclk, ENDLESS);
                }
            }
            DeviceStation::Completes => {
                self.completed[kind][port] += 1;
                self.atomic_done += u64::from(request.is_atomic());
                self.lines.leave(ioclk, ENDLESS);
                if request.walk > 0 {
                    self.walks.leave(ioclk, ENDLESS);
                }
                if request.reads() || request.is_atomic() {
                    self.completions[port].leave(ioclk, ENDLESS);
                }
            }
        }
    }

    /// Something else happens in the stack.
    pub fn happens(&mut self, fact: StackFact, StackCycles { ioclk, uclk }: StackCycles) {
        match fact {
            StackFact::Stalls(queue, on) => {
                switch(&mut self.stalls[usize::from(queue) % 3], on, ioclk);
                if queue < 2 {
                    switch(&mut self.address_stalls, on, ioclk);
                }
            }
            StackFact::CoreComes { port, reads } => {
                let kind = usize::from(!reads);
                self.of_cores[kind][usize::from(port) % PORTS] += 1;
                self.under_way[kind].enter(ioclk, ENDLESS);
                self.in_port[kind].enter(ioclk, ENDLESS);
                self.under_way_at_stop[kind].enter(uclk, ENDLESS);
                self.all_at_stop.enter(uclk, ENDLESS);
                self.iio_credits[1 + usize::from(reads)][usize::from(stop_port(port))].enter(uclk, ENDLESS);
            }
            StackFact::CoreAnswered { port, reads } => {
                let kind = usize::from(!reads);
                self.sent_data[usize::from(port) % PORTS] += u64::from(reads);
                self.answered[kind] += 1;
                self.under_way[kind].leave(ioclk, ENDLESS);
            }
            StackFact::CorePasses { port, reads } => {
                let kind = usize::from(!reads);
                self.in_port[kind].leave(ioclk, ENDLESS);
                self.under_way_at_stop[kind].leave(uclk, ENDLESS);
                self.all_at_stop.leave(uclk, ENDLESS);
                self.iio_credits[1 + usize::from(reads)][usize::from(stop_port(port))].leave(uclk, ENDLESS);
            }
            StackFact::TranslatesInterrupt => self.interrupts += 1,
            StackFact::Message { port, words } => {
                self.messages[usize::from(port) % PORTS] += 1;
                self.message_words[usize::from(port) % PORTS] += u64::from(words);
            }
        }
    }

    /// A line between devices is at a station that this stack sees.
    pub fn peer(&mut self, station: PeerStation, line: &PeerLine, cycles: StackCycles) {
        let credits = &mut self.iio_credits[1 + line.class()][usize::from(stop_port(line.port))];
        match station {
            PeerStation::Arrives => {
                self.all_at_stop.enter(cycles.uclk, ENDLESS);
                credits.enter(cycles.uclk, ENDLESS);
            }
            PeerStation::Passes => {
                self.all_at_stop.leave(cycles.uclk, ENDLESS);
                credits.leave(cycles.uclk, ENDLESS);
            }
            _ => {}
        }
        self.peers.read(station, line, cycles);
    }

    /// Brings its sums up to cycles.
    pub fn bring_up(&mut self, StackCycles { ioclk, uclk }: StackCycles) {
        self.inbound_reads = self.inbound_reads.at(ioclk, INBOUND_READS.into());
        self.inside = self.inside.at(ioclk, INBOUND_DATA.into());
        let of_stack = [
            &mut self.walks,
            &mut self.lines,
            &mut self.address_stalls,
            &mut self.peers.waiting,
            &mut self.peers.inside,
        ];
        let of_stack = of_stack.into_iter().chain(&mut self.completions).chain(&mut self.stalls);
        of_stack
            .chain(&mut self.under_way)
            .chain(&mut self.in_port)
            .for_each(|gauge| *gauge = gauge.at(ioclk, ENDLESS));
        let of_mesh = [&mut self.at_stop, &mut self.all_at_stop];
        let of_mesh = of_mesh.into_iter().chain(self.iio_credits.as_flattened_mut()).chain(&mut self.under_way_at_stop);
        let of_peers = self.peers.waits.as_flattened_mut().as_flattened_mut().iter_mut();
        let here = self.peers.here.as_flattened_mut().iter_mut().chain(self.peers.at_stop.as_flattened_mut());
        let of_mesh = of_mesh.chain(of_peers).chain(here);
        of_mesh.for_each(|gauge| *gauge = gauge.at(uclk, ENDLESS));
    }

    /// True if nothing is under way.
    pub fn is_at_rest(&self) -> bool {
        let some = [&self.walks, &self.lines, &self.inbound_reads, &self.at_stop, &self.inside];
        let some = some.into_iter().chain(self.iio_credits.as_flattened()).chain([
            &self.address_stalls,
            &self.peers.waiting,
            &self.peers.inside,
        ]);
        let some =
            some.chain(&self.completions).chain(&self.stalls).chain(&self.under_way).chain(&self.under_way_at_stop);
        let some = some.chain(&self.in_port);
        let of_peers = self.peers.waits.as_flattened().as_flattened().iter().chain(self.peers.here.as_flattened());
        let of_peers = of_peers.chain(self.peers.at_stop.as_flattened());
        some.chain(of_peers).all(|gauge| gauge.live == 0)
    }
}

impl PeerCells {
    /// A line is at a station that this stack sees: as the one that began it, or as the other.
    fn read(&mut self, station: PeerStation, line: &PeerLine, StackCycles { ioclk, uclk }: StackCycles) {
        let (class, port, far) = (line.class(), usize::from(line.port) % PORTS, usize::from(line.is_remote()));
        let (to, pool) = (usize::from(line.destination()), usize::from(line.shared));
        match station {
            PeerStation::Enters => {
                self.began[class][port] += 1;
                self.far += far as u64;
                self.waiting.enter(ioclk, ENDLESS);
            }
            PeerStation::Waits => self.waits[far][to][class].enter(uclk, ENDLESS),
            PeerStation::Leaves(waited) => {
                self.left[class] += 1;
                self.waiting.leave(ioclk, ENDLESS);
                self.taken[pool][far][to][class] += 1;
                if waited {
                    self.waits[far][to][class].leave(uclk, ENDLESS);
                }
            }
            PeerStation::Arrives => {
                self.came[class][port] += 1;
                self.inside.enter(ioclk, ENDLESS);
                // The credit that it holds comes with it.
                self.back[pool][far][class] += 1;
                self.at_stop[far][class].enter(uclk, ENDLESS);
                self.here[far][class].enter(uclk, ENDLESS);
            }
            PeerStation::Passes => self.at_stop[far][class].leave(uclk, ENDLESS),
            PeerStation::Taken => {
                self.here[far][class].leave(uclk, ENDLESS);
                self.taken_here[class] += 1;
                self.inside.leave(ioclk, ENDLESS);
                self.answered[port] += u64::from(line.reads);
                match (line.link, line.shared) {
                    // The stacks of a socket share three pools.
                    (None, true) => self.gave_shared[0][usize::from(line.stack) % 3] += 1,
                    (Some(link), true) => self.gave_shared[1][usize::from(link)] += 1,
                    (None, false) => self.gave_kept[0][usize::from(line.stack)][class] += 1,
                    (Some(link), false) => self.gave_kept[1][usize::from(link)][class] += 1,
                }
            }
            PeerStation::Back => self.pooled[far][to] += u64::from(line.shared),
        }
    }
}
