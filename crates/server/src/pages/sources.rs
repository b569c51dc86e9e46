//! All templates of a page: read, parsed, and checked against each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::pages::folder::{TemplateFolder, Witness};
use crate::pages::limits::TEMPLATES_MAX;
use crate::pages::outline::{Named, Outline, Requirement};
use crate::pages::problem::{Origin, PageProblem};

/// Seconds after which a file counts as settled: equal times then mean equal content.
const SETTLED_S: i64 = 2;

/// The templates of a page.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Texts by name.
    pub(crate) texts: BTreeMap<String, String>,
    pub(crate) outlines: BTreeMap<String, Outline>,
    /// The states of all files that were read.
    pub(crate) witnesses: Vec<Witness>,
    pub(crate) problems: Vec<PageProblem>,
    /// Whether later changes are visible in the times of the files.
    pub(crate) is_settled: bool,
}

/// Whether a later change is visible in the times of the file.
pub(crate) fn is_settled(witness: &Witness, unix_seconds: u64) -> bool {
    let now_s = i64::try_from(unix_seconds).unwrap_or(i64::MAX);
    now_s - witness.changed_s() >= SETTLED_S
}

/// A template that is referenced, and where.
struct Reference {
    name: String,
    by: Option<(String, usize)>,
    need: Requirement,
}

impl Sources {
    /// Reads the page `template` and all templates that it references.
    pub(crate) fn gather(folder: &TemplateFolder, template: &str, unix_seconds: u64) -> Self {
        let mut sources = Self::default();
        let mut pending =
            vec![Reference { name: template.to_owned(), by: None, need: Requirement::Required }];
        let mut seen = BTreeSet::new();
        while let Some(next) = pending.pop() {
            if !seen.insert(next.name.clone()) {
                continue;
            }
            if seen.len() > TEMPLATES_MAX {
                let text = format!("the page uses more than {TEMPLATES_MAX} templates");
                sources.problems.push(PageProblem::in_file(&folder.path, template, text));
                break;
            }
            pending.extend(sources.take(folder, &next));
        }
        let witnesses = &sources.witnesses;
        sources.is_settled = witnesses.iter().all(|witness| is_settled(witness, unix_seconds));
        sources
    }

    /// Memory of the texts.
    pub(crate) fn bytes(&self) -> u64 {
        self.texts.values().map(|text| text.len() as u64).sum()
    }

    /// Reads one template and returns those that it references.
    fn take(&mut self, folder: &TemplateFolder, reference: &Reference) -> Vec<Reference> {
        let (witness, text) = folder.read(&reference.name);
        self.witnesses.push(witness);
        let text = match text {
            Ok(text) => text,
            Err(_) if reference.need == Requirement::Optional => return Vec::new(),
            Err(wrong) => {
                self.problems.push(self.missing(folder, reference, wrong));
                return Vec::new();
            }
        };
        let outline = Outline::parse(&reference.name, &text).map_err(|error| {
            PageProblem::from_error(&error, &folder.path, |name| {
                (name == reference.name).then_some(text.as_str())
            })
        });
        let mut more = Vec::new();
        match outline {
            Ok(outline) => {
                let references = outline.references.iter().map(|(named, need)| Reference {
                    name: named.name.clone(),
                    by: Some((reference.name.clone(), named.offset)),
                    need: *need,
                });
                more.extend(references);
                self.outlines.insert(reference.name.clone(), outline);
            }
            Err(problem) => self.problems.push(problem),
        }
        self.texts.insert(reference.name.clone(), text);
        more
    }

    fn missing(&self, folder: &TemplateFolder, link: &Reference, wrong: String) -> PageProblem {
        match &link.by {
            Some((by, offset)) => self.problem(folder, by, *offset, wrong),
            None => PageProblem::in_file(&folder.path, &link.name, wrong),
        }
    }

    /// A problem at a byte of one of the templates.
    pub(crate) fn problem(
        &self,
        folder: &TemplateFolder,
        name: &str,
        offset: usize,
        message: impl Into<String>,
    ) -> PageProblem {
        let text = self.texts.get(name).map(String::as_str).unwrap_or_default();
        let origin = Origin { folder: &folder.path, name, text };
        PageProblem::at(origin, offset, message)
    }

    /// The templates from `template` up to the one that extends no other; `Err` where one extends
    /// itself, by however many others, with the name of it and the place. The flag tells whether
    /// the last is known to be the last.
    pub(crate) fn lineage(&self, template: &str) -> Result<Lineage<'_>, (&str, &Named)> {
        let mut names = Vec::new();
        let mut here = self.outlines.get_key_value(template);
        let mut is_complete = false;
        while let Some((name, outline)) = here {
            names.push(name.as_str());
            let crate::pages::outline::Parent::One(parent) = &outline.parent else {
                is_complete = outline.parent == crate::pages::outline::Parent::None;
                break;
            };
            if names.contains(&parent.name.as_str()) {
                return Err((name, parent));
            }
            here = self.outlines.get_key_value(&parent.name);
        }
        Ok(Lineage { names, is_complete })
    }
}

/// A template and those that it extends, one after another.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lineage<'a> {
    pub(crate) names: Vec<&'a str>,
    /// Whether the last of them is known to extend no other.
    pub(crate) is_complete: bool,
}
