//! The task file: what is to be done, in YAML.

use crate::config::{Document, Fault, Layer, Origin};

/// Keys of a task that are no settings.
const OWN_KEYS: &[&str] = &["prompt", "name"];
/// Settings that a task may give.
const SETTINGS: &[&str] =
    &["agent", "policy", "base", "tests", "allow", "protect", "limits", "on_ask", "profile"];

/// A task that was read.
#[derive(Debug, Clone)]
pub struct TaskFile {
    /// Its name, or the file it was read from.
    pub name: String,
    /// What is to be done.
    pub prompt: Option<String>,
    /// The settings it gives.
    pub layer: Layer,
}

impl TaskFile {
    /// Reads a task.
    ///
    /// # Errors
    /// Every fault with its line.
    pub fn parse(file: &str, text: &str) -> Result<Self, Vec<Fault>> {
        let document = Document::parse(file, text).map_err(|fault| vec![*fault])?;
        let mut faults = Vec::new();
        for entry in document.root.entries().unwrap_or_default() {
            let name = entry.key.as_str();
            if !OWN_KEYS.contains(&name) && !SETTINGS.contains(&name) {
                let fault = document.fault(entry.mark, format!("unknown key `{name}` in a task"));
                let known = OWN_KEYS.iter().chain(SETTINGS).copied();
                faults.push(match crate::config::nearest(name, known) {
                    Some(near) => fault.with_hint(format!("did you mean `{near}`?")),
                    None => fault.with_hint(format!(
                        "known here: {}, {}",
                        OWN_KEYS.join(", "),
                        SETTINGS.join(", ")
                    )),
                });
            }
            if OWN_KEYS.contains(&name) && entry.value.text().is_none_or(|text| text.trim().is_empty()) {
                faults.push(document.fault(entry.value.mark, format!("`{name}` must be text")));
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let layer = Layer::from_document(Origin::Task, &document, OWN_KEYS)?;
        let text = |key: &str| document.root.get(key).and_then(|node| node.text()).map(str::to_owned);
        Ok(Self { name: text("name").unwrap_or_else(|| file.to_owned()), prompt: text("prompt"), layer })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::config::Settings;

    #[test]
    fn a_task_gives_a_prompt_and_settings() {
        let task =
            TaskFile::parse("t.yml", "prompt: |\n  Fix it.\ntests: make test\nlimits: {max_tool_calls: 3}\n")
                .unwrap();
        assert_eq!(task.prompt.as_deref(), Some("Fix it.\n"));
        let settings = Settings::resolve(&[task.layer]);
        assert_eq!(settings.text("tests.command"), Some("make test"));
        assert_eq!(settings.limits().tool_calls, 3);
    }

    #[test]
    fn a_task_widens_nothing_and_unknown_keys_are_faults() {
        for (text, message) in [
            ("promt: x\n", "unknown key `promt` in a task"),
            ("prompt: x\nshell: {enabled: true}\n", "unknown key `shell` in a task"),
            ("prompt: x\nallow_commit: true\n", "unknown key `allow_commit` in a task"),
            ("prompt: x\nlimits: {max_tools: 1}\n", "unknown setting `max_tools` in `limits`"),
            ("prompt: []\n", "`prompt` must be text"),
        ] {
            let faults = TaskFile::parse("t.yml", text).unwrap_err();
            assert_eq!(faults[0].message, message);
        }
    }
}
