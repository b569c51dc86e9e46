//! Lines over an axis: several series, and bands between a low and a high value.

use std::fmt::Write as _;

use super::axis::{Axis, Settled};
use super::canvas::{Anchor, Canvas, Number, Size, standalone};
use super::style::Colour;
use super::style::MARKED_MAX;
use crate::escape::Html;

/// Points of a series that are drawn; of more, the lowest and highest of each piece are.
pub const POINTS_MAX: usize = 800;
/// Up to so many points in a chart have a text where the pointer is: each takes more of a page than
/// all else about it, and of more the pointer hits a neighbour.
const POINTED_MAX: usize = 80;
/// Charts narrower than this, in pixels of CSS, are for fingers, which point at nothing without
/// touching it.
const POINTED_FROM: f64 = 600.0;
/// The length of the sample of a line in the legend.
const SAMPLE: f64 = 28.0;

/// A chart of lines.
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// The title of the chart.
    pub title: String,
    /// What is to be seen, in a sentence, for those who do not see it.
    pub description: String,
    /// The horizontal axis of the chart.
    pub x: Axis,
    /// The vertical axis of the chart.
    pub y: Axis,
    /// Drawn first, below the lines.
    pub bands: Vec<Band>,
    /// The lines of the chart.
    pub series: Vec<Series>,
}

/// One line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in order of `x`. Where `y` is not a number the line has a gap.
    pub points: Vec<(f64, f64)>,
    /// The colour of the line or band.
    pub colour: Colour,
    /// How it is drawn.
    pub stroke: Stroke,
}

/// What is between two lines: an interval of confidence, or the range of repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Its name in the legend; empty for none.
    pub name: String,
    /// `x`, the low and the high value.
    pub points: Vec<(f64, f64, f64)>,
    /// The colour of the line or band.
    pub colour: Colour,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// A line without gaps.
    Solid,
    /// A line of dashes.
    Dashed,
    /// A line of dots.
    Dotted,
}

/// The rectangle that the lines are in.
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Settled,
    y: Settled,
}

impl LineChart {
    /// The chart as an element of a page with [`super::STYLE`]; `id` is unique in that page.
    pub fn svg(&self, id: &str, size: Size) -> String {
        let mut canvas = Canvas::new(id, size, &self.title, &self.description);
        let top = self.legend(&mut canvas);
        let Some(plot) = self.plot(&canvas, top) else {
            canvas.text(
                (size.width / 2.0, size.height / 2.0),
                Anchor::Middle,
                "legend",
                "nothing was measured",
            );
            return canvas.finish();
        };
        self.draw_axes(&mut canvas, &plot);
        for band in &self.bands {
            self.draw_band(&mut canvas, &plot, band);
        }
        for series in &self.series {
            self.draw_line(&mut canvas, &plot, series);
        }
        for series in &self.series {
            self.mark_points(&mut canvas, &plot, series);
        }
        if self.is_pointed_at(size) {
            for series in &self.series {
                self.name_points(&mut canvas, &plot, series);
            }
        }
        canvas.finish()
    }

    /// Whether its points have texts for the pointer.
    fn is_pointed_at(&self, size: Size) -> bool {
        let points = self.series.iter().map(|series| series.points.len());
        size.width >= POINTED_FROM && points.sum::<usize>() <= POINTED_MAX
    }

    /// The chart as a file of its own.
    pub fn file(&self, size: Size) -> String {
        standalone(&self.svg("chart", size))
    }

    /// Draws the legend and gives where the plot may begin.
    fn legend(&self, canvas: &mut Canvas) -> f64 {
        let (text, width) = (canvas.size.text, canvas.size.width);
        let (mut x, mut y) = (2.0, text);
        let of_bands = self.bands.iter().map(|band| (&band.name, band.colour, None));
        let of_lines = self.series.iter().map(|series| (&series.name, series.colour, Some(series)));
        for (name, colour, series) in of_lines.chain(of_bands).filter(|(name, ..)| !name.is_empty())
        {
            let name = canvas.fitting(name, width - SAMPLE - 6.0);
            let wide = SAMPLE + 6.0 + canvas.text_width(&name);
            if x > 2.0 && x + wide > width {
                (x, y) = (2.0, y + text * 1.5);
            }
            let middle = y - text * 0.35;
            match series {
                Some(series) => draw_sample(canvas, series, (x, middle)),
                None => canvas.add(format_args!(
                    "<rect class=\"band\" fill=\"{}\" x=\"{}\" y=\"{}\" width=\"{SAMPLE}\" height=\"{text}\"/>\n",
                    colour.variable(),
                    Number(x),
                    Number(middle - text / 2.0)
                )),
            }
            canvas.text((x + SAMPLE + 6.0, y), Anchor::Start, "legend", &name);
            x += wide + text * 1.4;
        }
        y + text * 3.0
    }

    fn plot(&self, canvas: &Canvas, top: f64) -> Option<Plot> {
        let Size { width, height, text } = canvas.size;
        let bottom = height - text * 2.9;
        let heights =
            self.series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
        let of_bands = self
            .bands
            .iter()
            .flat_map(|band| band.points.iter().flat_map(|point| [point.1, point.2]));
        let y = self.y.settle(heights.chain(of_bands), ticks_within(bottom - top, text * 3.4))?;
        let widths =
            self.series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
        let of_bands = self.bands.iter().flat_map(|band| band.points.iter().map(|point| point.0));
        let x = self.x.settle(widths.chain(of_bands), ticks_within(width, text * 5.0))?;
        let widest = y.ticks.iter().map(|(_, label)| canvas.text_width(label)).fold(0.0, f64::max);
        let last = x.ticks.last().map_or(0.0, |(_, label)| canvas.text_width(label) / 2.0);
        Some(Plot {
            left: (widest + 8.0).max(text * 2.0),
            right: width - last.max(4.0),
            top,
            bottom,
            x,
            y,
        })
    }

    fn draw_axes(&self, canvas: &mut Canvas, plot: &Plot) {
        let text = canvas.size.text;
        for (value, label) in &plot.y.ticks {
            let y = plot.y_of(*value);
            canvas.rule((plot.left, y), (plot.right, y), "grid");
            canvas.text((plot.left - 8.0, y + text * 0.35), Anchor::End, "tick", label);
        }
        let mut free_from = f64::NEG_INFINITY;
        for (value, label) in &plot.x.ticks {
            let x = plot.x_of(*value);
            canvas.rule((x, plot.bottom), (x, plot.bottom + 4.0), "base");
            let half = canvas.text_width(label) / 2.0;
            // A label that would run into the one before it is left out.
            if x - half >= free_from {
                canvas.text((x, plot.bottom + text * 1.4), Anchor::Middle, "tick", label);
                free_from = x + half + text * 0.5;
            }
        }
        canvas.rule((plot.left, plot.bottom), (plot.right, plot.bottom), "base");
        let below = (plot.right, canvas.size.height - text * 0.3);
        canvas.text(below, Anchor::End, "axis", &self.x.label);
        canvas.text((2.0, plot.top - text * 1.1), Anchor::Start, "axis", &self.y.label);
    }

    fn draw_band(&self, canvas: &mut Canvas, plot: &Plot, band: &Band) {
        let drawn: Vec<_> = band
            .points
            .iter()
            .filter(|(x, low, high)| self.x.draws(*x) && self.y.draws(*low) && self.y.draws(*high))
            .collect();
        let above = drawn.iter().map(|(x, _, high)| (*x, *high));
        let below = drawn.iter().rev().map(|(x, low, _)| (*x, *low));
        let mut path = String::new();
        for (x, y) in above.chain(below) {
            let begin = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{begin}{} {}", Number(plot.x_of(x)), Number(plot.y_of(y)));
        }
        if !path.is_empty() {
            let colour = band.colour.variable();
            canvas.add(format_args!("<path class=\"band\" fill=\"{colour}\" d=\"{path}Z\"/>\n"));
        }
    }

    fn draw_line(&self, canvas: &mut Canvas, plot: &Plot, series: &Series) {
        let mut path = String::new();
        let mut begin = 'M';
        for (x, y) in thinned(&series.points) {
            if !self.x.draws(x) || !self.y.draws(y) {
                begin = 'M';
                continue;
            }
            let _ = write!(path, "{begin}{} {}", Number(plot.x_of(x)), Number(plot.y_of(y)));
            if begin == 'M' {
                // A point alone is a dot: the round end of a line without length.
                path.push_str("h0");
            }
            begin = 'L';
        }
        if !path.is_empty() {
            let (class, colour) = (series.stroke.class(), series.colour.variable());
            canvas.add(format_args!(
                "<path class=\"line{class}\" stroke=\"{colour}\" d=\"{path}\"/>\n"
            ));
        }
    }

    /// The marks of a series, one path: hollow if the line is dashed.
    fn mark_points(&self, canvas: &mut Canvas, plot: &Plot, series: &Series) {
        if series.points.len() > MARKED_MAX {
            return;
        }
        let drawn = series.points.iter().filter(|(x, y)| self.x.draws(*x) && self.y.draws(*y));
        let marks = drawn.filter_map(|(x, y)| series.colour.mark((plot.x_of(*x), plot.y_of(*y))));
        draw_mark(canvas, series, &marks.collect::<String>());
    }

    fn name_points(&self, canvas: &mut Canvas, plot: &Plot, series: &Series) {
        canvas.add(format_args!("<g class=\"hit\">\n"));
        for (x, y) in &series.points {
            if !self.x.draws(*x) || !self.y.draws(*y) {
                continue;
            }
            let said =
                format!("{}, {}: {}", series.name, self.x.unit.text(*x), self.y.unit.text(*y));
            let (at_x, at_y, said) = (Number(plot.x_of(*x)), Number(plot.y_of(*y)), Html(&said));
            canvas.add(format_args!(
                "<circle cx=\"{at_x}\" cy=\"{at_y}\" r=\"7\"><title>{said}</title></circle>\n"
            ));
        }
        canvas.add(format_args!("</g>\n"));
    }
}

impl Plot {
    fn x_of(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.x.place(value)
    }

    fn y_of(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.y.place(value)
    }
}

impl Series {
    /// A solid line with a name.
    pub fn new(name: impl Into<String>, colour: Colour, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, colour, stroke: Stroke::Solid }
    }

    /// The same, drawn otherwise.
    #[must_use]
    pub fn stroked(mut self, stroke: Stroke) -> Self {
        self.stroke = stroke;
        self
    }
}

impl Stroke {
    fn class(self) -> &'static str {
        match self {
            Self::Solid => "",
            Self::Dashed => " dashed",
            Self::Dotted => " dotted",
        }
    }
}

/// A piece of the line with its mark, as the legend shows it.
fn draw_sample(canvas: &mut Canvas, series: &Series, (x, y): (f64, f64)) {
    let [from, at, to] = [x, y, x + SAMPLE].map(Number);
    let (class, colour) = (series.stroke.class(), series.colour.variable());
    canvas.add(format_args!(
        "<path class=\"line{class}\" stroke=\"{colour}\" d=\"M{from} {at}H{to}\"/>\n"
    ));
    if series.points.len() <= MARKED_MAX {
        let mark = series.colour.mark((x + SAMPLE / 2.0, y));
        draw_mark(canvas, series, &mark.unwrap_or_default());
    }
}

/// Marks that are drawn already, in the colour of their series.
fn draw_mark(canvas: &mut Canvas, series: &Series, outline: &str) {
    if outline.is_empty() {
        return;
    }
    let (colour, fill) = (
        series.colour.variable(),
        match series.stroke {
            Stroke::Solid => series.colour.variable(),
            Stroke::Dashed | Stroke::Dotted => "var(--c-ground)",
        },
    );
    canvas.add(format_args!(
        "<path class=\"mark\" stroke=\"{colour}\" fill=\"{fill}\" d=\"{outline}\"/>\n"
    ));
}

/// How many ticks fit, each with so much room.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful")]
fn ticks_within(length: f64, room: f64) -> usize {
    (length / room).clamp(2.0, 20.0) as usize
}

/// At most [`POINTS_MAX`] points: of each piece of the line the lowest and the highest, in their
/// order.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= POINTS_MAX {
        return points.to_vec();
    }
    let piece = points.len().div_ceil(POINTS_MAX / 2);
    let mut kept = Vec::with_capacity(POINTS_MAX);
    for piece in points.chunks(piece) {
        let by_height = |one: &&(f64, f64), other: &&(f64, f64)| one.1.total_cmp(&other.1);
        let (Some(low), Some(high)) =
            (piece.iter().min_by(by_height), piece.iter().max_by(by_height))
        else {
            continue;
        };
        kept.extend(if low.0 <= high.0 { [*low, *high] } else { [*high, *low] });
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_series_keeps_its_peaks() {
        let mut points: Vec<_> = (0..10_000).map(|at| (f64::from(at), 1.0)).collect();
        points[7001].1 = 9.0;
        points[3].1 = -9.0;
        let kept = thinned(&points);
        assert!(kept.len() <= POINTS_MAX, "{}", kept.len());
        assert!(kept.contains(&(7001.0, 9.0)) && kept.contains(&(3.0, -9.0)));
        assert!(kept.is_sorted_by(|one, other| one.0 <= other.0));
        assert_eq!(thinned(&points[..POINTS_MAX]).len(), POINTS_MAX);
    }
}
