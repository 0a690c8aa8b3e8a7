//! Policies of `fixtures/policies`: good ones load and keep their meaning, broken ones say where and why.
//!
//! Expected messages lie beside the broken policies; `GATEWRIGHT_BLESS=1 cargo test policies` rewrites them, to be
//! read before they are committed.

use std::fs;
use std::path::{Component, Path, PathBuf};

use gatewright::policy::{Library, Policy, PolicyErrors, Source};
use gatewright::verdict::Verdict;
use jiff::civil::{Date, date};
use miette::{GraphicalReportHandler, GraphicalTheme};

const TODAY: Date = date(2026, 12, 1);

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/policies").join(name)
}

/// Includes by path, from the folder of the text that includes.
struct Files;

impl Library for Files {
    fn include(&self, name: &str, from: &str) -> Result<Source, String> {
        let mut path = PathBuf::new();
        for part in Path::new(from).parent().unwrap().join(name).components() {
            match part {
                Component::ParentDir => {
                    path.pop();
                }
                part => path.push(part),
            }
        }
        source(&path.to_string_lossy()).map_err(|_| "there is no such file".to_owned())
    }
}

/// A fixture by its name below `fixtures/policies`.
fn source(name: &str) -> std::io::Result<Source> {
    Ok(Source { name: name.to_owned(), bytes: fs::read(folder(name))? })
}

fn text(name: &str, text: &str) -> Source {
    Source { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

fn load(sources: &[Source]) -> Result<Policy, PolicyErrors> {
    Policy::load(sources, &Files, TODAY)
}

fn names(kind: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder(kind))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".yml"))
        .map(|name| format!("{kind}/{name}"))
        .collect();
    names.sort();
    names
}

fn rendered(errors: &PolicyErrors) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100);
    let mut text = String::new();
    for error in errors.errors() {
        handler.render_report(&mut text, error).unwrap();
        text.push('\n');
    }
    let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

#[test]
fn broken_policies_say_where_and_why() {
    let bless = std::env::var_os("GATEWRIGHT_BLESS").is_some_and(|value| value == "1");
    let names = names("invalid");
    assert!(names.len() >= 25, "{names:?}");
    let mut different = Vec::new();
    for name in names {
        let expected_at = folder(&name).with_extension("txt");
        let shown = match load(&[source(&name).unwrap()]) {
            Ok(_) => "it loads\n".to_owned(),
            Err(errors) => rendered(&errors),
        };
        if bless {
            fs::write(&expected_at, &shown).unwrap();
        }
        let expected = fs::read_to_string(&expected_at).unwrap_or_default();
        if shown != expected || shown == "it loads\n" {
            different.push(format!("{name}\n--- expected\n{expected}\n--- got\n{shown}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn good_policies_load_and_their_effective_text_has_the_same_digest() {
    for name in names("valid") {
        let policy = load(&[source(&name).unwrap()]).unwrap_or_else(|errors| panic!("{}", rendered(&errors)));
        let yaml = policy.to_yaml();
        let again = load(&[text("effective.yml", &yaml)])
            .unwrap_or_else(|errors| panic!("{name}:\n{yaml}\n{}", rendered(&errors)));
        assert_eq!(again.digest(), policy.digest(), "{name}:\n{yaml}");
        assert_eq!(
            again.to_yaml().lines().filter(|line| !line.trim_start().starts_with('#')).count(),
            yaml.lines().filter(|line| !line.trim_start().starts_with('#')).count(),
            "{name}"
        );
    }
}

#[test]
fn embedded_policies_load_and_keep_their_own_examples() {
    for name in Policy::builtin_names() {
        let mut embedded = Policy::builtin(name).unwrap();
        load(std::slice::from_ref(&embedded)).unwrap_or_else(|errors| panic!("{}", rendered(&errors)));
        // Under another name its examples are checked too.
        embedded.name = format!("policies/{name}.yml");
        load(&[embedded]).unwrap_or_else(|errors| panic!("{}", rendered(&errors)));
    }
    assert!(Policy::builtin("no-such").is_none());
}

#[test]
fn the_strictest_default_of_several_sources_holds() {
    let one = text("one.yml", "version: 1\ndefault: ask\nunreadable: deny\n");
    let other = text("other.yml", "version: 1\n\ndefault: deny\n");
    for sources in [[one.clone(), other.clone()], [other, one]] {
        let policy = load(&sources).unwrap();
        let (verdict, place) = policy.default_verdict();
        assert_eq!((verdict, place.to_string().as_str()), (Verdict::Deny, "other.yml:3"));
        let (verdict, place) = policy.unreadable_verdict();
        assert_eq!((verdict, place.to_string().as_str()), (Verdict::Deny, "one.yml:3"));
    }
}

const PUSH: &str = "rules:\n  - id: push\n    run: git push\n    verdict: ask\n    reason: publishes\n";

#[test]
fn disabling_reaches_what_a_policy_includes_and_no_further() {
    let switch = "version: 1\ndisable: [\"push\"]\n";
    let apart = load(&[text("a.yml", &format!("version: 1\n{PUSH}")), text("b.yml", switch)]).unwrap();
    assert!(apart.rules().all(|(_, is_disabled)| !is_disabled));
    assert_eq!(apart.notices().len(), 1, "an entry that matches nothing is a notice");

    let within =
        load(&[text("a.yml", &format!("version: 1\ndisable: [push, \"a:pusch\"]\n{PUSH}"))]).unwrap();
    assert!(within.rules().all(|(_, is_disabled)| is_disabled));
    assert_eq!(within.notices()[0].to_string(), "`a:pusch` disables no rule");

    let config = text("config.yml", "guardrails:\n  disable: [\"a:push\"]\n");
    let everywhere = load(&[config, text("a.yml", &format!("version: 1\n{PUSH}"))]).unwrap();
    assert!(everywhere.rules().all(|(_, is_disabled)| is_disabled));
    assert_eq!(everywhere.notices().len(), 0);
}

#[test]
fn a_text_that_arrives_by_two_ways_holds_if_one_leaves_it_in_force() {
    let both =
        load(&[text("valid/x.yml", "version: 1\ninclude: [../parts/team.yml, \"builtin:guardrails\"]\n")])
            .unwrap();
    let (_, is_disabled) = both.rules().find(|(rule, _)| rule.id() == "git-push").unwrap();
    assert!(!is_disabled);
    let one = load(&[text("valid/x.yml", "version: 1\ninclude: [../parts/team.yml]\n")]).unwrap();
    let (_, is_disabled) = one.rules().find(|(rule, _)| rule.id() == "git-push").unwrap();
    assert!(is_disabled);
}

#[test]
fn an_exception_past_its_date_is_reported_and_changes_the_digest() {
    let policy = text(
        "a.yml",
        "version: 1\nrules:\n  - id: ci\n    path: ci/**\n    verdict: deny\n    reason: runs\n    except:\n      - path: ci/docs.yml\n        reason: docs\n        until: 2026-12-01\n",
    );
    let last_day = Policy::load(std::slice::from_ref(&policy), &Files, TODAY).unwrap();
    let day_after = Policy::load(&[policy], &Files, TODAY.tomorrow().unwrap()).unwrap();
    assert_eq!(last_day.notices().len(), 0);
    assert_eq!(day_after.notices().len(), 1);
    assert_eq!(day_after.notices()[0].place().line, 10);
    assert_ne!(last_day.digest(), day_after.digest());
}

#[test]
fn ids_that_two_sources_share_stay_apart_in_the_effective_text() {
    let rules = format!("version: 1\n{PUSH}");
    let policy = load(&[text("a.yml", &rules), text("b.yml", &rules)]).unwrap();
    let yaml = policy.to_yaml();
    assert!(yaml.contains("id: push") && yaml.contains("id: b:push"), "{yaml}");
    assert_eq!(load(&[text("c.yml", &yaml)]).unwrap().digest(), policy.digest());
}

#[test]
fn a_policy_over_one_mebibyte_does_not_load() {
    let mut large = String::from("version: 1\n");
    while large.len() <= 1 << 20 {
        large.push_str("# filling\n");
    }
    let errors = load(&[text("large.yml", &large)]).unwrap_err();
    assert!(
        errors.to_string().starts_with("policy does not load: large.yml:1: a policy has at most 1 MiB"),
        "{errors}"
    );
}

#[test]
fn broken_bytes_never_panic() {
    let good = fs::read(folder("valid/every-key.yml")).unwrap();
    for at in (0..good.len()).step_by(11) {
        for replacement in [b'\t', b'"', 0xff, b'{', b'-', b'\n'] {
            let mut bytes = good.clone();
            bytes[at] = replacement;
            if let Err(errors) = load(&[Source { name: "valid/x.yml".to_owned(), bytes }]) {
                assert!(!errors.errors().is_empty());
                let _ = rendered(&errors);
            }
        }
    }
}
