//! The manual page of a document, for section 5 of the manual.

use roff::{Inline, Roff, bold, roman};

use crate::places::{Place, places};
use crate::schema::prose;
use crate::shape::{Declaration, Field};

/// The page of the file `name`, with a chapter for each section and an entry for each directive.
pub fn manual(root: &'static Declaration, name: &str, summary: &str) -> String {
    let mut page = Roff::new();
    let title = name.to_uppercase();
    page.control("TH", [title.as_str(), "5", "", "Vervet"]);
    page.control("SH", ["NAME"]);
    page.text([roman(format!("{name} - {summary}"))]);
    page.control("SH", ["DESCRIPTION"]);
    for paragraph in FORM {
        page.control("PP", []);
        page.text(inlines(paragraph));
    }
    for place in &places(root) {
        chapter(&mut page, place);
    }
    page.render()
}

/// What is the same for all directives.
const FORM: &[&str] = &[
    "The file is TOML. A directive that is not given has its default. An unknown one is an error.",
    "A time has its unit: `10s`, `1h30m`, `250ms`. A size is a number of bytes, or has its unit: `64KiB`, `10MB`. A relative \
     path starts from the folder of the file in which it stands.",
    "`${NAME}` in a text is the value of an environment variable, `${NAME:-text}` has a fallback, and `$${` stands for `${`.",
    "A list of one text, number or word may be written without its brackets.",
];

fn chapter(page: &mut Roff, place: &Place) {
    let header = place.header().replace('`', "");
    page.control("SH", [header.as_str()]);
    page.text(inlines(&prose(place.declaration.doc)));
    if let Some(short) = place.declaration.short_field() {
        let text = format!(
            "A bare value in place of the table stands for `{}`.",
            short.name()
        );
        page.control("PP", []);
        page.text(inlines(&text));
    }
    for field in place.declaration.fields {
        entry(page, field);
    }
}

fn entry(page: &mut Roff, field: &Field) {
    page.control("TP", []);
    let what = match &field.default {
        Some(default) => format!(" = {}", default.text()),
        None if field.is_required() => " (required)".to_owned(),
        None => String::new(),
    };
    page.text([bold(field.name()), roman(what)]);
    let mut paragraphs = vec![prose(field.doc)];
    paragraphs.push(format!("Takes {}.", field.phrase()));
    for (index, paragraph) in paragraphs
        .iter()
        .flat_map(|text| text.split("\n\n"))
        .enumerate()
    {
        if index > 0 {
            page.control("IP", []);
        }
        page.text(inlines(paragraph));
    }
}

/// Text whose code is bold.
fn inlines(text: &str) -> Vec<Inline> {
    let pieces = text.split('`').enumerate();
    let pieces = pieces.filter(|(_, piece)| !piece.is_empty());
    pieces
        .map(|(index, piece)| match index % 2 {
            0 => roman(piece),
            _ => bold(piece),
        })
        .collect()
}
