//! The guide for those who write templates, example by example: each is rendered, and gives what
//! the guide shows.

use std::path::Path;
use std::sync::Arc;

use crate::page_support;
use crate::page_support::{Asked, Site, Told};
use vervet_config::{read_text, section};
use vervet_server::caches::Caches;
use vervet_server::error_log::ProblemLog;
use vervet_server::pages::{PageSettings, PageSetup, Parameter};
use vervet_testkit::TempTree;

section! {
    /// A document that is one page.
    pub struct Sole {
        /// The page.
        pub page: PageSettings,
    }
}

/// What stands between two lines of three backquotes, with the text before it.
#[derive(Debug)]
struct Block {
    language: String,
    before: String,
    text: String,
    line: usize,
}

fn blocks(guide: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    let mut before = String::new();
    for (index, line) in guide.lines().enumerate() {
        match (is_open, line.strip_prefix("```")) {
            (true, Some(_)) => is_open = false,
            (true, None) => blocks.last_mut().unwrap().text.extend([line, "\n"]),
            (false, Some(language)) => {
                is_open = true;
                blocks.push(Block {
                    language: language.to_owned(),
                    before: std::mem::take(&mut before),
                    text: String::new(),
                    line: index + 1,
                });
            }
            (false, None) if !line.is_empty() => line.clone_into(&mut before),
            (false, None) => {}
        }
    }
    blocks
}

/// The words in backquotes.
fn quoted(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

/// What the guide has shown so far.
struct Guide {
    tree: TempTree,
    template: String,
    parameters: Vec<Parameter>,
    checked: usize,
}

impl Guide {
    fn take(&mut self, block: &Block) {
        match block.language.as_str() {
            "jinja" => self.template(block),
            "toml" => self.document(block),
            "html" | "text" if block.before.contains("is refused with") => {
                self.check_refused(block);
            }
            "html" | "text" => self.check(block),
            "http" => self.check_answer(block),
            other => panic!("line {}: a block of {other}", block.line),
        }
    }

    fn template(&mut self, block: &Block) {
        let named = quoted(&block.before).last().copied().filter(|_| block.before.ends_with("`:"));
        let name = named.and_then(|path| path.rsplit('/').next()).unwrap_or("page.html");
        self.tree.write(name, &block.text);
        name.clone_into(&mut self.template);
        if name == "page.html" {
            self.parameters.clear();
        }
    }

    fn document(&mut self, block: &Block) {
        let lines = block.text.lines();
        // Of a route the page alone: the rest does not concern pages.
        let text: Vec<_> = if block.text.contains("[[site.route]]") {
            lines.skip_while(|line| !line.starts_with("page")).collect()
        } else {
            lines.collect()
        };
        let text = text.join("\n");
        let reading = read_text::<Sole>("vervet.toml", &text);
        assert!(reading.diagnostics.is_empty(), "line {}: {}", block.line, reading.to_text());
        let journal: Arc<dyn ProblemLog> = Arc::new(Told::default());
        let now =
            vervet_engine::reactor::Now { monotonic_ms: 0, unix_seconds: page_support::NOW_S };
        let setup =
            PageSetup { server: "Vervet", journal: &journal, caches: &Caches::default(), now };
        let options = reading.value.unwrap().page.options(setup).unwrap();
        self.parameters = options.parameters.to_vec();
    }

    fn site(&mut self) -> Site {
        let tree = std::mem::take(&mut self.tree);
        let (template, parameters) = (self.template.clone(), self.parameters.clone());
        Site::with(tree, |options| {
            options.template = template;
            options.parameters = parameters.into();
        })
    }

    fn answer(&mut self, block: &Block) -> (page_support::Shown, Vec<String>) {
        let words = quoted(&block.before);
        let (method, target) = words[0].split_once(' ').unwrap();
        let fields: Vec<_> = words[1..].iter().filter_map(|word| word.split_once(": ")).collect();
        let form = words[1..].iter().find(|word| !word.contains(": ")).copied().unwrap_or("");
        assert_eq!(method == "POST", !form.is_empty(), "line {}", block.line);
        let mut site = self.site();
        let asked = Asked { form, fields: &fields, ..Asked::get(target) };
        let shown = site.ask(asked);
        let mut told = site.problems();
        told.extend(site.told.take());
        self.tree = site.tree;
        self.checked += 1;
        (shown, told)
    }

    fn check(&mut self, block: &Block) {
        let (shown, told) = self.answer(block);
        assert_eq!(
            (shown.text.trim(), shown.status),
            (block.text.trim(), 200),
            "line {}: {told:?}",
            block.line
        );
    }

    /// Status, some fields, and a part of the content.
    fn check_answer(&mut self, block: &Block) {
        let (shown, told) = self.answer(block);
        let (head, content) = block.text.split_once("\n\n").unwrap_or((&block.text, ""));
        for line in head.lines() {
            assert!(
                shown.head.lines().any(|own| own == line),
                "line {}: {line} in {}{told:?}",
                block.line,
                shown.head
            );
        }
        assert!(shown.text.contains(content.trim()), "line {}: {}", block.line, shown.text);
    }

    fn check_refused(&mut self, block: &Block) {
        let site = self.site();
        let mut problems = site.problems();
        let mut expected: Vec<_> = block.text.lines().map(str::to_owned).collect();
        problems.sort();
        expected.sort();
        assert_eq!(problems, expected, "line {}", block.line);
        self.tree = site.tree;
        self.checked += 1;
    }
}

#[test]
fn every_example_gives_what_the_guide_shows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pages.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut guide = Guide {
        tree: TempTree::new(),
        template: String::new(),
        parameters: Vec::new(),
        checked: 0,
    };
    let blocks = blocks(&text);
    let answers =
        blocks.iter().filter(|block| matches!(block.language.as_str(), "html" | "text" | "http"));
    let expected = answers.count();
    for block in &blocks {
        guide.take(block);
    }
    assert!(guide.checked == expected && expected > 15, "{} of {expected}", guide.checked);
}
