//! Collects the outline of a template from its syntax tree.
//!
//! The tree belongs to the template engine: public, but not stable, which is why the version of the
//! engine is exact. Every kind of statement and expression is named here, so that a new one fails
//! the build instead of the check.

use minijinja::Value;
use minijinja::machinery::ast::{Call, CallArg, CallType, Expr, Macro, Spanned, Stmt};

use crate::pages::outline::{BlockOutline, Named, Outline, Parent, Requirement};

/// The walk over one template.
pub(crate) struct Walker<'s> {
    text: &'s str,
    pub(crate) outline: Outline,
    /// Indexes of the blocks around the present place.
    open_blocks: Vec<usize>,
    /// Statements around the present place, the template itself among them.
    depth: usize,
}

fn place<T>(node: &Spanned<T>) -> usize {
    node.span().start_offset as usize
}

impl<'s> Walker<'s> {
    /// A walk that has seen nothing yet.
    pub(crate) fn new(text: &'s str) -> Self {
        Self { text, outline: Outline::default(), open_blocks: Vec::new(), depth: 0 }
    }

    fn body(&mut self, statements: &[Stmt<'_>]) {
        self.depth += 1;
        for statement in statements {
            self.statement(statement);
        }
        self.depth -= 1;
    }

    /// Takes up a statement with all that it holds.
    pub(crate) fn statement(&mut self, statement: &Stmt<'_>) {
        match statement {
            Stmt::Template(node) => self.body(&node.children),
            Stmt::EmitExpr(node) => self.expression(&node.expr),
            Stmt::EmitRaw(_) | Stmt::Continue(_) | Stmt::Break(_) => {}
            Stmt::ForLoop(node) => {
                self.assign(&node.target);
                self.expression(&node.iter);
                self.optional(node.filter_expr.as_ref());
                self.body(&node.body);
                self.body(&node.else_body);
            }
            Stmt::IfCond(node) => {
                self.expression(&node.expr);
                self.body(&node.true_body);
                self.body(&node.false_body);
            }
            Stmt::WithBlock(node) => {
                for (target, value) in &node.assignments {
                    self.assign(target);
                    self.expression(value);
                }
                self.body(&node.body);
            }
            Stmt::Set(node) => {
                self.assign(&node.target);
                self.expression(&node.expr);
            }
            Stmt::SetBlock(node) => {
                self.assign(&node.target);
                self.optional(node.filter.as_ref());
                self.body(&node.body);
            }
            Stmt::AutoEscape(node) => {
                self.outline.autoescapes.push(place(node));
                self.expression(&node.enabled);
                self.body(&node.body);
            }
            Stmt::FilterBlock(node) => {
                self.expression(&node.filter);
                self.body(&node.body);
            }
            Stmt::Macro(node) => self.macro_declaration(node),
            Stmt::CallBlock(node) => {
                self.call(&node.call);
                self.macro_declaration(&node.macro_decl);
            }
            Stmt::Do(node) => self.call(&node.call),
            Stmt::Block(_)
            | Stmt::Extends(_)
            | Stmt::Include(_)
            | Stmt::Import(_)
            | Stmt::FromImport(_) => {
                self.composition(statement);
            }
        }
    }

    /// The statements that tie templates together.
    fn composition(&mut self, statement: &Stmt<'_>) {
        match statement {
            Stmt::Block(node) => {
                let at = self.named_after(place(node), node.name);
                self.outline.blocks.push(BlockOutline {
                    at,
                    is_nested: !self.open_blocks.is_empty(),
                    is_required: node.required,
                    supers: Vec::new(),
                });
                self.open_blocks.push(self.outline.blocks.len() - 1);
                self.body(&node.body);
                self.open_blocks.pop();
            }
            Stmt::Extends(node) => {
                self.template(&node.name, Requirement::Required);
                let is_only = self.depth == 1 && self.outline.parent == Parent::None;
                self.outline.parent = match constant_text(&node.name) {
                    Some(name) if is_only => {
                        let offset = node.name.span().start_offset as usize;
                        Parent::One(Named { name, offset })
                    }
                    _ => Parent::Open,
                };
            }
            Stmt::Include(node) => {
                let need =
                    if node.ignore_missing { Requirement::Optional } else { Requirement::Required };
                self.template(&node.name, need);
            }
            Stmt::Import(node) => {
                self.template(&node.expr, Requirement::Required);
                self.assign(&node.name);
            }
            Stmt::FromImport(node) => {
                self.template(&node.expr, Requirement::Required);
                for (name, alias) in &node.names {
                    self.assign(alias.as_ref().unwrap_or(name));
                }
            }
            _ => {}
        }
    }

    fn template(&mut self, expression: &Expr<'_>, need: Requirement) {
        let offset = expression.span().start_offset as usize;
        if let Some(name) = constant_text(expression) {
            return self.outline.references.push((Named { name, offset }, need));
        }
        let list = expression.as_const().filter(|value| value.as_str().is_none());
        let names: Option<Vec<String>> = list.and_then(|list| {
            let names = list.try_iter().ok()?;
            names.map(|name| name.as_str().map(str::to_owned)).collect()
        });
        let Some(names) = names else {
            self.outline.has_open_references = true;
            return self.expression(expression);
        };
        let references =
            names.into_iter().map(|name| (Named { name, offset }, Requirement::Optional));
        self.outline.references.extend(references);
    }

    fn macro_declaration(&mut self, node: &Macro<'_>) {
        self.outline.assigned.insert(node.name.to_owned());
        for argument in &node.args {
            self.assign(argument);
        }
        for value in &node.defaults {
            self.expression(value);
        }
        self.body(&node.body);
    }

    fn assign(&mut self, target: &Expr<'_>) {
        match target {
            Expr::Var(node) => {
                self.outline.assigned.insert(node.id.to_owned());
            }
            Expr::List(node) => node.items.iter().for_each(|item| self.assign(item)),
            Expr::Tuple(node) => node.items.iter().for_each(|item| self.assign(item)),
            // `set ns.name = ...`: the namespace is read.
            other => self.expression(other),
        }
    }

    fn optional(&mut self, expression: Option<&Expr<'_>>) {
        if let Some(expression) = expression {
            self.expression(expression);
        }
    }

    fn expression(&mut self, expression: &Expr<'_>) {
        match expression {
            Expr::Var(node) => {
                self.outline.used.insert(node.id.to_owned());
                let name = node.id.to_owned();
                self.outline.names.push(Named { name, offset: place(node) });
            }
            Expr::Const(_) => {}
            Expr::Slice(node) => {
                self.expression(&node.expr);
                for part in [&node.start, &node.stop, &node.step] {
                    self.optional(part.as_ref());
                }
            }
            Expr::UnaryOp(node) => self.expression(&node.expr),
            Expr::BinOp(node) => {
                self.expression(&node.left);
                self.expression(&node.right);
            }
            Expr::Compare(node) => {
                self.expression(&node.expr);
                node.ops.iter().for_each(|operand| self.expression(&operand.expr));
            }
            Expr::IfExpr(node) => {
                self.expression(&node.test_expr);
                self.expression(&node.true_expr);
                self.optional(node.false_expr.as_ref());
            }
            Expr::Filter(_) | Expr::Test(_) => self.applied(expression),
            Expr::GetAttr(node) => self.expression(&node.expr),
            Expr::GetItem(node) => {
                self.expression(&node.expr);
                self.expression(&node.subscript_expr);
            }
            Expr::Call(node) => self.call(node),
            Expr::List(node) => node.items.iter().for_each(|item| self.expression(item)),
            Expr::Tuple(node) => node.items.iter().for_each(|item| self.expression(item)),
            Expr::Map(node) => {
                node.keys.iter().for_each(|key| self.expression(key));
                node.values.iter().for_each(|value| self.expression(value));
            }
        }
    }

    /// Filters and tests. What is asked whether it is defined, or gets a default, may be undefined.
    fn applied(&mut self, expression: &Expr<'_>) {
        match expression {
            Expr::Filter(node) => {
                let after = node
                    .expr
                    .as_ref()
                    .map_or(place(node), |inner| inner.span().end_offset as usize);
                let named = self.named_after(after, node.name);
                self.outline.filters.push(named);
                match &node.expr {
                    Some(Expr::Var(inner)) if matches!(node.name, "default" | "d") => {
                        self.outline.used.insert(inner.id.to_owned());
                    }
                    inner => self.optional(inner.as_ref()),
                }
                self.arguments(&node.args);
            }
            Expr::Test(node) => {
                let named = self.named_after(node.expr.span().end_offset as usize, node.name);
                self.outline.tests.push(named);
                match &node.expr {
                    Expr::Var(inner) if matches!(node.name, "defined" | "undefined") => {
                        self.outline.used.insert(inner.id.to_owned());
                    }
                    inner => self.expression(inner),
                }
                self.arguments(&node.args);
            }
            _ => {}
        }
    }

    fn call(&mut self, node: &Spanned<Call<'_>>) {
        match node.identify_call() {
            CallType::Function("super") => {
                if let Some(&open) = self.open_blocks.last() {
                    self.outline.blocks[open].supers.push(place(node));
                }
            }
            CallType::Block(name) => {
                let named = self.named_after(place(node), name);
                self.outline.block_calls.push(named);
            }
            CallType::Function(_) | CallType::Method(..) | CallType::Object(_) => {
                self.expression(&node.expr);
            }
        }
        self.arguments(&node.args);
    }

    fn arguments(&mut self, arguments: &[CallArg<'_>]) {
        for argument in arguments {
            match argument {
                CallArg::Pos(value)
                | CallArg::Kwarg(_, value)
                | CallArg::PosSplat(value)
                | CallArg::KwargSplat(value) => self.expression(value),
            }
        }
    }

    /// A name whose node begins before it: where the name itself stands.
    fn named_after(&self, offset: usize, name: &str) -> Named {
        let rest = self.text.get(offset..).unwrap_or_default();
        Named { name: name.to_owned(), offset: offset + rest.find(name).unwrap_or(0) }
    }
}

fn constant_text(expression: &Expr<'_>) -> Option<String> {
    let value: Value = expression.as_const()?;
    value.as_str().map(str::to_owned)
}
