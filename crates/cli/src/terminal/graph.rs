//! Lines of blocks that show how a figure went.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Columns of the text before a graph.
const TEXT_COLUMNS: usize = 44;

/// A text with the graph of its figure beside it: the latest values, or all of them in as many
/// columns as there are.
pub(crate) fn beside(text: &str, values: &[f64], columns: usize, scale_min: f64) -> String {
    let width = columns.saturating_sub(TEXT_COLUMNS + 1);
    let graph = blocks(values, width, scale_min);
    format!("{text:<TEXT_COLUMNS$} {graph}")
}

/// All values in at most as many as a graph beside a text has columns: of more, neighbours are
/// joined, as many each time.
pub(crate) fn squeezed(values: &[f64], columns: usize, join: fn(&[f64]) -> f64) -> Vec<f64> {
    let width = columns.saturating_sub(TEXT_COLUMNS + 1);
    let together = values.len().div_ceil(width.max(1)).max(1);
    values.chunks(together).map(join).collect()
}

/// The latest values, one a column, against the greatest of them or `scale_min`, whichever is more.
fn blocks(values: &[f64], columns: usize, scale_min: f64) -> String {
    let shown = &values[values.len().saturating_sub(columns)..];
    let top = shown.iter().copied().fold(scale_min, f64::max);
    shown.iter().map(|value| block(*value, top)).collect()
}

// The ratio lies between 0 and 1, so the number between 0 and 7.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn block(value: f64, top: f64) -> char {
    let ratio = if top > 0.0 { value / top } else { 0.0 };
    BLOCKS[(ratio.clamp(0.0, 1.0) * 7.0).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], columns: usize, scale_min: f64, expected: &str) {
        assert_eq!(blocks(values, columns, scale_min), expected);
    }

    #[test]
    fn nothing_and_odd_numbers_are_flat() {
        check(&[], 8, 1.0, "");
        check(&[0.0, 0.0], 8, 0.0, "▁▁");
        check(&[f64::NAN, -1.0], 8, 1.0, "▁▁");
        check(&[1.0], 0, 1.0, "");
    }

    #[test]
    fn a_graph_stands_in_the_columns_that_are_left() {
        let text = beside("rate", &[1.0, 2.0, 4.0], 47, 0.0);
        assert_eq!(text, format!("rate{} ▅█", " ".repeat(40)));
        assert_eq!(beside("rate", &[1.0], 20, 0.0).trim_end(), "rate");
    }

    #[test]
    fn all_values_fit() {
        let greatest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let values: Vec<f64> = (1..=7_u8).map(f64::from).collect();
        assert_eq!(squeezed(&values, 45 + 7, greatest), values);
        assert_eq!(squeezed(&values, 45 + 3, greatest), [3.0, 6.0, 7.0]);
        assert_eq!(squeezed(&values, 45, greatest), [7.0]);
        assert_eq!(squeezed(&[], 80, greatest), [0.0; 0]);
    }

    #[test]
    fn the_latest_are_shown_against_the_greatest() {
        check(
            &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
            8,
            0.0,
            "▁▂▃▄▅▆▇█",
        );
        check(&[9.0, 0.0, 7.0], 2, 0.0, "▁█");
        check(&[1.0], 8, 7.0, "▂");
    }
}
