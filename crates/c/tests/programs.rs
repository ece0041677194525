//! Compiles C programs against the library: as a user's build would, with the flags that pkg-config gives.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A prefix with the library as a package would install it.
pub struct Installed {
    folder: tempfile::TempDir,
}

/// Where cargo puts the libraries beside this test.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.parent().expect("a folder").to_owned()
}

/// What ran, if it has succeeded.
pub fn succeeded(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{text}", output.status);
    output
}

impl Installed {
    /// Installs into a new folder, in the layout that `deploy/release` gives packages.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut install = Command::new(own.join("install"));
        install.arg(built()).arg(folder.path()).arg("/usr").arg("lib");
        succeeded(&mut install);
        Self { folder }
    }

    /// A path below the prefix.
    pub fn join(&self, path: &str) -> PathBuf {
        self.folder.path().join("usr").join(path)
    }

    fn flags(&self, arguments: &[&str]) -> Vec<String> {
        let mut pkg_config = Command::new("pkg-config");
        pkg_config
            .args(arguments)
            .arg("pericore")
            .env("PKG_CONFIG_LIBDIR", self.join("lib/pkgconfig"))
            .env("PKG_CONFIG_SYSROOT_DIR", self.folder.path());
        let output = succeeded(&mut pkg_config);
        String::from_utf8(output.stdout).expect("flags").split_whitespace().map(str::to_owned).collect()
    }

    /// Compiles a program of `tests/c` with these flags beside those of pkg-config.
    pub fn compile(&self, compiler: &str, source: &str, own: &[&str]) -> PathBuf {
        let program =
            self.folder.path().join(format!("{source}-{compiler}{}", own.concat().replace(['/', '=', '+'], "")));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(source);
        let is_static = own.contains(&"-static");
        let mut command = Command::new(compiler);
        command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-pthread"]).args(own);
        command.args(self.flags(&["--cflags"])).arg(source).arg("-o").arg(&program);
        command.args(self.flags(if is_static { &["--libs", "--static"] } else { &["--libs"] }));
        succeeded(&mut command);
        program
    }

    /// A command that runs a program with the shared library of this prefix.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", self.join("lib"));
        command
    }
}

/// The header is C of 1999 and C++, and the shared library has its functions and no others.
#[test]
fn compilers_take_the_header() {
    let installed = Installed::new();
    installed.compile("gcc", "look_up.c", &["-std=c99"]);
    installed.compile("g++", "look_up.c", &["-x", "c++", "-std=c++11"]);
    let header = fs::read_to_string(installed.join("include/pericore.h")).expect("a header");
    let mut nm = Command::new("nm");
    nm.args(["-D", "--defined-only"]).arg(installed.join("lib/libpericore.so"));
    let symbols = String::from_utf8(succeeded(&mut nm).stdout).expect("names");
    let exported: Vec<&str> = symbols.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    assert!(exported.len() >= 12, "{symbols}");
    for name in exported {
        assert!(header.contains(&format!("{name}(")), "{name} is exported, and not in the header");
    }
}

/// LLC_VICTIMS is event 0x37 on counters 0 and 1, and umask 0x01 selects state M (Table 2-17 of the E5-2600's
/// guide): a control of 0x137.
#[test]
fn names_are_looked_up() {
    let installed = Installed::new();
    for own in [&[][..], &["-static"][..]] {
        let program = installed.compile("gcc", "look_up.c", own);
        let mut command = installed.command(program);
        let printed = String::from_utf8(succeeded(&mut command).stdout).expect("text");
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines[0], "cbo cbo/LLC_VICTIMS.M_STATE/ 0x137 0x3", "{printed}");
        assert!(lines[1].starts_with("-2 ") && lines[1].contains("LLC_VICTIMS"), "{printed}");
        assert!(lines[2] == "imc MEM_BW_READS B", "{printed}");
        assert_eq!(lines[3], "-1 event is null; give a text", "{printed}");
    }
}

/// Four channels of DDR3-1600 move 51.2 GB/s at most, and a stream that misses all caches uses more than half of
/// that.
#[test]
fn the_documents_show_a_program_that_runs() {
    let installed = Installed::new();
    let program = installed.compile("gcc", "example.c", &["-std=c99"]);
    let printed = String::from_utf8(succeeded(&mut installed.command(program)).stdout).expect("text");
    let rates: Vec<(&str, f64)> = printed
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next()?.parse().ok()?))
        })
        .collect();
    let [("load", load), ("solve", solve)] = rates[..] else { panic!("{printed}") };
    assert!([load, solve].iter().all(|rate| (25.6..51.2).contains(rate)), "{printed}");
    let program = include_str!("c/example.c");
    let document = include_str!("../../../docs/library.md");
    assert!(
        document.contains(&format!("```c\n{program}```")),
        "docs/library.md has another program than tests/c/example.c"
    );
}
