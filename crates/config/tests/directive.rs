//! Adding a directive touches one place: its declaration. The section below has one that nothing
//! else knows of, and the reader, the bounds, the schema, the reference, what is shown, flags,
//! variables and the texts of findings know it.
use serde_json::json;
use vervet_config::{
    Documents, Reading, Section, SourceKind, manual, read_text, reference, schema, show_json,
    show_text,
};

vervet_config::section! {
    /// A document of one directive.
    struct Document {
        /// How tall the mast is, in metres.
        mast_height: u16 = 12 in 3..=60,
    }
}

/// The text of all findings of a document that is refused.
#[track_caller]
fn refusal(text: &str) -> String {
    let reading: Reading<Document> = read_text("ship.toml", text);
    assert!(reading.value.is_none());
    reading.to_text()
}

#[test]
fn the_reader_knows_its_value_and_its_default() {
    let height = |text| *read_text::<Document>("ship.toml", text).value.unwrap().mast_height;
    assert_eq!(height("mast_height = 20"), 20);
    assert_eq!(height(""), 12);
}

#[test]
fn findings_know_its_name_its_type_and_its_bounds() {
    let text = refusal("mast_hight = 20");
    assert!(text.contains("unknown directive `mast_hight`"), "{text}");
    assert!(text.contains("did you mean `mast_height`?"), "{text}");
    let text = refusal("mast_height = 'tall'");
    assert!(text.contains("`mast_height` is given a text"), "{text}");
    assert!(text.contains("expected an integer from 3 to 60"), "{text}");
    let text = refusal("mast_height = 61");
    assert!(text.contains("`mast_height` is out of bounds"), "{text}");
}

#[test]
fn the_schema_knows_it() {
    let schema = schema(Document::declaration());
    let directive = &schema["properties"]["mast_height"];
    assert_eq!(directive["description"], "How tall the mast is, in metres. From 3 to 60.");
    assert_eq!(directive["default"], 12);
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    assert!(validator.is_valid(&json!({"mast_height": 60})));
    assert!(!validator.is_valid(&json!({"mast_height": 61})));
    assert!(!validator.is_valid(&json!({"mast_hight": 20})));
}

#[test]
fn the_reference_knows_it() {
    let page = &reference(Document::declaration())[0].text;
    let row =
        "| `mast_height` | an integer | `12` | `3` to `60` | How tall the mast is, in metres. |";
    assert!(page.contains(row), "{page}");
    assert!(page.contains("```toml\nmast_height = 12\n```"), "{page}");
}

#[test]
fn the_manual_page_knows_it() {
    let page = manual(Document::declaration(), "ship.toml", "a ship");
    assert!(
        page.contains("\n.TP\n\\fBmast_height\\fR = 12\nHow tall the mast is, in metres.\n"),
        "{page}"
    );
    assert!(page.contains("Takes an integer from 3 to 60.\n"), "{page}");
}

#[test]
fn it_is_shown_with_its_origin() {
    let reading = read_text::<Document>("ship.toml", "mast_height = 20");
    let document = reading.value.as_ref().unwrap();
    let shown = show_text(document, &reading.sources);
    assert!(
        shown.starts_with("mast_height = 20 ") && shown.ends_with("# ship.toml:1\n"),
        "{shown}"
    );
    let shown = show_json(document, &reading.sources);
    assert_eq!(shown["mast_height"]["value"], 20);
}

#[test]
fn a_variable_and_a_flag_give_it() {
    let variables = |name: &str| (name == "VERVET_MAST_HEIGHT").then(|| "30".to_owned());
    let mut documents = Documents::new(&variables);
    documents.add("ship.toml", "mast_height = 20");
    let read = documents.read::<Document>().value.unwrap();
    assert_eq!(*read.mast_height, 30);
    let mut documents = Documents::new(&variables);
    documents.flag("mast_height", "--mast-height", "40");
    let reading = documents.read::<Document>();
    let read = reading.value.unwrap();
    assert_eq!(*read.mast_height, 40);
    let source = reading.sources.get(read.mast_height.span().source());
    let source = source.unwrap();
    assert_eq!((source.kind(), source.name()), (SourceKind::Flag, "--mast-height"));
}
