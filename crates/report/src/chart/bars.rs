//! Horizontal bars with labels: one value each, optionally with its interval.

use super::axis::{Axis, Range, Settled, Unit};
use super::canvas::{Anchor, Canvas, Number, Size, standalone};
use super::style::Colour;
use crate::escape::Html;

/// A chart of horizontal bars.
#[derive(Clone, Debug, PartialEq)]
pub struct BarChart {
    /// The title of the chart.
    pub title: String,
    /// What is to be seen, in a sentence, for those who do not see it.
    pub description: String,
    /// What the bars measure.
    pub axis: Axis,
    /// The bars, from above.
    pub bars: Vec<Bar>,
}

/// One bar with its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it is of.
    pub label: String,
    /// How long it is; none where nothing was measured.
    pub value: Option<f64>,
    /// The ends of its interval.
    pub interval: Option<(f64, f64)>,
    /// The colour of the bar.
    pub colour: Colour,
}

/// Where bars are drawn.
struct Rows<'a> {
    axis: &'a Axis,
    settled: Option<Settled>,
    /// The width of the longest bar.
    length: f64,
}

impl BarChart {
    /// The chart as an element of a page with [`super::STYLE`]; `id` is unique in that page.
    pub fn svg(&self, id: &str, size: Size) -> String {
        let (row, head) = (size.text * 3.1, size.text * 1.6);
        #[expect(clippy::cast_precision_loss, reason = "a handful of bars")]
        let height = head + row * self.bars.len().max(1) as f64;
        let mut canvas = Canvas::new(id, Size { height, ..size }, &self.title, &self.description);
        canvas.text((0.0, size.text), Anchor::Start, "axis", &self.axis.label);
        let axis = self.axis_from_zero();
        let rows = Rows {
            settled: axis.settle(self.bars.iter().flat_map(Bar::values), 4),
            length: self.length(&canvas),
            axis: &axis,
        };
        let mut top = head;
        for bar in &self.bars {
            rows.draw(&mut canvas, bar, top);
            top += row;
        }
        canvas.finish()
    }

    /// The chart as a file of its own.
    pub fn file(&self, size: Size) -> String {
        standalone(&self.svg("chart", size))
    }

    /// Bars begin at zero, or their lengths would not compare.
    fn axis_from_zero(&self) -> Axis {
        let range = match self.axis.range {
            Range::Fixed(low, high) => Range::Fixed(low, high),
            _ => Range::FromZero,
        };
        self.axis.clone().reaching(range)
    }

    /// The maximum length of a bar, which leaves room for its value.
    fn length(&self, canvas: &Canvas) -> f64 {
        let said = self.bars.iter().map(|bar| canvas.text_width(&bar.said(self.axis.unit)));
        let room = said.fold(0.0, f64::max) + 10.0;
        (canvas.size.width - room).max(canvas.size.width * 0.3)
    }
}

impl Bar {
    /// Every value that it shows.
    fn values(&self) -> impl Iterator<Item = f64> {
        let ends = self.interval.map(|(low, high)| [low, high]);
        self.value.into_iter().chain(ends.into_iter().flatten())
    }

    /// Its value in words.
    fn said(&self, unit: Unit) -> String {
        let text = |value| unit.text(value);
        match (self.value, self.interval) {
            (Some(value), _) if !value.is_finite() => "no figure".to_owned(),
            (None, _) => "no figure".to_owned(),
            (Some(value), Some((low, high))) if low.is_finite() && high.is_finite() => {
                format!("{} ({} to {})", text(value), text(low), text(high))
            }
            (Some(value), _) => text(value),
        }
    }
}

impl Rows<'_> {
    fn draw(&self, canvas: &mut Canvas, bar: &Bar, top: f64) {
        let Size { width, text, .. } = canvas.size;
        let label = canvas.fitting(&bar.label, width);
        canvas.text((0.0, top + text), Anchor::Start, "legend", &label);
        let (bar_top, said) = (top + text * 1.45, bar.said(self.axis.unit));
        // What is more than nothing is seen.
        let long = bar
            .value
            .map_or(0.0, |value| self.place(value).max(if value > 0.0 { 1.5 } else { 0.0 }));
        let (colour, hint) = (bar.colour.variable(), format!("{}: {said}", bar.label));
        let ([y, wide, thick], hint) = ([bar_top, long, text].map(Number), Html(&hint));
        canvas.add(format_args!(
            "<rect fill=\"{colour}\" x=\"0\" y=\"{y}\" width=\"{wide}\" height=\"{thick}\" rx=\"2\">\
             <title>{hint}</title></rect>\n"
        ));
        let mut end = long;
        if let Some((low, high)) =
            bar.interval.filter(|(low, high)| self.axis.draws(*low) && self.axis.draws(*high))
        {
            end = end.max(self.place(high));
            draw_whisker(canvas, (self.place(low), self.place(high)), bar_top + text / 2.0);
        }
        let gap = if end > 0.0 { 8.0 } else { 0.0 };
        canvas.text((end + gap, bar_top + text * 0.85), Anchor::Start, "value", &said);
    }

    /// How far a value reaches; nothing for what has no place on the axis.
    fn place(&self, value: f64) -> f64 {
        match &self.settled {
            Some(settled) if self.axis.draws(value) => settled.place(value) * self.length,
            _ => 0.0,
        }
    }
}

/// A line over an interval, with ends.
fn draw_whisker(canvas: &mut Canvas, (from, to): (f64, f64), y: f64) {
    let end = canvas.size.text * 0.3;
    let [from, to, top, middle, bottom] = [from, to, y - end, y, y + end].map(Number);
    canvas.add(format_args!(
        "<path class=\"whisker\" d=\"M{from} {top}V{bottom}M{from} {middle}H{to}M{to} {top}V{bottom}\"/>\n"
    ));
}
