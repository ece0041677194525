//! Each socket is read from a thread of its own that stays on a CPU of the socket: seen in the log of the machine, and
//! in what the system has of the threads of the process that holds the registers.

use std::collections::{BTreeMap, BTreeSet};

use pericore_doors::{Outcome, usable_cpus};
use pericore_registers::Address;

use super::rig::Rig;
use super::script;
use crate::ours::live_sockets;

/// Five events on four counters, of which two take turns, and one that lies in memory: all ways to registers.
const EVENTS: &str = "cha0/TOR_INSERTS.ALL/,cha0/REQUESTS.READS/,cha0/REQUESTS.WRITES/,cha0/DIR_LOOKUP.SNP/,\
                      cha0/DIR_LOOKUP.NO_SNP/,imc0/CAS_COUNT.RD/";

/// What the log has of the process's threads: by thread the sockets whose registers it reached, and the CPUs whose
/// MSRs.
type Reached = BTreeMap<String, (BTreeSet<String>, BTreeSet<u32>)>;

fn reached(text: &str) -> Reached {
    let mut reached = Reached::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.split(';').map(str::trim).skip(1);
        let (meaning, thread) = (parts.next().expect("a meaning"), parts.next().expect("a thread"));
        let (sockets, cpus) = reached.entry(thread.to_owned()).or_default();
        if let Some(socket) = meaning.strip_prefix("socket ") {
            sockets.extend(socket.split(' ').next().map(str::to_owned));
            // MSRs are those of the machine's own CPUs; `super::rig` has what they stand for.
            if let Some(Address::Msr { cpu, .. }) = pericore_doors::log::Entry::parse(line).map(|entry| entry.address) {
                cpus.insert(cpu);
            }
        }
    }
    reached
}

#[test]
fn each_socket_has_a_thread_on_a_cpu_of_its_own() {
    let sockets = live_sockets();
    for (family, events) in [("emerald-rapids", EVENTS), ("e5-2600", "cbo/LLC_VICTIMS.M_STATE/,imc/CAS_COUNT.RD/")] {
        let rig = Rig { family, sockets, ..Rig::default() };
        let text = format!(
            r#""$P" stat -I 50 -j -e {events} --timeout 400 & pid=$!
            # Threads have a name before they have a CPU.
            placed() {{
                for task in /proc/$1/task/*; do
                    grep -qs '^socket ' $task/comm && sed -n 's/^Cpus_allowed_list:\t//p' $task/status
                done | grep -c '^[0-9]*$'
            }}
            until held=$(cat /proc/$pid/task/*/children | tr -d ' ') && [ "$(placed $held)" = {sockets} ]; do
                kill -0 $pid || exit 9; sleep 0.01
            done
            for task in /proc/$held/task/*; do
                echo "thread ${{task##*/}} $(cat $task/comm): $(sed -n 's/^Cpus_allowed_list:\t//p' $task/status)"
            done
            wait $pid"#
        );
        let (run, left) = script(&rig, &text);
        assert_eq!(run.outcome, Outcome::Exited(0), "{}{}", run.stdout, run.stderr);
        assert!(left.is_empty(), "{left:?}");
        let reached = reached(&run.text);
        let mut seen = BTreeSet::new();
        for socket in 0..sockets {
            let name = format!(" socket {socket}: ");
            let line = run.stdout.lines().find(|line| line.contains(&name)).expect("a thread of the socket");
            let (thread, cpu) = line.split_once(&name).expect("a name");
            // The host's CPUs are dealt out to the sockets in order, so the first of each socket is known.
            let cpus = usable_cpus().expect("the CPUs of this process");
            let extra = cpus.len() % usize::from(sockets);
            let first = cpus.len() / usize::from(sockets) * usize::from(socket) + extra.min(usize::from(socket));
            assert_eq!(cpu, cpus[first].to_string(), "{}", run.stdout);
            let (own, msrs) = &reached[thread];
            assert_eq!(
                own.iter().collect::<Vec<_>>(),
                [&socket.to_string()],
                "{family}: {thread} reaches no other socket"
            );
            assert!(msrs.len() == 1 && seen.insert(msrs.clone()), "{family}: one CPU's MSRs, and no other thread's");
        }
        // Before the counters run one thread looks at all sockets, and no write is its.
        let line = run.stdout.lines().find(|line| line.contains(" registers: ")).expect("a thread that looks");
        let own = format!("; {}", line.split_once(" registers: ").expect("a name").0);
        let writes = run.text.lines().filter(|line| line.ends_with(&own) && line.contains(" <- "));
        assert_eq!(writes.count(), 0, "{family}");
        assert_eq!(reached.len(), usize::from(sockets) + 1, "{family}: {:?}", reached.keys());
    }
}
