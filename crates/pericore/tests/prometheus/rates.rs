//! One server: Prometheus' rates are the machine's.

use super::{BANDWIDTH, DOCUMENT, Prometheus, awaited, blocks, checked, get, queries_find_numbers, serve};

/// Both formulas of the document give lines read each second: 64 bytes of the bandwidth that the machine has all the
/// time.
#[test]
fn rates_of_prometheus_are_the_machines() {
    let (_server, target) = serve();
    let url = format!("http://{target}/metrics");
    let text = awaited("the first sample", || get(None, &[&url]));
    assert_eq!(checked(&text), "", "not even a remark on style");

    let prometheus = Prometheus::of(&format!("\"{target}\""), "250ms", "", None);
    awaited("ten samples of twenty seconds", || {
        let seen =
            prometheus.query("max_over_time(pericore_samples_total[1m]) - min_over_time(pericore_samples_total[1m])");
        seen.iter().any(|(_, samples)| *samples >= 20.0).then_some(())
    });
    let bandwidth = prometheus.query(&format!("sum by (socket) (avg_over_time({BANDWIDTH}[1m]))"));
    let [first, second] = &bandwidth[..] else { panic!("two sockets: {bandwidth:?}") };
    assert!(first.0 == "0" && second.0 == "1" && first.1 > 1e9 && second.1 > 1e9, "{bandwidth:?}");
    let in_text = blocks(DOCUMENT, "promql")
        .chain(DOCUMENT.split('`').filter(|code| code.starts_with("rate(pericore_events_total[5m]) / on")));
    let mut formulas = 0;
    for formula in in_text {
        formulas += 1;
        let reads = "pericore_events_total{event=\"imc/CAS_COUNT.RD/\"}[1m]";
        let formula = formula.replace("pericore_events_total[5m]", reads).replace("[5m]", "[1m]");
        let rates = prometheus.query(&format!("sum by (socket) ({formula})"));
        assert_eq!(rates.len(), 2, "{formula}: {rates:?}");
        for ((socket, bandwidth), (of, rate)) in bandwidth.iter().zip(&rates) {
            let error = rate * 64.0 / bandwidth - 1.0;
            // Prometheus extrapolates to the ends of its minute, on a busy host from scrapes that came late.
            assert!(socket == of && error.abs() < 0.05, "{formula}: {rate} lines/s, {bandwidth} bytes/s");
        }
    }
    assert_eq!(formulas, 2, "the document shows two formulas");
    let age = prometheus.query("time() - pericore_sample_timestamp_seconds");
    assert!(age.len() == 1 && age[0].1 > -1.0, "{age:?}");
    queries_find_numbers(&prometheus);
}
