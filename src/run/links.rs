//! Links of the disk, looked up while a call is judged and kept for the journal.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::call::Links;

/// The disk as it is now, remembering every path whose links led elsewhere.
#[derive(Debug, Default)]
pub struct DiskLinks {
    seen: RefCell<BTreeMap<PathBuf, PathBuf>>,
}

impl DiskLinks {
    /// Lexical path to real path, of what was looked up so far and differed.
    pub fn seen(&self) -> BTreeMap<String, String> {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        self.seen.borrow().iter().map(|(lexical, real)| (shown(lexical), shown(real))).collect()
    }
}

impl Links for DiskLinks {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        let real = resolve(path)?;
        if real != path {
            self.seen.borrow_mut().insert(path.to_owned(), real.clone());
        }
        Some(real)
    }
}

/// The nearest existing parent with its links followed, and the rest appended.
fn resolve(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut at = path;
    loop {
        match std::fs::canonicalize(at) {
            Ok(mut real) => {
                real.extend(missing.iter().rev());
                return Some(real);
            }
            // A link whose target is missing: what it points to is what would be made.
            Err(_) if at.symlink_metadata().is_ok_and(|facts| facts.is_symlink()) && missing.len() < 64 => {
                let target = at.parent()?.join(std::fs::read_link(at).ok()?);
                let mut real = if target == at { return None } else { resolve_once(&target)? };
                real.extend(missing.iter().rev());
                return Some(real);
            }
            Err(_) => {
                missing.push(at.file_name()?.to_owned());
                at = at.parent()?;
            }
        }
    }
}

/// Like [`resolve`], for the target of a dangling link; a chain of such links is not followed further.
fn resolve_once(path: &Path) -> Option<PathBuf> {
    let mut real = std::fs::canonicalize(path.parent()?).ok()?;
    real.push(path.file_name()?);
    Some(real)
}
