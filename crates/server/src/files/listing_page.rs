//! A directory listing as HTML: responsive, with a dark mode, sorted by links, without scripts.
//!
//! File names are not trusted: they are escaped in text and percent-encoded in links.

use std::fmt::Write;

use vervet_http::media_type;
use vervet_http::target::percent_encode_path;
use vervet_http::text::{grouped, html_reference, size};

use crate::files::listing::{Completeness, LISTING_ENTRIES_MAX, Listed, ListedEntry, Order, Sort};
use crate::files::root::Kind;
use crate::timestamp::{rfc3339, utc};

const STYLE: &str = include_str!("listing.css");

// One drawing for each kind of content, referred to by the rows.
const SYMBOLS: &str = "<svg class=\"s\" aria-hidden=\"true\"><defs>\
<symbol id=\"d\" viewBox=\"0 0 24 24\"><path d=\"M3 6.5A1.5 1.5 0 0 1 4.5 5h4.6l2.2 2.5h8.2A1.5 1.5 0 0 1 21 9\
 v9.5a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 18.5z\"/></symbol>\
<symbol id=\"u\" viewBox=\"0 0 24 24\"><path d=\"M12 19V6m-5.5 5.5L12 6l5.5 5.5\"/></symbol>\
<symbol id=\"f\" viewBox=\"0 0 24 24\"><path d=\"M6 3.5h8l4.5 4.5v12.5H6zM13.5 3.5V8.5h5\"/></symbol>\
<symbol id=\"t\" viewBox=\"0 0 24 24\"><path d=\"M6 3.5h8l4.5 4.5v12.5H6zM13.5 3.5V8.5h5M9 12.5h6.5M9 16h6.5\"/></symbol>\
<symbol id=\"i\" viewBox=\"0 0 24 24\"><path d=\"M4 5h16v14H4zM4 16l4.5-4.5 4 4 3-3L20 17\"/><circle cx=\"15\" cy=\"9\" r=\"1.4\"/></symbol>\
<symbol id=\"m\" viewBox=\"0 0 24 24\"><path d=\"M4 5h16v14H4zM10 9l5 3-5 3z\"/></symbol>\
<symbol id=\"z\" viewBox=\"0 0 24 24\"><path d=\"M4 8.5h16V20H4zM4 8.5 6 4.5h12l2 4M9.5 12.5h5\"/></symbol>\
</defs></svg>";

/// The whole document.
pub(crate) fn write(listed: &Listed) -> String {
    let mut out = String::with_capacity(8 * 1024 + 320 * listed.entries.len());
    let path = String::from_utf8_lossy(&listed.path);
    out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str(
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
    );
    push_text(&mut out, if path.is_empty() { "Files" } else { &path });
    let _ = write!(out, "</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{SYMBOLS}\n<main>\n");
    push_breadcrumbs(&mut out, listed);
    if listed.entries.is_empty() {
        push_empty(&mut out, listed);
    } else {
        push_table(&mut out, listed);
    }
    push_summary(&mut out, listed);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn push_breadcrumbs(out: &mut String, listed: &Listed) {
    out.push_str("<h1>");
    let names: Vec<&[u8]> =
        listed.path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        out.push_str("Files</h1>\n");
        return;
    }
    // Percent-encoded: no byte of it is special in HTML.
    let mut link = percent_encode_path(&listed.mount).into_owned() + "/";
    let _ = write!(out, "<a href=\"{link}\">Files</a>");
    for (number, name) in names.iter().enumerate() {
        link.push_str(&percent_encode_path(name));
        link.push('/');
        out.push_str("<i>/</i>");
        let is_here = number + 1 == names.len();
        if is_here {
            out.push_str("<bdi>");
        } else {
            let _ = write!(out, "<a href=\"{link}\"><bdi>");
        }
        push_text(out, &String::from_utf8_lossy(name));
        out.push_str(if is_here { "</bdi>" } else { "</bdi></a>" });
    }
    out.push_str("</h1>\n");
}

fn push_empty(out: &mut String, listed: &Listed) {
    out.push_str("<p class=\"empty\">This folder is empty.");
    if !listed.path.is_empty() {
        out.push_str("<br><a href=\"../\">Up to the parent folder</a>");
    }
    out.push_str("</p>\n");
}

fn push_table(out: &mut String, listed: &Listed) {
    out.push_str("<table>\n<thead><tr>");
    for (sort, key, title) in [
        (Sort::Name, "name", "Name"),
        (Sort::Size, "size", "Size"),
        (Sort::Time, "time", "Modified"),
    ] {
        push_column(out, listed, sort, key, title);
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    if !listed.path.is_empty() {
        out.push_str(
            "<tr class=\"d\"><td><a href=\"../\"><svg aria-hidden=\"true\"><use href=\"#u\"/></svg>\
             Parent folder</a></td><td></td><td></td></tr>\n",
        );
    }
    for entry in &listed.entries {
        push_row(out, entry);
    }
    out.push_str("</tbody>\n</table>\n");
}

fn push_column(out: &mut String, listed: &Listed, sort: Sort, key: &str, title: &str) {
    let is_active = listed.sort == sort;
    let descending = is_active && listed.order == Order::Ascending;
    let order = if descending { "desc" } else { "asc" };
    let state = match (is_active, listed.order) {
        (false, _) => "",
        (true, Order::Ascending) => " aria-sort=\"ascending\"",
        (true, Order::Descending) => " aria-sort=\"descending\"",
    };
    let _ = write!(
        out,
        "<th scope=\"col\"{state}><a href=\"?sort={key}&amp;order={order}\">{title}</a></th>"
    );
}

fn push_row(out: &mut String, entry: &ListedEntry) {
    let link = percent_encode_path(&entry.name);
    let (class, slash) = match entry.kind {
        Kind::Directory => (" class=\"d\"", "/"),
        Kind::File => ("", ""),
    };
    let symbol = symbol(entry);
    let _ = write!(
        out,
        "<tr{class}><td><a href=\"{link}{slash}\"><svg aria-hidden=\"true\"><use href=\"#{symbol}\"/></svg><bdi>"
    );
    push_text(out, &String::from_utf8_lossy(&entry.name));
    out.push_str("</bdi></a></td><td");
    if entry.kind == Kind::File {
        let _ = write!(out, " title=\"{} bytes\">{}", grouped(entry.size), human_size(entry.size));
    } else {
        out.push('>');
    }
    let exact = rfc3339(entry.modified);
    let short = utc(entry.modified).format("%F %H:%M");
    let _ = writeln!(
        out,
        "</td><td><time datetime=\"{exact}\" title=\"{exact}\">{short}</time></td></tr>"
    );
}

fn symbol(entry: &ListedEntry) -> char {
    if entry.kind == Kind::Directory {
        return 'd';
    }
    let media_type = media_type::by_file_name(&entry.name).unwrap_or_default();
    match media_type.split('/').next() {
        Some("text") => 't',
        Some("image") => 'i',
        Some("audio" | "video") => 'm',
        _ if media_type.contains("json") || media_type.contains("xml") => 't',
        _ if ["zip", "gzip", "tar", "compress", "zstd", "7z", "xz", "bz"]
            .iter()
            .any(|word| media_type.contains(word)) =>
        {
            'z'
        }
        _ => 'f',
    }
}

fn push_summary(out: &mut String, listed: &Listed) {
    let folders = listed.entries.iter().filter(|entry| entry.kind == Kind::Directory).count();
    let files = listed.entries.len() - folders;
    let bytes =
        listed.entries.iter().filter(|entry| entry.kind == Kind::File).map(|entry| entry.size);
    let total = bytes.fold(0u64, u64::saturating_add);
    out.push_str("<p>");
    if listed.completeness == Completeness::Cut {
        let _ = write!(
            out,
            "This folder has more than {} entries; these are some of them.<br>",
            grouped(LISTING_ENTRIES_MAX)
        );
    }
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    if folders > 0 {
        let _ = write!(out, "{} folder{}, ", grouped(folders), plural(folders));
    }
    let _ = write!(out, "{} file{}", grouped(files), plural(files));
    if files > 0 {
        let _ = write!(out, ", {}", human_size(total));
    }
    out.push_str(" \u{b7} <a href=\"?json\">JSON</a> \u{b7} times in UTC</p>\n");
}

/// Text between tags or in a quoted attribute. Control characters, which a terminal or a browser
/// might obey, are shown by their pictures of U+2400.
fn push_text(out: &mut String, text: &str) {
    for character in text.chars() {
        if let Some(reference) = html_reference(character) {
            out.push_str(reference);
            continue;
        }
        match character {
            '\u{7f}' => out.push('\u{2421}'),
            '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(character))),
            '\u{80}'..='\u{9f}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
}

// Three digits are shown, and a float has more.
#[allow(clippy::cast_precision_loss)]
fn human_size(bytes: u64) -> String {
    size(bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let mut out = String::new();
        push_text(&mut out, "<script>alert(\"1\")</script> & 'x' \u{1b}[2J\u{7f}\u{9b}");
        assert_eq!(
            out,
            "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#x27;x&#x27; \u{241b}[2J\u{2421}\u{fffd}"
        );
    }
}
