//! What clients of `pericore serve` can do to others, and to those who look at a page in a browser on the same machine.

use crate::live::rig::{Rig, require};
use crate::live::script;

/// Starts a server at a free port, and waits for its first sample; `get` asks it from the same address.
const START: &str = r#"
"$P" serve --listen 127.0.0.1:0 -I 50 -e cbo0/CLOCKTICKS/ 2>"$XDG_STATE_HOME.said" & pid=$!
until port=$(sed -n 's#.*http://127.0.0.1:\([0-9]*\).*#\1#p' "$XDG_STATE_HOME.said" | grep .); do
    kill -0 $pid || exit 9; sleep 0.02; done
get() { curl -s -o /dev/null -w '%{http_code}\n' "$@" "http://127.0.0.1:$port/metrics"; }
until [ "$(get)" = 200 ]; do sleep 0.02; done
"#;

/// Eighty connections send one byte and wait for as long as the server lets them: a scraper on the same machine gets
/// its numbers all the same.
#[test]
fn clients_that_connect_and_wait_keep_no_scraper_out() {
    require("curl", "curl");
    let line = format!(
        r#"{START} python3 - $port <<'END' &
import socket, sys, time
for _ in range(80):
    stream = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    stream.send(b"G")
    kept = globals().setdefault("kept", []); kept.append(stream)
open(__import__("os").environ["XDG_STATE_HOME"] + ".ready", "w")
time.sleep(60)
END
        idle=$!; until [ -e "$XDG_STATE_HOME.ready" ]; do sleep 0.02; done
        for n in 1 2 3; do get --max-time 5; done
        kill $idle; kill -TERM $pid; wait $pid; rm "$XDG_STATE_HOME".*"#
    );
    let (run, left) = script(&Rig::default(), &line);
    assert_eq!((run.stdout.as_str(), left.len()), ("200\n200\n200\n", 0), "{}", run.stderr);
}

/// A page that makes its name lead to 127.0.0.1 gets nothing; `--host` adds a name.
#[test]
fn a_request_for_another_host_is_refused() {
    require("curl", "curl");
    let own = START.replace("serve --listen", "serve --host node7.example.org --listen");
    let line = format!(
        r#"{own}
        for host in evil.example:$port localhost:$port 127.0.0.1:$port NODE7.example.org:$port "$(hostname)"; do
            get -H "Host: $host"; done
        kill -TERM $pid; wait $pid; rm "$XDG_STATE_HOME".*"#
    );
    let (run, left) = script(&Rig::default(), &line);
    assert_eq!((run.stdout.as_str(), left.len()), ("421\n200\n200\n200\n200\n", 0), "{}", run.stderr);
}

/// Both metrics need the same cycles beside occupancies of their own, which no user has named: they take turns.
#[test]
fn metrics_that_share_an_event_are_served_together() {
    let line = r#"S="$XDG_STATE_HOME.socket"
        "$P" serve --listen "unix:$S" -I 50 -M cha/TOR_DRDS_MISS_WHEN_BUSY,cha/TOR_DRDS_WHEN_BUSY & pid=$!
        get() { curl -sf --unix-socket "$S" http://localhost/metrics; }
        # On a busy host the turn of some may not come in the first samples.
        for try in $(seq 400); do
            kill -0 $pid || exit 9
            get >"$S.text" && events=$(grep -c ^pericore_events_total "$S.text") && [ "$events" = 4 ] && break
            sleep 0.05
        done
        echo "$events"; kill -TERM $pid; wait $pid; rm -f "$S".*"#;
    let (run, left) = script(&Rig { family: "emerald-rapids", ..Rig::default() }, line);
    assert_eq!((run.stdout.as_str(), left.len()), ("4\n", 0), "{}", run.stderr);
}
