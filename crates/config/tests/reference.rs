//! The pages of the reference.

use crate::common::{Document, read};
use vervet_config::{Page, Section, reference};

fn pages() -> Vec<Page> {
    reference(Document::declaration())
}

fn text(file: &str) -> String {
    let page = pages().into_iter().find(|page| page.file == file);
    page.unwrap().text
}

#[test]
fn each_section_has_one_page() {
    let pages = pages();
    let files: Vec<_> = pages.iter().map(|page| page.file.as_str()).collect();
    assert_eq!(files, ["index.md", "limits.md", "log.md", "site.md", "site.cors.md", "heard.md"]);
}

#[test]
fn a_page_has_a_row_for_each_directive() {
    let expected = "\
# `[limits]`

What one client may cost.

| directive | type | default | bounds | what it does |
|---|---|---|---|---|
| `content` | a size, or an integer | `\"1MiB\"` | `0` to `\"1TiB\"` | The most bytes of a request. |
| `connections` | an integer | none | `1` to `1000000` | The most connections, if there is a limit. |
| `overload` | one of `\"reject\"`, `\"wait\"` | `\"reject\"` |  | What happens above it. |
| `share` | a number | `0.5` | `0.0` to `1.0` | The part of the machine that may be used. |

- `overload = \"reject\"`: 503 with Retry-After.
- `overload = \"wait\"`: They wait in the queue.

```toml
[limits]
content = \"1MiB\"
connections = 1
overload = \"reject\"
share = 0.5
```
";
    assert_eq!(text("limits.md"), expected);
}

#[test]
fn a_page_explains_the_short_form() {
    let page = text("site.cors.md");
    assert!(
        page.contains("`cors = [\"*\"]` is short for `cors = { origins = [\"*\"] }`."),
        "{page}"
    );
    let page = text("log.md");
    assert!(page.contains("# `[log.NAME]`"), "{page}");
    assert!(
        page.contains("`main = \"path\"` is short for `main = { file = \"path\" }`."),
        "{page}"
    );
}

#[test]
fn a_short_list_stands_for_a_list_of_tables() {
    let page = text("heard.md");
    assert!(page.contains("`heard = 1` is short for `heard = [{ port = 1 }]`."), "{page}");
    let reading = read("heard = [{ port = 1 }]");
    assert_eq!(read("heard = 1").value, reading.value);
    assert!(reading.value.is_some());
}

#[test]
fn the_top_level_links_to_all_sections() {
    let page = text("index.md");
    for link in [
        "- [`[limits]`](limits.md): What one client may cost.",
        "- [`[log.NAME]`](log.md): Where lines about requests go.",
        "- [`[[site]]`](site.md): A site.",
        "- [`[site.cors]`](site.cors.md): What scripts of other origins may read.",
    ] {
        assert!(page.contains(link), "{page}");
    }
}

/// The blocks of code of a page.
fn blocks(page: &str) -> Vec<String> {
    let blocks = page.split("```toml\n").skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_example_reads_without_a_finding() {
    for page in pages() {
        let blocks = blocks(&page.text);
        assert!(!blocks.is_empty(), "{}", page.file);
        for mut block in blocks {
            if block.starts_with("[site.") {
                block = format!("[[site]]\nroot = 'x'\n{block}");
            }
            let reading = read(&block);
            assert!(reading.diagnostics.is_empty(), "{block}\n{}", reading.to_text());
        }
    }
}

vervet_config::section! {
    /// First line
    /// goes on.
    ///
    /// Second paragraph.
    ///
    /// ```toml
    /// [odd]
    /// own = "example"
    /// ```
    struct Odd {
        /// Either a | b.
        ///
        /// ```toml
        /// [odd]
        /// list = ["of the directive"]
        /// ```
        list: Vec<String>,
        /// Itself.
        inner: Vec<Odd>,
    }
}

vervet_config::section! {
    /// Top.
    struct Top {
        /// Odd.
        odd: Odd,
    }
}

#[test]
fn documentation_comments_keep_their_examples() {
    let pages = reference(Top::declaration());
    let files: Vec<_> = pages.iter().map(|page| page.file.as_str()).collect();
    assert_eq!(files, ["index.md", "odd.md"]);
    let page = &pages[1].text;
    let expected = "\
# `[odd]`

First line goes on.

Second paragraph.

Also: `[[odd.inner]]`.

| directive | type | default | bounds | what it does |
|---|---|---|---|---|
| `list` | a list of texts | none |  | Either a \\| b. |
| `inner` | [a list of tables](odd.md) | none |  | Itself. |

`list`:

```toml
[odd]
list = [\"of the directive\"]
```

```toml
[odd]
own = \"example\"
```
";
    assert_eq!(page, expected);
}

vervet_config::section! {
    /// Shared. It has more to say.
    struct Shared {
        /// A time, if at all.
        time: Option<vervet_config::Time>,
    }
}

vervet_config::section! {
    /// Deep.
    struct Deep {
        /// Shared.
        shared: Shared,
    }
}

vervet_config::section! {
    /// Top.
    struct Shallow {
        /// Deep.
        deep: Deep,
        /// Shared.
        common: Shared,
    }
}

#[test]
fn a_section_of_several_places_has_its_page_at_the_highest() {
    let pages = reference(Shallow::declaration());
    let files: Vec<_> = pages.iter().map(|page| page.file.as_str()).collect();
    assert_eq!(files, ["index.md", "deep.md", "common.md"]);
    assert!(pages[1].text.contains("| [a table](common.md) |"), "{}", pages[1].text);
    assert!(pages[2].text.contains("Also: `[deep.shared]`."), "{}", pages[2].text);
    assert!(pages[2].text.contains("| a time such as `\"10s\"` |"), "{}", pages[2].text);
    assert!(pages[0].text.ends_with("- [`[common]`](common.md): Shared.\n"), "{}", pages[0].text);
}
