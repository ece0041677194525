//! `doctor --selfcheck` on a sound machine, alone and beside perf: no finding, and perf's count is what happened.

use serde_json::Value;

use super::boot::Run;
use super::e5_2600::SCENE;
use super::injection::Injection;
use super::sections::section;
use super::{PERICORE, boot, switched_off};

const SCRIPT: &str = r#"cd /tmp
there() { until [ -e "$1" ]; do sleep 0.05; done; }
check() { echo "@@ $1"; pericore doctor --selfcheck --json 2>&1; echo '@@'; }
check alone
note 1
perf stat -a -x, -o early.perf -e "$one" -- sh -c 'touch on; until [ -e off ]; do sleep 0.05; done' & perf=$!
there on
check beside
touch off; wait $perf
note 2
echo '@@ perf early'; cat early.perf
echo '@@ journals'; ls "$HOME/.local/state/pericore" 2>/dev/null | grep journal
echo '@@ end'
"#;

/// What the self-check came to: state and message of each of its findings.
fn findings(run: &Run, part: &str) -> Vec<(String, String)> {
    let lines = section(&run.output, part);
    let rows = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let all = rows.map(|row| (text(&row, "state"), text(&row, "message")));
    all.filter(|(_, message)| ["agrees: ", "does not", "could not"].iter().any(|words| message.starts_with(words)))
        .collect()
}

#[test]
fn a_sound_machine_has_no_finding_alone_and_beside_perf() {
    if switched_off() {
        return;
    }
    let hardware = boot::hardware("e5-2600", |wiring| {
        let mut injection = Injection::default();
        injection.pulses(wiring, "imc", ("CAS_COUNT", "RD_REG"), 2_000_003);
        injection.pulses(wiring, "imc", ("ACT_COUNT", ""), 300_007);
        injection
    });
    let (one, note) = (SCENE.one.0, SCENE.note);
    let script = format!("one='{one}'\nnote() {{ wrmsr {note:#x} $1; }}\n{SCRIPT}");
    let run = boot::run_with(&hardware, &script, |boot| boot.programs.push(PERICORE.into()));
    for part in ["alone", "beside"] {
        let findings = findings(&run, part);
        let good = findings.iter().filter(|(state, _)| state == "ok").count();
        assert!(good >= 12, "{part}: {findings:#?}\n{}", run.output);
        // All clocks of this machine are one, of 2.7 GHz, and its channels' reads are made up, without a home agent
        // that sent them: that is seen, and nothing else.
        let made_up = ["MHz are documented", "ha/REQUESTS.READS/"];
        let is_made_up = |message: &str| made_up.iter().any(|words| message.contains(words));
        let wrong = findings.iter().filter(|(state, _)| state == "problem");
        let wrong: Vec<_> = wrong.filter(|(_, message)| !is_made_up(message)).collect();
        assert!(wrong.is_empty(), "{part}: {wrong:#?}");
        let by_both =
            |(state, message): &(String, String)| state == "ok" && message.contains("through the kernel's driver");
        assert!(findings.iter().filter(|finding| by_both(finding)).count() >= 5, "{part}: {findings:#?}");
        let in_use = findings.iter().any(|(_, message)| message.contains("of imc0 in socket 0 are in use by others"));
        assert_eq!(in_use, part == "beside", "{findings:#?}");
    }
    SCENE.perf_is_right(&run, "early", (1, 2));
    assert!(section(&run.output, "journals").is_empty(), "{}", run.output);
}
