//! The parts of each expression at which cargo-mutants can plant a fault.

use std::collections::BTreeMap;

use proc_macro2::Span;
use serde::{Deserialize, Serialize};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Arm, Block, Expr, ExprBinary, ExprStruct, ExprUnary, File, ImplItemFn, ItemFn, Signature, TraitItemFn};

/// Where a fault is, as cargo-mutants says it: the start of what it replaces.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
pub struct Key {
    genre: String,
    line: usize,
    column: usize,
}

/// Offsets of the first byte and of the byte past the last.
pub type Range = (usize, usize);

/// What a fault's replacement is made of.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Parts {
    /// A function's statements.
    Body { range: Range, is_const: bool, in_const_fn: bool },
    /// An operation, with one operand or two. `has_let`: an operand is a pattern, as only conditions have it.
    Operation { range: Range, has_let: bool, is_const: bool },
    /// The condition of a match arm.
    Guard { range: Range, is_const: bool },
    /// A match arm: its pattern, and its condition if it has one.
    Arm { range: Range, pattern: Range, guard: Option<Range>, is_const: bool },
    /// A field's value in a struct expression with a base.
    Field { range: Range, name: String, path: Range, base: Range, base_is_place: bool, is_const: bool },
}

/// Walks through a file.
#[derive(Default)]
pub struct Collector {
    found: BTreeMap<Key, Parts>,
    is_const: bool,
}

impl Collector {
    /// All parts of a file.
    pub fn collect(file: &File) -> BTreeMap<Key, Parts> {
        let mut collector = Self::default();
        collector.visit_file(file);
        collector.found
    }

    fn add(&mut self, genre: &str, span: Span, parts: Parts) {
        let start = span.start();
        self.found.insert(Key { genre: genre.to_owned(), line: start.line, column: start.column + 1 }, parts);
    }

    fn function(&mut self, signature: &Signature, block: &Block, visit: impl FnOnce(&mut Self)) {
        // A constant function can be called when the program runs.
        let outer = std::mem::replace(&mut self.is_const, false);
        if let (Some(first), Some(last)) = (block.stmts.first(), block.stmts.last()) {
            let range = (range(first).0, range(last).1);
            self.add(
                "FnValue",
                first.span(),
                Parts::Body { range, is_const: false, in_const_fn: signature.constness.is_some() },
            );
        }
        visit(self);
        self.is_const = outer;
    }

    fn constant(&mut self, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.is_const, true);
        visit(self);
        self.is_const = outer;
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&item.sig, &item.block, |this| visit::visit_item_fn(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&item.sig, &item.block, |this| visit::visit_impl_item_fn(this, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block, |this| visit::visit_trait_item_fn(this, item));
        }
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.constant(|this| visit::visit_item_const(this, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.constant(|this| visit::visit_item_static(this, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.constant(|this| visit::visit_impl_item_const(this, item));
    }

    fn visit_expr_const(&mut self, item: &'ast syn::ExprConst) {
        self.constant(|this| visit::visit_expr_const(this, item));
    }

    fn visit_expr_repeat(&mut self, item: &'ast syn::ExprRepeat) {
        self.visit_expr(&item.expr);
        self.constant(|this| this.visit_expr(&item.len));
    }

    fn visit_type_array(&mut self, item: &'ast syn::TypeArray) {
        self.constant(|this| visit::visit_type_array(this, item));
    }

    fn visit_expr_binary(&mut self, expression: &'ast ExprBinary) {
        let has_let = has_let(&expression.left) || has_let(&expression.right);
        let parts = Parts::Operation { range: range(expression), has_let, is_const: self.is_const };
        self.add("BinaryOperator", expression.op.span(), parts);
        visit::visit_expr_binary(self, expression);
    }

    fn visit_expr_unary(&mut self, expression: &'ast ExprUnary) {
        let parts = Parts::Operation { range: range(expression), has_let: false, is_const: self.is_const };
        self.add("UnaryOperator", expression.op.span(), parts);
        visit::visit_expr_unary(self, expression);
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        let guard = arm.guard.as_ref().map(|(_, guard)| range(guard));
        let parts = Parts::Arm { range: range(arm), pattern: range(&arm.pat), guard, is_const: self.is_const };
        self.add("MatchArm", arm.span(), parts);
        if let Some((_, guard)) = &arm.guard {
            self.add("MatchArmGuard", guard.span(), Parts::Guard { range: range(guard), is_const: self.is_const });
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_struct(&mut self, expression: &'ast ExprStruct) {
        if let Some(base) = &expression.rest {
            for field in &expression.fields {
                let syn::Member::Named(name) = &field.member else { continue };
                if field.colon_token.is_none() {
                    continue;
                }
                let parts = Parts::Field {
                    range: range(&field.expr),
                    name: name.to_string(),
                    path: range(&expression.path),
                    base: range(base),
                    base_is_place: is_place(base),
                    is_const: self.is_const,
                };
                self.add("StructField", field.span(), parts);
            }
        }
        visit::visit_expr_struct(self, expression);
    }
}

fn range(node: &impl Spanned) -> Range {
    let bytes = node.span().byte_range();
    (bytes.start, bytes.end)
}

/// Whether an operand of a chain of conditions is a pattern: it stands only directly in a condition.
fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn is_place(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_) => true,
        Expr::Field(field) => is_place(&field.base),
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)),
        _ => false,
    }
}
