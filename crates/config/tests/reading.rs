//! What is read from documents that are right: values, defaults, origins, includes, flags and
//! variables.

use std::time::Duration;

use crate::common::{Document, Overload, environment, read};
use vervet_config::{Documents, Include, Origin, Reading, SourceKind, Sources};

/// The document of a text without findings.
#[track_caller]
fn document(reading: Reading<Document>) -> Document {
    assert!(reading.diagnostics.is_empty(), "{}", reading.to_text());
    reading.value.unwrap()
}

/// The messages of the findings, without positions.
fn messages(reading: &Reading<Document>) -> Vec<&str> {
    let found = reading.diagnostics.iter();
    found.map(|one| one.message.as_str()).collect()
}

#[test]
fn an_empty_document_has_all_defaults() {
    let empty = document(read(""));
    assert_eq!(*empty.workers, 1);
    assert_eq!(empty.limits.content.bytes(), 1 << 20);
    assert_eq!(*empty.limits.overload, Overload::Reject);
    assert_eq!(*empty.limits.connections, None);
    assert!(empty.site.is_empty() && empty.log.is_empty());
    assert_eq!(empty.workers.origin(), Origin::Default);
}

#[test]
fn each_kind_of_value_is_read() {
    let text = "workers = 8\ntrusted = ['10.0.0.0/8', \"::1\"]\n[limits]\ncontent = 512\nconnections = 0x10\n\
                overload = 'wait'\nshare = 1\n[[site]]\nroot = '/srv/a'\ndefault = true\ntype = 'x'\n";
    let read = document(read(text));
    assert_eq!(*read.workers, 8);
    assert_eq!(*read.trusted, ["10.0.0.0/8", "::1"]);
    assert_eq!(read.limits.content.bytes(), 512);
    assert_eq!(*read.limits.connections, Some(16));
    assert_eq!(*read.limits.overload, Overload::Wait);
    assert!((*read.limits.share - 1.0).abs() < f64::EPSILON);
    assert!(*read.site[0].default);
    assert_eq!(*read.site[0].ports, [80, 443]);
    assert_eq!(read.site[0].r#type.as_deref(), Some("x"));
}

#[test]
fn a_bare_value_stands_for_the_short_directive() {
    let text = "[log]\nmain = 'a.log'\n[[site]]\nroot = 'www'\ncors = 'https://a.example'\nhosts = 'one'\n";
    let read = document(read(text));
    assert_eq!(&**read.log.get("main").unwrap().file, std::path::Path::new("a.log"));
    assert_eq!(*read.log.get("main").unwrap().level, -1);
    let cors = read.site[0].cors.as_ref().unwrap();
    assert_eq!(*cors.origins, ["https://a.example"]);
    assert_eq!(cors.max_age.duration(), Duration::from_mins(10));
    assert_eq!(*read.site[0].hosts[0], "one");
}

#[test]
fn named_tables_keep_their_order() {
    let text = "[log.z]\nfile = 'z'\n[log.a]\nfile = 'a'\n[log.m]\nfile = 'm'\n";
    let read = document(read(text));
    assert_eq!(read.log.names().collect::<Vec<_>>(), ["z", "a", "m"]);
}

#[test]
fn variables_stand_in_texts_and_for_numbers() {
    let text = "workers = '${WORKERS}'\ntrusted = ['${HOST}', '${NONE:-::1}', '$${HOST}']\n";
    let read = document(read(text));
    assert_eq!(*read.workers, 4);
    assert_eq!(*read.trusted, ["example.org", "::1", "${HOST}"]);
}

#[test]
fn an_origin_is_the_place_of_the_value() {
    let reading = read("[[site]]\n# x\nhosts = ['a', 'b']\nroot = 'www'\n");
    let sources = reading.sources.clone();
    let read = document(reading);
    let place = |span| {
        let position = sources.position(span).unwrap();
        (position.line, position.column, position.length)
    };
    assert_eq!(place(read.site[0].root.span()), (4, 8, 5));
    assert_eq!(place(read.site[0].hosts[1].span()), (3, 15, 3));
    // A default takes the place of the section that does not give the directive.
    assert_eq!(place(read.site[0].ports.span()), (1, 1, 8));
    assert!(read.site[0].ports.is_default());
}

#[test]
fn flags_go_before_variables_and_those_before_files() {
    let variables = |name: &str| match name {
        "VERVET_WORKERS" => Some("3".to_owned()),
        "VERVET_TRUSTED" => Some("10.0.0.0/8, , ::1".to_owned()),
        "VERVET_HEARD" => Some(String::new()),
        _ => None,
    };
    let with = |flags: &[&str]| {
        let mut documents = Documents::new(&variables);
        documents.add("vervet.toml", "workers = 2\ntrusted = 'x'\nheard = 80\n");
        for value in flags {
            documents.flag("workers", "--workers", value);
        }
        let reading = documents.read();
        (reading.sources.clone(), document(reading))
    };
    let (sources, read) = with(&[]);
    assert_eq!(*read.workers, 3);
    let said = |sources: &Sources, read: &Document| {
        let source = sources.get(read.workers.span().source()).unwrap();
        (source.kind(), source.name().to_owned())
    };
    assert_eq!(said(&sources, &read), (SourceKind::Environment, "VERVET_WORKERS".to_owned()));
    assert_eq!(*read.trusted, ["10.0.0.0/8", "::1"]);
    // A variable that is set to nothing is not set.
    assert_eq!(read.heard.len(), 1);
    let (sources, read) = with(&["5"]);
    assert_eq!(*read.workers, 5);
    assert_eq!(said(&sources, &read), (SourceKind::Flag, "--workers".to_owned()));
}

#[test]
fn a_variable_stands_for_tables_by_their_short_directive() {
    let variables = |name: &str| (name == "VERVET_HEARD").then(|| "80, 443".to_owned());
    let mut documents = Documents::new(&variables);
    documents.add("vervet.toml", "[[heard]]\nport = 8080\n");
    let read = document(documents.read());
    let ports: Vec<u16> = read.heard.iter().map(|listener| *listener.port).collect();
    assert_eq!(ports, [80, 443]);
}

#[test]
fn variables_that_give_nothing_are_warned_of() {
    let names = [
        "VERVET_WORKRES",
        "VERVET_LIMITS",
        "VERVET_INCLUDE",
        "VERVET_WORKERS",
        "VERVET_CARRIER",
        "WORKRES",
        "VERVET_",
    ];
    let mut documents = Documents::new(&environment);
    documents.add("vervet.toml", "");
    documents.variables(names.map(str::to_owned));
    let reading = documents.read::<Document>();
    assert_eq!(
        messages(&reading),
        [
            "no directive has the environment variable `VERVET_WORKRES`",
            "`limits` can only be set in a file",
            "`include` can only be set in a file"
        ]
    );
    assert!(reading.to_text().contains("did you mean `VERVET_WORKERS`?"), "{}", reading.to_text());
    assert!(reading.value.is_some());
}

#[test]
fn relative_paths_start_from_their_file() {
    let mut documents = Documents::new(&environment);
    documents.add(
        "/etc/vervet/vervet.toml",
        "include = 'sites/*.toml'\n[log]\na = 'a.log'\nb = '/var/b.log'\n",
    );
    let include = documents.wanted().unwrap();
    assert_eq!(include.pattern, std::path::Path::new("/etc/vervet/sites/*.toml"));
    let site = ("/etc/vervet/sites/x.toml".to_owned(), b"[[site]]\nroot = '../www'\n".to_vec());
    documents.supply(&include, vec![site]);
    let read = document(documents.read());
    let path = |name| read.log.get(name).unwrap().file.to_str();
    assert_eq!(path("a"), Some("/etc/vervet/a.log"));
    assert_eq!(path("b"), Some("/var/b.log"));
    assert_eq!(read.site[0].root.to_str(), Some("/etc/vervet/sites/../www"));
}

/// Reads files that include each other by their exact names.
fn read_files(files: &[(&str, &str)]) -> Reading<Document> {
    let mut documents = Documents::new(&environment);
    documents.add(files[0].0, files[0].1);
    while let Some(include) = documents.wanted() {
        let Include { pattern, .. } = &include;
        let wanted = files.iter().filter(|(name, _)| pattern == std::path::Path::new(name));
        let wanted = wanted.map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
        documents.supply(&include, wanted.collect());
    }
    documents.read()
}

#[test]
fn included_files_continue_lists_and_named_tables() {
    let read = document(read_files(&[
        (
            "main.toml",
            "include = ['a.toml', 'b.toml']\nworkers = 2\n[[site]]\nroot = '1'\n[log.x]\nfile = 'x'\n",
        ),
        (
            "a.toml",
            "trusted = 'a'\ninclude = 'c.toml'\n[[site]]\nroot = '2'\n[log.y]\nfile = 'y'\n",
        ),
        ("b.toml", "[[site]]\nroot = '3'\n[site.cors]\nmax_age = '0s'\n"),
        ("c.toml", "[limits]\nconnections = 7\n"),
    ]));
    let roots: Vec<_> = read.site.iter().map(|site| site.root.to_str().unwrap()).collect();
    assert_eq!(roots, ["1", "2", "3"]);
    assert_eq!(read.log.names().collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(*read.trusted, ["a"]);
    assert_eq!(*read.limits.connections, Some(7));
}

#[test]
fn a_directive_in_two_files_is_a_duplicate() {
    let reading = read_files(&[
        ("main.toml", "include = ['a.toml', 'a.toml', 'none.toml']\nworkers = 2\n[limits]\n"),
        ("a.toml", "workers = 3\n[limits]\nconnections = 7\n"),
    ]);
    assert_eq!(
        messages(&reading),
        [
            "`a.toml` is included twice",
            "cannot include `none.toml`: file not found",
            "`workers` is defined twice",
            "`limits` is defined twice"
        ]
    );
    assert!(reading.value.is_none());
}

#[test]
fn equal_values_at_other_places_are_equal_documents() {
    let one = document(read("workers = 2\n[[site]]\nroot = 'www'\n"));
    let two = document(read("# more\nworkers = 2 # two\n\n[[site]]\nroot = \"www\"\n"));
    assert_eq!(one, two);
    assert_ne!(one, document(read("workers = 3\n[[site]]\nroot = 'www'\n")));
}

#[test]
fn bytes_that_are_no_text_are_found() {
    let mut documents = Documents::new(&environment);
    documents.add("vervet.toml", b"workers = 2\ntrusted = '\xff'\nx = 1\n".to_vec());
    let reading = documents.read::<Document>();
    assert_eq!(
        messages(&reading),
        ["the file is not valid UTF-8 from here on", "unknown directive `x`"]
    );
}
