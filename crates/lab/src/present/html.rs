//! A page as one file of HTML: no script runs, nothing is loaded, and it reads on a phone and in
//! the dark.

use std::fmt::Write as _;

use vervet_report::chart::{STYLE as CHART_STYLE, Size};
use vervet_report::escape::Html;
use vervet_report::forms::Table;

use super::page::{Block, Page, Picture};

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
        let _ = writeln!(html, "<section id=\"s{number}\">\n<h2>{}</h2>", Html(&section.title));
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
        let _ = writeln!(html, "<li><a href=\"#s{number}\">{}</a></li>", Html(&section.title));
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
            writeln!(html, "<details><summary>{name}</summary><pre>{lines}</pre></details>")
        }
    };
}

fn write_list(html: &mut String, lines: &[String]) -> std::fmt::Result {
    html.write_str("<ul>\n")?;
    lines.iter().try_for_each(|line| writeln!(html, "<li>{}</li>", Html(line)))?;
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
    let (wide, narrow) = (format!("{}-wide", picture.name), format!("{}-narrow", picture.name));
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
    html.write_str(&table.html())?;
    html.write_str("</details>\n")
}

fn write_table(html: &mut String, table: &Table) -> std::fmt::Result {
    if !table.caption.is_empty() {
        writeln!(html, "<p class=\"caption\">{}</p>", Html(&table.caption))?;
    }
    html.write_str(&table.html())
}

/// The style sheet.
pub(super) const STYLE: &str = "\
:root{color-scheme:light dark;--ground:#fbf8ef;--card:#fffdf7;--ink:#24271d;--quiet:#5f6352;--line:#e3dcc8;--link:#1d6c9c;--focus:#a86a10}
@media(prefers-color-scheme:dark){:root{--ground:#171a13;--card:#1e221a;--ink:#ebe7da;--quiet:#a9ab98;--line:#343a2d;--link:#7fc3ee;--focus:#edb95c}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"DejaVu Sans\",sans-serif}
header,nav,main{max-width:70rem;margin:0 auto;padding:0 1rem}
header{padding-top:2rem}
h1{font-size:1.8rem;line-height:1.2;margin:0 0 .3rem;overflow-wrap:anywhere}
header p{margin:0 0 1rem;color:var(--quiet)}
h2{font-size:1.3rem;line-height:1.25;margin:2.4rem 0 .6rem;padding-top:.6rem;border-top:2px solid var(--line);overflow-wrap:anywhere}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem;overflow-wrap:anywhere}
p{margin:.5rem 0;max-width:46rem;overflow-wrap:anywhere}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:.2rem}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:0 1rem;padding:0;margin:0}
nav a{display:inline-block;padding:.2rem 0}
main>section>ul{padding-left:1.2rem;max-width:46rem}
li{overflow-wrap:anywhere}
figure{margin:1.2rem 0;padding:.9rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
figcaption,.caption{font-weight:600;margin-bottom:.5rem}
.caption{margin-top:1rem}
details{margin:.6rem 0}
summary{cursor:pointer;color:var(--link);padding:.2rem 0}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.875rem;line-height:1.35;margin:.4rem 0}
th,td{text-align:right;vertical-align:top;padding:.3rem .7rem .3rem 0;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
td,tbody th{max-width:26rem;white-space:nowrap}
thead th{color:var(--quiet);font-weight:600;vertical-align:bottom}
tbody th{font-weight:400}
.w{text-align:left;font-variant-numeric:normal}
tbody .w{min-width:6rem;white-space:normal;overflow-wrap:break-word}
pre{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:.4rem;padding:.7rem;font-size:.8rem;line-height:1.4}
dl{max-width:46rem}
dt{font-weight:600;margin-top:.7rem}
dd{margin:0;color:var(--quiet)}
[data-heat=excellent]{background:#2f9e4455}[data-heat=good]{background:#94c13a55}[data-heat=fair]{background:#e0b12a66}
[data-heat=poor]{background:#e07b2a66}[data-heat=unacceptable]{background:#c9342a77}
.narrow{display:none}
@media(max-width:640px){.wide{display:none}.narrow{display:block}figure{margin:1rem -.4rem;padding:.6rem}h1{font-size:1.5rem}}
@media print{:root{--ground:#fff;--card:#fff}nav{display:none}details::details-content{content-visibility:visible;block-size:auto}
.scroll{overflow:visible}table{font-size:.7rem}pre{white-space:pre-wrap}figure,tr{break-inside:avoid}h2,h3,.caption,figcaption{break-after:avoid}}
";
