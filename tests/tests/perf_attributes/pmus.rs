//! Trees like `/sys/bus/event_source/devices`, from the facts in `tests/reference/linux-uncore-pmus.txt`, and what a
//! term means there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const FACTS: &str = include_str!("../../reference/linux-uncore-pmus.txt");

/// The PMU of the cores: each CPU counts for itself, so that it has no mask of CPUs.
const CORES: &str = "cpu";

/// Files of a folder: names and texts.
type Texts = Vec<(&'static str, &'static str)>;

/// The three words of `perf_event_attr` that select an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Words {
    pub config: u64,
    pub config1: u64,
    pub config2: u64,
}

/// A family's PMUs.
#[derive(Debug, Default)]
pub struct FamilyPmus {
    /// By Intel's code.
    pub code: &'static str,
    /// The CPUID by which perf finds its table of events.
    pub cpuid: &'static str,
    /// Formats and events, by the PMU's name.
    pmus: BTreeMap<String, (Texts, Texts)>,
    /// How many there are, by name.
    instances: BTreeMap<String, usize>,
}

/// All families of the facts.
pub fn families() -> Vec<FamilyPmus> {
    let (mut formats, mut events) = (BTreeMap::<&str, Texts>::new(), BTreeMap::<&str, Texts>::new());
    let (mut families, mut group) = (Vec::<FamilyPmus>::new(), None);
    for line in FACTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&'static str> = line.split_whitespace().collect();
        match words[..] {
            ["formats", name] => group = Some((name, true)),
            ["events", name] => group = Some((name, false)),
            ["family", code, cpuid] => families.push(FamilyPmus { code, cpuid, ..FamilyPmus::default() }),
            ["core", format] => {
                let family = families.last_mut().expect("a family above");
                family.instances.insert(CORES.to_owned(), 1);
                family.pmus.insert(CORES.to_owned(), (formats[format].clone(), Texts::new()));
            }
            ["pmu", name, instances, format, ref event @ ..] => {
                let family = families.last_mut().expect("a family above");
                let events = event.first().map_or_else(Texts::new, |group| events[group].clone());
                let name = format!("uncore_{name}");
                family.instances.insert(name.clone(), instances.parse().expect("a number"));
                family.pmus.insert(name, (formats[format].clone(), events));
            }
            _ => match group {
                Some((name, true)) => {
                    formats.entry(name).or_default().extend(words.iter().filter_map(|word| word.split_once('=')));
                }
                Some((name, false)) => events.entry(name).or_default().push((words[0], words[1])),
                None => panic!("{line}"),
            },
        }
    }
    families
}

impl FamilyPmus {
    /// Writes the tree that perf reads below `SYSFS_PATH`, with one instance of each PMU.
    pub fn write(&self, root: &Path) {
        let file = |path: &Path, text: &str| fs::write(path, format!("{text}\n")).expect("written");
        let devices = root.join("bus/event_source/devices");
        // Lower numbers are types that perf and strace know.
        for (number, (name, (formats, events))) in (20..).zip(&self.pmus) {
            let folder = devices.join(name);
            for (below, texts) in [("format", formats), ("events", events)] {
                fs::create_dir_all(folder.join(below)).expect("a folder");
                texts.iter().for_each(|(name, text)| file(&folder.join(below).join(name), text));
            }
            file(&folder.join("type"), &number.to_string());
            if name != CORES {
                file(&folder.join("cpumask"), "0");
            }
        }
        fs::create_dir_all(root.join("devices/system/cpu")).expect("a folder");
        file(&root.join("devices/system/cpu/online"), "0");
    }

    /// Writes what `/sys` has on a machine of two sockets with a CPU each, with all instances of each PMU. Every PMU
    /// has a number of its own, which comes back with its name and instance.
    pub fn write_machine(&self, root: &Path) -> BTreeMap<u32, (String, usize)> {
        let file = |path: String, text: &str| {
            let path = root.join("sys").join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, format!("{text}\n")).expect("written");
        };
        file("devices/system/cpu/online".to_owned(), "0-1");
        for cpu in 0..2 {
            file(format!("devices/system/cpu/cpu{cpu}/topology/physical_package_id"), &cpu.to_string());
        }
        let mut kinds = BTreeMap::new();
        for (name, (formats, events)) in &self.pmus {
            for instance in 0..self.instances[name] {
                let kind = 20 + u32::try_from(kinds.len()).expect("few");
                let number = if self.instances[name] == 1 { String::new() } else { format!("_{instance}") };
                let folder = format!("bus/event_source/devices/{name}{number}");
                for (below, texts) in [("format", formats), ("events", events)] {
                    texts.iter().for_each(|(name, text)| file(format!("{folder}/{below}/{name}"), text));
                }
                file(format!("{folder}/type"), &kind.to_string());
                if name != CORES {
                    file(format!("{folder}/cpumask"), "0-1");
                }
                kinds.insert(kind, (name.clone(), instance));
            }
        }
        kinds
    }

    /// What terms mean in a PMU's formats, such as `umask=0x101` in `config:8-15,32-55`; none if a value does not fit.
    pub fn words(&self, pmu: &str, terms: &[(&str, u64)]) -> Option<Words> {
        let (formats, _) = self.pmus.get(pmu)?;
        let mut words = Words::default();
        for &(name, value) in terms {
            let (word, ranges) = formats.iter().find(|(known, _)| *known == name)?.1.split_once(':')?;
            let mut left = value;
            for range in ranges.split(',') {
                let (low, high) = range.split_once('-').unwrap_or((range, range));
                let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
                let mask = u64::MAX >> (63 - (high - low));
                *words.of(word)? |= (left & mask) << low;
                left = if high - low == 63 { 0 } else { left >> (high - low + 1) };
            }
            if left != 0 {
                return None;
            }
        }
        Some(words)
    }
}

impl Words {
    fn of(&mut self, name: &str) -> Option<&mut u64> {
        match name {
            "config" => Some(&mut self.config),
            "config1" => Some(&mut self.config1),
            "config2" => Some(&mut self.config2),
            _ => None,
        }
    }
}
