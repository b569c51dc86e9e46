//! Booleans and numbers.

use crate::diagnostic::cited;
use crate::reader::{Bounded, FromConfig, Reader};
use crate::shape::Shape;
use crate::show::Shown;
use crate::tree::{Node, Value};

impl FromConfig for bool {
    fn shape() -> Shape {
        Shape::Boolean
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if let Value::Boolean(value) = node.value {
            return Some(value);
        }
        let text = reader.plain(node, &Self::shape())?;
        let value = text.parse().ok();
        if value.is_none() {
            reader.refuse(node, &Self::shape(), &format!("cannot be `{}`", cited(&text)));
        }
        value
    }

    fn show(&self) -> Shown {
        Shown::Boolean(*self)
    }
}

/// An integer, from a number or from the text of a variable.
fn read_integer<T: TryFrom<i128>>(
    node: &Node,
    reader: &mut Reader<'_>,
    shape: &Shape,
) -> Option<T> {
    let number = if let Value::Integer(number) = node.value {
        number
    } else {
        let text = reader.plain(node, shape)?;
        let number = text.trim().parse().ok();
        if number.is_none() {
            reader.refuse(node, shape, &format!("cannot be `{}`", cited(&text)));
        }
        number?
    };
    let value = T::try_from(number).ok();
    if value.is_none() {
        reader.refuse(node, shape, &format!("cannot be {number}"));
    }
    value
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        // `usize` has no `From`, though it fits.
        #[allow(clippy::cast_lossless)]
        impl FromConfig for $type {
            fn shape() -> Shape {
                Shape::Integer { min: <$type>::MIN as i128, max: <$type>::MAX as i128 }
            }

            fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
                read_integer(node, reader, &Self::shape())
            }

            fn show(&self) -> Shown {
                Shown::Integer(*self as i128)
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, usize, i32, i64);

impl FromConfig for f64 {
    fn shape() -> Shape {
        Shape::Number
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let number = match node.value {
            Value::Number(number) => Some(number),
            // No directive needs more than the 53 bits of a number with a fraction.
            #[allow(clippy::cast_precision_loss)]
            Value::Integer(number) => Some(number as f64),
            _ => reader.plain(node, &Self::shape())?.trim().parse().ok(),
        };
        let number = number.filter(|number| number.is_finite());
        if number.is_none() {
            reader.refuse(node, &Self::shape(), "is not a finite number");
        }
        number
    }

    fn show(&self) -> Shown {
        Shown::Number(*self)
    }
}

/// Types whose bounds have their own type.
macro_rules! bounded {
    ($($type:ty),*) => {$(
        impl Bounded for $type {
            type Bound = Self;

            fn is_outside(&self, low: &Self, high: &Self) -> bool {
                self < low || self > high
            }
        }
    )*};
}

bounded!(u8, u16, u32, u64, usize, i32, i64, f64, super::Time, super::Size);
