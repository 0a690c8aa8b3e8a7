//! The rows of `fixtures/paths`: one row is one claim.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::shell::{Piece, Word};

use super::super::links::{MadeLink, follow};
use super::super::{Links, NoLinks, PathIndex};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    glob: String,
    path: String,
    #[serde(default = "write")]
    access: Access,
    #[serde(default)]
    recursive: bool,
    #[serde(default)]
    links: BTreeMap<String, String>,
    #[serde(default)]
    made: BTreeMap<String, String>,
    fit: String,
    why: String,
}

fn write() -> Access {
    Access::Write
}

/// Links of a table, followed from the front; what they lead to has no links.
struct Table<'a>(&'a BTreeMap<String, String>);

impl Links for Table<'_> {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        let found = self.0.iter().find_map(|(at, to)| Some(Path::new(to).join(path.strip_prefix(at).ok()?)));
        Some(found.unwrap_or_else(|| path.to_owned()))
    }
}

/// A word as rows write it: `$X` is unknown, `…` a made-up name, wildcards are those of the shell.
fn word(text: &str) -> Word {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '$' => {
                let name = chars.next().unwrap_or('X');
                pieces.push(Piece::Unknown { splits: false, source: format!("${name}") });
            }
            '…' => pieces.push(Piece::Name),
            '*' | '?' => pieces.push(Piece::Glob(c.to_string())),
            '[' => {
                let mut class = String::from('[');
                for c in chars.by_ref() {
                    class.push(c);
                    if c == ']' {
                        break;
                    }
                }
                pieces.push(Piece::Glob(class));
            }
            c => match pieces.last_mut() {
                Some(Piece::Text(text)) => text.push(c),
                _ => pieces.push(Piece::Text(c.to_string())),
            },
        }
    }
    Word { pieces, span: None }
}

fn context() -> Context {
    Context { root: "/repo".into(), cwd: "/repo".into(), home: Some("/home/dev".into()) }
}

fn fit(row: &Row, is_plain: bool) -> Fit {
    let context = context();
    let cwd = PathPattern::known(&context.cwd);
    let word = if is_plain { Word::known(row.path.as_str()) } else { word(&row.path) };
    let lexical = PathPattern::resolve(&word, &cwd);
    let made: Vec<MadeLink> = row
        .made
        .iter()
        .map(|(at, to)| MadeLink {
            at: PathPattern::resolve(&Word::known(at.as_str()), &cwd),
            target: PathPattern::resolve(&self::word(to), &cwd),
        })
        .collect();
    let goes_through = row.access != Access::Delete || row.path.ends_with('/');
    let links: &dyn Links = if row.links.is_empty() { &NoLinks } else { &Table(&row.links) };
    let target = PathTarget {
        shown: row.path.clone(),
        access: row.access,
        recursive: row.recursive,
        real: follow(&word, &cwd, goes_through, &made, links, &context).filter(|real| *real != lexical),
        lexical,
        command: None,
        redirect: false,
    };
    PathGlob::parse(&row.glob).unwrap().fit(&target, &context)
}

fn check(name: &str, rows: &str, is_plain: bool) {
    let mut wrong = Vec::new();
    for line in rows.lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let found = match fit(&row, is_plain) {
            Fit::Yes => "yes",
            Fit::Maybe => "maybe",
            Fit::No => "no",
        };
        if found != row.fit {
            wrong.push(format!(
                "{} {} / {}: {found}, expected {} ({})",
                row.id, row.glob, row.path, row.fit, row.why
            ));
        }
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}

#[test]
fn certain_paths_fit_as_the_rows_say() {
    check("globs", include_str!("../../../fixtures/paths/globs.jsonl"), true);
}

#[test]
fn folders_fit_as_the_rows_say() {
    check("folders", include_str!("../../../fixtures/paths/folders.jsonl"), true);
}

#[test]
fn words_fit_as_the_rows_say() {
    check("words", include_str!("../../../fixtures/paths/words.jsonl"), false);
}

#[test]
fn links_are_followed_as_the_rows_say() {
    check("links", include_str!("../../../fixtures/paths/links.jsonl"), false);
}

#[test]
fn bad_globs_do_not_load() {
    for (text, part) in [
        ("", "empty"),
        ("a**", "alone"),
        ("**.rs", "alone"),
        ("src/[ab", "bracket"),
        ("[z-a]", "backwards"),
        ("{a,b", "brace"),
        ("a}", "brace"),
        ("a\\", "backslash"),
        ("$HOME/.ssh/**", "variables"),
        ("~root/x", "`~/`"),
        ("~/../x", "above"),
        ("**/../../x", "above"),
        (" a", "space"),
        ("a\nb", "control"),
    ] {
        let error = PathGlob::parse(text).expect_err(text);
        assert!(error.message.contains(part), "{text}: {}", error.message);
    }
    assert!(PathGlob::parse(&"{a,b}".repeat(20)).is_err());
    assert!(PathGlob::parse(&"{".repeat(900)).is_err());
}

fn globset_of(text: &str) -> Option<globset::GlobMatcher> {
    let glob = globset::GlobBuilder::new(text)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        .ok()?;
    Some(glob.compile_matcher())
}

proptest! {
    #[test]
    fn certain_paths_fit_as_globset_says(
        glob in "(\\*\\*/)?[ab*?]{1,3}(/(\\*\\*|[ab*?]{1,2}|\\{a,b\\})){0,3}",
        path in "[abc.]{1,3}(/[abc]{1,2}){0,4}",
    ) {
        prop_assume!(!path.split('/').any(|name| matches!(name, "." | "..")));
        let Ok(own) = PathGlob::parse(&glob) else { return Ok(()) };
        let other = globset_of(&glob).unwrap();
        let context = Context { root: "/".into(), cwd: "/".into(), home: None };
        let fit = own.fit_path(&PathPattern::known(Path::new(&path)), Access::Read, false, &context);
        prop_assert_eq!(fit == Fit::Yes, other.is_match(&path), "{} {}", glob, path);
    }

    #[test]
    fn nothing_panics(glob in "\\PC{0,40}", path in "\\PC{0,40}", pattern in "[a/.*?$…\\[\\]!-]{0,30}") {
        if let Ok(glob) = PathGlob::parse(&glob) {
            glob.fit_path(&PathPattern::known(Path::new(&path)), Access::Delete, true, &context());
            let lexical = PathPattern::resolve(&word(&pattern), &PathPattern::known(Path::new("/repo")));
            for access in [Access::Read, Access::Write, Access::Delete] {
                glob.fit_path(&lexical, access, true, &context());
            }
        }
    }

    #[test]
    fn going_down_never_loosens(
        glob in "(~/|/|\\*\\*/)?[ab*]{1,2}(/[ab*]{1,2}){0,2}(/\\*\\*)?",
        path in "/?[ab$*]{1,2}(/[ab$*]{1,2}){0,3}",
    ) {
        let Ok(glob) = PathGlob::parse(&glob) else { return Ok(()) };
        let lexical = PathPattern::resolve(&word(&path), &PathPattern::known(Path::new("/repo")));
        let fit = |access, recursive| glob.fit_path(&lexical, access, recursive, &context());
        prop_assert!(fit(Access::Write, false) <= fit(Access::Write, true));
        prop_assert!(fit(Access::Write, false) <= fit(Access::Delete, false));
        prop_assert!(fit(Access::Read, false) <= fit(Access::Read, true));
        prop_assert!(fit(Access::Read, false) <= fit(Access::Write, false));
    }

    #[test]
    fn the_index_hides_no_glob(
        globs in prop::collection::vec("(~/|/|/repo/|\\.\\./|\\*\\*/)?[ab*]{1,2}(/([ab*]{1,2}|\\*\\*|home|repo|\\{a,b\\})){0,3}", 1..8),
        path in "(/|~/|/home/|/home/dev/)?[ab$*]{1,2}(/([ab$*]{1,2}|repo)){0,3}",
        recursive: bool,
    ) {
        let globs: Vec<PathGlob> = globs.iter().filter_map(|glob| PathGlob::parse(glob).ok()).collect();
        let index = PathIndex::of(globs.iter().enumerate());
        let context = context();
        let word = word(&path.replacen('~', "/home/dev", 1));
        for access in [Access::Read, Access::Write, Access::Delete] {
            for root in ["/", "/repo"] {
                let lexical = PathPattern::resolve(&word, &PathPattern::known(Path::new(root)));
                let target = PathTarget { lexical, recursive, ..PathTarget::known("", access, Path::new("/")) };
                let mut found = Vec::new();
                index.candidates(&target, &context, &mut found);
                for (number, glob) in globs.iter().enumerate() {
                    let is_silent = glob.fit(&target, &context) == Fit::No;
                    prop_assert!(is_silent || found.contains(&number), "{} {} {:?}", glob.text(), path, access);
                }
            }
        }
    }

    #[test]
    fn knowing_more_never_turns_no_into_yes(
        glob in "(\\*\\*/)?[ab*]{1,2}(/[ab*]{1,2}){0,2}(/\\*\\*)?",
        before in "([ab]{1,2}/){0,2}",
        value in "[ab]{1,2}(/[ab]){0,1}",
        after in "(/[ab]{1,2}){0,2}",
    ) {
        let glob = PathGlob::parse(&glob).unwrap();
        let fit = |text: &str| {
            let path = PathPattern::resolve(&word(text), &PathPattern::known(Path::new("/repo")));
            glob.fit_path(&path, Access::Write, false, &context())
        };
        if fit(&format!("./{before}{value}{after}")) == Fit::Yes {
            prop_assert!(fit(&format!("./{before}${}{after}", "X")) != Fit::No, "{}{}{}", before, value, after);
        }
    }
}
