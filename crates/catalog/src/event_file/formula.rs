//! A metric's formula in the metric language: letters replaced by events of the family and by what is known of the sample.

use pericore_metrics::{BinaryOperator, Expression, Growth, MAX_DEPTH, Reference, SettingValue, UnitOfMeasure};

use super::Problem;
use super::metric::{FileMetric, Meaning};
use super::printable;
use crate::rows::{Family, Quantity, Role, Unit};

/// What Intel's formulas call the length of the sample.
const SECONDS: &str = "DURATIONTIMEINSECONDS";

/// What they call the whole of a second filter register.
const SECOND_FILTER: &str = "filter1";

/// The unit of hardware threads.
const THREADS: &str = "cpu";

/// What they call the time stamp counter of each hardware thread.
const TIME_STAMP: &str = "TSC";

/// What they call the number of hardware threads: the second in tables of the catalogue.
const THREAD_COUNT: [&str; 2] = ["system.sockets[0].cpus.count * system.socket_count", "CPU_COUNT"];

/// A metric of a file, ready to be evaluated.
#[derive(Debug, Clone)]
pub struct Converted<'f> {
    /// The unit that it is counted with: that of its first event, or of the one whose instances matter.
    pub unit: &'f Unit<'f>,
    /// In terms of events, each with its unit, and variables.
    pub expression: Expression,
    /// What the expression gives, in our scale: bytes where the file has megabytes.
    pub unit_of_measure: UnitOfMeasure,
}

/// Intel's words for what numbers are measured in, ours, and how many of ours one of theirs is.
const UNITS_OF_MEASURE: [(&str, UnitOfMeasure, Scale); 10] = [
    ("ns", UnitOfMeasure::Nanoseconds, Scale::One),
    ("percent", UnitOfMeasure::Percent, Scale::Divide(100.0)),
    ("%", UnitOfMeasure::Percent, Scale::Divide(100.0)),
    ("per second", UnitOfMeasure::PerSecond, Scale::One),
    ("KB/sec", UnitOfMeasure::BytesPerSecond, Scale::Multiply(1e3)),
    ("MB/sec", UnitOfMeasure::BytesPerSecond, Scale::Multiply(1e6)),
    ("GB/sec", UnitOfMeasure::BytesPerSecond, Scale::Multiply(1e9)),
    ("MHz", UnitOfMeasure::Hertz, Scale::Multiply(1e6)),
    ("GHz", UnitOfMeasure::Hertz, Scale::Multiply(1e9)),
    ("Count", UnitOfMeasure::Count, Scale::One),
];

impl Converted<'_> {
    /// Whether it adds up over instances: by its unit of measure, or else by its expression.
    pub fn quantity(&self) -> Quantity {
        let grows = Growth::of(&self.expression, self.unit.name, &|_| None).is_ok_and(|growth| growth.adds_up());
        // What is measured in no unit of ours is a ratio here.
        let by_unit = self.unit_of_measure.adds_up().filter(|_| self.unit_of_measure != UnitOfMeasure::Ratio);
        if by_unit.unwrap_or(grows) { Quantity::Extensive } else { Quantity::Intensive }
    }
}

#[derive(Debug, Clone, Copy)]
enum Scale {
    One,
    Multiply(f64),
    Divide(f64),
}

impl FileMetric<'_> {
    /// The metric in the metric language, over the events of a family.
    ///
    /// # Errors
    /// [`Problem`]: a formula that does not read, or that needs what the uncore does not have.
    pub fn convert<'f>(&self, family: &'f Family<'f>) -> Result<Converted<'f>, Problem> {
        let is_word = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
        if !is_word(&self.name) {
            return Err(Problem::BadName);
        }
        // A letter glued to a stroke would read as a unit.
        let formula = Expression::parse(&self.raw_formula.replace('/', " / "))
            .map_err(|error| Problem::Formula(printable(&error.to_string())))?;
        let mut home: Option<&Unit<'f>> = None;
        let expression = formula.try_map(&mut |reference| {
            if !reference.settings.is_empty() || reference.unit.is_some() {
                return Err(Problem::Formula(format!("{} is no letter", printable(&reference.to_string()))));
            }
            let symbol = self.symbols.iter().find(|(symbol, _)| *symbol == reference.name);
            match symbol.map(|(_, meaning)| meaning) {
                Some(Meaning::Event(name)) => event(family, name, &mut home),
                Some(Meaning::Constant(name)) => constant(family, name, &mut home),
                None => constant(family, &reference.name, &mut home),
            }
        })?;
        let Some(unit) = home else { return Err(Problem::Missing("Events")) };
        // Its instances are known only where it counts.
        if !expression.references().iter().any(|reference| reference.unit.as_deref() == Some(unit.name)) {
            return Err(Problem::UnknownConstant(format!("the number of {} without counting there", unit.name)));
        }
        let theirs = UNITS_OF_MEASURE.iter().find(|(name, ..)| name.eq_ignore_ascii_case(&self.unit_of_measure));
        let ours = UnitOfMeasure::from_symbol(&self.unit_of_measure).unwrap_or(UnitOfMeasure::Ratio);
        let (unit_of_measure, scale) = theirs.map_or((ours, Scale::One), |row| (row.1, row.2));
        let expression = match scale {
            Scale::One => expression,
            Scale::Multiply(by) => binary(BinaryOperator::Multiply, expression, Expression::Number(by)),
            Scale::Divide(by) => binary(BinaryOperator::Divide, expression, Expression::Number(by)),
        };
        if expression.depth() > MAX_DEPTH {
            return Err(Problem::Formula("it nests too deep".to_owned()));
        }
        Ok(Converted { unit, expression, unit_of_measure })
    }
}

fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

fn variable(name: &str) -> Expression {
    Expression::Reference(Reference::named(name))
}

/// `UNC_CHA_TOR_INSERTS.IA_MISS_DRD:c1` as `cha/TOR_INSERTS.IA_MISS_DRD{thresh=1}`.
fn event<'f>(family: &'f Family<'f>, name: &str, home: &mut Option<&'f Unit<'f>>) -> Result<Expression, Problem> {
    let (bare, modifiers) = name.split_once(':').map_or((name, None), |(bare, rest)| (bare, Some(rest)));
    if let Some(threads) = family.unit(THREADS).filter(|_| name == TIME_STAMP) {
        *home = Some(threads);
        return Ok(binary(BinaryOperator::Multiply, variable("SAMPLE_INTERVAL"), variable("instances")));
    }
    let Some((unit, event)) = find(family, bare) else {
        let known = printable(bare);
        let is_uncore = bare.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("UNC_"));
        return Err(if is_uncore { Problem::UnknownEvent(known) } else { Problem::CoreMetric(known) });
    };
    home.get_or_insert(unit);
    let mut reference = Reference { unit: Some(unit.name.to_owned()), ..Reference::named(event) };
    let mut of_one_unit = false;
    for modifier in modifiers.into_iter().flat_map(|modifiers| modifiers.split(':')) {
        let number = |letter: char| modifier.strip_prefix(letter)?.parse::<u64>().ok();
        let setting = |key: &str, value| (key.to_owned(), SettingValue::Number(value));
        if let Some((filter, value)) = filter(modifier) {
            reference.settings.extend(filter_fields(unit, filter, value).map(|(field, value)| setting(field, value)));
            continue;
        }
        if let Some(umask) = modifier.strip_prefix("u0x").and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
            reference.settings.push(setting("umask", umask));
            continue;
        }
        match (modifier, number('c'), number('e'), number('i')) {
            ("one_unit", ..) => of_one_unit = true,
            // Which of two ways to read the slots: the fixed counter is meant.
            ("perf_metrics", ..) => {}
            ("SUP" | "sup", ..) => reference.settings.push(setting("os", 1)),
            ("USER", ..) => reference.settings.push(setting("usr", 1)),
            (_, Some(threshold), ..) => reference.settings.push(setting("thresh", threshold)),
            (_, _, Some(edge), _) => reference.settings.push(setting("edge_det", edge)),
            (_, _, _, Some(invert)) => reference.settings.push(setting("invert", invert)),
            _ => {
                let (event, modifier) = (printable(bare), printable(modifier));
                return Err(Problem::UnknownModifier { event, modifier });
            }
        }
    }
    let count = Expression::Reference(reference);
    if !of_one_unit {
        return Ok(count);
    }
    // The instances of the metric are then those of this unit.
    *home = Some(unit);
    Ok(binary(BinaryOperator::Divide, count, variable("instances")))
}

/// `opc=0x182`.
fn filter(modifier: &str) -> Option<(&str, u64)> {
    let (name, value) = modifier.split_once('=')?;
    let digits = value.strip_prefix("0x");
    Some((name, digits.map_or_else(|| value.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok())?))
}

/// The fields of a filter and their values. The second filter register is the upper half of the driver's word of
/// filters: all of its fields are set.
fn filter_fields<'f>(unit: &'f Unit<'f>, name: &'f str, value: u64) -> impl Iterator<Item = (&'f str, u64)> {
    let is_register = name == SECOND_FILTER;
    let fields = unit.with_role(Role::Filter).flat_map(|register| register.fields).filter(move |_| is_register);
    // Intel's word for the off-core response that replaces the event's own.
    let name = if name == "ocr_msr_val" { "offcore_rsp" } else { name };
    let halves =
        fields.filter(|field| field.bits.lsb >= 32).map(move |field| (field.name, field.bits.get(value << 32)));
    halves.chain((!is_register).then_some((name, value)))
}

/// The unit of an event in Intel's name, and the event's own name.
fn find<'f>(family: &'f Family<'f>, name: &str) -> Option<(&'f Unit<'f>, String)> {
    family.units.iter().find_map(|unit| {
        let prefix = unit.intel_prefix?;
        let start = name.get(..prefix.len())?;
        let rest = name.get(prefix.len()..).filter(|_| start.eq_ignore_ascii_case(prefix))?;
        let plain = unit.event(rest).map(|event| event.name.to_owned());
        let with_subevent = || {
            let (event, subevent) = rest.split_once('.')?;
            let event = unit.event(event)?;
            Some(format!("{}.{}", event.name, event.subevent(subevent)?.name))
        };
        let counter = || {
            let mut counters = unit.with_role(Role::FixedCounter).chain(unit.with_role(Role::FreeRunning));
            counters.find_map(|register| Some(register.member_event(register.member_counted_as(rest)?)))
        };
        Some((*unit, plain.or_else(with_subevent).or_else(counter)?))
    })
}

/// What is known without counting.
fn constant<'f>(family: &'f Family<'f>, name: &str, home: &mut Option<&'f Unit<'f>>) -> Result<Expression, Problem> {
    let per_socket = |unit: &&Unit| {
        let stem = name.strip_suffix("S_PER_SOCKET").unwrap_or("");
        unit.name.eq_ignore_ascii_case(stem) || unit.intel_unit.is_some_and(|intel| intel.eq_ignore_ascii_case(stem))
    };
    match name {
        SECONDS | "duration_time" => return Ok(variable("seconds")),
        "DURATIONTIMEINMILLISECONDS" => {
            return Ok(binary(BinaryOperator::Multiply, variable("seconds"), Expression::Number(1000.0)));
        }
        "SYSTEM_TSC_FREQ" => {
            return Ok(binary(BinaryOperator::Divide, variable("SAMPLE_INTERVAL"), variable("seconds")));
        }
        "SOCKET_COUNT" => return Ok(variable("sockets")),
        "THREADS_PER_CORE" => return Ok(variable("threads_per_core")),
        "HYPERTHREADING_ON" => {
            return Ok(binary(BinaryOperator::Greater, variable("threads_per_core"), Expression::Number(1.0)));
        }
        _ if THREAD_COUNT.contains(&name) && family.unit(THREADS).is_some() => {
            *home = family.unit(THREADS);
            return Ok(variable("instances"));
        }
        // A clock's sum is divided by it: by the number of those that count the clock.
        "CORES_PER_SOCKET" if home.is_some() => {
            return Ok(binary(BinaryOperator::Divide, variable("instances"), variable("sockets")));
        }
        _ => {}
    }
    if let Some(unit) = family.units.iter().copied().find(per_socket) {
        *home = Some(unit);
        return Ok(binary(BinaryOperator::Divide, variable("instances"), variable("sockets")));
    }
    match name.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(Expression::Number(number)),
        _ => Err(Problem::UnknownConstant(printable(name))),
    }
}
