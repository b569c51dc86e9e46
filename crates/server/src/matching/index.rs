//! Finds the routes that can match a path without trying all of them.
//!
//! Patterns form a tree of segments: each node has a hash of literals and a short list of types.
//! Each node knows the smallest number of a route at or below it, so a search that has found a
//! route visits only nodes with an earlier one. A regular expression belongs to the node of the
//! literal segments that it begins with; if a node has many, one set of expressions is matched in
//! one pass.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use regex::bytes::{RegexSet, RegexSetBuilder};

use super::kind::Kind;
use super::path_regex::PathRegex;
use super::pattern::{Pattern, Segment, Tail, segment_at};
use super::routes::{PathRule, Route, SlashForm, TrailingSlash};

/// From how many expressions at one node on a set is faster than one after the other.
const REGEX_SET_MIN: usize = 4;

/// The most expressions of one set. A set of thousands would have more states than it can keep, and
/// would rebuild them for each path: a thousand times slower than some sets one after the other.
const REGEX_SET_MAX: usize = 64;

/// Memory for one compiled set, in bytes. A larger one is not made: its expressions are tried one
/// after the other.
const REGEX_SET_BYTES_MAX: usize = 8 << 20;

/// Memory for the states that a set finds while it runs, in bytes, for each thread that is at it.
const REGEX_STATES_BYTES_MAX: usize = 512 << 10;

type Table<V> = HashMap<Box<[u8]>, V, RandomState>;

/// A route whose path matches, with its trailing-slash form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) route: usize,
    pub(super) form: SlashForm,
}

/// The tree. Node 0 is its root.
#[derive(Debug, Clone)]
pub(super) struct Index {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone)]
struct Node {
    /// The first route here or below.
    least: usize,
    literals: Table<usize>,
    kinds: Vec<(Kind, usize)>,
    /// Routes that end here.
    ends: Vec<Candidate>,
    /// Routes that take whatever follows.
    open: Vec<Candidate>,
    rare: Option<Box<Rare>>,
}

/// Data that few nodes have.
#[derive(Debug, Clone, Default)]
struct Rare {
    /// Routes that take what follows, if it begins so: `/~*`.
    heads: Table<Vec<Candidate>>,
    /// The lengths of those beginnings.
    head_lengths: Vec<usize>,
    /// Numbers of routes, in order.
    regexes: Vec<usize>,
    /// Sets of them, in order; each of [`REGEX_SET_MAX`] but the last. None where they are few.
    regex_sets: Vec<Option<RegexSet>>,
}

impl Index {
    /// Builds the index of routes.
    pub(super) fn new(routes: &[Route]) -> Self {
        let mut index = Self { nodes: vec![Node::new(0)] };
        for (number, route) in routes.iter().enumerate() {
            let candidate = Candidate { route: number, form: SlashForm::AsIs };
            match &route.path {
                PathRule::Any => index.nodes[0].open.push(candidate),
                PathRule::Pattern(pattern) => {
                    index.insert(pattern, candidate);
                    if route.slash == TrailingSlash::Redirect {
                        index.insert_other_form(pattern, number);
                    }
                }
                PathRule::Regex(regex) => {
                    let node = index.node_of_head(regex.head(), number);
                    index.nodes[node].rare().regexes.push(number);
                }
            }
        }
        index.make_sets(routes);
        index.shrink();
        index
    }

    /// The first route that can answer for a path and that `fits`, which is asked in no particular
    /// order.
    pub(super) fn first(
        &self,
        routes: &[Route],
        path: &[u8],
        fits: impl FnMut(usize) -> bool,
    ) -> Option<Candidate> {
        if path.first() != Some(&b'/') {
            return None; // `*` of OPTIONS is not a path
        }
        let mut search = Search { nodes: &self.nodes, routes, path, fits, best: None };
        search.visit(0, 0);
        search.best
    }

    fn insert(&mut self, pattern: &Pattern, candidate: Candidate) {
        let node = self.node_of(pattern.segments(), candidate.route);
        let node = &mut self.nodes[node];
        match pattern.tail() {
            Tail::End => node.ends.push(candidate),
            Tail::Open(head) if head.is_empty() => node.open.push(candidate),
            Tail::Open(head) => node.rare().insert_head(head, candidate),
        }
    }

    /// `/a/` for `/a`; `/a` for `/a/` and `/a/*`. The root has one form.
    fn insert_other_form(&mut self, pattern: &Pattern, route: usize) {
        let (segments, form) = match (pattern.tail(), pattern.segments()) {
            (Tail::End, [parents @ .., Segment::Literal(last)]) if last.is_empty() => {
                (parents.to_vec(), SlashForm::Add)
            }
            (Tail::End, segments) => {
                let slash = Segment::Literal(Box::default());
                ([segments, &[slash]].concat(), SlashForm::Remove)
            }
            (Tail::Open(head), segments) if head.is_empty() => (segments.to_vec(), SlashForm::Add),
            (Tail::Open(_), _) => return,
        };
        if !segments.is_empty() {
            let node = self.node_of(&segments, route);
            self.nodes[node].ends.push(Candidate { route, form });
        }
    }

    fn node_of(&mut self, segments: &[Segment], route: usize) -> usize {
        let mut node = 0;
        self.nodes[0].least = self.nodes[0].least.min(route);
        for segment in segments {
            node = match segment {
                Segment::Literal(literal) => self.literal_child(node, literal, route),
                Segment::Variable(kind) => self.kind_child(node, *kind, route),
            };
        }
        node
    }

    /// The node of the whole literal segments that a path begins with.
    fn node_of_head(&mut self, head: &[u8], route: usize) -> usize {
        let whole = memchr::memrchr(b'/', head).unwrap_or(0);
        let segments = head[..whole].split(|&byte| byte == b'/').skip(1);
        segments.fold(0, |node, literal| self.literal_child(node, literal, route))
    }

    fn literal_child(&mut self, node: usize, literal: &[u8], route: usize) -> usize {
        if let Some(&child) = self.nodes[node].literals.get(literal) {
            return child; // an earlier route made it, so its least is smaller
        }
        let child = self.nodes.len();
        self.nodes.push(Node::new(route));
        self.nodes[node].literals.insert(Box::from(literal), child);
        child
    }

    fn kind_child(&mut self, node: usize, kind: Kind, route: usize) -> usize {
        let known = self.nodes[node].kinds.iter().find(|(known, _)| *known == kind);
        if let Some(&(_, child)) = known {
            return child;
        }
        let child = self.nodes.len();
        self.nodes.push(Node::new(route));
        self.nodes[node].kinds.push((kind, child));
        child
    }

    /// Releases unused capacity: nothing is added any more.
    fn shrink(&mut self) {
        self.nodes.shrink_to_fit();
        for node in &mut self.nodes {
            node.literals.shrink_to_fit();
            node.kinds.shrink_to_fit();
            node.ends.shrink_to_fit();
            node.open.shrink_to_fit();
        }
    }

    fn make_sets(&mut self, routes: &[Route]) {
        let rare = self.nodes.iter_mut().filter_map(|node| node.rare.as_mut());
        for rare in rare.filter(|rare| rare.regexes.len() >= REGEX_SET_MIN) {
            let sets = rare.regexes.chunks(REGEX_SET_MAX);
            rare.regex_sets = sets.map(|numbers| regex_set(routes, numbers)).collect();
        }
    }
}

fn regex_set(routes: &[Route], numbers: &[usize]) -> Option<RegexSet> {
    let regexes = numbers.iter().filter_map(|&number| regex_of(routes, number));
    RegexSetBuilder::new(regexes.map(PathRegex::as_str))
        .unicode(false)
        .size_limit(REGEX_SET_BYTES_MAX)
        .dfa_size_limit(REGEX_STATES_BYTES_MAX)
        .build()
        .ok()
}

fn regex_of(routes: &[Route], number: usize) -> Option<&PathRegex> {
    match &routes.get(number)?.path {
        PathRule::Regex(regex) => Some(regex),
        _ => None,
    }
}

impl Node {
    fn new(least: usize) -> Self {
        Self {
            least,
            literals: Table::default(),
            kinds: Vec::new(),
            ends: Vec::new(),
            open: Vec::new(),
            rare: None,
        }
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }
}

impl Rare {
    fn insert_head(&mut self, head: &[u8], candidate: Candidate) {
        self.heads.entry(Box::from(head)).or_default().push(candidate);
        if !self.head_lengths.contains(&head.len()) {
            self.head_lengths.push(head.len());
        }
    }
}

struct Search<'s, F> {
    nodes: &'s [Node],
    routes: &'s [Route],
    path: &'s [u8],
    fits: F,
    best: Option<Candidate>,
}

impl<'s, F: FnMut(usize) -> bool> Search<'s, F> {
    /// Visits a node whose segments are those of the path up to `at`, and its children. As deep as
    /// patterns are long.
    fn visit(&mut self, node: usize, at: usize) {
        let node: &'s Node = &self.nodes[node];
        if node.least >= self.bound() {
            return;
        }
        if let Some(rare) = &node.rare {
            self.try_regexes(rare);
        }
        if at == self.path.len() {
            self.try_candidates(&node.ends);
            return;
        }
        self.try_candidates(&node.open);
        let Some((from, to)) = segment_at(self.path, at) else {
            return;
        };
        if let Some(rare) = &node.rare {
            self.try_heads(rare, from);
        }
        let segment = &self.path[from..to];
        if let Some(&child) = node.literals.get(segment) {
            self.visit(child, to);
        }
        for &(kind, child) in &node.kinds {
            if self.nodes[child].least < self.bound() && kind.takes(segment) {
                self.visit(child, to);
            }
        }
    }

    fn bound(&self) -> usize {
        self.best.map_or(usize::MAX, |best| best.route)
    }

    /// Entries are in the order of their routes.
    fn try_candidates(&mut self, candidates: &[Candidate]) {
        let bound = self.bound();
        for candidate in candidates.iter().take_while(|candidate| candidate.route < bound) {
            if (self.fits)(candidate.route) {
                self.best = Some(*candidate);
                return;
            }
        }
    }

    fn try_heads(&mut self, rare: &Rare, from: usize) {
        for length in &rare.head_lengths {
            let head = self.path.get(from..from + length);
            if let Some(candidates) = head.and_then(|head| rare.heads.get(head)) {
                self.try_candidates(candidates);
            }
        }
    }

    fn try_regexes(&mut self, rare: &Rare) {
        for (number, routes) in rare.regexes.chunks(REGEX_SET_MAX).enumerate() {
            if routes[0] >= self.bound() {
                return;
            }
            let is_found = match rare.regex_sets.get(number) {
                Some(Some(set)) => self.try_set(set, routes),
                _ => self.try_one_by_one(routes),
            };
            if is_found {
                return;
            }
        }
    }

    fn try_set(&mut self, set: &RegexSet, routes: &[usize]) -> bool {
        let matches = set.matches(self.path);
        let mut found = matches.iter().map(|number| routes[number]);
        found.any(|route| route >= self.bound() || self.try_route(route))
    }

    fn try_one_by_one(&mut self, routes: &[usize]) -> bool {
        let (all, path) = (self.routes, self.path);
        let is_match = |route| regex_of(all, route).is_some_and(|regex| regex.is_match(path));
        let mut routes = routes.iter().copied();
        routes.any(|route| route >= self.bound() || (is_match(route) && self.try_route(route)))
    }

    fn try_route(&mut self, route: usize) -> bool {
        let fits = (self.fits)(route);
        if fits {
            let form = SlashForm::AsIs;
            self.best = Some(Candidate { route, form });
        }
        fits
    }
}
