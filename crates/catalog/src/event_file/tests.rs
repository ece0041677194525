//! Rows good and bad. Files here are written for the test; Intel's own are read in `tests/`.

mod merged;

use super::*;
use crate::model::{Family, lasting};

fn family() -> &'static Family {
    crate::family("e5-2600").unwrap()
}

fn row(fields: &str) -> String {
    format!(
        "{{\"Events\": [\n{{\"Unit\": \"CBO\", \"EventName\": \"UNC_C_NEW.SUB\", \"EventCode\": \"0x3E\", {fields} \"X\": [[{{}}]]}}]}}"
    )
}

fn problem(fields: &str) -> Problem {
    let text = row(fields);
    let file = EventFile::parse(&text, family()).unwrap();
    assert!(file.events.is_empty(), "{fields}");
    file.problems[0].problem.clone()
}

#[test]
fn reads_a_row_and_ignores_keys_it_does_not_know() {
    let text = row(
        "\"UMask\": \"0x1f\", \"Counter\": \"0,0x1\", \"Filter\": \"CBoFilter[31:23], CBoFilter[17:10]\", \"BriefDescription\": \"a\\u001bb\",",
    );
    let file = EventFile::parse(&text, family()).unwrap();
    let event = &file.events[0];
    assert_eq!((event.line, event.unit.name, &*event.event, event.subevent.as_deref()), (2, "cbo", "NEW", Some("SUB")));
    assert_eq!((event.code, event.umask, event.config, event.counters), (0x3e, 0x1f, 0x1f3e, 0b11));
    assert_eq!(event.filters.iter().map(|field| field.name).collect::<Vec<_>>(), ["opc", "nid"]);
    assert!(file.problems.is_empty());
    let family = overlay(lasting(), family(), &file, "x.json").family;
    let subevent = family.unit("cbo").unwrap().event("new").unwrap().subevent("sub").unwrap();
    assert_eq!((subevent.description, subevent.source), ("a b", "x.json"));
}

#[test]
fn numbers_may_be_numbers_texts_or_lists() {
    for umask in ["7", "\"7\"", "\"0x7\"", "\"0x07, 0x9\"", "\"0X7\""] {
        let text = row(&format!("\"UMask\": {umask},"));
        assert_eq!(EventFile::parse(&text, family()).unwrap().events[0].umask, 7, "{umask}");
    }
}

#[test]
fn a_bare_list_of_events_will_do() {
    let text = "\u{feff}[\n\n{\"Unit\": \"imc\", \"EventName\": \"X\", \"EventCode\": 1}]";
    let file = EventFile::parse(text, family()).unwrap();
    assert_eq!((file.events[0].line, file.events[0].unit.name, file.events[0].counters), (3, "imc", 0b1111));
}

/// A name for two things would count the second where the first was meant.
#[test]
fn a_name_for_two_things_is_refused() {
    let row = |umask: u8| {
        format!("{{\"Unit\": \"iMC\", \"EventName\": \"UNC_M_NEW.SUB\", \"EventCode\": \"0x7E\", \"UMask\": {umask}}}")
    };
    let text = format!("[\n{},\n{},\n{}]", row(3), row(3), row(12));
    let file = EventFile::parse(&text, family()).unwrap();
    let kept: Vec<_> = file.events.iter().map(|event| (event.line, event.umask)).collect();
    assert_eq!(kept, [(2, 3), (3, 3)]);
    let problems: Vec<_> = file.problems.iter().map(|row| (row.line, &*row.name, row.problem.clone())).collect();
    assert_eq!(problems, [(4, "NEW.SUB", Problem::Twice(2))]);
}

#[test]
fn bad_rows_are_told_with_their_line_and_good_ones_kept() {
    let text = "{\"Events\": [\n\
        {\"Unit\": \"CBO\", \"EventName\": \"UNC_C_A\", \"EventCode\": \"0x3E\"},\n\
        17,\n\
        {\"Unit\": \"CBO\", \"EventName\": \"UNC_C_B\", \"EventCode\": {}},\n\
        {\"Unit\": \"CBO\",\n \"EventName\": \"UNC_C_C\", \"EventCode\": \"zzz\"},\n\
        {\"Unit\": \"CBO\", \"EventName\": \"UNC_C_D\", \"EventCode\": \"0x3F\"}\n]}";
    let file = EventFile::parse(text, family()).unwrap();
    assert_eq!(file.events.iter().map(|event| (&*event.event, event.line)).collect::<Vec<_>>(), [("A", 2), ("D", 7)]);
    let problems: Vec<_> = file.problems.iter().map(|problem| (problem.line, problem.name.as_str())).collect();
    assert_eq!(problems, [(3, "a row"), (4, "UNC_C_B"), (5, "UNC_C_C")]);
    assert_eq!(file.problems[2].to_string(), "line 5: UNC_C_C: EventCode is \"zzz\", which is no number");
}

#[test]
fn every_kind_of_bad_row_says_what_is_wrong() {
    assert!(matches!(problem("\"UMaskExt\": \"0x1\","), Problem::DoesNotFit { key: "UMaskExt", .. }));
    assert!(matches!(problem("\"UMask\": \"0x100\","), Problem::DoesNotFit { key: "UMaskExt", .. }));
    assert!(matches!(problem("\"PortMask\": 1,"), Problem::DoesNotFit { key: "PortMask", .. }));
    assert!(matches!(problem("\"Counter\": \"4\","), Problem::NoCounter { .. }));
    assert!(matches!(problem("\"Counter\": \"0,,1\","), Problem::NoCounter { .. }));
    assert!(matches!(problem("\"Counter\": \"FIXED\","), Problem::NotProgrammable));
    assert!(matches!(problem("\"CounterType\": \"FREERUN\","), Problem::NotProgrammable));
    assert!(matches!(problem("\"UMask\": -1,"), Problem::Unreadable(_)));
    assert!(matches!(problem("\"UMask\": 1, \"UMask\": 2,"), Problem::Unreadable(_)));
    let one = |row: &str| {
        let text = format!("[{row}]");
        EventFile::parse(&text, family()).unwrap().problems[0].problem.clone()
    };
    assert_eq!(one("{\"EventName\": \"A\"}"), Problem::CoreEvent);
    assert_eq!(one("{\"Unit\": \"CBO\"}"), Problem::Missing("EventName"));
    assert_eq!(one("{\"Unit\": \"CBO\", \"EventName\": \"A\"}"), Problem::Missing("EventCode"));
    assert_eq!(one("{\"Unit\": \"IRPX\", \"EventName\": \"A\"}"), Problem::UnknownUnit("IRPX".to_owned()));
    assert_eq!(one("{\"Unit\": \"CBO\", \"EventName\": \"A,B\", \"EventCode\": 1}"), Problem::BadName);
    assert_eq!(one("{\"Unit\": \"CBO\", \"EventName\": \"UNC_C_\", \"EventCode\": 1}"), Problem::BadName);
    assert!(matches!(
        one("{\"Unit\": \"CBO\", \"EventName\": \"A\", \"EventCode\": 4096}"),
        Problem::DoesNotFit { .. }
    ));
}

#[test]
fn damaged_files_say_where() {
    let damaged = |text: &str| EventFile::parse(text, family()).map(|_| ()).unwrap_err();
    assert!(matches!(damaged("{\"Events\": [\n {\"a\": 1,"), FileError::Damaged { line: 2, .. }));
    assert!(matches!(damaged(""), FileError::Damaged { line: 1, .. }));
    assert!(matches!(damaged("{\"Events\": 5}"), FileError::Damaged { .. }));
    assert!(matches!(damaged("\"Events\""), FileError::Damaged { .. }));
    assert!(matches!(damaged("{\"Events\": [], \"Events\": []}"), FileError::Damaged { .. }));
    assert!(matches!(damaged("[] []"), FileError::Damaged { .. }));
    assert_eq!(damaged("{\"Header\": {}}"), FileError::NotEvents);
}

#[test]
fn hostile_files_end_in_an_error_and_not_in_a_crash() {
    let deep = format!("{{\"Events\": [{}", "[".repeat(3_000_000));
    assert!(matches!(EventFile::parse(&deep, family()), Err(FileError::Damaged { .. })));
    let nested = format!("[{{\"Unit\": {}{}}}]", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert!(matches!(EventFile::parse(&nested, family()).unwrap().problems[0].problem, Problem::Unreadable(_)));
    let unknown = format!("[{{\"Zz\": {}{}}}]", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(EventFile::parse(&unknown, family()).unwrap().problems[0].problem, Problem::Missing("EventName"));
    let many = format!("[{}1]", "1,".repeat(MAX_ROWS));
    assert!(EventFile::parse(&many, family()).unwrap_err().to_string().contains("rows"));
    let huge = " ".repeat(MAX_BYTES + 1);
    assert_eq!(EventFile::parse(&huge, family()).map(|_| ()).unwrap_err(), FileError::TooLarge);
}

#[test]
fn an_overlay_adds_keeps_replaces_and_refuses() {
    let known = family().unit("cbo").unwrap().events.iter().find(|event| event.subevents.len() > 1).unwrap();
    let (first, second) = (&known.subevents[0], &known.subevents[1]);
    let umask = |subevent: &crate::Subevent| subevent.umask.unwrap();
    let counters: Vec<String> = (0..4).filter(|n| first.counters >> n & 1 == 1).map(|n| n.to_string()).collect();
    let name = format!("UNC_C_{}", known.name);
    let row = |sub: &str, code: u16, umask: u8| {
        let counters = counters.join(",");
        format!(
            "{{\"Unit\":\"CBO\",\"EventName\":\"{name}{sub}\",\"EventCode\":{code},\"UMask\":{umask},\"Counter\":\"{counters}\"}}"
        )
    };
    let rows = [
        row(&format!(".{}", first.name), known.code, umask(first)),
        row(&format!(".{}", second.name.to_lowercase()), known.code, 0xff),
        row(".BRAND_NEW", known.code, 0xfe),
        row(".OTHER_CODE", known.code ^ 1, 1),
        row("", known.code, 0xfd),
    ];
    let text = format!("[{}]", rows.join(",\n"));
    let file = EventFile::parse(&text, family()).unwrap();
    let merged = overlay(lasting(), family(), &file, "x.json");
    assert_eq!((merged.added, merged.same, merged.replaced.len()), (1, 1, 1));
    assert_eq!((merged.replaced[0].line, merged.replaced[0].built_in.0 & 0xffff), (2, second.config & 0xffff));
    let kinds: Vec<_> = merged.problems.iter().map(|problem| (problem.line, &problem.problem)).collect();
    assert!(
        matches!(kinds[..], [(4, Problem::OtherCode { .. }), (5, Problem::BesideSubevents { umask: 0xfd, .. })]),
        "{kinds:?}"
    );
    let event = merged.family.unit("cbo").unwrap().event(known.name).unwrap();
    assert_eq!(event.subevents.len(), known.subevents.len() + 1);
    assert_eq!(event.subevent(second.name).unwrap().umask, Some(0xff));
    // The unit's place in the family is how others refer to it.
    assert_eq!(merged.family.unit_index("cbo"), family().unit_index("cbo"));
}

#[test]
fn metrics_have_names_in_place_of_letters() {
    let text = r#"{"Metrics": [{"MetricName": "bw", "Formula": "(a*64/b)/aa", "UnitOfMeasure": "MB/sec", "BriefDescription": "d",
        "Events": [{"Name": "UNC_M_CAS_COUNT.RD", "Alias": "a"}], "Constants": [{"Name": "TIME", "Alias": "b"}]},
        {"Formula": "1"}, {"MetricName": "m"}]}"#;
    let file = EventFile::parse(text, family()).unwrap();
    assert_eq!(file.metrics[0].formula, "(UNC_M_CAS_COUNT.RD*64/TIME)/aa");
    assert!(file.metrics[0].is_uncore());
    assert_eq!(file.problems.len(), 2);
    assert_eq!(file.problems[0].line, 3);
}

/// A metric in Intel's form: name, formula, unit of measure, events and constants as `name=letter`.
fn metric(formula: &str, measure: &str, events: &[&str], constants: &[&str]) -> String {
    let letters = |names: &[&str]| {
        let one = |pair: &&str| {
            let (name, letter) = pair.split_once('=').unwrap();
            format!("{{\"Name\": \"{name}\", \"Alias\": \"{letter}\"}}")
        };
        names.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    format!(
        "{{\"Metrics\": [{{\"MetricName\": \"my_metric\", \"Formula\": \"{formula}\", \"UnitOfMeasure\": \"{measure}\", \
         \"Events\": [{}], \"Constants\": [{}]}}]}}",
        letters(events),
        letters(constants)
    )
}

/// The formula as it comes out for Emerald Rapids, or what is wrong with it.
fn converted(text: &str) -> Result<String, Problem> {
    let family = crate::family("emerald-rapids").unwrap();
    let file = EventFile::parse(text, family).unwrap();
    assert!(file.problems.is_empty(), "{:?}", file.problems);
    file.metrics[0]
        .convert(family)
        .map(|metric| format!("{}: {} [{}]", metric.unit.name, metric.expression, metric.unit_of_measure))
}

#[test]
fn formulas_come_out_in_our_language_and_scale() {
    let reads = ["UNC_M_CAS_COUNT.RD=a"];
    assert_eq!(
        converted(&metric("(a*64/1000000)/DURATIONTIMEINSECONDS", "MB/sec", &reads, &[])).unwrap(),
        "imc: imc/CAS_COUNT.RD * 64 / 1000000 / seconds * 1000000 [B/s]"
    );
    let latency = ["UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD=a", "UNC_CHA_TOR_INSERTS.IA_MISS_DRD=b", "UNC_CHA_CLOCKTICKS=c"];
    let sizes = ["CHAS_PER_SOCKET=d", "SOCKET_COUNT=socket_count"];
    assert_eq!(
        converted(&metric("(1000000000*(a/b)/(c/(d*socket_count)))*DURATIONTIMEINSECONDS", "ns", &latency, &sizes))
            .unwrap(),
        "cha: 1000000000 * (cha/TOR_OCCUPANCY.IA_MISS_DRD / cha/TOR_INSERTS.IA_MISS_DRD) / \
         (cha/CLOCKTICKS / (instances / sockets * sockets)) * seconds [ns]"
    );
    let busy = ["UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD=a", "UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD:c1=b"];
    assert_eq!(
        converted(&metric("a / b", "", &busy, &[])).unwrap(),
        "cha: cha/TOR_OCCUPANCY.IA_MISS_DRD / cha/TOR_OCCUPANCY.IA_MISS_DRD{thresh=1} [ratio]"
    );
    assert_eq!(
        converted(&metric("100 * a", "percent", &["UNC_CHA_CLOCKTICKS:one_unit=a"], &[])).unwrap(),
        "cha: 100 * (cha/CLOCKTICKS / instances) / 100 [%]"
    );
    assert_eq!(
        converted(&metric(
            "a/t*(m/1000)+k",
            "",
            &reads,
            &["SYSTEM_TSC_FREQ=t", "DURATIONTIMEINMILLISECONDS=m", "20=k"]
        ))
        .unwrap(),
        "imc: imc/CAS_COUNT.RD / (SAMPLE_INTERVAL / seconds) * (seconds * 1000 / 1000) + 20 [ratio]"
    );
}

#[test]
fn formulas_that_cannot_be_evaluated_say_why() {
    let problem = |text: &str| converted(text).unwrap_err();
    let reads = ["UNC_M_CAS_COUNT.RD=a"];
    assert_eq!(
        problem(&metric("a", "", &["INST_RETIRED.ANY=a"], &[])),
        Problem::CoreMetric("INST_RETIRED.ANY".to_owned())
    );
    assert_eq!(
        problem(&metric("a", "", &["UNC_M_NEVER.SEEN=a"], &[])),
        Problem::UnknownEvent("UNC_M_NEVER.SEEN".to_owned())
    );
    assert_eq!(problem(&metric("a*b", "", &reads, &[])), Problem::UnknownConstant("b".to_owned()));
    assert_eq!(
        problem(&metric("a*h", "", &reads, &["NEVER_HEARD_OF=h"])),
        Problem::UnknownConstant("NEVER_HEARD_OF".to_owned())
    );
    // Hyper-threading is on where a core has more than one thread.
    assert!(converted(&metric("a*h", "", &reads, &["HYPERTHREADING_ON=h"])).unwrap().contains("threads_per_core > 1"));
    assert!(matches!(problem(&metric("a*", "", &reads, &[])), Problem::Formula(_)));
    assert!(matches!(problem(&metric("a if a > 1", "", &reads, &[])), Problem::Formula(_)));
    assert!(matches!(problem(&metric("a{b=1}", "", &reads, &[])), Problem::Formula(_)));
    assert!(matches!(problem(&metric(&"(".repeat(9999), "", &reads, &[])), Problem::Formula(_)));
    // perf's u0x3 is a umask.
    assert!(converted(&metric("a", "", &["UNC_M_CAS_COUNT.RD:u0x3=a"], &[])).unwrap().contains("umask=3"));
    let modified = problem(&metric("a", "", &["UNC_M_CAS_COUNT.RD:q7=a"], &[]));
    assert!(matches!(modified, Problem::UnknownModifier { .. }));
    assert_eq!(problem(&metric("1+1", "", &[], &[])), Problem::Missing("Events"));
    let elsewhere = problem(&metric("a/d", "", &reads, &["CHAS_PER_SOCKET=d"]));
    assert!(matches!(elsewhere, Problem::UnknownConstant(_)), "{elsewhere}");
}

#[test]
fn metrics_of_a_file_stand_beside_the_built_in_ones() {
    let text = r#"{"Metrics": [
        {"MetricName": "reads", "Formula": "a*64", "Events": [{"Name": "UNC_M_CAS_COUNT.RD", "Alias": "a"}]},
        {"MetricName": "mem_bw_reads", "Formula": "a*65", "Events": [{"Name": "UNC_M_CAS_COUNT.RD", "Alias": "a"}]},
        {"MetricName": "ipc", "Formula": "a", "Events": [{"Name": "INST_RETIRED.ANY", "Alias": "a"}]},
        {"MetricName": "a b", "Formula": "a", "Events": [{"Name": "UNC_M_CAS_COUNT.RD", "Alias": "a"}]}]}"#;
    let file = EventFile::parse(text, family()).unwrap();
    let merged = with_metrics(lasting(), family(), &file.metrics, "m.json");
    assert_eq!(merged.added, 2);
    let problems: Vec<_> = merged.problems.iter().map(|problem| (problem.line, &problem.problem)).collect();
    assert!(matches!(problems[..], [(4, Problem::CoreMetric(_)), (5, Problem::BadName)]), "{problems:?}");
    let (before, after) = (family().unit("imc").unwrap().metrics, merged.family.unit("imc").unwrap().metrics);
    // MEM_BW_READS is built in: the file's word is used.
    assert_eq!(after.len(), before.len() + 1);
    let named = |name: &str| after.iter().find(|metric| metric.name.eq_ignore_ascii_case(name)).unwrap();
    assert_eq!((named("reads").expression, named("reads").source), ("imc/CAS_COUNT.RD * 64", "m.json"));
    assert_eq!(named("MEM_BW_READS").expression, "imc/CAS_COUNT.RD * 65");
}
