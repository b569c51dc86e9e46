//! Reading a whole configuration: its files and what they include, and the flags and environment
//! variables that override them. The caller does all input and output.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Diagnostics, nearest};
use crate::parse::{Role, parse_file};
use crate::reader::Reader;
use crate::render::{Style, render_text};
use crate::section::Section;
use crate::setting::Setting;
use crate::shape::Field;
use crate::source::{SOURCE_BYTES_MAX, SourceKind, Sources};
use crate::source::{SourceId, Span};

use crate::FromConfig;
use crate::tree::{Assembly, Header, Key, Node, Value};
use crate::value::Path;

/// The maximum number of files in one configuration.
pub const FILES_MAX: usize = 65_536;

/// The directive whose files are read before the document is.
pub(crate) const INCLUDE: &str = "include";

/// The prefix of environment variables that set directives.
pub const ENVIRONMENT_PREFIX: &str = "VERVET_";

/// A pattern of files to be included, for the caller to resolve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// The path, which may contain wildcards, relative to the folder of the including file.
    pub pattern: PathBuf,
    /// The value of the `include` directive.
    pub span: Span,
}

/// A configuration that is being put together.
///
/// ```
/// vervet_config::section! {
///     /// The whole document.
///     pub struct Document {
///         /// Further files.
///         pub include: Vec<vervet_config::Path>,
///         /// How many workers there are.
///         pub workers: usize = 1 in 1..=64,
///     }
/// }
///
/// let environment = |name: &str| (name == "WORKERS").then(|| "4".to_owned());
/// let mut documents = vervet_config::Documents::new(&environment);
/// documents.add("vervet.toml", "include = 'more.toml'");
/// while let Some(include) = documents.wanted() {
///     // Here the caller looks for the files of the pattern and reads them.
///     let file = include.pattern.display().to_string();
///     documents.supply(&include, vec![(file, b"workers = '${WORKERS}'".to_vec())]);
/// }
/// let reading = documents.read::<Document>();
/// assert!(reading.diagnostics.is_empty(), "{}", reading.to_text());
/// assert_eq!(*reading.value.unwrap().workers, 4);
/// ```
pub struct Documents<'e> {
    environment: &'e dyn Fn(&str) -> Option<String>,
    sources: Sources,
    assembly: Assembly,
    findings: Diagnostics,
    wanted: VecDeque<Include>,
    /// The main file, which findings about missing directives refer to.
    main: Option<SourceId>,
    /// Each file, and the directive that included it.
    files: HashMap<PathBuf, Span>,
    flags: Vec<Override>,
    /// The names of the environment variables that are set.
    variables: Vec<String>,
}

/// The value of a directive from a flag or an environment variable.
struct Override {
    directive: String,
    node: Node,
}

impl<'e> Documents<'e> {
    /// Creates a configuration without files. `environment` looks up environment variables.
    pub fn new(environment: &'e dyn Fn(&str) -> Option<String>) -> Documents<'e> {
        Documents {
            environment,
            sources: Sources::default(),
            assembly: Assembly::new(),
            findings: Diagnostics::new(),
            wanted: VecDeque::new(),
            main: None,
            files: HashMap::new(),
            flags: Vec::new(),
            variables: Vec::new(),
        }
    }

    /// Adds the main file. `name` is its path as findings show it; relative paths start from its
    /// folder.
    pub fn add(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.add_file(name.into(), bytes.into(), None);
    }

    fn add_file(&mut self, name: String, bytes: Vec<u8>, include: Option<&Include>) {
        let size = bytes.len();
        let (text, broken) = match String::from_utf8(bytes) {
            _ if size > SOURCE_BYTES_MAX => (String::new(), None),
            Ok(text) => (text, None),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                (text, Some(at))
            }
        };
        // A byte order mark has no meaning here and does not count as a column.
        let (text, shift) = match text.strip_prefix('\u{feff}') {
            Some(rest) => (rest.to_owned(), '\u{feff}'.len_utf8()),
            None => (text, 0),
        };
        let path = PathBuf::from(&name);
        let id = self.sources.add(name, text, SourceKind::File);
        self.main.get_or_insert(id);
        let included_by = include.map_or(Span::new(id, 0, 0), |include| include.span);
        self.files.insert(path, included_by);
        if size > SOURCE_BYTES_MAX {
            let message =
                format!("the file has {size} bytes, at most {SOURCE_BYTES_MAX} are allowed");
            self.findings.push(Diagnostic::error(Span::new(id, 0, 0), message));
        }
        if let Some(at) = broken {
            let at = at - shift;
            let span = Span::new(id, at, at + '\u{fffd}'.len_utf8());
            self.findings.push(Diagnostic::error(span, "the file is not valid UTF-8 from here on"));
        }
        let Some(source) = self.sources.get(id) else {
            return;
        };
        let role = include.map_or(Role::Main, |_| Role::Included);
        let (assembly, findings) = (&mut self.assembly, &mut self.findings);
        if let Some(node) = parse_file(id, role, source.text(), assembly, findings) {
            self.want(&node, role);
        }
    }

    /// Queues the patterns of an `include` directive.
    fn want(&mut self, node: &Node, role: Role) {
        let mut findings = Diagnostics::new();
        let mut reader = Reader::new(&self.sources, self.environment, &mut findings);
        // Each separately, so that one mistake does not hide findings in the other files.
        let each = node.elements().unwrap_or(std::slice::from_ref(node));
        let patterns: Vec<Setting<Path>> = each
            .iter()
            .filter_map(|one| reader.within(INCLUDE, |reader| FromConfig::read(one, reader)))
            .collect();
        let includes = patterns.into_iter().map(|pattern| Include {
            span: pattern.span(),
            pattern: pattern.into_value().into_path_buf(),
        });
        self.wanted.extend(includes);
        // The `include` of the main file is a directive of the document, and is reported when that
        // is read.
        if role == Role::Included {
            self.findings.extend(findings);
        }
    }

    /// Returns the next pattern whose files the caller must find, read and supply in the order of
    /// their names.
    pub fn wanted(&mut self) -> Option<Include> {
        self.wanted.pop_front()
    }

    /// Adds the files of a pattern, each with its path and its bytes.
    pub fn supply(&mut self, include: &Include, files: Vec<(String, Vec<u8>)>) {
        let is_pattern = include.pattern.to_string_lossy().contains(['*', '?', '[']);
        if files.is_empty() && !is_pattern {
            self.refuse(include, "file not found");
        }
        for (name, bytes) in files {
            if let Some(first) = self.files.get(std::path::Path::new(&name)) {
                let message = format!("`{name}` is included twice");
                let problem = Diagnostic::error(include.span, message);
                self.findings.push(problem.note_at(*first, "included here"));
            } else if self.files.len() >= FILES_MAX {
                let message = format!("a configuration has at most {FILES_MAX} files");
                self.findings.push(Diagnostic::error(include.span, message));
                return;
            } else {
                self.add_file(name, bytes, Some(include));
            }
        }
    }

    /// Reports why the files of a pattern are not available.
    pub fn refuse(&mut self, include: &Include, reason: &str) {
        let message = format!("cannot include `{}`: {reason}", include.pattern.display());
        self.findings.push(Diagnostic::error(include.span, message));
    }

    /// Sets a directive of the top level by a flag, which overrides environment variables and
    /// files. `flag` is the flag as typed.
    pub fn flag(&mut self, directive: &str, flag: &str, value: &str) {
        let node = bare(&mut self.sources, flag, value, SourceKind::Flag);
        self.flags.push(Override { directive: directive.to_owned(), node });
    }

    /// Opens another table of a list, as `[[name]]` does in a file, for the directives that
    /// [`Self::flag_within`] gives from then on.
    pub fn open_table(&mut self, name: &str) {
        let key = key(name, Span::NOWHERE);
        self.assembly.header(&[key], Span::NOWHERE, Header::Element, &mut self.findings);
    }

    /// Gives a directive of the table that was opened last, or of the top level before any was, by
    /// a flag. Dots lead into tables, as in a file: `limits.head_timeout_ms`.
    pub fn flag_within(&mut self, directive: &str, flag: &str, value: &str) {
        let node = bare(&mut self.sources, flag, value, SourceKind::Flag);
        let keys = directive.split('.').map(|name| key(name, node.span));
        let keys: Vec<Key> = keys.collect();
        self.assembly.directive(&keys, node, &mut self.findings);
    }

    /// Passes the names of the environment variables that are set, so that a misspelled one causes
    /// a warning.
    pub fn variables(&mut self, names: impl IntoIterator<Item = String>) {
        let ours = names.into_iter();
        self.variables = ours.filter(|name| name.starts_with(ENVIRONMENT_PREFIX)).collect();
    }

    /// Reads the document from all files, flags and environment variables.
    pub fn read<S: Section>(mut self) -> Reading<S> {
        let overrides = self.overrides(S::declaration().fields);
        let at = self.main.map_or(Span::NOWHERE, |id| Span::new(id, 0, 0));
        let mut root = self.assembly.into_root();
        for (field, node) in overrides {
            root.replace(key(field.name(), node.span), node);
        }
        let root = Node { span: at, value: Value::Table(root) };
        let mut reader = Reader::new(&self.sources, self.environment, &mut self.findings)
            .with_root(S::declaration());
        let value = S::read(&root, &mut reader);
        self.findings.sort();
        let (value, partial) =
            if self.findings.has_errors() { (None, value) } else { (value, None) };
        Reading { value, partial, diagnostics: self.findings, sources: self.sources }
    }

    /// Returns the values of environment variables and flags, variables first, so that flags
    /// override them.
    fn overrides(&mut self, fields: &'static [Field]) -> Vec<(&'static Field, Node)> {
        let mut overrides = Vec::new();
        for field in fields.iter().filter(|field| is_open(field)) {
            let variable = variable_of(field);
            // A variable set to an empty string counts as not set, as compose files leave them.
            let value = (self.environment)(&variable).filter(|value| !value.is_empty());
            if let Some(value) = value {
                let node = bare(&mut self.sources, &variable, &value, SourceKind::Environment);
                overrides.push((field, node));
            }
        }
        for name in std::mem::take(&mut self.variables) {
            self.check_variable(&name, fields);
        }
        for one in std::mem::take(&mut self.flags) {
            let mut open = fields.iter().filter(|field| is_open(field));
            if let Some(field) = open.find(|field| field.name() == one.directive) {
                overrides.push((field, one.node));
            } else {
                let message = format!("no flag gives the directive `{}`", one.directive);
                self.findings.push(Diagnostic::error(one.node.span, message));
            }
        }
        overrides
    }

    /// Warns about an environment variable that is similar to that of a directive but has no
    /// effect.
    fn check_variable(&mut self, name: &str, fields: &'static [Field]) {
        let plain = name.strip_prefix(ENVIRONMENT_PREFIX).unwrap_or(name);
        let exact = fields.iter().find(|field| variable_of(field) == name);
        let open = fields.iter().filter(|field| is_open(field));
        let near = nearest(&plain.to_lowercase(), open.map(Field::name));
        let (message, near) = match (exact, near) {
            (Some(field), _) if is_open(field) => return,
            (Some(field), _) => (format!("`{}` can only be set in a file", field.name()), None),
            (None, Some(near)) => {
                let near = format!("{ENVIRONMENT_PREFIX}{}", near.to_uppercase());
                (format!("no directive has the environment variable `{name}`"), Some(near))
            }
            (None, None) => return,
        };
        let id = self.sources.add(name.to_owned(), name.to_owned(), SourceKind::Environment);
        let span = Span::new(id, 0, name.len());
        self.findings.push(Diagnostic::warning(span, message).nearest(near));
    }
}

/// Returns the name of a directive's environment variable.
fn variable_of(field: &Field) -> String {
    format!("{ENVIRONMENT_PREFIX}{}", field.name().to_uppercase())
}

/// Returns whether an environment variable or a flag can set a directive. `include` is only for
/// files, since they have been read when the document is.
fn is_open(field: &Field) -> bool {
    field.name() != INCLUDE && (field.shape)().is_plain()
}

fn bare(sources: &mut Sources, name: &str, value: &str, kind: SourceKind) -> Node {
    let value: String = value.chars().take(SOURCE_BYTES_MAX / 4).collect();
    let id = sources.add(name.to_owned(), value.clone(), kind);
    Node { span: Span::new(id, 0, value.len()), value: Value::Bare(value) }
}

fn key(name: &str, span: Span) -> Key {
    Key { name: name.to_owned(), span }
}

/// The result of reading a configuration.
#[derive(Clone, Debug)]
pub struct Reading<S> {
    /// The document; `None` if there are errors.
    pub value: Option<S>,
    /// The valid parts of a document with errors, for further checks.
    pub partial: Option<S>,
    /// All findings, in the order of the files and their lines.
    pub diagnostics: Diagnostics,
    /// The texts that spans and origins refer to.
    pub sources: Sources,
}

impl<S> Reading<S> {
    /// Renders the findings as text without colours.
    pub fn to_text(&self) -> String {
        render_text(&self.diagnostics, &self.sources, Style::Plain)
    }
}

/// Reads a document from one text, without environment variables and includes.
pub fn read_text<S: Section>(name: &str, text: &str) -> Reading<S> {
    let mut documents = Documents::new(&|_| None);
    documents.add(name, text);
    documents.read()
}
