//! Texts that are made from the code: help, settings, exit codes. `GATEWRIGHT_BLESS=1 cargo test generated` rewrites
//! them, to be read before they are committed.

use std::fs;
use std::path::Path;

use crate::scratch::Scratch;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["run"],
    &["demo"],
    &["check"],
    &["dry-run"],
    &["policy"],
    &["policy", "check"],
    &["policy", "show"],
    &["policy", "explain"],
    &["policy", "lint"],
    &["policy", "compare"],
    &["policy", "schema"],
    &["report"],
    &["verify"],
    &["runs"],
    &["runs", "list"],
    &["runs", "show"],
    &["runs", "gc"],
    &["init"],
    &["doctor"],
    &["completions"],
    &["man"],
];

#[track_caller]
fn compare(path: &Path, text: &str) {
    if std::env::var_os("GATEWRIGHT_BLESS").is_some_and(|value| value == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(kept, text, "{} is not current; GATEWRIGHT_BLESS=1 rewrites it", path.display());
}

fn docs() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

#[test]
fn help_is_as_documented() {
    let scratch = Scratch::new();
    for command in COMMANDS {
        let mut arguments = command.to_vec();
        arguments.push("--help");
        let answer = scratch.run(&arguments).expect_code(0);
        let name = if command.is_empty() { "gatewright".to_owned() } else { command.join("-") };
        compare(&docs().join("help").join(format!("{name}.txt")), &answer.out);
    }
}

#[test]
fn every_command_has_its_help_documented() {
    let scratch = Scratch::new();
    let help = scratch.run(&["--help"]).expect_code(0).out;
    let listed = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    for line in
        listed.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '))
    {
        let name = line.split_whitespace().next().unwrap();
        assert!(COMMANDS.iter().any(|command| command.first() == Some(&name)), "{name} is not in COMMANDS");
    }
}

#[test]
fn settings_and_variables_are_as_documented() {
    let text = format!(
        "# Settings\n\nMade from `src/config/key.rs` by a test; `GATEWRIGHT_BLESS=1 cargo test generated` rewrites it.\n\n\
         A value comes from the first of: flag, task, environment, user (`$XDG_CONFIG_HOME/gatewright/config.yml`),\n\
         repository (`.gatewright/config.yml` of the commit that the run starts from), default. Lists that add up are\n\
         joined over all of them. Keys may be written in camelCase. A switch in the environment is on by exactly `1`.\n\n{}",
        gatewright::config::table_for_docs()
    );
    compare(&docs().join("config.md"), &text);
}

#[test]
fn exit_codes_are_as_documented() {
    let text = format!(
        "# Exit codes\n\nMade from `src/cli/exit.rs` by a test; `GATEWRIGHT_BLESS=1 cargo test generated` rewrites it.\n\n{}",
        gatewright::cli::exit_codes_for_docs()
    );
    compare(&docs().join("exit-codes.md"), &text);
}

#[test]
fn the_schema_of_policies_is_as_published() {
    let told = Scratch::new().run(&["policy", "schema"]).expect_code(0).out;
    compare(&docs().join("schema/policy.json"), &told);
}

/// Names below a folder that are files, with the folder's own name in front.
fn pages_below(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names.extend(pages_below(&path));
        } else {
            names.push(path.display().to_string());
        }
    }
    names.sort();
    names
}

#[test]
fn rules_of_guardrails_and_strict_have_their_pages() {
    let folder = docs().join("rules");
    if std::env::var_os("GATEWRIGHT_BLESS").is_some_and(|value| value == "1") {
        // Pages of rules that are gone go too.
        for page in pages_below(&folder) {
            fs::remove_file(page).unwrap();
        }
    }
    let mut index =
        "# Shipped rules\n\nMade from `policies/guardrails.yml` and `policies/strict.yml` by a test; `GATEWRIGHT_BLESS=1 cargo test generated` \
                     rewrites it.\nHow rules are written is in [policy.md](../policy.md).\n"
            .to_owned();
    let mut expected = vec![folder.join("README.md").display().to_string()];
    for name in ["guardrails", "strict"] {
        let pages = gatewright::policy::rule_pages(name, jiff::civil::date(2026, 12, 1));
        assert!(!pages.is_empty(), "{name}");
        index.push_str(&format!("\n## builtin:{name}\n\n| rule | verdict | why |\n|---|---|---|\n"));
        for page in pages {
            let path = folder.join(name).join(format!("{}.md", page.id));
            compare(&path, &page.text);
            expected.push(path.display().to_string());
            let verdict = serde_json::to_value(page.verdict).unwrap();
            index.push_str(&format!(
                "| [{id}]({name}/{id}.md) | {} | {} |\n",
                verdict.as_str().unwrap(),
                page.reason.replace('|', "\\|").replace('\n', " "),
                id = page.id
            ));
        }
    }
    compare(&folder.join("README.md"), &index);
    expected.sort();
    assert_eq!(pages_below(&folder), expected, "pages without a rule");
}

#[test]
fn completions_and_manual_are_written() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(scratch.run(&["completions", shell]).expect_code(0).out.contains("dry-run"));
    }
    assert!(scratch.run(&["man"]).expect_code(0).out.contains(".TH gatewright"));
}
