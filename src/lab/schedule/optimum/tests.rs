//! Unit tests of `schedule::optimum`.

use gleaner_crawl::schedule::fixed::{equal_area_times, even_times, in_proportion};

use super::*;
use crate::schedule::baselines::delay_of_circle;

fn rhythm(seed: u64) -> [f64; HOURS] {
    std::array::from_fn(|hour| ((hour as u64 * 7 + seed * 13) % 11 * ((seed + hour as u64) % 3)) as f64)
}

#[test]
fn no_other_times_are_better() {
    // All pairs and triples of half hours, by brute force.
    for seed in 1..6 {
        let hours = rhythm(seed);
        let at = |slot: usize| slot as f64 * 1_800.0;
        let (mut pair, mut triple) = (f64::INFINITY, f64::INFINITY);
        for a in 0..SLOTS {
            for b in a + 1..SLOTS {
                pair = pair.min(delay_of_circle(&hours, &[at(a), at(b)]));
                for c in b + 1..SLOTS {
                    triple = triple.min(delay_of_circle(&hours, &[at(a), at(b), at(c)]));
                }
            }
        }
        for (count, least) in [(2, pair), (3, triple)] {
            let found = times(&hours, count);
            assert_eq!(found.len(), count);
            assert!((delay_of_circle(&hours, &found) - least).abs() < 1.0, "seed {seed}, {count} looks: {found:?}");
        }
    }
}

#[test]
fn it_is_below_even_times_and_equal_areas_for_every_count() {
    let hours: [f64; HOURS] = std::array::from_fn(|hour| if hour < 8 { 0.05 } else { 1.0 });
    for count in 1..=SLOTS {
        let best = delay_of_circle(&hours, &times(&hours, count));
        assert!(best <= delay_of_circle(&hours, &equal_area_times(&hours, count)), "{count}");
        if SLOTS.is_multiple_of(count) {
            assert!(best <= delay_of_circle(&hours, &even_times(count)) + 1e-6, "{count}");
        }
    }
    assert_eq!(times(&hours, 0), [0.0; 0]);
    assert_eq!(times(&[0.0; HOURS], 1).len(), 1);
    assert_eq!(times(&hours, 1_000).len(), SLOTS);
}

#[test]
fn looks_go_where_they_save_most_and_all_are_used() {
    let weights = [100.0, 25.0, 4.0, 0.0];
    let learnt: Vec<Learnt> = weights.map(|weight| Learnt { weight, hours: [1.0; HOURS] }).to_vec();
    let counts: Vec<usize> = plan(&learnt, &vec![Profile::default(); 4], 5).iter().map(Vec::len).collect();
    assert_eq!(counts.iter().sum::<usize>(), 20);
    assert_eq!(counts[3], 1);
    // Square roots; proportional counts would be 15 and 4.
    assert!(counts[0] < in_proportion(&learnt, 5 * learnt.len())[0] && counts[1] > 4, "{counts:?}");
    assert!(plan(&learnt, &vec![Profile::default(); 4], 0).iter().all(Vec::is_empty));
    assert!(plan(&[], &[], 4).is_empty());
    assert!(plan(&learnt, &vec![Profile::default(); 4], 100).iter().all(|looks| looks.len() <= SLOTS));
}
