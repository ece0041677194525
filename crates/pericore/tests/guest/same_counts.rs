//! `pericore stat` through msr.ko, PCI configuration space and /dev/mem of a real kernel, and through its own driver,
//! counts what `perf stat` counts.
//!
//! A program in the guest asks for a burst of signals by writing a number to a register; it is run under `perf stat` and
//! under `pericore stat` in both ways. All must show the burst, to the last pulse. perf gets raw codes of the guides,
//! pericore names. A user with CAP_PERFMON and nothing else, and everybody under lockdown, counts through the kernel.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pericore_doors::guest::{self, Boot, Hardware, Output, Prepared};
use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::signal::Wiring;

use super::bursts::{Burst, Bursts, Tagged};
use super::switched_off;
use crate::ours::PERICORE;

/// util-linux's, which every Debian has: busybox's keeps no capability when it changes the user.
const SETPRIV: &str = "/usr/bin/setpriv";

/// `as_user EVENTS MSR NUMBER`: a user who has one capability counts, and has neither /dev/cpu nor /dev/mem. Root asks
/// for the burst meanwhile. Debian's kernels begin with a level of their own, 3, at which CAP_PERFMON is not enough.
const AS_USER: &str = r#"
as_user() {
    rm /dev/mem; mv /dev/cpu /dev/apart; echo 2 >/proc/sys/kernel/perf_event_paranoid
    mkfifo -m 666 /tmp/counting /tmp/done; touch /tmp/seen; chmod 666 /tmp/seen
    /usr/bin/setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps +perfmon --ambient-caps +perfmon -- \
        env -u HOME timeout 60 pericore stat -j -e $1 -- \
        sh -c 'ls -d /dev/cpu /dev/mem >/tmp/seen 2>&1; sleep 0.3
            grep Cap[EP] /proc/$PPID/status >/tmp/counting; read x </tmp/done' \
        2>/tmp/user &
    local user=$! caps
    caps=$(timeout 60 cat /tmp/counting); mv /dev/apart /dev/cpu; wrmsr $2 $3; timeout 60 sh -c 'echo >/tmp/done'
    wait $user; echo '@@ user'; cat /tmp/user
    echo '@@ rights'; echo "$caps"
    echo '@@ seen'; cat /tmp/seen
}
"#;

/// Runs a script, with pericore, on a machine whose bursts `msr` asks for.
fn run(family: &str, msr: u32, bursts: &[Burst], tagged: &[Tagged], script: &str) -> String {
    let family = pericore_catalog::family(family).unwrap();
    let mut wiring = Wiring::new(family, 1);
    let traffic = Bursts::new(&mut wiring, msr, bursts, tagged);
    let chassis = Chassis::new(Shape::new(family, 1, 8, 1).unwrap(), wiring, |_| 8);
    let hardware = Arc::new(Mutex::new(Hardware::new(chassis, Box::new(traffic), 21_600_000_000)));
    let script = format!("{AS_USER}\n{script}");
    let mut boot = Boot::new(["sh", "-c", &script].map(str::to_owned).to_vec());
    boot.programs.extend([PERICORE, SETPRIV].map(Into::into));
    boot.timeout = Duration::from_secs(900);
    let prepared = Prepared::get().unwrap_or_else(|error| panic!("{error}"));
    let ((out, output), (err, errors)) = (guest::collector(), guest::collector());
    let report = guest::run(&prepared, &boot, &hardware, Output { out, errors: err });
    let text = |bytes: &Mutex<Vec<u8>>| String::from_utf8_lossy(&bytes.lock().unwrap()).into_owned();
    let (output, errors) = (text(&output), text(&errors));
    let report = report.unwrap_or_else(|error| panic!("{error}\n{output}\n{errors}"));
    assert_eq!(report.status, 0, "{output}\n{errors}");
    format!("{output}\n@@ errors\n{errors}")
}

/// Lines of the part of an output that `@@ name` begins.
fn part<'a>(output: &'a str, name: &str) -> Vec<&'a str> {
    let lines = output.lines().skip_while(|line| *line != format!("@@ {name}")).skip(1);
    lines
        .take_while(|line| !line.starts_with("@@ "))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

/// First cells of separated values: the counts, in the order of the events.
fn counts(output: &str, name: &str) -> Vec<u64> {
    let count = |line: &&str| line.split(',').next()?.parse::<f64>().ok();
    let part = part(output, name);
    part.iter().map(|line| count(line).unwrap_or_else(|| panic!("{line}\n{output}")) as u64).collect()
}

/// Rows of `-j`.
fn rows(output: &str, name: &str) -> Vec<serde_json::Value> {
    let lines = part(output, name);
    lines.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}\n{output}"))).collect()
}

fn count(row: &serde_json::Value) -> Option<f64> {
    row["counter-value"].as_str().and_then(|count| count.parse::<f64>().ok())
}

/// The user has counted this through the kernel, without the files of registers, and could do nothing any more once
/// the counters were open.
fn the_user_counted(output: &str, truth: &[u64]) {
    let user: Vec<_> = rows(output, "user").iter().map(|row| (count(row), row["through"].clone())).collect();
    let expected: Vec<_> = truth.iter().map(|&count| (Some(count as f64), "kernel".into())).collect();
    assert_eq!(user, expected, "{output}");
    let rights = part(output, "rights");
    assert!(rights.len() == 2 && rights.iter().all(|line| line.ends_with("\t0000000000000000")), "{output}");
    let seen = part(output, "seen");
    assert!(seen.len() == 2 && seen.iter().all(|line| line.contains("No such file")), "{output}");
}

#[test]
#[ignore = "long form: three quarters of a minute; the E5-2600 is in each run"]
fn on_emerald_rapids_by_all_three_ways() {
    if switched_off() {
        return;
    }
    // MSRs, /dev/mem, configuration space, MSRs again.
    let bursts = [
        (("cha", 0), ("REQUESTS", "READS_LOCAL"), 1_000_003),
        (("cha", 63), ("REQUESTS", "READS_LOCAL"), 17),
        (("imc", 0), ("ACT_COUNT", "RD_PCH0"), 70_001),
        (("imc", 7), ("ACT_COUNT", "RD_PCH0"), 5),
        (("m2m", 2), ("DIRECTORY_LOOKUP", "STATE_I"), 40_009),
        (("iio", 9), ("IOMMU0", "FIRST_LOOKUPS"), 10_007),
    ];
    // Memory reads and writes of channels (kinds 0 and 4), look-ups that found no line (state I: bit 0), data in slots
    // of flits sent, and words that devices wrote through ports 0 and 3.
    let local = &[("sub", 1), ("kind", 1), ("origin", 3), ("home", 1)];
    let tagged: [Tagged; 8] = [
        (("imc", 0), ("cas", &[("kind", 0)]), 300_007),
        (("imc", 7), ("cas", &[("kind", 0)]), 11),
        (("imc", 7), ("cas", &[("kind", 4)]), 20_011),
        (("cha", 0), ("llc_lookup", local), 50_021),
        (("cha", 63), ("llc_lookup", local), 7),
        (("upi", 1), ("tx_flits", &[("slot", 2), ("kind", 0)]), 60_013),
        (("iio", 2), ("DATA_REQ_OF_CPU", &[("sub", 1), ("ch_mask", 1), ("fc_mask", 1)]), 80_021),
        (("iio", 9), ("DATA_REQ_OF_CPU", &[("sub", 1), ("ch_mask", 8), ("fc_mask", 1)]), 13),
    ];
    // The request lies in the PCU's last counter, 0x2fcb (Table 1-9). CHA 0's unit control and first control: 0x2000, 0x2002.
    let script = "echo '@@ perf'
        perf stat -a -x, -o /dev/stdout -e uncore_cha/event=0x50,umask=0x1/ -e uncore_imc_0/event=0x2,umask=0x1/ -e uncore_imc_7/event=0x2,umask=0x1/ \
            -e uncore_m2m/event=0x20,umask=0x2/ -e uncore_iio_9/event=0x40,umask=0x1/ -- wrmsr 0x2fcb 1 || exit 1
        echo '@@ before'; rdmsr 0x2000; rdmsr 0x2002; setpci -s fe:0c.0 438.l
        echo '@@ pericore'
        events=cha/REQUESTS.READS_LOCAL/,imc0/ACT_COUNT.RD_PCH0/,imc7/ACT_COUNT.RD_PCH0/,m2m/DIRECTORY_LOOKUP.STATE_I/
        events=$events,iio9/IOMMU0.FIRST_LOOKUPS/
        pericore stat --through registers -x, -o /dev/stdout -e $events -- wrmsr 0x2fcb 2 || exit 2
        echo '@@ after'; rdmsr 0x2000; rdmsr 0x2002; setpci -s fe:0c.0 438.l
        echo '@@ kernel'
        pericore stat -v -x, -o /dev/stdout -e $events -- wrmsr 0x2fcb 3 2>/tmp/words || exit 3
        echo '@@ words'; cat /tmp/words
        # Bandwidth of memory, misses of the LLC, links and PCIe.
        wanted=imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/,cha/LLC_LOOKUP.MISS_ALL/,upi/TxL_FLITS.ALL_DATA/
        as_user $wanted,iio/DATA_REQ_OF_CPU.MEM_WRITE.ALL_PARTS/ 0x2fcb 4";
    let output = run("emerald-rapids", 0x2fcb, &bursts, &tagged, script);
    the_user_counted(&output, &[300_018, 20_011, 50_028, 60_013, 80_034]);
    let truth = [1_000_020, 70_001, 5, 40_009, 10_007];
    assert_eq!(counts(&output, "perf"), truth, "{output}");
    assert_eq!(counts(&output, "pericore"), truth, "{output}");
    assert_eq!(counts(&output, "kernel"), truth, "{output}");
    let words = part(&output, "words").join("\n");
    for line in ["m2m: through the kernel", "uncore_cha/event=0x50,umask=0x1/ of cha 0-63, socket 0"] {
        assert!(words.contains(line), "{output}");
    }
    assert!(!words.contains("by registers"), "{output}");
    assert_eq!(part(&output, "before"), part(&output, "after"), "{output}");
}

#[test]
fn on_e5_2600() {
    if switched_off() {
        return;
    }
    let bursts = [
        (("cbo", 7), ("RxR_INSERTS", "IRQ"), 1_000_003),
        (("imc", 0), ("CAS_COUNT", "RD_REG"), 70_001),
        (("imc", 3), ("CAS_COUNT", "RD_REG"), 5),
        (("ha", 0), ("REQUESTS", "READS"), 40_009),
        (("qpi", 1), ("RxL_FLITS_G1", "DRS_DATA"), 10_007),
        (("r2pcie", 0), ("RING_BL_USED", "CW_EVEN"), 3_001),
    ];
    // The request lies in the PCU's last counter, 0xc39 (Table 2-73).
    let script = "echo '@@ perf'
        perf stat -a -x, -o /dev/stdout -e uncore_cbox/event=0x13,umask=0x1/ -e uncore_imc/event=0x4,umask=0x3/ \
            -e uncore_ha/event=0x1,umask=0x3/ -e uncore_qpi/event=0x102,umask=0x8/ \
            -e uncore_r2pcie/event=0x9,umask=0x1/ -- wrmsr 0xc39 1 || exit 1
        echo '@@ before'; rdmsr 0xd04; rdmsr 0xd10; setpci -s ff:10.0 f4.l d8.l
        echo '@@ pericore'
        events=cbo/RxR_INSERTS.IRQ/,imc/CAS_COUNT.RD/,ha/REQUESTS.READS/,qpi/RxL_FLITS_G1.DRS_DATA/
        events=$events,r2pcie/RING_BL_USED.CW_EVEN/
        pericore stat --through registers -x, -o /dev/stdout -e $events -- wrmsr 0xc39 2 || exit 2
        echo '@@ after'; rdmsr 0xd04; rdmsr 0xd10; setpci -s ff:10.0 f4.l d8.l
        echo '@@ kernel'
        pericore stat --through kernel -x, -o /dev/stdout -e $events -- wrmsr 0xc39 3 || exit 3
        as_user $events 0xc39 4
        # From here on nobody writes registers.
        mount -t securityfs none /sys/kernel/security && echo integrity >/sys/kernel/security/lockdown || exit 5
        echo '@@ lockdown'; pericore stat -j -e imc/CLOCKTICKS/ --timeout 20 2>&1 || exit 6
        echo '@@ barred'; pericore stat --through registers -e imc/CLOCKTICKS/ --timeout 20 2>&1; echo status $?";
    let output = run("e5-2600", 0xc39, &bursts, &[], script);
    let truth = [1_000_003, 70_006, 40_009, 10_007, 3_001];
    assert_eq!(counts(&output, "perf"), truth, "{output}");
    assert_eq!(counts(&output, "pericore"), truth, "{output}");
    assert_eq!(counts(&output, "kernel"), truth, "{output}");
    the_user_counted(&output, &truth);
    let locked = rows(&output, "lockdown");
    assert!(locked[0]["through"] == "kernel" && count(&locked[0]) > Some(0.0), "{output}");
    let barred = part(&output, "barred").join("\n");
    assert!(barred.contains("kernel lockdown (integrity)") && barred.contains("status 255"), "{output}");
    assert_eq!(part(&output, "before"), part(&output, "after"), "{output}");
}
