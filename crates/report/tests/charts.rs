//! Charts: what has no place on an axis is left out, what is named is escaped, and a chart stands
//! alone.

use vervet_report::chart::{
    Axis, Band, Bar, BarChart, Colour, LineChart, Range, STYLE, Series, Size, Stroke, Unit,
};

fn chart(points: Vec<(f64, f64)>) -> LineChart {
    LineChart {
        title: "Rate & <time>".to_owned(),
        description: "It \"rises\".".to_owned(),
        x: Axis::new("connections", Unit::Count).logarithmic(),
        y: Axis::new("rate", Unit::PerSecond),
        bands: Vec::new(),
        series: vec![Series::new("nginx <1>", Colour::nth(0), points)],
    }
}

/// The `d` of the drawn line, after the sample in the legend.
fn drawn(svg: &str) -> Option<&str> {
    let mut paths = svg.split("<path class=\"line").skip(2);
    paths.find_map(|path| path.split(" d=\"").nth(1)?.split('"').next())
}

#[test]
fn values_without_a_place_are_gaps() {
    let nan = f64::NAN;
    let points =
        vec![(1.0, 1.0), (2.0, nan), (4.0, 3.0), (8.0, f64::INFINITY), (0.0, 5.0), (16.0, 2.0)];
    let svg = chart(points).svg("a", Size::WIDE);
    let line = drawn(&svg).unwrap();
    assert_eq!(line.matches('M').count(), 3, "{line}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    assert_eq!(svg.matches("<circle").count(), 3);
}

#[test]
fn nothing_to_draw_is_said() {
    for points in [vec![], vec![(f64::NAN, 1.0)], vec![(0.0, 1.0)], vec![(1.0, f64::NAN)]] {
        let svg = chart(points).svg("a", Size::NARROW);
        assert!(svg.contains("nothing was measured"), "{svg}");
    }
}

#[test]
fn names_are_escaped_and_told_to_those_who_do_not_see() {
    let svg = chart(vec![(1.0, 1.0), (10.0, 5.0)]).svg("rate", Size::WIDE);
    assert!(svg.contains("role=\"img\" aria-labelledby=\"rate-t rate-d\""));
    assert!(svg.contains("<title id=\"rate-t\">Rate &amp; &lt;time&gt;</title>"));
    assert!(svg.contains("<desc id=\"rate-d\">It &quot;rises&quot;.</desc>"));
    assert!(svg.contains("nginx &lt;1&gt;") && !svg.contains("<1>"));
}

#[test]
fn the_line_goes_from_corner_to_corner() {
    let svg = chart(vec![(1.0, 0.0), (10.0, 5.0), (100.0, 10.0)]).svg("a", Size::WIDE);
    let line = drawn(&svg).unwrap().replace("h0", "").replace(['M', 'L'], "|");
    let points: Vec<Vec<f64>> = line
        .split('|')
        .skip(1)
        .map(|point| point.split(' ').map(|number| number.parse().unwrap()).collect())
        .collect();
    let middle = f64::midpoint(points[0][0], points[2][0]);
    assert!((points[1][0] - middle).abs() < 0.2, "equal ratios are equally wide: {points:?}");
    let height = f64::midpoint(points[0][1], points[2][1]);
    assert!((points[1][1] - height).abs() < 0.2, "equal differences are equally high: {points:?}");
    assert!(points[2][1] < points[0][1], "more is higher");
}

#[test]
fn a_file_of_its_own_has_its_style() {
    let file = chart(vec![(1.0, 1.0)]).file(Size::WIDE);
    assert!(file.starts_with("<svg ") && file.contains(&format!("<style>{STYLE}</style>")));
    let mut band = chart(vec![(1.0, 1.0), (2.0, 4.0)]);
    band.bands.push(Band {
        name: "95 %".to_owned(),
        points: vec![(1.0, 0.5, 1.5), (2.0, 3.0, f64::NAN), (4.0, 3.0, 5.0)],
        colour: Colour::Leaf,
    });
    let svg = band.svg("a", Size::WIDE);
    let area = svg.split("<path class=\"band\"").nth(1).unwrap();
    assert_eq!(
        area.split(" d=\"").nth(1).unwrap().split('"').next().unwrap().matches('L').count(),
        3
    );
}

#[test]
fn many_points_are_thinned_and_not_marked() {
    let points = (1..=100_000).map(|at| (f64::from(at), f64::from(at % 7))).collect();
    let svg = chart(points).svg("a", Size::WIDE);
    assert!(svg.len() < 40_000, "{}", svg.len());
    assert!(!svg.contains("<circle"));
}

fn bars(value: Option<f64>, interval: Option<(f64, f64)>) -> String {
    let bar = |label: &str, value, interval| Bar {
        label: label.to_owned(),
        value,
        interval,
        colour: Colour::nth(1),
    };
    let chart = BarChart {
        title: "CPU time".to_owned(),
        description: String::new(),
        axis: Axis::new("for each request", Unit::Time).reaching(Range::Values),
        bars: vec![bar("vervet", Some(4e3), None), bar("a <b>", value, interval)],
    };
    chart.svg("bars", Size::NARROW)
}

#[test]
fn bars_begin_at_zero_and_say_their_value() {
    let svg = bars(Some(2e3), Some((1e3, 5e3)));
    let widths: Vec<f64> = svg
        .split("<rect ")
        .skip(1)
        .map(|bar| {
            bar.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        })
        .collect();
    assert!((widths[0] - 2.0 * widths[1]).abs() < 0.2, "{widths:?}");
    assert!(svg.contains("2.00 us (1.00 us to 5.00 us)") && svg.contains("a &lt;b&gt;"), "{svg}");
    assert_eq!(svg.matches("class=\"whisker\"").count(), 1);
}

#[test]
fn bars_without_a_value_say_so() {
    let svg = bars(None, None);
    assert!(svg.contains("no figure") && svg.contains("width=\"0\""), "{svg}");
    let svg = bars(Some(f64::NAN), Some((f64::NAN, 1.0)));
    assert!(!svg.contains("=\"NaN\""), "{svg}");
}

#[test]
fn strokes_differ_without_colour() {
    let mut chart = chart(vec![(1.0, 1.0)]);
    chart.series[0] = chart.series[0].clone().stroked(Stroke::Dashed);
    assert_eq!(chart.svg("a", Size::WIDE).matches("line dashed").count(), 2);
}
