//! The commands that README and documents show: whoever copies one gets what is promised there.

use std::path::{Path, PathBuf};

use crate::ours::PERICORE;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of a document's code blocks, as they stand there but for the comments.
fn commands(document: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(document)).expect("the document is there");
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines = blocks.flat_map(str::lines).map(|line| line.split(" #").next().unwrap_or(line).trim());
    // The first command builds the program as well; what it runs then is what counts here.
    let of_ours = lines.filter_map(|line| {
        line.strip_prefix("pericore ").or_else(|| line.split_once(" --bin pericore -- ").map(|(_, ours)| ours))
    });
    of_ours.map(str::to_owned).collect()
}

/// Commands that need more than this program: a Xeon, a file of the user's, other people's tools. `programs.rs`,
/// `this_machine.rs` and the tests of the doors run their like.
fn needs_more(command: &str) -> bool {
    let placeholder = |word: &str| matches!(word, "EVENT" | "FILE.json" | "NAME" | "FOLDER");
    // `doctor` says on any machine what it lacks; its self-check needs counters to check.
    let looks = command.starts_with("explain") || command.starts_with("doctor") && !command.contains("--selfcheck");
    let on_software = command.contains("--machine") || looks;
    !on_software
        || ["machine run", "machine boot"].iter().any(|door| command.starts_with(door))
        || command.contains(" -- ")
        || command.split(' ').any(placeholder)
}

#[test]
fn the_commands_that_documents_show_run() {
    let mut runs = 0;
    for document in ["README.md", "docs/interop.md"] {
        let folder = tempfile::tempdir().expect("a folder");
        for line in commands(document).iter().filter(|line| !needs_more(line)) {
            let mut program = crate::ours::command(PERICORE);
            let output = program.current_dir(folder.path()).args(line.split_whitespace()).output().expect("it starts");
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            // `doctor` finds what a machine lacks, and says so in its status.
            let finds = line.starts_with("doctor") && output.status.code() == Some(1);
            assert!(output.status.success() || finds, "{document}: pericore {line}: {said}");
            assert!(!said.trim().is_empty(), "{document}: pericore {line} says nothing");
            runs += 1;
        }
    }
    assert!(runs >= 10, "only {runs} commands were found");
}

/// A block of code: its language, and its lines.
type Block = (String, Vec<String>);

fn blocks(document: &str) -> Vec<Block> {
    let text = std::fs::read_to_string(root().join(document)).expect("the document is there");
    let parts: Vec<&str> = text.split("```").collect();
    let code = parts.chunks_exact(2).map(|pair| {
        let (language, lines) = pair[1].split_once('\n').unwrap_or((pair[1], ""));
        (language.to_owned(), lines.lines().map(|line| line.trim_end().to_owned()).collect())
    });
    code.collect()
}

/// The pages of the book that show outputs.
fn pages_of_the_book() -> Vec<String> {
    let pages = std::fs::read_dir(root().join("docs/book")).expect("the book is there").flatten();
    let mut pages: Vec<String> = pages.map(|page| page.file_name().to_string_lossy().into_owned()).collect();
    pages.retain(|page| page.ends_with(".md") && !["decisions.md", "reference.md"].contains(&page.as_str()));
    pages.sort();
    pages.iter().map(|page| format!("docs/book/{page}")).chain(["docs/tour.md".to_owned()]).collect()
}

/// Both streams of a block of commands, by the shell that a user has, in `folder`.
fn printed(commands: &[String], folder: &Path) -> String {
    let script = commands.join("\n").replace("cargo run --release --bin pericore --", "pericore");
    let programs = Path::new(PERICORE).parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").map_or(programs.clone(), |path| format!("{programs}:{path}"));
    let mut shell = crate::ours::command("sh");
    shell.current_dir(folder).env("LC_ALL", "C.UTF-8").env("PATH", path).args(["-ec", &script]);
    let output = shell.output().expect("it starts");
    let printed = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{commands:?}: {printed}");
    printed
}

/// What a document's commands print, against what stands below them. Documents leave out lines, but those that they
/// show are printed, in this order. A block that begins with `# FILE` and a name is a file for the commands after it.
/// Returns how many outputs there are, and the commands that show none.
fn compare(document: &str) -> (usize, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let blocks = blocks(document);
    let (mut compared, mut without_output) = (0, Vec::new());
    for (number, (language, lines)) in blocks.iter().enumerate() {
        if let Some(name) = lines.first().and_then(|line| line.strip_prefix("# FILE ")) {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, lines.join("\n") + "\n").expect("a file");
        }
        let output = blocks.get(number + 1).filter(|(after, _)| language == "sh" && after == "text");
        let Some((_, output)) = output else {
            let commands = lines.iter().map(|line| line.split(" #").next().unwrap_or(line).trim());
            without_output
                .extend(commands.filter(|line| language == "sh" && line.starts_with("pericore ")).map(str::to_owned));
            continue;
        };
        let printed = printed(lines, folder.path());
        let mut left = printed.lines().map(str::trim_end);
        for line in output {
            let found = left.any(|found| found == line);
            assert!(found, "{document}: {line:?} is not printed there by {lines:?}:\n{printed}");
        }
        compared += 1;
    }
    let outputs = blocks.iter().filter(|(language, _)| language == "text").count();
    assert_eq!(compared, outputs, "{document}: an output that does not come right after its command");
    (compared, without_output)
}

#[test]
fn documents_show_what_is_printed() {
    for (document, outputs) in [("README.md", 5), ("docs/counting/questions.md", 10), ("docs/counting/stat.md", 2)] {
        assert_eq!(compare(document).0, outputs, "{document}");
    }
}

#[test]
fn the_book_shows_what_is_printed() {
    let pages = pages_of_the_book();
    assert!(pages.len() >= 8, "{pages:?}");
    for page in pages {
        let (compared, without_output) = compare(&page);
        assert!(compared > 0, "{page} shows no output");
        // What shows no output runs all the same, where it can run anywhere.
        let can_run =
            |line: &&String| !needs_more(line.trim_start_matches("pericore ")) && !line.contains("pericore doctor");
        let folder = tempfile::tempdir().expect("a folder");
        without_output.iter().filter(can_run).for_each(|line| drop(printed(std::slice::from_ref(line), folder.path())));
    }
}

/// Pages of the book, by its summary.
fn pages() -> Vec<String> {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the summary is there");
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.filter(|link| link.ends_with(".md")).map(|link| format!("docs/{link}")).collect()
}

/// What the sweep of the page about sweeps is made of, with as many requests as a test has time for.
fn sweep_of_the_page() -> String {
    let found = blocks("docs/machine/sweeps.md").into_iter().find(|(language, _)| language == "toml");
    let (_, lines) = found.expect("the page shows a file");
    let text = lines.join("\n");
    let fewer = [("\"100k\"", "200"), ("to = 5", "to = 1"), ("1, 2, 4, 8", "8"), (", \"random:read=67\"", "")];
    fewer.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "the page's sweep has no {from}");
        text.replace(from, to)
    })
}

/// Every command line of every page is understood. Those on software machines that end by themselves run, and succeed;
/// of the others, which need a Xeon, a key or somebody who ends them, `--help` checks the options.
#[test]
fn no_page_shows_a_command_that_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cores.toml"), sweep_of_the_page()).expect("a file");
    std::fs::write(folder.path().join("words.txt"), "three\ntwo\none\n").expect("a file");
    let (mut ran, mut looked) = (0, 0);
    for page in pages() {
        // The other tests of this file run these, and look at what they print.
        let compared = ["docs/tour.md", "docs/interop.md", "docs/counting/questions.md", "docs/counting/stat.md"];
        if page.starts_with("docs/book/") || compared.contains(&&*page) {
            continue;
        }
        // What stands behind the name of a recording would be its second.
        for line in commands(&page).iter().filter(|line| *line != "top FILE") {
            let runs = line.contains("--machine") || line.starts_with("sweep ");
            let endless = ["top ", "serve "].iter().any(|word| line.starts_with(word)) && !line.contains(" -n ");
            // Half an hour of all counters of a machine; `doctor`'s own tests have it.
            let long = line.contains("--selfcheck");
            let command = if runs && !endless && !long {
                ran += 1;
                let shorter = [("./prog", "true"), ("64 << 20", "1 << 20"), ("--timeout 1000", "--timeout 10")];
                shorter.iter().fold(line.clone(), |line, (from, to)| line.replace(from, to))
            } else {
                looked += 1;
                // Before the program that is measured, whose option it would be.
                let options = line.split(" -- ").next().unwrap_or(line);
                format!("{options} --help")
            };
            let printed = printed(&[format!("pericore {command}")], folder.path());
            assert!(!printed.trim().is_empty(), "{page}: pericore {line} prints nothing");
        }
    }
    assert!(ran >= 6 && looked >= 15, "{ran} commands ran, the options of {looked} were looked at");
}
