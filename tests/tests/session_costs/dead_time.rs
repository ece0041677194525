//! For how long counters are paused to be read and to change rounds, and how many accesses that takes, with the checks
//! for changes by others: on a machine where every access takes a microsecond.

use std::fmt::Write as _;

use pericore_observe::discover::{Cpu, discover};
use pericore_observe::plan::Plan;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Moment, Options, Session, survey_sockets};
use pericore_registers::{Address, Outcome, RegisterSpace, Width};
use pericore_tests::pmon::raw::{CYCLE, Raw};

/// Seconds of an access.
const ACCESS: f64 = 1e-6;

/// Samples from one check to the next.
const SAMPLES: u64 = 20;

/// The share of the time that changes of rounds may take.
const SHARE: f64 = 0.015;

const INTRODUCTION: &str = "
# Accesses and dead time

While counters are read, and while rounds change, they are paused, and what happens then is in no count. Here every
access takes 1 µs, which is about what an MSR costs through `/dev/cpu` from a CPU of its own socket: on another machine
the times grow with that. The accesses are the mean of 20 samples with what is looked at for changes by others
(`docs/others.md`); the 20th is checked while its counters are paused. Each socket is frozen, read and resumed by a
thread of its own: so all of this is a socket's, however many there are. `stat` shows the share that it measures
(`paused`, `pcnt-paused`), and warns above 2 %. Turns are so long that changes of rounds take 1.5 % at most, unless
`--rotate` says. `tests/tests/session_costs/dead_time.rs` measures.

| task | family | accesses a sample | dead time, µs | with the check | share at `-I 100` | accesses of a change of \
rounds | dead time, µs | turns last, ms |
|---|---|---|---|---|---|---|---|---|
";

/// What is counted, and what it must come to, reckoned by hand for a socket.
struct Case {
    name: &'static str,
    family: &'static str,
    events: &'static str,
    /// Accesses of 20 samples, the last of which is checked.
    accesses: u64,
    /// Microseconds for which counters are paused: in a sample, and in one that is checked.
    paused: [f64; 2],
    /// If events take turns: accesses of a change of rounds, and microseconds for which counters are paused in it.
    turn: Option<(u64, f64)>,
}

const CASES: &[Case] = &[
    // Freeze, 16 counters, resume; the socket's freeze is looked at in every second sample. A check reads 16 controls
    // and 8 unit controls while counters are paused.
    Case {
        name: "memory bandwidth",
        family: "emerald-rapids",
        events: "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/",
        accesses: 20 * 18 + 10 + 24,
        paused: [17.0, 41.0],
        turn: None,
    },
    // 4 freezes, 8 counters, 4 resumes: each channel is paused from its own freeze to its own resume. The freezes are
    // looked at before each. A check reads 8 controls.
    Case {
        name: "memory bandwidth",
        family: "e5-2600",
        events: "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/",
        accesses: 20 * (16 + 4) + 8,
        paused: [12.0, 20.0],
        turn: None,
    },
    // Of 64 agents two counters each; 130 accesses are enough for a look at the freeze in each sample. A check reads
    // 128 controls and 64 unit controls.
    Case {
        name: "CHA hit and miss",
        family: "emerald-rapids",
        events: "cha/TOR_INSERTS.IA_HIT/,cha/TOR_INSERTS.IA_MISS/",
        accesses: 20 * 131 + 192,
        paused: [129.0, 321.0],
        turn: None,
    },
    // Enables of MSR 0x391 are read with each write: 2 counters and two times two accesses. A check reads 2 controls.
    Case {
        name: "QHL reads and writes",
        family: "nehalem",
        events: "uncore/QHL_REQUESTS.LOCAL_READS/,uncore/QHL_REQUESTS.LOCAL_WRITES/",
        accesses: 20 * 6 + 2,
        paused: [4.0, 6.0],
        turn: None,
    },
    // Four counters of 64 agents in the first round, two in the second. A change looks at the freeze and at 256
    // controls, which others may have taken. Then all are paused: it reads 256 counters, writes 256 controls, of which
    // 128 count no more, and reads where 128 counters begin.
    Case {
        name: "six CHA events, in turn",
        family: "emerald-rapids",
        events: "cha/CLOCKTICKS/,cha/TOR_INSERTS.ALL/,cha/REQUESTS.READS/,cha/REQUESTS.WRITES/,\
                 cha/DIR_LOOKUP.SNP/,cha/DIR_LOOKUP.NO_SNP/",
        accesses: 20 * (1 + 1 + 256 + 1) + 256 + 64,
        paused: [257.0, 577.0],
        turn: Some((1 + 256 + 1 + 256 + 256 + 128 + 1, 641.0)),
    },
];

/// Registers that take a while to access, and the accesses so far.
struct Slow(Raw, u64);

impl RegisterSpace for Slow {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.1 += 1;
        self.0.machine.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.1 += 1;
        self.0.machine.write(address, width, value)
    }
}

fn moment(space: &mut Slow) -> Moment {
    Moment { seconds: space.1 as f64 * ACCESS, tsc: space.1 }
}

/// What a case comes to.
#[derive(Debug, PartialEq)]
struct Measured {
    accesses: u64,
    paused: [f64; 2],
    turn: Option<(u64, f64)>,
}

fn measure(case: &Case) -> Measured {
    let mut raw = Raw::with_period(case.family, 1, CYCLE);
    let shape = raw.machine.shape().clone();
    let cpus: Vec<Cpu> = (0..shape.cpus()).map(|number| Cpu { number, package: 0 }).collect();
    let topology = discover(&mut raw.machine, shape.family, &cpus, |_| true).expect("the uncore is found");
    let mut selection = Selection::new(shape.family);
    selection.add_events(case.events).expect("the events exist");
    let occupied = survey_sockets(&mut raw.machine, &topology).expect("readable");
    let plan = Plan::beside(&topology, selection, &occupied).expect("it fits");
    let takes_turns = plan.rounds() > 1;
    let mut session = Session::start(Slow(raw, 0), plan, Options::default(), moment).expect("it starts");
    // Microseconds, of which the sums of times have no exact parts.
    let micro = |seconds: f64| (seconds * 1e9).round() / 1e3;
    let began = session.space_mut().1;
    let mut paused = [0.0; 2];
    for number in 1..=SAMPLES {
        let sample = session.sample(moment);
        assert_eq!(sample.is_checked, number == SAMPLES, "sample {number}");
        paused[usize::from(sample.is_checked)] = micro(session.paused());
    }
    let accesses = session.space_mut().1 - began;
    let turn = takes_turns.then(|| {
        let (before, paused) = (session.space_mut().1, session.paused());
        session.rotate(moment);
        (session.space_mut().1 - before, micro(session.paused() - paused))
    });
    Measured { accesses, paused, turn }
}

/// The table, for `docs/costs.md`.
pub fn table() -> String {
    let mut table = INTRODUCTION.to_owned();
    for case in CASES {
        let Measured { accesses, paused: [paused, checked], turn } = measure(case);
        let mean = accesses as f64 / SAMPLES as f64;
        let dead = (paused * (SAMPLES - 1) as f64 + checked) / SAMPLES as f64;
        let share = dead / 1e5 * 100.0;
        let turns = turn.map_or_else(
            || "- | - | -".to_owned(),
            |(accesses, paused)| format!("{accesses} | {paused} | {:.1}", paused / SHARE / 1e3),
        );
        let Case { name, family, .. } = case;
        writeln!(table, "| {name} | {family} | {mean:.1} | {paused} | {checked} | {share:.3} % | {turns} |")
            .expect("a text takes all");
    }
    table
}

#[test]
fn accesses_and_dead_time_are_those_reckoned_by_hand() {
    for case in CASES {
        let Case { name, family, accesses, paused, turn, .. } = case;
        let expected = Measured { accesses: *accesses, paused: *paused, turn: *turn };
        assert_eq!(measure(case), expected, "{name} on {family}");
    }
}
