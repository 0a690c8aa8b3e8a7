//! Follows links, those of the disk as told and those that the same line makes.

use std::path::{Path, PathBuf};

use crate::shell::{Piece, Word};

use super::path::{PathPattern, below};
use super::{Context, Links};

/// A link that an earlier command of the line makes.
#[derive(Debug, Clone)]
pub(super) struct MadeLink {
    /// Where it stands.
    pub at: PathPattern,
    /// Where it points to.
    pub target: PathPattern,
}

/// Most links that one path is followed through.
const JUMP_LIMIT: usize = 40;

/// The path that `word` comes to when links are followed; `None` when that is not known to differ.
///
/// With `goes_through` unset the last name itself is not followed.
pub(super) fn follow(
    word: &Word,
    directory: &PathPattern,
    goes_through: bool,
    made: &[MadeLink],
    links: &dyn Links,
    context: &Context,
) -> Option<PathPattern> {
    let whole = PathPattern::raw(word, directory);
    let (certain, rest) = match whole.pieces() {
        [Piece::Text(text)] => (text.as_str(), &[] as &[Piece]),
        [Piece::Text(text), ..] => (&text[..text.rfind('/').map_or(0, |at| at + 1)], whole.pieces()),
        _ => return None,
    };
    let mut names: Vec<&str> = certain.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    let last = if rest.is_empty() && !goes_through { names.pop().filter(|name| *name != "..") } else { None };
    let mut at = String::new();
    let mut pending: Vec<String> = names.iter().rev().map(|name| (*name).to_owned()).collect();
    let mut jumps = 0;
    while let Some(name) = pending.pop() {
        if name == ".." {
            let real = links.real(Path::new(root_or(&at)));
            if let Some(real) = real {
                at = real.to_string_lossy().trim_end_matches('/').to_owned();
            }
            at.truncate(at.rfind('/').unwrap_or(0));
            continue;
        }
        at.push('/');
        at.push_str(&name);
        let Some(link) = made.iter().rev().find(|link| link.at.value() == Some(&at)) else { continue };
        jumps += 1;
        if jumps > JUMP_LIMIT {
            return None;
        }
        let Some(target) = link.target.value() else {
            return Some(PathPattern::unknown(&link.target.shown()));
        };
        pending.extend(target.split('/').filter(|name| !name.is_empty()).rev().map(str::to_owned));
        at.clear();
    }
    let real = links.real(Path::new(root_or(&at)));
    let mut followed = real.unwrap_or_else(|| PathBuf::from(root_or(&at)));
    if let Some(last) = last {
        followed.push(last);
    }
    let followed = home_in(&followed, links, context);
    let base = PathPattern::known(&followed);
    if rest.is_empty() {
        return Some(base);
    }
    // What comes after the certain folder is laid behind its real place.
    let mut pieces = rest.to_vec();
    if let Some(Piece::Text(text)) = pieces.first_mut() {
        *text = format!("/{}", &text[certain.len()..]);
    }
    Some(base.below(&pieces))
}

fn root_or(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}

/// A real path told in terms of the root and the home that rules are measured from, where those are links.
fn home_in(path: &Path, links: &dyn Links, context: &Context) -> PathBuf {
    let text = path.to_string_lossy();
    for base in std::iter::once(&context.root).chain(&context.home) {
        if path.starts_with(base) {
            return path.to_owned();
        }
        let Some(real) = links.real(base) else { continue };
        if real != *base
            && let Some(rest) = below(&text, &real.to_string_lossy())
        {
            return base.join(rest);
        }
    }
    path.to_owned()
}
