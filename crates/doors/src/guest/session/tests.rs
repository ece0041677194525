use pericore_machine::MachineSpec;

use super::*;
use crate::Idle;

/// Lines of `/proc/kallsyms` with all that a machine looks for.
const SYMBOLS: &str = "ffffffff8107e740 t native_write_msr_safe\nffffffff8107e780 t native_read_msr_safe\n\
    ffffffff8107e7c0 t native_read_msr\nffffffff8107e910 T native_write_msr\nffffffff819cebe0 t pci_mmcfg_read\n\
    ffffffff819cecc0 t pci_mmcfg_write\nffffffff819cee40 t pci_conf1_read\nffffffff819cef30 t pci_conf1_write\n\
    ffffffff8107e590 t native_cpuid\nffffffff8107e700 t native_read_pmc\nffffffff81c00be0 T asm_exc_page_fault\n";

/// A guest of empty files, and a QEMU that is a script: it knows its ends of our sockets by `$log`, `$out`, `$errors`,
/// `$talk` and, with a machine, `$gdb`.
struct Played {
    folder: tempfile::TempDir,
    boot: Boot,
}

impl Played {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        // The checksum of nothing: FIPS 180-4.
        let of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        std::fs::write(at("SHA256SUMS"), format!("{of_nothing}  vmlinux\n{of_nothing}  initramfs.cpio\n")).unwrap();
        let ends = [("s0", "log"), ("s1", "out"), ("s2", "errors"), ("s3", "talk"), ("gdb", "gdb")];
        let cases = ends.map(|(id, name)| format!("socket,id={id},fd=*) {name}=${{word##*=}} ;;\n")).concat();
        let text = format!("#!/bin/bash\nfor word; do case $word in\n{cases}esac; done\n{script}\n");
        for (name, text) in [("vmlinux", ""), ("initramfs.cpio", ""), ("script", &text)] {
            std::fs::write(at(name), text).unwrap();
        }
        // Copied by another process: in this one, a test beside might have a copy of it open while it starts a child.
        let copied = Command::new("install").arg(at("script")).arg(at("qemu")).status().unwrap();
        assert!(copied.success());
        let mut boot = Boot::new(vec!["true".to_owned()]);
        boot.qemu = at("qemu").to_string_lossy().into_owned();
        Self { folder, boot }
    }

    fn prepared(&self) -> Prepared {
        Prepared::at(self.folder.path().to_owned()).unwrap()
    }

    /// A boot without a machine: the report, and what came on the guest's standard output and error.
    fn plain(&self) -> (Result<Report, GuestError>, [String; 2]) {
        let ((out, text), (errors, messages)) = (collector(), collector());
        let mut session = Session::start(&self.prepared(), &self.boot, None, None, Output { out, errors }).unwrap();
        let result = session.attend();
        let report = session.conclude(result);
        (report, [text, messages].map(|bytes| String::from_utf8(bytes.lock().unwrap().clone()).unwrap()))
    }
}

fn failure(script: &str) -> GuestError {
    Played::new(script).plain().0.unwrap_err()
}

#[test]
fn output_and_status_of_a_guests_command_pass_through() {
    let script = "echo ready >&$talk; printf 'a\\nb' >&$out; echo oops >&$errors; echo exit 3 >&$talk";
    let (report, shown) = Played::new(script).plain();
    let report = report.unwrap();
    assert_eq!((report.status, report.stops), (3, Counts::default()));
    assert_eq!(shown, ["a\nb", "oops\n"]);
}

/// What is left of a guest is how its QEMU ended, and the last of both their messages.
#[test]
fn a_guest_that_ends_too_early_is_an_error_with_its_messages() {
    let died = failure("echo no such accelerator >&2; echo booting >&$log; exit 5");
    let GuestError::QemuDied { status, messages } = &died else { panic!("{died}") };
    assert_eq!((status.code(), messages.as_str()), (Some(5), "no such accelerator\nbooting"));
    // With a status, but not switched off.
    let crashed = failure("echo ready >&$talk; echo exit 0 >&$talk; exit 1");
    assert!(matches!(&crashed, GuestError::QemuDied { status, .. } if status.code() == Some(1)), "{crashed}");
    let gone = failure("echo 'Kernel panic' >&$log; echo ready >&$talk");
    assert!(matches!(&gone, GuestError::GuestDied { messages } if messages == "Kernel panic"), "{gone}");
    let odd = failure("echo hello >&$talk; exec sleep 5");
    assert!(odd.to_string().contains("hello"), "{odd}");
}

#[test]
fn a_boot_that_takes_too_long_is_ended_where_it_is() {
    for (word, wanted) in [("", "it was still booting"), ("echo ready >&$talk;", "its command was running")] {
        let mut played = Played::new(&format!("{word} echo last >&$log; exec sleep 20"));
        played.boot.timeout = Duration::from_millis(300);
        let start = Instant::now();
        let error = played.plain().0.unwrap_err();
        let GuestError::TimedOut { limit, stage, messages } = &error else { panic!("{error}") };
        assert_eq!((*limit, *stage, messages.as_str()), (played.boot.timeout, wanted, "last"));
        assert!(start.elapsed() < Duration::from_secs(15), "it is not waited for");
    }
}

/// The kernel's symbols are read in a first boot, once; then each of the eight functions that accesses go through gets
/// a breakpoint, and the two of the cores' counters with them if these are to count.
#[test]
fn a_machine_sets_its_breakpoints_and_the_guest_runs() {
    // All replies at once: the greeting's two, and an OK for each breakpoint. Then the guest runs and ends.
    let script = |breakpoints: usize| {
        let replies = "'$OK#9a' ".repeat(breakpoints);
        format!(
            "echo boot >>${{0%/*}}/boots; echo ready >&$talk\n\
             if [ -z \"$gdb\" ]; then printf '{}' >&$out; echo exit 0 >&$talk; exit; fi\n\
             printf %s '$#00' '$l#6c' {replies} >&$gdb; request=\n\
             while [ \"${{request: -5}}\" != '$c#63' ] && read -r -N 1 byte <&$gdb; do request+=$byte; done\n\
             echo exit 4 >&$talk",
            SYMBOLS.replace('\n', "\\n")
        )
    };
    let played = Played::new(&script(8));
    for boots in [2, 3] {
        let chassis = MachineSpec::parse("e5-2600").unwrap().chassis().unwrap();
        let hardware = Arc::new(Mutex::new(Hardware::new(chassis, Box::new(Idle), 1_000_000_000)));
        let output = Output { out: collector().0, errors: collector().0 };
        let report = run(&played.prepared(), &played.boot, &hardware, output).unwrap();
        assert_eq!((report.status, report.stops), (4, Counts::default()));
        let text = std::fs::read_to_string(played.folder.path().join("boots")).unwrap();
        assert_eq!(text.lines().count(), boots, "symbols are kept");
    }
}

#[test]
fn a_qemu_that_is_not_there_is_named() {
    let mut boot = Boot::new(vec!["true".to_owned()]);
    boot.qemu = "/no/such/qemu".to_owned();
    let missing = boot.check_qemu().unwrap_err();
    assert!(matches!(&missing, GuestError::NoQemu { program, .. } if program == "/no/such/qemu"), "{missing}");
    boot.qemu = "true".to_owned();
    assert!(boot.check_qemu().is_ok());
}
