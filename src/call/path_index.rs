//! Which path globs can fit a path at all, found without trying each.
//!
//! A choice of a glob is filed under one certain name that every path which fits it has as a component. A touch that
//! goes down a folder also fits globs that begin beneath that folder; those are filed under each name that such a
//! folder can have. The index may hand out too many globs and never too few.

use std::collections::HashMap;

use super::path::{PathTarget, below};
use super::path_glob::{PathGlob, goes_down};
use super::targets::Context;

/// Deepest folder, in components, that may be above a home directory by custom.
const HOME_DEPTH: usize = 2;

/// Globs, each with the number of what it belongs to.
#[derive(Debug, Default)]
pub struct PathIndex {
    /// By a component that a path needs.
    names: HashMap<String, Vec<usize>>,
    /// By the last component of a folder that lies above what a glob names.
    folders: HashMap<String, Vec<usize>>,
    /// Without a certain name.
    others: Vec<usize>,
    all: Vec<usize>,
}

impl PathIndex {
    /// Files globs under the names that are rarest among them. Numbers may repeat and come in ascending order.
    pub fn of<'a>(globs: impl Iterator<Item = (usize, &'a PathGlob)> + Clone) -> Self {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for name in
            globs.clone().filter_map(|(_, glob)| glob.names()).flatten().flat_map(|names| names.needed)
        {
            *counts.entry(name).or_default() += 1;
        }
        let mut index = Self::default();
        for (number, glob) in globs {
            push(&mut index.all, number);
            let Some(choices) = glob.names() else {
                push(&mut index.others, number);
                continue;
            };
            for choice in choices {
                match choice.needed.iter().min_by_key(|name| counts.get(*name)) {
                    Some(name) => push(index.names.entry((*name).to_owned()).or_default(), number),
                    None => push(&mut index.others, number),
                }
                for name in choice.folders {
                    push(index.folders.entry(name.to_owned()).or_default(), number);
                }
            }
        }
        index
    }

    /// Adds the numbers of all globs that may fit `target`, in no order, some of them twice.
    pub fn candidates(&self, target: &PathTarget, context: &Context, into: &mut Vec<usize>) {
        let down = goes_down(target.access, target.recursive);
        for form in target.forms() {
            match form.value() {
                Some(path) if !(down && is_above_much(path, context)) => {
                    self.of_known(path, down, into);
                }
                _ => {
                    into.extend(&self.all);
                    return;
                }
            }
        }
    }

    fn of_known(&self, path: &str, down: bool, into: &mut Vec<usize>) {
        into.extend(&self.others);
        let mut names = path.split('/').filter(|name| !name.is_empty());
        for name in names.clone() {
            into.extend(self.names.get(name).into_iter().flatten());
        }
        if down && let Some(last) = names.next_back() {
            into.extend(self.folders.get(last).into_iter().flatten());
        }
    }
}

/// Whether going down `path` reaches the places that globs are measured from.
fn is_above_much(path: &str, context: &Context) -> bool {
    let reaches = |place: &std::path::Path| below(&place.to_string_lossy(), path).is_some();
    path.split('/').filter(|name| !name.is_empty()).count() <= HOME_DEPTH
        || reaches(&context.root)
        || context.home.as_deref().is_some_and(reaches)
}

/// Adds a number to an ascending list, once.
fn push(list: &mut Vec<usize>, number: usize) {
    if list.last() != Some(&number) {
        list.push(number);
    }
}
