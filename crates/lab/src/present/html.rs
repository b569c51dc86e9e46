//! A page as one file of HTML: no script runs, nothing is loaded, and it reads on a phone and in the dark.

use std::fmt::Write as _;

use vervet_report::chart::{STYLE as CHART_STYLE, Size};
use vervet_report::escape::Html;

use super::page::{Block, Page, Picture};
use super::style::STYLE;
use super::table::{Align, Table};
use crate::statistics::RATINGS;

/// The page as one file of HTML.
pub fn page_html(page: &Page) -> String {
    let mut html = String::with_capacity(1 << 16);
    let title = Html(&page.title);
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{CHART_STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n\
         <p>{}</p>\n</header>\n",
        Html(&page.subtitle)
    );
    contents(&mut html, page);
    html.push_str("<main>\n");
    for (number, section) in page.sections.iter().enumerate() {
        let _ = writeln!(
            html,
            "<section id=\"s{number}\">\n<h2>{}</h2>",
            Html(&section.title)
        );
        for block in &section.blocks {
            write_block(&mut html, block);
        }
        html.push_str("</section>\n");
    }
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

fn contents(html: &mut String, page: &Page) {
    html.push_str("<nav aria-label=\"Contents\"><ul>\n");
    for (number, section) in page.sections.iter().enumerate() {
        let _ = writeln!(
            html,
            "<li><a href=\"#s{number}\">{}</a></li>",
            Html(&section.title)
        );
    }
    html.push_str("</ul></nav>\n");
}

fn write_block(html: &mut String, block: &Block) {
    // Writing to a string does not fail.
    let _ = match block {
        Block::Heading(text) => writeln!(html, "<h3>{}</h3>", Html(text)),
        Block::Text(text) => writeln!(html, "<p>{}</p>", Html(text)),
        Block::List(lines) => write_list(html, lines),
        Block::Definitions(words) => write_definitions(html, words),
        Block::Table(table) => write_table(html, table),
        Block::Folded(table) => write_folded(html, table),
        Block::Picture(picture) => write_picture(html, picture),
        Block::File(name, text) => {
            let lines: Vec<String> = text.lines().map(|line| Html(line).to_string()).collect();
            let (name, lines) = (Html(name), lines.join("\n"));
            writeln!(
                html,
                "<details><summary>{name}</summary><pre>{lines}</pre></details>"
            )
        }
    };
}

fn write_list(html: &mut String, lines: &[String]) -> std::fmt::Result {
    html.write_str("<ul>\n")?;
    lines
        .iter()
        .try_for_each(|line| writeln!(html, "<li>{}</li>", Html(line)))?;
    html.write_str("</ul>\n")
}

fn write_definitions(html: &mut String, words: &[(String, String)]) -> std::fmt::Result {
    html.write_str("<dl>\n")?;
    for (word, meaning) in words {
        writeln!(html, "<dt>{}</dt><dd>{}</dd>", Html(word), Html(meaning))?;
    }
    html.write_str("</dl>\n")
}

fn write_picture(html: &mut String, picture: &Picture) -> std::fmt::Result {
    let (wide, narrow) = (
        format!("{}-wide", picture.name),
        format!("{}-narrow", picture.name),
    );
    writeln!(
        html,
        "<figure>\n<figcaption>{}</figcaption>\n<div class=\"wide\">{}</div>\n<div class=\"narrow\">{}</div>",
        Html(picture.chart.title()),
        picture.chart.svg(&wide, Size::WIDE),
        picture.chart.svg(&narrow, Size::NARROW)
    )?;
    write_folded(html, &picture.table)?;
    html.write_str("</figure>\n")
}

fn write_folded(html: &mut String, table: &Table) -> std::fmt::Result {
    writeln!(html, "<details><summary>{}</summary>", Html(&table.caption))?;
    write_rows(html, table)?;
    html.write_str("</details>\n")
}

fn write_table(html: &mut String, table: &Table) -> std::fmt::Result {
    if !table.caption.is_empty() {
        writeln!(html, "<p class=\"caption\">{}</p>", Html(&table.caption))?;
    }
    write_rows(html, table)
}

fn write_rows(html: &mut String, table: &Table) -> std::fmt::Result {
    // Most cells are numbers, and a large page has thousands of them.
    let class = |align: Align| match align {
        Align::Left => " class=\"w\"",
        Align::Right => "",
    };
    // Whoever has no mouse scrolls it, and hears which table it is.
    let name = match table.caption.as_str() {
        "" => "Table",
        caption => caption,
    };
    write!(
        html,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table>\n<thead><tr>",
        Html(name)
    )?;
    for column in &table.columns {
        write!(
            html,
            "<th scope=\"col\"{}>{}</th>",
            class(column.align),
            Html(&column.label)
        )?;
    }
    html.write_str("</tr></thead>\n<tbody>\n")?;
    for row in &table.rows {
        html.write_str("<tr>")?;
        for (cell, column) in row.iter().zip(&table.columns) {
            let heat = if table.heat {
                heat(cell)
            } else {
                String::new()
            };
            write!(html, "<td{}{heat}>{}</td>", class(column.align), Html(cell))?;
        }
        html.write_str("</tr>\n")?;
    }
    html.write_str("</tbody></table></div>\n")
}

/// The attribute that colours a cell by the rating that it ends in.
fn heat(cell: &str) -> String {
    let ratings = RATINGS.iter().map(|(rating, _)| rating.name());
    let found = ratings
        .into_iter()
        .find(|name| cell.split(' ').next_back() == Some(name));
    found.map_or(String::new(), |name| format!(" data-heat=\"{name}\""))
}
