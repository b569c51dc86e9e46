//! The marks of points: each colour has a shape of its own, for those who do not tell colours apart, and for paper.

use super::canvas::Number;
use super::style::Colour;

/// A series of more points is a line without marks: they would cover each other.
pub(super) const MARKED_MAX: usize = 24;
/// Half the width of a mark, in pixels of CSS.
const HALF: f64 = 3.6;

impl Colour {
    /// The outline of the mark around a point, as a path; none for what is not in the foreground.
    pub(super) fn mark(self, (x, y): (f64, f64)) -> Option<String> {
        let (half, long, thin) = (HALF, HALF * 1.25, HALF * 0.45);
        let outline: &[(f64, f64)] = match self {
            Self::Leaf => return Some(circle((x, y))),
            Self::Gold => &[(-half, -half), (half, -half), (half, half), (-half, half)],
            Self::Sky => &[(0.0, -long), (long, half), (-long, half)],
            Self::Rose => &[(0.0, -long), (long, 0.0), (0.0, long), (-long, 0.0)],
            Self::Violet => &[(0.0, long), (long, -half), (-long, -half)],
            Self::Teal => &[
                (-thin, -long),
                (thin, -long),
                (thin, -thin),
                (long, -thin),
                (long, thin),
                (thin, thin),
                (thin, long),
                (-thin, long),
                (-thin, thin),
                (-long, thin),
                (-long, -thin),
                (-thin, -thin),
            ],
            Self::Quiet => return None,
        };
        let corners = outline.iter().map(|(right, down)| {
            let [x, y] = [x + right, y + down].map(Number);
            format!("{x} {y}")
        });
        Some(format!("M{}Z", corners.collect::<Vec<_>>().join("L")))
    }
}

fn circle((x, y): (f64, f64)) -> String {
    let [left, y, half, wide] = [x - HALF, y, HALF, 2.0 * HALF].map(Number);
    format!("M{left} {y}a{half} {half} 0 1 0 {wide} 0a{half} {half} 0 1 0 -{wide} 0Z")
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
            assert!(mark.starts_with('M') && mark.ends_with('Z'), "{mark}");
        }
        assert_eq!(Colour::Quiet.mark((0.0, 0.0)), None);
        assert_eq!(
            Colour::Gold.mark((10.0, 20.0)).unwrap(),
            "M6.4 16.4L13.6 16.4L13.6 23.6L6.4 23.6Z"
        );
    }
}
