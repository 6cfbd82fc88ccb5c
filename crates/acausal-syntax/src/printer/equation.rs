//! Equations and statements.

use super::Printer;
use crate::ast::{Equation, EquationKind, Expr, Statement, StatementKind};

impl Printer {
    pub(super) fn equation(&mut self, equation: &Equation) {
        self.equation_kind(&equation.kind);
        self.optional_description(equation.description.as_deref());
        self.push(";");
    }

    pub(super) fn equation_kind(&mut self, kind: &EquationKind) {
        match kind {
            EquationKind::Equal(left, right) => {
                // An `if` expression cannot begin an equation: that would be an `if` equation.
                if left.level() < crate::ast::Precedence::Range {
                    self.push("(");
                    self.expr(left);
                    self.push(")");
                } else {
                    self.expr(left);
                }
                self.push(" = ");
                self.expr(right);
            }
            EquationKind::If {
                branches,
                otherwise,
            } => self.branches("if", "elseif", branches, otherwise, Printer::equation),
            EquationKind::For { indices, body } => {
                self.for_indices("for ", indices);
                self.push(" loop");
                self.block(body, Printer::equation);
                self.push("end for");
            }
            EquationKind::Connect(a, b) => {
                self.push("connect(");
                self.component_ref(a);
                self.push(", ");
                self.component_ref(b);
                self.push(")");
            }
            EquationKind::When { branches } => {
                self.branches("when", "elsewhen", branches, &[], Printer::equation);
            }
            EquationKind::Call(call) => self.call(call),
        }
    }

    pub(super) fn statement(&mut self, statement: &Statement) {
        self.statement_kind(&statement.kind);
        self.optional_description(statement.description.as_deref());
        self.push(";");
    }

    pub(super) fn statement_kind(&mut self, kind: &StatementKind) {
        match kind {
            StatementKind::Assign { target, value } => {
                self.component_ref(target);
                self.push(" := ");
                self.expr(value);
            }
            StatementKind::AssignCall { targets, call } => {
                self.push("(");
                self.list(targets, ", ", |printer, target| {
                    if let Some(target) = target {
                        printer.component_ref(target);
                    }
                });
                self.push(") := ");
                self.call(call);
            }
            StatementKind::Call(call) => self.call(call),
            StatementKind::If {
                branches,
                otherwise,
            } => self.branches("if", "elseif", branches, otherwise, Printer::statement),
            StatementKind::For { indices, body } => {
                self.for_indices("for ", indices);
                self.push(" loop");
                self.block(body, Printer::statement);
                self.push("end for");
            }
            StatementKind::While { condition, body } => {
                self.push("while ");
                self.expr(condition);
                self.push(" loop");
                self.block(body, Printer::statement);
                self.push("end while");
            }
            StatementKind::When { branches } => {
                self.branches("when", "elsewhen", branches, &[], Printer::statement);
            }
            StatementKind::Break => self.push("break"),
            StatementKind::Return => self.push("return"),
        }
    }

    fn branches<T>(
        &mut self,
        first: &str,
        further: &str,
        branches: &[(Expr, Vec<T>)],
        otherwise: &[T],
        print: impl Fn(&mut Printer, &T) + Copy,
    ) {
        for (position, (condition, body)) in branches.iter().enumerate() {
            self.push(if position == 0 { first } else { further });
            self.push(" ");
            self.expr(condition);
            self.push(" then");
            self.block(body, print);
        }
        if !otherwise.is_empty() {
            self.push("else");
            self.block(otherwise, print);
        }
        self.push("end ");
        self.push(first);
    }

    /// Items one level deeper, each on its line, and a new line at the old level.
    fn block<T>(&mut self, items: &[T], print: impl Fn(&mut Printer, &T)) {
        self.level += 1;
        for item in items {
            self.new_line();
            print(self, item);
        }
        self.level -= 1;
        self.new_line();
    }
}
