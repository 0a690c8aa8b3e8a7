//! A call as the matchers see it: its targets, with what several rules need worked out once.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use serde_json::Value;

use crate::call::{Context, HostTarget, PathTarget, Targets, ToolClass};
use crate::shell::Command;

use super::after::{Memory, NOTHING};
use super::when::{Condition, Outcome};

/// Longest pipeline whose every stretch is tried; of longer ones, stretches of this length.
const MAX_STRETCH: usize = 32;
/// Characters of a value that are shown.
const MAX_SHOWN: usize = 60;
/// Most ways of writing one stretch that are tried.
const MAX_CHOICES: usize = 64;

pub(super) struct Sight<'a> {
    pub(super) targets: &'a Targets,
    pub(super) args: &'a Value,
    pub(super) context: Context,
    /// What happened before the call.
    pub(super) memory: &'a Memory,
    canonical: Vec<OnceCell<String>>,
    stretches: OnceCell<Vec<Stretch>>,
    texts: OnceCell<Vec<Cow<'a, str>>>,
    /// What conditions said about the call, by their address.
    pub(super) outcomes: RefCell<Vec<(*const Condition, Outcome)>>,
}

/// Neighbouring commands of one pipeline, written canonically.
pub(super) struct Stretch {
    /// Indices into the commands of the reading.
    pub(super) commands: Vec<usize>,
    pub(super) text: String,
}

impl<'a> Sight<'a> {
    pub(super) fn new(targets: &'a Targets, args: &'a Value) -> Self {
        Self::after(targets, args, &NOTHING)
    }

    /// A call with what happened before it.
    pub(super) fn after(targets: &'a Targets, args: &'a Value, memory: &'a Memory) -> Self {
        let commands = targets.reading.as_ref().map_or(0, |reading| reading.commands.len());
        Self {
            targets,
            args,
            memory,
            context: Context {
                root: targets.root.clone(),
                cwd: targets.cwd.clone(),
                home: targets.home.clone(),
            },
            canonical: (0..commands).map(|_| OnceCell::new()).collect(),
            stretches: OnceCell::new(),
            texts: OnceCell::new(),
            outcomes: RefCell::new(Vec::new()),
        }
    }

    pub(super) fn is_shell(&self) -> bool {
        self.targets.class == ToolClass::Shell
    }

    pub(super) fn commands(&self) -> &'a [Command] {
        self.targets.reading.as_ref().map_or(&[], |reading| reading.commands.as_slice())
    }

    pub(super) fn command(&self, index: usize) -> Option<&'a Command> {
        self.commands().get(index)
    }

    /// Command `index` written canonically, from its program's name on.
    pub(super) fn canonical(&self, index: usize) -> &str {
        let Some(cell) = self.canonical.get(index) else { return "" };
        cell.get_or_init(|| self.command(index).map(Command::canonical).unwrap_or_default())
    }

    /// Stretches of two or more neighbouring commands of each pipeline. Where a member is started by a wrapper
    /// (`… | sudo sh`), each of the two is tried in its place.
    pub(super) fn stretches(&self) -> &[Stretch] {
        self.stretches.get_or_init(|| {
            let mut stretches = Vec::new();
            for places in self.pipelines() {
                for (start, firsts) in places.iter().enumerate() {
                    let mut open: Vec<Stretch> = firsts
                        .iter()
                        .map(|first| Stretch {
                            commands: vec![*first],
                            text: self.canonical(*first).to_owned(),
                        })
                        .collect();
                    for members in places.iter().skip(start + 1).take(MAX_STRETCH - 1) {
                        let mut longer = Vec::new();
                        for stretch in &open {
                            for member in members {
                                let mut commands = stretch.commands.clone();
                                commands.push(*member);
                                let text = format!("{} | {}", stretch.text, self.canonical(*member));
                                longer.push(Stretch { commands, text });
                            }
                        }
                        longer.truncate(MAX_CHOICES);
                        stretches.append(&mut open);
                        open = longer;
                    }
                    stretches.append(&mut open);
                }
            }
            stretches.retain(|stretch| stretch.commands.len() > 1);
            self.flows(&mut stretches);
            stretches
        })
    }

    /// Commands that write a file, each with the one that runs it, written `writes => runs`; what feeds the one
    /// that writes counts as writing too.
    fn flows(&self, stretches: &mut Vec<Stretch>) {
        let flows = self.targets.reading.iter().flat_map(|reading| &reading.flows);
        for flow in flows.take(MAX_CHOICES) {
            let own = self.command(flow.from).and_then(|command| command.pipeline);
            let feeds = |index: usize, command: &Command| {
                index == flow.from
                    || own
                        .zip(command.pipeline)
                        .is_some_and(|(own, other)| other.id == own.id && other.position < own.position)
            };
            let makers = self.commands().iter().enumerate().filter(|(index, command)| feeds(*index, command));
            for (from, _) in makers.take(MAX_STRETCH) {
                let text = format!("{} => {}", self.canonical(from), self.canonical(flow.to));
                stretches.push(Stretch { commands: vec![from, flow.to], text });
            }
        }
    }

    /// For each pipeline, for each place in it, the commands that stand there: a wrapper and what it starts.
    fn pipelines(&self) -> Vec<Vec<Vec<usize>>> {
        let mut pipelines: BTreeMap<usize, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
        for (index, command) in self.commands().iter().enumerate() {
            if let Some(at) = command.pipeline {
                pipelines.entry(at.id).or_default().entry(at.position).or_default().push(index);
            }
        }
        pipelines.into_values().map(|places| places.into_values().collect()).collect()
    }

    /// The raw text of the call: the line of a shell tool, every text and number among the arguments of another.
    pub(super) fn texts(&self) -> &[Cow<'a, str>] {
        self.texts.get_or_init(|| match &self.targets.command {
            Some(line) => vec![Cow::Borrowed(line.as_str())],
            None => {
                let mut texts = Vec::new();
                leaves(self.args, &mut texts);
                texts
            }
        })
    }

    /// The call for people, where no part of it says more: the line, or `name: key=value …`.
    pub(super) fn shown_call(&self) -> String {
        if let Some(line) = &self.targets.command {
            return line.clone();
        }
        let Value::Object(fields) = self.args else { return self.targets.tool.clone() };
        let shown: Vec<String> = fields
            .iter()
            .map(|(name, value)| match value {
                Value::String(text) => format!("{name}={}", short(text)),
                value => format!("{name}={}", short(&value.to_string())),
            })
            .collect();
        format!("{}: {}", self.targets.tool, shown.join(" "))
    }

    /// Paths that the given commands touch; all of the call's without commands.
    pub(super) fn paths_of<'c>(
        &self,
        commands: Option<&'c [usize]>,
    ) -> impl Iterator<Item = &'a PathTarget> + use<'a, 'c> {
        self.targets
            .paths
            .iter()
            .filter(move |path| commands.is_none_or(|set| path.command.is_some_and(|own| set.contains(&own))))
    }

    /// Hosts that the given commands contact; all of the call's without commands.
    pub(super) fn hosts_of<'c>(
        &self,
        commands: Option<&'c [usize]>,
    ) -> impl Iterator<Item = &'a HostTarget> + use<'a, 'c> {
        self.targets
            .hosts
            .iter()
            .filter(move |host| commands.is_none_or(|set| host.command.is_some_and(|own| set.contains(&own))))
    }
}

/// The beginning of a value: a subject names it, the journal keeps it.
fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

fn leaves<'a>(value: &'a Value, into: &mut Vec<Cow<'a, str>>) {
    match value {
        Value::String(text) => into.push(Cow::Borrowed(text)),
        Value::Number(number) => into.push(Cow::Owned(number.to_string())),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, into)),
        Value::Object(fields) => fields.values().for_each(|field| leaves(field, into)),
        Value::Null | Value::Bool(_) => {}
    }
}
