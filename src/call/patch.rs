//! Patch texts as lists of files; the lines of a patch are never read as anything else.

use crate::shell::Access;

/// What a patch does to files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Patch {
    /// Paths as written, with what happens to them.
    pub files: Vec<(String, Access)>,
    /// What could not be read.
    pub problem: Option<String>,
}

impl Patch {
    fn touch(&mut self, path: &str, access: Access) {
        if path.is_empty() {
            self.problem.get_or_insert_with(|| "patch with an empty path".to_owned());
        } else {
            self.files.push((path.to_owned(), access));
        }
    }

    fn complain(&mut self, problem: &str) {
        self.problem.get_or_insert_with(|| problem.to_owned());
    }
}

/// Reads an envelope (`*** Begin Patch`) or a unified diff.
pub(super) fn parse(text: &str) -> Patch {
    let patch = if text.lines().any(|line| line.trim() == "*** Begin Patch") {
        parse_envelope(text)
    } else {
        parse_diff(text)
    };
    if patch.files.is_empty() && patch.problem.is_none() {
        return Patch { files: Vec::new(), problem: Some("patch that names no file".to_owned()) };
    }
    patch
}

#[derive(PartialEq)]
enum Place {
    Before,
    Headers,
    Added,
    Updated,
    After,
}

fn parse_envelope(text: &str) -> Patch {
    let mut patch = Patch::default();
    let mut place = Place::Before;
    let mut updated: Option<String> = None;
    for line in text.lines() {
        let bare = line.trim();
        // Lines of a body say nothing. Where a body has ended, appliers forgive blanks before a header.
        let is_body = match place {
            Place::Added => line.starts_with('+'),
            Place::Updated => !line.starts_with("***"),
            _ => false,
        };
        if is_body || bare.is_empty() {
            continue;
        }
        if bare == "*** Begin Patch" {
            if place != Place::Before && place != Place::After {
                patch.complain("patch that begins twice");
            }
            place = Place::Headers;
        } else if place == Place::Before || place == Place::After {
            // A here-document's frame is no part of the patch; a second patch would be.
            if bare.starts_with("***") || bare.starts_with("+++ ") || bare.starts_with("--- ") {
                patch.complain("text outside of the patch");
            }
        } else if bare == "*** End Patch" {
            place = Place::After;
        } else if let Some(path) = bare.strip_prefix("*** Add File:") {
            patch.touch(path.trim(), Access::Write);
            place = Place::Added;
        } else if let Some(path) = bare.strip_prefix("*** Delete File:") {
            patch.touch(path.trim(), Access::Delete);
            place = Place::Headers;
        } else if let Some(path) = bare.strip_prefix("*** Update File:") {
            patch.touch(path.trim(), Access::Write);
            updated = Some(path.trim().to_owned());
            place = Place::Updated;
        } else if let Some(path) = bare.strip_prefix("*** Move to:") {
            if let Some(from) = updated.take() {
                patch.touch(&from, Access::Delete);
            } else {
                patch.complain("patch that moves nothing");
            }
            patch.touch(path.trim(), Access::Write);
            place = Place::Updated;
        } else if bare != "*** End of File" && !bare.starts_with("*** Environment ID:") {
            patch.complain("line in a patch that belongs to no file");
        }
    }
    if place != Place::After {
        patch.complain("patch without an end");
    }
    patch
}

fn parse_diff(text: &str) -> Patch {
    let mut patch = Patch::default();
    let (mut removed_left, mut added_left) = (0_usize, 0_usize);
    let mut old: Option<String> = None;
    let mut has_header = false;
    for line in text.lines() {
        if removed_left > 0 || added_left > 0 {
            match line.as_bytes().first() {
                Some(b'+') => added_left = added_left.saturating_sub(1),
                Some(b'-') => removed_left = removed_left.saturating_sub(1),
                Some(b'\\') => {}
                _ => {
                    added_left = added_left.saturating_sub(1);
                    removed_left = removed_left.saturating_sub(1);
                }
            }
            continue;
        }
        if let Some(path) = line.strip_prefix("--- ") {
            old = Some(header_path(path));
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let new = header_path(path);
            match old.take() {
                Some(old) => {
                    has_header = true;
                    if new == "/dev/null" {
                        patch.touch(&old, Access::Delete);
                    } else {
                        patch.touch(&new, Access::Write);
                        // Appliers pick either name, by what exists.
                        if old != "/dev/null" && old != new {
                            patch.touch(&old, Access::Write);
                        }
                    }
                }
                None => patch.complain("diff whose header is cut"),
            }
        } else if line.starts_with("@@") {
            match hunk_sizes(line) {
                Some((removed, added)) if has_header => (removed_left, added_left) = (removed, added),
                _ => patch.complain("diff whose parts cannot be counted"),
            }
        } else if let Some(path) = line.strip_prefix("rename from ") {
            patch.touch(&unquote(path), Access::Delete);
        } else if let Some(path) = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to ")) {
            patch.touch(&unquote(path), Access::Write);
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            has_header = true;
        } else if let Some(names) = line.strip_prefix("diff --git ") {
            match git_names(names) {
                // Mode changes, empty and binary files have no other header.
                Some(name) => patch.touch(&name, Access::Write),
                None => patch.complain("diff header that cannot be read"),
            }
        } else if line.starts_with("deleted file mode")
            && let Some(last) = patch.files.last_mut()
        {
            last.1 = Access::Delete;
        } else if line.starts_with("*** ") || line.starts_with("Index: ") || line.starts_with("1,") {
            // Context diffs and ed scripts: appliers take them, this reader does not.
            patch.complain("patch in a form that is not read");
        }
    }
    patch
}

/// `a/x b/x` with equal names.
fn git_names(names: &str) -> Option<String> {
    let names = names.trim_end();
    if let Some(quoted) = names.strip_prefix('"') {
        let end = quoted.find('"')? + 2;
        return Some(strip_side(&unquote(&names[..end])).to_owned());
    }
    let middle = names.len().checked_sub(1)? / 2;
    if names.is_char_boundary(middle) && names.as_bytes().get(middle) == Some(&b' ') {
        let (one, other) = (&names[..middle], &names[middle + 1..]);
        if strip_side(one) == strip_side(other) {
            return Some(strip_side(one).to_owned());
        }
    }
    // A rename: its names come on lines of their own; the new one is taken here.
    let at = names.rfind(" b/")?;
    Some(names[at + 3..].to_owned())
}

fn header_path(text: &str) -> String {
    let path = match text.split_once('\t') {
        Some((path, _)) => path,
        None => text.trim_end(),
    };
    let path = unquote(path);
    if path == "/dev/null" { path } else { strip_side(&path).to_owned() }
}

fn strip_side(path: &str) -> &str {
    ["a/", "b/", "i/", "w/", "c/", "o/"].iter().find_map(|side| path.strip_prefix(side)).unwrap_or(path)
}

fn hunk_sizes(line: &str) -> Option<(usize, usize)> {
    let mut words = line.trim_start_matches('@').split_whitespace();
    let size = |word: &str| match word.split_once(',') {
        Some((_, size)) => size.parse().ok(),
        None => Some(1),
    };
    let removed = size(words.next()?.strip_prefix('-')?)?;
    let added = size(words.next()?.strip_prefix('+')?)?;
    Some((removed, added))
}

/// Takes the quotes and escapes of git's way to write odd names away.
fn unquote(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')) else {
        return path.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    match rest.peek() {
                        Some(digit @ b'0'..=b'7') => value = value * 8 + u32::from(digit - b'0'),
                        _ => break,
                    }
                    rest.next();
                }
                bytes.push(value as u8);
            }
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(other) => bytes.push(other),
            None => bytes.push(b'\\'),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Vec<(String, Access)> {
        let patch = parse(text);
        assert_eq!(patch.problem, None, "{text}");
        patch.files
    }

    fn row(path: &str, access: Access) -> (String, Access) {
        (path.to_owned(), access)
    }

    #[test]
    fn envelopes_name_their_files() {
        let text = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** Delete File: ci.yml\n\
                    *** Add File: docs/b.md\n+*** Delete File: x\n+rm -rf /\n*** Update File: old.rs\n\
                    *** Move to: new.rs\n@@\n a\n*** End of File\n*** End Patch\n";
        assert_eq!(
            files(text),
            [
                row("src/a.rs", Access::Write),
                row("ci.yml", Access::Delete),
                row("docs/b.md", Access::Write),
                row("old.rs", Access::Write),
                row("old.rs", Access::Delete),
                row("new.rs", Access::Write),
            ]
        );
    }

    #[test]
    fn a_header_with_blanks_after_an_added_file_counts() {
        let text = "*** Begin Patch\n*** Add File: a\n+x\n  *** Delete File: .env\n*** End Patch";
        assert_eq!(files(text), [row("a", Access::Write), row(".env", Access::Delete)]);
    }

    #[test]
    fn a_context_line_that_quotes_a_header_does_not_count() {
        let text = "*** Begin Patch\n*** Update File: a\n@@\n *** Delete File: .env\n+x\n*** End Patch";
        assert_eq!(files(text), [row("a", Access::Write)]);
    }

    #[test]
    fn broken_patches_say_so_and_keep_what_they_name() {
        for text in [
            "",
            "rm -rf /",
            "*** Begin Patch\n*** Update File: .env\n@@\n+x\n",
            "*** Begin Patch\n*** Frobnicate File: x\n*** End Patch",
            "*** Begin Patch\n*** Add File:\n+x\n*** End Patch",
            "*** Update File: x\n*** Begin Patch\n*** Add File: y\n+x\n*** End Patch",
            "+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            "--- a/x\n+++ b/x\n@@ what @@\n-a\n",
        ] {
            assert!(parse(text).problem.is_some(), "{text}");
        }
        let cut = parse("*** Begin Patch\n*** Update File: .env\n@@\n+x\n");
        assert_eq!(cut.files, [row(".env", Access::Write)]);
    }

    #[test]
    fn diffs_name_their_files() {
        let text = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n--- a/fake\n+++ b/fake\n x\n\
                    --- a/gone\t2020\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(
            files(text),
            [row("src/a.rs", Access::Write), row("gone", Access::Delete), row("new", Access::Write)]
        );
        let text = "diff --git a/a b b/a b\nnew file mode 100755\nindex 0..e69de29\n";
        assert_eq!(files(text), [row("a b", Access::Write)]);
        let text = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n";
        assert_eq!(files(text), [row("y", Access::Write), row("x", Access::Delete), row("y", Access::Write)]);
        let text = "diff --git \"a/\\303\\244\" \"b/\\303\\244\"\nold mode 100644\nnew mode 100755\n";
        assert_eq!(files(text), [row("ä", Access::Write)]);
    }
}
