//! The order in which subjects are measured: drawn from the seed, anew for each step and repeat, and the same whatever
//! else the lab has.

/// An order of `0..count` drawn from a seed and a place.
pub(super) fn drawn(seed: u64, place: [u64; 3], count: usize) -> Vec<usize> {
    let mixed = place.iter().fold(seed, |state, part| {
        // The multiplier of Knuth's generator spreads neighbouring places over all bits.
        (state ^ part)
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .rotate_left(29)
    });
    let mut random = fastrand::Rng::with_seed(mixed);
    let mut order: Vec<usize> = (0..count).collect();
    random.shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_order() {
        assert_eq!(drawn(7, [1, 2, 3], 6), drawn(7, [1, 2, 3], 6));
        assert!((0..20).any(|seed| drawn(seed, [1, 2, 3], 6) != drawn(7, [1, 2, 3], 6)));
        assert!((0..20).any(|place| drawn(7, [1, 2, place], 6) != drawn(7, [1, 2, 3], 6)));
    }

    #[test]
    fn each_place_is_drawn_about_equally_often() {
        let mut firsts = [0; 4];
        for repeat in 0..4000 {
            firsts[drawn(1, [repeat, 0, 0], 4)[0]] += 1;
        }
        // One in four, within six standard deviations.
        assert!(
            firsts.iter().all(|count| (835..=1165).contains(count)),
            "{firsts:?}"
        );
    }
}
