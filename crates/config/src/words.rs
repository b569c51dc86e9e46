//! Words: enumerations whose variants are typed as text. [`words!`](crate::words) declares one.

use crate::diagnostic::{Diagnostic, cited, nearest};
use crate::reader::Reader;
use crate::shape::{Shape, Word};
use crate::tree::Node;

/// Declares an enumeration whose variants are words.
///
/// ```
/// vervet_config::words! {
///     /// What happens above the cap.
///     pub enum Overload {
///         /// 503 with Retry-After.
///         Reject = "reject",
///         /// They wait in the queue.
///         Wait = "wait",
///     }
/// }
///
/// assert_eq!(Overload::Wait.as_str(), "wait");
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $doc:expr])*
        $vis:vis enum $Words:ident {
            $(
                $(#[doc = $word_doc:expr])*
                $Word:ident = $word:literal
            ),* $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $Words {
            $(
                $(#[doc = $word_doc])*
                $Word,
            )*
        }

        impl $Words {
            const WORDS: &'static [$crate::Word] = &[
                $($crate::Word { name: $word, doc: concat!($($word_doc),*) },)*
            ];

            /// Returns the word as it is typed.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$Word => $word,)*
                }
            }
        }

        impl ::std::fmt::Display for $Words {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::FromConfig for $Words {
            fn shape() -> $crate::Shape {
                $crate::Shape::Word(Self::WORDS)
            }

            fn read(node: &$crate::Node, reader: &mut $crate::Reader<'_>) -> Option<Self> {
                match $crate::read_word(node, reader, Self::WORDS)? {
                    $($word => Some(Self::$Word),)*
                    _ => None,
                }
            }

            fn show(&self) -> $crate::Shown {
                $crate::Shown::Text(self.as_str().to_owned())
            }
        }
    };
}

/// Reads one of several words.
#[doc(hidden)]
pub fn read_word(
    node: &Node,
    reader: &mut Reader<'_>,
    words: &'static [Word],
) -> Option<&'static str> {
    let text = reader.text(node, &Shape::Word(words))?;
    let known: Vec<&'static str> = words.iter().map(|word| word.name).collect();
    if let Some(word) = known.iter().find(|word| **word == text) {
        return Some(word);
    }
    let message = format!("{} cannot be `{}`", reader.subject(), cited(&text));
    let problem = Diagnostic::error(node.span, message)
        .nearest(nearest(&text, known))
        .expected(Shape::Word(words).phrase());
    reader.report(problem);
    None
}
