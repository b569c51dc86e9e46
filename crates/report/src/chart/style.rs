//! The colours of charts, for light and dark, in one piece of CSS.

/// A colour of a chart: a variable of the page's style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Green.
    Leaf,
    /// Ochre.
    Gold,
    /// Blue.
    Sky,
    /// Red.
    Rose,
    /// Violet.
    Violet,
    /// Blue-green.
    Teal,
    /// Grey, for what is not in the foreground.
    Quiet,
}

/// The style that charts need, once in a page that shows them. Colours have 3:1 or more against their background.
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
        let colours = [
            Self::Leaf,
            Self::Gold,
            Self::Sky,
            Self::Rose,
            Self::Violet,
            Self::Teal,
        ];
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
