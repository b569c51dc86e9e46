//! Names that one part of a lab file gives and another one uses.

use vervet_config::{Diagnostic, Diagnostics, Setting, Span, cited, nearest};

/// Finds names by their place in the file.
pub(super) struct Names<'n> {
    /// What they are names of, in the singular.
    noun: &'static str,
    known: Vec<&'n str>,
}

impl<'n> Names<'n> {
    /// The names of `noun`.
    pub(super) fn new(noun: &'static str, known: impl Iterator<Item = &'n str>) -> Self {
        Self {
            noun,
            known: known.collect(),
        }
    }

    /// The index of a name; where there is none, a finding at `span`.
    pub(super) fn index(&self, name: &str, span: Span, found: &mut Diagnostics) -> Option<usize> {
        let index = self.known.iter().position(|known| *known == name);
        if index.is_none() {
            let message = format!("there is no {} `{}`", self.noun, cited(name));
            let mut problem =
                Diagnostic::error(span, message).nearest(nearest(name, self.known.iter().copied()));
            if !self.known.is_empty() {
                problem = problem.expected(format!("one of {}", list(&self.known)));
            }
            found.push(problem);
        }
        index
    }

    /// The indices of a list of names, in the order of the list; of all where the list is empty.
    pub(super) fn indices(
        &self,
        list: &Setting<Vec<String>>,
        found: &mut Diagnostics,
    ) -> Vec<usize> {
        if list.is_empty() {
            return (0..self.known.len()).collect();
        }
        let indices = list
            .iter()
            .filter_map(|name| self.index(name, list.span(), found));
        let mut indices: Vec<usize> = indices.collect();
        indices.sort_unstable();
        indices.dedup();
        indices
    }
}

fn list(known: &[&str]) -> String {
    let quoted: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
