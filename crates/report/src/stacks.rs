//! I/O stacks with the PCI devices behind them: `-M pcie`.

use std::io::{self, Write};

use pericore_observe::kernel::{IoStack, PciDevice};
use serde::Serialize;

use crate::{Report, Row, figures};

/// Columns in front of a number's end, as in the table above.
const VALUE: usize = 18;

/// The stacks of one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitStacks {
    /// The unit, whose instances the stacks are.
    pub unit: String,
    /// The stacks; none if the kernel does not tell which bus belongs to which.
    pub stacks: Vec<IoStack>,
    /// All devices, for where the kernel does not tell.
    pub devices: Vec<PciDevice>,
}

impl UnitStacks {
    fn instance(&self, stack: &IoStack) -> String {
        format!("{}{}", self.unit, stack.instance)
    }

    /// The rows of a stack in a report by instances.
    fn rows<'r>(&self, report: &'r Report, stack: &IoStack) -> Vec<&'r Row> {
        let name = self.instance(stack);
        let is_here = |row: &&Row| {
            let place = row.place.as_ref();
            place.is_some_and(|place| place.socket == stack.socket && place.instance.as_deref() == Some(&name))
        };
        report.rows.iter().filter(is_here).collect()
    }

    /// For people: each stack that has devices or traffic, its numbers, and its devices.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn print(&self, out: &mut impl Write, report: &Report) -> io::Result<()> {
        if self.stacks.is_empty() {
            writeln!(out, " PCI devices by root bus; this kernel does not tell which {} counts a bus:", self.unit)?;
            let mut last = "";
            for device in &self.devices {
                if device.root != last {
                    writeln!(out, "   {}", device.root)?;
                    last = &device.root;
                }
                writeln!(out, "     {}", described(device))?;
            }
            return writeln!(out);
        }
        for stack in &self.stacks {
            let rows = self.rows(report, stack);
            let is_idle = rows.iter().all(|row| row.value.number() == Some(0.0));
            if stack.devices.is_empty() && is_idle {
                continue;
            }
            writeln!(out, " S{} {}, bus {}", stack.socket, self.instance(stack), stack.bus)?;
            for row in rows {
                writeln!(out, "{:>VALUE$}  {}", figures::value(row), row.title())?;
            }
            for device in &stack.devices {
                writeln!(out, "   {}", described(device))?;
            }
        }
        writeln!(out)
    }

    /// For programs: a line for each stack.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn json(&self, out: &mut impl Write, report: &Report) -> io::Result<()> {
        for stack in &self.stacks {
            let metrics = self.rows(report, stack).into_iter().map(JsonMetric::of).collect();
            let line = JsonStack {
                interval: report.interval_end,
                stack: self.instance(stack),
                socket: format!("S{}", stack.socket),
                bus: &stack.bus,
                devices: stack.devices.iter().map(JsonDevice::of).collect(),
                metrics,
            };
            serde_json::to_writer(&mut *out, &line)?;
            writeln!(out)?;
        }
        Ok(())
    }
}

/// `0000:18:00.0 nvme0 (144d:a80a, NUMA node 0)`.
fn described(device: &PciDevice) -> String {
    let name = device.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
    let node = device.node.map_or_else(String::new, |node| format!(", NUMA node {node}"));
    format!("{}{name} ({}{node})", device.address, device.ids)
}

#[derive(Serialize)]
struct JsonStack<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<f64>,
    stack: String,
    socket: String,
    bus: &'a str,
    devices: Vec<JsonDevice<'a>>,
    metrics: Vec<JsonMetric<'a>>,
}

#[derive(Serialize)]
struct JsonDevice<'a> {
    address: &'a str,
    name: Option<&'a str>,
    ids: &'a str,
    #[serde(rename = "numa-node")]
    node: Option<u16>,
}

impl<'a> JsonDevice<'a> {
    fn of(device: &'a PciDevice) -> Self {
        Self { address: &device.address, name: device.name.as_deref(), ids: &device.ids, node: device.node }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct JsonMetric<'a> {
    event: &'a str,
    metric_value: Option<f64>,
    metric_unit: Option<&'static str>,
    validity: &'static str,
}

impl<'a> JsonMetric<'a> {
    fn of(row: &'a Row) -> Self {
        let in_symbol = |number| row.unit_of_measure.map_or(number, |unit| unit.in_symbol(number));
        Self {
            event: &row.name,
            metric_value: row.value.number().map(in_symbol),
            metric_unit: row.unit_of_measure.map(|unit| unit.symbol()),
            validity: row.value.validity().grade().name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use pericore_metrics::{UnitOfMeasure, Value};

    use super::*;
    use crate::Place;

    fn device(address: &str, name: Option<&str>, node: Option<u16>) -> PciDevice {
        let (address, ids) = (address.to_owned(), "144d:a80a".to_owned());
        PciDevice { address, name: name.map(str::to_owned), ids, node, root: "0000:17".to_owned() }
    }

    fn row(socket: u16, instance: &str, bytes: f64) -> Row {
        Row {
            place: Some(Place { socket, instance: Some(instance.to_owned()), instances: 1 }),
            unit_of_measure: Some(UnitOfMeasure::BytesPerSecond),
            ..Row::named("pcie_read_bandwidth", Value::measured(bytes))
        }
    }

    fn report() -> Report {
        Report::of(vec![row(0, "iio0", 0.0), row(0, "iio1", 1.5e9), row(1, "iio1", 0.0)])
    }

    fn stacks() -> UnitStacks {
        let stack = |socket, instance, bus: &str, devices| IoStack { socket, instance, bus: bus.to_owned(), devices };
        let disk = device("0000:18:00.0", Some("nvme0"), Some(0));
        let stacks = vec![
            stack(0, 0, "0000:00", Vec::new()),
            stack(0, 1, "0000:17", vec![disk]),
            stack(1, 1, "0000:97", vec![device("0000:98:00.0", None, None)]),
        ];
        UnitStacks { unit: "iio".to_owned(), stacks, devices: Vec::new() }
    }

    /// A stack without devices and traffic is left out.
    #[test]
    fn numbers_stand_above_the_devices_that_they_are_of() {
        let mut text = Vec::new();
        stacks().print(&mut text, &report()).unwrap();
        let expected = " S0 iio1, bus 0000:17
        1.500 GB/s  pcie_read_bandwidth
   0000:18:00.0 nvme0 (144d:a80a, NUMA node 0)
 S1 iio1, bus 0000:97
         0.000 B/s  pcie_read_bandwidth
   0000:98:00.0 (144d:a80a)

";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn programs_get_a_line_for_each_stack() {
        let mut text = Vec::new();
        stacks().json(&mut text, &report()).unwrap();
        let lines: Vec<serde_json::Value> =
            String::from_utf8(text).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3);
        let expected = serde_json::json!({
            "stack": "iio1", "socket": "S0", "bus": "0000:17",
            "devices": [{"address": "0000:18:00.0", "name": "nvme0", "ids": "144d:a80a", "numa-node": 0}],
            "metrics": [{
                "event": "pcie_read_bandwidth", "metric-value": 1.5e9, "metric-unit": "B/s", "validity": "measured",
            }],
        });
        assert_eq!(lines[1], expected);
        assert_eq!(lines[2]["devices"][0]["numa-node"], serde_json::Value::Null);
    }

    #[test]
    fn without_mapping_files_devices_are_listed_by_their_buses() {
        let devices = vec![device("0000:18:00.0", Some("nvme0"), Some(0)), device("0000:19:00.0", None, Some(0))];
        let unknown = UnitStacks { unit: "iio".to_owned(), stacks: Vec::new(), devices };
        let mut text = Vec::new();
        unknown.print(&mut text, &report()).unwrap();
        let expected = " PCI devices by root bus; this kernel does not tell which iio counts a bus:
   0000:17
     0000:18:00.0 nvme0 (144d:a80a, NUMA node 0)
     0000:19:00.0 (144d:a80a, NUMA node 0)

";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
