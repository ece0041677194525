//! Files that never end, that wait for a writer, or that hold what a terminal would carry out; little memory and
//! little stack.

use std::process::Output;

use crate::ours::command;

/// A shell script in a folder of its own, with a limit on its time: what waits for ever fails.
pub fn shell(script: &str) -> (Output, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut shell = command("timeout");
    shell.current_dir(folder.path()).env("HOME", folder.path()).env("XDG_STATE_HOME", folder.path().join("state"));
    let output = shell.args(["60", "sh", "-c", script]).output().expect("a shell");
    let text = [&*output.stdout, &*output.stderr].concat();
    (output, String::from_utf8(text).expect("UTF-8"))
}

/// The system's FIFOs and devices in every place that a file can be named at.
#[test]
fn a_file_that_is_none_is_refused() {
    for kind in ["mkfifo file.scenario", "ln -s /dev/zero file.scenario"] {
        for line in [
            "stat --machine e5-2600 --workload file.scenario",
            "stat --machine ./file.scenario",
            "machine run --machine ./file.scenario -- true",
            "stat --machine e5-2600 --events file.scenario",
            "machine run --machine e5-2600 --expect file.scenario -- true",
            "stat --machine e5-2600 --trace file.scenario",
            "report file.scenario",
            "serve --machine e5-2600 --listen 127.0.0.1:0 --token-file file.scenario",
            "serve --machine e5-2600 --listen 127.0.0.1:0 --tls-cert file.scenario --tls-key file.scenario",
            "serve --machine e5-2600 --listen 127.0.0.1:0 --otlp https://127.0.0.1:1 --otlp-ca file.scenario",
        ] {
            let (output, text) = shell(&format!("{kind}; \"$P\" {line}"));
            assert!(matches!(output.status.code(), Some(129 | 255)), "{kind}; {line}: {:?} {text}", output.status);
            assert!(text.contains("file.scenario") && text.len() < 2000, "{line}: {text}");
        }
        let (output, text) = shell(&format!("{kind}; PERICORE_CONFIG=file.scenario \"$P\" list --machine e5-2600"));
        assert!(output.status.code() == Some(129) && text.contains("a pipe, a device or a socket"), "{kind}: {text}");
    }
}

/// A line of 20 MB in each kind of file: what is wrong is told in a few lines.
#[test]
fn what_is_wrong_with_a_long_line_is_short() {
    let long = r#"head -c 20000000 /dev/zero | tr '\0' x >file.scenario"#;
    for line in [
        "stat --machine e5-2600 --workload file.scenario",
        "stat --machine ./file.scenario",
        "stat --machine e5-2600 --events file.scenario",
        "report file.scenario",
        "machine run --machine e5-2600 --expect file.scenario -- true",
        "restore --journal file.scenario",
    ] {
        let (output, text) = shell(&format!("{long}; chmod 600 file.scenario; \"$P\" {line}"));
        assert!(matches!(output.status.code(), Some(129 | 255)), "{line}: {:?} {text}", output.status);
        assert!(text.len() < 8000, "{line}: {} bytes", text.len());
    }
}

/// ESC [ 2 J clears a screen, C1's CSI does what ESC [ does, and U+202E turns the direction of what follows.
#[test]
fn nothing_that_a_terminal_would_carry_out_reaches_it() {
    let name = r#"name=$(printf '\033[2J\033]0;title\007\302\2331m\342\200\256x')"#;
    for line in [
        r#""$P" stat --machine e5-2600 --workload "$name""#,
        r#""$P" stat --machine e5-2600 --workload "$name.scenario""#,
        r#""$P" stat --machine "$name""#,
        r#""$P" report "$name""#,
        r#""$P" stat --machine e5-2600 -e "cbo/$name/""#,
        r#""$P" stat --machine e5-2600 -e cbo/CLOCKTICKS/ -- "./$name""#,
        r#"mkdir -p state; chmod 700 state; mkdir -m 700 state/pericore
           echo hello >"state/pericore/$name.journal"; "$P" restore"#,
        r#"{ cat <<END
pericore journal 1
pid 1
started 0
boot x$name
machine $name
save 0 cbo0$name ctl0 8 0x0 msr 0 0xd10
END
        } >text; python3 - <<'END'
text = open("text", "rb").read()
total = 0xcbf29ce484222325
for byte in text:
    total = ((total ^ byte) * 0x100000001b3) & 0xffffffffffffffff
open("forged", "wb").write(text + b"checksum 0x%016x\n" % total)
END
        chmod 600 forged; "$P" restore --journal forged"#,
    ] {
        let (_, text) = shell(&format!("{name}\n{line}"));
        let acts = |character: char| (character.is_control() && character != '\n') || character == '\u{202e}';
        assert!(!text.contains(acts), "{line}: {text:?}");
        assert!(text.contains(r"\u{1b}"), "it is shown: {line}: {text:?}");
    }
}

/// A software machine with a directory of 2^30 lines to a socket takes the memory that its workload reaches.
#[test]
fn little_memory_is_enough_for_a_machine() {
    for line in [
        "list --machine e5-2600",
        "stat --machine e5-2600 --workload stream:requests=1000 -e imc/CAS_COUNT.RD/",
        "stat --machine e5-2600:sockets=4 --workload stream:requests=1000 -e imc/CAS_COUNT.RD/",
    ] {
        let (output, text) = shell(&format!("ulimit -v 260000; \"$P\" {line}"));
        assert!(output.status.success(), "{line}: {text}");
    }
}

/// The stack of the first thread may be small: 128 KiB. What the other thread is left with is another test's matter.
#[test]
fn a_small_stack_is_enough() {
    for line in [
        "list --machine e5-2600",
        "stat --machine e5-2600 --workload stream:requests=1000 -e imc/CAS_COUNT.RD/",
        "stat --machine emerald-rapids --workload stream:requests=1000 -e cha/CLOCKTICKS/",
        "completions bash",
    ] {
        let (output, text) = shell(&format!("ulimit -s 128; \"$P\" {line}"));
        assert!(output.status.success(), "{line}: {text}");
    }
}
