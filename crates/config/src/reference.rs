//! The reference in Markdown: a page for each section, made from its declaration.

use std::fmt::Write as _;

use crate::document::{ENVIRONMENT_PREFIX, INCLUDE};
use crate::places::{CHOSEN, Count, Place, places};
use crate::schema::prose;
use crate::shape::{Declaration, Field, Shape, Word};
use crate::toml::string;

/// What a user might choose for a name.
const CHOSEN_EXAMPLE: &str = "main";

/// One page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its file: `site.cors.md`; `index.md` for the top level.
    pub file: String,
    /// What stands in it.
    pub text: String,
}

/// The pages of a document: the top level first, with links to all others.
pub fn reference(root: &'static Declaration) -> Vec<Page> {
    let places = places(root);
    let homes = places.iter().filter(|place| is_home(place, &places));
    homes
        .map(|place| Page {
            file: file(place),
            text: page(place, &places),
        })
        .collect()
}

fn is_same(one: &Place, other: &Place) -> bool {
    std::ptr::eq(one.declaration, other.declaration)
}

/// Whether a section has its page under the name of this place: the first of those with the shortest path.
fn is_home(place: &Place, places: &[Place]) -> bool {
    std::ptr::eq(home(place.declaration, places).unwrap_or(place), place)
}

fn home<'p>(declaration: &Declaration, places: &'p [Place]) -> Option<&'p Place> {
    let same = places
        .iter()
        .filter(|place| std::ptr::eq(place.declaration, declaration));
    same.min_by_key(|place| place.path.len())
}

/// The table of one section's directives: name, type, default, bounds and documentation.
pub fn reference_table(declaration: &'static Declaration) -> String {
    table(declaration, &[])
}

/// The file of a section's page, named by its place.
fn file(place: &Place) -> String {
    let names = place.path.iter().filter(|name| **name != CHOSEN);
    let names: Vec<&str> = names.copied().collect();
    match names.join(".").as_str() {
        "" => "index.md".to_owned(),
        path => format!("{path}.md"),
    }
}

fn page(place: &Place, places: &[Place]) -> String {
    let declaration = place.declaration;
    let is_top = place.path.is_empty();
    let title = if is_top {
        "The top level".to_owned()
    } else {
        place.header()
    };
    let mut text = format!("# {title}\n\n{}\n", prose(declaration.doc));
    let mut paragraph = |line: String| {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{line}\n");
    };
    let elsewhere = places
        .iter()
        .filter(|other| is_same(other, place) && !std::ptr::eq(*other, place));
    let headers: Vec<String> = elsewhere.map(Place::header).collect();
    if !headers.is_empty() {
        paragraph(format!("Also: {}.", headers.join(", ")));
    }
    if let (Some(short), Some(name)) = (declaration.short_field(), place.path.last()) {
        let name = name.replace(CHOSEN, CHOSEN_EXAMPLE);
        let (directive, value) = (short.name(), example_of(short));
        let table = match place.count {
            Count::One => format!("{{ {directive} = {value} }}"),
            Count::Many => format!("[{{ {directive} = {value} }}]"),
        };
        paragraph(format!(
            "`{name} = {value}` is short for `{name} = {table}`."
        ));
    }
    // A document that includes nothing is read without variables and flags, too.
    if is_top && declaration.field(INCLUDE).is_some() {
        paragraph(format!(
            "A directive of this page that can be written without a table, `include` excepted, can also be given by an \
             environment variable, its name in capitals behind `{ENVIRONMENT_PREFIX}`. A flag goes before a variable, a \
             variable before a file, a file before the default."
        ));
    }
    paragraph(table(declaration, places).trim_end().to_owned());
    for field in declaration.fields {
        details(field, &mut paragraph);
    }
    paragraph(format!("```toml\n{}```", example(place)));
    if is_top {
        paragraph(contents(places));
    }
    text
}

fn table(declaration: &'static Declaration, places: &[Place]) -> String {
    let mut text =
        "| directive | type | default | bounds | what it does |\n|---|---|---|---|---|\n"
            .to_owned();
    for field in declaration.fields {
        let bounds = field.bounds_text();
        let bounds = bounds.map_or_else(String::new, |(low, high)| format!("`{low}` to `{high}`"));
        let cells = [
            format!("`{}`", field.name()),
            with_code(&type_of(field, places)),
            default_of(field),
            bounds,
            prose(field.doc).replace("\n\n", "<br>"),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// What a directive takes; a section is a link to its page.
fn type_of(field: &Field, places: &[Place]) -> String {
    let link = |declaration: &'static Declaration, name: &str| {
        let page = home(declaration, places);
        let name = page.map_or_else(
            || name.to_owned(),
            |page| format!("[{name}]({})", file(page)),
        );
        match declaration.short_field() {
            Some(field) => format!("{name}, or {}", (field.shape)().phrase()),
            None => name,
        }
    };
    let shape = (field.shape)();
    match &shape {
        Shape::Section(declaration) => link(declaration, "a table"),
        Shape::List(element) => match **element {
            Shape::Section(declaration) => link(declaration, "a list of tables"),
            _ if field.bounds.is_some() => shape.bare_phrase(),
            _ => shape.phrase(),
        },
        Shape::Named(element) => match &**element {
            Shape::Section(declaration) => link(declaration, "named tables"),
            element => format!("a table of names, each with {}", element.phrase()),
        },
        _ if field.bounds.is_some() => shape.bare_phrase(),
        _ => shape.phrase(),
    }
}

fn default_of(field: &Field) -> String {
    match (&field.default, (field.shape)()) {
        (Some(literal), _) => format!("`{}`", literal.text()),
        (None, _) if field.is_required() => "required".to_owned(),
        (None, Shape::Section(declaration)) if !declaration.is_required() => String::new(),
        _ => "none".to_owned(),
    }
}

/// What does not fit into the table: the words of a directive and the example in its documentation.
fn details(field: &Field, paragraph: &mut impl FnMut(String)) {
    let words = words_of(&(field.shape)());
    if !words.is_empty() {
        let lines = words.iter().map(|word| {
            format!(
                "- `{} = \"{}\"`: {}",
                field.name(),
                word.name,
                prose(&[word.doc])
            )
        });
        paragraph(lines.collect::<Vec<_>>().join("\n"));
    }
    if let Some(code) = code(field.doc) {
        paragraph(format!("`{}`:\n\n```toml\n{code}```", field.name()));
    }
}

fn words_of(shape: &Shape) -> &'static [Word] {
    match shape {
        Shape::Word(words) => words,
        Shape::List(element) => words_of(element),
        Shape::Either(shapes) => shapes
            .iter()
            .map(words_of)
            .find(|words| !words.is_empty())
            .unwrap_or_default(),
        _ => &[],
    }
}

/// The block of code in a documentation comment.
fn code(lines: &[&str]) -> Option<String> {
    let mut lines = lines.iter().flat_map(|line| line.split('\n'));
    lines.find(|line| line.trim_start().starts_with("```"))?;
    let block = lines.take_while(|line| !line.trim_start().starts_with("```"));
    let block: Vec<&str> = block
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    (!block.is_empty()).then(|| format!("{}\n", block.join("\n")))
}

/// The example of a section: that of its documentation, or each directive that is no table with its default or an example.
fn example(place: &Place) -> String {
    if let Some(code) = code(place.declaration.doc) {
        return code;
    }
    let mut text = String::new();
    if !place.path.is_empty() {
        let path = place.path.join(".").replace(CHOSEN, CHOSEN_EXAMPLE);
        let (open, close) = match place.count {
            Count::One => ("[", "]"),
            Count::Many => ("[[", "]]"),
        };
        let _ = writeln!(text, "{open}{path}{close}");
    }
    for field in place.declaration.fields {
        if !matches!((field.shape)(), Shape::Section(_)) && (field.shape)().is_plain() {
            let _ = writeln!(text, "{} = {}", field.name(), example_of(field));
        }
    }
    text
}

fn example_of(field: &Field) -> String {
    match &field.default {
        Some(literal) => literal.text().to_owned(),
        None => value_of(&(field.shape)(), field),
    }
}

/// A value that can be typed.
fn value_of(shape: &Shape, field: &Field) -> String {
    let least = field.bounds_text().map(|(low, _)| low.to_owned());
    match shape {
        Shape::Boolean => "true".to_owned(),
        Shape::Integer { min, .. } => least.unwrap_or_else(|| (*min).max(1).to_string()),
        Shape::Number => least.unwrap_or_else(|| "1.0".to_owned()),
        Shape::Text(text) if text.example.is_empty() => string(text.noun),
        Shape::Text(text) => least.unwrap_or_else(|| string(text.example)),
        Shape::Word(words) => words
            .first()
            .map_or_else(String::new, |word| string(word.name)),
        Shape::List(element) => format!("[{}]", value_of(element, field)),
        Shape::Named(_) => "{}".to_owned(),
        Shape::Section(declaration) => match declaration.short_field() {
            Some(short) => example_of(short),
            None => "{}".to_owned(),
        },
        Shape::Either(shapes) => shapes
            .first()
            .map_or_else(String::new, |first| value_of(first, field)),
    }
}

/// All sections with links to their pages.
fn contents(places: &[Place]) -> String {
    let mut text = "## Sections\n".to_owned();
    let below = places.iter().filter(|place| !place.path.is_empty());
    for place in below.filter(|place| is_home(place, places)) {
        let doc = prose(place.declaration.doc);
        let (header, page) = (place.header(), file(place));
        let _ = write!(text, "\n- [{header}]({page}): {}", first_sentence(&doc));
    }
    text
}

fn first_sentence(text: &str) -> &str {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let end = paragraph.find(". ").map(|at| at + 1);
    &paragraph[..end.unwrap_or(paragraph.len())]
}

/// A phrase whose example is set as code, which keeps its letters from being read as Markdown.
fn with_code(phrase: &str) -> String {
    let Some((before, example)) = phrase.split_once(" such as \"") else {
        return phrase.to_owned();
    };
    match example.split_once('"') {
        Some((example, behind)) => {
            format!("{before} such as `\"{example}\"`{}", with_code(behind))
        }
        None => phrase.to_owned(),
    }
}
