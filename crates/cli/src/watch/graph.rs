//! A line of blocks that shows how a figure went.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The latest values, one a column, against the greatest of them or `scale_min`, whichever is more.
pub(crate) fn blocks(values: &[f64], columns: usize, scale_min: f64) -> String {
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
