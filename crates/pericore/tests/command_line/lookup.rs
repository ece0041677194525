//! `list`, `explain`, `decode` and `encode` as a user meets them.

use tempfile::{TempDir, tempdir};

use super::{pericore, refused, stderr, stdout};

/// What a command prints that succeeds.
fn printed(arguments: &[&str]) -> String {
    let output = pericore(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

/// What a look-up prints that finds nothing: the exit status is grep's.
fn printed_without_match(arguments: &[&str]) -> String {
    let output = pericore(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

fn rows(arguments: &[&str]) -> Vec<serde_json::Value> {
    printed(arguments).lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

/// An event file in a folder.
fn file(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("the file is written");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn lists_keep_the_contracts_keys() {
    for row in rows(&["list", "--machine", "e5-2600", "--unit", "cbo", "--json"]) {
        for key in [
            "family",
            "unit",
            "event",
            "subevent",
            "code",
            "umask",
            "config",
            "counters",
            "max_increment",
            "filters",
            "modelled",
            "source",
            "description",
        ] {
            assert!(row.get(key).is_some(), "no {key} in {row}");
        }
    }
    for row in rows(&["list", "--registers", "--machine", "e5-2600", "--json"]) {
        for key in ["unit", "instance", "register", "space", "address", "bdf", "width", "reset", "fields"] {
            assert!(row.get(key).is_some(), "no {key} in {row}");
        }
    }
    for row in rows(&["list", "--metrics", "--machine", "e5-2600", "--json"]) {
        for key in ["unit", "metric", "expression", "unit_of_measure", "description", "source"] {
            assert!(row.get(key).is_some(), "no {key} in {row}");
        }
    }
}

/// Of every row of the families with shipped scenarios it is known where it counts and by what, or why it does not.
#[test]
fn rows_have_what_their_counts_come_from() {
    let of = |machine: &str| rows(&["list", "--machine", machine, "--json"]);
    let (rows, older) = (of("emerald-rapids"), of("e5-2600"));
    for row in rows.iter().chain(&older) {
        let scenarios = row["counts_in"].as_array().expect("a list").len();
        let (origin, out) = (row["origin"].as_str(), row["out_of_count"].as_bool().expect("a truth value"));
        assert_eq!(row["scripted"], origin == Some("scripted"), "{row}");
        assert_eq!((scenarios > 0, scenarios == 0), (origin.is_some(), row["reason"].is_string()), "{row}");
        assert!(scenarios == 0 || row["modelled"] == true && !out, "{row}");
    }
    let row = |event: &str, subevent: &str| {
        rows.iter().find(|row| row["event"] == event && row["subevent"] == subevent).expect("listed")
    };
    let reads = row("CAS_COUNT", "RD");
    assert!(reads["origin"] == "emergent" && reads["counts_in"][0] == "programs", "{reads}");
    // Nothing holds the bus but a scenario's `phold`; persistent memory has no place in this family.
    assert_eq!(row("PHOLD_CYCLES", "ASSERT_TO_ACK")["counts_in"], serde_json::json!(["messages"]));
    assert_eq!(row("PHOLD_CYCLES", "ASSERT_TO_ACK")["origin"], "scripted");
    let memory = row("TOR_INSERTS", "IA_MISS_DRD_PMM");
    assert!(memory["out_of_count"] == true && memory["reason"].as_str().expect("a text").contains("persistent memory"));
    assert_eq!(row("TxR_HORZ_INSERTS", "AD_UNCRD")["out_of_count"], false);
}

#[test]
fn what_was_not_checked_against_silicon_is_model_only() {
    let rows = rows(&["list", "--machine", "e5-2600", "--unit", "imc", "--json"]);
    let model_only = |event: &str, subevent: &str| {
        let row = rows.iter().find(|row| row["event"] == event && row["subevent"] == subevent).expect("listed");
        row["model_only"].as_bool().expect("a truth value")
    };
    // Reads of DRAM are the published bandwidths; nobody has published precharges; and what counts nothing has no model.
    assert!(!model_only("CAS_COUNT", "RD") && model_only("PRE_COUNT", "PAGE_MISS"));
    let home = self::rows(&["list", "--machine", "e5-2600", "--unit", "ha", "--json"]);
    let matched = home.iter().find(|row| row["event"] == "ADDR_OPC_MATCH").expect("listed");
    assert_eq!(matched["model_only"], false);
    assert!(printed(&["list", "--machine", "e5-2600", "--unit", "ha"]).contains("model only"));
    assert!(printed(&["explain", "--machine", "e5-2600", "imc/PRE_COUNT.PAGE_MISS"]).contains("model only"));
    assert!(printed(&["explain", "--machine", "e5-2600", "imc/CAS_COUNT.RD"]).contains("published measurement"));
}

#[test]
fn every_list_fits_the_terminal() {
    for kind in [
        &["list", "*"][..],
        &["list", "--registers"],
        &["list", "--metrics"],
        &["list", "--machine", "e5-2600", "lokup"],
    ] {
        let text = stdout(&pericore(kind));
        let too_wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(too_wide.is_empty(), "{kind:?}: {too_wide:#?}");
    }
}

#[test]
fn words_and_patterns_filter() {
    let names = |words: &[&str]| {
        let arguments: Vec<&str> = ["list", "--machine", "e5-2600", "--json"].iter().chain(words).copied().collect();
        let rows = rows(&arguments);
        rows.iter()
            .map(|row| format!("{}.{}", row["event"].as_str().unwrap_or(""), row["subevent"].as_str().unwrap_or("")))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&["TOR_OCCUPANCY.MISS*"]), ["TOR_OCCUPANCY.MISS_OPCODE", "TOR_OCCUPANCY.MISS_ALL"]);
    assert_eq!(names(&["cas_count.rd"]), ["CAS_COUNT.RD_REG", "CAS_COUNT.RD_UNDERFILL", "CAS_COUNT.RD"]);
    assert!(names(&["unc_m_cas_count"]).contains(&"CAS_COUNT.WR".to_owned()));
    assert!(printed_without_match(&["list", "--machine", "e5-2600", "--json", "zzzzz"]).is_empty());
    let all = rows(&["list", "--machine", "e5-2600", "--json"]);
    let modelled = rows(&["list", "--machine", "e5-2600", "--modelled", "--json"]);
    assert!(modelled.len() < all.len() && modelled.iter().all(|row| row["modelled"] == true));
}

#[test]
fn typing_errors_get_the_nearest_rows() {
    let text = printed_without_match(&["list", "--machine", "e5-2600", "lokup"]);
    assert!(text.starts_with("Nothing has every word of \"lokup\". Nearest:\n  cbo/LLC_LOOKUP\n"), "{text}");
    let output = pericore(&["list", "--machine", "e5-2600", "--registers", "filtr"]);
    assert!(stderr(&output).contains("did you mean filter?"));
}

/// A unit's name stands in no name of an event or register.
#[test]
fn a_unit_among_the_words_is_pointed_at() {
    for (line, advice) in [
        (&["--registers", "ubox"][..], "ubox is a unit: --unit ubox\n"),
        (&["--modelled", "CBO", "victims"], "cbo is a unit: --unit cbo victims\n"),
    ] {
        let output = pericore(&[&["list", "--machine", "e5-2600"], line].concat());
        assert!(stderr(&output).ends_with(advice), "{line:?}: {}", stderr(&output));
    }
    assert!(!printed(&["list", "--machine", "e5-2600", "--unit", "cbo", "victims"]).is_empty());
}

#[test]
fn decode_and_encode_are_inverse() {
    let encoded =
        rows(&["encode", "--machine", "e5-2600", "cbo.ctl1", "thresh=3", "umask=0x3", "ev_sel=0x35", "en=1", "--json"]);
    assert_eq!(
        (&encoded[0]["value"], &encoded[0]["address"]),
        (&"0x3400335".into(), &"msr:0xd11 in the first of 8".into())
    );
    let decoded = rows(&["decode", "--machine", "e5-2600", "0xd11", "0x3400335", "--filter", "0xc1000000", "--json"]);
    let counts = &decoded[0]["counts"];
    assert_eq!((&counts["event"], &counts["subevents"][0]), (&"TOR_INSERTS".into(), &"MISS_OPCODE".into()));
    assert_eq!((&counts["threshold"], &counts["filters"][0]["names"][0]), (&3.into(), &"DRd".into()));
    let event = rows(&["encode", "cbo/TOR_INSERTS.MISS_OPCODE,opc=DRd,thresh=3/", "--json"]);
    assert_eq!((&event[0]["enabled"], &event[0]["filters"]["filter"]), (&"0x3400335".into(), &"0xc1000000".into()));
}

#[test]
fn wrong_command_lines_say_what_to_do() {
    refused(&["explain", "--machine", "e5-2600", "LLC_LOKUP"], 129, &["did you mean LLC_LOOKUP?"]);
    refused(&["explain", "--machine", "e5-2600", "thresh"], 129, &["cbo.ctl.thresh", "name one in full"]);
    refused(&["decode", "--machine", "e5-2600", "0x99999", "1"], 129, &["belongs to no register", "list --registers"]);
    refused(&["decode", "--machine", "e5-2600", "cbo.ctl0", "0x100000000"], 129, &["32 bits"]);
    refused(&["decode", "--machine", "e5-2600", "cbo.ctl0", "many"], 129, &["not a number"]);
    refused(
        &["decode", "--machine", "e5-2600", "imc.ctl0", "1", "--filter", "1"],
        129,
        &["imc has no filter register"],
    );
    refused(
        &["decode", "--machine", "e5-2600", "qpi.ctl0", "1", "--filter", "1"],
        129,
        &["which filter register", "match0"],
    );
    refused(&["encode", "--machine", "e5-2600", "cbo.ctl0", "thrsh=1"], 129, &["did you mean thresh?"]);
    refused(&["encode", "--machine", "e5-2600", "cbo.ctl0", "thresh=256"], 129, &["at most 0xff"]);
    refused(&["encode", "--machine", "e5-2600", "cbo.ctl0", "rsv=1"], 129, &["reserved"]);
    refused(&["encode", "--machine", "e5-2600", "cbo.ctl0", "en"], 129, &["FIELD=VALUE"]);
    refused(&["encode", "cbo/TOR_INSERTS.OPCODE/"], 129, &["needs the filter opc"]);
    refused(&["encode", "imc/CLOCKTICKS/"], 129, &["choose one with --machine"]);
}

#[test]
fn event_files_join_the_catalogue() {
    let folder = tempdir().expect("a folder");
    let path = file(
        &folder,
        "good.json",
        r#"{"Header": {}, "Events": [
            {"Unit": "CBO", "EventName": "UNC_C_TOR_INSERTS.MY_OWN", "EventCode": "0x35", "UMask": "0x42", "Counter": "0,1", "BriefDescription": "Mine."},
            {"Unit": "CBO", "EventName": "UNC_C_BRAND_NEW", "EventCode": 62, "Counter": "2", "Surprise": [1, {"a": null}]},
            {"Unit": "CBO", "EventName": "UNC_C_BAD", "EventCode": "x"},
            {"Unit": "IRP", "EventName": "UNC_I_X", "EventCode": "1"}],
            "Metrics": [{"MetricName": "mine", "Formula": "a * 64", "Events": [{"Name": "UNC_C_BRAND_NEW", "Alias": "a"}], "UnitOfMeasure": "B"}]}"#,
    );
    let e5_2600 = ["--machine", "e5-2600", "--events", &path];
    let with = |front: &[&'static str], back: &[&'static str]| -> Vec<String> {
        front.iter().chain(&e5_2600[..]).chain(back).map(|text| (*text).to_owned()).collect()
    };
    let run = |arguments: Vec<String>| pericore(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let listed = run(with(&["list"], &["--json", "my_own"]));
    let row: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("one JSON line");
    assert_eq!(
        (&row["config"], &row["source"], &row["description"]),
        (&"0x4235".into(), &"good.json".into(), &"Mine.".into())
    );
    let said = stderr(&listed);
    assert!(said.contains("good.json:4: UNC_C_BAD left out: EventCode is \"x\""), "{said}");
    assert!(said.contains("good.json:5: 1 row left out from here on: the family has no unit \"IRP\""), "{said}");
    let explained = run(with(&["explain"], &["UNC_C_BRAND_NEW"]));
    assert!(stdout(&explained).contains("code 0x3e; control register 0x3e"));
    let encoded = run(with(&["encode"], &["--json", "cbo/BRAND_NEW,thresh=1/"]));
    let row: serde_json::Value = serde_json::from_slice(&encoded.stdout).expect("one JSON line");
    assert_eq!((&row["control"], &row["counters"]), (&"0x100003e".into(), &serde_json::json!([2])));
    let metrics = run(with(&["list"], &["--metrics", "mine"]));
    assert!(stdout(&metrics).contains("= cbo/BRAND_NEW * 64"));
}

/// Intel's files have a mask's extension apart, Linux' have it in front of the mask: bits 63:32 and 15:8 of the control either way.
#[test]
fn both_ways_to_write_a_long_mask_are_read() {
    let folder = tempdir().expect("a folder");
    let path = file(
        &folder,
        "masks.json",
        r#"{"Events": [
            {"Unit": "CHA", "EventName": "UNC_CHA_APART", "EventCode": "0x35", "UMask": "0x01", "UMaskExt": "0x00C817FE"},
            {"Unit": "CHA", "EventName": "UNC_CHA_TOGETHER", "EventCode": "0x35", "UMask": "0xC817FE01"}]}"#,
    );
    for name in ["APART", "TOGETHER"] {
        let row = &rows(&["list", "--machine", "emerald-rapids", "--events", &path, "--json", name])[0];
        assert_eq!(row["config"], "0xc817fe00000135", "{name}");
    }
}

#[test]
fn event_files_that_are_none_are_refused() {
    let folder = tempdir().expect("a folder");
    let e5_2600 = |path: &str, words: &[&str]| refused(&["list", "--machine", "e5-2600", "--events", path], 255, words);
    e5_2600(
        &file(&folder, "damaged.json", "{\"Events\": [\n{\"Unit\":"),
        &["damaged.json", "line 2", "fetch the file again"],
    );
    e5_2600(&file(&folder, "other.json", "{\"a\": 1}"), &["neither \"Events\" nor \"Metrics\""]);
    e5_2600(&file(&folder, "empty.json", "[]"), &["nothing in it is for e5-2600"]);
    e5_2600("/dev/zero", &["cannot read /dev/zero", "a device"]);
    e5_2600("/nowhere.json", &["/nowhere.json", "No such file"]);
    e5_2600(&file(&folder, "bytes.json", b"[\n\xff]"), &["line 2", "not UTF-8 text"]);
    refused(&["list", "--events", "x.json"], 129, &["add --machine"]);
}

#[test]
fn colour_is_for_those_who_ask() {
    assert!(!printed(&["explain", "--machine", "e5-2600", "imc"]).contains('\x1b'));
    assert!(printed(&["explain", "--machine", "e5-2600", "--color", "always", "imc"]).contains('\x1b'));
    assert!(!printed(&["list", "--machine", "e5-2600", "--color", "never", "cas"]).contains('\x1b'));
}

/// What `stat` counts on the software machine, `list` and `explain` do not deny; an opcode that its cores never send, they do.
#[test]
fn lists_and_sheets_know_what_the_machine_counts() {
    let row = |subevent: &str| {
        let all = rows(&["list", "--machine", "emerald-rapids", "--json", &format!("TOR_INSERTS.{subevent}")]);
        all.into_iter().find(|row| row["subevent"] == *subevent).expect("it is listed")
    };
    assert_eq!(row("IA_MISS_DRD")["modelled"], true);
    assert_eq!(row("IA_MISS_DRD_PMM")["modelled"], false);
    let sheet = |name: &str| stdout(&pericore(&["explain", "--machine", "emerald-rapids", name]));
    assert!(!sheet("cha/TOR_INSERTS.IA_MISS_DRD").contains("the software machine does not count it"));
    assert!(sheet("cha/TOR_INSERTS.IA_MISS_DRD_PMM").contains("the software machine does not count it"));
}
