//! Expressions: parentheses by precedence, literals that read back as the same value.

use super::Printer;
use crate::ast::{
    BinOp, Call, Callee, ComponentRef, Expr, ExprKind, ForIndex, NamedArg, Precedence, UnOp,
};

impl Printer {
    pub(super) fn expr(&mut self, expr: &Expr) {
        self.operand(expr, Precedence::Expression);
    }

    /// An expression where only one of level `weakest` or tighter can stand.
    fn operand(&mut self, expr: &Expr, weakest: Precedence) {
        if level(expr) < weakest {
            self.push("(");
            self.bare(expr);
            self.push(")");
        } else {
            self.bare(expr);
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Real(value) => self.real(*value),
            ExprKind::Integer(value) => self.display(value),
            ExprKind::Str(value) => self.string(value),
            ExprKind::Bool(true) => self.push("true"),
            ExprKind::Bool(false) => self.push("false"),
            ExprKind::End => self.push("end"),
            ExprKind::Colon => self.push(":"),
            ExprKind::Ref(reference) => self.component_ref(reference),
            ExprKind::Chain(first, rest) => self.chain(first, rest),
            ExprKind::Binary(operator, left, right) => {
                let tighter = match operator.level() {
                    Precedence::Power => Precedence::Primary,
                    _ => Precedence::Additive,
                };
                self.operand(left, tighter);
                self.operator(*operator);
                self.operand(right, tighter);
            }
            ExprKind::Unary(operator, operand) => {
                self.push(operator.symbol());
                if *operator == UnOp::Not {
                    self.push(" ");
                    self.operand(operand, Precedence::Relation);
                } else {
                    self.operand(operand, Precedence::Multiplicative);
                }
            }
            ExprKind::If {
                branches,
                otherwise,
            } => {
                for (position, (condition, value)) in branches.iter().enumerate() {
                    self.push(if position == 0 { "if " } else { " elseif " });
                    self.operand(condition, Precedence::Range);
                    self.push(" then ");
                    self.operand(value, Precedence::Range);
                }
                self.push(" else ");
                // Without parentheses, a nested `if` would be read as a further branch.
                self.operand(otherwise, Precedence::Range);
            }
            ExprKind::Call(call) => self.call(call),
            ExprKind::PartialApplication(application) => {
                self.push("function ");
                self.display(&application.function);
                self.push("(");
                self.list(&application.named, ", ", Printer::named_arg);
                self.push(")");
            }
            ExprKind::Array(elements) => {
                self.push("{");
                self.list(elements, ", ", Printer::expr);
                self.push("}");
            }
            ExprKind::ArrayFor { body, indices } => {
                self.push("{");
                self.expr(body);
                self.for_indices(" for ", indices);
                self.push("}");
            }
            ExprKind::Matrix(rows) => {
                self.push("[");
                self.list(rows, "; ", |printer, row| {
                    printer.list(row, ", ", Printer::expr);
                });
                self.push("]");
            }
            ExprKind::Range { start, step, stop } => {
                self.operand(start, Precedence::Or);
                self.push(":");
                if let Some(step) = step {
                    self.operand(step, Precedence::Or);
                    self.push(":");
                }
                self.operand(stop, Precedence::Or);
            }
            ExprKind::Tuple(items) => {
                self.push("(");
                self.list(items, ", ", |printer, item| {
                    if let Some(item) = item {
                        printer.expr(item);
                    }
                });
                self.push(")");
            }
            ExprKind::Index(base, subscripts) => {
                self.parenthesised(base);
                self.subscripts(subscripts);
            }
            ExprKind::Field(base, member) => {
                self.parenthesised(base);
                self.push(".");
                self.push(member.as_str());
            }
            ExprKind::Error => self.push("?"),
        }
    }

    fn parenthesised(&mut self, expr: &Expr) {
        if matches!(expr.kind, ExprKind::Tuple(_)) {
            self.bare(expr);
        } else {
            self.push("(");
            self.bare(expr);
            self.push(")");
        }
    }

    fn chain(&mut self, first: &Expr, rest: &[(BinOp, Expr)]) {
        let tighter = match rest.first().map(|(operator, _)| operator.level()) {
            Some(Precedence::Or) => Precedence::And,
            Some(Precedence::And) => Precedence::Not,
            Some(Precedence::Additive) => Precedence::Multiplicative,
            _ => Precedence::Power,
        };
        // A sum may begin with a sign.
        let signed =
            tighter == Precedence::Multiplicative && !matches!(first.kind, ExprKind::Chain(..));
        self.operand(
            first,
            if signed {
                Precedence::Additive
            } else {
                tighter
            },
        );
        for (operator, operand) in rest {
            self.operator(*operator);
            self.operand(operand, tighter);
        }
    }

    fn operator(&mut self, operator: BinOp) {
        // `a^b` is read as one thing; everything else breathes.
        let tight = operator == BinOp::Pow;
        if !tight {
            self.push(" ");
        }
        self.push(operator.symbol());
        if !tight {
            self.push(" ");
        }
    }

    /// The shortest decimal that reads back as the same number, and as a Real.
    fn real(&mut self, value: f64) {
        if value.is_infinite() {
            self.push(if value > 0.0 { "1e999" } else { "-1e999" });
        } else {
            use std::fmt::Write;
            // Writing to a String cannot fail.
            let _ = write!(self.out, "{value:?}");
        }
    }

    /// A string literal with its quotes.
    pub(super) fn string(&mut self, value: &str) {
        self.out.push('"');
        for character in value.chars() {
            match character {
                '"' => self.push("\\\""),
                '\\' => self.push("\\\\"),
                '\x07' => self.push("\\a"),
                '\x08' => self.push("\\b"),
                '\x0b' => self.push("\\v"),
                '\x0c' => self.push("\\f"),
                '\r' => self.push("\\r"),
                '\n' if !self.in_annotation => self.push("\\n"),
                '\t' if !self.in_annotation => self.push("\\t"),
                other => self.out.push(other),
            }
        }
        self.out.push('"');
    }

    pub(super) fn component_ref(&mut self, reference: &ComponentRef) {
        if reference.global {
            self.push(".");
        }
        self.list(&reference.parts, ".", |printer, part| {
            printer.push(part.name.as_str());
            printer.subscripts(&part.subscripts);
        });
    }

    /// `[a, b]`, or nothing for an empty list.
    pub(super) fn subscripts(&mut self, subscripts: &[Expr]) {
        if !subscripts.is_empty() {
            self.push("[");
            self.list(subscripts, ", ", Printer::expr);
            self.push("]");
        }
    }

    pub(super) fn call(&mut self, call: &Call) {
        match &call.function {
            Callee::Ref(reference) => self.component_ref(reference),
            Callee::Der => self.push("der"),
            Callee::Initial => self.push("initial"),
            Callee::Pure => self.push("pure"),
        }
        self.push("(");
        self.list(&call.args, ", ", Printer::expr);
        self.for_indices(" for ", &call.indices);
        if !call.args.is_empty() && !call.named.is_empty() {
            self.push(", ");
        }
        self.list(&call.named, ", ", Printer::named_arg);
        self.push(")");
    }

    fn named_arg(&mut self, argument: &NamedArg) {
        self.push(argument.name.as_str());
        self.push(" = ");
        self.expr(&argument.value);
    }

    /// `prefix i in r, j`, or nothing for an empty list.
    pub(super) fn for_indices(&mut self, prefix: &str, indices: &[ForIndex]) {
        if indices.is_empty() {
            return;
        }
        self.push(prefix);
        self.list(indices, ", ", |printer, index| {
            printer.push(index.name.as_str());
            if let Some(range) = &index.range {
                printer.push(" in ");
                printer.expr(range);
            }
        });
    }
}

/// [`Expr::level`], except that a negative literal (which later passes may make) binds like a sign.
fn level(expr: &Expr) -> Precedence {
    match expr.kind {
        ExprKind::Real(value) if value.is_sign_negative() => Precedence::Additive,
        ExprKind::Integer(value) if value < 0 => Precedence::Additive,
        _ => expr.level(),
    }
}
