//! Class gates: tools whose every call needs a person.

use std::collections::BTreeMap;

use crate::call::{SHELL_GROUP, Targets, canonical_tool};
use crate::verdict::{Origin, Scope, Verdict, Vote};

/// How the calls of a tool are let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassGate {
    /// The rules decide.
    Rules,
    /// Every call asks.
    Always,
}

/// The class gates of a run, by canonical tool name.
///
/// By default shell calls ask, since no text of a command proves it harmless; a run whose execution gate is in
/// force may set them to [`ClassGate::Rules`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassGates {
    gates: BTreeMap<String, ClassGate>,
}

impl Default for ClassGates {
    fn default() -> Self {
        let mut gates = Self::none();
        gates.set("shell", ClassGate::Always);
        gates
    }
}

impl ClassGates {
    /// No class gate at all, for judging without executing.
    pub fn none() -> Self {
        Self { gates: BTreeMap::new() }
    }

    /// Sets the gate of a tool, by any of its names, or of the group `shell`.
    pub fn set(&mut self, tool: &str, gate: ClassGate) {
        if tool == "shell" {
            for name in SHELL_GROUP {
                self.gates.insert(name.to_owned(), gate);
            }
        } else {
            let name = canonical_tool(tool);
            // A background task is the same command line, only later.
            if name == "execute" {
                self.gates.insert("task_create".to_owned(), gate);
            }
            self.gates.insert(name, gate);
        }
    }

    /// The gate of a canonical tool name.
    pub fn gate(&self, tool: &str) -> ClassGate {
        self.gates.get(tool).copied().unwrap_or(ClassGate::Rules)
    }

    pub(super) fn vote(&self, targets: &Targets) -> Option<Vote> {
        (self.gate(&targets.tool) == ClassGate::Always).then(|| Vote {
            verdict: Verdict::Ask,
            reason: format!("every call of {} needs a person", targets.tool),
            origin: Origin::Class { tool: targets.tool.clone() },
            hint: None,
            scopes: vec![Scope::Once, Scope::Session, Scope::Repo],
            part: None,
            subject: None,
        })
    }
}
