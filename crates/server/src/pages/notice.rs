//! Short HTML documents instead of a page: errors, and in development mode the problems of the
//! templates with their lines.

use std::fmt::Write;

use vervet_http::status::Status;
use vervet_http::text::write_html;

use crate::pages::problem::PageProblem;

const STYLE: &str = include_str!("notice.css");

/// A small HTML document about an invalid request or a page with errors.
pub(crate) fn notice(status: Status, text: &str) -> String {
    let title = format!("{} {}", status.code(), status.reason());
    let mut out = String::with_capacity(1024 + text.len());
    begin(&mut out, &title, "notice");
    let _ = write!(out, "<h1>{title}</h1>\n<p>");
    let _ = write_html(&mut out, text);
    out.push_str("</p>\n</main>\n</body>\n</html>\n");
    out
}

/// The problems of a page, for the person who writes it.
pub(crate) fn problems(problems: &[PageProblem]) -> String {
    let mut out = String::with_capacity(8 * 1024);
    begin(&mut out, "Problem in a page", "problems");
    let _ = match problems.len() {
        1 => writeln!(out, "<h1>This page has a problem</h1>"),
        count => writeln!(out, "<h1>This page has {count} problems</h1>"),
    };
    for problem in problems {
        push_problem(&mut out, problem);
    }
    out.push_str(
        "<footer>Fix the file and reload this page. In production the last valid version stays in use.</footer>\n</main>\n</body>\n</html>\n",
    );
    out
}

fn begin(out: &mut String, title: &str, class: &str) {
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"robots\" content=\"noindex\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main class=\"{class}\">\n"
    );
}

fn push_problem(out: &mut String, problem: &PageProblem) {
    out.push_str("<section>\n<h2>");
    let _ = write_html(out, &problem.message);
    out.push_str("</h2>\n<p class=\"place\">");
    let _ = write_html(out, &problem.file.display().to_string());
    if problem.line > 0 {
        let _ = write!(out, "<b>:{}:{}</b>", problem.line, problem.column);
    }
    out.push_str("</p>\n");
    if !problem.excerpt.is_empty() {
        push_excerpt(out, problem);
    }
    out.push_str("</section>\n");
}

fn push_excerpt(out: &mut String, problem: &PageProblem) {
    out.push_str("<pre tabindex=\"0\"><code>");
    for (number, text) in &problem.excerpt {
        let is_here = *number == problem.line;
        out.push_str(if is_here { "<mark>" } else { "<span>" });
        let _ = write!(out, "<i>{number:>5}</i>");
        let _ = write_html(out, text);
        if is_here {
            let _ = write!(out, "\n<i>     </i>{:>1$}", "^", problem.column);
        }
        out.push_str(if is_here { "</mark>\n" } else { "</span>\n" });
    }
    out.push_str("</code></pre>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_shows_text_as_text() {
        let page = notice(Status::BAD_REQUEST, "the parameter <n> must be \"1\"");
        assert!(page.contains("<h1>400 Bad Request</h1>"), "{page}");
        assert!(page.contains("<p>the parameter &lt;n&gt; must be &quot;1&quot;</p>"), "{page}");
    }

    #[test]
    fn a_problem_shows_its_line_and_not_its_markup() {
        let problem = PageProblem {
            file: "/t/<a>.html".into(),
            line: 2,
            column: 3,
            message: "no <filter>".to_owned(),
            excerpt: vec![(1, "<p>".to_owned()), (2, "{{ <x> }}".to_owned())],
        };
        let page = problems(&[problem]);
        for part in [
            "<h1>This page has a problem</h1>",
            "<h2>no &lt;filter&gt;</h2>",
            "/t/&lt;a&gt;.html<b>:2:3</b>",
            "<span><i>    1</i>&lt;p&gt;</span>\n",
            "<mark><i>    2</i>{{ &lt;x&gt; }}\n<i>     </i>  ^</mark>\n",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }
}
