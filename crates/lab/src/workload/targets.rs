//! Request targets and requests of a workload.

use std::fmt::Write as _;
use std::net::SocketAddr;

use super::files;
use crate::plan::{Plan, PlannedWorkload};

/// Stands for a file of the tree in a request target.
const FILE: &str = "{file}";

/// Every request target of a workload, in the order of the files; one where it has no tree.
pub fn targets(plan: &Plan, workload: &PlannedWorkload) -> Vec<String> {
    let path = &workload.request.target;
    match workload.tree {
        None => vec![path.clone()],
        Some(tree) => {
            let of = |index| path.replace(FILE, &files::file_name(index));
            (0..plan.trees[tree].files).map(of).collect()
        }
    }
}

/// A request, head and content, with further field lines.
pub(crate) fn request(
    workload: &PlannedWorkload,
    target: &str,
    address: SocketAddr,
    fields: &[&str],
) -> Vec<u8> {
    let asked = &workload.request;
    let host = asked.host.clone().unwrap_or_else(|| address.to_string());
    let mut text = format!("{} {target} HTTP/1.1\r\nHost: {host}\r\n", asked.method);
    for field in asked
        .fields
        .iter()
        .map(String::as_str)
        .chain(fields.iter().copied())
    {
        text.push_str(field);
        text.push_str("\r\n");
    }
    if let Some(content) = &asked.content {
        // Writing to a string cannot fail.
        let _ = write!(text, "Content-Length: {}\r\n", content.len());
    }
    text.push_str("\r\n");
    text.push_str(asked.content.as_deref().unwrap_or_default());
    text.into_bytes()
}
