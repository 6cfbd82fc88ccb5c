//! The order in which equations, declarations and connections are written does not matter: the same states, the same
//! form, the same trajectories, for every example.
//!
//! The syntax tree is shuffled and printed again. Functions, records, connectors and types keep their order, because
//! their members have positions; the statements of an algorithm have an order by nature.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use crate::common::every::{examples, same};
use acausal_index1::Options;
use acausal_syntax::ast::{
    ClassBody, ClassDef, ClassKind, ElementKind, EquationKind, SectionKind, StoredDefinition,
};

/// A generator of numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for k in (1..items.len()).rev() {
            items.swap(k, self.below(k + 1));
        }
    }

    fn class(&mut self, class: &mut Arc<ClassDef>) {
        let class = Arc::make_mut(class);
        let free = matches!(
            class.kind,
            ClassKind::Class | ClassKind::Model | ClassKind::Block | ClassKind::Package
        );
        let ClassBody::Long(composition) = &mut class.body else {
            return;
        };
        for section in &mut composition.sections {
            match &mut section.kind {
                SectionKind::Elements { elements, .. } => {
                    for e in elements.iter_mut() {
                        match &mut e.kind {
                            ElementKind::Class(c) => self.class(c),
                            ElementKind::Components(c) if free => self.shuffle(&mut c.components),
                            _ => {}
                        }
                    }
                    if free {
                        self.shuffle(elements);
                    }
                }
                SectionKind::Equations { equations, .. } => {
                    self.shuffle(equations);
                    for e in equations {
                        if let EquationKind::Connect(a, b) = &mut e.kind
                            && self.below(2) == 0
                        {
                            std::mem::swap(a, b);
                        }
                    }
                }
                SectionKind::Algorithm { .. } => {}
            }
        }
    }
}

fn shuffled(text: &str, seed: u64) -> String {
    let mut sources = acausal_base::SourceMap::default();
    let file = sources.add_file("Test.mo", text.to_string());
    let mut tree: StoredDefinition = acausal_syntax::parse(file, text).tree;
    let mut random = Random(seed);
    for c in &mut tree.classes {
        random.class(&mut c.class);
    }
    acausal_syntax::printer::print(&tree)
}

#[test]
fn order_of_equations_declarations_and_connects_does_not_matter() {
    for example in examples() {
        let text = example.text();
        let (original, a) = example.run(&text, &Options::default());
        let mut states = original.states.clone();
        states.sort();
        for seed in [1, 7] {
            let other = shuffled(&text, seed);
            let (report, b) = example.run(&other, &Options::default());
            let what = format!("{} shuffled with {seed}", example.file);
            let mut found = report.states.clone();
            found.sort();
            assert_eq!(found, states, "{what}\n{other}");
            assert_eq!(report.form, original.form, "{what}\n{other}");
            assert_eq!(report.structural_index, original.structural_index, "{what}");
            same(&what, &a, &b, 1e-5);
        }
    }
}

#[test]
fn shuffling_shuffles() {
    let text = "model M Real a, b, c; equation a = 1; b = 2; c = 3; end M;";
    let orders: std::collections::BTreeSet<String> =
        (0..20).map(|seed| shuffled(text, seed)).collect();
    assert!(orders.len() > 10, "{orders:?}");
}
