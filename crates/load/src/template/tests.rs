//! Tests of texts with variables, against a simple model and by hand.

use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::feed::{Cursor, Feed, Order};
use crate::share::Share;

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn render(text: &str, context: TemplateContext, rounds: usize) -> String {
    let feed = Feed::parse("f.csv", b"name,word\nann,a b\nbob,\"c\"\"d\"\n").unwrap();
    let columns = feed.columns().to_vec();
    let captures = strings(&["token"]);
    let names = Names { columns: &columns, captures: &captures };
    let template = match Template::compile(text, context, &names) {
        Ok(template) => template,
        Err(faults) => {
            let faults = faults.iter().map(|fault| format!("{}: {fault}", fault.offset));
            return faults.collect::<Vec<_>>().join(" | ");
        }
    };
    let cursor = Cursor::new(Arc::new(feed), Order::Sequential);
    let shared = Arc::new(Shared::new(Some(cursor), 7, Share::WHOLE));
    let mut values = Values::new(shared, 5, 1);
    values.capture(0).extend_from_slice(b"t&\r\n");
    let mut out = Vec::new();
    for _ in 0..rounds {
        values.begin_request();
        assert!(values.take_row());
        template.render(&mut values, &mut out);
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn reports_every_wrong_variable() {
    let check = |text: &str, expected: &str| {
        assert_eq!(render(text, TemplateContext::Content, 1), expected, "{text:?}");
    };
    let literal = "write a literal brace as {{";
    check(
        "a{sek}{sek2}",
        &format!(
            "1: unknown variable sek (did you mean \"seq\"?); {literal} | \
             6: unknown variable sek2: expected one of seq, random, uuid, user, token, name, word; {literal}"
        ),
    );
    check(
        "{colour}",
        &format!(
            "0: unknown variable colour: expected one of seq, random, uuid, user, token, name, word; {literal}"
        ),
    );
    check("{seq", &format!("0: unclosed variable; {literal}"));
    check("{return 1}", &format!("0: unknown variable {{return 1}}: {literal}"));
    let numbers = "expected two numbers, the smaller first, as in {random:1-100}";
    for range in ["", "1", "-", "5-4", "1-", "+1-2", "a-b", "1-99999999999999999999"] {
        check(&format!("{{random:{range}}}"), &format!("0: {{random:{range}}}: {numbers}"));
    }
    check(
        "{name:jsn}",
        "0: {name:jsn}: unknown form \"jsn\" (did you mean \"json\"?): expected raw, url or json",
    );
    assert_eq!(
        render("{name:json}", TemplateContext::Target, 1),
        "0: {name:json}: :json is for bodies only"
    );
}

#[test]
fn values_fit_their_place() {
    let check = |text: &str, context, expected: &str| {
        assert_eq!(render(text, context, 1), expected, "{text:?} in {context:?}");
    };
    check("/ä b/{word}?{token}", TemplateContext::Target, "/%C3%A4%20b/a%20b?t%26%0D%0A");
    check("/{token:raw}", TemplateContext::Target, "/t&%0D%0A");
    check("x {word} {token}", TemplateContext::Field, "x a b t&%0D%0A");
    check("{word:url} {token}", TemplateContext::Content, "a%20b t&\r\n");
    check("{token:json}", TemplateContext::Content, "t&\\r\\n");
    check("a&b={word}", TemplateContext::Form, "a%26b%3Da%20b");
    check("{user}", TemplateContext::Content, "5");
}

#[test]
fn braces_of_json_need_no_escape() {
    let check = |text: &str, expected: &str| {
        assert_eq!(render(text, TemplateContext::Content, 1), expected, "{text:?}");
    };
    check(r#"{"a": {"b": {seq}}, "c": {}}"#, r#"{"a": {"b": 0}, "c": {}}"#);
    check("{{seq}", "{seq}");
    check("{{{seq}", "{0");
    check("{", "{");
    check("}}", "}}");
    check("", "");
}

#[test]
fn values_of_a_request_agree_and_those_of_the_next_differ() {
    assert_eq!(render("{seq}{seq},", TemplateContext::Content, 3), "00,11,22,");
    assert_eq!(render("{name},", TemplateContext::Content, 3), "ann,bob,ann,");
    let text = render("{uuid} {uuid} ", TemplateContext::Content, 2);
    let ids: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[1], ids[2]);
    assert_eq!((ids[0].len(), &ids[0][14..15]), (36, "4"));
    assert_eq!(ids[0].matches('-').count(), 4);
}

#[test]
fn random_numbers_reach_both_ends() {
    let text = render("{random:3-5},", TemplateContext::Content, 200);
    let mut seen: Vec<&str> = text.split_terminator(',').collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, ["3", "4", "5"]);
    assert_eq!(render("{random:9-9}", TemplateContext::Content, 1), "9");
    assert_eq!(
        render("{random}", TemplateContext::Content, 1),
        render("{random}", TemplateContext::Content, 1)
    );
}

#[test]
fn numbers_have_no_gap_over_threads() {
    const EACH: usize = 1000;
    let shared = Arc::new(Shared::new(None, 0, Share::WHOLE));
    let template =
        Template::compile("{seq} ", TemplateContext::Content, &Names::default()).unwrap();
    let user = |number| {
        let (shared, template) = (Arc::clone(&shared), template.clone());
        std::thread::spawn(move || {
            let mut values = Values::new(shared, number, 0);
            let mut out = Vec::new();
            for _ in 0..EACH {
                values.begin_request();
                template.render(&mut values, &mut out);
            }
            String::from_utf8(out).unwrap()
        })
    };
    let threads = [user(0), user(1), user(2)];
    let text: String = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let mut numbers: Vec<usize> = text.split_whitespace().map(|n| n.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..3 * EACH).collect::<Vec<_>>());
}

#[test]
fn filling_in_asks_for_no_memory() {
    let feed = Feed::parse("f.csv", b"name\nann\nbobby\n").unwrap();
    let columns = feed.columns().to_vec();
    let names = Names { columns: &columns, captures: &[] };
    let text = "/{seq}/{random:1-100}/{uuid}/{user}/{name}";
    let template = Template::compile(text, TemplateContext::Target, &names).unwrap();
    let cursor = Cursor::new(Arc::new(feed), Order::Random);
    let mut values = Values::new(Arc::new(Shared::new(Some(cursor), 1, Share::WHOLE)), 3, 0);
    let mut out = Vec::with_capacity(1000);
    let info = allocation_counter::measure(|| {
        for _ in 0..1000 {
            out.clear();
            values.begin_request();
            values.take_row();
            template.render(&mut values, &mut out);
        }
    });
    assert_eq!(info.count_total, 0);
}

/// A piece of a template, with what it comes to.
#[derive(Clone, Debug)]
enum Model {
    Plain(String),
    Brace,
    Sequence,
    Random(u64),
    Column(usize),
}

fn model() -> impl Strategy<Value = Model> {
    prop_oneof![
        "[^{]*".prop_map(Model::Plain),
        Just(Model::Brace),
        Just(Model::Sequence),
        any::<u64>().prop_map(Model::Random),
        (0..2_usize).prop_map(Model::Column),
    ]
}

proptest! {
    #[test]
    fn filling_in_is_replacing(pieces in prop::collection::vec(model(), 0..12)) {
        let mut text = String::new();
        let mut expected = String::new();
        for piece in &pieces {
            match piece {
                Model::Plain(plain) => { text += plain; expected += plain; }
                Model::Brace => { text += "{{"; expected += "{"; }
                Model::Sequence => { text += "{seq}"; expected += "0"; }
                Model::Random(n) => {
                    write!(text, "{{random:{n}-{n}}}").unwrap();
                    expected += &n.to_string();
                }
                Model::Column(n) => {
                    text += ["{name}", "{word:raw}"][*n];
                    expected += ["ann", "a b"][*n];
                }
            }
        }
        prop_assert_eq!(render(&text, TemplateContext::Content, 1), expected);
    }

    #[test]
    fn any_text_compiles_or_is_refused(text in ".*") {
        for context in [TemplateContext::Target, TemplateContext::Field, TemplateContext::Content, TemplateContext::Form] {
            if let Err(faults) = Template::compile(&text, context, &Names::default()) {
                prop_assert!(faults.iter().all(|fault| text.is_char_boundary(fault.offset)));
            }
        }
    }
}
