//! Trees of files.

use vervet_config::{Diagnostic, Diagnostics};

use super::resolve::Pace;
use super::types::PlannedTree;
use crate::document::Lab;

/// The most bytes of all trees together.
const BYTES_MAX: u64 = 64 << 30;

/// All trees, in the order of the file.
pub(super) fn resolve(lab: &Lab, pace: Pace, found: &mut Diagnostics) -> Vec<PlannedTree> {
    let mut trees = Vec::new();
    let mut bytes: u64 = 0;
    for (name, tree) in lab.tree.iter() {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if !name.bytes().all(plain) {
            let problem = Diagnostic::error(
                name.span(),
                "the name of a tree is a folder of its request targets",
            );
            found.push(problem.expected("letters, digits, `-` and `_`"));
        }
        let least = tree.size.bytes();
        let most = tree.size_max.map_or(least, vervet_config::Size::bytes);
        if most < least {
            let problem = Diagnostic::error(
                tree.size_max.span(),
                "the largest size is less than the smallest",
            );
            found.push(problem.note_at(tree.size.span(), "the smallest"));
        }
        let files = match pace {
            Pace::Full => *tree.files,
            Pace::Quick => (*tree.files).min(*lab.quick.files),
        };
        bytes = bytes.saturating_add(most.saturating_mul(u64::from(files)));
        if bytes > BYTES_MAX {
            let message =
                format!("the trees may come to {bytes} bytes, at most {BYTES_MAX} are made");
            found.push(Diagnostic::error(name.span(), message).expected("fewer or smaller files"));
        }
        let content = tree.content.value().clone();
        let length = content.as_ref().map(|content| content.len() as u64);
        trees.push(PlannedTree {
            name: name.value().clone(),
            files,
            bytes_min: length.unwrap_or(least),
            bytes_max: length.unwrap_or(most),
            content,
        });
    }
    trees
}
