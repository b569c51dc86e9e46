//! The marks of points: each colour has a shape of its own, for those who do not tell colours apart, and for paper.

use super::canvas::Number;
use super::style::Colour;

/// A series of more points is a line without marks: they would cover each other.
pub(super) const MARKED_MAX: usize = 24;
/// Half the width of a mark, in pixels of CSS.
const HALF: f64 = 3.6;
/// Half the length of one with points, which look smaller.
const LONG: f64 = 4.5;
/// Half the width of a beam of the cross.
const THIN: f64 = 1.6;

impl Colour {
    /// The outline of the mark around a point, as a path; none for what is not in the foreground.
    pub(super) fn mark(self, (x, y): (f64, f64)) -> Option<String> {
        // Where it begins, and the way around it: the same for each point, so that a page has it in few bytes.
        let (begin, outline) = match self {
            Self::Leaf => ((-HALF, 0.0), "a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z"),
            Self::Gold => ((-HALF, -HALF), "h7.2v7.2h-7.2z"),
            Self::Sky => ((0.0, -LONG), "l4.5 8.1h-9z"),
            Self::Rose => ((0.0, -LONG), "l4.5 4.5l-4.5 4.5l-4.5-4.5z"),
            Self::Violet => ((0.0, LONG), "l4.5-8.1h-9z"),
            Self::Teal => (
                (-THIN, -LONG),
                "h3.2v2.9h2.9v3.2h-2.9v2.9h-3.2v-2.9h-2.9v-3.2h2.9z",
            ),
            Self::Quiet => return None,
        };
        let [x, y] = [x + begin.0, y + begin.1].map(Number);
        Some(format!("M{x} {y}{outline}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_colour_of_a_series_has_a_shape_of_its_own() {
        let marks: Vec<String> = (0..6)
            .filter_map(|number| Colour::nth(number).mark((0.0, 0.0)))
            .collect();
        assert_eq!(marks.len(), 6);
        for (number, mark) in marks.iter().enumerate() {
            assert!(!marks[..number].contains(mark), "{mark}");
            assert!(mark.starts_with('M') && mark.ends_with('z'), "{mark}");
        }
        assert_eq!(Colour::Quiet.mark((0.0, 0.0)), None);
        assert_eq!(
            Colour::Gold.mark((10.0, 20.0)).unwrap(),
            "M6.4 16.4h7.2v7.2h-7.2z"
        );
    }
}
