//! Unit tests of `schedule::fixed`.

use super::*;

const HOUR: f64 = 3_600.0;

/// The paper's daily pattern in its purest form: nothing before 8 h, the same amount in each hour after it.
fn busy_from_eight() -> [f64; HOURS] {
    std::array::from_fn(|hour| f64::from(u8::from(hour >= 8)))
}

fn learnt(weights: &[f64]) -> Vec<Learnt> {
    weights.iter().map(|weight| Learnt { weight: *weight, hours: busy_from_eight() }).collect()
}

#[test]
fn bra_cuts_the_area_into_equal_parts() {
    let times = equal_area_times(&busy_from_eight(), 4);
    let expected = [11.2, 14.4, 17.6, 20.8].map(|hour| hour * HOUR);
    assert!(times.iter().zip(expected).all(|(time, expected)| (time - expected).abs() < 1.0), "{times:?}");
    assert_eq!(equal_area_times(&[0.0; HOURS], 1), [12.0 * HOUR]);
    assert_eq!(equal_area_times(&busy_from_eight(), 0), [0.0; 0]);
    let mut spike = [0.0; HOURS];
    spike[23] = 1.0;
    assert!(equal_area_times(&spike, 50).iter().all(|time| (23.0 * HOUR..=24.0 * HOUR).contains(time)));
}

#[test]
fn all_looks_are_given_whatever_the_weights() {
    for weights in [&[1.0, 2.0, 5.0][..], &[1e9, 1e-9, 1e-9, 0.0], &[0.0, 0.0], &[1.0; 7], &[3.0]] {
        for per_board in [0, 1, 4, 11] {
            let counts = in_proportion(&learnt(weights), per_board * weights.len());
            assert_eq!(counts.iter().sum::<usize>(), per_board * weights.len(), "{weights:?}");
            assert!(per_board == 0 || counts.iter().all(|count| *count > 0));
        }
    }
    assert_eq!(in_proportion(&learnt(&[1.0, 3.0]), 8), [2, 6]);
    assert_eq!(in_proportion(&learnt(&[1.0, 3.0, 1.0]), 7).iter().sum::<usize>(), 7);
    assert_eq!(in_proportion(&learnt(&[1.0, 3.0, 1.0]), 2), [1, 1, 0]);
    assert!(in_proportion(&[], 4).is_empty());
}
