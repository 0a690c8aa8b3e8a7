//! The table of settings and variables in `docs/config.md`.

use std::fmt::Write as _;

use super::key::{KEYS, Kind, Reach};

/// The table as Markdown; a test holds `docs/config.md` against it.
pub fn table_for_docs() -> String {
    let mut out = String::from(
        "| setting | holds | default | who may set it | environment, and accepted aliases | is |\n",
    );
    out.push_str("|---|---|---|---|---|---|\n");
    for key in KEYS {
        let holds = match key.kind {
            Kind::Switch => "true or false".to_owned(),
            Kind::Count => "number".to_owned(),
            Kind::Text => "text".to_owned(),
            Kind::List => "list".to_owned(),
            Kind::AddingList => "list, layers add up".to_owned(),
            Kind::Choice(words) => words.join(" or "),
            Kind::Choices(words) => format!("map to {}", words.join(" or ")),
            Kind::PolicySection => "section".to_owned(),
            Kind::Later(why) => format!("refused: {why}"),
        };
        let who = match key.reach {
            Reach::Anyone => "anyone",
            Reach::NotRepository => "flag, environment, user",
            Reach::Starter => "flag, environment",
        };
        let default = if key.default.is_empty() { "" } else { key.default.trim_matches('"') };
        let variables: Vec<String> = std::iter::once(key.variable)
            .chain(key.aliases.iter().copied())
            .filter(|name| !name.is_empty())
            .map(|name| format!("`{name}`"))
            .collect();
        let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
        let _ = writeln!(
            out,
            "| `{}` | {holds} | {default} | {who} | {} | {} |",
            key.name,
            variables.join(", "),
            key.about
        );
    }
    out
}
