//! Partial state selection: sizes of the index-one form with and without selection, and the final sorting.

mod common;

use acausal_structure::blt::highest_blocks;
use acausal_structure::pantelides::{Differentiated, pantelides};
use acausal_structure::state_selection::{Form, Preferences, Selection, select, sort};
use acausal_structure::{EqId, VarId};
use common::{Model, model};

/// `solvable` lists pairs like `"8a:r"` by the names without derivatives.
fn choose(m: &Model, d: &Differentiated, solvable: &str, linear: &str) -> (Selection, Form) {
    let names = m.names(d);
    let pairs: Vec<&str> = solvable.split_whitespace().collect();
    let linear: Vec<&str> = linear.split_whitespace().collect();
    let blocks = highest_blocks(d).unwrap();
    let s = select(
        d,
        &blocks,
        &Preferences::default(),
        |e, v| {
            let pair = format!(
                "{}:{}",
                names.eqs[e.index()],
                names.vars[v.index()].trim_end_matches('\'')
            );
            pairs.contains(&pair.as_str())
        },
        |e: EqId| linear.contains(&names.eqs[e.index()].as_str()),
    );
    let f = s.form(d, &sort(d, &s).unwrap());
    assert!(f.is_square(), "{f:?}");
    (s, f)
}

fn sizes(f: &Form) -> (u64, u64, u64) {
    (f.unknowns(), f.fd, f.fc)
}

#[test]
fn sm_1_sliding_mass_20_and_2() {
    let m = model(
        "s r[3] v[3] f[3] u[3]",
        "8a[3]: r s\n8b[3]: v r'\n8c[3]: v' f u\n8d: f\n8e[3]: u s s'",
    );
    let d = pantelides(&m.dae).unwrap();
    let n = m.names(&d);
    let (_, f) = choose(&m, &d, "", "");
    assert_eq!(sizes(&f), (20, 8, 12));
    assert_eq!(
        (
            n.vars(&f.xd).as_str(),
            n.vars(&f.xa),
            n.vars(&f.lambda),
            f.mu
        ),
        ("r r' s s' v", "u".into(), "f".into(), 3)
    );
    let (s, f) = choose(&m, &d, "8a:r 8b:v 8c:f 8e:u", "");
    assert_eq!(sizes(&f), (2, 2, 0));
    assert_eq!(n.vars(&s.states), "s s'");
    assert_eq!(n.eqs(&s.residuals), "8d");
    let solved: Vec<VarId> = s.dummies.iter().chain(&s.explicit).map(|p| p.1).collect();
    assert_eq!(n.vars(&solved), "f r r' r'' u v v'");
}

#[test]
fn ms_1_index_one_form_21_8_and_3() {
    let m = model(
        "x1 x2 x3 x4 x5 x6 x7 x8",
        "a: x1 x2\nb: x1 x2 x3 x6'\nc: x1 x3' x4\nd: x1'' x2'' x3'' x4' x6'''\ne: x1'' x2'' x5 x8\nf: x6 x7\ng: x6 x7\nh: x8",
    );
    let d = pantelides(&m.dae).unwrap();
    let n = m.names(&d);
    let (_, f) = choose(&m, &d, "", "");
    assert_eq!(sizes(&f), (21, 9, 12));
    assert_eq!(
        (n.vars(&f.xa), n.vars(&f.lambda), f.mu, f.xd.len()),
        ("x8".into(), "x5".into(), 6, 13)
    );
    assert_eq!(
        (n.eqs(&f.der0), n.eqs(&f.der1)),
        ("a b c f g".into(), "a' b' f' f'' g' g''".into())
    );
    assert_eq!(f.der_relations.len(), 7);

    let pairs = "a:x1 b:x3 c:x4 e:x5 f:x7";
    let (s, f) = choose(&m, &d, pairs, "");
    assert_eq!(sizes(&f), (8, 4, 4));
    assert_eq!((n.vars(&s.states), f.mu), ("x2 x2' x6 x6' x6''".into(), 2));

    let (s, f) = choose(&m, &d, pairs, "f g");
    assert_eq!(sizes(&f), (3, 2, 1));
    assert_eq!(
        (n.vars(&s.states), n.vars(&f.xa), f.lambda.len(), f.mu),
        ("x2 x2'".into(), "x8".into(), 0, 0)
    );
    assert_eq!((n.eqs(&f.r0d), n.eqs(&f.r0a)), ("d".into(), "h".into()));
    let set = &s.linear[0];
    assert_eq!(
        (n.eqs(&set.equations), n.vars(&set.unknowns), s.linear.len()),
        ("g".into(), "x6".into(), 4)
    );
}

/// A ring of two inductors y and z in which a current is left free, and x to which nothing goes: `x = y + z; 0 = y + z; x' = f(p); y' = f(p, q); z' = f(p, q);
/// i = q'`. The slopes are determined completely, with the derivative of the second constraint, whose multiplier must not be lost.
#[test]
fn derivative_of_a_constraint_in_a_square_linear_level() {
    let m = model(
        "x y z p q i",
        "a: x y z\nb: y z\nc: x' p\nd: y' p q\ne: z' p q\nf: i q'",
    );
    let d = pantelides(&m.dae).unwrap();
    let n = m.names(&d);
    let (s, f) = choose(&m, &d, "a:z c:x d:y e:p f:i", "a b c d e f");
    assert_eq!(
        (n.eqs(&f.der0), n.eqs(&f.der1)),
        ("b e".into(), "b'".into())
    );
    assert_eq!((f.mu, s.linear.len()), (1, 0));
}

#[test]
fn ms_1_first_order_variant() {
    let m = model(
        "x1 x2 x3 x4 x5 x6 x7 x8 x1d x2d x3d x6d x6dd",
        "a: x1 x2\nb: x1 x2 x3 x6'\nc: x1 x3' x4\nd1: x1d x1'\nd2: x2d x2'\nd3: x3d x3'\nd6: x6d x6'\ndd6: x6dd x6d'\nd: x1d' x2d' x3d' x4' x6dd'\ne: x1d' x2d' x5 x8\nf: x6 x7\ng: x6 x7\nh: x8",
    );
    let d = pantelides(&m.dae).unwrap();
    assert_eq!(
        (d.graph.elen.len(), m.counts(&d).as_str()),
        (30, "a2 b2 c1 d11 d21 d31 d62 dd61 f3 g3")
    );
    let mut blocks: Vec<usize> = highest_blocks(&d)
        .unwrap()
        .iter()
        .map(|b| b.0.len())
        .collect();
    blocks.sort_unstable();
    assert_eq!(blocks, [1, 1, 1, 1, 2, 7]);
    assert_eq!(choose(&m, &d, "", "").1.unknowns(), 28);
    let pairs = "a:x1 b:x3 c:x4 e:x5 f:x7 d1:x1d d2:x2d d3:x3d d6:x6d dd6:x6dd";
    assert_eq!(choose(&m, &d, pairs, "").1.unknowns(), 8);
    assert_eq!(choose(&m, &d, pairs, "f g").1.unknowns(), 3);
}

#[test]
fn mb_1_multibody_13_10_and_pendulums_8_6_3() {
    let m = model(
        "q[3] v[3] lam[2]",
        "11a[3]: q' v\n11b[3]: q v v' lam\n11c[2]: q",
    );
    let d = pantelides(&m.dae).unwrap();
    assert_eq!(choose(&m, &d, "", "").1.unknowns(), 13);
    let (_, f) = choose(&m, &d, "11a:v", "");
    assert_eq!(
        (f.unknowns(), f.mu, m.names(&d).vars(&f.lambda)),
        (10, 2, "lam".into())
    );

    let m = model(
        "x y vx vy F",
        "a: vx' F x\nb: vy' F y\nc: x' vx\nd: y' vy\ne: x y",
    );
    let d = pantelides(&m.dae).unwrap();
    assert_eq!(choose(&m, &d, "", "").1.unknowns(), 8);
    assert_eq!(choose(&m, &d, "c:vx d:vy", "").1.unknowns(), 6);

    let m = model(
        "x y vx vy F phi",
        "a: vx' F x\nb: vy' F y\nc: x' vx\nd: y' vy\ne: x phi\nf: y phi",
    );
    let d = pantelides(&m.dae).unwrap();
    let (s, f) = choose(&m, &d, "c:vx d:vy e:x f:y", "");
    assert_eq!(
        (f.unknowns(), m.names(&d).vars(&s.states).as_str()),
        (3, "phi phi'")
    );
    assert_eq!(m.names(&d).vars(&f.lambda), "F");
}

#[test]
fn tr_1_tree_multibody_56n_89n_2n() {
    for n in 1..=3usize {
        let (mut vars, mut eqs, mut pairs) = (String::new(), String::new(), String::new());
        for i in 1..=n {
            let p = i - 1;
            vars += &format!(
                "phi{i} T{i}[9] r{i}[3] w{i}[3] al{i}[3] Tc{i}[9] rc{i}[3] wc{i}[3] f{i}[3] tau{i}[3] "
            );
            let (parent_t, parent_r) = if i > 1 {
                (format!("T{p}"), format!("r{p} T{p}"))
            } else {
                Default::default()
            };
            let (next_f, next_tau) = if i < n {
                (format!("f{}", i + 1), format!("tau{0} f{0}", i + 1))
            } else {
                Default::default()
            };
            eqs += &format!(
                "T{i}[9]: T{i} {parent_t} phi{i}\nr{i}[3]: r{i} {parent_r}\nw{i}[3]: w{i} T{i}' T{i}\n"
            );
            eqs += &format!(
                "al{i}[3]: al{i} w{i}'\nTc{i}[9]: Tc{i} T{i}\nrc{i}[3]: rc{i} r{i} T{i}\n"
            );
            eqs += &format!("wc{i}[3]: wc{i} Tc{i}' Tc{i}\nnewton{i}[3]: f{i} rc{i}'' {next_f}\n");
            eqs += &format!(
                "euler{i}[3]: tau{i} wc{i}' wc{i} f{i} T{i} {next_tau}\njoint{i}: tau{i} T{i} phi{i}'\n"
            );
            for q in ["T", "r", "w", "al", "Tc", "rc", "wc"] {
                pairs += &format!("{q}{i}:{q}{i} ");
            }
            pairs += &format!("newton{i}:f{i} euler{i}:tau{i} ");
        }
        let m = model(&vars, &eqs);
        let d = pantelides(&m.dae).unwrap();
        let n = n as u64;
        let (_, f) = choose(&m, &d, "", "");
        let xd: u64 = f.xd.iter().map(|v| d.graph.vlen[v.index()]).sum();
        assert_eq!((xd, f.unknowns(), f.mu), (56 * n, 89 * n, 24 * n));
        let (s, f) = choose(&m, &d, &pairs, "");
        assert_eq!((f.unknowns(), f.mu), (2 * n, 0));
        assert!(
            m.names(&d)
                .eqs(&s.residuals)
                .split(' ')
                .all(|e| e.starts_with("joint"))
        );
    }
}

/// (7.52): the first highest-level block uses uL of a lower level of a later block; sorting everything puts it right.
#[test]
fn bl_1_resorting_with_the_states_known() {
    let m = model(
        "u0 i0 u1 i1 u2 i2 uL iL uC iC",
        "a: u0\nb: u1 i1\nc: u2 i2\nd: uL iL'\ne: iC uC'\nf: u0 u1 uL\ng: uC u1 u2\nh: uL u2\ni: i0 i1 iC\nj: i1 i2 iL",
    );
    let d = pantelides(&m.dae).unwrap();
    let n = m.names(&d);
    let solvable = "a:u0 b:u1 b:i1 c:u2 c:i2 f:u0 f:u1 f:uL g:uC g:u1 g:u2 h:uL h:u2 i:i0 i:i1 i:iC j:i1 j:i2 e:iC d:uL";
    let (s, f) = choose(&m, &d, solvable, "a b c f g h j");
    assert_eq!(n.vars(&s.states), "iL", "one state");
    assert_eq!(f.unknowns(), 1);
    let sorted = sort(&d, &s).unwrap();
    let at = |name: &str| {
        sorted
            .blocks
            .iter()
            .position(|(_, v)| v.iter().any(|v| n.vars[v.index()] == name))
            .unwrap()
    };
    assert!(
        at("uL") < at("iL'") && at("iL'") < at("uL'"),
        "voltages, then the derivative of the state, then theirs"
    );
    let mut sizes: Vec<usize> = sorted.blocks.iter().map(|b| b.0.len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 1, 1, 1, 1, 1, 1, 5, 5]);
    assert!(sorted.dynamic[m.var("iL'").index()] && !sorted.dynamic[m.var("uL").index()]);
}

/// Preferences decide between `w` and `der(phi)`, and do not depend on the order of the equations.
#[test]
fn preferred_states() {
    let m = model("phi w tau", "a: phi' w\nb: w' tau\nc: tau phi");
    let d = pantelides(&m.dae).unwrap();
    assert_eq!(
        m.counts(&d),
        "",
        "nothing to select: both states are already there"
    );
    // x = y with both differentiated: the preferred one stays
    for (rank, state) in [([0, 0, 1, 0], "x"), ([1, 0, 0, 0], "y")] {
        let m = model("x y F", "a: x' F\nb: y' F\nc: x y");
        let d = pantelides(&m.dae).unwrap();
        let blocks = highest_blocks(&d).unwrap();
        let p = Preferences {
            variable_rank: rank.to_vec(),
            ..Preferences::default()
        };
        let s = select(&d, &blocks, &p, |e, _| e == m.eq("c"), |_| false);
        assert_eq!(m.names(&d).vars(&s.states), state);
    }
}

/// With ranks from a canonical order, renumbering the equations changes neither states nor sizes.
#[test]
fn numbering_of_equations_does_not_change_the_states() {
    let lines = [
        "a: x1 x2",
        "b: x1 x2 x3 x6'",
        "c: x1 x3' x4",
        "d: x1'' x2'' x3'' x4' x6'''",
        "e: x1'' x2'' x5 x8",
        "f: x6 x7",
        "g: x6 x7",
        "h: x8",
    ];
    let mut states = Vec::new();
    for rotation in 0..lines.len() {
        let mut order: Vec<&str> = lines.to_vec();
        order.rotate_left(rotation);
        if rotation % 2 == 1 {
            order.reverse();
        }
        let m = model("x1 x2 x3 x4 x5 x6 x7 x8", &order.join("\n"));
        let d = pantelides(&m.dae).unwrap();
        let n = m.names(&d);
        let p = Preferences {
            equation_rank: n.eqs.iter().map(|e| i64::from(e.as_bytes()[0])).collect(),
            variable_rank: Vec::new(),
        };
        let solvable = |e: EqId, _: VarId| !n.eqs[e.index()].starts_with('h');
        let s = select(&d, &highest_blocks(&d).unwrap(), &p, solvable, |_| false);
        let f = s.form(&d, &sort(&d, &s).unwrap());
        states.push((n.vars(&s.states), sizes(&f)));
    }
    states.dedup();
    assert_eq!(states.len(), 1, "{states:?}");
}
