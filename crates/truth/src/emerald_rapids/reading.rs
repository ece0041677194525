//! What the ledger takes down of each fact.

use pericore_engine::Tick;
use pericore_facts::FactReader;
use pericore_facts::emerald_rapids::{
    Class, Fact, Kind, LinkFact, MemoryFact, Message, PeerLine, PeerStation, SubchannelPlace, UnitInstance,
};

use super::Ledger;
use super::cells::AgentCells;
use super::home::UnitCells;
use super::stacks::{StackCells, StackCycles};

impl FactReader<Fact> for Ledger {
    #[inline(always)]
    fn read(&mut self, at: Tick, fact: Fact) {
        match fact {
            Fact::SetsOut(agent, class) => self.prefetch_arrival(agent, class),
            Fact::Answered(agent, class) => self.prefetch_end(agent, class),
            Fact::Comes(agent) => self.comes(agent, at),
            Fact::Leaves(agent, came) => self.leaves(agent, came, at),
            Fact::LooksUp(agent, class, found) => {
                self.agent(agent).lookups[class.kind as usize][found as usize][usize::from(class.remote)] += 1;
            }
            Fact::TakesEntry(agent, class) => {
                let cycle = self.clocks.uclk.cycles(at);
                self.agent(agent).tor[class.index()].enter(cycle);
                self.table_changes(agent, class, cycle, 1);
            }
            Fact::GivesEntry(agent, class, since) => {
                let cycle = self.clocks.uclk.cycles(at);
                let is_load = class.kind == Kind::DataRead && !class.hit;
                if let Some(latencies) = self.latencies.as_mut().filter(|_| is_load) {
                    latencies.add(cycle - self.clocks.uclk.cycles(since));
                }
                self.agent(agent).tor[class.index()].leave(cycle);
                self.table_changes(agent, class, cycle, -1);
            }
            Fact::TurnsAway(agent, queue, reason, again) => self.agent(agent).rejects.turn_away(queue, reason, again),
            Fact::TriesAgain(agent, queue, reason) => self.agent(agent).rejects.retry(queue, reason),
            Fact::GivesWay(agent, victim) => self.agent(agent).victims[victim.index()] += 1,
            Fact::Goes(socket, message) => self.goes(socket, message),
            Fact::Link(link, fact) => self.at_link(link, fact, at),
            Fact::Responds((socket, stack), result, snoop) => {
                self.stack((socket, stack)).responses[usize::from(result)][usize::from(snoop)] += 1;
            }
            Fact::Requested(agent, what, remote) => self.agent(agent).home.count(what, remote),
            Fact::Sends(agent, request, at_once, credit) => self.agent(agent).home.send(request, at_once, credit),
            Fact::SendsPrefetch(agent, half, sent) => self.agent(agent).home.prefetch(half, sent),
            Fact::PrefetchComes(unit, half, sender, fate) => {
                let cycle = self.clocks.uclk.cycles(at);
                self.memory_unit(unit).take_prefetch(half, sender, fate, cycle);
            }
            Fact::ComesToMemory(unit, request) => {
                let cycle = self.clocks.uclk.cycles(at);
                self.memory_unit(unit).take(request, cycle);
            }
            Fact::LeavesMemory(unit, request) => {
                let cycle = self.clocks.uclk.cycles(at);
                self.memory_unit(unit).finish(request, cycle);
            }
            Fact::LooksInDirectory(agent, unit, state, queries) => {
                self.agent(agent).home.look(queries);
                self.memory_unit((agent.0, unit)).look(state);
            }
            Fact::ChangesDirectory(agent, unit, (from, to), had) => {
                self.agent(agent).home.change(had);
                self.memory_unit((agent.0, unit)).change(from, to);
            }
            Fact::Memory(subchannel, fact) => self.memory(subchannel, fact, at),
            Fact::Agent(agent, fact) => {
                let cycle = self.clocks.uclk.cycles(at);
                self.agent(agent).caching.read(fact, cycle);
            }
            Fact::MemoryUnit(unit, fact) => {
                let cycle = self.clocks.uclk.cycles(at);
                self.memory_unit(unit).read(fact, cycle);
            }
            Fact::Device(stack, station, request) => {
                let cycles = self.stack_cycles(at);
                self.stack(stack).request(station, request, cycles);
            }
            Fact::Stack(stack, fact) => {
                let cycles = self.stack_cycles(at);
                self.stack(stack).happens(fact, cycles);
            }
            Fact::Peer(station, line) => self.at_peer(station, &line, at),
            Fact::Expander((socket, link), fact) => {
                let number = socket * self.expanders_of_socket + link;
                self.cells.expanders[usize::from(number)].read(fact, self.clocks.cxlclk.cycles(at));
            }
            Fact::Core(socket, from, to, demoted) => {
                self.cells.power[usize::from(socket)].core(from, to, demoted, self.clocks.pclk.cycles(at));
            }
            Fact::CoreChanges(socket, begins) => {
                self.cells.power[usize::from(socket)].core_changes(begins, self.clocks.pclk.cycles(at));
            }
            Fact::Package(socket, condition, on) => {
                self.cells.power[usize::from(socket)].package(condition, on, self.clocks.pclk.cycles(at));
            }
            Fact::System(socket, fact) => {
                self.cells.systems[usize::from(socket)].read(fact, self.clocks.uclk.cycles(at));
            }
        }
    }
}

impl Ledger {
    #[inline]
    fn agent(&mut self, (socket, cha): UnitInstance) -> &mut AgentCells {
        &mut self.cells.agents[usize::from(socket * self.agents_of_socket + cha)]
    }

    #[inline]
    fn memory_unit(&mut self, (socket, unit): UnitInstance) -> &mut UnitCells {
        &mut self.cells.memory_units[usize::from(socket * self.units_of_socket + unit)]
    }

    #[inline]
    fn stack(&mut self, (socket, stack): UnitInstance) -> &mut StackCells {
        &mut self.cells.stacks[usize::from(socket * self.stacks_of_socket + stack)]
    }

    const fn stack_cycles(&self, at: Tick) -> StackCycles {
        StackCycles { ioclk: self.clocks.ioclk.cycles(at), uclk: self.clocks.uclk.cycles(at) }
    }

    /// Something happens at one end of a link. What its sender does to its width, its peer's receiver sees.
    fn at_link(&mut self, (socket, link): UnitInstance, fact: LinkFact, at: Tick) {
        let (uclk, upiclk) = (self.clocks.uclk.cycles(at), self.clocks.upiclk.cycles(at));
        let number = |socket: u16| usize::from(socket * self.links_of_socket + link);
        let (here, peer) = (number(socket), number(socket ^ 1));
        if let LinkFact::Width(from, to) = fact {
            self.cells.links[peer].set_width(from, to, 1, upiclk);
        }
        // The other end gets the request, and answers it.
        if let LinkFact::ShutsDown(granted) = fact {
            self.cells.links[peer].shut_downs[usize::from(granted)] += 1;
        }
        self.cells.links[here].read(fact, uclk, upiclk);
    }

    /// A line between devices is somewhere: its own stack sees some of its stations, the other stack the others.
    fn at_peer(&mut self, station: PeerStation, line: &PeerLine, at: Tick) {
        let seen_by = match station {
            PeerStation::Arrives | PeerStation::Passes | PeerStation::Taken => line.goal(),
            _ => line.source(),
        };
        let cycles = self.stack_cycles(at);
        self.stack(seen_by).peer(station, line, cycles);
    }

    /// A core's request has come to its agent's ingress queue. Of interest only if changes are kept.
    fn comes(&mut self, (socket, cha): UnitInstance, at: Tick) {
        if let Some(changes) = &mut self.changes {
            changes.ingress(socket * self.agents_of_socket + cha, self.clocks.uclk.cycles(at), 1);
        }
    }

    /// A core's request that `came` to its agent's ingress queue has left it.
    #[inline]
    fn leaves(&mut self, (socket, cha): UnitInstance, came: Tick, at: Tick) {
        let from = self.clocks.uclk.cycles(came);
        let to = self.clocks.uclk.cycles(at);
        let ingress = &mut self.agent((socket, cha)).caching.ingress;
        ingress.entries += 1;
        ingress.occupied += to - from;
        if let Some(changes) = &mut self.changes {
            changes.ingress(socket * self.agents_of_socket + cha, to, -1);
        }
    }

    fn table_changes(&mut self, (socket, cha): UnitInstance, class: Class, cycle: u64, by: i8) {
        if let Some(changes) = &mut self.changes {
            changes.table(socket * self.agents_of_socket + cha, class, cycle, by);
        }
    }

    #[inline(always)]
    fn goes(&mut self, socket: u16, message: Message) {
        let held = message.is_credited().then(|| message.returned - message.left);
        let traffic = &mut self.cells.traffic[usize::from(socket)];
        let ends = (message.from, message.to);
        traffic.count((message.ring, message.agent), ends, [message.left, message.turned], held);
        if message.waits() {
            // Only now is it put together in memory: most messages wait nowhere.
            let whole = message;
            traffic.wait(&whole);
        }
    }

    #[inline]
    fn memory(
        &mut self,
        SubchannelPlace { channel: (socket, channel), half }: SubchannelPlace,
        fact: MemoryFact,
        at: Tick,
    ) {
        let number = socket * self.channels_of_socket + channel;
        let cycle = self.clocks.dclk.cycles(at);
        if let MemoryFact::Command(sent) = fact {
            self.log.note(2 * number + u16::from(half), sent.record);
        }
        self.cells.channels[usize::from(number)].add(half, fact, cycle, self.shape.pending);
    }
}
