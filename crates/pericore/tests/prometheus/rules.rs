//! Rules, queries and the dashboard without a server: by Prometheus' own tool, on series by hand, and by Grafana's
//! schema.

use std::process::Command;

use super::{FLEET, RULES, blocks};

/// Series of a host with devices, and what the queries of the document make of them.
const DEVICES: &str = include_str!("devices.test.yml");

/// Rules by Prometheus' own tool: their form, and what they make of series by hand.
#[test]
fn rules_do_what_they_should() {
    for arguments in [["check", "rules", "pericore.rules.yml"], ["test", "rules", "pericore.test.yml"]] {
        let mut tool = Command::new("promtool");
        let output = tool.args(arguments).current_dir(RULES).output();
        let output = output.expect("apt-get install prometheus, or run tests/run, which fetches it");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success() && text.contains("SUCCESS"), "{arguments:?}: {text}");
    }
}

/// The queries that join numbers with devices and memory nodes, as the document has them, on series as `serve` has
/// them.
#[test]
fn devices_and_memory_nodes_join_with_numbers() {
    let folder = tempfile::tempdir().expect("a folder of ours");
    let mut filled = DEVICES.to_owned();
    for (place, mark) in [("DEVICES", "pericore_pci_device_info"), ("NODES", "pericore_numa_node_info")] {
        let [query] = blocks(FLEET, "promql").filter(|query| query.contains(mark)).collect::<Vec<_>>()[..] else {
            panic!("the document has one query with {mark}")
        };
        let query = query.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(filled.contains(place));
        filled = filled.replace(place, &query);
    }
    std::fs::write(folder.path().join("devices.test.yml"), filled).expect("a file of ours");
    let output = Command::new("promtool").args(["test", "rules", "devices.test.yml"]).current_dir(&folder).output();
    let output = output.expect("apt-get install prometheus, or run tests/run, which fetches it");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && text.contains("SUCCESS"), "{text}");
}

/// The dashboard is as Grafana's published schema has it: `tests/dashboard/check.mjs` says how.
#[test]
fn the_dashboard_is_as_grafanas_schema_has_it() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut check = Command::new("node");
    check.current_dir(root).args(["tests/dashboard/check.mjs", "deploy/grafana/pericore.json"]);
    let output = check.output().expect("node is installed: tests/run installs it");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "tests/run installs the schema and the compiler, if they are missing\n{text}");
    assert!(text.contains("panels are as Grafana's schema has them"), "{text}");
}
