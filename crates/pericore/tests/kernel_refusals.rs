//! `pericore stat --through kernel` where the kernel refuses: the program itself, with PMUs' files of our own in place
//! of this machine's, and strace, which answers `perf_event_open`. Needs root or user namespaces, and a processor whose
//! uncore is known.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

use crate::ours::command;

const EVENT: &str = "imc/CLOCKTICKS/";

/// Files of two PMUs, as Linux 6.12 writes them.
fn write(folder: &Path) {
    for (number, name) in ["uncore_imc_0", "uncore_imc_1"].iter().enumerate() {
        let pmu = folder.join(name);
        fs::create_dir_all(pmu.join("format")).expect("a folder");
        let formats = [("event", "0-7"), ("umask", "8-15"), ("edge", "18"), ("inv", "23"), ("thresh", "24-31")];
        for (term, bits) in formats {
            fs::write(pmu.join("format").join(term), format!("config:{bits}\n")).expect("written");
        }
        fs::write(pmu.join("type"), format!("{}\n", 90 + number)).expect("written");
        fs::write(pmu.join("cpumask"), "0\n").expect("written");
    }
}

/// Runs `stat` where sysfs has these PMUs, behind a command such as strace with its options.
fn stat(folder: &Path, before: &str) -> Output {
    let script = format!(
        "mount --bind {} /sys/bus/event_source/devices || exit 99; \
         {before} \"$P\" stat --through kernel -e {EVENT} --timeout 10",
        folder.display()
    );
    // SAFETY: it only asks.
    let options = if unsafe { libc::geteuid() } == 0 { "-m" } else { "-rm" };
    command("unshare")
        .args([options, "--propagation", "private", "sh", "-c", &script])
        .output()
        .expect("unshare starts")
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// False where the processor is not known, which is printed past the capture of the test's output.
fn is_known() -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let text = text_of(&stat(folder.path(), ""));
    let is_known = text.contains("the kernel drives no uncore PMU: load its driver with `modprobe intel-uncore`");
    if !is_known {
        let message = format!("\nSKIPPED: refusals of the kernel, since this processor is not known: {text}\n\n");
        std::io::stderr().write_all(message.as_bytes()).expect("stderr takes text");
    }
    is_known
}

/// What `perf_event_open(2)` and the kernel's source say that each error means.
#[test]
fn each_error_of_perf_event_open_has_words_of_its_own() {
    if !is_known() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    for (error, words) in [
        ("EACCES", "a security module forbids it"),
        ("EPERM", "allow perf_event_open in the container's seccomp profile"),
        ("ENOSYS", "this system has no perf_event_open"),
        ("EMFILE", "2 counters need as many open files"),
        ("ENFILE", "raise fs.file-max"),
        ("ENODEV", "cpu 0, which counts for uncore_imc_0, went offline"),
        ("ENOENT", "uncore_imc_0: nobody in the kernel counts for its type 90"),
        ("EINVAL", "none of the terms alone is the reason"),
        ("EBUSY", "the counters of uncore_imc_0 are held by others"),
        ("ENOMEM", "no memory for 2 counters"),
        ("EOPNOTSUPP", "uncore_imc_0 does not count event=0x"),
        ("EFAULT", "perf_event_open: Bad address"),
    ] {
        let strace =
            format!("strace -f -qq -o /dev/null -e trace=perf_event_open -e inject=perf_event_open:error={error}");
        let output = stat(folder.path(), &strace);
        let text = text_of(&output);
        // What another event or way would mend is refused as a mistake on the command line.
        let status = if error == "EINVAL" { 129 } else { 255 };
        assert_eq!(output.status.code(), Some(status), "{error}: {text}");
        assert!(text.contains(words), "{error}: {words}: {text}");
    }
}

/// One file of a PMU is wrong, or gone.
#[test]
fn files_that_lie_are_named() {
    if !is_known() {
        return;
    }
    for (file, content, words) in [
        ("format/event", Some("config:0-7,4-9"), "format/event: \"config:0-7,4-9\\n\" has bit 4 twice"),
        ("format/event", Some("config9:0-7"), "is no place in an event's attributes"),
        ("format/event", None, "there is no format/event"),
        ("cpumask", Some("777"), "uncore_imc_0 counts on cpu 777, which is offline or hidden"),
        ("type", Some("x"), "uncore_imc_0/type: it reads \"x\\n\""),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path());
        let path = folder.path().join("uncore_imc_0").join(file);
        match content {
            Some(content) => fs::write(path, format!("{content}\n")).expect("written"),
            None => fs::remove_file(path).expect("it was there"),
        }
        let output = stat(folder.path(), "");
        let text = text_of(&output);
        assert_eq!(output.status.code(), Some(if content.is_none() { 129 } else { 255 }), "{file}: {text}");
        assert!(text.contains(words), "{file}: {words}: {text}");
    }
}
