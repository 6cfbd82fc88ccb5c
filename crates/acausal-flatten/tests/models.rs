//! Whole models: the seed examples and one small model per language feature.

mod common;

use acausal_expr::flat::{Action, Causality, FlatModel, StateSelect, Variability};
use acausal_flatten::print_flat;
use common::{model, model_and_warnings, parameter, residuals};

/// The equations as printed, iterator numbers removed so that lines can be compared.
fn equations(model: &FlatModel) -> Vec<String> {
    let printer = acausal_expr::Printer::new(model);
    model
        .equations
        .iter()
        .map(|e| plain(&printer.equation(e)))
        .collect()
}

/// Numbers the iterators of a line from 1 in order of appearance.
fn plain(line: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut out = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let start = !out.ends_with(|p: char| p.is_alphanumeric() || p == '_' || p == '.');
        if c == 'i' && start && chars.peek().is_some_and(|d| d.is_ascii_digit()) {
            let mut name = String::new();
            while let Some(d) = chars.next_if(|d| d.is_ascii_digit()) {
                name.push(d);
            }
            let k = names.iter().position(|n| *n == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            out.push_str(&format!("i{}", k + 1));
        } else {
            out.push(c);
        }
    }
    out
}

/// `if a then b else c = d` would be an `if` equation.
#[test]
fn a_left_side_with_branches_is_read_again() {
    let text = "model M Boolean b = time < 1; Real s; equation (if b then s else 2*s) = 1; end M;";
    let printed = print_flat(&model(text)).unwrap();
    assert!(printed.contains("(if b then"), "{printed}");
    assert_eq!(print_flat(&model(&printed)).unwrap(), printed);
}

#[test]
fn sliding_mass_vanishes_on_its_exact_solution() {
    let m = model(
        "model SlidingMass
           parameter Real m=2, c=50, d=4, n[3]={2/3,-1/3,2/3}, g[3]={0,0,-9.81};
           Real s(start=0.5, fixed=true), r[3], v[3], f[3], u[3];
         initial equation der(s) = 0;
         equation r = n*s; v = der(r); m*der(v) = f + m*g + u; 0 = n*f; u = -(c*s + d*der(s))*n;
         end SlidingMass;",
    );
    assert_eq!(m.equations.len(), 5, "array equations stay whole");
    assert_eq!(m.equations.iter().map(|e| e.len()).sum::<usize>(), 13);
    assert_eq!(m.initial_equations.len(), 1);
    // The table of the reference solution at t = 0.1; f is constant.
    let (s, ds, dds) = (0.4126588103, -1.6547202655, -13.5470297261);
    let n = [2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0];
    let f = [-8.72, 4.36, 10.9];
    let leaves = |name: &str| {
        let k = || {
            name.chars()
                .find(char::is_ascii_digit)
                .map_or(0, |c| c as usize - '1' as usize)
        };
        Some(match name.split('[').next()? {
            "s" => s,
            "der(s)" => ds,
            "r" => n[k()] * s,
            "v" | "der(r" => n[k()] * ds,
            "der(v" => n[k()] * dds,
            "f" => f[k()],
            "u" => -(50.0 * s + 4.0 * ds) * n[k()],
            _ => return None,
        })
    };
    for r in residuals(&m, &leaves) {
        assert!(r.abs() < 1e-8, "{r}");
    }
}

#[test]
fn slider_crank_matrices() {
    let m = model(
        "model SliderCrank
           parameter Real r=0.5,l=1.5,J1=0.2,m2=1,J2=0.1875,m3=2,g=9.81;
           Real q[3](start={0.5,-0.1604966697,1.9195133306}), v[3](start={2,-0.5926720427,-0.6214965953}), lam[2], M[3,3], G[2,3], h[3];
         equation
           der(q) = v;  M*der(v) + transpose(G)*lam = h;
           0 = r*cos(q[1]) + l*cos(q[2]) - q[3];  0 = r*sin(q[1]) + l*sin(q[2]);
           M = {{J1+m2*r^2, m2*r*l/2*cos(q[1]-q[2]), 0},{m2*r*l/2*cos(q[1]-q[2]), J2+m2*l^2/4, 0},{0,0,m3}};
           G = {{-r*sin(q[1]), -l*sin(q[2]), -1},{r*cos(q[1]), l*cos(q[2]), 0}};
           h = {-m2*r*l/2*v[2]^2*sin(q[1]-q[2]) - m2*g*r*cos(q[1]), m2*r*l/2*v[1]^2*sin(q[1]-q[2]) - m2*g*l/2*cos(q[2]), 0};
         end SliderCrank;",
    );
    assert_eq!(
        m.equations.iter().map(|e| e.len()).sum::<usize>(),
        3 + 3 + 2 + 9 + 6 + 3
    );
    // At the start point both position constraints hold.
    let q = [0.5, -0.1604966697, 1.9195133306];
    let leaves = |name: &str| match name {
        "q[1]" => Some(q[0]),
        "q[2]" => Some(q[1]),
        "q[3]" => Some(q[2]),
        _ => Some(0.0),
    };
    let constraints = m
        .equations
        .iter()
        .filter(|e| e.domain.is_empty() && m.exprs.is_zero(e.lhs));
    let values: Vec<f64> = constraints
        .map(|e| common::value(&m, e.rhs, &leaves))
        .collect();
    assert_eq!(values.len(), 2);
    assert!(values.iter().all(|v| v.abs() < 1e-9), "{values:?}");
}

#[test]
fn mattsson_soederlind_and_other_seed_models() {
    let ms18 = model(
        "model MS18
           Real x1, x2(start=0,fixed=true), x3, x4, x5, x6, x7, x8(start=2.5);
           Real x1d, x2d(start=0,fixed=true), x3d, x6d, x6dd;
           Real u[8] = {sin(time),sin(2*time),sin(3*time),sin(4*time),sin(5*time),sin(6*time),sin(7*time), -2-0.5*sin(8*time)};
         equation
           x1d = der(x1); x2d = der(x2); x3d = der(x3); x6d = der(x6); x6dd = der(x6d);
           0 = u[1] + x1 - x2; 0 = u[2] + x1 + x2 - x3 + der(x6); 0 = u[3] + x1 + der(x3) - x4;
           0 = u[4] + 2*der(x1d) + der(x2d) + der(x3d) + der(x4) + der(x6dd);
           0 = u[5] + 3*der(x1d) + 2*der(x2d) + x5 + 0.1*x8;
           0 = u[6] + 2*x6 + x7; 0 = u[7] + 3*x6 + 4*x7; 0 = u[8] + x8 - sin(x8);
         end MS18;",
    );
    assert_eq!(ms18.equations.iter().map(|e| e.len()).sum::<usize>(), 21);
    // Eight different expressions: the binding of u is cut into its elements.
    assert_eq!(equations(&ms18)[7], "u[8] = -0.5*sin(8*time) - 2");
    let chain = model(
        "model Chain parameter Integer n=1000000; Real z[n];
         equation z[1]=0.5*z[n]+1; for i in 2:n loop z[i]=0.5*z[i-1]+1; end for; end Chain;",
    );
    assert_eq!(
        equations(&chain),
        [
            "z[1] = 0.5*z[1000000] + 1",
            "for i in 2:1000000 loop z[i] = 0.5*z[i - 1] + 1; end for"
        ]
    );
    assert!(residuals_at(&chain, 2.0, &[1, 2]));
    let pendulum = model(
        "model PendulumXY parameter Real m=1, L=1, g=9.81;
           Real x(start=0.8414709848,fixed=true), y(start=0.5403023059), vx(start=0,fixed=true), vy, F;
         equation m*der(vx) = -F*x/L; m*der(vy) = m*g - F*y/L; der(x) = vx; der(y) = vy; x^2 + y^2 = L^2; end PendulumXY;",
    );
    assert_eq!(pendulum.equations.len(), 5);
}

/// All variables have one value: the residuals of the first elements of each equation vanish.
fn residuals_at(m: &FlatModel, value: f64, elements: &[i64]) -> bool {
    m.equations.iter().all(|e| {
        elements.iter().all(|&k| {
            let iters = e.domain.iter().map(|d| d.0).collect::<Vec<_>>();
            let at: Vec<i64> = e.domain.iter().map(|d| d.1.at(k - 1)).collect();
            let side = |body| {
                let c = acausal_expr::flat::Comprehension {
                    iters: iters.clone().into(),
                    body,
                };
                common::element(m, &c, &at, &|_| Some(value))
                    .as_f64()
                    .unwrap_or(f64::NAN)
            };
            (side(e.lhs) - side(e.rhs)).abs() < 1e-12
        })
    })
}

fn heat(n: usize) -> FlatModel {
    model(&format!(
        "model Heat parameter Integer N = {n}; parameter Real k = 2, L = 1; final parameter Real dx = L/N;
           Real T[N](start = linspace(0, 1, N)), q[N+1];
         equation
           q[1] = 0; q[N+1] = 0;
           q[2:N] = -k*(T[2:N] - T[1:N-1])/dx;
           der(T) = -(q[2:N+1] - q[1:N])/dx;
         end Heat;"
    ))
}

#[test]
fn cost_does_not_depend_on_the_length_of_arrays() {
    let (small, large) = (heat(10), heat(1_000_000));
    assert_eq!(small.exprs.len(), large.exprs.len());
    assert_eq!(small.equations.len(), large.equations.len());
    assert_eq!(
        large.equations.iter().map(|e| e.len()).sum::<usize>(),
        2_000_001
    );
    let ladder = |n: usize| {
        model(&format!(
            "package P
               connector Pin Real v; flow Real i; end Pin;
               model R Pin p, n; parameter Real R = 1; equation p.i + n.i = 0; p.v - n.v = R*p.i; end R;
               model Cap Pin p; parameter Real C = 1; equation C*der(p.v) = p.i; end Cap;
               model Fixed parameter Real v = 0; Pin p; equation p.v = v; end Fixed;
               model Ladder R r[{n}](each R = 2); Cap c[{n}-1]; Fixed left(v = 1), right;
               equation
                 connect(left.p, r[1].p); connect(r[{n}].n, right.p);
                 for i in 1:{n}-1 loop connect(r[i].n, r[i+1].p); end for;
                 connect(r[1:{n}-1].n, c.p);
               end Ladder;
             end P;"
        )
        .replace("end P;", "end P; model M = P.Ladder;"))
    };
    let (small, large) = (ladder(10), ladder(1_000_000));
    assert_eq!(small.equations.len(), large.equations.len());
    assert_eq!(small.exprs.len(), large.exprs.len());
}

#[test]
fn arrays_of_components_and_connections() {
    let m = model(
        "package P
           connector Pin Real v; flow Real i; end Pin;
           partial model TwoPin Pin p, n; Real v, i; equation v = p.v - n.v; 0 = p.i + n.i; i = p.i; end TwoPin;
           model Resistor extends TwoPin; parameter Real R = 1; equation R*i = v; end Resistor;
           model Fixed parameter Real v = 0; Pin p; equation p.v = v; end Fixed;
           model Pair Resistor r[2](R = {1, 2}); Real total = sum(r.i); parameter Real f = 3; Real w[2] = f*r.v; Pin a; Fixed g;
           equation connect(a, r[1].p); connect(r[1].n, r[2].p); connect(r[2].n, g.p); end Pair;
         end P;
         model M P.Pair pair[3](f = {4, 5, 6}); P.Fixed s[3](v = {1, 2, 3}); equation connect(s.p, pair.a); end M;",
    );
    let lines = equations(&m);
    for expected in [
        "for i1 in 1:3, i2 in 1:2 loop pair[i1].r[i2].v = pair[i1].r[i2].p.v - pair[i1].r[i2].n.v; end for",
        "for i1 in 1:3 loop pair[i1].total = pair[i1].r[1].i + pair[i1].r[2].i; end for",
        "for i1 in 1:3, i2 in 1:2 loop pair[i1].w[i2] = pair[i1].f*pair[i1].r[i2].v; end for",
        // The connector of the class itself counts negative inside, positive outside.
        "for i in 1:3 loop pair[i].r[1].p.i - pair[i].a.i = 0.0; end for",
        "for i in 1:3 loop pair[i].a.i + s[i].p.i = 0.0; end for",
    ] {
        assert!(
            lines.iter().any(|l| l == expected),
            "{expected}\n{}",
            lines.join("\n")
        );
    }
    assert_eq!(parameter(&m, "pair.f"), (vec![3], vec![4.0, 5.0, 6.0]));
    assert_eq!(
        parameter(&m, "pair.r.R"),
        (vec![3, 2], vec![1.0, 2.0, 1.0, 2.0, 1.0, 2.0])
    );
}

#[test]
fn if_equations() {
    let m = model(
        "model M parameter Boolean on = true; parameter Integer n = 2; Real x, y, z, a[5], b[5];
         equation
           if on then x = 1; else x = 2; y = 3; z = 4; end if;
           if on and n > 1 then y = time; z = n; end if;
           for i in 1:5 loop
             if i == 1 then a[i] = 0; else a[i] = a[i-1] + 1; end if;
             if i <= 2 or i == 5 then b[i] = i; else b[i] = -b[i-1]; end if;
           end for;
         end M;",
    );
    let lines = equations(&m);
    assert_eq!(
        lines,
        [
            "x = 1",
            "y = time",
            "z = n",
            "a[1] = 0",
            "for i in 2:5 loop a[i] = a[i - 1] + 1; end for",
            "for i in 1:2 loop b[i] = i; end for",
            "for i in 3:4 loop b[i] = -b[i - 1]; end for",
            "b[5] = 5",
        ]
    );
    let structural: Vec<&str> = ["on", "n"]
        .into_iter()
        .filter(|n| m.vars.iter().any(|v| v.name.plain() == *n && v.structural))
        .collect();
    assert_eq!(
        structural,
        ["on", "n"],
        "parameters that chose a branch cannot be changed later"
    );
    let dynamic = model(
        "model M Real x, y, v[3], w[3]; Boolean b;
         equation
           b = time > 1;
           if time > 2 then x = 1; x + y = 2; v = {1,2,3}; w = 2*v; elseif b then y = 5; x = y; w = v; v = {0,0,time}; else x = 0; y = x; v = w; w = {1,1,1}; end if;
         end M;",
    );
    let lines = equations(&dynamic);
    assert!(
        lines.contains(&"x = if time > 2 then 1 else if b then y else 0".to_string()),
        "{lines:#?}"
    );
    assert!(
        lines.contains(
            &"0.0 = if time > 2 then x + y - 2 else y - (if b then 5 else x)".to_string()
        ),
        "{lines:#?}"
    );
    assert_eq!(dynamic.equations.iter().map(|e| e.len()).sum::<usize>(), 9);
}

#[test]
fn loops_that_need_the_value_of_their_iterator_are_unrolled() {
    let m = model(
        "model M Real x[3], s[3];
         equation for i in 1:3 loop x[i] = i; s[i] = sum(x[1:i]); end for; end M;",
    );
    assert!(
        equations(&m).contains(&"s[3] = x[1] + x[2] + x[3]".to_string()),
        "{:#?}",
        equations(&m)
    );
    let m = model(
        "model M Real x[7]; equation for i in {1, 2, 6} loop x[i] = i; end for; for i in {3,4,5,7} loop x[i] = 0; end for; end M;",
    );
    assert_eq!(m.equations.len(), 7);
}

#[test]
fn when_equations_and_events() {
    let m = model(
        "model M Real x(start = 1, fixed = true); discrete Real d; Integer n(start = 0, fixed = true); Boolean b; Real t0[2];
         equation
           der(x) = -x;
           b = x < 0.5;
           when {b, sample(0, 0.1)} then
             n = pre(n) + 1; d = x; reinit(x, 2*pre(x)); for i in 1:2 loop t0[i] = i*time; end for;
           elsewhen not b then
             n = 0; d = 1; t0 = {5, 2*time};
           end when;
           when terminal() then assert(n > 0, \"none\"); terminate(\"done\"); end when;
           assert(x > 0, \"x = \" + String(x));
         end M;",
    );
    let branches = &m.whens[0].branches;
    assert_eq!(branches[0].conditions.len(), 2);
    let assigns = |k: usize| {
        branches[k]
            .actions
            .iter()
            .filter(|a| matches!(a, Action::Assign { .. }))
            .count()
    };
    assert_eq!(
        (assigns(0), assigns(1)),
        (3, 4),
        "the second branch has different expressions for t0[1] and t0[2]"
    );
    let variability = |name: &str| {
        m.vars
            .iter()
            .find(|v| v.name.plain() == name)
            .map(|v| v.variability)
    };
    assert_eq!(
        variability("t0"),
        Some(Variability::Discrete),
        "assigned in when"
    );
    assert_eq!(variability("x"), Some(Variability::Continuous));
    assert_eq!(m.asserts.len(), 1);
    let text = print_flat(&m).unwrap();
    assert!(
        text.contains("reinit(x, 2*pre(x))") && text.contains("terminate(\"done\")"),
        "{text}"
    );
}

#[test]
fn derivatives_of_expressions() {
    let m = model(
        "model M parameter Real p = 2; Real x, y, z, w;
         equation x = time; y = der(p*x^2*sin(x)); z = der(der(x)); w = der(p) + der(if time > 1 then x else 2*x); end M;",
    );
    let lines = equations(&m);
    let leaves = |name: &str| match name {
        "x" => Some(0.5),
        "der(x)" => Some(3.0),
        "time" => Some(2.0),
        _ => None,
    };
    let d = common::value(&m, m.equations[1].rhs, &leaves);
    let expected = 3.0 * 2.0 * (2.0 * 0.5 * 0.5f64.sin() + 0.25 * 0.5f64.cos());
    assert!((d - expected).abs() < 1e-12, "{d} {expected}");
    assert_eq!(lines[2], "z = der(der(x))");
    assert_eq!(common::value(&m, m.equations[3].rhs, &leaves), 3.0);
}

#[test]
fn sizes_conditions_and_attributes() {
    let m = model(
        "model Sub parameter Integer n = 2; Real x[n](each start = n, each unit = \"m\") = (1:n)*time; end Sub;
         model M
           parameter Integer n = 4; parameter Boolean more = n > 3;
           Sub a(n = n); Sub b if more; Sub c if not more; Sub d[2](each n = 3);
           parameter Real table[:, 2] = [0, 1; 2, 3; 4, 5];
           Real y[size(table, 1)] = table[:, 2]*time;
           Real z(stateSelect = StateSelect.prefer, min = -1, nominal = 10) = time;
           input Real u; output Real v = u; protected Real hidden = 1;
           annotation(experiment(StartTime = 1, StopTime = 3.5, Tolerance = 1e-5));
         end M;",
    );
    let dims = |name: &str| {
        m.vars
            .iter()
            .find(|v| v.name.plain() == name)
            .map(|v| v.dims.to_vec())
    };
    assert_eq!(dims("a.x"), Some(vec![4]));
    assert_eq!(dims("b.x"), Some(vec![2]));
    assert_eq!(dims("c.x"), None);
    assert_eq!(dims("d.x"), Some(vec![2, 3]));
    assert_eq!(dims("y"), Some(vec![3]));
    let var = |name: &str| {
        m.vars
            .iter()
            .find(|v| v.name.plain() == name)
            .expect("a variable")
    };
    assert_eq!(var("z").state_select, StateSelect::Prefer);
    assert_eq!(
        (var("u").causality, var("v").causality),
        (Causality::Input, Causality::Output)
    );
    assert!(var("hidden").protected && !var("z").protected);
    assert_eq!(&*var("a.x").unit, "m");
    assert!(
        !var("table").structural,
        "its size was needed, its values were not"
    );
    assert_eq!(
        (
            m.experiment.start,
            m.experiment.stop,
            m.experiment.tolerance
        ),
        (Some(1.0), Some(3.5), Some(1e-5))
    );
    assert_eq!(var("d.x").name.element(&[2, 3]), "d[2].x[3]");
}

#[test]
fn constants_from_packages_and_inner_outer() {
    let m = model(
        "package C constant Real g = 9.81; constant Real v[3] = {1, 2, 3}*g; constant Integer n = 2; end C;
         model World parameter Real k = 2; Real t = time; end World;
         model Part outer World world; Real x = world.k*world.t*C.v[2]; end Part;
         model M inner World world(k = 5); Part p[C.n]; end M;",
    );
    let lines = equations(&m);
    assert!(
        lines.contains(&"for i1 in 1:2 loop p[i1].x = 19.62*world.k*world.t; end for".to_string()),
        "{lines:#?}"
    );
}

#[test]
fn warnings_do_not_stop() {
    let (m, warnings) = model_and_warnings(
        "model A parameter Real k; Real x = k; end A; model M A a[2](k = 3); parameter Real p; Real y = p; end M;",
    );
    let codes: Vec<&str> = warnings.iter().map(|w| w.code).collect();
    assert_eq!(codes, ["missing-each", "parameter-without-value"]);
    assert_eq!(parameter(&m, "a.k"), (vec![2], vec![3.0, 3.0]));
}

#[test]
fn all_errors_of_a_model_are_reported_at_once() {
    let found = common::errors(
        "model M Real x, y; Integer n;
         equation x = true; y = {1, 2}; n = unknown; x = y[2]; der(n) = 1; end M;",
    );
    let codes: Vec<&str> = found.iter().map(|m| m.code).collect();
    assert_eq!(
        codes,
        [
            "type-mismatch",
            "size-mismatch",
            "unknown-name",
            "too-many-subscripts",
            "type-mismatch"
        ],
        "{found:#?}"
    );
}

#[test]
fn loops_of_overdetermined_connectors_are_broken_once() {
    // A planar "frame" whose orientation has two variables and one degree of freedom.
    let library = "package P
       record Orientation Real c; Real s;
         function equalityConstraint input Orientation a; input Orientation b; output Real r[1];
         algorithm r := {a.c*b.s - a.s*b.c}; end equalityConstraint;
       end Orientation;
       connector Frame Real x; flow Real f, t; Orientation R; end Frame;
       model World Frame b; equation Connections.root(b.R); b.x = 0; b.R.c = cos(time); b.R.s = sin(time); end World;
       model Bar Frame a, b; parameter Real phi = 1;
       equation
         Connections.branch(a.R, b.R);
         b.x = a.x + 1; a.f + b.f = 0; a.t + b.t = 0;
         if Connections.rooted(a.R) then
           b.R.c = a.R.c*cos(phi) - a.R.s*sin(phi); b.R.s = a.R.s*cos(phi) + a.R.c*sin(phi);
         else
           a.R.c = b.R.c*cos(phi) + b.R.s*sin(phi); a.R.s = b.R.s*cos(phi) - b.R.c*sin(phi);
         end if;
         assert(cardinality(a) > 0, \"a must be connected\");
       end Bar;
     end P;";
    let count = |m: &FlatModel| m.equations.iter().map(|e| e.len()).sum::<usize>();
    let tree = model(&format!(
        "{library} model M P.World w; P.Bar p, q; equation connect(w.b, p.a); connect(q.b, p.b); end M;"
    ));
    // q hangs on its b side: its orientation is computed from b to a.
    let lines = equations(&tree);
    assert!(
        lines.iter().any(|l| l.starts_with("p.b.R.c = ")),
        "{lines:#?}"
    );
    assert!(
        lines.iter().any(|l| l.starts_with("q.a.R.c = ")),
        "{lines:#?}"
    );
    assert_eq!(tree.asserts.len(), 1, "p.a is connected, q.a is not");
    assert_eq!(count(&tree), 25);
    // The elements of an array are nodes of their own: a chain is no loop.
    let chain = model(&format!(
        "{library} model M P.World w; P.Bar p[4]; equation connect(w.b, p[1].a);
         for i in 1:3 loop connect(p[i].b, p[i+1].a); end for; end M;"
    ));
    assert!(
        equations(&chain)
            .iter()
            .any(|l| l.starts_with("for i1 in 1:4 loop p[i1].b.R.c = "))
    );
    // In the loop one connect gives the constraint (1 equation) instead of the equality (2 equations).
    let closed = model(&format!(
        "{library} model M P.World w; P.Bar p, q; equation connect(w.b, p.a); connect(p.b, q.a); connect(q.b, w.b); end M;"
    ));
    assert_eq!(count(&closed), 25);
    let lines = equations(&closed);
    assert!(
        lines.contains(&"0.0 = q.b.R.c*w.b.R.s - q.b.R.s*w.b.R.c".to_string()),
        "{lines:#?}"
    );
}

#[test]
fn operator_records_and_integer_parameters_of_functions() {
    let m = model(
        "package P
           operator record C Real re; Real im;
             encapsulated operator function '+' import P.C; input C a; input C b; output C c;
             algorithm c := C(a.re + b.re, a.im + b.im); end '+';
           end C;
           function angles input Integer m; output Real a[m];
           algorithm if mod(m, 2) == 0 then a := fill(0.0, m); else a := {k/m for k in 1:m}; end if; end angles;
         end P;
         model M
           parameter Integer m = 3;
           parameter Real y[m] = P.angles(m);
           parameter P.C u[2](re = {1, 2}, im = {3, 4}), v[2] = u + u;
         end M;",
    );
    assert_eq!(parameter(&m, "y").1, [1.0 / 3.0, 2.0 / 3.0, 1.0]);
    assert_eq!(parameter(&m, "v.im"), (vec![2], vec![6.0, 8.0]));
}
