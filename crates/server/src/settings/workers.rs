//! The number of reactors.

use std::num::NonZero;

use vervet_config::{Diagnostic, FromConfig, Node, Reader, Shape, Shown, Value, Word};

/// Maximum number of threads: more are a typing error.
pub const WORKERS_MAX: usize = 1024;

const AUTO: &[Word] =
    &[Word { name: "auto", doc: "One per processor that CPU affinity and the cgroup allow." }];

/// The number of reactors to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// One per available processor.
    Auto,
    /// This number of reactors.
    Number(usize),
}

impl Workers {
    /// The number of reactors, at least one.
    pub fn count(self) -> usize {
        match self {
            Self::Number(number) => number,
            Self::Auto => std::thread::available_parallelism().map_or(1, NonZero::get),
        }
    }
}

fn numbers() -> Shape {
    Shape::Integer { min: 1, max: WORKERS_MAX as i128 }
}

impl FromConfig for Workers {
    fn shape() -> Shape {
        Shape::Either(vec![Shape::Word(AUTO), numbers()])
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let number = if let Value::Integer(number) = &node.value {
            usize::try_from(*number).ok()
        } else {
            let text = reader.text(node, &Self::shape())?;
            if text == "auto" {
                return Some(Self::Auto);
            }
            text.parse().ok()
        };
        let number = number.filter(|number| (1..=WORKERS_MAX).contains(number));
        if number.is_none() {
            let message = format!("{} is not a valid number of workers", reader.subject());
            reader.report(Diagnostic::error(node.span, message).expected(Self::shape().phrase()));
        }
        number.map(Self::Number)
    }

    fn show(&self) -> Shown {
        match self {
            Self::Auto => Shown::Text("auto".to_owned()),
            Self::Number(number) => Shown::Integer(*number as i128),
        }
    }
}
