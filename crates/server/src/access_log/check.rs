//! What is wrong with the logs of a document, as far as it can be found without opening anything.

use std::collections::HashMap;

use vervet_config::{Diagnostic, Diagnostics, Name, Named};

use super::settings::LogSettings;

/// Finds logs without a target, rules that cannot be, and two that contradict each other.
pub fn check_logs(logs: &Named<LogSettings>, found: &mut Diagnostics) {
    // By target: which log was the first, and when its file is put aside.
    let mut rotations = HashMap::new();
    for (name, settings) in logs.iter() {
        let (target, rotation) = (settings.target(name.span(), None), settings.rotation());
        if let (Ok(target), Ok(rotation)) = (&target, &rotation) {
            let first = rotations
                .entry(target.key())
                .or_insert((name, rotation.clone()));
            if first.1 != *rotation {
                found.push(contradiction((name, settings), first.0));
            }
        }
        let problems = [target.err(), rotation.err(), settings.condition().err()];
        let problems = problems.into_iter().flatten();
        problems.for_each(|problem| found.push(*problem));
    }
}

fn contradiction((name, settings): (&Name, &LogSettings), first: &Name) -> Diagnostic {
    let span = if settings.rotate.value().is_some() {
        settings.rotate.span()
    } else {
        name.span()
    };
    Diagnostic::error(span, "two logs put one file aside in different ways")
        .note_at(first.span(), "the other log is here")
}
