//! What index reduction, state selection and sorting do with the examples of the literature: counts that were
//! computed by an independent program for Otter & Elmqvist 2017 and Cellier & Kofman 2006.
#![allow(clippy::unwrap_used, clippy::panic)]

use acausal_index1::{FormReport, Options, Report};

/// The report for a seed example.
fn report(file: &str, options: &Options) -> Report {
    let path = crate::common::example_path(&format!("seeds/{file}.mo"));
    let load = acausal::Load::default();
    let (flat, _, sources) = acausal::flatten_target(path.to_str().unwrap(), &load)
        .unwrap_or_else(|f| panic!("{file}: {f}"));
    match acausal_index1::transform_with(flat, options) {
        Ok((_, report)) => report,
        Err(diagnostics) => panic!(
            "{file}: {}",
            acausal::Failure {
                diagnostics,
                sources
            }
        ),
    }
}

/// The report for a text.
fn report_text(text: &str, options: &Options) -> Report {
    let mut libraries = acausal_instance::class::Libraries::new();
    let classes = libraries.load_text("Test.mo", text).unwrap();
    let (flat, _) = acausal_flatten::flatten(&mut libraries, classes.last().unwrap(), &[]).unwrap();
    acausal_index1::transform_with(flat, options).unwrap().1
}

/// The form without state selection: all constraints are kept and stabilised.
fn full(file: &str) -> Report {
    let options = Options {
        no_state_selection: true,
        ..Options::default()
    };
    report(file, &options)
}

/// The form without state selection in which `v = der(x)` is a name for der(x).
fn names() -> Options {
    Options {
        no_state_selection: true,
        derivative_names: true,
        ..Options::default()
    }
}

/// The form with state selection, of the equations as the literature counts them: with those that say that two variables are equal.
fn selected(file: &str) -> Report {
    let options = Options {
        aliases: acausal_index1::Aliases::None,
        ..Options::default()
    };
    let written = report(file, &options);
    // Without them there are as many unknowns at most.
    let reduced = Options {
        aliases: acausal_index1::Aliases::All,
        ..Options::default()
    };
    let simulated = report(file, &reduced);
    assert!(simulated.form.n <= written.form.n, "{file}");
    written
}

/// How often equations are differentiated, sorted.
fn orders(r: &Report) -> Vec<usize> {
    let mut orders: Vec<usize> = r.differentiated.iter().map(|d| d.1).collect();
    orders.sort_unstable();
    orders
}

/// Sizes of the blocks, sorted.
fn sizes(r: &Report) -> Vec<u64> {
    let mut sizes: Vec<u64> = r.blocks.iter().map(|b| b.size).collect();
    sizes.sort_unstable();
    sizes
}

/// Equations with how often they are differentiated, loops over pieces of an array taken together.
fn differentiated(r: &Report) -> Vec<(String, usize)> {
    let body = |text: &str| match text.split_once(" loop ") {
        Some((_, rest)) => rest.split_once(';').unwrap().0.to_string(),
        None => text.to_string(),
    };
    let mut found: Vec<(String, usize)> = Vec::new();
    for (text, times) in &r.differentiated {
        // Iterators carry numbers; the variable that is defined tells equations apart well enough.
        let left: String = body(text).split(['[', ' ']).next().unwrap().to_string();
        if !found.contains(&(left.clone(), *times)) {
            found.push((left, *times));
        }
    }
    found
}

fn form(n: u64, fd: u64, fc: u64, lambda: u64, mu: u64) -> FormReport {
    FormReport {
        n,
        fd,
        fc,
        lambda,
        mu,
    }
}

#[test]
fn sm_1_sliding_mass() {
    let r = full("OE_3_1_SlidingMass");
    assert_eq!((r.equations, r.unknowns), (13, 13));
    assert_eq!(differentiated(&r), [("r".into(), 2), ("v".into(), 1)]);
    assert_eq!(sizes(&r), [3, 10]);
    assert_eq!(r.form, form(20, 8, 12, 3, 3));
    assert_eq!(r.structural_index, 3);
    let r = selected("OE_3_1_SlidingMass");
    assert_eq!(r.states, ["s", "der(s)"]);
    assert_eq!(r.form, form(2, 2, 0, 0, 0));
}

/// (18) as printed: eight equations with second and third derivatives, and given functions of time.
const MS18: &str = "model MS18
  Real x1, x2(start = 0, fixed = true), x3, x4, x5, x6, x7, x8(start = 2.5);
equation
  0 = sin(time) + x1 - x2;
  0 = sin(2*time) + x1 + x2 - x3 + der(x6);
  0 = sin(3*time) + x1 + der(x3) - x4;
  0 = sin(4*time) + 2*der(der(x1)) + der(der(x2)) + der(der(x3)) + der(x4) + der(der(der(x6)));
  0 = sin(5*time) + 3*der(der(x1)) + 2*der(der(x2)) + x5 + 0.1*x8;
  0 = sin(6*time) + 2*x6 + x7;
  0 = sin(7*time) + 3*x6 + 4*x7;
  0 = -2 - 0.5*sin(8*time) + x8 - sin(x8);
end MS18;";

#[test]
fn ms_1_extended_example_of_mattsson_and_soderlind() {
    let full = Options {
        no_state_selection: true,
        ..Options::default()
    };
    let r = report_text(MS18, &full);
    assert_eq!(r.equations, 8);
    assert_eq!(orders(&r), [1, 2, 2, 3, 3]);
    assert_eq!(sizes(&r), [1, 1, 2, 4]);
    assert_eq!(r.form, form(21, 9, 12, 1, 6));
    let r = report_text(MS18, &Options::default());
    assert_eq!(r.states, ["x2", "der(x2)"]);
    assert_eq!(r.form, form(3, 2, 1, 0, 0));
}

#[test]
fn ms_1_first_order_form() {
    // Five names for derivatives and eight for the given functions: d1, d2, d3 once, d6 twice, dd6 once, and the u as
    // often as their equation.
    let r = full("OE_3_2_MS18");
    assert_eq!(r.equations, 21);
    assert_eq!(orders(&r), [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3]);
    assert_eq!(sizes(&r), [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 7]);
    // Given functions of time are no unknowns. With names for derivatives the form of the eight equations.
    assert_eq!(r.form, form(28, 10, 18, 1, 7));
    let r = report("OE_3_2_MS18", &names());
    assert_eq!(r.form, form(21, 9, 12, 1, 6));
    let r = selected("OE_3_2_MS18");
    assert_eq!(r.states, ["x2", "x2d"]);
    assert_eq!(r.form, form(3, 2, 1, 0, 0));
}

#[test]
fn ch_1_ring_has_one_tearing_variable() {
    let r = selected("OE_3_3_Chain");
    assert_eq!(sizes(&r), [50]);
    assert_eq!(r.form, form(1, 0, 1, 0, 0));
}

#[test]
fn ch_1_ring_of_a_million_in_both_orders() {
    let first = "z[1] = 0.5*z[n] + 1;";
    for (range, n, scalarise) in [
        ("2:n", 1_000_000, false),
        ("n:-1:2", 1_000_000, false),
        ("2:n", 2000, true),
        ("n:-1:2", 2000, true),
    ] {
        let others = format!("for i in {range} loop z[i] = 0.5*z[i - 1] + 1; end for;");
        let equations = [[first, &others], [&others, first]];
        let options = Options {
            scalarise,
            ..Options::default()
        };
        for order in equations {
            let order = order.concat();
            let text =
                format!("model C parameter Integer n = {n}; Real z[n]; equation {order} end C;");
            let r = report_text(&text, &options);
            assert_eq!(sizes(&r), [n]);
            assert_eq!(r.form, form(1, 0, 1, 0, 0));
        }
    }
}

#[test]
fn ch_1_single_elements_are_solved_for_without_amplification() {
    // Solving z[i] = 0.5*z[i - 1] + 1 for z[i - 1] would double errors two thousand times.
    let text = "model C Real z[2000]; equation for i in 2:2000 loop z[i] = 0.5*z[i - 1] + 1; end for; z[1] = 0.5*z[2000] + 1; end C;";
    let load = acausal::Load {
        structure: Options {
            scalarise: true,
            ..Options::default()
        },
        ..acausal::Load::default()
    };
    let model = acausal::Model::from_text("C.mo", text, &load).unwrap_or_else(|f| panic!("{f}"));
    let r = model.simulate_in_memory(&model.settings());
    let r = r.unwrap_or_else(|f| panic!("{f}"));
    for k in [1, 2, 1000, 2000] {
        crate::common::digits(crate::common::last(&r, &format!("z[{k}]")), 2.0, 10);
    }
}

#[test]
fn mb_1_multibody_form() {
    // Eight unknowns if der(x) = vx is taken as the differentiated constraint that it is, six as the form of Gear,
    // Gupta and Leimkuhler.
    let r = full("OE_3_4a_PendulumXY");
    assert_eq!(
        differentiated(&r),
        [
            ("der(x)".into(), 1),
            ("der(y)".into(), 1),
            ("x^2".into(), 2)
        ]
    );
    assert_eq!(sizes(&r), [5]);
    assert_eq!(r.form, form(8, 4, 4, 1, 1));
    let r = report("OE_3_4a_PendulumXY", &names());
    assert_eq!(r.form, form(6, 4, 2, 1, 1));
    let r = selected("OE_3_4a_PendulumXY");
    assert_eq!(r.form, form(6, 4, 2, 1, 1));

    // 3 + 3 + 3 + 2*2, and the two entries of M, four of G and two of h that are no constants. Without names for
    // derivatives 3 + 3 + 2*2.
    let r = full("OE_3_4b_SliderCrank");
    assert_eq!(orders(&r), [1, 1, 1, 2, 2]);
    assert_eq!(r.form.n, 13 + 2 + 4 + 2);
    assert_eq!((r.form.lambda, r.form.mu), (2, 2));
    let r = report("OE_3_4b_SliderCrank", &names());
    assert_eq!(r.form.n, 10 + 2 + 4 + 2);
    // At most the 10 = 3 + 3 + 2*2 of the paper; the slider is given by the angles.
    let r = selected("OE_3_4b_SliderCrank");
    assert_eq!(r.form, form(7, 5, 2, 2, 1));

    let r = full("CK_5_6_PendulumAngle");
    assert_eq!(orders(&r), [1, 1, 2, 2]);
    assert_eq!(r.equations + orders(&r).iter().sum::<usize>() as u64, 12);
    assert_eq!(sizes(&r), [6]);
    let r = selected("CK_5_6_PendulumAngle");
    assert_eq!(r.states, ["phi", "der(phi)"]);
    assert_eq!(r.form, form(3, 3, 0, 1, 0));
    let torn: Vec<&str> = r.blocks[0].torn.iter().map(|t| t.as_str()).collect();
    assert_eq!(torn, ["F", "der(der(phi))"]);
}

#[test]
fn te_1_tearing_variables() {
    // Sheet 3.6, 4.6, 5.2 and H7.5, H7.7: each of these loops has a structural minimum of one tearing variable.
    for (file, size, torn) in [
        ("OE_3_6_Tearing", 4, &[] as &[&str]),
        ("M_4_6_Bordered", 4, &["z"]),
        ("CK_5_2_ResistorLoop", 6, &[]),
        ("CK_5_3_Potentials", 5, &[]),
        ("CK_H7_3_Pipes", 4, &["p1"]),
        // Any but u3 and i3.
        (
            "CK_H7_5_Bridge",
            10,
            &["u1", "u2", "u4", "u5", "i1", "i2", "i4", "i5"],
        ),
        ("CK_H7_7_CurrentSources", 6, &[]),
    ] {
        let r = selected(file);
        let block = r.blocks.iter().find(|b| b.size == size).unwrap();
        assert_eq!(block.torn.len(), 1, "{file}: {:?}", block.torn);
        assert!(
            torn.is_empty() || torn.contains(&block.torn[0].as_str()),
            "{file}: {:?}",
            block.torn
        );
    }
}

/// A loop of two equations; `c` decides what may be divided by.
fn loop_with(c: &str) -> Report {
    let text = format!(
        "model L {c} Real u(start = 1), i(start = 1); equation c*i + sin(u) = 2; c*i - u*i = 1; end L;"
    );
    report_text(&text, &Options::default())
}

#[test]
fn te_1_divides_by_parameters_that_are_not_zero() {
    for (c, torn) in [
        ("parameter Real c = 2;", 1),
        ("parameter Real d = 1; parameter Real c = 3*d - 1;", 1),
        // Zero, computed at the start, without a value, or much smaller than another coefficient: no division.
        ("parameter Real c = 0;", 2),
        ("parameter Real c(fixed = false, start = 2);", 2),
        ("parameter Real d = 1; parameter Real c = d - 1;", 2),
    ] {
        let r = loop_with(c);
        assert_eq!(r.form.n, torn, "{c}");
    }
    // u = c*i + ...: dividing by a small c would blow up rounding errors; u has a literal coefficient.
    let small =
        "model L parameter Real c = 1e-6; Real u, i; equation u = c*i + 1; u^3 + i^3 = 2; end L;";
    let r = report_text(small, &Options::default());
    assert_eq!(r.blocks[0].torn, ["i"]);
}

#[test]
fn bl_1_capacitor_at_a_source() {
    let r = selected("CK_5_3_Potentials");
    assert_eq!(orders(&r), [1; 4]);
    assert_eq!(r.equations + 4, 17);
    assert_eq!(sizes(&r), [1, 1, 1, 1, 1, 1, 1, 1, 5]);
    assert_eq!(r.states, ["iL"]);

    let r = selected("CK_5_4_CapacitorAtSource");
    assert_eq!(orders(&r), [1; 7]);
    assert_eq!(r.equations + 7, 17);
    assert_eq!(sizes(&r), [1, 1, 1, 1, 1, 5]);
    assert_eq!(r.states, ["iL"]);
    // One tearing variable in each of the two loops of five, one of them with derivatives (7.71): i1 and der(i1).
    assert_eq!(r.form, form(3, 2, 1, 1, 0));
}

#[test]
fn couplings_and_homework() {
    for (file, orders_, sizes_, states) in [
        ("M_4_3_Rigid", vec![1], vec![4], vec!["w1"]),
        (
            "M_4_4_IdealDifferentiator",
            vec![1, 1],
            vec![1, 1, 1, 1],
            vec![],
        ),
        (
            "CK_5_5_ParallelCapacitors",
            vec![1],
            vec![1, 1, 1, 4],
            vec!["u1"],
        ),
        (
            "CK_H7_7_CurrentSources",
            vec![1; 4],
            vec![1, 1, 1, 1, 1, 1, 6],
            vec![],
        ),
    ] {
        let r = selected(file);
        assert_eq!(orders(&r), orders_, "{file}");
        assert_eq!(sizes(&r), sizes_, "{file}");
        assert_eq!(r.states, states, "{file}");
    }
    let r = selected("CK_H7_8_InverseReactor");
    assert_eq!(orders(&r), [1, 1, 2]);
    assert_eq!(sizes(&r), [1, 1, 1, 1]);
    assert_eq!(r.structural_index, 3);
}

#[test]
fn ar_1_elements_are_told_apart() {
    // Sheet, section 1: on array level the vector equation would be differentiated, on scalar level nothing is.
    let text = "model A Real x[2](start = {0, 1}), z; equation x = {sin(time), z}; der(x[2]) = -x[2]; end A;";
    let r = report_text(text, &Options::default());
    assert!(r.differentiated.is_empty(), "{:?}", r.differentiated);
    assert_eq!(r.states, ["x[2]"]);
    // On array level three equations for three unknowns, but the third component holds none of them.
    let text = "model P Real s1, s2, s3, r[3]; constant Real ex[3] = {1, 0, 0}, ey[3] = {0, 1, 0};
equation r = {time, 1, sin(time)}; r = ex*s1 + ey*s2 + ey*s3; end P;";
    let mut libraries = acausal_instance::class::Libraries::new();
    libraries.load_text("Test.mo", text).unwrap();
    let (flat, _) = acausal_flatten::flatten(&mut libraries, "P", &[]).unwrap();
    let errors = acausal_index1::transform_with(flat, &Options::default()).unwrap_err();
    let codes: Vec<&str> = errors.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["overdetermined", "underdetermined"], "{errors:?}");
    assert!(errors[0].message.contains("`r[3]`"), "{errors:?}");
    assert!(errors[1].message.contains("`s2`, `s3`"), "{errors:?}");
    // With the third axis it is regular, and every component is explicit.
    let text = text.replace("ey*s3", "{0, 0, 2}*s3");
    let r = report_text(&text, &Options::default());
    assert_eq!(r.form.n, 0);
}

#[test]
fn f1_1_structure_of_the_treated_circuit() {
    // Sheet 3.7: one equation is redundant, one potential free, one current law becomes a constraint between states, which
    // alone is differentiated.
    let r = selected("OE_3_7_Figure1");
    assert_eq!((r.equations, r.unknowns), (25, 25));
    let done = &r.regularised;
    assert_eq!(
        (done.removed.len(), done.replaced.len(), done.freed.len()),
        (1, 1, 1)
    );
    assert_eq!(orders(&r), [1]);
    assert_eq!(r.equations + 1, 26);
    assert_eq!(r.states.len(), 1);
    let r = selected("OE_3_8_FourBarLoop");
    let done = &r.regularised;
    assert_eq!(
        (done.removed.len(), done.replaced.len(), done.freed.len()),
        (0, 1, 0)
    );
    assert_eq!(r.states.len(), 3);
    let r = selected("OE_3_8_ParallelCapacitors");
    let done = &r.regularised;
    assert_eq!(
        (done.removed.len(), done.replaced.len(), done.freed.len()),
        (0, 1, 0)
    );
    assert_eq!(r.states.len(), 1);
}
