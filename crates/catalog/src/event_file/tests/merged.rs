//! Rows and metrics of a file beside what the family has. Codes are those of the E5-2600's guide.

use super::*;

/// ACT_COUNT (0x01, Table 2-65) has no subevents and counts on all four counters.
#[test]
fn a_row_without_subevent_is_the_same_another_or_new() {
    let row = |name: &str, code: &str, umask: &str, counters: &str| {
        let select = format!(r#""EventCode":"{code}","UMask":"{umask}","Counter":"{counters}""#);
        format!(r#"{{"Unit":"iMC","EventName":"UNC_M_{name}",{select}}}"#)
    };
    let merged = |rows: &[String]| {
        let text = format!("[{}]", rows.join(","));
        overlay(lasting(), family(), &EventFile::parse(&text, family()).unwrap(), "x.json")
    };
    let outcome = |rows: &[String]| {
        let merged = merged(rows);
        (merged.added, merged.same, merged.replaced.len(), merged.problems.len())
    };
    assert_eq!(outcome(&[row("ACT_COUNT", "0x01", "0x0", "0,1,2,3")]), (0, 1, 0, 0));
    assert_eq!(outcome(&[row("ACT_COUNT", "0x01", "0x0", "0,1")]), (0, 0, 1, 0), "other counters");
    assert_eq!(outcome(&[row("ACT_COUNT", "0x3d", "0x0", "0,1,2,3")]), (0, 0, 1, 0), "another code");
    // CAS_COUNT.RD by its event's name alone: 0x04 with 0x03 is known, with 0x55 it is ambiguous.
    assert_eq!(outcome(&[row("CAS_COUNT", "0x04", "0x3", "0,1,2,3")]), (0, 1, 0, 0));
    assert_eq!(outcome(&[row("CAS_COUNT", "0x04", "0x55", "0,1,2,3")]), (0, 0, 0, 1));
    let renamed =
        merged(&[row("act_count", "0x3d", "0x0", "0")]).family.unit("imc").unwrap().event("ACT_COUNT").unwrap();
    assert_eq!((renamed.name, renamed.config, renamed.counters), ("ACT_COUNT", 0x3d, 0b0001));
    let rows =
        [row("FIRST", "0x3e", "0x5", "0"), row("SECOND.HALF", "0x3e", "0x6", "2"), row("SECOND", "0x3e", "0x7", "1")];
    assert_eq!(outcome(&rows[..2]), (2, 0, 0, 0));
    let family = merged(&rows[..2]).family;
    let event = |name: &str| family.unit("imc").unwrap().event(name).unwrap();
    assert_eq!((event("FIRST").config, event("FIRST").counters), (0x053e, 0b0001));
    let (second, half) = (event("SECOND"), event("SECOND").subevent("HALF").unwrap());
    assert_eq!((second.config, half.config, half.counters), (0x3e, 0x063e, 0b0100));
    // No event of the family has this code: nothing is known of its signal.
    assert_eq!((second.category, second.signal, second.max_increment), ("", None, None));
}

/// Another name for what the family has takes its filters: LLC_LOOKUP.NID (0x34, 0x41) needs a node,
/// TOR_INSERTS.OPCODE (0x35, 0x01) an opcode.
#[test]
fn a_new_name_for_a_known_code_needs_the_same_filters() {
    let row = |name: &str, code: u8, umask: u8| {
        format!(r#"{{"Unit":"CBO","EventName":"UNC_C_{name}","EventCode":{code},"UMask":{umask},"Counter":"0,1"}}"#)
    };
    let rows =
        [row("LLC_LOOKUP.OF_NODE", 0x34, 0x41), row("LLC_LOOKUP.READS", 0x34, 0x03), row("BY_OPCODE", 0x35, 0x01)];
    let file = EventFile::parse(&format!("[{}]", rows.join(",")), family())
        .map(|file| overlay(lasting(), family(), &file, "x.json"));
    let unit = file.unwrap().family.unit("cbo").unwrap();
    let required = |filters: &[crate::model::FilterUse]| {
        let required = filters.iter().filter(|used| used.need == crate::model::FilterNeed::Required);
        required.map(|used| used.field).collect::<Vec<_>>()
    };
    let lookup = unit.event("LLC_LOOKUP").unwrap();
    assert_eq!(required(lookup.subevent("OF_NODE").unwrap().filters), ["nid"]);
    assert_eq!(required(lookup.subevent("READS").unwrap().filters), [""; 0]);
    let known = unit.event("TOR_INSERTS").unwrap();
    let renamed = unit.event("BY_OPCODE").unwrap();
    assert_eq!((renamed.config, renamed.signal, renamed.category), (0x0135, known.signal, known.category));
}

/// A code of nine bits is not one of eight: 0x102 of QPI is its event 0x02 with the extension set, and no other.
#[test]
fn the_extension_is_a_part_of_the_code() {
    let row = r#"[{"Unit":"QPI LL","EventName":"UNC_Q_MINE","EventCode":"0x3e","ExtSel":"1","UMask":"0x1"}]"#;
    let file = EventFile::parse(row, family()).unwrap();
    assert!(file.problems.is_empty(), "{:?}", file.problems);
    let merged = overlay(lasting(), family(), &file, "x.json");
    let mine = merged.family.unit("qpi").unwrap().event("MINE").unwrap();
    assert_eq!((mine.config, mine.signal, mine.category, mine.filters.len()), (1 << 21 | 0x013e, None, "", 0));
}

#[test]
fn empty_texts_and_numbers_are_left_out() {
    for text in ["na", "null", "", " "] {
        assert_eq!(EventFile::parse(&row(&format!("\"UMask\": \"{text}\",")), family()).unwrap().events[0].umask, 0);
    }
    for (brief, public, shown) in [("tbd", "b", "b"), ("", "b", "b"), ("a", "b", "a")] {
        let text = row(&format!("\"BriefDescription\": \"{brief}\", \"PublicDescription\": \"{public}\","));
        assert_eq!(EventFile::parse(&text, family()).unwrap().events[0].description, shown);
    }
    // Bits 63:32 of a control of Emerald Rapids.
    let wide = |extension: &str| {
        let family = crate::family("emerald-rapids").unwrap();
        let select = format!(r#""EventCode":"0x35","UMask":"0x1","UMaskExt":"{extension}""#);
        let text = format!(r#"[{{"Unit":"CHA","EventName":"UNC_CHA_TOR_INSERTS.X",{select}}}]"#);
        let file = EventFile::parse(&text, family).unwrap();
        (file.events.first().map(|event| event.config), file.problems.len())
    };
    assert_eq!(wide("0x00c001fe"), (Some(0x00c0_01fe_0000_0135), 0));
    assert_eq!(wide("0x1000001fe"), (None, 1));
    let damaged = EventFile::parse("{\"Events\": 5}", family()).map(|_| ()).unwrap_err().to_string();
    assert!(damaged.contains("expected a list of rows"), "{damaged}");
    let Problem::Unreadable(why) = problem("\"UMask\": {},") else { panic!("it is no number") };
    assert!(why.contains("expected a text or a number"), "{why}");
}

/// Only metrics whose events are all the uncore's can be counted here; constants are numbers, finite and not below 0.
#[test]
fn metrics_of_cores_and_strange_constants_are_refused() {
    let uncore = |events: &[&str]| {
        let text = metric("a+b", "", events, &[]);
        EventFile::parse(&text, family()).unwrap().metrics[0].is_uncore()
    };
    assert!(uncore(&["UNC_M_ACT_COUNT=a", "UNC_C_CLOCKTICKS=b"]));
    assert!(!uncore(&[]) && !uncore(&["UNC_M_ACT_COUNT=a", "INST_RETIRED.ANY=b"]));
    let reads = ["UNC_M_CAS_COUNT.RD=a"];
    for constant in ["-5", "inf", "nan"] {
        let problem = converted(&metric("a*k", "", &reads, &[&format!("{constant}=k")])).unwrap_err();
        assert_eq!(problem, Problem::UnknownConstant(constant.to_owned()));
    }
    assert_eq!(
        converted(&metric("a", "", &["UNC_CHA_CLOCKTICKS:c2:e1:i1=a"], &[])).unwrap(),
        "cha: cha/CLOCKTICKS{thresh=2,edge_det=1,invert=1} [ratio]"
    );
    let sum = |terms: usize| converted(&metric(&vec!["a"; terms].join("+"), "", &reads, &[]));
    assert!(sum(100).is_ok());
    assert!(matches!(sum(5000), Err(Problem::Formula(_))));
}
