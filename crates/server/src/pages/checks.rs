//! Finds errors of a page before it is rendered: undefined names, blocks that no parent has,
//! unknown filters and tests, and disabled escaping.

use std::collections::BTreeSet;

use minijinja::{Environment, ErrorKind, Value};
use vervet_config::did_you_mean;

use crate::pages::effects::ScopeFunction;
use crate::pages::folder::TemplateFolder;
use crate::pages::outline::{BlockOutline, Named, Outline};
use crate::pages::parameters::Parameter;
use crate::pages::problem::PageProblem;
use crate::pages::scope::ScopeVariable;
use crate::pages::sources::Sources;

/// Names that the engine itself gives a meaning.
const OF_THE_ENGINE: &[&str] = &["loop", "self", "super", "caller", "varargs", "kwargs"];

/// The templates of a page and the names that they can use.
#[derive(Clone, Copy)]
pub(crate) struct Checked<'a> {
    pub(crate) folder: &'a TemplateFolder,
    pub(crate) sources: &'a Sources,
    pub(crate) environment: &'a Environment<'static>,
    pub(crate) parameters: &'a [Parameter],
}

/// All problems of the page `template`, in the order of files and lines.
pub(crate) fn problems(checked: Checked<'_>, template: &str) -> Vec<PageProblem> {
    let mut problems = Vec::new();
    for (name, outline) in &checked.sources.outlines {
        problems.extend(checked.escapes(name, outline));
        problems.extend(checked.applied(name, outline));
    }
    let has_open = |outline: &Outline| outline.has_open_references;
    if !checked.sources.outlines.values().any(has_open) {
        problems.extend(checked.names());
    }
    problems.extend(checked.blocks(template));
    problems.sort_by(|one, other| {
        (&one.file, one.line, one.column).cmp(&(&other.file, other.line, other.column))
    });
    problems
}

impl Checked<'_> {
    fn at(&self, template: &str, offset: usize, message: impl Into<String>) -> PageProblem {
        self.sources.problem(self.folder, template, offset, message)
    }

    fn escapes(&self, template: &str, outline: &Outline) -> Vec<PageProblem> {
        let message =
            "escaping cannot be switched off or on; use |safe for a single value that is HTML";
        let places = outline.autoescapes.iter();
        places.map(|offset| self.at(template, *offset, message)).collect()
    }

    /// Filters and tests. The engine looks them up when it comes to them; asked with nothing it
    /// tells whether it knows them.
    fn applied(&self, template: &str, outline: &Outline) -> Vec<PageProblem> {
        let unknown_filter = |named: &&Named| {
            let tried = self.environment.empty_state().apply_filter(&named.name, &[]);
            tried.is_err_and(|error| error.kind() == ErrorKind::UnknownFilter)
        };
        let unknown_test = |named: &&Named| {
            let tried =
                self.environment.empty_state().perform_test(&named.name, &[Value::UNDEFINED]);
            tried.is_err_and(|error| error.kind() == ErrorKind::UnknownTest)
        };
        let filters = outline.filters.iter().filter(unknown_filter);
        let tests = outline.tests.iter().filter(unknown_test);
        let filters = filters.map(|named| {
            self.at(template, named.offset, format!("there is no filter {}", named.name))
        });
        let tests = tests.map(|named| {
            self.at(template, named.offset, format!("there is no test {}", named.name))
        });
        filters.chain(tests).collect()
    }

    /// Names that nothing in the page gives a meaning. An included template sees what those that
    /// include it have set, so a name counts as known when any template of the page sets it.
    fn names(&self) -> Vec<PageProblem> {
        let known = self.known_names();
        let mut problems = Vec::new();
        for (template, outline) in &self.sources.outlines {
            let unknown = outline.names.iter().filter(|named| !known.contains(named.name.as_str()));
            let mut told = BTreeSet::new();
            for named in unknown.filter(|named| told.insert(named.name.as_str())) {
                let hint = did_you_mean(&named.name, known.iter().copied());
                let text = format!("unknown name {}{hint}", named.name);
                problems.push(self.at(template, named.offset, text));
            }
        }
        problems
    }

    fn known_names(&self) -> BTreeSet<&str> {
        let mut known: BTreeSet<&str> = OF_THE_ENGINE.iter().copied().collect();
        known.extend(ScopeVariable::ALL.map(ScopeVariable::name));
        known.extend(ScopeFunction::ALL.map(ScopeFunction::name));
        known.extend(self.parameters.iter().map(|parameter| parameter.name.as_str()));
        known.extend(self.environment.globals().map(|(name, _)| name));
        let outlines = self.sources.outlines.values();
        known.extend(outlines.flat_map(|outline| outline.assigned.iter().map(String::as_str)));
        known
    }

    /// Blocks that fill nothing, calls of blocks that are not there, and required ones left empty.
    fn blocks(&self, template: &str) -> Vec<PageProblem> {
        let lineage = match self.sources.lineage(template) {
            Ok(lineage) => lineage,
            Err((name, parent)) => {
                return vec![self.at(
                    name,
                    parent.offset,
                    format!("{template} extends itself through {}", parent.name),
                )];
            }
        };
        let line: Vec<(&str, &Outline)> = lineage
            .names
            .iter()
            .filter_map(|name| Some((*name, self.sources.outlines.get(*name)?)))
            .collect();
        if !lineage.is_complete {
            return Vec::new();
        }
        let mut problems = Vec::new();
        for (depth, (name, outline)) in line.iter().enumerate() {
            let parents = &line[depth + 1..];
            for block in &outline.blocks {
                problems.extend(self.block(name, block, parents));
            }
            let is_known =
                |called: &Named| line.iter().any(|(_, outline)| has_block(outline, &called.name));
            let unknown = outline.block_calls.iter().filter(|called| !is_known(called));
            problems.extend(unknown.map(|called| {
                self.at(name, called.offset, format!("there is no block {}", called.name))
            }));
        }
        problems.extend(self.unfilled(&line));
        problems
    }

    fn block(
        &self,
        template: &str,
        block: &BlockOutline,
        parents: &[(&str, &Outline)],
    ) -> Vec<PageProblem> {
        let name = &block.at.name;
        let is_inherited = parents.iter().any(|(_, outline)| has_block(outline, name));
        let mut problems = Vec::new();
        if let (Some((parent, _)), false, false) = (parents.first(), is_inherited, block.is_nested)
        {
            let theirs = parents.iter().flat_map(|(_, outline)| &outline.blocks);
            let hint = did_you_mean(name, theirs.map(|block| block.at.name.as_str()));
            let text = format!("{parent} has no block {name}{hint}");
            problems.push(self.at(template, block.at.offset, text));
        } else if !is_inherited {
            let text =
                format!("super() has nothing to call: no parent template has a block {name}");
            let places = block.supers.iter();
            problems.extend(places.map(|offset| self.at(template, *offset, text.as_str())));
        }
        problems
    }

    /// Required blocks that none of the templates further down fills.
    fn unfilled(&self, line: &[(&str, &Outline)]) -> Vec<PageProblem> {
        let mut problems = Vec::new();
        for (depth, (name, outline)) in line.iter().enumerate() {
            let children = &line[..depth];
            let is_filled = |block: &BlockOutline| {
                let fills = |own: &BlockOutline| own.at.name == block.at.name && !own.is_required;
                children.iter().any(|(_, outline)| outline.blocks.iter().any(fills))
            };
            let required =
                outline.blocks.iter().filter(|block| block.is_required && !is_filled(block));
            problems.extend(required.map(|block| {
                let text = format!(
                    "the block {} is required, and the page does not fill it",
                    block.at.name
                );
                self.at(name, block.at.offset, text)
            }));
        }
        problems
    }
}

fn has_block(outline: &Outline, name: &str) -> bool {
    outline.blocks.iter().any(|block| block.at.name == name)
}
