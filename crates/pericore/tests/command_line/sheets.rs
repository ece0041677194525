//! Whole outputs, as their readers take them apart: decoded registers field by field, the keys of JSON lines, lists of
//! one unit, and the same numbers in every form. Fields and codes are those of the guides' tables.

use std::collections::{BTreeMap, BTreeSet};

use super::{pericore, refused, stderr, stdout};
use crate::ours::{PERICORE, command};

/// What a look-up prints that succeeds.
fn printed(arguments: &[&str]) -> String {
    let output = pericore(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

fn json(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Bits, name and value of the lines that show a field.
fn fields(sheet: &str) -> Vec<(&str, &str, &str)> {
    sheet.lines().filter(|line| line.starts_with("  ")).filter_map(field).collect()
}

fn field(line: &str) -> Option<(&str, &str, &str)> {
    let mut words = line.split_whitespace();
    let (bits, name, value) = (words.next()?, words.next()?, words.next()?);
    let is_place = bits.split(':').all(|bit| bit.parse::<u8>().is_ok());
    (is_place && value.starts_with("0x")).then_some((bits, name, value))
}

/// Guide of the E5-2600, Tables 2-9, 2-10 and 2-12: TOR_INSERTS (0x35) of misses with an opcode (umask 0x03), threshold
/// 3, enabled; opcode 0x182 is DRd in bits 31:23 of the filter.
#[test]
fn a_control_is_decoded_field_by_field() {
    let line = ["decode", "--machine", "e5-2600", "0xd11", "0x3400335"];
    let sheet = printed(&[&line[..], &["--filter", "0xc1000000"]].concat());
    let wanted = [
        ("31:24", "thresh", "0x3"),
        ("23", "invert", "0x0"),
        ("22", "en", "0x1"),
        ("19", "tid_en", "0x0"),
        ("18", "edge_det", "0x0"),
        ("17", "rst", "0x0"),
        ("15:8", "umask", "0x3"),
        ("7:0", "ev_sel", "0x35"),
    ];
    assert_eq!(fields(&sheet), wanted, "{sheet}");
    assert!(sheet.starts_with("cbo0.ctl1  msr:0xd11  ") && !sheet.contains("own fields"), "{sheet}");
    assert!(sheet.contains("\nCounts cbo/TOR_INSERTS.MISS_OPCODE: "), "{sheet}");
    let ending = "\nOnly where opc fits 0x182 (DRd).\nCounts clocks with an increment of at least 3.\n";
    assert!(sheet.ends_with(ending), "{sheet}");
    // Without the filter's value it is asked for.
    let unfiltered = printed(&line);
    assert!(unfiltered.contains("Only what fits opc of filter: give its value with --filter."), "{unfiltered}");
    // Shapes in the order of the guide's 1.4; a counter that cannot take the event; an event that is none.
    for (value, words) in [
        ("0x400135", &["Adds its increments up."][..]),
        ("0x00400335", &["Adds its increments up."]),
        ("0x2c00335", &["below 2"]),
        ("0x1440335", &["at least 1", "begin"]),
    ] {
        let sheet = printed(&["decode", "--machine", "e5-2600", "cbo.ctl0", value]);
        assert!(words.iter().all(|word| sheet.to_lowercase().contains(&word.to_lowercase())), "{value}: {sheet}");
        assert!(!sheet.contains("cannot take"), "{sheet}");
    }
    let third = printed(&["decode", "--machine", "e5-2600", "cbo.ctl3", "0x400335"]);
    assert!(third.contains("But counter 3 cannot take this event: it needs one of 0,1."), "{third}");
    let nothing = printed(&["decode", "--machine", "e5-2600", "cbo.ctl0", "0x4000fe"]);
    assert!(nothing.contains("no event of the unit has this code"), "{nothing}");
    // What is reserved is shown where it is set, and only there.
    let reserved = printed(&["decode", "--machine", "e5-2600", "cbo.ctl0", "0x400137"]);
    assert!(!reserved.contains("rsv"), "{reserved}");
    let reserved = printed(&["decode", "--machine", "e5-2600", "cbo.ctl0", "0x410137"]);
    assert!(reserved.contains("rsv") && reserved.contains("Reserved: must be left as it is."), "{reserved}");
}

/// A unit control counts nothing (Table 2-9: 16 frz_en, 8 frz, 1 rst_ctrs, 0 rst_ctrl); half of a control is read
/// without its event.
#[test]
fn other_registers_count_nothing() {
    let sheet = printed(&["decode", "--machine", "e5-2600", "cbo.unit_ctl", "0x10102"]);
    let wanted = [("16", "frz_en", "0x1"), ("8", "frz", "0x1"), ("1", "rst_ctrs", "0x1"), ("0", "rst_ctrl", "0x0")];
    assert_eq!(fields(&sheet), wanted, "{sheet}");
    assert!(!sheet.contains("Counts no known event"), "{sheet}");
    // UPI counter 0 of Emerald Rapids: D1:F1, 0x350; the extension of the umask is in the upper half.
    let half = printed(&["decode", "--machine", "emerald-rapids", "pci:01.1+0x354", "0x3"]);
    assert!(half.contains("The address is 4 bytes into the register: higher bits only."), "{half}");
    assert!(half.contains(" umask_ext ") && !half.contains(" ev_sel ") && !half.contains("Counts "), "{half}");
    let whole = printed(&["decode", "--machine", "emerald-rapids", "pci:01.1+0x350", "0x1"]);
    assert!(whole.contains(" ev_sel ") && !whole.contains("into the register"), "{whole}");
}

/// Emerald Rapids, Table 2-73: the umask's extension of TOR events has fields of its own, bits 33 to 55 of the control.
#[test]
fn fields_over_the_extension_are_written_and_read() {
    let line = ["encode", "--machine", "emerald-rapids", "cha.ctl0", "ev_sel=0x36", "umask=0x1"];
    let own = ["match_opc=1", "opc=0x102", "miss=1", "loc=1"];
    let row = &json(&printed(&[&line[..], &own, &["--json"]].concat()))[0];
    let value: u64 = 0x36 | 0x1 << 8 | 1 << 41 | 0x102 << 43 | 1 << 33 | 1 << 39;
    assert_eq!(row["value"], format!("{value:#x}"));
    let text = format!("{value:#x}");
    let sheet = printed(&["decode", "--machine", "emerald-rapids", "cha.ctl0", &text]);
    let (_, overlaid) = sheet.split_once("own fields over the same bits:").expect("they are shown");
    let wanted = [("53:43", "opc", "0x102"), ("41", "match_opc", "0x1"), ("39", "loc", "0x1"), ("33", "miss", "0x1")];
    assert_eq!(fields(overlaid), wanted, "{sheet}");
    // They lie over controls of counters, and nothing else.
    refused(&["encode", "--machine", "emerald-rapids", "cha.unit_ctl", "opc=1"], 129, &["opc"]);
    let without = printed(&["decode", "--machine", "emerald-rapids", "cha.ctl0", "0x136"]);
    assert!(!without.contains("own fields"), "{without}");
}

/// Guide, Table 2-17: LLC_VICTIMS (0x37) on counters 0 and 1, its M_STATE with umask 0x01; CAS_COUNT (0x04) of the iMC
/// on all four.
#[test]
fn a_sheet_has_the_tables_numbers() {
    for (name, code, umask, config, counters) in [
        ("cbo/LLC_VICTIMS.M_STATE", "0x37", Some("0x01"), "0x137", &[0, 1][..]),
        ("cbo/TOR_OCCUPANCY.MISS_ALL", "0x36", Some("0x0a"), "0xa36", &[0]),
        ("imc/CAS_COUNT.RD", "0x04", Some("0x03"), "0x304", &[0, 1, 2, 3]),
        ("cbo/CLOCKTICKS", "0x00", None, "0x0", &[0, 1, 2, 3]),
    ] {
        let row = &json(&printed(&["explain", "--machine", "e5-2600", "--json", name]))[0];
        assert_eq!(
            (&row["code"], row["umask"].as_str(), &row["config"]),
            (&code.into(), umask, &config.into()),
            "{row}"
        );
        assert_eq!(row["counters"], serde_json::json!(counters), "{name}");
        let sheet = printed(&["explain", "--machine", "e5-2600", name]);
        let list: Vec<String> = counters.iter().map(ToString::to_string).collect();
        let listed = [list.join(","), format!("{}-{}", list[0], list[list.len() - 1])];
        let is_shown = |list: &String| sheet.contains(&format!(" {list} of 4"));
        assert!(listed.iter().any(is_shown) && sheet.contains(config), "{sheet}");
    }
}

/// `--unit` leaves out all other units, whatever is listed; what is not modelled is marked, and the mark is explained
/// only where it stands.
#[test]
fn a_list_of_a_unit_has_that_unit_alone() {
    for what in [&[][..], &["--registers"], &["--metrics"]] {
        let rows = json(&printed(&[&["list", "--machine", "e5-2600", "--unit", "HA", "--json"], what].concat()));
        let units: BTreeSet<&str> = rows.iter().filter_map(|row| row["unit"].as_str()).collect();
        assert_eq!(units, BTreeSet::from(["ha"]), "{what:?}");
        let text = printed(&[&["list", "--machine", "e5-2600", "--unit", "HA"], what].concat());
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("e5-2600 / ")).collect();
        assert!(headings.iter().all(|heading| heading.starts_with("e5-2600 / ha:")), "{what:?}: {headings:?}");
    }
    for unit in ["cbo", "ha", "r2pcie", "ubox"] {
        for words in [&["CLOCKTICKS"][..], &[]] {
            let line = [&["list", "--machine", "e5-2600", "--unit", unit], words].concat();
            let output = pericore(&line);
            let text = stdout(&output);
            let names: BTreeMap<bool, usize> = text.lines().fold(BTreeMap::new(), |mut names, line| {
                let is_row = line.contains("  code 0x") || line.contains("  config 0x");
                *names.entry(is_row && line.starts_with('-')).or_default() += usize::from(is_row);
                names
            });
            let marked = names.get(&true).copied().unwrap_or(0);
            assert_eq!(text.contains("- in front: "), marked > 0, "{line:?}: {text}");
            let rows = json(&stdout(&pericore(&[&line[..], &["--json"]].concat())));
            // Of an event with subevents only these are modelled or not.
            let parents: BTreeSet<&str> =
                rows.iter().filter(|row| !row["subevent"].is_null()).filter_map(|row| row["event"].as_str()).collect();
            let is_leaf = |row: &&serde_json::Value| {
                !row["subevent"].is_null() || !parents.contains(row["event"].as_str().unwrap_or(""))
            };
            let silent = rows.iter().filter(is_leaf).filter(|row| row["modelled"] == false).count();
            assert_eq!(marked, silent, "{line:?}: {text}");
        }
    }
}

/// A place and a name.
type Line = (String, String);

/// The lines of a table: a number, perhaps its symbol, perhaps a place, the name.
fn table(text: &str) -> Vec<(Line, f64)> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = *words.last().filter(|name| name.contains('/') && !name.contains("B/s"))?;
        let number: f64 = words.first()?.replace(',', "").parse().ok()?;
        let factor = if words.contains(&"GB/s") { 1e9 } else { 1.0 };
        let place: Vec<&str> = words[1..words.len() - 1].iter().copied().filter(|word| !word.contains("B/s")).collect();
        Some(((place.join(" "), name.to_owned()), number * factor))
    };
    text.lines().filter_map(row).collect()
}

fn lines(text: &str) -> Vec<(Line, f64)> {
    let row = |row: &serde_json::Value| {
        let place: Vec<&str> = ["socket", "instance"].iter().filter_map(|key| row[key].as_str()).collect();
        let number = ["counter-value", "metric-value"].iter().find_map(|key| row[key].as_str()).expect("a number");
        let name = row["event"].as_str().expect("a name").to_owned();
        ((place.join(" "), name), number.parse().expect("a number"))
    };
    json(text).iter().map(row).collect()
}

/// perf's fields: the place and, of a socket, how many are added up; value, unit, event, run time, share; metric and
/// its unit.
fn separated(text: &str, scope: &str) -> Vec<(Line, f64)> {
    let row = |line: &str| {
        let mut words: Vec<&str> = line.split(';').collect();
        let place = if scope.is_empty() { String::new() } else { words.remove(0).to_owned() };
        if scope == "--per-socket" {
            let units = if line.contains(";ha/") { "1" } else { "4" };
            assert_eq!(words.remove(0), units, "home agents or channels of a socket: {line}");
        }
        assert_eq!((words.len(), words[7], words[4]), (8, "measured", "100.00"), "{line}");
        let number = if words[0].is_empty() { words[5] } else { words[0] };
        ((place, words[2].to_owned()), number.parse().expect("a number"))
    };
    text.lines().map(row).collect()
}

/// One run in three forms has the same rows with the same numbers, in the same order; parts of the machine add up to
/// the whole. Each of 2,048 accesses reads a line of 64 bytes: four channels in each of two sockets.
#[test]
fn every_form_has_the_same_numbers() {
    let line = ["stat", "--machine", "e5-2600:sockets=2", "--workload", "stream:requests=2k"];
    let what = ["-e", "imc/CAS_COUNT.RD/,ha/REQUESTS.READS/", "-M", "MEM_READ_BANDWIDTH"];
    for (scope, rows) in [("", [1, 1]), ("--per-socket", [2, 2]), ("-A", [8, 2])] {
        let only = if scope == "-A" { &what[..2] } else { &what[..] };
        let run = |form: &[&str]| {
            let scope: Vec<&str> = [scope].into_iter().filter(|scope| !scope.is_empty()).collect();
            stderr(&pericore(&[&line[..], only, &scope, form].concat()))
        };
        let wanted = lines(&run(&["-j"]));
        let of = |name: &str| -> Vec<f64> {
            wanted.iter().filter(|((_, known), _)| known == name).map(|(_, number)| *number).collect()
        };
        for (name, rows) in [("imc/CAS_COUNT.RD/", rows[0]), ("ha/REQUESTS.READS/", rows[1])] {
            assert_eq!((of(name).len(), of(name).iter().sum::<f64>()), (rows, 2048.0), "{scope} {name}");
        }
        let places: BTreeSet<&str> = wanted.iter().map(|((place, _), _)| place.as_str()).collect();
        assert_eq!(places.len(), [1, 2, 10][["", "--per-socket", "-A"].iter().position(|s| *s == scope).unwrap_or(0)]);
        let is_near = |shown: &[(Line, f64)]| {
            let all = shown.iter().zip(&wanted);
            shown.len() == wanted.len()
                && all.into_iter().all(|(one, other)| one.0 == other.0 && (one.1 / other.1 - 1.0).abs() < 1e-4)
        };
        let shown = table(&run(&[]));
        assert!(is_near(&shown), "{scope}: {shown:?}, and as JSON {wanted:?}");
        let [exact, plain] = [separated(&run(&["-x;"]), scope), table(&run(&["--no-big-num"]))];
        assert_eq!(exact, wanted, "{scope}");
        assert_eq!(plain, shown, "{scope}");
    }
}

/// perf's keys and ours, and no others: each is there only where it means something.
#[test]
fn json_lines_have_the_keys_that_they_need() {
    let keys = |more: &[&str]| {
        let line = ["stat", "--machine", "e5-2600", "--workload", "stream:requests=500", "-j"];
        let what = ["-e", "imc/CAS_COUNT.RD/", "-M", "MEM_READ_BANDWIDTH"];
        let text = stderr(&pericore(&[&line[..], &what, more].concat()));
        let rows = json(&text);
        let of = |row: &serde_json::Value| {
            let map = row.as_object().expect("an object");
            map.keys().cloned().collect::<BTreeSet<String>>()
        };
        (of(&rows[0]), of(&rows[rows.len() - 1]))
    };
    let set = |all: &[&[&str]]| all.concat().into_iter().map(str::to_owned).collect::<BTreeSet<String>>();
    let both = ["unit", "event", "event-runtime", "pcnt-running", "validity", "emulated"];
    let (count, metric) = (["counter-value"], ["metric-value", "metric-unit", "quantity"]);
    for (options, more) in [
        (&[][..], &[][..]),
        (&["--truth"], &["truth", "error"]),
        (&["--per-socket"], &["socket", "aggregate-number"]),
        (&["-A"], &["socket", "instance", "aggregate-number"]),
        (&["-I", "0.001"], &["interval"]),
        (&["-r", "2"], &["variance"]),
    ] {
        let (event, last) = keys(options);
        let several =
            |keys: BTreeSet<String>| keys.into_iter().filter(|key| key != "variance").collect::<BTreeSet<_>>();
        let more: Vec<&str> = more.iter().copied().filter(|key| *key != "variance").collect();
        assert_eq!(several(event), set(&[&both, &count, &more]), "{options:?}");
        assert_eq!(several(last), set(&[&both, &metric, &more]), "{options:?}");
    }
}

/// Most users have no file with defaults, and many no home.
#[test]
fn nobody_needs_a_file_with_defaults() {
    let empty = tempfile::tempdir().expect("a folder");
    for home in [Some(empty.path()), None] {
        let mut command = command(PERICORE);
        command.args(["list", "--machine", "nehalem", "--json", "LLC_HITS"]).env_remove("PERICORE_CONFIG");
        match home {
            Some(home) => command.env("XDG_CONFIG_HOME", home).env("HOME", home),
            None => command.env_remove("XDG_CONFIG_HOME").env_remove("HOME"),
        };
        let output = command.output().expect("the program starts");
        assert!(output.status.success() && output.stderr.is_empty(), "{home:?}: {}", stderr(&output));
    }
}
