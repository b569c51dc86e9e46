//! Charts as values, drawn as SVG: no script, no font and no picture from elsewhere. Each names
//! itself and says in a sentence what it shows; colours come from variables of the page, so that
//! they follow light and dark, and lines differ by their dashes and the marks of their points too.

mod axis;
mod bars;
mod candles;
mod canvas;
mod line;
mod style;
mod ticks;

pub use axis::{Axis, Range, Scale, Unit, nines};
pub use bars::{Bar, BarChart};
pub use candles::{Candle, CandleChart};
pub use canvas::Size;
pub use line::{Band, LineChart, POINTS_MAX, Series, Stroke};
pub use style::{Colour, STYLE};
