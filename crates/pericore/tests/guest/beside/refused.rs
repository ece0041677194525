//! What a kernel refuses: the true reason, a status other than success, no journal, and the next run counts.

use super::boot::Run;
use super::sections::section;

/// `try PART EVENT` counts by registers, and tells of journals.
macro_rules! script {
    ($text:literal) => {
        concat!(
            "try() { echo \"@@ $1\"\n",
            "pericore stat --through registers -j --timeout 50 -e \"$2\" 2>&1; echo \"status $?\"\n",
            "ls \"$HOME/.local/state/pericore\" 2>/dev/null | grep journal; pericore restore; }\n",
            $text
        )
    };
}

pub const ON_E5_2600: &str = script!(
    "allow=/sys/module/msr/parameters/allow_writes; echo off >$allow
    try 'writes off' cbo0/CLOCKTICKS/; try 'writes off, channel' imc0/CLOCKTICKS/
    echo on >$allow; try 'writes on' cbo0/CLOCKTICKS/
    mount -o remount,ro /sys; try 'read-only' imc0/CLOCKTICKS/; try 'read-only, slice' cbo0/CLOCKTICKS/
    mount -o remount,rw /sys; try 'read-write' imc0/CLOCKTICKS/
    mount -t securityfs none /sys/kernel/security; echo integrity >/sys/kernel/security/lockdown
    try 'lockdown' imc0/CLOCKTICKS/
    echo '@@ lockdown, kernel'; pericore stat -j --timeout 50 -e imc0/CLOCKTICKS/ 2>&1; echo \"status $?\"
    echo '@@ end'"
);

pub const ON_EMERALD_RAPIDS: &str = script!(
    "mv /dev/mem /tmp/mem; try 'no memory' imc0/CLOCKTICKS/; try 'no memory, agent' cha0/CLOCKTICKS/
    mv /tmp/mem /dev/mem; try 'memory' imc0/CLOCKTICKS/; echo '@@ end'"
);

/// Nothing was counted: these words, a status, and nothing left.
fn is_refused(run: &Run, part: &str, words: &[&str]) {
    let lines = section(&run.output, part);
    let text = lines.join("\n");
    assert!(words.iter().all(|word| text.contains(word)), "{part}: {text}");
    let end = &lines[lines.len() - 2..];
    assert_eq!(end, ["status 255", "no session left anything to restore"], "{part}: {text}");
}

/// A number, success, and nothing left.
fn counts(run: &Run, part: &str) {
    let lines = section(&run.output, part);
    assert!(lines.contains(&"status 0"), "{part}: {lines:#?}");
    let row = lines.iter().find_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let count = row.as_ref().and_then(|row| row["counter-value"].as_str()?.parse::<f64>().ok());
    assert!(count > Some(0.0), "{part}: {lines:#?}");
    assert!(!lines.iter().any(|line| line.ends_with(".journal")), "{part}: {lines:#?}");
}

pub fn judge_e5_2600(run: &Run) {
    is_refused(run, "writes off", &["msr.allow_writes=off", "allow_writes=on", "nothing was written"]);
    counts(run, "writes off, channel");
    counts(run, "writes on");
    is_refused(run, "read-only", &["mounted read-only", "remount,rw", "nothing was written"]);
    counts(run, "read-only, slice");
    counts(run, "read-write");
    is_refused(run, "lockdown", &["kernel lockdown (integrity)", "--through kernel", "nothing was written"]);
    counts(run, "lockdown, kernel");
}

pub fn judge_emerald_rapids(run: &Run) {
    is_refused(run, "no memory", &["/dev/mem"]);
    counts(run, "no memory, agent");
    counts(run, "memory");
}
