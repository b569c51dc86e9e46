//! `[limits]`: the engine's table of limits as a section; each row is a directive.

use std::sync::OnceLock;
use std::time::Duration;

use vervet_config::{
    Declaration, Diagnostic, Field, Fields, FromConfig, Literal, Node, Reader, Section, Setting,
    Shape, Shown, ShownEntry, Size, Span, Time, Value, absent_section, read_section, show_field,
};
use vervet_engine::limits::{LimitError, LimitRow, Limits};

/// The limits of a document, each with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitSettings {
    rows: Vec<(&'static LimitRow, Setting<u64>)>,
}

impl LimitSettings {
    /// The limits of the engine. A contradiction between two limits is reported at the first that
    /// is set.
    pub fn limits(&self) -> Result<Limits, Box<Diagnostic>> {
        let mut limits = Limits::default();
        for (row, amount) in &self.rows {
            let set = limits.set(row.name, *amount.value());
            set.map_err(|error| Diagnostic::error(amount.span(), error.to_string()))?;
        }
        match limits.validate() {
            Ok(()) => Ok(limits),
            Err(error) => Err(Box::new(Diagnostic::error(self.span_of(&error), error.to_string()))),
        }
    }

    /// The position of a contradiction between two limits: the first that is set, because the other
    /// is a default.
    fn span_of(&self, error: &LimitError) -> Span {
        let LimitError::Relation { lesser, greater, .. } = error else {
            return Span::NOWHERE;
        };
        let rows = self.rows.iter();
        let mut named = rows.filter(|(row, _)| [*lesser, *greater].contains(&row.name));
        let given = named.clone().find(|(_, amount)| !amount.is_default());
        given.or_else(|| named.next()).map_or(Span::NOWHERE, |(_, amount)| amount.span())
    }
}

/// `"15s"`, or a number of milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Milliseconds(u64);

impl FromConfig for Milliseconds {
    fn shape() -> Shape {
        Shape::Either(vec![Time::shape(), u64::shape()])
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if matches!(node.value, Value::Integer(_)) {
            return u64::read(node, reader).map(Self);
        }
        let time = Time::read(node, reader)?;
        // A time too long for this is out of the bounds of every limit.
        Some(Self(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)))
    }

    fn show(&self) -> Shown {
        Time::new(Duration::from_millis(self.0)).show()
    }
}

/// The unit of a limit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Bytes,
    Milliseconds,
    Count,
}

impl Unit {
    fn from_row(row: &LimitRow) -> Self {
        match row.unit {
            "bytes" => Self::Bytes,
            "ms" => Self::Milliseconds,
            _ => Self::Count,
        }
    }

    fn shape(self) -> fn() -> Shape {
        match self {
            Self::Bytes => Size::shape,
            Self::Milliseconds => Milliseconds::shape,
            Self::Count => u64::shape,
        }
    }

    /// A value as written in a configuration, with quotes.
    fn literal(self, value: u64) -> Literal {
        let text = match self {
            Self::Bytes => format!("\"{}\"", Size::new(value)),
            Self::Milliseconds => format!("\"{}\"", Time::new(Duration::from_millis(value))),
            Self::Count => value.to_string(),
        };
        Literal::new(text.leak())
    }
}

fn field(row: &'static LimitRow) -> Field {
    let unit = Unit::from_row(row);
    Field {
        identifier: row.name,
        doc: vec![row.doc].leak(),
        shape: unit.shape(),
        needs_value: || false,
        check: |_, _| Vec::new(),
        default: Some(unit.literal(row.default)),
        bounds: Some((unit.literal(row.min), unit.literal(row.max))),
    }
}

impl Section for LimitSettings {
    /// Built once from the engine's table.
    fn declaration() -> &'static Declaration {
        static DECLARATION: OnceLock<Declaration> = OnceLock::new();
        DECLARATION.get_or_init(|| Declaration {
            name: "Limits",
            doc: &[" Limits of time, memory and connections for clients."],
            short: None,
            keeps_partial: false,
            fields: Limits::TABLE.iter().map(field).collect::<Vec<_>>().leak(),
        })
    }

    fn read_fields(fields: &mut Fields<'_, '_>) -> Option<Self> {
        let rows: Vec<_> =
            Limits::TABLE.iter().map(|row| Some((row, read_row(row, fields)?))).collect();
        let rows: Option<Vec<_>> = rows.into_iter().collect();
        Some(Self { rows: rows? })
    }

    fn show_fields(&self) -> Vec<ShownEntry> {
        let rows = self.rows.iter().map(|(row, amount)| match Unit::from_row(row) {
            Unit::Bytes => show_field(row.name, &amount.clone().map(Size::new)),
            Unit::Milliseconds => show_field(row.name, &amount.clone().map(Milliseconds)),
            Unit::Count => show_field(row.name, amount),
        });
        rows.collect()
    }
}

fn read_row(row: &'static LimitRow, fields: &mut Fields<'_, '_>) -> Option<Setting<u64>> {
    match Unit::from_row(row) {
        Unit::Bytes => {
            let setting = fields.read::<Size>(row.name);
            Some(fields.bounded(setting, row.name)?.map(Size::bytes))
        }
        Unit::Milliseconds => {
            let setting = fields.read::<Milliseconds>(row.name);
            Some(fields.bounded(setting, row.name)?.map(|time| time.0))
        }
        Unit::Count => {
            let setting = fields.read::<u64>(row.name);
            fields.bounded(setting, row.name)
        }
    }
}

impl vervet_config::Bounded for Milliseconds {
    type Bound = Self;

    fn is_outside(&self, low: &Self, high: &Self) -> bool {
        !(low.0..=high.0).contains(&self.0)
    }
}

impl FromConfig for LimitSettings {
    fn shape() -> Shape {
        Shape::Section(Self::declaration())
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        read_section(node, reader)
    }

    fn show(&self) -> Shown {
        Shown::Table(self.show_fields())
    }

    fn needs_value() -> bool {
        false
    }

    fn absent(at: Span, reader: &mut Reader<'_>) -> Option<Self> {
        absent_section(at, reader)
    }
}
