//! The JSON Schema (draft 2020-12) of a document, for editors and for programs that generate
//! documents.

use serde_json::{Map, Value as Json, json};

use crate::shape::{Declaration, Field, Literal, Shape, TextShape, Word};
use crate::show::integer;
use crate::tree::{Node, Value};

/// The URI of the JSON Schema version.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The pattern of a variable, which texts with another pattern may also contain.
const VARIABLE: &str = "\\$\\{[A-Za-z_]";

/// Returns the schema of a document: its directives, and each section once under `$defs`.
pub fn schema(root: &'static Declaration) -> Json {
    let mut definitions = Definitions::default();
    let mut document = definitions.table(root);
    document["$schema"] = json!(DIALECT);
    document["title"] = json!(root.name);
    document["$defs"] = definitions.into_json();
    document
}

/// The sections found so far, each with its schema once that is made.
#[derive(Default)]
struct Definitions(Vec<(&'static Declaration, Option<Json>)>);

/// The name of the definition of a variable that stands for a number or a word.
const VARIABLE_NAME: &str = "Variable";

impl Definitions {
    fn into_json(self) -> Json {
        let mut object = Map::new();
        for (index, (_, schema)) in self.0.iter().enumerate() {
            object.insert(self.name(index), schema.clone().unwrap_or_default());
        }
        let variable = json!({
            "description": "The value of an environment variable.",
            "type": "string",
            "pattern": VARIABLE,
        });
        object.insert(VARIABLE_NAME.to_owned(), variable);
        Json::Object(object)
    }

    /// Returns the definition name of a section's type, with a number if another type has the same
    /// name.
    fn name(&self, index: usize) -> String {
        let name = self.0[index].0.name;
        let before = self.0[..index].iter().filter(|(one, _)| one.name == name);
        match before.count() {
            0 if name != VARIABLE_NAME => name.to_owned(),
            count => format!("{name}{}", count + 2),
        }
    }

    /// Returns a reference to the schema of a section, which is made on first use.
    fn reference(&mut self, declaration: &'static Declaration) -> Json {
        let known = self.0.iter().position(|(one, _)| std::ptr::eq(*one, declaration));
        let index = known.unwrap_or_else(|| {
            let index = self.0.len();
            self.0.push((declaration, None));
            let schema = self.section(declaration);
            self.0[index].1 = Some(schema);
            index
        });
        json!({ "$ref": format!("#/$defs/{}", self.name(index)) })
    }

    /// Returns the schema of a section and of the values that may replace it.
    fn section(&mut self, declaration: &'static Declaration) -> Json {
        let table = self.table(declaration);
        let Some(field) = declaration.short_field() else {
            return table;
        };
        match self.without_tables(&(field.shape)()) {
            Some(short) => json!({ "oneOf": [table, with_bounds(short, field)] }),
            None => table,
        }
    }

    fn table(&mut self, declaration: &'static Declaration) -> Json {
        let mut properties = Map::new();
        for field in declaration.fields {
            properties.insert(field.name().to_owned(), self.field(field));
        }
        let required = declaration.fields.iter().filter(|field| field.is_required());
        let mut table = json!({
            "description": prose(declaration.doc),
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        });
        let required: Vec<&str> = required.map(Field::name).collect();
        if !required.is_empty() {
            table["required"] = json!(required);
        }
        table
    }

    fn field(&mut self, field: &'static Field) -> Json {
        let mut schema = with_bounds(self.shape(&(field.shape)()), field);
        let mut description = prose(field.doc);
        if let Some((low, high)) = field.bounds_text() {
            description = format!("{description} From {low} to {high}.");
        }
        schema["description"] = json!(description.trim());
        if let Some(default) = &field.default {
            schema["default"] = literal(default);
        }
        schema
    }

    fn shape(&mut self, shape: &Shape) -> Json {
        match shape {
            Shape::Section(declaration) => self.reference(declaration),
            Shape::Named(element) => {
                json!({ "type": "object", "additionalProperties": self.shape(element) })
            }
            Shape::List(element) => {
                let list = json!({ "type": "array", "items": self.shape(element) });
                match bare(element) {
                    Some(one) => json!({ "oneOf": [list, one] }),
                    None => list,
                }
            }
            Shape::Either(shapes) => {
                let each: Vec<Json> = shapes.iter().map(|shape| self.shape(shape)).collect();
                json!({ "anyOf": each })
            }
            plain => bare(plain).unwrap_or_default(),
        }
    }

    /// Returns the schema of the values other than tables that may replace a section.
    fn without_tables(&mut self, shape: &Shape) -> Option<Json> {
        match shape {
            Shape::List(_) => Some(self.shape(shape)),
            _ => bare(shape),
        }
    }
}

/// Returns the schema of a shape without tables and lists.
fn bare(shape: &Shape) -> Option<Json> {
    let variable = json!({ "$ref": format!("#/$defs/{VARIABLE_NAME}") });
    match shape {
        Shape::Boolean => Some(json!({ "oneOf": [{ "type": "boolean" }, variable] })),
        Shape::Integer { min, max } => {
            let number = json!({
                "type": "integer", "minimum": integer(*min), "maximum": integer(*max),
            });
            Some(json!({ "oneOf": [number, variable] }))
        }
        Shape::Number => Some(json!({ "oneOf": [{ "type": "number" }, variable] })),
        Shape::Text(text) => Some(text_schema(text)),
        Shape::Word(words) => {
            let mut each: Vec<Json> = words.iter().map(word).collect();
            each.push(variable);
            Some(json!({ "oneOf": each }))
        }
        Shape::Named(_) => None,
        Shape::List(element) => bare(element),
        Shape::Section(declaration) => {
            let field = declaration.short_field()?;
            Some(with_bounds(bare(&(field.shape)())?, field))
        }
        Shape::Either(shapes) => {
            let each = shapes.iter().filter_map(bare);
            let each: Vec<Json> = each.collect();
            (!each.is_empty()).then(|| json!({ "anyOf": each }))
        }
    }
}

fn text_schema(text: &TextShape) -> Json {
    let mut schema = json!({ "type": "string" });
    if let Some(pattern) = text.pattern {
        schema["pattern"] = json!(format!("{pattern}|{VARIABLE}"));
    }
    if !text.example.is_empty() {
        schema["examples"] = json!([text.example]);
    }
    schema
}

fn word(word: &Word) -> Json {
    json!({ "const": word.name, "description": prose(&[word.doc]) })
}

/// Narrows integers and numbers to the bounds of the directive. Bounds of texts, such as times, are
/// only in the description.
fn with_bounds(mut schema: Json, field: &Field) -> Json {
    if let Some((low, high)) = &field.bounds {
        let (low, high) = (literal(low), literal(high));
        if low.is_number() && high.is_number() {
            narrow(&mut schema, &low, &high);
        }
    }
    schema
}

fn narrow(schema: &mut Json, low: &Json, high: &Json) {
    let is_number = matches!(schema["type"].as_str(), Some("integer" | "number"));
    if is_number {
        schema["minimum"] = low.clone();
        schema["maximum"] = high.clone();
    }
    for place in ["oneOf", "anyOf"] {
        if let Some(Json::Array(each)) = schema.get_mut(place) {
            for one in each {
                narrow(one, low, high);
            }
        }
    }
    if let Some(items) = schema.get_mut("items") {
        narrow(items, low, high);
    }
}

fn literal(literal: &Literal) -> Json {
    json_of(literal.node())
}

fn json_of(node: &Node) -> Json {
    match &node.value {
        Value::Text(text) | Value::Bare(text) | Value::Date(text) => json!(text),
        Value::Integer(number) => integer(*number),
        Value::Number(number) => json!(number),
        Value::Boolean(value) => json!(value),
        Value::List(elements, _) => elements.iter().map(json_of).collect(),
        Value::Table(table) => {
            let entries = table.entries().iter();
            let entries = entries.map(|entry| (entry.key.name.clone(), json_of(&entry.node)));
            Json::Object(entries.collect())
        }
        Value::Broken => Json::Null,
    }
}

/// Returns the lines of a documentation comment as one text, without its code blocks.
pub(crate) fn prose(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut is_code = false;
    for line in lines.iter().flat_map(|line| line.split('\n')).map(str::trim) {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code {
        } else if line.is_empty() {
            text.push_str("\n\n");
        } else {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push(' ');
            }
            text.push_str(line);
        }
    }
    text.trim().to_owned()
}
