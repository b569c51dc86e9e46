//! Texts of the configuration that nobody thought of, and what the look-up of a host costs.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use vervet_server::matching::{
    Flaw, HostPattern, Hosts, MethodSet, PathRegex, Pattern, Template, TemplateUse,
};

/// A flaw lies within its text, between whole characters.
fn check(text: &str, result: Result<(), Flaw>) -> Result<(), TestCaseError> {
    if let Err(flaw) = result {
        prop_assert!(text.get(flaw.range.clone()).is_some(), "{text:?}: {flaw:?}");
        prop_assert!(!flaw.message.is_empty());
    }
    Ok(())
}

/// Text of any characters, and text of special ones.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,30}",
        "[/:(){}<>*?#%.a1é\\[\\]\\\\ -]{0,20}",
        "/(:[a-z]{1,3}(\\([a-z]{0,8}\\))?/){0,4}\\*?"
    ]
}

proptest! {
    #[test]
    fn no_text_is_misread_beyond_itself(text in text()) {
        check(&text, HostPattern::parse(&text).map(drop))?;
        check(&text, Pattern::parse(&text).map(drop))?;
        check(&text, PathRegex::parse(&text).map(drop))?;
        check(&text, MethodSet::new().insert(&text))?;
        let pattern = Pattern::parse("/:a/:n(number)/*").unwrap();
        let offer = vervet_server::matching::PathRule::Pattern(pattern);
        for to in [TemplateUse::Location, TemplateUse::Inside] {
            check(&text, Template::parse(&text, to, offer.offer()).map(drop))?;
        }
    }

    #[test]
    fn what_is_read_is_shown_so_that_it_is_read_again(text in text()) {
        if let Ok(host) = HostPattern::parse(&text) {
            prop_assert_eq!(HostPattern::parse(&host.to_string()).ok(), Some(host));
        }
        if let Ok(pattern) = Pattern::parse(&text) {
            prop_assert_eq!(pattern.as_str(), text.as_str());
        }
    }

    #[test]
    fn no_host_of_a_request_is_too_strange(raw in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut hosts = Hosts::new();
        for (number, name) in ["a.b", "*.b", "[::1]"].into_iter().enumerate() {
            hosts.insert(&HostPattern::parse(name).unwrap(), number).unwrap();
        }
        hosts.set_default(9).unwrap();
        prop_assert!(hosts.site(&raw).is_some());
    }
}

/// Prints what a look-up costs. Not a check: run it with `--ignored --nocapture`, best in a release
/// build.
#[test]
#[ignore = "prints figures, proves nothing"]
fn what_a_look_up_costs() {
    const PATIENCE: Duration = Duration::from_millis(200);
    for count in [1, 1_000] {
        let mut hosts = Hosts::new();
        for number in 0..count {
            for name in [format!("shop{number}.example.org"), format!("*.shop{number}.example.org")]
            {
                hosts.insert(&HostPattern::parse(&name).unwrap(), number).unwrap();
            }
        }
        let last = count - 1;
        for host in [
            format!("shop{last}.example.org"),
            format!("SHOP{last}.example.org:8080"),
            format!("a.b.shop{last}.example.org"),
        ] {
            let (start, mut rounds) = (Instant::now(), 0);
            while start.elapsed() < PATIENCE {
                for _ in 0..1_000 {
                    let site = hosts.site(std::hint::black_box(host.as_bytes()));
                    assert_eq!(std::hint::black_box(site), Some(last));
                }
                rounds += 1_000;
            }
            let ns = start.elapsed().as_nanos() / rounds;
            println!("{count:>5} sites, {ns:>5} ns: {host}");
        }
    }
}
