//! Unit tests of `login::grow`.

use super::*;
use crate::login::training::Random;

const STOP: Stop = Stop { gain_min: 1e-4, rows_min: 1 };

/// All rows of three booleans, eight times each; a login if the first is set, and one of the others but not both.
fn toy() -> (Vec<[f32; 3]>, Vec<bool>) {
    let rows: Vec<[f32; 3]> = (0..64_u8).map(|of| [of & 1, of >> 1 & 1, of >> 2 & 1].map(f32::from)).collect();
    let labels = rows.iter().map(|[a, b, c]| *a == 1.0 && (*b == 1.0 || *c == 1.0)).collect();
    (rows, labels)
}

fn rows<'a>(numbers: &'a [[f32; 3]], labels: &[bool]) -> Vec<Row<'a>> {
    numbers.iter().zip(labels).map(|(numbers, is_login)| Row { numbers, is_login: *is_login }).collect()
}

#[test]
fn the_known_tree_of_a_toy_is_learnt_where_linfas_own_recursion_fails() {
    let (numbers, labels) = toy();
    let tree = learn(&rows(&numbers, &labels), &mut || vec![0, 1, 2], STOP);
    let shape: Vec<Option<usize>> = tree
        .nodes()
        .iter()
        .map(|node| if let Node::Cut { feature, .. } = node { Some(*feature) } else { None })
        .collect();
    assert_eq!(shape, [Some(0), None, Some(1), Some(2), None, None, None], "a, then b, then c: {tree:?}");
    for (numbers, is_login) in numbers.iter().zip(&labels) {
        assert_eq!(tree.share(numbers) > 0.5, *is_login, "{numbers:?}");
    }

    let records = Array2::from_shape_fn((64, 3), |(row, column)| numbers[row][column]);
    let data = Dataset::new(records, Array1::from(labels.clone()));
    let theirs: DecisionTree<f32, bool> =
        DecisionTree::params().split_quality(SplitQuality::Entropy).fit(&data).unwrap();
    let right = theirs.predict(&data).iter().zip(&labels).filter(|(said, is)| said == is).count();
    assert!(right < 64, "linfa learns it by itself now ({right} of 64): its own recursion will do");
}

#[test]
fn the_gain_is_that_of_the_textbook() {
    let column: Vec<(f32, bool)> =
        (0..14).map(|at| (f32::from(u8::from(at < 7)), [0, 1, 2, 7, 8, 9, 10, 11, 12].contains(&at))).collect();
    // 9 of 14; 3 of 7 and 6 of 7: Mitchell, Machine Learning, §3.4.1: 0.940 − ½·0.985 − ½·0.592 = 0.151.
    let cut = cut_of(column, STOP).unwrap();
    assert_eq!(cut.at, 0.5);
    assert!((cut.gain - 0.1518).abs() < 1e-3, "{cut:?}");
}

#[test]
fn rows_in_another_order_give_the_same_tree() {
    let mut random = Random::new(7);
    let numbers: Vec<[f32; 3]> = (0..200).map(|_| [5, 3, 3].map(|end| random.below(end) as f32)).collect();
    let labels: Vec<bool> = numbers.iter().map(|of| of[0] + of[1] > 3.0 || random.below(10) == 0).collect();
    let mut rows = rows(&numbers, &labels);
    let tree = learn(&rows, &mut || vec![0, 1, 2], STOP);
    for _ in 0..5 {
        random.shuffle(&mut rows);
        assert_eq!(learn(&rows, &mut || vec![0, 1, 2], STOP), tree);
    }
}

#[test]
fn equal_gains_are_broken_by_the_order_of_the_features() {
    let numbers: Vec<[f32; 3]> = (0..20_u8).map(|of| [f32::from(of % 2); 3]).collect();
    let labels: Vec<bool> = (0..20).map(|of| of % 2 == 0).collect();
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let tree = learn(&rows(&numbers, &labels), &mut || order.to_vec(), STOP);
        assert!(matches!(tree.nodes()[0], Node::Cut { feature, .. } if feature == order[0]), "{tree:?}");
    }
}

#[test]
fn nothing_to_learn_is_a_leaf() {
    assert_eq!(learn(&[], &mut || vec![0], STOP).nodes(), [Node::Leaf { logins: 0, others: 0 }]);
    let numbers = [[1.0, 2.0, 3.0]; 4];
    let mixed = rows(&numbers, &[true, false, true, false]);
    assert_eq!(learn(&mixed, &mut || vec![0, 1, 2], STOP).nodes().len(), 1, "equal rows of both labels");
    assert_eq!(learn(&mixed[..1], &mut || vec![0, 1, 2], STOP).share(&numbers[0]), 2.0 / 3.0);
}
