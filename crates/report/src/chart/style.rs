//! The colours of charts, for light and dark, in one piece of CSS.

use super::canvas::Number;

/// A colour of a chart: a variable of the page's style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Green, with round marks.
    Leaf,
    /// Ochre, with square marks.
    Gold,
    /// Blue, with triangles as marks.
    Sky,
    /// Red, with diamonds as marks.
    Rose,
    /// Violet, with inverted triangles as marks.
    Violet,
    /// Blue-green, with crosses as marks.
    Teal,
    /// Grey, for what is not in the foreground.
    Quiet,
}

/// The style that charts need, once in a page that shows them. Colours have 3:1 or more against
/// their background.
pub const STYLE: &str = "\
.chart{color-scheme:light dark;--c-ground:#fffdf7;--c-ink:#24271d;--c-quiet:#5f6352;--c-line:#e3dcc8;
--c-leaf:#47682a;--c-gold:#a86a10;--c-sky:#1d6c9c;--c-rose:#b3382c;--c-violet:#7a4a9c;--c-teal:#177a72;
display:block;width:100%;height:auto;overflow:visible;font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"DejaVu Sans\",sans-serif}
@media(prefers-color-scheme:dark){.chart{--c-ground:#1c2018;--c-ink:#ebe7da;--c-quiet:#a9ab98;--c-line:#343a2d;
--c-leaf:#b3d184;--c-gold:#edb95c;--c-sky:#7fc3ee;--c-rose:#f2907f;--c-violet:#cba6ea;--c-teal:#6fd0c4}}
.chart text{fill:var(--c-quiet);font-variant-numeric:tabular-nums}
.chart .legend,.chart .value{fill:var(--c-ink)}
.chart .grid{stroke:var(--c-line);stroke-width:1}
.chart .base{stroke:var(--c-quiet);stroke-width:1}
.chart .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.chart .mark{stroke-width:1.5;stroke-linejoin:round}
.chart .hit{fill:transparent;stroke:none}
.chart .hit :hover{fill:var(--c-quiet);fill-opacity:.35}
.chart .dashed{stroke-dasharray:7 5}
.chart .dotted{stroke-dasharray:.1 5}
.chart .band{stroke:none;fill-opacity:.2}
.chart .whisker{stroke:var(--c-ink);stroke-width:1.5;fill:none}
";

impl Colour {
    /// The style of the series with this number; styles repeat after the last.
    pub fn nth(number: usize) -> Self {
        let colours = [Self::Leaf, Self::Gold, Self::Sky, Self::Rose, Self::Violet, Self::Teal];
        colours[number % colours.len()]
    }

    /// The variable with it.
    pub(super) fn variable(self) -> &'static str {
        match self {
            Self::Leaf => "var(--c-leaf)",
            Self::Gold => "var(--c-gold)",
            Self::Sky => "var(--c-sky)",
            Self::Rose => "var(--c-rose)",
            Self::Violet => "var(--c-violet)",
            Self::Teal => "var(--c-teal)",
            Self::Quiet => "var(--c-quiet)",
        }
    }
}

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
        // Where it begins, and the way around it: the same for each point, so that a page has it in
        // few bytes.
        let (begin, outline) = match self {
            Self::Leaf => ((-HALF, 0.0), "a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z"),
            Self::Gold => ((-HALF, -HALF), "h7.2v7.2h-7.2z"),
            Self::Sky => ((0.0, -LONG), "l4.5 8.1h-9z"),
            Self::Rose => ((0.0, -LONG), "l4.5 4.5l-4.5 4.5l-4.5-4.5z"),
            Self::Violet => ((0.0, LONG), "l4.5-8.1h-9z"),
            Self::Teal => ((-THIN, -LONG), "h3.2v2.9h2.9v3.2h-2.9v2.9h-3.2v-2.9h-2.9v-3.2h2.9z"),
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
        let marks: Vec<String> =
            (0..6).filter_map(|number| Colour::nth(number).mark((0.0, 0.0))).collect();
        assert_eq!(marks.len(), 6);
        for (number, mark) in marks.iter().enumerate() {
            assert!(!marks[..number].contains(mark), "{mark}");
            assert!(mark.starts_with('M') && mark.ends_with('z'), "{mark}");
        }
        assert_eq!(Colour::Quiet.mark((0.0, 0.0)), None);
        assert_eq!(Colour::Gold.mark((10.0, 20.0)).unwrap(), "M6.4 16.4h7.2v7.2h-7.2z");
    }
}
