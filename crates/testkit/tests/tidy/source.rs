//! Rust files taken apart: functions with their lengths, paths that are named, and which items are
//! tests.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// A function with a body.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The line of `fn`, counted from 1.
    pub(crate) line: usize,
    /// From `fn` to the closing brace, both counted.
    pub(crate) lines: usize,
}

/// A path that is named, by `use` or in place, as its segments joined by `::`.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) path: String,
    pub(crate) line: usize,
}

/// Whether a file as a whole is a test, a fuzz target, an example or a benchmark: the rules for the
/// product do not hold there.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.starts_with("fuzz/")
        || path.contains("/tests/")
        || path.contains("/examples/")
        || path.contains("/benches/")
        || path.ends_with("/tests.rs")
}

/// Which functions are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of them.
    Everything,
    /// Those outside `#[cfg(test)]`.
    Product,
}

/// The functions with a body.
pub(crate) fn functions(file: &syn::File, scope: Scope) -> Vec<Function> {
    let mut visitor = Functions { scope, found: Vec::new() };
    visitor.visit_file(file);
    visitor.found
}

/// The functions that take a `bool`, with their lines: not those of tests, nor of a trait, whose
/// signature is given.
pub(crate) fn flags(file: &syn::File) -> Vec<(String, usize)> {
    let mut visitor = Flags::default();
    visitor.visit_file(file);
    visitor.found
}

/// All paths named outside `#[cfg(test)]`.
pub(crate) fn named_paths(file: &syn::File) -> Vec<Named> {
    let mut visitor = Paths::default();
    visitor.visit_file(file);
    visitor.found
}

/// The identifiers of Rust source with their lines, also inside macros; none if it is not valid
/// Rust.
pub(crate) fn identifiers(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    if let Ok(stream) = text.parse::<TokenStream>() {
        collect_identifiers(stream, &mut found);
    }
    found
}

/// Whether an attribute says `#[cfg(test)]`.
pub(crate) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list();
        attribute.path().is_ident("cfg") && list.is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

fn collect_identifiers(stream: TokenStream, found: &mut Vec<(String, usize)>) {
    for token in stream {
        match token {
            TokenTree::Ident(name) => found.push((name.to_string(), name.span().start().line)),
            TokenTree::Group(group) => collect_identifiers(group.stream(), found),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

struct Functions {
    scope: Scope,
    found: Vec<Function>,
}

impl Functions {
    fn push(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let line = signature.fn_token.span.start().line;
        let end = body.brace_token.span.close().end().line;
        self.found.push(Function {
            name: signature.ident.to_string(),
            line,
            lines: end - line + 1,
        });
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if self.scope == Scope::Everything || !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.push(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.push(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.push(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[derive(Default)]
struct Paths {
    found: Vec<Named>,
}

impl Paths {
    fn push_use(&mut self, prefix: &[String], tree: &syn::UseTree) {
        let named = |name: &syn::Ident| Named {
            path: if name == "self" { prefix.join("::") } else { join(prefix, name) },
            line: name.span().start().line,
        };
        match tree {
            syn::UseTree::Path(path) => {
                let mut longer = prefix.to_vec();
                longer.push(path.ident.to_string());
                self.push_use(&longer, &path.tree);
            }
            syn::UseTree::Name(name) => self.found.push(named(&name.ident)),
            syn::UseTree::Rename(rename) => self.found.push(named(&rename.ident)),
            syn::UseTree::Glob(glob) => {
                let line = glob.star_token.spans[0].start().line;
                self.found.push(Named { path: format!("{}::*", prefix.join("::")), line });
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.push_use(prefix, tree));
            }
        }
    }
}

fn join(prefix: &[String], name: &syn::Ident) -> String {
    let mut segments = prefix.to_vec();
    segments.push(name.to_string());
    segments.join("::")
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_for_tests(&item.attrs) {
            self.push_use(&[], &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<_> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let line = path.segments.first().map_or(0, |segment| segment.ident.span().start().line);
        self.found.push(Named { path: segments.join("::"), line });
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let line = call.method.span().start().line;
        self.found.push(Named { path: format!(".{}", call.method), line });
        visit::visit_expr_method_call(self, call);
    }
}

#[derive(Default)]
struct Flags {
    found: Vec<(String, usize)>,
}

impl Flags {
    fn push(&mut self, signature: &syn::Signature) {
        let is_bool = |argument: &syn::FnArg| match argument {
            syn::FnArg::Typed(typed) => {
                matches!(&*typed.ty, syn::Type::Path(path) if path.path.is_ident("bool"))
            }
            syn::FnArg::Receiver(_) => false,
        };
        if signature.inputs.iter().any(is_bool) {
            let line = signature.fn_token.span.start().line;
            self.found.push((signature.ident.to_string(), line));
        }
    }
}

impl<'ast> Visit<'ast> for Flags {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if item.trait_.is_none() {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.push(&item.sig);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.push(&item.sig);
        visit::visit_impl_item_fn(self, item);
    }
}
