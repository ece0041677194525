//! Journals that no session wrote.

use pericore_doors::Outcome;
use pericore_doors::log::Kind;

use super::{COMPLETE, journal, writes};
use crate::live::rig::{Rig, config, msr};
use crate::live::script;

/// IA32_MISC_ENABLE, IA32_PERF_CTL, the command register of a PCI function: under a checksum that fits, and under names
/// of PMON registers.
#[test]
fn restore_writes_no_register_that_is_not_a_units() {
    for entry in [
        "0 cbo0 ctl0 8 0x850089 msr 0 0x1a0",
        "0 core0 perf_ctl 8 0xff00 msr 0 0x199",
        "0 imc0 ctl0 4 0x6 pcicfg 0x0 0xff 0x10 0x0 0x4",
        "0 cbo0 ctr0 8 0x1 msr 0 0xd16",
        "0 cbo0 ctl0 4 0x1 msr 0 0xd10",
        "0 imc0 ctl0 4 0x1 mmio 0xfe000000",
    ] {
        let text = journal(&["0 cbo1 ctl0 8 0x334 msr 0 0xd30", entry]);
        let line = format!(
            "{COMPLETE}\ncomplete \"$XDG_STATE_HOME/pericore/forged.journal\" <<'END'\n{text}END\n\"$P\" restore"
        );
        let (run, left) = script(&Rig::default(), &line);
        assert_eq!(run.outcome, Outcome::Exited(255), "{entry}: {}{}", run.stdout, run.stderr);
        let name = entry.split(' ').nth(1).expect("an instance");
        assert!(
            run.stderr.contains("no session of pericore saves that") && run.stderr.contains(name),
            "{}",
            run.stderr
        );
        assert_eq!(writes(&run).len(), 0, "{entry}");
        assert_eq!(left.len(), 1, "it stays for whoever looks into it: {left:?}");
    }
}

/// What a session saves is written: Table 2-11 has all of 0x334 in control 0 of a CBo, Table 2-66 all of 0x304 in that
/// of a channel.
#[test]
fn restore_writes_what_sessions_save() {
    let text = journal(&["0 cbo1 ctl0 8 0x334 msr 0 0xd30", "0 imc0 ctl0 4 0x304 pcicfg 0x0 0xff 0x10 0x0 0xd8"]);
    let line =
        format!("{COMPLETE}\ncomplete \"$XDG_STATE_HOME/pericore/left.journal\" <<'END'\n{text}END\n\"$P\" restore");
    let (run, left) = script(&Rig::default(), &line);
    assert_eq!(run.outcome, Outcome::Exited(0), "{}{}", run.stdout, run.stderr);
    assert!(left.is_empty(), "{left:?}");
    let written =
        |access: &dyn Fn(&crate::live::rig::Access) -> bool| writes(&run).into_iter().filter(|one| access(one)).count();
    assert_eq!([written(&msr(0xd30)), written(&config(0xff, 16, 0, 0xd8)), writes(&run).len()], [1, 1, 2]);
}

/// Links, FIFOs, garbage and what others can write are named, and keep neither `restore` nor `stat` nor `doctor` from
/// their work.
#[test]
fn what_is_no_journal_is_named_and_left_aside() {
    let text = journal(&["0 cbo1 ctl0 8 0x334 msr 0 0xd30"]);
    let line = format!(
        r#"{COMPLETE}
        cd "$XDG_STATE_HOME/pericore"; complete ../genuine <<'END'
{text}END
        mkfifo fifo.journal; echo hello >garbage.journal; ln -s ../genuine link.journal; mkdir folder.journal
        cp ../genuine open.journal; chmod 666 open.journal; head -c 20M /dev/zero >large.journal
        head -c 3 /dev/urandom >noise.journal; : >empty.journal
        timeout 60 "$P" restore; echo restored $?
        timeout 60 "$P" stat -j -e cbo0/CLOCKTICKS/ --timeout 20; echo counted $?
        timeout 60 "$P" doctor; echo looked; rm *.journal ../genuine"#
    );
    let (run, left) = script(&Rig::default(), &line);
    let said = [&*run.stdout, &*run.stderr].concat();
    assert!(
        left.is_empty() && said.contains("restored 0\n") && said.contains("counted 0\n") && said.contains("looked\n"),
        "{said}"
    );
    for name in ["fifo", "garbage", "link", "folder", "open", "large", "noise", "empty"] {
        assert!(said.matches(&format!("/{name}.journal")).count() >= 3, "{name}: {said}");
    }
    let others = writes(&run).into_iter().filter(|access| msr(0xd30)(access)).count();
    assert_eq!(others, 0, "the journals behind the link and in the open file are not used");
}

/// A folder in which others can write could hold anything.
#[test]
fn a_journal_where_others_write_is_refused() {
    let text = journal(&["0 cbo1 ctl0 8 0x334 msr 0 0xd30"]);
    let line = format!(
        r#"{COMPLETE}
        mkdir -m 777 "$XDG_STATE_HOME.open"; chmod 777 "$XDG_STATE_HOME.open"; complete "$XDG_STATE_HOME.open/x.journal" <<'END'
{text}END
        "$P" restore --journal "$XDG_STATE_HOME.open/x.journal"; echo restored $?
        "$P" stat --journal "$XDG_STATE_HOME.open/y.journal" -e cbo0/CLOCKTICKS/ -- true; echo counted $?
        rm -r "$XDG_STATE_HOME.open""#
    );
    let (run, left) = script(&Rig::default(), &line);
    assert!(
        left.is_empty() && run.stdout.contains("restored 255\n") && run.stdout.contains("counted 255\n"),
        "{}{}",
        run.stdout,
        run.stderr
    );
    assert_eq!(
        (run.stderr.matches("others can write it (mode 777)").count(), writes(&run).len()),
        (2, 0),
        "{}",
        run.stderr
    );
}

/// Bit 40 of a CBo's control is in no document (Table 2-11): it is not written, and the bits below it are.
#[test]
fn restore_writes_no_bit_that_no_document_gives() {
    let text = journal(&["0 cbo1 ctl0 8 0x10000000334 msr 0 0xd30"]);
    let line =
        format!("{COMPLETE}\ncomplete \"$XDG_STATE_HOME/pericore/left.journal\" <<'END'\n{text}END\n\"$P\" restore");
    let (run, left) = script(&Rig::default(), &line);
    assert!(run.outcome == Outcome::Exited(0) && left.is_empty(), "{}{}{left:?}", run.stdout, run.stderr);
    assert!(run.stdout.contains("but bits 0x10000000000 of ctl0 of cbo1"), "{}", run.stdout);
    let written: Vec<Kind> = writes(&run).into_iter().map(|access| access.entry.kind).collect();
    assert_eq!(written, [Kind::Write(0x334)]);
}

/// /tmp is sticky: nobody can put a file in the place of one that is ours. A file that another user
/// made there is refused.
#[test]
fn a_journal_in_a_sticky_folder_is_used_if_it_is_ours() {
    let text = journal(&["0 cbo1 ctl0 8 0x334 msr 0 0xd30"]);
    let line = format!(
        r#"{COMPLETE}
        shared="$XDG_STATE_HOME.shared"; mkdir -m 1777 "$shared"; chmod 1777 "$shared"; own="$shared/own.journal"
        "$P" stat --journal "$own" -e cbo0/CLOCKTICKS/ -o /dev/null & pid=$!
        until ls "$own" >/dev/null 2>&1; do sleep 0.01; done
        kill_both $pid; wait $pid; stat -c 'mode %a' "$own"
        "$P" restore --journal "$own"; echo restored $?; "$P" restore
        complete "$shared/theirs.journal" <<'END'
{text}END
        if chown 1 "$shared/theirs.journal"; then "$P" restore --journal "$shared/theirs.journal"; echo theirs $?; else echo cannot try; fi
        rm -r "$shared""#
    );
    let (run, left) = script(&Rig::default(), &line);
    assert!(left.is_empty(), "{left:?}");
    assert!(run.stdout.contains("mode 600\n") && run.stdout.contains("restored 0\n"), "{}{}", run.stdout, run.stderr);
    if run.stdout.contains("cannot try") {
        eprintln!("SKIPPED: the journal of another user, which takes root");
        return;
    }
    assert!(run.stdout.contains("theirs 255\n"), "{}", run.stdout);
    assert!(run.stderr.contains("it belongs to user 1, not to user 0;"), "{}", run.stderr);
    assert!(run.stderr.contains("name a file in a folder of your own"), "{}", run.stderr);
    assert_eq!(writes(&run).into_iter().filter(|access| msr(0xd30)(access)).count(), 0);
}
