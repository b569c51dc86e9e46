//! Sets, adds, removes and defaults headers of responses, and of requests that are passed on.
//!
//! Values may contain variables of the request. Their text is validated when the document is read;
//! bytes of a variable that could end the line are removed.

use std::borrow::Cow;
use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics, FromText as _, Named, section};
use vervet_http::h1::RequestHead;

use super::FilterDirective;
use super::field_template::{FieldTemplate, FieldValues};
use super::field_text::FieldName;
use crate::resources::{Needs, Opened, Resources};
use crate::web::{Edit, Edits, Pipeline, Request, RequestFilter, Verdict};

section! {
    /// Changes to headers, made in the order `remove`, `set`, `add`, `default`. Values may contain
    /// `{client}`, `{host}`, `{method}`, `{path}`, `{scheme}`, `{user}` and `{request_id}`; `{{`
    /// and `}}` are literal braces.
    ///
    /// ```toml
    /// [site.fields.response]
    /// set    = { X-Robots-Tag = "noindex", X-Served-For = "{client}" }
    /// remove = ["Server"]
    /// ```
    pub struct FieldChanges {
        /// Headers to remove, with all their lines.
        pub remove: Vec<FieldName>,
        /// Headers to set. Existing lines are replaced.
        pub set: Named<FieldTemplate>,
        /// Header lines to add to existing ones.
        pub add: Named<FieldTemplate>,
        /// Headers to set if they are missing.
        pub default: Named<FieldTemplate>,
    }
}

section! {
    /// Sets, adds and removes headers.
    pub struct FieldSettings {
        /// Changes to the headers of all responses, including error pages.
        pub response: FieldChanges,
        /// Changes to the headers of requests that are passed on to a backend. Has no effect: no
        /// action passes requests on.
        pub request: FieldChanges,
    }
}

/// A change to a header.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    Remove(FieldName),
    Set(FieldName, FieldTemplate),
    Add(FieldName, FieldTemplate),
    Default(FieldName, FieldTemplate),
}

/// Changes to response headers. Changes without variables are shared by all requests.
#[derive(Debug)]
pub struct ResponseFields {
    fixed: Arc<[Edit]>,
    changes: Vec<Change>,
}

/// Changes to the headers of requests that are passed on.
#[derive(Clone, Debug, Default)]
pub struct RequestFields(Vec<Change>);

impl FilterDirective for FieldSettings {
    /// Values may contain the request ID.
    fn needs(&self, needs: &mut Needs) {
        needs.request_ids = true;
    }

    fn open(&self, resources: &mut Resources<'_>, pipeline: &mut Pipeline) -> Opened {
        let filter =
            resources.keeper.share(self, |fields| ResponseFields::new(&fields.response))?;
        pipeline.decorations.push(filter);
        Ok(())
    }
}

impl ResponseFields {
    /// The changes of a section, or all names that are none.
    pub fn new(section: &FieldChanges) -> Result<Self, Diagnostics> {
        let changes = changes(section)?;
        let fixed = changes
            .iter()
            .map(|change| change.edit(FieldTemplate::fixed))
            .collect::<Option<Vec<_>>>();
        Ok(match fixed {
            Some(edits) => Self { fixed: edits.into(), changes: Vec::new() },
            None => Self { fixed: Arc::from([]), changes },
        })
    }
}

impl RequestFilter for ResponseFields {
    fn name(&self) -> &'static str {
        "fields"
    }

    fn check(&self, request: &mut Request<'_>, edits: &mut Edits) -> Verdict {
        edits.share(&self.fixed);
        let values = FieldValues::new(request);
        for change in &self.changes {
            let render = |template: &FieldTemplate| Some(Cow::Owned(template.render(&values)));
            if let Some(edit) = change.edit(render) {
                edits.push(edit);
            }
        }
        Verdict::Pass
    }
}

impl RequestFields {
    /// The changes of a section, or all names that are none.
    pub fn new(section: &FieldChanges) -> Result<Self, Diagnostics> {
        changes(section).map(Self)
    }

    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The header lines of a request as it is passed on, in order, with names as written.
    pub fn lines<'a>(
        &'a self,
        head: &RequestHead<'a>,
        values: &FieldValues<'_>,
    ) -> Vec<(Cow<'a, str>, Cow<'a, [u8]>)> {
        let came =
            head.fields.iter().map(|(name, value)| (Cow::Borrowed(name), Cow::Borrowed(value)));
        let mut lines: Vec<_> = came.collect();
        for change in &self.0 {
            change.apply(&mut lines, values);
        }
        lines
    }
}

impl Change {
    /// The change as an edit, if its value is available.
    fn edit(
        &self,
        value: impl FnOnce(&FieldTemplate) -> Option<Cow<'static, [u8]>>,
    ) -> Option<Edit> {
        let owned = |name: &FieldName| Cow::Owned(name.as_str().to_owned());
        Some(match self {
            Self::Remove(name) => Edit::Remove(owned(name)),
            Self::Set(name, template) => Edit::Set(owned(name), value(template)?),
            Self::Add(name, template) => Edit::Add(owned(name), value(template)?),
            Self::Default(name, template) => Edit::Default(owned(name), value(template)?),
        })
    }

    fn apply<'a>(
        &'a self,
        lines: &mut Vec<(Cow<'a, str>, Cow<'a, [u8]>)>,
        values: &FieldValues<'_>,
    ) {
        let is = |known: &Cow<'_, str>, name: &FieldName| known.eq_ignore_ascii_case(name.as_str());
        match self {
            Self::Remove(name) => lines.retain(|(known, _)| !is(known, name)),
            Self::Set(name, template) => {
                lines.retain(|(known, _)| !is(known, name));
                lines.push((Cow::Borrowed(name.as_str()), Cow::Owned(template.render(values))));
            }
            Self::Default(name, _) if lines.iter().any(|(known, _)| is(known, name)) => {}
            Self::Add(name, template) | Self::Default(name, template) => {
                lines.push((Cow::Borrowed(name.as_str()), Cow::Owned(template.render(values))));
            }
        }
    }
}

type Make = fn(FieldName, FieldTemplate) -> Change;

fn changes(section: &FieldChanges) -> Result<Vec<Change>, Diagnostics> {
    let mut changes: Vec<_> = section.remove.iter().cloned().map(Change::Remove).collect();
    let mut problems = Diagnostics::new();
    let groups = [
        (section.set.value(), Change::Set as Make),
        (section.add.value(), Change::Add),
        (section.default.value(), Change::Default),
    ];
    for (named, change) in groups {
        for (name, template) in named.iter() {
            match FieldName::from_text(name.value()) {
                Ok(field) => changes.push(change(field, template.clone())),
                Err(reason) => {
                    let message =
                        format!("invalid header name `{}`: {reason}", name.escape_debug());
                    problems.push(Diagnostic::error(name.span(), message));
                }
            }
        }
    }
    if problems.is_empty() { Ok(changes) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use vervet_config::read_text;
    use vervet_engine::Response;
    use vervet_http::field::FieldSlots;
    use vervet_http::h1::{HeadLimits, Received, Server};

    use super::*;

    fn section(text: &str) -> FieldChanges {
        let read = read_text::<FieldChanges>("test.toml", text);
        read.value.unwrap_or_else(|| panic!("{text}: {:?}", read.diagnostics))
    }

    /// What becomes of an answer with `A: 1` and `B: 2`.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let fields = ResponseFields::new(&section(text)).unwrap();
        assert!(fields.changes.is_empty(), "{text} has variables");
        let mut edits = Edits::default();
        edits.share(&fields.fixed);
        let mut response = Response::new(vervet_http::status::Status::OK);
        response.add_field("A", b"1").unwrap();
        response.add_field("B", b"2").unwrap();
        let head = String::from_utf8(edits.apply(response).head_bytes().to_vec()).unwrap();
        assert_eq!(head.lines().skip(1).collect::<Vec<_>>(), expected, "{text}");
    }

    /// What becomes of the fields of a request of a user on its way to a handler.
    #[track_caller]
    fn check_request(text: &str, expected: &[&str]) {
        let fields = RequestFields::new(&section(text)).unwrap();
        let limits = HeadLimits {
            head_bytes_max: 8192,
            fields_max: 8,
            target_bytes_max: 100,
            trailer_bytes_max: 0,
        };
        let mut slots = FieldSlots::new();
        let received = Server::new().receive(
            b"GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nx-a: 2\r\n\r\n",
            &mut slots,
            &limits,
        );
        let Ok(Received::Head { head, .. }) = received else { panic!("{received:?}") };
        let values = FieldValues { user: Some(b"ann"), host: b"a", ..FieldValues::default() };
        let lines = fields.lines(&head, &values);
        let lines: Vec<_> = lines
            .iter()
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)))
            .collect();
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn names_that_are_none_are_found_with_their_place() {
        let text = "set = { 'a b' = '1', Connection = 'x' }\nadd = { 'c:' = '2' }";
        let problems = ResponseFields::new(&section(text)).unwrap_err();
        let found: Vec<_> = problems.iter().map(|found| found.message.as_str()).collect();
        let reason = "spaces, colons and other separators are not allowed";
        assert_eq!(
            found,
            [
                format!("invalid header name `a b`: {reason}"),
                "invalid header name `Connection`: the server writes this header itself".to_owned(),
                format!("invalid header name `c:`: {reason}"),
            ]
        );
    }

    #[test]
    fn values_that_would_end_their_line_are_refused_when_they_are_read() {
        for text in [
            "set = { a = \"b\\r\\nc: d\" }",
            "add = { a = \"\\n\" }",
            "default = { a = '{unknown}' }",
            "remove = ['a b']",
            "set = { a = '{host' }",
        ] {
            let read = read_text::<FieldChanges>("test.toml", text);
            assert!(read.value.is_none() && !read.diagnostics.is_empty(), "{text}");
        }
    }

    #[test]
    fn answers_are_changed() {
        check("", &["A: 1", "B: 2"]);
        check("remove = ['a', 'C']", &["B: 2"]);
        check("set = { a = '3', C = '4' }", &["a: 3", "B: 2", "C: 4"]);
        check("add = { A = '3' }", &["A: 1", "B: 2", "A: 3"]);
        check("default = { a = '3', C = '4' }", &["A: 1", "B: 2", "C: 4"]);
        check("remove = ['A']\nset = { A = '3' }", &["B: 2", "A: 3"]);
        check("set = { C = '{{x}}' }", &["A: 1", "B: 2", "C: {x}"]);
    }

    #[test]
    fn requests_are_changed_on_their_way_to_a_handler() {
        check_request("", &["Host: a", "X-A: 1", "x-a: 2"]);
        check_request("remove = ['X-A']", &["Host: a"]);
        check_request("set = { X-A = '{user}@{host}' }", &["Host: a", "X-A: ann@a"]);
        check_request("add = { X-B = '{client}' }", &["Host: a", "X-A: 1", "x-a: 2", "X-B: "]);
        check_request("default = { x-A = '3', Y = '4' }", &["Host: a", "X-A: 1", "x-a: 2", "Y: 4"]);
    }
}
