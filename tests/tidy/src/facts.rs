//! What the rules want to know of a Rust file, taken from its syntax tree.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

/// A path as it is written, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// `["crate", "plan", "Step"]`.
    pub path: Vec<String>,
    /// Of the file, from 1.
    pub line: usize,
}

/// A name that `use` brings into a module.
#[derive(Clone, Debug)]
pub struct Import {
    /// The name in this module; none for `*`.
    pub name: Option<String>,
    /// Where it comes from.
    pub from: Mention,
    /// `pub use`: the module passes the name on.
    pub passed_on: bool,
}

/// A module: that of the file, or one inside it. Test code is left out.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Names from the file's own module down to this one.
    pub inside: Vec<String>,
    /// `mod x;` and what `#[path]` says.
    pub files: Vec<(String, Option<String>)>,
    /// Items by name, with the line.
    pub items: BTreeMap<String, usize>,
    /// All `use`, those in functions too.
    pub imports: Vec<Import>,
    /// Paths in code, macros included.
    pub mentions: Vec<Mention>,
}

/// What a file has.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The file's own module first.
    pub modules: Vec<Module>,
    /// Types and traits that are visible outside their module: name, line.
    pub public_types: Vec<(String, usize)>,
    /// Lines with `.unwrap()` outside tests.
    pub unwraps: Vec<usize>,
    /// Macros that are called, tests included: name, line.
    pub macros: Vec<(String, usize)>,
    /// Lines with `#[ignore]` that gives no reason.
    pub ignored: Vec<usize>,
    /// All identifiers, tests included, with their lines.
    pub identifiers: Vec<(String, usize)>,
}

/// Reads a file.
pub fn read(text: &str) -> syn::Result<Facts> {
    let file = syn::parse_file(text)?;
    let mut reader =
        Reader { facts: Facts { modules: vec![Module::default()], ..Facts::default() }, module: 0, test: false };
    reader.test = file.attrs.iter().any(is_test);
    reader.visit_file(&file);
    collect_identifiers(text.parse()?, &mut reader.facts.identifiers);
    Ok(reader.facts)
}

fn line(span: Span) -> usize {
    span.start().line
}

fn collect_identifiers(tokens: TokenStream, found: &mut Vec<(String, usize)>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => found.push((ident.to_string(), line(ident.span()))),
            TokenTree::Group(group) => collect_identifiers(group.stream(), found),
            _ => {}
        }
    }
}

/// `#[test]`, and `#[cfg(…)]` that names `test` and no `not`.
fn is_test(attribute: &Attribute) -> bool {
    let mut words = Vec::new();
    if let Ok(list) = attribute.meta.require_list() {
        collect_identifiers(list.tokens.clone(), &mut words);
    }
    let has = |name: &str| words.iter().any(|(word, _)| word == name);
    attribute.path().is_ident("test") || attribute.path().is_ident("cfg") && has("test") && !has("not")
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

struct Reader {
    facts: Facts,
    module: usize,
    test: bool,
}

impl Reader {
    fn module(&mut self) -> &mut Module {
        &mut self.facts.modules[self.module]
    }

    fn declare(&mut self, ident: &syn::Ident, public: Option<&Visibility>) {
        let (name, line) = (ident.to_string(), line(ident.span()));
        if public.is_some_and(|visibility| !matches!(visibility, Visibility::Inherited)) {
            self.facts.public_types.push((name.clone(), line));
        }
        self.module().items.insert(name, line);
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Const(item) => self.declare(&item.ident, None),
            Item::Static(item) => self.declare(&item.ident, None),
            Item::Fn(item) => self.declare(&item.sig.ident, None),
            Item::Enum(item) => self.declare(&item.ident, Some(&item.vis)),
            Item::Struct(item) => self.declare(&item.ident, Some(&item.vis)),
            Item::Trait(item) => self.declare(&item.ident, Some(&item.vis)),
            Item::Type(item) => self.declare(&item.ident, Some(&item.vis)),
            Item::Union(item) => self.declare(&item.ident, Some(&item.vis)),
            Item::Macro(item) => item.ident.iter().for_each(|ident| self.declare(ident, None)),
            Item::Use(item) => {
                let passed_on = !matches!(item.vis, Visibility::Inherited);
                self.import(&item.tree, &mut Vec::new(), passed_on);
            }
            _ => {}
        }
    }

    fn import(&mut self, tree: &UseTree, before: &mut Vec<String>, passed_on: bool) {
        let (name, last, span) = match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before, passed_on);
                before.pop();
                return;
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(tree, before, passed_on));
                return;
            }
            UseTree::Name(name) => (Some(name.ident.to_string()), Some(name.ident.to_string()), name.ident.span()),
            UseTree::Rename(name) => (Some(name.rename.to_string()), Some(name.ident.to_string()), name.ident.span()),
            UseTree::Glob(glob) => (None, None, glob.star_token.spans[0]),
        };
        let mut path = before.clone();
        // `a::{self}` is `a`.
        path.extend(last.filter(|last| last != "self" || before.is_empty()));
        let name = if name.as_deref() == Some("self") { path.last().cloned() } else { name };
        self.module().imports.push(Import { name, from: Mention { path, line: line(span) }, passed_on });
    }

    /// Tokens of a macro: paths, `.unwrap()`, macros within.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let is = |token: Option<&TokenTree>, wanted: char| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted);
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(ident) => {
                    let mut path = vec![ident.to_string()];
                    let start = at;
                    while is(tokens.get(at + 1), ':') && is(tokens.get(at + 2), ':') {
                        let Some(TokenTree::Ident(next)) = tokens.get(at + 3) else { break };
                        path.push(next.to_string());
                        at += 3;
                    }
                    let called = matches!(tokens.get(at + 1), Some(TokenTree::Group(group))
                        if group.delimiter() == Delimiter::Parenthesis && group.stream().is_empty());
                    let after_dot = start > 0 && is(tokens.get(start - 1), '.');
                    let line = line(ident.span());
                    if after_dot {
                        if ident == "unwrap" && called && !self.test {
                            self.facts.unwraps.push(line);
                        }
                    } else {
                        if path.len() == 1 && is(tokens.get(at + 1), '!') {
                            self.facts.macros.push((path[0].clone(), line));
                        }
                        self.mention(path, line);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn mention(&mut self, path: Vec<String>, line: usize) {
        if !self.test {
            self.module().mentions.push(Mention { path, line });
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let outside = self.test;
        self.test |= attributes(item).iter().any(is_test);
        if !self.test {
            self.item(item);
        }
        visit::visit_item(self, item);
        self.test = outside;
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let name = item.ident.to_string();
        if self.test && item.content.is_none() {
            return;
        }
        if item.content.is_none() {
            let path = item.attrs.iter().find(|attribute| attribute.path().is_ident("path"));
            let path = path.and_then(|attribute| match &attribute.meta.require_name_value().ok()?.value {
                syn::Expr::Lit(literal) => match &literal.lit {
                    syn::Lit::Str(text) => Some(text.value()),
                    _ => None,
                },
                _ => None,
            });
            self.module().files.push((name, path));
            return;
        }
        let outside = self.module;
        if !self.test {
            let inside = self.module().inside.iter().cloned().chain([name]).collect();
            self.facts.modules.push(Module { inside, ..Module::default() });
            self.module = self.facts.modules.len() - 1;
        }
        visit::visit_item_mod(self, item);
        self.module = outside;
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        let outside = self.test;
        self.test |= function.attrs.iter().any(is_test);
        visit::visit_impl_item_fn(self, function);
        self.test = outside;
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("ignore") && attribute.meta.require_name_value().is_err() {
            self.facts.ignored.extend(attribute.path().segments.iter().map(|segment| line(segment.ident.span())));
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.mention(names, path.segments.first().map_or(0, |segment| line(segment.ident.span())));
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        if let Some(name) = called.path.segments.last() {
            self.facts.macros.push((name.ident.to_string(), line(name.ident.span())));
        }
        self.tokens(called.tokens.clone());
        visit::visit_macro(self, called);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if !self.test && call.method == "unwrap" && call.args.is_empty() {
            self.facts.unwraps.push(line(call.method.span()));
        }
        visit::visit_expr_method_call(self, call);
    }
}

#[test]
fn imports_are_flattened() {
    let facts = read("use a::{self, b::{C as D, *}};\npub(crate) use super::E;").expect("Rust");
    let imports = facts.modules[0].imports.iter();
    let rows: Vec<_> = imports.map(|row| (row.name.as_deref(), row.from.path.join("::"), row.passed_on)).collect();
    let expected = [
        (Some("a"), "a".to_owned(), false),
        (Some("D"), "a::b::C".to_owned(), false),
        (None, "a::b".to_owned(), false),
        (Some("E"), "super::E".to_owned(), true),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn paths_are_seen_in_macros_and_not_in_tests() {
    let text = "fn f() { assert!(crate::a::b(1)); c::D }\n#[cfg(test)] mod tests { fn g() { crate::hidden::h() } }\n\
                #[cfg(not(test))] fn k() { e::F }";
    let facts = read(text).expect("Rust");
    let mentions = facts.modules.iter().flat_map(|module| &module.mentions);
    let long: Vec<_> = mentions.filter(|row| row.path.len() > 1).map(|row| (row.path.join("::"), row.line)).collect();
    assert_eq!(long, [("crate::a::b".to_owned(), 1), ("c::D".to_owned(), 1), ("e::F".to_owned(), 3)]);
}
