//! Syntax tree to text: readable, indented Modelica.
//!
//! For every tree that the parser gives without errors, `parse(print(tree)) == tree`. Comments and
//! the layout of the source are lost; descriptions and annotations are part of the tree and are kept.
//! Parentheses are put where precedence asks for them. The printer recurses over the depth of the
//! tree, which the parser bounds.
//!
//! [`Expr`], [`ComponentRef`], [`Equation`] and [`Statement`] also implement `Display`, for use in
//! messages.

mod class;
mod equation;
mod expr;

use std::fmt;

use crate::ast::{
    ClassDef, ComponentRef, Equation, Expr, Modification, Statement, StoredDefinition,
};

/// Column after which lists of arguments are broken into one line each.
const LINE_WIDTH: usize = 100;

/// Blanks per level.
const INDENT: usize = 2;

/// The whole file.
pub fn print(tree: &StoredDefinition) -> String {
    let mut printer = Printer::default();
    if let Some(within) = &tree.within {
        printer.push("within");
        if let Some(name) = &within.name {
            printer.push(" ");
            printer.display(name);
        }
        printer.push(";\n");
    }
    for stored in &tree.classes {
        if stored.is_final {
            printer.push("final ");
        }
        printer.class(&stored.class);
        printer.push(";\n");
    }
    printer.out
}

/// A class without the final `;`.
pub fn print_class(class: &ClassDef) -> String {
    let mut printer = Printer::default();
    printer.class(class);
    printer.out
}

/// An expression on one line.
pub fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer::flat();
    printer.expr(expr);
    printer.out
}

/// A component reference on one line.
pub fn print_component_ref(reference: &ComponentRef) -> String {
    let mut printer = Printer::flat();
    printer.component_ref(reference);
    printer.out
}

/// A modification on one line, as it stands behind a name: `(start = 1) = 2`, ` = 2`.
pub fn print_modification(modification: &Modification) -> String {
    let mut printer = Printer::flat();
    printer.modification(modification);
    printer.out
}

/// An equation without its description and `;`. `if`, `for` and `when` take several lines.
pub fn print_equation(equation: &Equation) -> String {
    let mut printer = Printer::default();
    printer.equation_kind(&equation.kind);
    printer.out
}

/// A statement without its description and `;`.
pub fn print_statement(statement: &Statement) -> String {
    let mut printer = Printer::default();
    printer.statement_kind(&statement.kind);
    printer.out
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_expr(self))
    }
}

impl fmt::Display for ComponentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_component_ref(self))
    }
}

impl fmt::Display for Equation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_equation(self))
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_statement(self))
    }
}

#[derive(Default)]
struct Printer {
    out: String,
    /// Current level of indentation.
    level: usize,
    /// Keep everything on one line.
    flat: bool,
    /// Inside of an annotation: line ends in strings stay line ends, so that documentation reads well.
    in_annotation: bool,
}

impl Printer {
    fn flat() -> Printer {
        Printer {
            flat: true,
            ..Printer::default()
        }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn display(&mut self, value: &impl fmt::Display) {
        use fmt::Write;
        // Writing to a String cannot fail.
        let _ = write!(self.out, "{value}");
    }

    /// Ends the line and indents the next one.
    fn new_line(&mut self) {
        self.out.push('\n');
        let blanks = self.level * INDENT;
        self.out.extend(std::iter::repeat_n(' ', blanks));
    }

    /// Columns used on the current line, in bytes.
    fn column(&self) -> usize {
        let line = self.out.rfind('\n').map_or(0, |end| end + 1);
        self.out.len() - line
    }

    /// A list in parentheses: on one line if it fits, else one line for each item.
    fn arguments<T>(&mut self, items: &[T], print: impl Fn(&mut Printer, &T)) {
        let start = self.out.len();
        let column = self.column();
        let was_flat = std::mem::replace(&mut self.flat, true);
        self.push("(");
        self.list(items, ", ", &print);
        self.push(")");
        self.flat = was_flat;
        let fits = column + self.out.len() - start <= LINE_WIDTH;
        if self.flat || fits || items.is_empty() {
            return;
        }
        self.out.truncate(start);
        self.push("(");
        self.level += 1;
        for (position, item) in items.iter().enumerate() {
            if position > 0 {
                self.push(",");
            }
            self.new_line();
            print(self, item);
        }
        self.level -= 1;
        self.push(")");
    }

    fn list<T>(&mut self, items: &[T], separator: &str, print: impl Fn(&mut Printer, &T)) {
        for (position, item) in items.iter().enumerate() {
            if position > 0 {
                self.push(separator);
            }
            print(self, item);
        }
    }
}
