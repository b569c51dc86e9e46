//! What charts are drawn on: an SVG element with its title and description, and text of a known
//! size.

use std::fmt::Write as _;

use super::style::STYLE;
use crate::escape::Html;

/// The size that a chart is drawn for. It grows and shrinks with its place; texts are as large as
/// this says where the place is as wide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Width, in pixels of CSS.
    pub width: f64,
    /// Height of a line chart, in pixels of CSS. The height of bars follows from their number.
    pub height: f64,
    /// Size of text, in pixels of CSS.
    pub text: f64,
}

impl Size {
    /// For a window of a desktop.
    pub const WIDE: Self = Self { width: 880.0, height: 320.0, text: 13.0 };
    /// The size for a telephone.
    pub const NARROW: Self = Self { width: 340.0, height: 260.0, text: 12.0 };
}

/// An SVG element in the making.
pub(super) struct Canvas {
    svg: String,
    pub(super) size: Size,
}

/// Where a text stands in relation to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// It begins there.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

impl Canvas {
    /// Begins. `id` is unique in the page.
    pub(super) fn new(id: &str, size: Size, title: &str, description: &str) -> Self {
        let (id, title, description) = (Html(id), Html(title), Html(description));
        let (width, height) = (size.width, size.height);
        let svg = format!(
            "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             font-size=\"{}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n\
             <title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{description}</desc>\n",
            size.text,
        );
        Self { svg, size }
    }

    /// Adds SVG as it is.
    pub(super) fn add(&mut self, svg: std::fmt::Arguments<'_>) {
        let _ = self.svg.write_fmt(svg);
    }

    /// Adds a text of a class.
    pub(super) fn text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y) = (Number(at.0), Number(at.1));
        let text = Html(text);
        self.add(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>\n"
        ));
    }

    /// Adds a line of a class, level or upright.
    pub(super) fn rule(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(Number);
        self.add(format_args!("<path class=\"{class}\" d=\"M{x1} {y1}H{x2}V{y2}\"/>\n"));
    }

    /// About how wide a text is: as in a wide font, so that it fits in others too.
    pub(super) fn text_width(&self, text: &str) -> f64 {
        let widths = text.chars().map(|letter| match letter {
            'm' | 'w' | 'M' | 'W' | '%' | '…' => 0.95,
            'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | ' ' | '.' | ',' | ':' | ';' | '/' | '('
            | ')' => 0.38,
            _ => 0.62,
        });
        widths.sum::<f64>() * self.size.text
    }

    /// A text cut to a width, with dots where something is missing.
    pub(super) fn fitting(&self, text: &str, width: f64) -> String {
        if self.text_width(text) <= width {
            return text.to_owned();
        }
        let mut cut: String = text.to_owned();
        while !cut.is_empty() && self.text_width(&cut) > width - self.size.text {
            cut.pop();
        }
        format!("{}…", cut.trim_end())
    }

    /// The element.
    pub(super) fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

/// An element as a file of its own, with the style within.
pub(super) fn standalone(svg: &str) -> String {
    let at = svg.find("<title").unwrap_or(svg.len());
    format!("{}<style>{STYLE}</style>\n{}", &svg[..at], &svg[at..])
}

/// A coordinate with at most one decimal: a tenth of a pixel.
pub(super) struct Number(pub(super) f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rounded = (self.0 * 10.0).round() / 10.0;
        // No minus before nothing.
        write!(f, "{}", if rounded == 0.0 { 0.0 } else { rounded })
    }
}
