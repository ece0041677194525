//! Messages on a mesh, by where they came from and went to, and when. What each mesh stop saw of them follows from
//! where it lies.

mod queue;

use pericore_facts::emerald_rapids::{Bridged, MOST_COLUMNS, MOST_ROWS, MOST_TILES, Message, Ring, Tile};
pub use queue::Queue;
use queue::{Cover, Waits};

/// What an agent sent to a row.
#[derive(Debug, Clone, Copy, Default)]
struct Sent {
    /// By polarity: that of the cycle in which they left.
    messages: [u64; 2],
    /// Credits, by the polarity of the cycle in which they came back.
    credits: [u64; 2],
    /// Cycles that its credits were in use, added up.
    held: u64,
}

/// Messages that the queues of stops keep apart: those of a ring, and of addresses and data those that need a credit
/// for another row and those that do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeshFlow(usize);

impl MeshFlow {
    /// How many there are.
    const COUNT: usize = Ring::COUNT + 2;

    /// Messages of a ring that take a credit, or that need none.
    pub const fn new(ring: Ring, credited: bool) -> Self {
        match (ring, credited) {
            (Ring::Address, false) => Self(Ring::COUNT),
            (Ring::Block, false) => Self(Ring::COUNT + 1),
            _ => Self(ring as usize),
        }
    }

    /// All messages of a ring.
    pub fn all(ring: Ring) -> impl Iterator<Item = Self> {
        let (first, second) = (Self::new(ring, true), Self::new(ring, false));
        [first].into_iter().chain((second != first).then_some(second))
    }
}

/// Messages of a socket.
#[derive(Debug, Clone)]
pub struct Traffic {
    /// Row and column of each tile, and how many tiles and columns there are.
    places: [(u8, u8); MOST_TILES],
    tiles: usize,
    columns: usize,
    /// By ring and agent, row of the destination, source.
    sent: Vec<[[Sent; MOST_TILES]; MOST_ROWS]>,
    /// The same: cycles that messages waited for a credit.
    missed: Vec<[[u64; MOST_TILES]; MOST_ROWS]>,
    /// By flow, column of the source, destination: messages by polarity, which is that of the cycle in which they
    /// turned. No stop asks for more of both ends than one table or the other has.
    came: [[[[u64; 2]; MOST_TILES]; MOST_COLUMNS]; MeshFlow::COUNT],
    /// By ring and agent, source.
    egress: Vec<Waits<1>>,
    /// By flow, tile.
    turns: Vec<Waits<1>>,
    /// By flow, tile: messages that came down or up the column, those that came along the row, and the tile's own.
    ingress: Vec<Waits<3>>,
    /// By ring, column, down, and by flow, row, right.
    bridges: Vec<Waits<1>>,
    bridges_aside: Vec<Waits<1>>,
    /// By tile: cycles that distress held messages back.
    throttled: Vec<u64>,
    /// By tile, for messages from below and above: cycles in which one or more had to keep its place.
    ordered: Vec<[(Cover, u64); 2]>,
    /// By tile: cycles in which one or both egress queues of addresses were full.
    distress: Vec<(Cover, u64)>,
}

const LANES: usize = Ring::COUNT * 2;

/// A ring and one of the agents that send on it.
#[inline]
const fn lane(ring: Ring, agent: u8) -> usize {
    ring as usize * 2 + agent as usize % 2
}

impl Traffic {
    /// A quiet mesh.
    ///
    /// # Panics
    /// If it is larger than any that is known.
    pub fn new(tiles: &[Tile]) -> Self {
        let columns = tiles.iter().map(|tile| usize::from(tile.column) + 1).max().unwrap_or(0);
        let rows = tiles.iter().map(|tile| usize::from(tile.row) + 1).max().unwrap_or(0);
        assert!(tiles.len() <= MOST_TILES && rows <= MOST_ROWS && columns <= MOST_COLUMNS, "a mesh of {rows} rows");
        let mut places = [(0, 0); MOST_TILES];
        for (place, tile) in places.iter_mut().zip(tiles) {
            *place = (tile.row, tile.column);
        }
        let tiles = tiles.len();
        Self {
            places,
            tiles,
            columns,
            sent: vec![[[Sent::default(); MOST_TILES]; MOST_ROWS]; LANES],
            missed: vec![[[0; MOST_TILES]; MOST_ROWS]; LANES],
            came: [[[[0; 2]; MOST_TILES]; MOST_COLUMNS]; MeshFlow::COUNT],
            egress: Waits::many(LANES * tiles),
            turns: Waits::many(MeshFlow::COUNT * tiles),
            ingress: Waits::many(MeshFlow::COUNT * tiles),
            bridges: Waits::many(Ring::COUNT * columns * 2),
            bridges_aside: Waits::many(MeshFlow::COUNT * MOST_ROWS * 2),
            throttled: vec![0; tiles],
            ordered: vec![Default::default(); tiles],
            distress: vec![Default::default(); tiles],
        }
    }

    /// Row and column of a tile.
    #[inline]
    const fn place(&self, tile: u8) -> (usize, usize) {
        let (row, column) = self.places[tile as usize % MOST_TILES];
        (row as usize % MOST_ROWS, column as usize % MOST_COLUMNS)
    }

    /// Counts a message of a ring and agent between two of the tiles, which left and turned in these cycles and held
    /// its credit for so many, or needed none.
    #[inline(always)]
    pub fn count(
        &mut self,
        (ring, agent): (Ring, u8),
        (from, to): (u8, u8),
        [left, turned]: [u64; 2],
        held: Option<u64>,
    ) {
        let ((from_row, column), (row, _)) = (self.place(from), self.place(to));
        let sent = &mut self.sent[lane(ring, agent)][row][usize::from(from) % MOST_TILES];
        sent.messages[left as usize % 2] += 1;
        if let Some(held) = held {
            sent.credits[(left + held) as usize % 2] += 1;
            sent.held += held;
        }
        let MeshFlow(flow) = MeshFlow::new(ring, from_row != row);
        self.came[flow][column][usize::from(to) % MOST_TILES][turned as usize % 2] += 1;
    }

    /// Adds the waits of a message between two of the tiles.
    #[inline(never)]
    pub fn wait(&mut self, message: &Message) {
        let (ring, now, tiles) = (message.ring as usize, message.put, self.tiles);
        let ((from_row, column), (to_row, to_column)) = (self.place(message.from), self.place(message.to));
        let down = usize::from(to_row > from_row);
        let MeshFlow(flow) = MeshFlow::new(message.ring, from_row != to_row);
        if message.left > message.put {
            let (lane, from) = (lane(message.ring, message.agent), usize::from(message.from));
            let egress = &mut self.egress[lane * tiles + from];
            let filled = egress.add(0, message.put, message.left, now);
            if let Some((began, ended)) = filled.filter(|_| message.ring == Ring::Address) {
                let (cover, cycles) = &mut self.distress[from];
                *cycles += cover.add(began, ended, now);
            }
            if message.left > message.credited {
                egress.nack(0, message.left - message.credited);
            }
            self.throttled[from] += message.released - message.first;
            self.missed[lane][to_row][from] += message.credited - message.released;
        }
        if let Some(Bridged { came, went }) = message.bridged
            && went > came
        {
            self.bridges[(ring * self.columns + column) * 2 + down].add(0, came, went, now);
        }
        if let Some(Bridged { came, went }) = message.bridged_aside
            && went > came
        {
            let right = usize::from(to_column > column);
            self.bridges_aside[(flow * MOST_ROWS + to_row) * 2 + right].add(0, came, went, now);
        }
        if message.turned > message.reached {
            let turn = usize::from(message.turn);
            let turns = &mut self.turns[flow * tiles + turn];
            turns.add(0, message.reached, message.turned, now);
            if message.turned > message.ordered {
                turns.nack(0, message.turned - message.ordered);
            }
            // What begins in its own row has come neither up nor down.
            if message.ordered > message.reached && from_row != to_row {
                let (cover, cycles) = &mut self.ordered[turn][down];
                *cycles += cover.add(message.reached, message.ordered, now);
            }
        }
        if message.taken > message.arrived {
            // Along a column, along a row, or from the same tile: by no ring.
            let kind = if message.from == message.to { 2 } else { usize::from(message.turn != message.to) };
            let to = flow * tiles + usize::from(message.to);
            self.ingress[to].add(kind, message.arrived, message.taken, now);
        }
    }

    /// Messages of a ring and agent that a condition on source and row of the destination chooses.
    pub fn sent_by(&self, ring: Ring, agent: Option<u8>, chosen: impl Fn(usize, u8) -> bool) -> u64 {
        self.sum_sent(ring, agent, chosen, |sent| sent.messages.iter().sum())
    }

    /// The same of one polarity.
    pub fn sent_with(&self, ring: Ring, odd: bool, chosen: impl Fn(usize, u8) -> bool) -> u64 {
        self.sum_sent(ring, None, chosen, |sent| sent.messages[usize::from(odd)])
    }

    /// The credits of these messages that went back with a polarity.
    pub fn returned_with(&self, ring: Ring, odd: bool, chosen: impl Fn(usize, u8) -> bool) -> u64 {
        self.sum_sent(ring, None, chosen, |sent| sent.credits[usize::from(odd)])
    }

    fn sum_sent(
        &self,
        ring: Ring,
        agent: Option<u8>,
        chosen: impl Fn(usize, u8) -> bool,
        what: impl Fn(&Sent) -> u64,
    ) -> u64 {
        let agents = (0..2).filter(|&a| agent.is_none_or(|agent| agent == a));
        let rows = agents.flat_map(|agent| (0..).zip(&self.sent[lane(ring, agent)]));
        let of_row = |(row, sent): (u8, &[Sent; MOST_TILES])| {
            let sent = sent[..self.tiles].iter().enumerate();
            sent.filter(|&(from, _)| chosen(from, row)).map(|(_, sent)| what(sent)).sum::<u64>()
        };
        rows.map(of_row).sum()
    }

    /// Messages of a flow that a condition on the source's column and on the destination chooses.
    pub fn come_to(&self, flow: MeshFlow, chosen: impl Fn(u8, usize) -> bool) -> u64 {
        [false, true].map(|odd| self.come_with(flow, odd, &chosen)).iter().sum()
    }

    /// The same of one polarity.
    pub fn come_with(&self, MeshFlow(flow): MeshFlow, odd: bool, chosen: impl Fn(u8, usize) -> bool) -> u64 {
        let of_column = |(column, came): (u8, &[[u64; 2]; MOST_TILES])| {
            let came = came[..self.tiles].iter().enumerate();
            came.filter(|&(to, _)| chosen(column, to)).map(|(_, messages)| messages[usize::from(odd)]).sum::<u64>()
        };
        (0..).zip(&self.came[flow][..self.columns]).map(of_column).sum()
    }

    /// The egress queue of a tile's agent.
    pub fn egress(&self, ring: Ring, agent: u8, tile: usize) -> &Queue {
        let [queue] = self.egress[lane(ring, agent) * self.tiles + tile].totals();
        queue
    }

    /// The queue of a tile for messages that turn into its row.
    pub fn turning(&self, MeshFlow(flow): MeshFlow, tile: usize) -> &Queue {
        let [queue] = self.turns[flow * self.tiles + tile].totals();
        queue
    }

    /// What a tile's ingress did with messages that came down or up its column, with those that came along its row, and
    /// with the tile's own.
    pub fn ingress(&self, MeshFlow(flow): MeshFlow, tile: usize) -> &[Queue; 3] {
        self.ingress[flow * self.tiles + tile].totals()
    }

    /// The fabric's buffer of a column for messages that go up or down.
    pub fn bridge(&self, ring: Ring, column: usize, down: bool) -> &Queue {
        let [queue] = self.bridges[(ring as usize * self.columns + column) * 2 + usize::from(down)].totals();
        queue
    }

    /// The fabric's buffer of a row for messages that go left or right.
    pub fn bridge_aside(&self, MeshFlow(flow): MeshFlow, row: usize, right: bool) -> &Queue {
        let [queue] = self.bridges_aside[(flow * MOST_ROWS + row) * 2 + usize::from(right)].totals();
        queue
    }

    /// Cycles that an agent's credits for a row were in use, added up.
    pub fn held(&self, ring: Ring, agent: u8, tile: usize, row: u8) -> u64 {
        self.sent[lane(ring, agent)][usize::from(row)][tile].held
    }

    /// Cycles that an agent's messages waited for a credit for a row.
    pub fn missed(&self, ring: Ring, agent: u8, tile: usize, row: u8) -> u64 {
        self.missed[lane(ring, agent)][usize::from(row)][tile]
    }

    /// Cycles in which an agent of a tile could take no more addresses.
    pub fn distress(&self, tile: usize) -> u64 {
        self.distress[tile].1
    }

    /// Cycles that distress held a tile's messages back.
    pub fn throttled(&self, tile: usize) -> u64 {
        self.throttled[tile]
    }

    /// Cycles that messages from below or above kept their place before they turned at a tile.
    pub fn ordered(&self, tile: usize, down: bool) -> u64 {
        self.ordered[tile][usize::from(down)].1
    }
}
