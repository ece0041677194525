//! Options of perf that have no meaning for the uncore, or another name here: whoever types them by habit is told what to do.

use std::ffi::OsStr;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The command whose options are perf's: those of others have the same letters for something else.
const COMMAND: &str = "stat";

/// What the uncore does not know.
const NO_PROGRAMS: &str = "the uncore does not know whose a request is: what it counts is everybody's; name the program behind the options to count \
                           while it runs";
const NO_CPUS: &str = "the uncore belongs to the socket, not to a CPU: --per-socket and --per-unit tell parts apart, and cbo3/EVENT/ counts in one \
                       unit";
const NO_CORES: &str =
    "this option is about core pipelines, not the uncore; `pericore list --metrics` shows uncore metrics";
const NO_MODES: &str = "uncore counters cannot separate user from kernel";
const IN_A_SHELL: &str = "make it part of the program: -- sh -c 'BEFORE; PROGRAM; AFTER'";
const ALWAYS: &str = "this is always on; leave the option out";

/// Options, and why they are none here.
const OPTIONS: [(&[&str], &str); 15] = [
    (&["-p", "--pid", "-t", "--tid", "--per-thread", "-i", "--no-inherit"], NO_PROGRAMS),
    (&["-G", "--cgroup", "--for-each-cgroup", "--filter"], NO_PROGRAMS),
    (&["-C", "--cpu", "--per-core", "--per-die", "--per-cluster", "--per-cache", "--per-node"], NO_CPUS),
    (&["--cputype", "--percore-show-thread", "--hybrid-merge"], NO_CPUS),
    (&["--topdown", "--td-level", "-T", "--transaction", "--smi-cost"], NO_CORES),
    (&["--all-user", "--all-kernel"], NO_MODES),
    (
        &["-d", "--detailed"],
        "without -e and -M, a default set of metrics is counted; `pericore list --metrics` shows all",
    ),
    (&["--iostat"], "name the metrics of the I/O units with -M; `pericore list --metrics` shows them"),
    (&["-g", "--group"], "put events that must be counted together in braces: -e '{one,other}'"),
    (&["--pre", "--post", "-S", "--sync"], IN_A_SHELL),
    (&["--scale", "--metric-no-merge", "--metric-no-group"], ALWAYS),
    (&["--no-scale"], "scaled counts are marked as such; name fewer events to avoid multiplexing"),
    (&["--quiet"], "-o FILE writes results to a file; 2>/dev/null hides the warnings"),
    (&["--interval-clear"], "`pericore top` shows current values in place"),
    (&["-n", "--null", "--control"], "counting begins with the program; -D begins later, --timeout ends earlier"),
];

/// What to say of a refused command line instead of what the parser says; nothing if it is about something else.
pub fn advice(refusal: &clap::Error, command: Option<&OsStr>) -> Option<String> {
    if command.is_none_or(|command| command != COMMAND) || refusal.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(option)) = refusal.get(ContextKind::InvalidArg) else { return None };
    let (_, words) = OPTIONS.iter().find(|(names, _)| names.contains(&option.as_str()))?;
    Some(format!("no option {option}: {words}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// An option that there is would never come here.
    #[test]
    fn none_of_them_is_an_option_of_stat() {
        let command = crate::Cli::command();
        let stat = command.find_subcommand(COMMAND).expect("there is one");
        for name in OPTIONS.iter().flat_map(|(names, _)| *names) {
            let is_known = stat.get_arguments().any(|option| {
                let long = option.get_long().is_some_and(|long| *name == format!("--{long}"));
                long || option.get_short().is_some_and(|short| *name == format!("-{short}"))
            });
            assert!(!is_known, "{name}");
        }
    }
}
