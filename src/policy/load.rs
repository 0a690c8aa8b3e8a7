//! Sources and what they include, put together into one checked policy.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use jiff::civil::Date;
use sha2::{Digest, Sha256};

use crate::verdict::{Place, Verdict};

use super::decode::{Decoder, Document, Level, Named};
use super::finding::{PolicyError, PolicyErrors, Text, nearest};
use super::index::Index;
use super::rule::Rule;
use super::{Library, Source, builtin, effective, example, tree};

/// Largest policy text in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Most findings that are reported of one text.
const MAX_FINDINGS: usize = 200;
/// Longest chain of includes.
const MAX_CHAIN: usize = 16;
/// Most inclusions of one policy, repeated ones counted.
const MAX_INCLUSIONS: usize = 256;

/// A checked policy. A broken one has no value of this type.
#[derive(Debug)]
pub struct Policy {
    pub(super) rules: Vec<Held>,
    pub(super) default: Level,
    pub(super) unreadable: Level,
    is_switched_off: bool,
    notices: Vec<PolicyError>,
    today: Date,
    digest: String,
    index: OnceLock<Index>,
}

/// A rule as one policy holds it.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) rule: Arc<Rule>,
    pub(super) is_disabled: bool,
}

impl Policy {
    /// Loads the given sources as one policy: their rules add up, the strictest `default` and `unreadable` hold.
    ///
    /// `today` decides which exceptions are past their date. It is an input, so that the same policy judges the
    /// same way at any time; whoever judges a record hands in the day of the record.
    ///
    /// # Errors
    /// All findings of all sources.
    pub fn load(sources: &[Source], library: &dyn Library, today: Date) -> Result<Self, PolicyErrors> {
        Loader::new(library, today).load(sources)
    }

    /// The embedded policy of that name (`ci`, `guardrails`, `strict`).
    pub fn builtin(name: &str) -> Option<Source> {
        builtin::source(name)
    }

    /// Names of the embedded policies.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        builtin::names()
    }

    /// All rules in order, disabled ones included, each with whether it is disabled.
    pub fn rules(&self) -> impl Iterator<Item = (&Rule, bool)> {
        self.rules.iter().map(|held| (&*held.rule, held.is_disabled))
    }

    /// The rule of that id (`push`) or with its source (`guardrails:push`); the first one of several.
    pub fn rule(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().map(|held| &*held.rule).find(|rule| is_named(rule, name))
    }

    /// What holds for calls that no rule speaks about, and where that is said.
    pub fn default_verdict(&self) -> (Verdict, &Place) {
        (self.default.verdict, &self.default.place)
    }

    /// What holds for calls that cannot be read with certainty, and where that is said.
    pub fn unreadable_verdict(&self) -> (Verdict, &Place) {
        (self.unreadable.verdict, &self.unreadable.place)
    }

    /// Whether its rules are in force: `guardrails.enabled` of a config was not `false`.
    pub fn is_enabled(&self) -> bool {
        !self.is_switched_off
    }

    /// The day it was loaded for.
    pub fn today(&self) -> Date {
        self.today
    }

    /// What is worth knowing and no error: `disable` entries that match nothing, exceptions past their date.
    pub fn notices(&self) -> &[PolicyError] {
        &self.notices
    }

    /// sha256 of the effective policy, hex.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The effective policy as one self-contained YAML text, which has the same digest when it is loaded for the
    /// same day.
    pub fn to_yaml(&self) -> String {
        effective::to_yaml(self)
    }

    pub(super) fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(self))
    }

    pub(super) fn in_force(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|held| !held.is_disabled).map(|held| &*held.rule)
    }
}

pub(super) fn is_named(rule: &Rule, name: &str) -> bool {
    rule.id == name
        || name.strip_suffix(rule.id.as_str()).and_then(|rest| rest.strip_suffix(':')) == Some(&*rule.source)
}

/// The short name of a source: `ci` for `builtin:ci`, the file's stem for a path.
pub(super) fn label(name: &str) -> String {
    if let Some(builtin) = name.strip_prefix("builtin:") {
        return builtin.to_owned();
    }
    let file = name.rsplit(['/', ':']).next().unwrap_or(name);
    let stem = file.strip_suffix(".yml").or_else(|| file.strip_suffix(".yaml")).unwrap_or(file);
    if stem.is_empty() { name.to_owned() } else { stem.to_owned() }
}

struct Loader<'a> {
    library: &'a dyn Library,
    today: Date,
    findings: Vec<PolicyError>,
    notices: Vec<PolicyError>,
    /// Texts read so far by name.
    parts: HashMap<String, Arc<Part>>,
    inclusions: usize,
    defaults: Vec<Level>,
    unreadables: Vec<Level>,
    is_switched_off: bool,
}

/// One text that was read.
struct Part {
    text: Text,
    document: Document,
}

impl<'a> Loader<'a> {
    fn new(library: &'a dyn Library, today: Date) -> Self {
        Self {
            library,
            today,
            findings: Vec::new(),
            notices: Vec::new(),
            parts: HashMap::new(),
            inclusions: 0,
            defaults: Vec::new(),
            unreadables: Vec::new(),
            is_switched_off: false,
        }
    }

    fn load(mut self, sources: &[Source]) -> Result<Policy, PolicyErrors> {
        let mut held: Vec<Held> = Vec::new();
        let mut everywhere = Vec::new();
        for source in sources {
            let Some(part) = self.part(source) else { continue };
            let mut chain = Vec::new();
            let own = self.gather(&part, &source.name, &mut chain);
            // A text that arrives by two ways holds as soon as one of them leaves it in force.
            for new in own {
                match held.iter_mut().find(|old| Arc::ptr_eq(&old.rule, &new.rule)) {
                    Some(old) => old.is_disabled &= new.is_disabled,
                    None => held.push(new),
                }
            }
            if part.document.disables_everywhere {
                everywhere.push(part);
            }
        }
        for part in everywhere {
            self.disable(&part, &mut held);
        }
        if !self.findings.is_empty() {
            return Err(PolicyErrors::new(self.findings));
        }
        let first_line =
            Place { file: sources.first().map_or("(no policy)", |source| &source.name).to_owned(), line: 1 };
        let mut policy = Policy {
            rules: held,
            default: strictest(self.defaults, Verdict::Allow, &first_line),
            unreadable: strictest(self.unreadables, Verdict::Ask, &first_line),
            is_switched_off: self.is_switched_off,
            notices: self.notices,
            today: self.today,
            digest: String::new(),
            index: OnceLock::new(),
        };
        policy.digest = hex(&Sha256::digest(effective::canonical(&policy).as_bytes()));
        Ok(policy)
    }

    /// The rules of a part and of what it includes, own ones first, with its `disable` applied to all of them.
    fn gather(&mut self, part: &Arc<Part>, name: &str, chain: &mut Vec<String>) -> Vec<Held> {
        chain.push(name.to_owned());
        let mut held: Vec<Held> = part
            .document
            .rules
            .iter()
            .map(|rule| Held { rule: Arc::clone(rule), is_disabled: false })
            .collect();
        for include in &part.document.includes {
            if let Some((included, name)) = self.include(part, include, chain) {
                for new in self.gather(&included, &name, chain) {
                    match held.iter_mut().find(|old| Arc::ptr_eq(&old.rule, &new.rule)) {
                        Some(old) => old.is_disabled &= new.is_disabled,
                        None => held.push(new),
                    }
                }
            }
        }
        if !part.document.disables_everywhere {
            self.disable(part, &mut held);
        }
        chain.pop();
        held
    }

    fn include(&mut self, from: &Part, include: &Named, chain: &[String]) -> Option<(Arc<Part>, String)> {
        let say = |message: String| PolicyError::new(&from.text, &include.span, message);
        self.inclusions += 1;
        if self.inclusions > MAX_INCLUSIONS || chain.len() >= MAX_CHAIN {
            if !self.findings.iter().any(|finding| finding.message().starts_with("too many includes")) {
                self.findings.push(say(format!(
                    "too many includes: at most {MAX_CHAIN} deep and {MAX_INCLUSIONS} in all"
                )));
            }
            return None;
        }
        let source = match include.name.strip_prefix("builtin:") {
            Some(name) => builtin::source(name).ok_or_else(|| {
                let help = nearest(name, builtin::names()).map_or_else(
                    || {
                        format!(
                            "there are {}",
                            builtin::names()
                                .map(|name| format!("builtin:{name}"))
                                .collect::<Vec<_>>()
                                .join(", ")
                        )
                    },
                    |near| format!("did you mean `builtin:{near}`?"),
                );
                say(format!("unknown policy `{}`", include.name)).help(help)
            }),
            None => self
                .library
                .include(&include.name, &from.text.name)
                .map_err(|why| say(format!("cannot include `{}`: {why}", include.name))),
        };
        let source = match source {
            Ok(source) => source,
            Err(error) => {
                self.findings.push(error);
                return None;
            }
        };
        if chain.contains(&source.name) {
            let mut way: Vec<&str> = chain.iter().map(String::as_str).collect();
            way.push(&source.name);
            self.findings.push(
                say(format!("`{}` includes itself", source.name))
                    .help(format!("the way is {}", way.join(" > "))),
            );
            return None;
        }
        let part = self.part(&source)?;
        Some((part, source.name))
    }

    /// Applies the `disable` list of a part.
    fn disable(&mut self, part: &Part, held: &mut [Held]) {
        for entry in &part.document.disable {
            let mut matched = false;
            for held in held.iter_mut().filter(|held| is_named(&held.rule, &entry.name)) {
                held.is_disabled = true;
                matched = true;
            }
            if !matched {
                let near = nearest(&entry.name, held.iter().map(|held| held.rule.id.as_str()));
                let message = format!("`{}` disables no rule", entry.name);
                self.notices.push(
                    PolicyError::new(&part.text, &entry.span, message)
                        .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
                        .notice(),
                );
            }
        }
    }

    /// Reads one text, once per name.
    fn part(&mut self, source: &Source) -> Option<Arc<Part>> {
        if let Some(part) = self.parts.get(&source.name) {
            return Some(Arc::clone(part));
        }
        let mut findings = Vec::new();
        let part = self.read(source, &mut findings);
        findings.sort_by_key(|finding: &PolicyError| finding.place().line);
        findings.truncate(MAX_FINDINGS);
        self.findings.append(&mut findings);
        let part = Arc::new(part?);
        self.parts.insert(source.name.clone(), Arc::clone(&part));
        Some(part)
    }

    fn read(&mut self, source: &Source, findings: &mut Vec<PolicyError>) -> Option<Part> {
        let mut text = text(source, findings)?;
        let is_embedded = source.name.starts_with("builtin:");
        if is_embedded {
            text = Text::new(&source.name, &builtin::without_examples(&text.text));
        }
        let root = tree::read(&text, findings)?;
        let mut decoder = Decoder {
            text: &text,
            label: label(&source.name).into(),
            is_embedded,
            today: self.today,
            findings,
            notices: &mut self.notices,
        };
        let document = decoder.document(&root);
        // Those of embedded policies are checked by a test, not by every process that starts.
        if findings.is_empty() && !is_embedded {
            for rule in &document.rules {
                example::check(&text, rule, findings);
            }
        }
        self.defaults.extend(document.default.clone());
        self.unreadables.extend(document.unreadable.clone());
        self.is_switched_off |= document.is_switched_off;
        Some(Part { text, document })
    }
}

/// The source as text: not too large, UTF-8.
fn text(source: &Source, findings: &mut Vec<PolicyError>) -> Option<Text> {
    if source.bytes.len() > MAX_BYTES {
        let start = String::from_utf8_lossy(&source.bytes[..source.bytes.len().min(200)]).into_owned();
        let text = Text::new(&source.name, &start);
        let first = 0..text.text.find('\n').unwrap_or(text.text.len());
        let message = format!("a policy has at most 1 MiB, this one has {} bytes", source.bytes.len());
        findings.push(
            PolicyError::new(&text, &first, message).help("split it, and name the parts under `include`"),
        );
        return None;
    }
    match std::str::from_utf8(&source.bytes) {
        Ok(valid) => Some(Text::new(&source.name, valid.strip_prefix('\u{feff}').unwrap_or(valid))),
        Err(error) => {
            let text = Text::new(&source.name, &String::from_utf8_lossy(&source.bytes));
            let at = error.valid_up_to();
            let byte = source.bytes.get(at).copied().unwrap_or_default();
            let message = format!("not UTF-8: byte {byte:#04x} at offset {at}");
            findings.push(
                PolicyError::new(&text, &(at..at + '\u{fffd}'.len_utf8()), message)
                    .help("save the file as UTF-8"),
            );
            None
        }
    }
}

/// The strictest of what was given, the first among equals.
fn strictest(levels: Vec<Level>, otherwise: Verdict, place: &Place) -> Level {
    let mut strictest: Option<Level> = None;
    for level in levels {
        if strictest.as_ref().is_none_or(|known| level.verdict > known.verdict) {
            strictest = Some(level);
        }
    }
    strictest.unwrap_or_else(|| Level { verdict: otherwise, place: place.clone() })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
