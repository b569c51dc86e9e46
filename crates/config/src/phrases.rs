//! What the parser says of TOML in our words: it knows keys, arrays and inline tables, we know names, lists and tables in
//! braces. A sentence that has no row here is shown as it is.

use toml_parser::{Expected, ParseError};

use crate::parse::DEPTH_MAX;

/// What is said at `DEPTH_MAX`.
const TOO_DEEP: &str = "at most 32 lists and tables stand within each other";
const _: () = assert!(DEPTH_MAX == 32, "the sentence names it");

/// A sentence of the parser and ours.
const SENTENCES: &[(&str, &str)] = &[
    ("cannot recurse further; max recursion depth met", TOO_DEEP),
    (
        "`_` may only go between digits",
        "`_` stands between digits only",
    ),
    (
        "carriage return must be followed by newline",
        "a carriage return stands before a line feed only",
    ),
    ("extra `=`", "one `=` too many"),
    (
        "extra assignment between key-value pairs",
        "one `=` too many",
    ),
    ("extra comma in array", "one comma too many in a list"),
    (
        "extra comma in inline table",
        "one comma too many in a table in braces",
    ),
    (
        "integers with a radix cannot be signed",
        "a number with a prefix such as `0x` has no sign",
    ),
    (
        "invalid basic string",
        "a character that cannot stand in a text",
    ),
    ("invalid boolean", "no boolean"),
    (
        "invalid comment character",
        "a control character in a comment",
    ),
    ("invalid escape sequence", "unknown escape"),
    ("invalid fraction", "a number that ends with its point"),
    ("invalid inline table element", "this begins no directive"),
    ("invalid key-value pair", "this begins no directive"),
    (
        "invalid literal string",
        "a character that cannot stand in a text",
    ),
    ("invalid table", "a header without a name"),
    (
        "invalid unquoted key",
        "a character that stands in names in quotes only",
    ),
    ("key with no value", "`=` and a value are missing"),
    (
        "keys cannot be multi-line basic strings",
        "a name stands on one line",
    ),
    (
        "keys cannot be multi-line literal strings",
        "a name stands on one line",
    ),
    ("missing array opening", "`]` without `[`"),
    (
        "missing assignment between key-value pairs",
        "`=` is missing",
    ),
    (
        "missing comma between array elements",
        "a comma is missing in a list",
    ),
    (
        "missing comma between key-value pairs",
        "a comma is missing in a table in braces",
    ),
    (
        "missing escaped value",
        "unknown escape (`\\\\` is a backslash, and texts in 'single quotes' have no escapes)",
    ),
    ("missing inline table opening", "`}` without `{`"),
    ("missing key for inline table element", "a name is missing"),
    ("missing table open", "`]` without `[`"),
    ("missing value", "the value is missing"),
    ("missing value for key", "`=` and a value are missing"),
    (
        "radix must be lowercase",
        "the prefix of a number is in lower case",
    ),
    ("string values must be quoted", "text stands in quotes"),
    (
        "too few unicode value digits",
        "an escape with too few digits",
    ),
    ("unclosed array", "a list is not closed"),
    ("unclosed array table", "a header is not closed"),
    ("unclosed inline table", "a table in braces is not closed"),
    ("unclosed table", "a header is not closed"),
    ("unexpected `=` in array", "`=` in a list"),
    (
        "unexpected key or value",
        "nothing more stands on this line",
    ),
    (
        "unexpected leading zero",
        "a number does not begin with a zero",
    ),
    ("unquoted keys cannot be empty", "the name is missing"),
];

/// What the parser expects, and our words for it.
const THINGS: &[(&str, &str)] = &[
    ("basic string", "text in quotes"),
    ("key", "a name"),
    ("letters", "letters"),
    ("literal string", "text in quotes"),
    ("non-double-quote visible characters", "visible characters"),
    ("non-single-quote visible characters", "visible characters"),
    ("numbers", "digits"),
    ("unicode hexadecimal value", "hexadecimal digits"),
    ("value", "a value"),
];

/// What is wrong, in one sentence.
pub(crate) fn sentence(error: &ParseError) -> &str {
    let said = error.description();
    let expected = error.expected().unwrap_or_default();
    let closes = |one: &Expected| matches!(one, Expected::Literal("\"" | "'" | "\"\"\"" | "'''"));
    if matches!(said, "invalid basic string" | "invalid literal string")
        && expected.iter().any(closes)
    {
        return "a text is not closed";
    }
    let row = SENTENCES.iter().find(|(theirs, _)| *theirs == said);
    row.map_or(said, |(_, ours)| ours)
}

/// The things one of which should have come, or nothing where nothing should.
pub(crate) fn expectation(expected: &[Expected]) -> Option<String> {
    let mut named: Vec<String> = Vec::new();
    for one in expected {
        let name = match one {
            Expected::Literal("\n") => "a new line".to_owned(),
            Expected::Literal(text) => format!("`{}`", text.trim_matches('`')),
            Expected::Description(text) => {
                let row = THINGS.iter().find(|(theirs, _)| theirs == text);
                row.map_or(*text, |(_, ours)| ours).to_owned()
            }
            _ => continue,
        };
        if !named.contains(&name) {
            named.push(name);
        }
    }
    (!named.is_empty()).then(|| named.join(" or "))
}
