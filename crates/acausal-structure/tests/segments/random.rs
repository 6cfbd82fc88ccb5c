//! Random models: the analysis equals the scalarised one, and does not grow with the size.

use acausal_structure::VarId;
use acausal_structure::segments::{Index, Model, Span, analyse};
use proptest::prelude::*;

use crate::scalarised::agree;

fn i(offset: i64) -> Index {
    Index::shifted(0, offset)
}

/// A small generator of pseudo-random numbers, so that a failing model is found again by its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }
}

/// A model in which every element has an equation of its own most of the time, plus random accesses.
pub(crate) fn random_model(seed: u64, n: i64) -> Model {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..5 {
        dice.roll(2);
    }
    let mut m = Model::default();
    let all = Span::new(1, n);
    let arrays: Vec<(VarId, usize)> = (0..2 + dice.roll(2))
        .map(|_| {
            let order = [0, 0, 1, 1, 2][dice.roll(5)];
            (m.variable(&[all], order), order)
        })
        .collect();
    let scalars: Vec<(VarId, usize)> = (0..dice.roll(3))
        .map(|_| {
            let order = dice.roll(2);
            (m.variable(&[], order), order)
        })
        .collect();
    let some_order = |dice: &mut Dice, v: (VarId, usize)| VarId(v.0.0 + dice.roll(v.1 + 1) as u32);
    let extra = |dice: &mut Dice, span: Option<Span>| -> Option<(VarId, Vec<Index>)> {
        if !scalars.is_empty() && dice.roll(4) == 0 {
            let s = scalars[dice.roll(scalars.len())];
            return Some((some_order(dice, s), vec![]));
        }
        let v = arrays[dice.roll(arrays.len())];
        let index = match (dice.roll(10), span) {
            (0, _) => Index::Fixed(1),
            (1, _) => Index::Fixed(n),
            (2, _) if dice.roll(3) == 0 => Index::All(all),
            (3, _) if dice.roll(3) == 0 => Index::All(Span::new(2, n - 1)),
            (4 | 5, Some(s)) if s.lo > 1 => i(-1),
            (6 | 7, Some(s)) if s.hi < n => i(1),
            (_, Some(_)) => i(0),
            _ => return None,
        };
        Some((some_order(dice, v), vec![index]))
    };
    let rotation = dice.roll(arrays.len());
    for k in 0..arrays.len() {
        let own = arrays[(k + rotation) % arrays.len()];
        // (span of the equation, index of its own element), so that the own elements cover the array
        let parts: Vec<(Option<Span>, Index)> = match dice.roll(6) {
            0 | 1 => vec![(Some(all), i(0))],
            2 => vec![(None, Index::Fixed(1)), (Some(Span::new(2, n)), i(0))],
            3 => vec![(Some(Span::new(1, n - 1)), i(0)), (None, Index::Fixed(n))],
            4 => vec![(Some(Span::new(1, n - 1)), i(1)), (None, Index::Fixed(1))],
            _ => vec![
                (None, Index::Fixed(1)),
                (Some(Span::new(2, n - 1)), i(0)),
                (None, Index::Fixed(n)),
            ],
        };
        for (span, index) in parts {
            let order = if dice.roll(3) == 0 {
                own.0
            } else {
                VarId(own.0.0 + own.1 as u32)
            };
            let mut accesses: Vec<(VarId, Vec<Index>)> = Vec::new();
            if dice.roll(12) > 0 {
                accesses.push((order, vec![index]));
            }
            for _ in 0..dice.roll(3) {
                accesses.extend(extra(&mut dice, span));
            }
            if dice.roll(2) == 0 {
                accesses.reverse();
            }
            let list: Vec<(VarId, &[Index])> =
                accesses.iter().map(|(v, i)| (*v, i.as_slice())).collect();
            m.equation(span.as_slice(), &list);
        }
    }
    for &s in &scalars {
        let mut accesses = vec![(VarId(s.0.0 + s.1 as u32), vec![])];
        accesses.extend(extra(&mut dice, None));
        let list: Vec<(VarId, &[Index])> =
            accesses.iter().map(|(v, i)| (*v, i.as_slice())).collect();
        m.equation(&[], &list);
    }
    m
}

/// `PROPTEST_CASES` may ask for more.
fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(default)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn segments_equal_scalars(seed in any::<u64>(), n in prop_oneof![4i64..12, 40i64..70]) {
        let m = random_model(seed, n);
        let a = analyse(&m);
        agree(&m, &a);
        agree(&m, &a.map(|a| a.coarsened()));
    }
}

/// Most random models are lifted, not enumerated, and then cost the same at any size.
#[test]
pub(crate) fn random_models_do_not_grow() {
    let (mut regular, mut lifted) = (0, 0);
    for seed in 0..400 {
        if let Ok(a) = analyse(&random_model(seed, 50)) {
            regular += 1;
            if a.enumerated.variables.is_empty() {
                lifted += 1;
                let big = analyse(&random_model(seed, 1_000_000)).unwrap();
                assert_eq!(
                    (big.cells, big.blocks.len(), big.segments.len()),
                    (a.cells, a.blocks.len(), a.segments.len()),
                    "seed {seed}"
                );
            }
        }
    }
    println!("{lifted} of {regular} regular models lifted");
    assert!(
        regular > 100 && lifted * 10 > regular * 9,
        "{lifted} of {regular}"
    );
}

/// Larger shifts, reversals, strides, and two-dimensional arrays with broadcast and transposed accesses.
fn rich_model(seed: u64, n: i64) -> Model {
    let mut dice = Dice(seed.wrapping_mul(0xD1B5_4A32_D192_ED03) | 1);
    for _ in 0..5 {
        dice.roll(2);
    }
    let mut m = Model::default();
    let all = Span::new(1, n);
    let lines: Vec<(VarId, usize)> = (0..1 + dice.roll(2))
        .map(|_| {
            let order = dice.roll(2);
            (m.variable(&[all], order), order)
        })
        .collect();
    let width = [2, n][dice.roll(2)];
    let across = Span::new(1, width);
    let planes: Vec<(VarId, usize)> = (0..dice.roll(2))
        .map(|_| {
            let order = dice.roll(2);
            (m.variable(&[all, across], order), order)
        })
        .collect();
    let some_order = |dice: &mut Dice, v: (VarId, usize)| VarId(v.0.0 + dice.roll(v.1 + 1) as u32);
    let shift = |dice: &mut Dice, it: usize, s: Span, n: i64| {
        let k = dice.roll(7) as i64 - 3;
        let k = if s.lo + k < 1 || s.hi + k > n { 0 } else { k };
        Index::shifted(it, k)
    };
    let line_access = |dice: &mut Dice, span: Span| -> (VarId, Vec<Index>) {
        let v = lines[dice.roll(lines.len())];
        let index = match dice.roll(12) {
            0 => Index::Fixed(1 + dice.roll(n as usize) as i64),
            1 => Index::Affine {
                iterator: 0,
                coefficient: -1,
                offset: n + 1,
            },
            2 if span.hi <= n / 2 => Index::Affine {
                iterator: 0,
                coefficient: 2,
                offset: 0,
            },
            3 => Index::All(Span::new(1, 1 + dice.roll(n as usize) as i64)),
            _ => shift(dice, 0, span, n),
        };
        (some_order(dice, v), vec![index])
    };
    let half = Span::new(1, n / 2);
    for &own in &lines {
        let parts = match dice.roll(4) {
            0 => vec![half, Span::new(n / 2 + 1, n)],
            1 => vec![Span::new(1, 3), Span::new(4, n)],
            _ => vec![all],
        };
        for span in parts {
            let mut accesses = Vec::new();
            if dice.roll(10) > 0 {
                let order = if dice.roll(3) == 0 {
                    own.0
                } else {
                    VarId(own.0.0 + own.1 as u32)
                };
                accesses.push((order, vec![i(0)]));
            }
            for _ in 0..dice.roll(3) {
                accesses.push(line_access(&mut dice, span));
            }
            if let Some(&p) = planes.first()
                && dice.roll(3) == 0
            {
                let second = if dice.roll(2) == 0 {
                    Index::All(across)
                } else {
                    Index::Fixed(width)
                };
                accesses.push((some_order(&mut dice, p), vec![i(0), second]));
            }
            let list: Vec<(VarId, &[Index])> =
                accesses.iter().map(|(v, i)| (*v, i.as_slice())).collect();
            m.equation(&[span], &list);
        }
    }
    for &own in &planes {
        let rows = if dice.roll(2) == 0 {
            vec![all]
        } else {
            vec![Span::new(1, 1), Span::new(2, n)]
        };
        for span in rows {
            let order = if dice.roll(3) == 0 {
                own.0
            } else {
                VarId(own.0.0 + own.1 as u32)
            };
            let mut accesses = vec![(order, vec![i(0), Index::shifted(1, 0)])];
            for _ in 0..dice.roll(3) {
                let p = planes[dice.roll(planes.len())];
                let access = match dice.roll(6) {
                    0 => line_access(&mut dice, span),
                    1 => (some_order(&mut dice, p), vec![i(0), Index::Fixed(1)]),
                    2 if width == n => (some_order(&mut dice, p), vec![Index::shifted(1, 0), i(0)]),
                    _ => {
                        let index = vec![shift(&mut dice, 0, span, n), Index::shifted(1, 0)];
                        (some_order(&mut dice, p), index)
                    }
                };
                accesses.push(access);
            }
            let list: Vec<(VarId, &[Index])> =
                accesses.iter().map(|(v, i)| (*v, i.as_slice())).collect();
            m.equation(&[span, across], &list);
        }
    }
    m
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(120), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rich_models_equal_scalars(seed in any::<u64>(), n in prop_oneof![4i64..9, 26i64..32]) {
        let m = rich_model(seed, n);
        let a = analyse(&m);
        agree(&m, &a);
        agree(&m, &a.map(|a| a.coarsened()));
    }
}

/// Anything: empty ranges, wrong numbers of indices, indices out of range.
fn garbage(seed: u64) -> Model {
    let mut dice = Dice(seed.wrapping_mul(0xA076_1D64_78BD_642F) | 1);
    let mut m = Model::default();
    let span = |dice: &mut Dice| {
        let lo = dice.roll(5) as i64 - 2;
        Span::new(lo, lo - 1 + [0, 1, 2, 5, 60][dice.roll(5)])
    };
    let variables: Vec<VarId> = (0..1 + dice.roll(4))
        .map(|_| {
            let shape: Vec<Span> = (0..dice.roll(3)).map(|_| span(&mut dice)).collect();
            let order = dice.roll(2);
            m.variable(&shape, order)
        })
        .collect();
    for _ in 0..dice.roll(5) {
        let iterators: Vec<Span> = (0..dice.roll(3)).map(|_| span(&mut dice)).collect();
        let mut accesses = Vec::new();
        for _ in 0..dice.roll(4) {
            let v = variables[dice.roll(variables.len())];
            let exact = m.variables[v.index()].shape.clone();
            let dims = if dice.roll(12) == 0 {
                dice.roll(3)
            } else {
                exact.len()
            };
            let index: Vec<Index> = (0..dims)
                .map(|k| {
                    let own = exact.get(k).copied().unwrap_or(Span::new(0, 1));
                    match dice.roll(5) {
                        0 => Index::Fixed(own.lo + dice.roll(2) as i64),
                        1 => Index::All(own),
                        2 => Index::All(span(&mut dice)),
                        _ => Index::Affine {
                            iterator: dice.roll(2),
                            coefficient: [1, 1, 1, -1, 2, 0][dice.roll(6)],
                            offset: dice.roll(3) as i64 - 1,
                        },
                    }
                })
                .collect();
            accesses.push((v, index));
        }
        let list: Vec<(VarId, &[Index])> =
            accesses.iter().map(|(v, i)| (*v, i.as_slice())).collect();
        m.equation(&iterators, &list);
    }
    m
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_model_gives_a_result_or_an_error(seed in any::<u64>()) {
        let m = garbage(seed);
        if m.check().is_ok() {
            agree(&m, &analyse(&m));
        } else {
            prop_assert!(analyse(&m).is_err());
        }
    }
}
