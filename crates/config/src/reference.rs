//! The reference of a document: pages in Markdown, and the manual page of section 5.

use std::fmt::Write as _;

use roff::{Inline, Roff, bold, roman};

use crate::document::{ENVIRONMENT_PREFIX, INCLUDE};
use crate::schema::prose;
use crate::shape::{Count, PLACEHOLDER, SectionPath, section_paths};
use crate::shape::{Declaration, Field, Shape, Word};
use crate::show::toml_string;

/// An example of a name that users choose.
const PLACEHOLDER_EXAMPLE: &str = "main";

/// One page of the reference, in Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The file name: `site.cors.md`; `index.md` for the top level.
    pub file: String,
    /// The text of the page in Markdown.
    pub text: String,
}

/// Returns the pages of a document: the top level first, with links to all others.
pub fn reference(root: &'static Declaration) -> Vec<Page> {
    let sections = section_paths(root);
    let homes = sections.iter().filter(|section| is_main_page(section, &sections));
    homes.map(|section| Page { file: file(section), text: page(section, &sections) }).collect()
}

fn is_same(one: &SectionPath, other: &SectionPath) -> bool {
    std::ptr::eq(one.declaration, other.declaration)
}

/// Returns whether a section has its page under this path: the first of those with the shortest
/// path.
fn is_main_page(section: &SectionPath, sections: &[SectionPath]) -> bool {
    std::ptr::eq(main_page(section.declaration, sections).unwrap_or(section), section)
}

fn main_page<'p>(
    declaration: &Declaration,
    sections: &'p [SectionPath],
) -> Option<&'p SectionPath> {
    let same = sections.iter().filter(|section| std::ptr::eq(section.declaration, declaration));
    same.min_by_key(|section| section.path.len())
}

/// Returns the file of a section's page, named by its path.
fn file(section: &SectionPath) -> String {
    let names = section.path.iter().filter(|name| **name != PLACEHOLDER);
    let names: Vec<&str> = names.copied().collect();
    match names.join(".").as_str() {
        "" => "index.md".to_owned(),
        path => format!("{path}.md"),
    }
}

fn page(section: &SectionPath, sections: &[SectionPath]) -> String {
    let declaration = section.declaration;
    let is_top = section.path.is_empty();
    let title = if is_top { "The top level".to_owned() } else { section.header() };
    let mut text = format!("# {title}\n\n{}\n", prose(declaration.doc));
    let mut paragraph = |line: String| {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{line}\n");
    };
    let elsewhere =
        sections.iter().filter(|other| is_same(other, section) && !std::ptr::eq(*other, section));
    let headers: Vec<String> = elsewhere.map(SectionPath::header).collect();
    if !headers.is_empty() {
        paragraph(format!("Also: {}.", headers.join(", ")));
    }
    if let (Some(short), Some(name)) = (declaration.short_field(), section.path.last()) {
        let name = name.replace(PLACEHOLDER, PLACEHOLDER_EXAMPLE);
        let (directive, value) = (short.name(), example_of(short));
        let table = match section.count {
            Count::One => format!("{{ {directive} = {value} }}"),
            Count::Many => format!("[{{ {directive} = {value} }}]"),
        };
        paragraph(format!("`{name} = {value}` is short for `{name} = {table}`."));
    }
    // A document that includes nothing is read without variables and flags, too.
    if is_top && declaration.field(INCLUDE).is_some() {
        paragraph(format!(
            "A directive of this page that does not need a table, except `include`, can also be set by an \
             environment variable: `{ENVIRONMENT_PREFIX}` followed by its name in capitals. Precedence: flag, \
             environment variable, file, default."
        ));
    }
    paragraph(table(declaration, sections).trim_end().to_owned());
    for field in declaration.fields {
        details(field, &mut paragraph);
    }
    paragraph(format!("```toml\n{}```", example(section)));
    if is_top {
        paragraph(contents(sections));
    }
    text
}

fn table(declaration: &'static Declaration, sections: &[SectionPath]) -> String {
    let mut text =
        "| directive | type | default | bounds | what it does |\n|---|---|---|---|---|\n"
            .to_owned();
    for field in declaration.fields {
        let bounds = field.bounds_text();
        let bounds = bounds.map_or_else(String::new, |(low, high)| format!("`{low}` to `{high}`"));
        let cells = [
            format!("`{}`", field.name()),
            with_code(&type_of(field, sections)),
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

/// Returns what a directive accepts; a section is a link to its page.
fn type_of(field: &Field, sections: &[SectionPath]) -> String {
    let link = |declaration: &'static Declaration, name: &str| {
        let page = main_page(declaration, sections);
        let name = page.map_or_else(|| name.to_owned(), |page| format!("[{name}]({})", file(page)));
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

/// Adds what does not fit into the table: the words of a directive, and the example in its
/// documentation.
fn details(field: &Field, paragraph: &mut impl FnMut(String)) {
    let words = words_of(&(field.shape)());
    if !words.is_empty() {
        let lines = words.iter().map(|word| {
            format!("- `{} = \"{}\"`: {}", field.name(), word.name, prose(&[word.doc]))
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
        Shape::Either(shapes) => {
            shapes.iter().map(words_of).find(|words| !words.is_empty()).unwrap_or_default()
        }
        _ => &[],
    }
}

/// Returns the code block in a documentation comment.
fn code(lines: &[&str]) -> Option<String> {
    let mut lines = lines.iter().flat_map(|line| line.split('\n'));
    lines.find(|line| line.trim_start().starts_with("```"))?;
    let block = lines.take_while(|line| !line.trim_start().starts_with("```"));
    let block: Vec<&str> = block.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    (!block.is_empty()).then(|| format!("{}\n", block.join("\n")))
}

/// Returns the example of a section: that of its documentation, or all directives that are not
/// tables, with their defaults or examples.
fn example(section: &SectionPath) -> String {
    if let Some(code) = code(section.declaration.doc) {
        return code;
    }
    let mut text = String::new();
    if !section.path.is_empty() {
        let path = section.path.join(".").replace(PLACEHOLDER, PLACEHOLDER_EXAMPLE);
        let (open, close) = match section.count {
            Count::One => ("[", "]"),
            Count::Many => ("[[", "]]"),
        };
        let _ = writeln!(text, "{open}{path}{close}");
    }
    for field in section.declaration.fields {
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

/// Returns an example of a value.
fn value_of(shape: &Shape, field: &Field) -> String {
    let least = field.bounds_text().map(|(low, _)| low.to_owned());
    match shape {
        Shape::Boolean => "true".to_owned(),
        Shape::Integer { min, .. } => least.unwrap_or_else(|| (*min).max(1).to_string()),
        Shape::Number => least.unwrap_or_else(|| "1.0".to_owned()),
        Shape::Text(text) if text.example.is_empty() => toml_string(text.noun),
        Shape::Text(text) => least.unwrap_or_else(|| toml_string(text.example)),
        Shape::Word(words) => words.first().map_or_else(String::new, |word| toml_string(word.name)),
        Shape::List(element) => format!("[{}]", value_of(element, field)),
        Shape::Named(_) => "{}".to_owned(),
        Shape::Section(declaration) => match declaration.short_field() {
            Some(short) => example_of(short),
            None => "{}".to_owned(),
        },
        Shape::Either(shapes) => {
            shapes.first().map_or_else(String::new, |first| value_of(first, field))
        }
    }
}

/// Returns the list of all sections with links to their pages.
fn contents(sections: &[SectionPath]) -> String {
    let mut text = "## Sections\n".to_owned();
    let below = sections.iter().filter(|section| !section.path.is_empty());
    for section in below.filter(|section| is_main_page(section, sections)) {
        let doc = prose(section.declaration.doc);
        let (header, page) = (section.header(), file(section));
        let _ = write!(text, "\n- [{header}]({page}): {}", first_sentence(&doc));
    }
    text
}

fn first_sentence(text: &str) -> &str {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let end = paragraph.find(". ").map(|at| at + 1);
    &paragraph[..end.unwrap_or(paragraph.len())]
}

/// Returns a phrase with its example as code, so that Markdown does not interpret it.
fn with_code(phrase: &str) -> String {
    let Some((before, example)) = phrase.split_once(" such as \"") else {
        return phrase.to_owned();
    };
    match example.split_once('"') {
        Some((example, after)) => {
            format!("{before} such as `\"{example}\"`{}", with_code(after))
        }
        None => phrase.to_owned(),
    }
}

/// Returns the manual page of the file `name`, with a chapter for each section and a paragraph for
/// each directive.
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
    for section in &section_paths(root) {
        chapter(&mut page, section);
    }
    page.render()
}

/// The description that all manual pages share.
const FORM: &[&str] = &[
    "The file is TOML. A directive that is not set has its default. An unknown directive is an error.",
    "A time has a unit: `10s`, `1h30m`, `250ms`. A size is a number of bytes or has a unit: `64KiB`, `10MB`. A relative \
     path starts from the folder of the file that contains it.",
    "`${NAME}` in a text is the value of an environment variable, `${NAME:-text}` has a fallback, and `$${` is a literal `${`.",
    "A list with one text, number or word may be written without brackets.",
];

fn chapter(page: &mut Roff, section: &SectionPath) {
    let header = section.header().replace('`', "");
    page.control("SH", [header.as_str()]);
    page.text(inlines(&prose(section.declaration.doc)));
    if let Some(short) = section.declaration.short_field() {
        let text = format!("A value instead of the table sets `{}`.", short.name());
        page.control("PP", []);
        page.text(inlines(&text));
    }
    for field in section.declaration.fields {
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
    for (index, paragraph) in paragraphs.iter().flat_map(|text| text.split("\n\n")).enumerate() {
        if index > 0 {
            page.control("IP", []);
        }
        page.text(inlines(paragraph));
    }
}

/// Returns text in which code is bold.
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
