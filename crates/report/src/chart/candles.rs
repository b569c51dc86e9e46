//! Candlesticks with labels: the response times of a server, from the minimum to the 95th
//! percentile.

use super::axis::{Axis, Settled};
use super::canvas::{Anchor, Canvas, Number, Size, standalone};
use super::style::Colour;
use crate::escape::Html;

/// A chart of horizontal candles.
#[derive(Clone, Debug, PartialEq)]
pub struct CandleChart {
    /// The title of the chart.
    pub title: String,
    /// What is to be seen, in a sentence, for those who do not see it.
    pub description: String,
    /// What the candles measure.
    pub axis: Axis,
    /// The candles, from above.
    pub candles: Vec<Candle>,
}

/// One candle: a box from the low to the high value with a line at the middle, and whiskers to the
/// ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Candle {
    /// What it is of.
    pub label: String,
    /// Where the lower whisker ends.
    pub least: f64,
    /// Where the box begins.
    pub low: f64,
    /// The line in the box.
    pub middle: f64,
    /// Where the box ends.
    pub high: f64,
    /// Where the upper whisker ends.
    pub greatest: f64,
    /// The colour of the box.
    pub colour: Colour,
}

impl CandleChart {
    /// The chart as an element of a page with [`super::STYLE`]; `id` is unique in that page.
    pub fn svg(&self, id: &str, size: Size) -> String {
        let text = size.text;
        let (row, head) = (text * 2.9, text * 1.6);
        #[expect(clippy::cast_precision_loss, reason = "a handful of candles")]
        let bottom = head + row * self.candles.len().max(1) as f64;
        let height = bottom + text * 2.2;
        let mut canvas = Canvas::new(id, Size { height, ..size }, &self.title, &self.description);
        canvas.text((0.0, text), Anchor::Start, "axis", &self.axis.label);
        let ends = self.candles.iter().flat_map(|candle| [candle.least, candle.greatest]);
        let Some(axis) = self.axis.settle(ends, 4) else {
            canvas.text((0.0, bottom), Anchor::Start, "legend", "nothing was measured");
            return canvas.finish();
        };
        let room = axis.ticks.last().map_or(0.0, |(_, label)| canvas.text_width(label) / 2.0);
        let length = size.width - room - 2.0;
        for (value, label) in &axis.ticks {
            let x = 1.0 + axis.place(*value) * length;
            canvas.rule((x, head), (x, bottom), "grid");
            let (x, anchor) = if x < 2.0 { (0.0, Anchor::Start) } else { (x, Anchor::Middle) };
            canvas.text((x, bottom + text * 1.5), anchor, "tick", label);
        }
        let mut top = head;
        for candle in &self.candles {
            self.draw(&mut canvas, &axis, candle, (top, length));
            top += row;
        }
        canvas.finish()
    }

    /// The chart as a file of its own.
    pub fn file(&self, size: Size) -> String {
        standalone(&self.svg("chart", size))
    }

    fn draw(&self, canvas: &mut Canvas, axis: &Settled, candle: &Candle, at: (f64, f64)) {
        let (top, length) = at;
        let (text, width) = (canvas.size.text, canvas.size.width);
        let label = canvas.fitting(&candle.label, width);
        canvas.text((0.0, top + text), Anchor::Start, "legend", &label);
        let x_of = |value: f64| 1.0 + axis.place(value) * length;
        let (box_top, thick) = (top + text * 1.4, text);
        let middle = box_top + thick / 2.0;
        canvas.rule((x_of(candle.least), middle), (x_of(candle.greatest), middle), "whisker");
        let said = [candle.least, candle.low, candle.middle, candle.high, candle.greatest];
        let said: Vec<String> = said.iter().map(|value| self.axis.unit.text(*value)).collect();
        let hint = format!("{}: {}", candle.label, said.join(", "));
        let (from, wide) = (x_of(candle.low), x_of(candle.high) - x_of(candle.low));
        canvas.add(format_args!(
            "<rect fill=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>\n",
            candle.colour.variable(),
            Number(from),
            Number(box_top),
            Number(wide.max(1.0)),
            Number(thick),
            Html(&hint)
        ));
        let x = x_of(candle.middle);
        canvas.rule((x, box_top - 2.0), (x, box_top + thick + 2.0), "whisker");
    }
}

#[cfg(test)]
mod tests {
    use super::super::axis::Unit;
    use super::*;

    fn chart(candles: Vec<Candle>) -> CandleChart {
        CandleChart {
            title: "response time".to_owned(),
            description: "where times lie".to_owned(),
            axis: Axis::new("response time", Unit::Time),
            candles,
        }
    }

    #[test]
    fn a_candle_says_all_five_and_lies_where_they_are() {
        let candle = Candle {
            label: "<a>".to_owned(),
            least: 1e6,
            low: 2e6,
            middle: 4e6,
            high: 8e6,
            greatest: 10e6,
            colour: Colour::Leaf,
        };
        let svg = chart(vec![candle]).svg("c", Size::WIDE);
        assert!(svg.contains("&lt;a&gt;: 1.00 ms, 2.00 ms, 4.00 ms, 8.00 ms, 10.0 ms"), "{svg}");
        assert_eq!(svg.matches("class=\"whisker\"").count(), 2);
        assert!(!svg.contains("<a>"));
    }

    #[test]
    fn nothing_is_said_to_be_nothing() {
        let svg = chart(Vec::new()).svg("c", Size::NARROW);
        assert!(svg.contains("nothing was measured"));
    }
}
