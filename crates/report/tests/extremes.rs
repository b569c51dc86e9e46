//! Values at the ends of what a document can hold, and names of any characters: agents and files
//! send them, and no form may break.

use proptest::prelude::*;
use serde_json::{Value, json};
use vervet_report::escape::{Csv, Html, Printable, json_in_html};
use vervet_report::forms::{self, from_json};
use vervet_report::{Condition, Histogram, Packed};

use crate::common::sample;

/// The largest value of the whole number under a name: small types are recognized by their unit or
/// meaning.
fn largest(name: &str) -> Value {
    match name {
        "status" => json!(u16::MAX),
        "version" => json!(1),
        "threads" | "processes" | "pipelining" => json!(u32::MAX),
        name if name.ends_with("_permille") => json!(u32::MAX),
        _ => json!(u64::MAX),
    }
}

/// Puts the largest value wherever a whole number is.
fn enlarge(value: &mut Value, name: &str) {
    match value {
        Value::Number(number) if number.is_u64() => *value = largest(name),
        Value::Array(values) => values.iter_mut().for_each(|value| enlarge(value, name)),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| enlarge(value, name)),
        _ => {}
    }
}

#[test]
fn the_largest_numbers_have_every_form() {
    let mut document: Value = serde_json::from_str(&forms::json(&sample())).unwrap();
    enlarge(&mut document, "");
    let run = from_json(&document.to_string()).unwrap();
    assert_eq!(run.achieved.done, u64::MAX);
    let page = forms::html(&run);
    assert!(!page.contains("NaN") && !page.contains(">inf"));
    assert!(forms::text(&run).contains("18,446,744,073,709,551,615"));
    assert_eq!(forms::csv_intervals(&run).lines().count(), 11);
    let merged = run.clone().merge(&run).unwrap();
    assert_eq!(merged.achieved.done, u64::MAX, "sums stop at the largest");
    for text in ["p99>1ms", "rate>1", "errors>1%", "throughput>1"] {
        let outcome = text.parse::<Condition>().unwrap().evaluate(&merged);
        assert!(outcome.measured_value.is_none_or(f64::is_finite), "{text}");
    }
}

#[test]
fn counts_that_overflow_their_sum_stop_at_the_largest() {
    let mut packed = Packed::default();
    for time_ns in [3, 1_000_000, 9_000_000_000] {
        let mut times = Histogram::new();
        times.record_many_ns(time_ns, u64::MAX);
        packed.merge(&times.pack());
        packed.merge(&times.pack());
    }
    let read = Packed::from_bytes(&packed.to_bytes()).unwrap();
    let mut times = Histogram::unpack(&read);
    let other = times.clone();
    times.merge(&other);
    assert_eq!((packed.count(), times.count()), (u64::MAX, u64::MAX));
    assert!(
        times.quantile_ns(0.5) >= 3 && times.mean_ns().is_finite() && times.sd_ns().is_finite()
    );
    assert!(forms::hgrm(&times).lines().count() > 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_text_steers(text in any::<String>()) {
        let (printable, html) = (Printable(&text).to_string(), Html(&text).to_string());
        prop_assert!(!printable.chars().chain(html.chars()).any(char::is_control));
        prop_assert!(!html.contains(['<', '>', '"', '\'']));
    }

    #[test]
    fn a_field_of_csv_is_one_field(text in "[=+@,;\"'\\-\t\r\na-c ]{0,8}") {
        let field = Csv(&text).to_string();
        let inner = field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let computed = inner.unwrap_or(&field);
        prop_assert!(!computed.starts_with(['=', '+', '-', '@', '\t', '\r']), "{field}");
        match inner {
            Some(inner) => prop_assert!(!inner.replace("\"\"", "").contains('"'), "{field}"),
            None => prop_assert!(!field.contains([',', '"', '\r', '\n']), "{field}"),
        }
    }

    #[test]
    fn json_in_a_page_stays_the_same_value(text in any::<String>()) {
        let written = json_in_html(&json!([text]).to_string());
        prop_assert!(!written.contains(['<', '>', '&']));
        prop_assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), json!([text]));
    }

    #[test]
    fn no_text_breaks_the_reader_of_conditions(text in "\\PC{0,20}") {
        if let Err(error) = text.parse::<Condition>() {
            prop_assert!(error.column <= text.chars().count() + 1, "{error}");
        }
    }

    #[test]
    fn nearly_conditions_do_not_break_it_either(text in "(p[0-9.]{0,6}|errors\\.?[a-z]{0,4}|rate|µ) ?[<>=]{0,2} ?[0-9.]{0,4}[a-zµ%/]{0,3}") {
        if let Err(error) = text.parse::<Condition>() {
            prop_assert!(error.column <= text.chars().count() + 1, "{error}");
        }
    }
}
