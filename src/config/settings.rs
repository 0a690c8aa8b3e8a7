//! The layers folded into one value per setting.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Origin;
use super::key::{KEYS, Key, Kind};
use super::layer::{Layer, Value};

/// One setting as it stands, with its origin.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// Which.
    pub key: &'static Key,
    /// Its value, if it has one.
    pub value: Option<Value>,
    /// Where it comes from.
    pub origin: Origin,
    /// The flag, variable or `file:line`; empty for a default.
    pub place: String,
}

impl Resolved {
    /// The value for people; secrets masked.
    pub fn shown(&self) -> String {
        match &self.value {
            None => "(not set)".to_owned(),
            Some(_) if self.key.is_secret => "********".to_owned(),
            Some(Value::Text(text)) => text.clone(),
            Some(value) => value.to_json().to_string(),
        }
    }
}

/// How a tool is gated beyond the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateWord {
    /// The rules decide.
    Rules,
    /// Every call asks.
    Always,
}

/// Budgets of a run.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Answers of the agent.
    pub iterations: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// The whole run.
    pub wall_clock: Duration,
    /// Changed files in the commit.
    pub files: u64,
    /// Bytes of all changed files together.
    pub bytes: u64,
}

/// Limits of the tool `read`, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct ReadLimits {
    /// Up to here a file is given whole.
    pub truncate_at: usize,
    /// Head and tail share this.
    pub preview: usize,
    /// From here on it is not read.
    pub hard_max: usize,
}

/// Limits of a program's output, in bytes and for each stream.
#[derive(Debug, Clone, Copy)]
pub struct StreamLimits {
    /// Up to here a stream is given whole.
    pub truncate_at: usize,
    /// Head and tail share this.
    pub preview: usize,
}

/// Every setting, resolved.
#[derive(Debug, Clone)]
pub struct Settings {
    table: Vec<Resolved>,
    /// Policy sections of settings files in the seed form: name and text, strongest layer first.
    pub policy_sections: Vec<(String, String)>,
    /// What is worth knowing, one line each.
    pub notices: Vec<String>,
}

impl Settings {
    /// Folds the layers; the strongest origin decides, lists that add up are joined.
    pub fn resolve(layers: &[Layer]) -> Self {
        let mut layers: Vec<&Layer> = layers.iter().collect();
        layers.sort_by_key(|layer| layer.origin);
        let table = KEYS.iter().map(|key| resolve_key(key, &layers)).collect();
        let mut settings = Self {
            table,
            policy_sections: layers.iter().filter_map(|layer| layer.policy_section.clone()).collect(),
            notices: layers.iter().flat_map(|layer| layer.notices.iter().cloned()).collect(),
        };
        settings.apply_profile();
        settings
    }

    /// All settings in the order of the table.
    pub fn all(&self) -> &[Resolved] {
        &self.table
    }

    /// The setting of that name.
    pub fn get(&self, name: &str) -> Option<&Resolved> {
        self.table.iter().find(|resolved| resolved.key.name == name)
    }

    /// A text setting.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.value(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A list setting.
    pub fn list(&self, name: &str) -> &[String] {
        match self.value(name) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    /// A switch.
    pub fn is_on(&self, name: &str) -> bool {
        matches!(self.value(name), Some(Value::Switch(true)))
    }

    /// A number; 0 when it has none, which no setting of the table does.
    pub fn count(&self, name: &str) -> u64 {
        match self.value(name) {
            Some(Value::Count(number)) => *number,
            _ => 0,
        }
    }

    /// Budgets of a run.
    pub fn limits(&self) -> Limits {
        Limits {
            iterations: self.count("limits.max_iterations"),
            tool_calls: self.count("limits.max_tool_calls"),
            wall_clock: Duration::from_secs(self.count("limits.wall_clock_secs")),
            files: self.count("limits.max_files"),
            bytes: self.count("limits.max_bytes"),
        }
    }

    /// Limits of `read`.
    pub fn read_limits(&self) -> ReadLimits {
        ReadLimits {
            truncate_at: self.bytes("read.truncate_at_bytes"),
            preview: self.bytes("read.preview_bytes"),
            hard_max: self.bytes("read.hard_max_bytes"),
        }
    }

    /// Limits of a program's output.
    pub fn stream_limits(&self) -> StreamLimits {
        StreamLimits {
            truncate_at: self.bytes("execute.truncate_at_bytes"),
            preview: self.bytes("execute.preview_bytes"),
        }
    }

    /// Class gates by tool as written.
    pub fn gates(&self) -> BTreeMap<String, GateWord> {
        let Some(Value::Map(map)) = self.value("gates") else { return BTreeMap::new() };
        map.iter()
            .map(|(tool, word)| {
                (tool.clone(), if word == "always" { GateWord::Always } else { GateWord::Rules })
            })
            .collect()
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.get(name)?.value.as_ref()
    }

    fn bytes(&self, name: &str) -> usize {
        usize::try_from(self.count(name)).unwrap_or(usize::MAX)
    }

    fn apply_profile(&mut self) {
        if self.text("profile") != Some("self_improve") {
            return;
        }
        let place = self.get("profile").map(|profile| (profile.origin, profile.place.clone()));
        let iterations = self.table.iter_mut().find(|resolved| resolved.key.name == "limits.max_iterations");
        if let (Some(iterations), Some((origin, place))) = (iterations, place)
            && iterations.origin == Origin::Default
        {
            iterations.value = Some(Value::Count(40));
            iterations.origin = origin;
            iterations.place = place;
        }
    }
}

fn resolve_key(key: &'static Key, layers: &[&Layer]) -> Resolved {
    let mut given =
        layers.iter().filter_map(|layer| layer.values.get(key.name).map(|value| (layer.origin, value)));
    let Some((origin, (value, place))) = given.next() else {
        return Resolved { key, value: default_of(key), origin: Origin::Default, place: String::new() };
    };
    let mut value = value.clone();
    if let (Kind::AddingList, Value::List(items)) = (key.kind, &mut value) {
        for (_, (weaker, _)) in given {
            if let Value::List(weaker) = weaker {
                items.extend(weaker.iter().filter(|item| !items.contains(item)).cloned().collect::<Vec<_>>());
            }
        }
    } else if let (Kind::Choices(_), Value::Map(map)) = (key.kind, &mut value) {
        for (_, (weaker, _)) in given {
            if let Value::Map(weaker) = weaker {
                for (name, word) in weaker {
                    map.entry(name.clone()).or_insert_with(|| word.clone());
                }
            }
        }
    }
    Resolved { key, value: Some(value), origin, place: place.clone() }
}

fn default_of(key: &Key) -> Option<Value> {
    match serde_json::from_str(key.default).ok()? {
        serde_json::Value::Bool(on) => Some(Value::Switch(on)),
        serde_json::Value::Number(number) => number.as_u64().map(Value::Count),
        serde_json::Value::String(text) => Some(Value::Text(text)),
        serde_json::Value::Array(items) => {
            Some(Value::List(items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()))
        }
        serde_json::Value::Object(_) => Some(Value::Map(BTreeMap::new())),
        serde_json::Value::Null => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::config::Fault;

    fn file(origin: Origin, text: &str) -> Result<Layer, Vec<Fault>> {
        Layer::from_file(origin, "config.yml", text)
    }

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_strongest_layer_decides_and_says_where_it_stood() {
        let repository =
            file(Origin::Repository, "limits: {max_tool_calls: 7, maxFiles: 3}\non_ask: deny\n").unwrap();
        let user = file(Origin::User, "limits:\n  max_tool_calls: 9\n").unwrap();
        let settings = Settings::resolve(&[repository, user, Layer::empty(Origin::Flag)]);
        assert_eq!(settings.limits().tool_calls, 9);
        assert_eq!(settings.limits().files, 3);
        assert_eq!(settings.get("limits.max_tool_calls").unwrap().place, "config.yml:2");
        assert_eq!(settings.get("limits.max_tool_calls").unwrap().origin, Origin::User);
        assert_eq!(settings.limits().iterations, 5);
    }

    #[test]
    fn protected_paths_add_up_so_that_no_layer_lifts_anothers() {
        let repository = file(Origin::Repository, "protect: [a/**]").unwrap();
        let mut flags = Layer::empty(Origin::Flag);
        flags.set("protect", Value::List(vec!["b/**".into()]));
        assert_eq!(Settings::resolve(&[repository, flags]).list("protect"), ["b/**", "a/**"]);
    }

    #[test]
    fn the_repository_widens_nothing() {
        for text in [
            "allow_commit: true",
            "shell: {enabled: true}",
            "backend: {api_key: x}",
            "hooks: {before_tool_call: []}",
            "non_interactive_approval: decline",
        ] {
            assert_eq!(file(Origin::Repository, text).unwrap_err().len(), 1, "{text}");
        }
        assert!(file(Origin::User, "allow_commit: true").is_err());
        assert!(file(Origin::User, "shell: {enabled: true}\nbackend: {api_key: x}").is_ok());
    }

    #[test]
    fn unknown_keys_name_the_nearest_and_every_fault_is_told() {
        let faults =
            file(Origin::User, "limits:\n  max_iteration: 3\nprotects: []\nbase: [1]\n").unwrap_err();
        let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "config.yml:2: unknown setting `max_iteration` in `limits`",
                "config.yml:3: unknown setting `protects`",
                "config.yml:4: `base` must be text"
            ]
        );
        assert_eq!(faults[0].hint.as_deref(), Some("did you mean `max_iterations`?"));
        assert_eq!(faults[1].hint.as_deref(), Some("did you mean `protect`?"));
    }

    #[test]
    fn a_switch_in_the_environment_wants_exactly_one() {
        for (value, expected) in [("1", true), ("true", false), ("01", false), ("", false)] {
            let layer = Layer::from_environment(&environment(&[("LICH_ALLOW_SELF_COMMIT", value)])).unwrap();
            assert_eq!(Settings::resolve(&[layer]).is_on("allow_commit"), expected, "{value}");
        }
    }

    #[test]
    fn our_own_variable_beats_its_alias() {
        let both = environment(&[("GATEWRIGHT_SHELL_TIMEOUT_MS", "5"), ("ASSISTANT_SHELL_TIMEOUT_MS", "6")]);
        let settings = Settings::resolve(&[Layer::from_environment(&both).unwrap()]);
        assert_eq!(settings.count("shell.timeout_ms"), 5);
        assert!(Layer::from_environment(&environment(&[("GATEWRIGHT_SHELL_TIMEOUT_MS", "soon")])).is_err());
    }

    #[test]
    fn the_seed_policy_section_keeps_its_line_numbers() {
        let layer =
            file(Origin::Repository, "base: main\nguardrails:\n  disable: [x]\nprotect: []\n").unwrap();
        let settings = Settings::resolve(&[layer]);
        assert_eq!(
            settings.policy_sections,
            [("config.yml".into(), "\nguardrails:\n  disable: [x]\n\n".into())]
        );
    }

    #[test]
    fn the_self_improvement_profile_only_moves_a_default() {
        let plain = file(Origin::User, "profile: self_improve").unwrap();
        assert_eq!(Settings::resolve(&[plain]).limits().iterations, 40);
        let both = file(Origin::User, "profile: self_improve\nlimits: {max_iterations: 3}").unwrap();
        assert_eq!(Settings::resolve(&[both]).limits().iterations, 3);
    }

    #[test]
    fn every_default_reads_as_its_kind() {
        for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
            let value = default_of(key);
            let fits = matches!(
                (key.kind, &value),
                (Kind::Switch, Some(Value::Switch(_)))
                    | (Kind::Count, Some(Value::Count(_)))
                    | (Kind::Text | Kind::Choice(_), Some(Value::Text(_)))
                    | (Kind::List | Kind::AddingList, Some(Value::List(_)))
                    | (Kind::Choices(_), Some(Value::Map(_)))
            );
            assert!(fits, "{}: {value:?}", key.name);
        }
    }
}
