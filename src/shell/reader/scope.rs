//! What the shell knows while it reads: variables, functions, parameters, directory.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::super::command::{Directory, Input};
use super::super::word::{Piece, Word};

/// State of one shell. Cloning is cheap; a clone is what a subshell sees.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    variables: Rc<BTreeMap<String, Variable>>,
    functions: Rc<BTreeMap<String, Vec<Rc<Function>>>>,
    exported_functions: Rc<BTreeSet<String>>,
    aliases: Rc<BTreeMap<String, Word>>,
    /// Standard input as `exec <…` has set it.
    pub(super) input: Option<Input>,
    /// `$0`, if known.
    pub(super) name: Option<Word>,
    /// `$1`, `$2`, …; `None` while they are not known.
    pub(super) parameters: Option<Rc<Vec<Word>>>,
    /// Where commands run.
    pub(super) directory: Directory,
    /// What `cd -` goes to.
    pub(super) previous: Directory,
    /// The stack of `pushd`.
    pub(super) stack: Vec<Directory>,
    /// Whether the shell has ended (`exit`).
    pub(super) has_ended: bool,
    /// Whether this is the state of a subshell or of another process.
    pub(super) is_inner: bool,
}

/// A variable that the line has touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) value: Value,
    pub(super) is_exported: bool,
}

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Unset,
    Text(Word),
    List(Vec<Word>),
    Unknown,
}

impl Value {
    /// The element at `index` of a list whose words may become several: a file name pattern stands for one of its
    /// names where no word before it can move them (and where patterns cannot vanish: see `nullglob`).
    pub(super) fn element(words: &[Word], index: usize, patterns_vanish: bool) -> Self {
        if is_moved(words, index) {
            return Self::Unknown;
        }
        match words.get(index) {
            None => Self::Unset,
            Some(word) if word.may_split() && (patterns_vanish || word.splits_by_value()) => Self::Unknown,
            Some(word) => Self::Text(word.clone()),
        }
    }
}

/// Whether words before `index` may become several, so that something else may stand there.
pub(super) fn is_moved(words: &[Word], index: usize) -> bool {
    words.iter().take(index).any(Word::may_split)
}

/// The text of a function's body, read again at each call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) text: String,
    pub(super) base: Option<usize>,
    pub(super) holes: Rc<Vec<Piece>>,
}

impl Scope {
    pub(super) fn new() -> Self {
        Self {
            variables: Rc::default(),
            functions: Rc::default(),
            exported_functions: Rc::default(),
            aliases: Rc::default(),
            input: None,
            name: None,
            parameters: None,
            directory: Directory::Known(".".to_owned()),
            previous: Directory::Unknown,
            stack: Vec::new(),
            has_ended: false,
            is_inner: false,
        }
    }

    /// The state at a time that is not known: whatever the line has touched may hold anything.
    pub(super) fn forgotten(&self) -> Self {
        let mut state = self.clone();
        for variable in Rc::make_mut(&mut state.variables).values_mut() {
            variable.value = Value::Unknown;
        }
        state.parameters = None;
        state.directory = Directory::Unknown;
        state.previous = Directory::Unknown;
        state
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.get(name)
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
        let variables = Rc::make_mut(&mut self.variables);
        match variables.get_mut(name) {
            Some(variable) => variable.value = value,
            None => {
                let is_exported = is_environment(name);
                variables.insert(name.to_owned(), Variable { value, is_exported });
            }
        }
    }

    /// Puts a variable back as it was before a `local`.
    pub(super) fn restore(&mut self, name: &str, variable: Option<Variable>) {
        let variables = Rc::make_mut(&mut self.variables);
        match variable {
            Some(variable) => variables.insert(name.to_owned(), variable),
            None => variables.remove(name),
        };
    }

    pub(super) fn export(&mut self, name: &str) {
        if let Some(variable) = Rc::make_mut(&mut self.variables).get_mut(name) {
            variable.is_exported = true;
        }
    }

    pub(super) fn export_function(&mut self, name: &str) {
        Rc::make_mut(&mut self.exported_functions).insert(name.to_owned());
    }

    /// How many variables there are, for the budget of copies.
    pub(super) fn size(&self) -> usize {
        self.variables.len()
    }

    pub(super) fn define(&mut self, name: &str, function: Function) {
        Rc::make_mut(&mut self.functions).insert(name.to_owned(), vec![Rc::new(function)]);
    }

    pub(super) fn undefine(&mut self, name: &str) {
        if self.functions.contains_key(name) {
            Rc::make_mut(&mut self.functions).remove(name);
        }
    }

    pub(super) fn functions(&self, name: &str) -> Option<Vec<Rc<Function>>> {
        self.functions.get(name).cloned()
    }

    pub(super) fn alias(&mut self, name: &str, text: Word) {
        Rc::make_mut(&mut self.aliases).insert(name.to_owned(), text);
    }

    pub(super) fn alias_of(&self, name: &str) -> Option<&Word> {
        self.aliases.get(name)
    }

    pub(super) fn forget_alias(&mut self, name: &str) {
        Rc::make_mut(&mut self.aliases).remove(name);
    }

    /// What a program that is started sees of this shell: exported variables and nothing else.
    pub(super) fn process(&self) -> Self {
        let mut process = self.clone();
        if process.variables.values().any(|variable| !variable.is_exported) {
            Rc::make_mut(&mut process.variables).retain(|_, variable| variable.is_exported);
        }
        if !process.functions.is_empty() {
            let exported = Rc::clone(&process.exported_functions);
            Rc::make_mut(&mut process.functions).retain(|name, _| exported.contains(name));
        }
        process.aliases = Rc::default();
        process.parameters = Some(Rc::default());
        process.stack.clear();
        process.has_ended = false;
        process.is_inner = true;
        process
    }

    /// Goes on after a choice that is not known: what differs between the two ways becomes unknown.
    pub(super) fn join(&mut self, other: &Self) {
        if other.has_ended && !self.has_ended {
            return;
        }
        if self.has_ended && !other.has_ended {
            self.clone_from(other);
            return;
        }
        if !Rc::ptr_eq(&self.variables, &other.variables) && self.variables != other.variables {
            let mut joined = (*self.variables).clone();
            for (name, variable) in other.variables.iter() {
                match joined.get_mut(name) {
                    Some(own) if own.value == variable.value => own.is_exported |= variable.is_exported,
                    Some(own) => own.value = Value::Unknown,
                    None => {
                        joined.insert(name.clone(), Variable { value: Value::Unknown, ..*variable });
                    }
                }
            }
            for (name, variable) in &mut joined {
                if !other.variables.contains_key(name) {
                    variable.value = Value::Unknown;
                }
            }
            self.variables = Rc::new(joined);
        }
        if !Rc::ptr_eq(&self.functions, &other.functions) {
            let functions = Rc::make_mut(&mut self.functions);
            for (name, bodies) in other.functions.iter() {
                let own = functions.entry(name.clone()).or_default();
                for body in bodies {
                    if !own.contains(body) {
                        own.push(Rc::clone(body));
                    }
                }
            }
        }
        if !Rc::ptr_eq(&self.aliases, &other.aliases) {
            let aliases = Rc::make_mut(&mut self.aliases);
            for (name, text) in other.aliases.iter() {
                aliases.entry(name.clone()).or_insert_with(|| text.clone());
            }
        }
        if self.input != other.input {
            self.input = Some(Input::Pipe);
        }
        if !Rc::ptr_eq(&self.exported_functions, &other.exported_functions) {
            Rc::make_mut(&mut self.exported_functions).extend(other.exported_functions.iter().cloned());
        }
        if self.parameters != other.parameters {
            self.parameters = None;
        }
        if self.directory != other.directory {
            self.directory = Directory::Unknown;
        }
        if self.previous != other.previous {
            self.previous = Directory::Unknown;
        }
        if self.stack != other.stack {
            self.stack.clear();
        }
    }

    /// Whether nothing of consequence differs.
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.directory == other.directory
            && self.has_ended == other.has_ended
            && self.parameters == other.parameters
            && (Rc::ptr_eq(&self.variables, &other.variables) || self.variables == other.variables)
            && (Rc::ptr_eq(&self.functions, &other.functions) || self.functions == other.functions)
    }

    /// Changes the directory, as `cd` does.
    pub(super) fn change_directory(&mut self, to: Directory) {
        self.previous = std::mem::replace(&mut self.directory, to);
    }
}

/// Variables that every environment has, so that a new value reaches programs without `export`.
fn is_environment(name: &str) -> bool {
    matches!(
        name,
        "HOME" | "PATH" | "PWD" | "OLDPWD" | "USER" | "LOGNAME" | "SHELL" | "TMPDIR" | "TERM" | "LANG"
    )
}

/// `path` seen from `directory`; lexical, as `cd -L` has it.
pub(super) fn join_path(directory: &Directory, path: &str) -> Directory {
    if path.starts_with('/') {
        return Directory::Known(normal(path));
    }
    match directory {
        Directory::Unknown => Directory::Unknown,
        Directory::Known(base) => Directory::Known(normal(&format!("{base}/{path}"))),
    }
}

/// The path without `.`, doubled slashes and `x/..`.
fn normal(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&"..") => parts.push(".."),
                Some(_) => {
                    parts.pop();
                }
                None if is_absolute => {}
                None => parts.push(".."),
            },
            part => parts.push(part),
        }
    }
    match (is_absolute, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Directory, join_path};

    #[test]
    fn paths_join_lexically() {
        let known = |text: &str| Directory::Known(text.to_owned());
        assert_eq!(join_path(&known("."), "a/../b"), known("b"));
        assert_eq!(join_path(&known("a"), ".."), known("."));
        assert_eq!(join_path(&known("."), "../.."), known("../.."));
        assert_eq!(join_path(&Directory::Unknown, "/x/./y//"), known("/x/y"));
        assert_eq!(join_path(&Directory::Unknown, "x"), Directory::Unknown);
    }
}
