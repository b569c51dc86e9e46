//! A page as Markdown, as code forges show it.

use std::fmt::Write as _;

use vervet_report::escape::Printable;
use vervet_report::forms::{Align, Table};

use super::page::{Block, Page, Picture, Section};

/// Formats the page as Markdown. `charts` is the path of the folder of chart files, relative to the
/// page; with `None` charts are left out.
pub fn page_markdown(page: &Page, charts: Option<&str>) -> String {
    let mut text = format!("# {}\n\n{}\n", plain(&page.title), plain(&page.subtitle));
    write_sections(&mut text, &page.sections, "##", charts);
    text
}

/// Sections alone, under headings of this level and without charts. One without a title has no
/// heading.
pub(super) fn sections_markdown(sections: &[Section], level: &str) -> String {
    let mut text = String::new();
    write_sections(&mut text, sections, level, None);
    text
}

fn write_sections(text: &mut String, sections: &[Section], level: &str, charts: Option<&str>) {
    for section in sections {
        if !section.title.is_empty() {
            // Writing to a string does not fail.
            let _ = write!(text, "\n{level} {}\n", plain(&section.title));
        }
        for block in &section.blocks {
            write_block(text, block, charts);
        }
    }
}

fn write_block(text: &mut String, block: &Block, charts: Option<&str>) {
    text.push('\n');
    // Writing to a string does not fail.
    let _ = match block {
        Block::Heading(heading) => writeln!(text, "### {}", plain(heading)),
        Block::Text(words) => writeln!(text, "{}", plain(words)),
        Block::List(lines) => lines.iter().try_for_each(|line| writeln!(text, "- {}", plain(line))),
        Block::Definitions(words) => {
            let mut words = words.iter();
            words.try_for_each(|(word, meaning)| {
                writeln!(text, "- **{}**: {}", plain(word), plain(meaning))
            })
        }
        Block::Table(table) | Block::Folded(table) => write_table(text, table),
        Block::Picture(picture) => write_picture(text, picture, charts),
        Block::File(name, content) => write_file(text, name, content),
    };
}

fn write_picture(text: &mut String, picture: &Picture, charts: Option<&str>) -> std::fmt::Result {
    let title = plain(picture.chart.title());
    writeln!(text, "### {title}\n")?;
    if let Some(folder) = charts {
        writeln!(text, "![{title}]({folder}/{}.svg)\n", picture.name)?;
    }
    write_table(text, &picture.table)
}

fn write_table(text: &mut String, table: &Table) -> std::fmt::Result {
    if !table.caption.is_empty() {
        writeln!(text, "{}\n", plain(&table.caption))?;
    }
    let labels: Vec<String> = table.columns.iter().map(|column| cell(&column.label)).collect();
    writeln!(text, "| {} |", labels.join(" | "))?;
    let rules = table.columns.iter().map(|column| match column.align {
        Align::Left => "---",
        Align::Right => "---:",
    });
    writeln!(text, "|{}|", rules.collect::<Vec<&str>>().join("|"))?;
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|text| cell(text)).collect();
        writeln!(text, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}

/// A fence longer than any in the content.
fn write_file(text: &mut String, name: &str, content: &str) -> std::fmt::Result {
    let runs = content.split(|letter| letter != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    let lines: Vec<String> = content.lines().map(|line| Printable(line).to_string()).collect();
    writeln!(text, "{}\n\n{fence}\n{}\n{fence}", plain(name), lines.join("\n"))
}

fn cell(text: &str) -> String {
    plain(text)
}

/// Text in which nothing means anything to Markdown or HTML.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in Printable(text).to_string().chars() {
        match letter {
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                plain.push('\\');
                plain.push(letter);
            }
            _ => plain.push(letter),
        }
    }
    plain
}
