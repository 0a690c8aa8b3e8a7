//! One layer of settings: a file, the environment, or the flags.

use std::collections::BTreeMap;

use super::Origin;
use super::document::{Content, Document, Fault, Node, nearest};
use super::key::{KEYS, Key, Kind, Reach, find};

/// A setting's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// On or off.
    Switch(bool),
    /// A number.
    Count(u64),
    /// Text.
    Text(String),
    /// Texts.
    List(Vec<String>),
    /// Names to words.
    Map(BTreeMap<String, String>),
}

impl Value {
    /// The value as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Switch(on) => (*on).into(),
            Self::Count(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(items) => items.clone().into(),
            Self::Map(map) => serde_json::json!(map),
        }
    }
}

/// What one source says.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Which source it is.
    pub origin: Origin,
    /// File or variable by setting, for messages.
    pub(super) values: BTreeMap<&'static str, (Value, String)>,
    /// The policy section in the seed form: name of its text, and the text with every other line empty.
    pub(super) policy_section: Option<(String, String)>,
    /// What is worth knowing, one line each.
    pub notices: Vec<String>,
}

impl Layer {
    /// A layer that says nothing.
    pub fn empty(origin: Origin) -> Self {
        Self { origin, values: BTreeMap::new(), policy_section: None, notices: Vec::new() }
    }

    /// Sets a value that a flag gives.
    pub fn set(&mut self, name: &'static str, value: Value) {
        self.values.insert(name, (value, name.to_owned()));
    }

    /// Reads a settings file. `origin` says who may write it, and so what it may hold.
    ///
    /// # Errors
    /// All faults.
    pub fn from_file(origin: Origin, file: &str, text: &str) -> Result<Self, Vec<Fault>> {
        let document = Document::parse(file, text).map_err(|fault| vec![*fault])?;
        Self::from_document(origin, &document, &[])
    }

    /// Reads the settings of a document, passing over the top-level keys in `besides`.
    ///
    /// # Errors
    /// All faults.
    pub fn from_document(origin: Origin, document: &Document, besides: &[&str]) -> Result<Self, Vec<Fault>> {
        let mut layer = Self::empty(origin);
        let mut faults = Vec::new();
        let Some(entries) = document.root.entries() else {
            return Err(vec![document.fault(document.root.mark, "must be a map of settings")]);
        };
        for entry in entries {
            if besides.contains(&entry.key.as_str()) {
                continue;
            }
            let name = snake_case(&entry.key);
            if let Some(key) = find(&name) {
                if let Kind::PolicySection = key.kind {
                    let first = entry.mark.line;
                    let next = entries.iter().map(|other| other.mark.line).filter(|line| *line > first).min();
                    layer.policy_section = Some((
                        document.file.clone(),
                        only_lines(&document.text, first, next.unwrap_or(usize::MAX)),
                    ));
                }
                layer.take(document, key, entry.mark, &entry.value, &mut faults);
                continue;
            }
            let prefix = format!("{name}.");
            let known: Vec<&str> =
                KEYS.iter().filter_map(|key| key.name.strip_prefix(prefix.as_str())).collect();
            if known.is_empty() {
                let names = KEYS
                    .iter()
                    .map(|key| key.name.split('.').next().unwrap_or(key.name))
                    .chain(besides.iter().copied());
                faults.push(unknown(
                    document.fault(entry.mark, format!("unknown setting `{}`", entry.key)),
                    &name,
                    names,
                ));
                continue;
            }
            if name == "tests" && entry.value.text().is_some() {
                if let Some(key) = find("tests.command") {
                    layer.take(document, key, entry.mark, &entry.value, &mut faults);
                }
                continue;
            }
            let Some(inner) = entry.value.entries() else {
                faults.push(document.fault(entry.value.mark, format!("`{name}` must be a map")));
                continue;
            };
            for entry in inner {
                let inner_name = snake_case(&entry.key);
                match find(&format!("{prefix}{inner_name}")) {
                    Some(key) => layer.take(document, key, entry.mark, &entry.value, &mut faults),
                    None => {
                        let message = format!("unknown setting `{}` in `{name}`", entry.key);
                        faults.push(unknown(
                            document.fault(entry.mark, message),
                            &inner_name,
                            known.iter().copied(),
                        ));
                    }
                }
            }
        }
        if faults.is_empty() { Ok(layer) } else { Err(faults) }
    }

    /// Reads the variables that the table of settings names.
    ///
    /// # Errors
    /// All variables with values that do not fit.
    pub fn from_environment(environment: &BTreeMap<String, String>) -> Result<Self, Vec<Fault>> {
        let mut layer = Self::empty(Origin::Environment);
        let mut faults = Vec::new();
        for key in KEYS.iter().filter(|key| !key.variable.is_empty()) {
            let names = std::iter::once(key.variable).chain(key.aliases.iter().copied());
            let Some((variable, text)) = names.filter_map(|name| Some((name, environment.get(name)?))).next()
            else {
                continue;
            };
            match (read_text(key, text), key.name) {
                (Ok(Some(value)), _) => {
                    layer.values.insert(key.name, (value, variable.to_owned()));
                }
                (Ok(None), _) => {}
                // The seed asks for a warning here, since an unknown value leaves the stricter default in charge.
                (Err(message), "non_interactive_approval") => {
                    layer.notices.push(format!("{variable}: {message}; ignored"));
                }
                (Err(message), _) => faults.push(Fault::without_place(variable, message)),
            }
        }
        for name in ["GATEWRIGHT_SKIP_PERMISSIONS", "ASSISTANT_DANGEROUSLY_SKIP_PERMISSIONS"] {
            if environment.contains_key(name) {
                layer.notices.push(format!("{name} has no effect: nothing answers an ask with yes"));
            }
        }
        if faults.is_empty() { Ok(layer) } else { Err(faults) }
    }

    fn take(
        &mut self,
        document: &Document,
        key: &'static Key,
        mark: super::Mark,
        node: &Node,
        faults: &mut Vec<Fault>,
    ) {
        let is_foreign = matches!(self.origin, Origin::Repository | Origin::Task);
        let refused = match (key.reach, self.origin) {
            (Reach::Anyone, _) => None,
            (Reach::NotRepository, _) if is_foreign && key.is_secret => {
                Some("a secret must not stand in the repository")
            }
            (Reach::NotRepository, _) if is_foreign => Some("cannot be set from a repository or a task"),
            (Reach::Starter, Origin::User | Origin::Repository | Origin::Task) => {
                Some("is switched on by whoever starts a run, never by a file")
            }
            (Reach::NotRepository | Reach::Starter, _) => None,
        };
        if let Some(why) = refused {
            let hint = match key.variable {
                "" => "set it in the user's settings".to_owned(),
                variable => format!("set {variable} in the environment of the run"),
            };
            faults.push(document.fault(mark, format!("`{}` {why}", key.name)).with_hint(hint));
            return;
        }
        if let Kind::Later(why) = key.kind {
            faults.push(
                document
                    .fault(mark, format!("`{}` has no effect yet: {why}", key.name))
                    .with_hint("take it out, so that nobody relies on it"),
            );
            return;
        }
        match read_node(key, node) {
            Ok(Some(value)) => {
                self.values.insert(key.name, (value, format!("{}:{}", document.file, mark.line)));
            }
            Ok(None) => {}
            Err(message) => faults.push(document.fault(node.mark, format!("`{}` {message}", key.name))),
        }
    }
}

fn read_node(key: &Key, node: &Node) -> Result<Option<Value>, String> {
    if node.is_null() || key.kind == Kind::PolicySection {
        return Ok(None);
    }
    match (key.kind, &node.content) {
        (Kind::Switch, _) => match node.to_json() {
            serde_json::Value::Bool(on) => Ok(Some(Value::Switch(on))),
            _ => Err("must be true or false".to_owned()),
        },
        (Kind::List | Kind::AddingList, Content::List(items)) => items
            .iter()
            .map(|item| item.text().map(str::to_owned).ok_or_else(|| "must be a list of texts".to_owned()))
            .collect::<Result<_, _>>()
            .map(|items| Some(Value::List(items))),
        (Kind::Choices(words), Content::Map(entries)) => entries
            .iter()
            .map(|entry| match entry.value.text() {
                Some(word) if words.contains(&word) => Ok((entry.key.clone(), word.to_owned())),
                _ => Err(format!("must give `{}` one of: {}", entry.key, words.join(", "))),
            })
            .collect::<Result<_, _>>()
            .map(|map| Some(Value::Map(map))),
        (Kind::Choices(_), _) => Err("must be a map".to_owned()),
        (_, Content::Scalar { text, .. }) => read_text(key, text),
        (Kind::List | Kind::AddingList, _) => Err("must be a list of texts".to_owned()),
        (Kind::Count, _) => Err("must be a whole number".to_owned()),
        (_, _) => Err("must be text".to_owned()),
    }
}

fn read_text(key: &Key, text: &str) -> Result<Option<Value>, String> {
    match key.kind {
        // Exactly `1`: a permission that `true`, `yes` or `0` might switch on would be one by accident.
        Kind::Switch => Ok(Some(Value::Switch(text == "1"))),
        Kind::Count => match text.replace('_', "").parse::<u64>() {
            Ok(number) if number > 0 => Ok(Some(Value::Count(number))),
            _ => Err(format!("must be a whole number from 1, not `{text}`")),
        },
        Kind::Text if text.trim().is_empty() => Ok(None),
        Kind::Text if text.trim_end().contains('\n') => Err("must be one line".to_owned()),
        Kind::Text => Ok(Some(Value::Text(text.trim_end().to_owned()))),
        Kind::List | Kind::AddingList => {
            let items: Vec<String> =
                text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect();
            Ok((!items.is_empty()).then_some(Value::List(items)))
        }
        Kind::Choice(words) if words.contains(&text) => Ok(Some(Value::Text(text.to_owned()))),
        Kind::Choice(words) => Err(format!("must be one of {}, not `{text}`", words.join(", "))),
        Kind::Choices(_) => Err("must be a map".to_owned()),
        Kind::PolicySection => Ok(None),
        Kind::Later(_) if text.is_empty() => Ok(None),
        Kind::Later(why) => Err(format!("has no effect yet: {why}")),
    }
}

fn unknown<'a>(fault: Fault, given: &str, known: impl Iterator<Item = &'a str>) -> Fault {
    let mut known: Vec<&str> = known.collect();
    known.dedup();
    match nearest(given, known.iter().copied()) {
        Some(near) => fault.with_hint(format!("did you mean `{near}`?")),
        None => fault.with_hint(format!("known here: {}", known.join(", "))),
    }
}

/// `maxIterations` is `max_iterations`: one of the source systems writes its keys that way.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}

/// The text with every line outside `first..next` empty, so that what is left keeps its line numbers.
fn only_lines(text: &str, first: usize, next: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, line) in text.lines().enumerate() {
        if (first..next).contains(&(index + 1)) {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}
