//! The signals of I/O stacks, of traffic between devices, and of CXL links.

use pericore_engine::Tick;
use pericore_facts::emerald_rapids::{
    ATOMIC_DWS, DOORBELL_DWS, DeviceRequest, DeviceStation, ExpanderFact, Kind, LINE_DWS, PARTIAL_DWS, PeerLine,
    PeerStation, StackFact, UnitInstance, stop_port,
};
use pericore_hardware::signal::SignalSink;

use super::emitter::SignalMaker;
use super::lines::levels::LevelNumber;

/// The queue of a coherent port for data.
const DATA_QUEUE: u8 = 2;

/// Double words that a request has.
const fn dws(request: DeviceRequest) -> u32 {
    if request.is_atomic() {
        ATOMIC_DWS
    } else if request.is_partial() {
        PARTIAL_DWS
    } else {
        LINE_DWS
    }
}

impl<S: SignalSink> SignalMaker<'_, S> {
    /// A request of a device is somewhere.
    pub(super) fn at_device(&mut self, stack: UnitInstance, station: DeviceStation, request: DeviceRequest, at: Tick) {
        let (port, reads) = (usize::from(request.port) % 8, request.reads());
        let lines = &self.signals.lines.devices;
        match station {
            DeviceStation::Enters => {
                let kind = if request.is_atomic() { 2 } else { usize::from(!reads) };
                let (words, requests) = (lines.words[kind][port], lines.requests[kind][port]);
                let (held, inbound) = (lines.lines, lines.inbound_reads);
                self.repeats(stack, words, dws(request), at);
                self.happens(stack, requests, at);
                self.all(stack, |lines| &lines.devices.entered, at);
                if request.walk > 0 {
                    let lines = &self.signals.lines.devices;
                    let (reads, level) = (lines.walk_reads, lines.walk_found[usize::from(request.walk - 1) % 3]);
                    self.repeats(stack, reads, request.walk.into(), at);
                    self.happens(stack, level, at);
                    self.all(stack, |lines| &lines.devices.walked, at);
                    self.level::<true>(self.signals.lines.devices.walks, stack, at);
                } else {
                    self.all(stack, |lines| &lines.devices.not_walked, at);
                }
                self.level::<true>(held, stack, at);
                if reads {
                    self.all(stack, |lines| &lines.devices.reads_entered, at);
                    self.level::<true>(inbound, stack, at);
                } else if request.is_atomic() {
                    self.all(stack, |lines| &lines.devices.atomic_entered, at);
                } else {
                    self.all(stack, |lines| &lines.devices.writes_entered, at);
                }
            }
            DeviceStation::Leaves => {
                // Of the stack's ports, four have one to the mesh stop, and four the other.
                let (left, by_port, line_sent) =
                    (lines.left, lines.port_left[usize::from(stop_port(request.port))], lines.line_sent);
                self.happens(stack, left, at);
                self.happens(stack, by_port, at);
                if reads {
                    self.happens(stack, self.signals.lines.devices.read_left, at);
                }
                if request.kind == Kind::DmaWriteback {
                    self.happens(stack, line_sent, at);
                }
            }
            DeviceStation::DataComes(waits) => {
                let (waiting, level, inbound) = (lines.data_waits, lines.data, lines.inbound_reads);
                self.level::<true>(level, stack, at);
                if waits {
                    self.happens(stack, waiting, at);
                }
                if reads {
                    self.level::<false>(inbound, stack, at);
                }
            }
            DeviceStation::DataEnters => {
                let (entered, inside, data) = (lines.data_entered, lines.data_inside, lines.data);
                self.level::<false>(data, stack, at);
                self.happens(stack, entered, at);
                self.level::<true>(inside, stack, at);
                self.takes_credit(stack, 0, request.port, at);
            }
            DeviceStation::DataGoesUp => {
                let (up, inside, waits) = (lines.data_up[port], lines.data_inside, lines.completions[port]);
                self.level::<false>(inside, stack, at);
                self.gives_credit(stack, 0, request.port, at);
                self.happens(stack, up, at);
                self.completion(stack, waits, true, at);
            }
            DeviceStation::Permitted => {
                let (up, waits) = (lines.data_up[port], lines.completions[port]);
                let (inside, acknowledged) = (lines.data_inside, lines.acknowledged);
                if request.is_atomic() {
                    // What the line held goes back to the device.
                    self.happens(stack, up, at);
                    self.completion(stack, waits, true, at);
                }
                self.happens(stack, acknowledged, at);
                if request.brings_data() {
                    self.level::<false>(inside, stack, at);
                    self.gives_credit(stack, 0, request.port, at);
                } else {
                    self.all(stack, |lines| &lines.devices.permitted, at);
                }
            }
            DeviceStation::Completes => {
                let (held, walks, waits) = (lines.lines, lines.walks, lines.completions[port]);
                if reads || request.is_atomic() {
                    self.completion(stack, waits, false, at);
                }
                if !reads && !request.is_atomic() {
                    self.all(stack, |lines| &lines.devices.writes_done, at);
                }
                if request.walk > 0 {
                    self.level::<false>(walks, stack, at);
                }
                self.all(stack, |lines| &lines.devices.done, at);
                self.level::<false>(held, stack, at);
            }
        }
    }

    /// Something else happens in a stack.
    pub(super) fn in_stack(&mut self, stack: UnitInstance, fact: StackFact, at: Tick) {
        let lines = &self.signals.lines.devices;
        match fact {
            StackFact::Stalls(queue, on) => {
                let (level, either) = (lines.stalls[usize::from(queue) % 3], lines.address_stalls);
                self.holds(level, stack, on, at);
                if queue != DATA_QUEUE {
                    self.holds(either, stack, on, at);
                }
            }
            StackFact::CoreComes { port, reads } => {
                self.takes_credit(stack, 1 + usize::from(reads), port, at);
                let lines = &self.signals.lines.devices;
                let (kind, port) = (usize::from(!reads), usize::from(port) % 8);
                let (words, requests) = (lines.core_words[kind][port], lines.core_requests[kind][port]);
                let came = lines.core_came;
                self.happens(stack, came, at);
                self.repeats(stack, words, if reads { LINE_DWS } else { DOORBELL_DWS }, at);
                self.happens(stack, requests, at);
                self.happens(stack, self.signals.lines.devices.core_kinds[kind], at);
                let lines = &self.signals.lines.devices;
                let (under_way, queues) = (lines.under_way, lines.core_queues[kind]);
                under_way.into_iter().chain(queues).for_each(|level| self.level::<true>(level, stack, at));
            }
            StackFact::CorePasses { port, reads } => {
                self.gives_credit(stack, 1 + usize::from(reads), port, at);
                let queues = self.signals.lines.devices.core_queues[usize::from(!reads)];
                queues.into_iter().for_each(|level| self.level::<false>(level, stack, at));
            }
            StackFact::CoreAnswered { port, reads } => {
                let reply = lines.core_reply[usize::from(!reads)];
                if reads {
                    self.completes_read(stack, port, at);
                }
                self.all(stack, |lines| &lines.devices.core_answered, at);
                self.happens(stack, reply, at);
                let under_way = self.signals.lines.devices.under_way;
                under_way.into_iter().for_each(|level| self.level::<false>(level, stack, at));
            }
            StackFact::Message { port, words } => {
                let port = usize::from(port) % 8;
                let (message, data) = (lines.messages[port], lines.message_words[port]);
                self.happens(stack, message, at);
                if words > 0 {
                    self.repeats(stack, data, words.into(), at);
                }
            }
            StackFact::TranslatesInterrupt => self.all(stack, |lines| &lines.devices.interrupts, at),
        }
    }

    /// A completion waits for its device, or no longer.
    fn completion(&mut self, stack: UnitInstance, waits: LevelNumber, begins: bool, at: Tick) {
        let [_, all] = self.signals.lines.devices.under_way;
        [waits, all].into_iter().for_each(|level| self.holds(level, stack, begins, at));
    }

    /// A line of another device is with a stack, or no longer.
    fn request_under_way(&mut self, stack: UnitInstance, begins: bool, at: Tick) {
        let under_way = self.signals.lines.devices.under_way;
        under_way.into_iter().for_each(|level| self.holds(level, stack, begins, at));
    }

    /// A credit into the stack is taken: for data of a device's read (0), for a write (1) or a read (2) of another's.
    fn takes_credit(&mut self, stack: UnitInstance, class: usize, port: u8, at: Tick) {
        let (lines, port) = (&self.signals.lines.devices, usize::from(stop_port(port)));
        let (taken, held) = (lines.iio_credit[class][port], lines.iio_credit_held[class][port]);
        self.happens(stack, taken, at);
        self.level::<true>(held, stack, at);
    }

    /// It comes back.
    fn gives_credit(&mut self, stack: UnitInstance, class: usize, port: u8, at: Tick) {
        let held = self.signals.lines.devices.iio_credit_held[class][usize::from(stop_port(port))];
        self.level::<false>(held, stack, at);
    }

    /// A device sends the data that was read from it.
    fn completes_read(&mut self, stack: UnitInstance, port: u8, at: Tick) {
        let (lines, port) = (&self.signals.lines.devices, usize::from(port) % 8);
        let (words, requests) = (lines.completed_words[port], lines.completed_requests[port]);
        self.repeats(stack, words, LINE_DWS, at);
        self.happens(stack, requests, at);
    }

    /// A line between devices is somewhere.
    pub(super) fn at_peer(&mut self, station: PeerStation, line: PeerLine, at: Tick) {
        let lines = &self.signals.lines.peers;
        let (class, port, far) = (line.class(), usize::from(line.port) % 8, usize::from(line.is_remote()));
        let (source, goal, to) = (line.source(), line.goal(), usize::from(line.destination()));
        let (waits, shared) = (if far == 1 { lines.waits_far[to] } else { lines.waits[to] }[class], line.shared);
        match station {
            PeerStation::Enters => {
                let (words, requests) = (lines.words_of[class][port], lines.requests_of[class][port]);
                let (kind, place, waiting) = (lines.kinds[class], lines.places[far], lines.waiting);
                let target = lines.targets[far];
                self.happens(source, target, at);
                self.repeats(source, words, LINE_DWS, at);
                [requests, kind, place].into_iter().for_each(|line| self.happens(source, line, at));
                self.all(source, |lines| &lines.peers.entered, at);
                if line.reads {
                    self.all(source, |lines| &lines.peers.reads_entered, at);
                }
                self.level::<true>(waiting, source, at);
            }
            PeerStation::Waits => self.level::<true>(waits, source, at),
            PeerStation::Leaves(waited) => {
                let kept = usize::from(shared);
                let taken = if far == 1 { lines.taken_far[kept][to] } else { lines.taken[kept][to] }[class];
                let (sent, waiting) = (lines.sent[class], lines.waiting);
                if waited {
                    self.level::<false>(waits, source, at);
                }
                self.level::<false>(waiting, source, at);
                [taken, sent].into_iter().for_each(|line| self.happens(source, line, at));
                self.all(source, |lines| &lines.peers.left, at);
                if !line.reads {
                    self.all(source, |lines| &lines.peers.writes_left, at);
                }
            }
            PeerStation::Arrives => {
                let (words, writes, came) = (lines.words_by[class][port], lines.writes_by[port], lines.came);
                let of_class = lines.class_came[class];
                let received = lines.received[usize::from(shared)][far][class];
                let levels = [lines.arrived[far][class], lines.holds_credit[far][class]];
                levels.into_iter().for_each(|level| self.level::<true>(level, goal, at));
                [came, of_class, received].into_iter().for_each(|line| self.happens(goal, line, at));
                self.request_under_way(goal, true, at);
                self.takes_credit(goal, 1 + class, line.port, at);
                self.repeats(goal, words, LINE_DWS, at);
                if !line.reads {
                    self.happens(goal, writes, at);
                }
            }
            PeerStation::Passes => {
                let arrived = lines.arrived[far][class];
                self.level::<false>(arrived, goal, at);
                self.gives_credit(goal, 1 + class, line.port, at);
            }
            PeerStation::Taken => {
                let (held, answered) = (lines.holds_credit[far][class], lines.answered);
                let sent = lines.reply_sent[class];
                let returned = match (line.link, shared) {
                    // Three agents share the pool.
                    (None, true) => lines.returned_shared[0][usize::from(line.stack) % 3],
                    (Some(link), true) => lines.returned_shared[1][usize::from(link)],
                    (None, false) => lines.returned[usize::from(line.stack)][class],
                    (Some(_), false) => lines.returned_far[to][class],
                };
                self.level::<false>(held, goal, at);
                self.request_under_way(goal, false, at);
                self.all(goal, |lines| &lines.peers.taken_lines, at);
                self.happens(goal, returned, at);
                if line.reads {
                    self.happens(goal, answered, at);
                    self.completes_read(goal, line.port, at);
                }
                self.happens(goal, sent, at);
            }
            PeerStation::Back => {
                let pool = if far == 1 { lines.pooled_far[to] } else { lines.pooled[to] };
                if shared {
                    self.happens(source, pool, at);
                }
            }
        }
    }

    /// Something happens on a CXL link.
    pub(super) fn at_expander(&mut self, link: UnitInstance, fact: ExpanderFact, at: Tick) {
        let lines = &self.signals.lines.expanders;
        match fact {
            ExpanderFact::Sends { writes: false, .. } => self.all(link, |lines| &lines.expanders.reads, at),
            ExpanderFact::Sends { partial, .. } => {
                let header = lines.write_header[usize::from(partial)];
                self.all(link, |lines| &lines.expanders.writes, at);
                self.happens(link, header, at);
            }
            ExpanderFact::Comes { writes, credits } => {
                let (unpacked, returned) = (lines.unpacked[usize::from(writes)], lines.credits);
                if writes {
                    self.all(link, |lines| &lines.expanders.words, at);
                } else {
                    self.all(link, |lines| &lines.expanders.data, at);
                }
                if credits {
                    self.happens(link, returned, at);
                }
                self.level::<true>(unpacked, link, at);
            }
            ExpanderFact::Unpacked { writes } => {
                let (unpacked, sent_on) = (lines.unpacked[usize::from(writes)], lines.sent_on[usize::from(writes)]);
                self.level::<false>(unpacked, link, at);
                self.happens(link, sent_on, at);
            }
        }
    }
}
