//! Writes the scenario as a readable document.

use std::fmt::Write as _;

use toml::Value;
use vervet_config::toml_key;

use super::archive::Pair;
use super::convert::{Content, Step};

/// Writes the document.
pub(super) fn write(
    file: &str,
    host: &str,
    common: &[Pair],
    steps: &[Step],
    notes: &[String],
) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = writeln!(out, "# Converted from {}.", plain(file));
    for note in notes {
        let _ = writeln!(out, "# {}", plain(note));
    }
    let _ = writeln!(out, "\nbase = {}", text(&format!("http://{host}")));
    out.push_str("\n[[scenario]]\n");
    table(&mut out, "fields", common);
    for step in steps {
        write_step(&mut out, step);
    }
    out
}

fn write_step(out: &mut String, step: &Step) {
    out.push('\n');
    if let Some(title) = &step.page {
        let _ = writeln!(out, "# {}", plain(title));
    }
    out.push_str("[[scenario.step]]\n");
    let _ = writeln!(out, "name = {}", text(&step.name));
    let _ = writeln!(out, "request = {}", text(&step.request));
    table(out, "fields", &step.fields);
    match &step.content {
        Content::None => {}
        Content::Text(content) => {
            let _ = writeln!(out, "content = {}", text(content));
        }
        Content::Form(pairs) => table(out, "form", pairs),
    }
    if !step.resources.is_empty() {
        out.push_str("resources = [\n");
        for target in &step.resources {
            let _ = writeln!(out, "  {},", text(target));
        }
        out.push_str("]\n");
    }
    let _ = writeln!(out, "expect = {{ status = {} }}", step.status);
    if step.think_ms > 0 {
        let _ = writeln!(out, "think = \"{}ms\"", step.think_ms);
    }
}

/// Writes an inline table, unless it is empty.
fn table(out: &mut String, key: &str, pairs: &[Pair]) {
    if pairs.is_empty() {
        return;
    }
    let pairs =
        pairs.iter().map(|pair| format!("{} = {}", toml_key(&pair.name), text(&pair.value)));
    let _ = writeln!(out, "{key} = {{ {} }}", pairs.collect::<Vec<_>>().join(", "));
}

/// A text in the quotes that need the fewest escapes.
fn text(text: &str) -> String {
    Value::from(text).to_string()
}

/// The text of a comment, in one line.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
