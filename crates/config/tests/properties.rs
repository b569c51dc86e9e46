//! Properties of every input: no panic, and every finding has a span in the input.

use crate::common::{Document, environment};
use proptest::prelude::*;
use vervet_config::{
    Diagnostics, Documents, Reading, Sources, Span, Style, render_json, render_text, show_text,
};

fn read(bytes: Vec<u8>) -> Reading<Document> {
    let mut documents = Documents::new(&environment);
    documents.add("any.toml", bytes);
    let mut files = 0;
    while let Some(include) = documents.wanted() {
        files += 1;
        let text = format!("# {files}\nworkers = 2\n[log.a{files}]\nfile = 'x'\n");
        documents.supply(&include, vec![(format!("{files}.toml"), text.into_bytes())]);
    }
    documents.read()
}

/// Everything that can be made of a reading, with what must hold of it.
fn check(bytes: Vec<u8>) {
    let reading = read(bytes);
    assert_eq!(reading.value.is_none(), reading.diagnostics.has_errors());
    for finding in &reading.diagnostics {
        check_span(finding.span, &reading.sources);
        for span in finding.notes.iter().filter_map(|note| note.span) {
            check_span(span, &reading.sources);
        }
        assert!(!finding.message.contains('\n'), "{finding:?}");
    }
    check_rendering(&reading.diagnostics, &reading.sources);
    if let Some(document) = &reading.value {
        let shown = show_text(document, &reading.sources);
        let again = read(shown.clone().into_bytes());
        assert_eq!(again.value.as_ref(), Some(document), "{shown}\n{}", again.to_text());
    }
}

fn check_span(span: Span, sources: &Sources) {
    let source = sources.get(span.source()).unwrap();
    assert!(source.text().get(span.start()..span.end()).is_some(), "{span:?}");
    let position = sources.position(span).unwrap();
    let line = source.text().split('\n').nth(position.line - 1).unwrap();
    assert!(position.column + position.length <= line.chars().count() + 1, "{position:?} {line:?}");
}

fn check_rendering(diagnostics: &Diagnostics, sources: &Sources) {
    let text = render_text(diagnostics, sources, Style::Plain);
    assert!(text.matches("error: ").count() >= diagnostics.len(), "{text}");
    render_text(diagnostics, sources, Style::Coloured);
    assert_eq!(render_json(diagnostics, sources).as_array().unwrap().len(), diagnostics.len());
}

/// Pieces of documents, right and wrong.
const PIECES: &[&str] = &[
    "workers = 4",
    "workers = '${WORKERS}'",
    "workers",
    " = ",
    "\n",
    "\r\n",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    ",",
    ".",
    "'",
    "\"",
    "\"\"\"",
    "[limits]",
    "[[site]]",
    "[site]",
    "[site.cors]",
    "[log.a]",
    "[log.b.c]",
    "root = 'www'",
    "hosts = ['a', 'ü', 5]",
    "cors = '*'",
    "cors = { max_age = '1h' }",
    "max_age = '3d'",
    "ports = [1, 0]",
    "limits.share = 2",
    "log.x = 'y'",
    "overload = 'wait'",
    "content = '1k'",
    "include = ['a', '*']",
    "${",
    "$${",
    "'${NONE}'",
    "日本",
    "\u{feff}",
    "\u{301}",
    "\t",
    "#",
    "# x",
    "1",
    "-1",
    "1.5",
    "nan",
    "true",
    "2026-11-21",
    "\\u00e9",
    "a.b.c.d",
    "\u{0}",
    "\u{7f}",
    "\u{2028}",
    "\u{202e}",
];

/// Pieces of documents in any order, with bytes between them.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::sample::select(PIECES).prop_map(|text| text.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 1..4),
    ];
    let line_end = proptest::bool::weighted(0.5);
    proptest::collection::vec((piece, line_end), 0..40).prop_map(|pieces| {
        let with_end = pieces.into_iter().flat_map(|(mut piece, ends)| {
            if ends {
                piece.push(b'\n');
            }
            piece
        });
        with_end.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        check(bytes);
    }

    #[test]
    fn any_pieces_of_documents_are_read_or_refused(bytes in pieces()) {
        check(bytes);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        check(text.into_bytes());
    }
}

#[test]
fn depth_has_an_end() {
    for open in ["[", "{a=", "a.", "[[", "[a.", "'${"] {
        check(open.repeat(20_000).into_bytes());
        check(format!("trusted = {}", open.repeat(20_000)).into_bytes());
    }
    check(format!("trusted = {}{}", "[".repeat(20_000), "]".repeat(20_000)).into_bytes());
    check("[a.b]\n".repeat(2_000).into_bytes());
}
