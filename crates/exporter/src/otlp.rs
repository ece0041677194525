//! Families of samples as OpenTelemetry's metrics: the body of an OTLP export request in protobuf.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum, metric,
    number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message as _;

use crate::text::{Family, Kind, Labels, Number};

/// What the numbers of a request have in common.
#[derive(Debug, Clone)]
pub struct OtlpOrigin {
    /// Attributes of the resource, such as `service.name` and `host.name`.
    pub resource: BTreeMap<String, String>,
    /// The program's version.
    pub version: String,
    /// Nanoseconds since 1970 at which counting began.
    pub started: u64,
    /// The same of the sample.
    pub taken: u64,
}

/// The body of a request with all families that have samples: counters as cumulative sums, all others as gauges, by the
/// names that OpenMetrics has for the families.
pub fn export<'a>(families: impl IntoIterator<Item = &'a Family>, origin: &OtlpOrigin) -> Vec<u8> {
    let families = families.into_iter().filter(|family| !family.is_empty());
    let scope = InstrumentationScope {
        name: "pericore".to_owned(),
        version: origin.version.clone(),
        ..InstrumentationScope::default()
    };
    let metrics = families.map(|family| metric(family, origin)).collect();
    let attributes = origin.resource.iter().map(|(name, value)| attribute(name, value)).collect();
    let of_resource = ResourceMetrics {
        resource: Some(Resource { attributes, ..Resource::default() }),
        scope_metrics: vec![ScopeMetrics { scope: Some(scope), metrics, ..ScopeMetrics::default() }],
        ..ResourceMetrics::default()
    };
    ExportMetricsServiceRequest { resource_metrics: vec![of_resource] }.encode_to_vec()
}

fn metric(family: &Family, origin: &OtlpOrigin) -> Metric {
    let data_points = family.samples().map(|(labels, number)| point(labels, number, family.kind(), origin)).collect();
    let data = match family.kind() {
        Kind::Counter => metric::Data::Sum(Sum {
            data_points,
            aggregation_temporality: AggregationTemporality::Cumulative.into(),
            is_monotonic: true,
        }),
        Kind::Gauge | Kind::Info => metric::Data::Gauge(Gauge { data_points }),
    };
    let suffix = if family.kind() == Kind::Info { "_info" } else { "" };
    Metric {
        name: format!("{}{suffix}", family.name()),
        description: family.help().to_owned(),
        unit: family.unit().map_or("1", code).to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}

fn point(labels: &Labels, number: Number, kind: Kind, origin: &OtlpOrigin) -> NumberDataPoint {
    let value = match number {
        Number::Whole(number) => match i64::try_from(number) {
            Ok(number) => number_data_point::Value::AsInt(number),
            // The format has no larger integers.
            Err(_) => number_data_point::Value::AsDouble(number as f64),
        },
        Number::Real(number) => number_data_point::Value::AsDouble(number),
    };
    NumberDataPoint {
        attributes: labels.iter().map(|(name, value)| attribute(name, value)).collect(),
        start_time_unix_nano: if kind == Kind::Counter { origin.started } else { 0 },
        time_unix_nano: origin.taken,
        value: Some(value),
        ..NumberDataPoint::default()
    }
}

fn attribute(name: &str, value: &str) -> KeyValue {
    let value = AnyValue { value: Some(any_value::Value::StringValue(value.to_owned())) };
    KeyValue { key: name.to_owned(), value: Some(value), ..KeyValue::default() }
}

/// A unit as UCUM writes it.
fn code(unit: &str) -> &str {
    match unit {
        "bytes" => "By",
        "bytes_per_second" => "By/s",
        "seconds" => "s",
        "per_second" => "1/s",
        "hertz" => "Hz",
        "cycles" => "{cycle}",
        "ratio" => "1",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^63 is the first number that the format's integers do not hold.
    #[test]
    fn numbers_beyond_the_formats_integers_become_floating_point() {
        let origin = OtlpOrigin { resource: BTreeMap::new(), version: "1".to_owned(), started: 5, taken: 7 };
        let mut family = Family::new("x", Kind::Counter, Some("bytes"), "h");
        family.push(vec![("a", "b".to_owned())], Number::Whole(i64::MAX.unsigned_abs().into()));
        family.push(Vec::new(), Number::Whole(1 << 63));
        let found = metric(&family, &origin);
        assert_eq!((found.name.as_str(), found.unit.as_str()), ("x_bytes", "By"));
        let Some(metric::Data::Sum(sum)) = found.data else { panic!("a counter is a sum") };
        assert!(sum.is_monotonic && sum.aggregation_temporality == 2, "cumulative is 2 in the format");
        let values: Vec<_> = sum.data_points.iter().map(|point| point.value).collect();
        assert_eq!(values[0], Some(number_data_point::Value::AsInt(9_223_372_036_854_775_807)));
        assert_eq!(values[1], Some(number_data_point::Value::AsDouble(9_223_372_036_854_775_808.0)));
        assert!(sum.data_points.iter().all(|point| (point.start_time_unix_nano, point.time_unix_nano) == (5, 7)));
        let empty = Family::new("none", Kind::Gauge, None, "h");
        let body = export([&empty], &origin);
        let request = ExportMetricsServiceRequest::decode(&*body).expect("a request");
        assert!(
            request.resource_metrics[0].scope_metrics[0].metrics.is_empty(),
            "a family without samples is not sent"
        );
    }
}
