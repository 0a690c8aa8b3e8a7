//! Makes static Rust tables out of `policies/programs/*.yml`; `docs/programs.md` explains the schema.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a build script stops at the first fault")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;
use serde_yaml::Value as Yaml;

/// One program or subcommand, as written.
#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
struct Spec {
    aka: Vec<String>,
    style: Option<String>,
    abbreviate: Option<bool>,
    posix: bool,
    globals: Option<String>,
    bundled: bool,
    assignments: bool,
    options: Yaml,
    args: Vec<String>,
    input: Option<String>,
    cases: Vec<Case>,
    dry_run: Vec<String>,
    help: Option<Vec<String>>,
    recursive: Yaml,
    special: Option<String>,
    commands: Yaml,
}

/// A shape of operands that holds under conditions.
#[derive(Deserialize, Clone, Default)]
#[serde(deny_unknown_fields, default)]
struct Case {
    #[serde(rename = "if")]
    given: Vec<String>,
    not: Vec<String>,
    args: Vec<String>,
    input: Option<String>,
}

/// What a subcommand takes over from its parent.
#[derive(Clone)]
struct Habit {
    style: String,
    abbreviate: bool,
    globals_anywhere: bool,
}

/// Where a table stands, for messages.
struct Place<'a> {
    file: &'a Path,
    path: String,
}

impl Place<'_> {
    fn fail(&self, what: impl std::fmt::Display) -> ! {
        panic!("{}: program `{}`: {what}", self.file.display(), self.path)
    }
}

/// The generated text so far.
#[derive(Default)]
struct Output {
    text: String,
    count: usize,
}

struct OptionText {
    name: String,
    spellings: Vec<String>,
    expands: Vec<String>,
    value: &'static str,
    role: String,
    last: bool,
}

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let folder = root.join("policies/programs");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yml"))
        .collect();
    files.sort();
    let mut output = Output::default();
    let mut twice: Vec<String> = Vec::new();
    let mut names: BTreeMap<String, (String, PathBuf)> = BTreeMap::new();
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut yaml: Yaml =
            serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        yaml.apply_merge().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let Yaml::Mapping(programs) = yaml else { panic!("{}: not a mapping of programs", file.display()) };
        for (key, value) in programs {
            let Yaml::String(name) = key else {
                panic!("{}: program names are strings, found {key:?}", file.display())
            };
            if name.starts_with('.') {
                continue; // lists that others refer to
            }
            let place = Place { file, path: name.clone() };
            let spec = read_spec(&value, &place);
            let habit = Habit { style: "gnu".to_owned(), abbreviate: true, globals_anywhere: true };
            let item = write_program(&name, &spec, &habit, true, &place, &mut output);
            for name in std::iter::once(&name).chain(&spec.aka) {
                if let Some((_, other)) = names.insert(name.clone(), (item.clone(), file.clone())) {
                    twice.push(format!(
                        "{}: program `{}`: `{name}` is already in {}",
                        file.display(),
                        place.path,
                        other.display()
                    ));
                }
            }
        }
    }
    assert!(twice.is_empty(), "{}", twice.join("\n"));
    let mut text = output.text;
    text.push_str("static PROGRAMS: &[(&str, &Program)] = &[\n");
    for (name, (item, _)) in &names {
        writeln!(text, "    ({name:?}, &{item}),").unwrap();
    }
    text.push_str("];\n");
    let target = PathBuf::from(env::var("OUT_DIR").unwrap()).join("programs.rs");
    fs::write(target, text).unwrap();
}

/// A table is a mapping; a list stands for its `args`, nothing for an empty one.
fn read_spec(value: &Yaml, place: &Place<'_>) -> Spec {
    match value {
        Yaml::Null => Spec::default(),
        Yaml::Sequence(_) => Spec {
            args: serde_yaml::from_value(value.clone()).unwrap_or_else(|error| place.fail(error)),
            ..Spec::default()
        },
        _ => serde_yaml::from_value(value.clone()).unwrap_or_else(|error| place.fail(error)),
    }
}

fn write_program(
    name: &str,
    spec: &Spec,
    above: &Habit,
    is_root: bool,
    place: &Place<'_>,
    out: &mut Output,
) -> String {
    let habit = Habit {
        style: spec.style.clone().unwrap_or_else(|| above.style.clone()),
        abbreviate: spec.abbreviate.unwrap_or(above.abbreviate),
        globals_anywhere: match spec.globals.as_deref() {
            None => above.globals_anywhere,
            Some("anywhere") => true,
            Some("leading") => false,
            Some(other) => place.fail(format_args!("`globals: {other}` is neither `anywhere` nor `leading`")),
        },
    };
    let style = match habit.style.as_str() {
        "gnu" => "Gnu",
        "single" => "Single",
        "bare" => "Bare",
        other => place.fail(format_args!("unknown style `{other}`: gnu, single or bare")),
    };

    let mut options: Vec<OptionText> = Vec::new();
    let mut written = Vec::new();
    flatten(&spec.options, 0, &mut written, place);
    // The program's own options stand before those of lists that it shares with others.
    written.sort_by_key(|(_, depth)| *depth);
    for (text, depth) in &written {
        let mut option = read_option(text, place);
        if *depth > 1 {
            option.spellings.retain(|spelling| !options.iter().any(|own| own.spellings.contains(spelling)));
            if option.spellings.is_empty() {
                continue;
            }
            option.name = canonical_name(&option.spellings);
        }
        options.push(option);
    }
    let known =
        |options: &[OptionText], name: &str| options.iter().any(|o| o.spellings.iter().any(|s| s == name));
    let help_given = spec.help.clone();
    let help = help_given.clone().unwrap_or_else(|| {
        if is_root && style == "Gnu" { vec!["--help".to_owned(), "--version".to_owned()] } else { Vec::new() }
    });
    for name in help.iter().chain(&spec.dry_run) {
        // Flags named only there are options too.
        if !known(&options, name) && (help_given.is_some() || is_root || spec.dry_run.contains(name)) {
            options.push(read_option(name, place));
        }
    }
    let mut spellings: BTreeMap<String, usize> = BTreeMap::new();
    for (at, option) in options.iter().enumerate() {
        for spelling in &option.spellings {
            if spellings.insert(spelling.clone(), at).is_some() {
                place.fail(format_args!("option `{spelling}` is given twice"));
            }
        }
    }
    let canonical = |name: &String| -> String {
        spellings.get(name).map_or_else(|| name.clone(), |at| options[*at].name.clone())
    };
    for option in &options {
        for target in &option.expands {
            if !spellings.contains_key(target) {
                place.fail(format_args!("`{}` stands for `{target}`, which is no option", option.name));
            }
        }
    }

    let (recursive, always): (Vec<String>, bool) = match &spec.recursive {
        Yaml::Null => (Vec::new(), false),
        Yaml::String(text) if text == "always" => (Vec::new(), true),
        other => (serde_yaml::from_value(other.clone()).unwrap_or_else(|error| place.fail(error)), false),
    };
    for name in recursive.iter().chain(spec.cases.iter().flat_map(|case| case.given.iter().chain(&case.not)))
    {
        if is_root && !spellings.contains_key(name) {
            place.fail(format_args!("`{name}` is used as a condition but is no option"));
        }
    }

    let mut shapes = String::new();
    for case in &spec.cases {
        write_shape(
            &mut shapes,
            &case.given,
            &case.not,
            &case.args,
            case.input.as_deref(),
            &canonical,
            place,
        );
    }
    if !spec.args.is_empty() || spec.input.is_some() {
        write_shape(&mut shapes, &[], &[], &spec.args, spec.input.as_deref(), &canonical, place);
    }

    let mut commands: BTreeMap<String, String> = BTreeMap::new();
    match &spec.commands {
        Yaml::Null => {}
        Yaml::Mapping(entries) => {
            for (key, value) in entries {
                let Yaml::String(sub) = key else {
                    place.fail(format_args!("subcommand {key:?} is not a string"))
                };
                let inner = Place { file: place.file, path: format!("{} {sub}", place.path) };
                let names: Vec<&str> = sub.split(',').map(str::trim).collect();
                let sub_spec = read_spec(value, &inner);
                let item = write_program(names[0], &sub_spec, &habit, false, &inner, out);
                for name in names.into_iter().map(str::to_owned).chain(sub_spec.aka.iter().cloned()) {
                    if commands.insert(name.clone(), item.clone()).is_some() {
                        inner.fail(format_args!("subcommand `{name}` is given twice"));
                    }
                }
            }
        }
        // A list of names without more.
        Yaml::Sequence(entries) => {
            for key in entries {
                let Yaml::String(sub) = key else {
                    place.fail(format_args!("subcommand {key:?} is not a string"))
                };
                let inner = Place { file: place.file, path: format!("{} {sub}", place.path) };
                let item = write_program(sub, &Spec::default(), &habit, false, &inner, out);
                commands.insert(sub.clone(), item);
            }
        }
        other => place.fail(format_args!("`commands` is a mapping, found {other:?}")),
    }

    let item = format!("P{}", out.count);
    out.count += 1;
    let special = spec.special.clone().unwrap_or_else(|| "none".to_owned());
    let special: String = special.split('-').map(|part| part[..1].to_uppercase() + &part[1..]).collect();
    let text = &mut out.text;
    writeln!(text, "static {item}: Program = Program {{").unwrap();
    writeln!(
        text,
        "    name: {name:?}, style: Style::{style}, abbreviate: {}, posix: {},",
        habit.abbreviate, spec.posix
    )
    .unwrap();
    writeln!(
        text,
        "    globals_anywhere: {}, bundled: {}, assignments: {}, dispatches: {},",
        habit.globals_anywhere,
        spec.bundled,
        spec.assignments,
        !commands.is_empty() && spec.args.is_empty() && spec.cases.is_empty() && spec.input.is_none()
    )
    .unwrap();
    text.push_str("    options: &[\n");
    for option in &options {
        writeln!(
            text,
            "        OptionRow {{ name: {:?}, expands: &{:?}, value: Value::{}, role: {}, last: {} }},",
            option.name,
            option.expands.iter().map(&canonical).collect::<Vec<_>>(),
            option.value,
            option.role,
            option.last
        )
        .unwrap();
    }
    text.push_str("    ],\n    spellings: &[");
    for (spelling, at) in &spellings {
        write!(text, "({spelling:?}, {at}), ").unwrap();
    }
    text.push_str("],\n    commands: &[");
    for (name, item) in &commands {
        write!(text, "({name:?}, &{item}), ").unwrap();
    }
    writeln!(text, "],\n    shapes: &[{shapes}],").unwrap();
    let canonical_list = |names: &[String]| {
        names.iter().map(&canonical).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    writeln!(text, "    dry_run: &{:?}, help: &{:?},", canonical_list(&spec.dry_run), canonical_list(&help))
        .unwrap();
    writeln!(
        text,
        "    recursive: &{:?}, always_recursive: {always}, special: Special::{special},",
        canonical_list(&recursive)
    )
    .unwrap();
    text.push_str("};\n");
    item
}

/// The first long spelling, or else the first one.
fn canonical_name(spellings: &[String]) -> String {
    spellings.iter().find(|spelling| spelling.starts_with("--")).unwrap_or(&spellings[0]).clone()
}

/// Lists may hold lists, so that shared ones can be referred to; each text comes with its depth.
fn flatten(value: &Yaml, depth: usize, into: &mut Vec<(String, usize)>, place: &Place<'_>) {
    match value {
        Yaml::Null => {}
        Yaml::String(text) => into.push((text.clone(), depth)),
        Yaml::Sequence(entries) => entries.iter().for_each(|entry| flatten(entry, depth + 1, into, place)),
        other => place.fail(format_args!("options are strings, found {other:?}")),
    }
}

/// `-f, --force`, `-m, --message=data`, `-i, --in-place=?`, `-c=code:python!`, `-D => --delete --force`.
fn read_option(text: &str, place: &Place<'_>) -> OptionText {
    let (text, expands) = match text.split_once(" => ") {
        Some((left, right)) => (left, right.split_whitespace().map(str::to_owned).collect()),
        None => (text, Vec::new()),
    };
    let mut spellings = Vec::new();
    let (mut value, mut role, mut last) = ("None", "Role::Data".to_owned(), false);
    for part in text.split(',') {
        let part = part.trim();
        let (spelling, meaning) = match part.split_once('=') {
            Some((spelling, meaning)) => (spelling, Some(meaning)),
            None => (part, None),
        };
        if !spelling.starts_with(['-', '+']) || spelling.contains(char::is_whitespace) {
            place.fail(format_args!("option `{text}`: `{spelling}` is no option"));
        }
        spellings.push(spelling.to_owned());
        if let Some(mut meaning) = meaning {
            value = "Required";
            if let Some(rest) = meaning.strip_suffix('!') {
                (meaning, last) = (rest, true);
            }
            if let Some(rest) = meaning.strip_prefix('?') {
                (meaning, value) = (rest, "Optional");
            }
            role = read_role(meaning, place);
        }
    }
    let name = canonical_name(&spellings);
    OptionText { name, spellings, expands, value, role, last }
}

fn language(text: &str, place: &Place<'_>) -> String {
    let known = ["shell", "awk", "sed", "python", "perl", "javascript", "ruby", "php", "sql", "opaque"];
    if !known.contains(&text) {
        place.fail(format_args!("unknown language `{text}`: {}", known.join(", ")));
    }
    format!("Language::{}{}", text[..1].to_uppercase(), &text[1..])
}

fn read_role(text: &str, place: &Place<'_>) -> String {
    let role = match text {
        "" | "data" => "Data",
        "read" => "Read",
        "write" => "Write",
        "delete" => "Delete",
        "target" => "Target",
        "dir" => "Dir",
        "url" | "host" => "Url",
        "remote-read" => "RemoteRead",
        "remote-write" => "RemoteWrite",
        "repository" => "Repository",
        "atfile" => "AtFile",
        "form" => "Form",
        "config" => "Config",
        "config-key" => "ConfigKey",
        "command" => "Command",
        "shell-words" => "ShellWords",
        "rest" => "Rest",
        other => {
            if let Some(rest) = other.strip_prefix("code:") {
                return format!("Role::Code({})", language(rest, place));
            }
            if let Some(rest) = other.strip_prefix("script:") {
                return format!("Role::Script({})", language(rest, place));
            }
            place.fail(format_args!("unknown role `{other}`"))
        }
    };
    format!("Role::{role}")
}

/// `read...`, `code:sed unless -e -f`, `write if -i`.
fn write_shape(
    into: &mut String,
    given: &[String],
    absent: &[String],
    args: &[String],
    input: Option<&str>,
    canonical: &dyn Fn(&String) -> String,
    place: &Place<'_>,
) {
    let list = |names: &[String]| names.iter().map(canonical).collect::<Vec<_>>();
    write!(into, "Shape {{ given: &{:?}, absent: &{:?}, args: &[", list(given), list(absent)).unwrap();
    for argument in args {
        let mut words = argument.split_whitespace();
        let role = words.next().unwrap_or_default();
        let (mut unless, mut only_if): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        match words.next() {
            None => {}
            Some("unless") => unless = words.map(|word| canonical(&word.to_owned())).collect(),
            Some("if") => only_if = words.map(|word| canonical(&word.to_owned())).collect(),
            Some(other) => {
                place.fail(format_args!("operand `{argument}`: `{other}` is neither `if` nor `unless`"))
            }
        }
        let (role, repeats) = match role.strip_suffix("...") {
            Some(role) => (role, true),
            None => (role, false),
        };
        let role = read_role(role, place);
        write!(
            into,
            "Argument {{ role: {role}, repeats: {repeats}, unless: &{unless:?}, only_if: &{only_if:?} }}, "
        )
        .unwrap();
    }
    let input = input.map_or_else(|| "None".to_owned(), |text| format!("Some({})", language(text, place)));
    write!(into, "], input: {input} }}, ").unwrap();
}
